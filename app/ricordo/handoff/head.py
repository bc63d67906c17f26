"""The head of a handoff: what a program reads of it, as YAML between two fences.

Every value is one line, every list one level deep, every path one word (`written.word`), so that
the reader of heads that the project has (`memory.frontmatter`) takes it strictly. Its last line is
a digest of all the rest of the document: whoever changes anything in it is seen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from hashlib import sha256
from typing import TypeVar

from ricordo.activity.session import Agent
from ricordo.handoff.document import Head, SourceSession, Target
from ricordo.handoff.probe import DIGITS
from ricordo.handoff.written import WORD, read_word, word
from ricordo.memory.head import Value

FORMAT = "ricordo handoff 1"
"""What the first field says: that it is ours, and of which form."""
_KEY = "format"
_FENCE = "---"
_GONE = "gone"
_DIGEST = re.compile(r"digest: [0-9a-f]{32}\n")
_BARE = re.compile(r"[A-Za-z0-9/._+][A-Za-z0-9/._+@=,:~ -]*")
_NULLS = frozenset(("null", "Null", "NULL"))
_T = TypeVar("_T")


def head_lines(head: Head, left_out: int) -> list[str]:
    """Return a head as lines, between its fences and without its digest."""
    lines = [_FENCE, f"{_KEY}: {FORMAT}"]
    lines += [f"{key}: {_scalar(value)}" for key, value in _scalars(head, left_out)]
    for key, values in _lists(head):
        if values:
            lines += [f"{key}:", *(f"  - {_scalar(value)}" for value in values)]
    return [*lines, _FENCE]


def with_digest(text: str) -> str:
    """Return a document with the digest of all that it says, as the last line of its head."""
    head, fence, body = text.partition(f"\n{_FENCE}\n")
    return f"{head}\ndigest: {_digest(text)}{fence}{body}"


def is_whole(text: str) -> bool:
    """Say whether a document is, letter by letter, what its digest was made of."""
    head, fence, body = text.partition(f"\n{_FENCE}\n")
    rest, _, written = head.rpartition("\ndigest: ")
    return written == _digest(f"{rest}{fence}{body}")


def read_fields(fields: Mapping[str, Value]) -> tuple[Head, int]:
    """Return the head that `fields` tell, and how many statements were left out.

    Raises ValueError with the key that says something else than it should.
    """
    return (
        Head(
            written=_field(fields, "written", _moment),
            expires=_field(fields, "expires", _moment),
            target=_field(fields, "for", Target),
            budget=_field(fields, "budget", _count),
            engine=_field(fields, "engine", read_word),
            sources=_items(fields, "sources", _source),
            commit=_field(fields, "commit", _commit, ""),
            branch=_field(fields, "branch", read_word, ""),
            dirty=_items(fields, "dirty", read_word),
            files=dict(_items(fields, "files", _file)),
            memory=_field(fields, "memory", read_word, ""),
            project=_field(fields, "project", read_word, ""),
            redactions=_field(fields, "redactions", _count),
            unlisted=_field(fields, "unlisted", _count),
        ),
        _field(fields, "left_out", _count),
    )


def is_ours(fields: Mapping[str, Value]) -> bool:
    """Say whether a head is that of a handoff of ours, of this form."""
    return fields.get(_KEY) == FORMAT


def _scalars(head: Head, left_out: int) -> Iterable[tuple[str, str]]:
    yield "written", head.written.isoformat(timespec="seconds")
    yield "expires", head.expires.isoformat(timespec="seconds")
    yield "for", head.target.value
    yield "budget", str(head.budget)
    yield "engine", word(head.engine)
    if head.commit:
        yield "commit", head.commit
    if head.branch:
        yield "branch", word(head.branch)
    if head.memory:
        yield "memory", word(head.memory)
    if head.project:
        yield "project", word(head.project)
    yield "redactions", str(head.redactions)
    yield "left_out", str(left_out)
    yield "unlisted", str(head.unlisted)


def _lists(head: Head) -> Iterable[tuple[str, list[str]]]:
    yield "sources", [f"{it.agent.value} {word(it.id)} {word(it.path)}" for it in head.sources]
    yield "dirty", [word(path) for path in head.dirty]
    yield (
        "files",
        [f"{sha[:DIGITS] if sha else _GONE} {word(path)}" for path, sha in head.files.items()],
    )


def _scalar(text: str) -> str:
    if _BARE.fullmatch(text) and ": " not in text and text[-1] not in ": " and text not in _NULLS:
        return text
    return "'" + text.replace("'", "''") + "'"


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


# reading


def _field(
    fields: Mapping[str, Value], key: str, read: Callable[[str], _T], without: _T | None = None
) -> _T:
    value = fields.get(key)
    if value is None and without is not None:
        return without
    return _read(key, value, read)


def _items(fields: Mapping[str, Value], key: str, read: Callable[[str], _T]) -> tuple[_T, ...]:
    values = fields.get(key)
    if values is None:
        return ()
    if not isinstance(values, tuple):
        raise ValueError(key)
    return tuple(_read(key, value, read) for value in values)


def _read(key: str, value: Value, read: Callable[[str], _T]) -> _T:
    try:
        if isinstance(value, str):
            return read(value)
    except (ValueError, OverflowError):
        pass
    raise ValueError(key)


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(text)
    return moment


def _count(text: str) -> int:
    return int(_matched(r"\d{1,9}", text)[0])


def _commit(text: str) -> str:
    return _matched("[0-9a-f]{1,64}", text)[0]


def _source(text: str) -> SourceSession:
    match = _matched(rf"(\w+) ({WORD}) ({WORD})", text)
    return SourceSession(Agent(match[1]), read_word(match[2]), read_word(match[3]))


def _file(text: str) -> tuple[str, str | None]:
    match = _matched(rf"({_GONE}|[0-9a-f]{{1,12}}) ({WORD})", text)
    return read_word(match[2]), None if match[1] == _GONE else match[1]


def _matched(pattern: str, text: str) -> re.Match[str]:
    match = re.fullmatch(pattern, text)
    if match is None:
        raise ValueError(text)
    return match
