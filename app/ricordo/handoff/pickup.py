"""How the next agent reads a handoff: a command to copy, and a line for a file that it reads at
every start, which is only written on request.

Sources: code.claude.com/docs/en/memory (imports), developers.openai.com/codex/guides/agents-md,
opencode.ai/docs/rules (`instructions`), github.com/google-gemini/gemini-cli docs/cli/gemini-md.md.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ricordo import git
from ricordo.agents.agent import Agent
from ricordo.errors import ChangeRefused
from ricordo.handoff.document import Handoff, target_table
from ricordo.handoff.format import MAX_BYTES, DocumentState, parse
from ricordo.memory.change import WriteFile
from ricordo.memory.lines import detect_line_end, insert_lines, split_lines, strip_line_end
from ricordo.memory.note import BOM
from ricordo.storage.foreign_file import read_plain_file
from ricordo.text import make_one_line, make_visible

_SPACE = " \t\r\n"


class _Member(NamedTuple):
    """A member of the top-level object, with its offsets in the text."""

    key: str
    start: int
    """Offset of the key."""
    value: Any
    value_start: int
    value_end: int


def add_json_item(text: str, key: str, item: str) -> str:
    """Return the JSON object `text` with `item` added to its list `key`, which is created if
    missing; the same text where the list has it already.

    Raises ChangeRefused where the file is not strict JSON (comments, a duplicate key), or `key` is
    not a list of strings.
    """
    members = _parse_members(text)
    existing = next((member for member in members if member.key == key), None)
    if existing is None:
        return _insert_member(text, members, f"{json.dumps(key)}: [{json.dumps(item)}]")
    if not isinstance(existing.value, list) or not all(
        isinstance(item, str) for item in existing.value
    ):
        raise ChangeRefused(f"“{key}” is not a list of strings.")
    return text if item in existing.value else _insert_element(text, existing, json.dumps(item))


def _parse_members(text: str) -> list[_Member]:
    try:
        value = json.loads(
            text, object_pairs_hook=_refuse_duplicates, parse_constant=_refuse_constant
        )
        if not isinstance(value, dict):
            raise ChangeRefused("It is not a JSON object.")
        return list(_scan_members(text))
    except (ValueError, RecursionError):
        raise ChangeRefused("It is not strict JSON; it may have comments.") from None


def _refuse_constant(constant: str) -> None:
    """Refuse `NaN` and `Infinity`, which Python accepts and JSON does not have."""
    raise ValueError(constant)


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ChangeRefused("It has a duplicate key.")
    return members


def _scan_members(text: str) -> Iterator[_Member]:
    """Yield the members of a text that is known to be an object."""
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
        opening, end = text.index("{") + 1, detect_line_end(text)
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
    """Return the whitespace before an offset."""
    return text[len(text[:at].rstrip(_SPACE)) : at]


@dataclass(frozen=True, slots=True)
class HandoffFile:
    """A file to which a handoff may be written."""

    path: str
    """Absolute, with the links of its folder resolved."""
    content: bytes | None = None
    """Its content; None where it does not exist."""
    handoff: Handoff | None = None
    """The handoff in it; None where it does not exist."""
    warning: str = ""
    """Why it is not the requested file; "" where it is."""


def find_destination(path: str) -> HandoffFile:
    """Return the file to which the handoff for `path` is written. Raises ChangeRefused where
    Ricordo may write neither that file nor the one beside it.
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
            f"{make_visible(name)} was not changed. {reason} "
            f"{make_visible(fallback)} was not changed either. {fallback_reason}"
        )
        raise ChangeRefused(message, hint="Name another file with -o.")
    warning = (
        f"{make_visible(name)} stays as it is. {reason} "
        f"The handoff goes to {make_visible(fallback)}."
    )
    return HandoffFile(fallback_file.path, fallback_file.content, fallback_file.handoff, warning)


def _check_file(path: str) -> tuple[HandoffFile | None, str]:
    """Return the file at `path` as one to write to; None, and why, where it may not be written."""
    raw = read_plain_file(path, MAX_BYTES + 1)
    if raw is None:
        if os.path.lexists(path):
            return None, "It is not a readable plain file."
        return HandoffFile(path), ""
    parsed = parse(raw)
    if parsed.state is not DocumentState.UNCHANGED:
        return None, parsed.reason
    if not os.stat(path, follow_symlinks=False).st_mode & 0o222:
        return None, "It is read-only."
    return HandoffFile(path, raw, parsed.handoff), ""


_UNSAFE = frozenset(" \\`@{}")
_MAX_BYTES = 1024 * 1024
"""Bytes of a file to which a line may be added."""


@dataclass(frozen=True, slots=True)
class PickupLine:
    """A line in a file of the project that makes an agent read the handoff at every start."""

    file: str
    """The name of the file in the project."""
    line: str
    """The line to add; also for pasting by hand."""
    setting: str = ""
    """The list of a JSON file that gets it; "" for a text file."""
    path: str = ""
    """The path of the handoff as that file names it."""


def build_start_command(target: Agent, path: str) -> str:
    """Return the command line that starts an agent with the handoff at `path`, from where it runs;
    for any agent, a prompt.
    """
    table = _load_table(target)
    prompt = table["prompt"].format(path=make_one_line(path))
    program = table.get("program")
    return shlex.join([*program, prompt]) if program else str(prompt)


def find_pickup_line(target: Agent, project: str, path: str) -> PickupLine | None:
    """Return the line, and its file in `project`, that makes the agent read the handoff at `path`,
    both absolute.

    None where the target is any agent, where the path has characters that are unsafe in such a
    line, or where a new file would stop the agent from reading another one.
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
        return PickupLine(file, f"{json.dumps(setting)}: [{json.dumps(name)}]", setting, name)
    return PickupLine(file, table["added"].format(path=name), path=name)


def build_pickup_edit(project: str, pickup: PickupLine) -> WriteFile:
    """Return the change that adds the line to its file, without an effect where it is there
    already. Raises ChangeRefused, with the line to paste, where the file is anything unusual.
    """
    file = os.path.join(project, pickup.file)
    raw = read_plain_file(file, _MAX_BYTES + 1)
    try:
        if raw is None and os.path.lexists(file):
            raise ChangeRefused("It is not a readable plain file.")
        text = _insert_line(_decode(raw or b""), pickup)
    except ChangeRefused as error:
        message = f"{make_visible(pickup.file)} was not changed. {error.message}"
        raise ChangeRefused(message, hint=f"Add this by hand: {pickup.line}") from None
    folder, name = os.path.split(file)
    return WriteFile(folder, name, raw, text)


def _would_hide_others(project: str, table: Mapping[str, Any]) -> bool:
    """Return whether the agent reads a file above the project, in its repository, only as long as
    the project has none of its own.
    """
    hidden: list[str] = table.get("hidden", [])
    top = git.find_top_level(project) if hidden else None
    if top is None:
        return False
    folder, real = os.path.realpath(project), os.path.realpath(top)
    names: list[str] = []
    while folder != real and len(folder) > len(real):
        folder = os.path.dirname(folder)
        names += [name for name in table["files"] if _exists(folder, name)]
    return bool(names) and set(names) <= set(hidden)


def _exists(project: str, file: str) -> bool:
    return os.path.lexists(os.path.join(project, file))


def _decode(raw: bytes) -> str:
    if len(raw) > _MAX_BYTES or raw.startswith(BOM):
        raise ChangeRefused("It is larger than 1 MB, or begins with a byte order mark.")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise ChangeRefused("It is not UTF-8 text.") from None


def _insert_line(text: str, pickup: PickupLine) -> str:
    if pickup.setting:
        return add_json_item(text if text.strip() else "{}\n", pickup.setting, pickup.path)
    lines = split_lines(text)
    if any(strip_line_end(row).strip() == pickup.line for row in lines):
        return text
    gap = "\n" if lines and strip_line_end(lines[-1]).strip() else ""
    return insert_lines(text, len(lines), f"{gap}{pickup.line}\n")


def _load_table(target: Agent) -> dict[str, Any]:
    table: dict[str, Any] = target_table(target)["pickup"]
    return table
