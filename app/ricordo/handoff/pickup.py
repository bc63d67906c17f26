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
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from ricordo import git
from ricordo.disk.plain_file import read_plain_file
from ricordo.errors import ChangeRefused
from ricordo.handoff.document import Target
from ricordo.handoff.splice import with_item
from ricordo.memory.change import WriteFile
from ricordo.memory.lines import bare, split_lines, with_lines_after
from ricordo.memory.note import BOM
from ricordo.resources import data_text
from ricordo.text import one_line, visible

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


def start_line(target: Target, path: str) -> str:
    """Return the line to copy that starts an agent with the handoff at `path`, from where it runs;
    for any agent, what to say to it.
    """
    table = _table(target)
    prompt = table["prompt"].format(path=one_line(path))
    program = table.get("program")
    return shlex.join([*program, prompt]) if program else str(prompt)


def pickup(target: Target, project: str, path: str) -> Pickup | None:
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


@cache
def _table(target: Target) -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads(data_text("handoff/pickup.toml"))[target.value]
    return found
