"""How the next agent picks a handoff up: a line to copy, and a line for what it reads at every
start, which is never written unasked.

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
from ricordo.handoff.format import MOST_BYTES, State, parse
from ricordo.memory.change import WriteFile
from ricordo.memory.lines import bare, line_end, split_lines, with_lines_after
from ricordo.memory.note import BOM
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
    beside = f"{stem}.new{extension}"
    own, why = _standing(os.path.join(folder, name))
    if own is not None:
        return own
    other, why_beside = _standing(os.path.join(folder, beside))
    if other is None:
        told = f"{visible(name)} is left alone. {why} So is {visible(beside)}. {why_beside}"
        raise ChangeRefused(f"{told} Name another file with -o.")
    remark = f"{visible(name)} is left alone. {why} The handoff stands beside it."
    return HandoffFile(other.path, other.before, other.handoff, remark)


def _standing(path: str) -> tuple[HandoffFile | None, str]:
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


_ODD = frozenset(" \\`@{}")
_LARGEST = 1024 * 1024
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


def start_line(target: Agent, path: str) -> str:
    """Return the line to copy that starts an agent with the handoff at `path`, from where it runs;
    for any agent, what to say to it.
    """
    table = _table(target)
    prompt = table["prompt"].format(path=one_line(path))
    program = table.get("program")
    return shlex.join([*program, prompt]) if program else str(prompt)


def pickup(target: Agent, project: str, path: str) -> Pickup | None:
    """Return which line of which file of `project` makes the agent read the handoff at `path`, both
    absolute; None where nobody knows for which agent it is, where its path is too odd for a line,
    or where the file would have to be made and the agent would no longer read another one.
    """
    table = _table(target)
    if "files" not in table:
        return None
    file = next((it for it in table["files"] if _is_there(project, it)), "")
    if not file and _hides_others(project, table):
        return None
    file = file or table["new"]
    is_inside = not os.path.relpath(path, project).startswith("..")
    folder = os.path.dirname(os.path.join(project, file))
    name = os.path.relpath(path, folder) if is_inside else path
    if not name.isprintable() or not _ODD.isdisjoint(name):
        return None
    if setting := table.get("setting", ""):
        return Pickup(file, f"{json.dumps(setting)}: [{json.dumps(name)}]", setting, name)
    return Pickup(file, table["added"].format(path=name), path=name)


def pickup_act(project: str, wanted: Pickup) -> WriteFile:
    """Return the change that adds the line to its file; where it stands there already, the change
    changes nothing. Raises ChangeRefused, with what to paste, where the file is anything unusual.
    """
    file = os.path.join(project, wanted.file)
    raw = read_plain_file(file, _LARGEST + 1)
    try:
        if raw is None and os.path.lexists(file):
            raise ChangeRefused("It is no plain file that can be read.")
        text = _with_line(_text(raw or b""), wanted)
    except ChangeRefused as refused:
        said = f"{visible(wanted.file)} is left alone. {refused.message}"
        raise ChangeRefused(f"{said} Add this by hand: {wanted.added}") from None
    folder, name = os.path.split(file)
    return WriteFile(folder, name, raw, text)


def _hides_others(project: str, table: Mapping[str, Any]) -> bool:
    """Whether the agent reads a file above the project, in its repository, only as long as the
    project has none of its own.
    """
    hidden: list[str] = table.get("hidden", [])
    top = git.top_level(project) if hidden else None
    if top is None:
        return False
    folder, real = os.path.realpath(project), os.path.realpath(top)
    above: list[str] = []
    while folder != real and len(folder) > len(real):
        folder = os.path.dirname(folder)
        above += [it for it in table["files"] if _is_there(folder, it)]
    return bool(above) and set(above) <= set(hidden)


def _is_there(project: str, file: str) -> bool:
    return os.path.lexists(os.path.join(project, file))


def _text(raw: bytes) -> str:
    if len(raw) > _LARGEST or raw.startswith(BOM):
        raise ChangeRefused("It is too large, or begins with a byte order mark.")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise ChangeRefused("It is no text in UTF-8.") from None


def _with_line(text: str, wanted: Pickup) -> str:
    if wanted.setting:
        return with_item(text if text.strip() else "{}\n", wanted.setting, wanted.path)
    lines = split_lines(text)
    if any(bare(it).strip() == wanted.added for it in lines):
        return text
    gap = "\n" if lines and bare(lines[-1]).strip() else ""
    return with_lines_after(text, len(lines), f"{gap}{wanted.added}\n")


def _table(target: Agent) -> dict[str, Any]:
    table: dict[str, Any] = target_table(target)["pickup"]
    return table
