"""Adding to a list in a JSON file of others by splicing text: all else stays byte for byte."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from ricordo.errors import ChangeRefused
from ricordo.memory.lines import line_end

_SPACE = " \t\r\n"


class _Member(NamedTuple):
    """A member of the object at the top, and where it stands."""

    key: str
    start: int
    """Of the key."""
    value: Any
    value_start: int
    value_end: int


def with_item(text: str, key: str, item: str) -> str:
    """Return the JSON object `text` with `item` in its list `key`, which is made where there is
    none; the same text where it is in it already.

    Raises ChangeRefused where the file is anything else than strict JSON: with comments, with a key
    that stands twice, with something that is no list of texts under `key`.
    """
    members = _members(text)
    own = next((it for it in members if it.key == key), None)
    if own is None:
        return _with_member(text, members, f"{json.dumps(key)}: [{json.dumps(item)}]")
    if not isinstance(own.value, list) or not all(isinstance(it, str) for it in own.value):
        raise ChangeRefused(f"“{key}” is no list of texts.")
    return text if item in own.value else _with_element(text, own, json.dumps(item))


def _members(text: str) -> list[_Member]:
    try:
        whole = json.loads(text, object_pairs_hook=_without_doubles, parse_constant=_refused)
        if not isinstance(whole, dict):
            raise ChangeRefused("It is no object of JSON.")
        return list(_scanned(text))
    except (ValueError, RecursionError):
        raise ChangeRefused("It is no strict JSON, perhaps for its comments.") from None


def _refused(constant: str) -> None:
    """JSON knows no `NaN` and no `Infinity`, which Python reads all the same."""
    raise ValueError(constant)


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ChangeRefused("A key stands twice in it.")
    return found


def _scanned(text: str) -> Iterator[_Member]:
    """Yield the members of a text that was found to be an object."""
    decoder = json.JSONDecoder()
    at = _behind_space(text, _behind_space(text, 0) + 1)
    while text[at] != "}":
        key, end = decoder.raw_decode(text, at)
        start = _behind_space(text, _behind_space(text, end) + 1)
        value, value_end = decoder.raw_decode(text, start)
        yield _Member(key, at, value, start, value_end)
        at = _behind_space(text, value_end)
        at = _behind_space(text, at + 1) if text[at] == "," else at


def _behind_space(text: str, at: int) -> int:
    while text[at] in _SPACE:
        at += 1
    return at


def _with_member(text: str, members: list[_Member], member: str) -> str:
    if not members:
        opening, end = text.index("{") + 1, line_end(text)
        return f"{text[:opening]}{end}  {member}{end}{text[text.index('}', opening) :]}"
    last = members[-1]
    gap = _space_before(text, members[0].start) or " "
    return f"{text[: last.value_end]},{gap}{member}{text[last.value_end :]}"


def _with_element(text: str, own: _Member, element: str) -> str:
    end = own.value_end - 1
    if not own.value:
        return f"{text[: own.value_start + 1]}{element}{text[end:]}"
    closing = len(text[:end].rstrip(_SPACE))
    first = _behind_space(text, own.value_start + 1)
    gap = _space_before(text, first) or " "
    return f"{text[:closing]},{gap}{element}{text[closing:]}"


def _space_before(text: str, at: int) -> str:
    """Return the blanks and line ends in front of a place."""
    return text[len(text[:at].rstrip(_SPACE)) : at]
