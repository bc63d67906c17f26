"""How the next agent picks a handoff up: a line to copy, and a line for what it reads at every
start, which is never written unasked.

Sources: code.claude.com/docs/en/memory (imports), developers.openai.com/codex/guides/agents-md,
opencode.ai/docs/rules (`instructions`), github.com/google-gemini/gemini-cli docs/cli/gemini-md.md.
"""

from __future__ import annotations

import json
import os
import shlex
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from ricordo import git
from ricordo.errors import ChangeRefused
from ricordo.handoff.document import Handoff, HandoffTarget
from ricordo.handoff.format import MOST_BYTES, State, parse
from ricordo.memory.change import WriteFile
from ricordo.memory.lines import bare, line_end, split_lines, with_lines_after
from ricordo.memory.note import BOM
from ricordo.resources import data_text
from ricordo.storage.foreign_file import read_plain_file
from ricordo.text import one_line, visible

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
    members = _parse_members(text)
    existing = next((member for member in members if member.key == key), None)
    if existing is None:
        return _insert_member(text, members, f"{json.dumps(key)}: [{json.dumps(item)}]")
    if not isinstance(existing.value, list) or not all(
        isinstance(item, str) for item in existing.value
    ):
        raise ChangeRefused(f"“{key}” is no list of texts.")
    return text if item in existing.value else _insert_element(text, existing, json.dumps(item))


def _parse_members(text: str) -> list[_Member]:
    try:
        value = json.loads(
            text, object_pairs_hook=_refuse_duplicates, parse_constant=_refuse_constant
        )
        if not isinstance(value, dict):
            raise ChangeRefused("It is no object of JSON.")
        return list(_scan_members(text))
    except (ValueError, RecursionError):
        raise ChangeRefused("It is no strict JSON, perhaps for its comments.") from None


def _refuse_constant(constant: str) -> None:
    """JSON knows no `NaN` and no `Infinity`, which Python reads all the same."""
    raise ValueError(constant)


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ChangeRefused("A key stands twice in it.")
    return members


def _scan_members(text: str) -> Iterator[_Member]:
    """Yield the members of a text that was found to be an object."""
    decoder = json.JSONDecoder()
    at = _skip_space(text, _skip_space(text, 0) + 1)
    while text[at] != "}":
        key, end = decoder.raw_decode(text, at)
        start = _skip_space(text, _skip_space(text, end) + 1)
        value, value_end = decoder.raw_decode(text, start)
        yield _Member(key, at, value, start, value_end)
        at = _skip_space(text, value_end)
        at = _skip_space(text, at + 1) if text[at] == "," else at


def _skip_space(text: str, at: int) -> int:
    while text[at] in _SPACE:
        at += 1
    return at


def _insert_member(text: str, members: list[_Member], member: str) -> str:
    if not members:
        opening, end = text.index("{") + 1, line_end(text)
        return f"{text[:opening]}{end}  {member}{end}{text[text.index('}', opening) :]}"
    last = members[-1]
    gap = _find_space_before(text, members[0].start) or " "
    return f"{text[: last.value_end]},{gap}{member}{text[last.value_end :]}"


def _insert_element(text: str, member: _Member, element: str) -> str:
    end = member.value_end - 1
    if not member.value:
        return f"{text[: member.value_start + 1]}{element}{text[end:]}"
    closing = len(text[:end].rstrip(_SPACE))
    first = _skip_space(text, member.value_start + 1)
    gap = _find_space_before(text, first) or " "
    return f"{text[:closing]},{gap}{element}{text[closing:]}"


def _find_space_before(text: str, at: int) -> str:
    """Return the blanks and line ends in front of a place."""
    return text[len(text[:at].rstrip(_SPACE)) : at]


@dataclass(frozen=True, slots=True)
class HandoffFile:
    """A file to which a handoff may be written."""

    path: str
    """Absolute, its folder without symbolic links."""
    before: bytes | None = None
    """What it holds; None where it is not there."""
    handoff: Handoff | None = None
    """The handoff of ours that it is; None where it is not there."""
    remark: str = ""
    """Why it is not the file that was wished; "" where it is."""


def destination(path: str) -> HandoffFile:
    """Return where the handoff for the file `path` is written. Raises ChangeRefused where neither
    that file nor the one beside it is ours to write.
    """
    folder, name = os.path.split(os.path.abspath(path))
    folder = os.path.realpath(folder)
    stem, extension = os.path.splitext(name)
    fallback = f"{stem}.new{extension}"
    file, reason = _check_file(os.path.join(folder, name))
    if file is not None:
        return file
    fallback_file, fallback_reason = _check_file(os.path.join(folder, fallback))
    if fallback_file is None:
        message = (
            f"{visible(name)} is left alone. {reason} So is {visible(fallback)}. {fallback_reason}"
        )
        raise ChangeRefused(f"{message} Name another file with -o.")
    warning = f"{visible(name)} is left alone. {reason} The handoff stands beside it."
    return HandoffFile(fallback_file.path, fallback_file.before, fallback_file.handoff, warning)


def _check_file(path: str) -> tuple[HandoffFile | None, str]:
    """Return the file at `path` as one to write to; None, and why, where it is not ours."""
    raw = read_plain_file(path, MOST_BYTES + 1)
    if raw is None:
        if os.path.lexists(path):
            return None, "It is no plain file that can be read."
        return HandoffFile(path), ""
    parsed = parse(raw)
    if parsed.state is not State.WHOLE:
        return None, parsed.why
    if not os.stat(path, follow_symlinks=False).st_mode & 0o222:
        return None, "It is read-only."
    return HandoffFile(path, raw, parsed.handoff), ""


_UNSAFE = frozenset(" \\`@{}")
_MAX_BYTES = 1024 * 1024
"""Bytes of a file to which a line is added."""


@dataclass(frozen=True, slots=True)
class Pickup:
    """A line in a file of the project that makes an agent read the handoff at every start."""

    file: str
    """The name of the file in the project."""
    added: str
    """What is added to it; to be pasted by hand, too."""
    setting: str = ""
    """The list of a JSON file in which it stands; "" for a file of text."""
    path: str = ""
    """The handoff, as that file names it."""


def start_line(target: HandoffTarget, path: str) -> str:
    """Return the line to copy that starts an agent with the handoff at `path`, from where it runs;
    for any agent, what to say to it.
    """
    table = _load_table(target)
    prompt = table["prompt"].format(path=one_line(path))
    program = table.get("program")
    return shlex.join([*program, prompt]) if program else str(prompt)


def pickup(target: HandoffTarget, project: str, path: str) -> Pickup | None:
    """Return which line of which file of `project` makes the agent read the handoff at `path`, both
    absolute; None where nobody knows for which agent it is, where its path is too odd for a line,
    or where the file would have to be made and the agent would no longer read another one.
    """
    table = _load_table(target)
    if "files" not in table:
        return None
    file = next((name for name in table["files"] if _exists(project, name)), "")
    if not file and _would_hide_others(project, table):
        return None
    file = file or table["new"]
    is_in_project = not os.path.relpath(path, project).startswith("..")
    folder = os.path.dirname(os.path.join(project, file))
    name = os.path.relpath(path, folder) if is_in_project else path
    if not name.isprintable() or not _UNSAFE.isdisjoint(name):
        return None
    if setting := table.get("setting", ""):
        return Pickup(file, f"{json.dumps(setting)}: [{json.dumps(name)}]", setting, name)
    return Pickup(file, table["added"].format(path=name), path=name)


def pickup_act(project: str, pickup: Pickup) -> WriteFile:
    """Return the change that adds the line to its file; where it stands there already, the change
    changes nothing. Raises ChangeRefused, with what to paste, where the file is anything unusual.
    """
    file = os.path.join(project, pickup.file)
    raw = read_plain_file(file, _MAX_BYTES + 1)
    try:
        if raw is None and os.path.lexists(file):
            raise ChangeRefused("It is no plain file that can be read.")
        text = _insert_line(_decode(raw or b""), pickup)
    except ChangeRefused as error:
        message = f"{visible(pickup.file)} is left alone. {error.message}"
        raise ChangeRefused(f"{message} Add this by hand: {pickup.added}") from None
    folder, name = os.path.split(file)
    return WriteFile(folder, name, raw, text)


def _would_hide_others(project: str, table: Mapping[str, Any]) -> bool:
    """Whether the agent reads a file above the project, in its repository, only as long as the
    project has none of its own.
    """
    hidden: list[str] = table.get("hidden", [])
    top = git.top_level(project) if hidden else None
    if top is None:
        return False
    folder, real = os.path.realpath(project), os.path.realpath(top)
    found: list[str] = []
    while folder != real and len(folder) > len(real):
        folder = os.path.dirname(folder)
        found += [name for name in table["files"] if _exists(folder, name)]
    return bool(found) and set(found) <= set(hidden)


def _exists(project: str, file: str) -> bool:
    return os.path.lexists(os.path.join(project, file))


def _decode(raw: bytes) -> str:
    if len(raw) > _MAX_BYTES or raw.startswith(BOM):
        raise ChangeRefused("It is too large, or begins with a byte order mark.")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise ChangeRefused("It is no text in UTF-8.") from None


def _insert_line(text: str, pickup: Pickup) -> str:
    if pickup.setting:
        return with_item(text if text.strip() else "{}\n", pickup.setting, pickup.path)
    lines = split_lines(text)
    if any(bare(row).strip() == pickup.added for row in lines):
        return text
    gap = "\n" if lines and bare(lines[-1]).strip() else ""
    return with_lines_after(text, len(lines), f"{gap}{pickup.added}\n")


@cache
def _load_table(target: HandoffTarget) -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads(data_text("handoff/pickup.toml"))[target.value]
    return table
