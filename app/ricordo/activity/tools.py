"""Which files the call of a tool touches, by a table of tools (`tools.toml`)."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from ricordo.activity.session import Agent, Deed, Touch
from ricordo.activity.shell import plain_deeds
from ricordo.activity.values import text_of
from ricordo.resources import data_text

LONGEST_WRITTEN = 16_000
"""Characters of what a tool wrote that are kept."""
_PATCHED = {
    "*** Add File: ": Deed.WROTE,
    "*** Update File: ": Deed.EDITED,
    "*** Move to: ": Deed.WROTE,
    "*** Delete File: ": Deed.DELETED,
}
"""The lines of a patch of Codex and opencode that name files."""
_WINDOWS_LONG = "\\\\?\\"


def touches(
    agent: Agent, tool: str, given: Mapping[str, Any], cwd: str, call: str
) -> tuple[Touch, ...]:
    """Return the files that a `tool` of `agent` touches when it is `given` these arguments; `cwd`
    is where it works.
    """
    known = _tools()[agent].get(tool)
    if known is None:
        return ()
    cwd = text_of(given.get(known.get("directory", ""))) or cwd
    if "command" in known:
        return tuple(_by_command(given.get(known["command"]), cwd, call))
    if "patch" in known:
        return tuple(patched(text_of(given.get(known["patch"])), cwd, call))
    path = whole_path(text_of(given.get(known["path"])), cwd)
    written = _written(known, given)[:LONGEST_WRITTEN]
    return (Touch(Deed(known["deed"]), path, call, written),) if path else ()


def patched(patch: str, cwd: str, call: str) -> Iterator[Touch]:
    """Yield the files that a patch in the form of Codex touches, with the lines that it adds."""
    parts: list[tuple[Deed, str, list[str]]] = []
    for line in patch.split("\n"):
        mark = next((mark for mark in _PATCHED if line.startswith(mark)), "")
        if mark:
            parts.append((_PATCHED[mark], line.removeprefix(mark).strip(), []))
        elif parts and line.startswith("+"):
            parts[-1][2].append(line[1:])
    for deed, name, added in parts:
        if path := whole_path(name, cwd):
            yield Touch(deed, path, call, "\n".join(added)[:LONGEST_WRITTEN])


def whole_path(path: str, cwd: str) -> str:
    """Return `path`, as an agent in `cwd` wrote it, as an absolute one; "" where that cannot be
    told. One in a home directory that is not named stays as it is.
    """
    path = path.removeprefix(_WINDOWS_LONG)
    if not path or "\0" in path:
        return ""
    if path.startswith("~/"):
        return "~" + os.path.normpath(path[1:])
    whole = os.path.join(cwd, path)
    return os.path.normpath(whole) if whole.startswith("/") else ""


def _by_command(command: object, cwd: str, call: str) -> Iterator[Touch]:
    if isinstance(command, list):
        # ["bash", "-lc", "cat notes.md"]
        command = command[-1] if len(command) > 1 else None
    said = text_of(command)
    if "*** Begin Patch" in said:
        yield from patched(said, cwd, call)
        return
    for deed, path, directory in plain_deeds(said):
        if whole := whole_path(path, os.path.join(cwd, directory)):
            yield Touch(deed, whole, call)


def _written(known: Mapping[str, str], given: Mapping[str, Any]) -> str:
    if "texts" not in known:
        return text_of(given.get(known.get("text", "")))
    edits = given.get(known["texts"])
    parts = edits if isinstance(edits, list) else []
    return "\n".join(text_of(it.get(known["text"])) for it in parts if isinstance(it, dict))


@cache
def _tools() -> dict[str, dict[str, dict[str, str]]]:
    return tomllib.loads(data_text("activity/tools.toml"))
