"""What happens in a session after its start: the agent writes, compacts, stops, ends.

The index follows in the background. Only `stop` may say something, and only where the user's
settings ask for it.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress

from ricordo.agents.workplace import find_workplace
from ricordo.hook.event import LONGEST_PATH, HookEvent, make_line
from ricordo.hook.indexed_memory import find_indexed_memory, find_memory_of_file
from ricordo.hook.refresh import request_refresh
from ricordo.resources import config_directory
from ricordo.storage.foreign_file import read_plain_file
from ricordo.storage.hook_files import (
    AT,
    CHANGED,
    SUMMARY,
    append_to_session,
    read_facts,
    read_session,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ricordo.hook.indexed_memory import IndexedMemory

ASKED = "asked"
"""The field of a session in which `stop` spoke."""
LONGEST_SUMMARY = 32_000
"""Characters."""
MOST_NOTES = 8
"""Notes that `stop` names."""
_TO_CHECK = "Files that changed in this session are named in notes of this project. To check:"
_PATH_KEYS = ("file_path", "filePath", "notebook_path", "path")
_PATCH_KEYS = ("command", "input", "patch", "patchText")
_PATCH, _ADDED = "*** Begin Patch", "*** Add File: "
_PATCH_MARKS = (_ADDED, "*** Update File: ", "*** Move to: ")
_MOST_FILES = 50
_LARGEST_SETTINGS = 1024 * 1024


def answer_written(document: bytes, state: str, agent: str = "") -> bytes:
    """Have a note that the agent wrote indexed in the background; remember any other file. Says
    nothing. Raises ValueError and OSError.
    """
    event = HookEvent(document, agent)
    written = _find_written(event)
    for path in written:
        append_to_session(state, event.session, {CHANGED: path})
    notes = [
        path
        for path in written
        if path.endswith(".md") and find_memory_of_file(state, path, event.cwd, os.environ)
    ]
    if notes:
        created = [path for path in notes if written[path]]
        request = {"event": "wrote", "cwd": event.cwd, "session": event.session}
        request_refresh(state, {**request, "files": notes, "created": created})
    return b""


def _find_written(event: HookEvent) -> dict[str, bool]:
    """Return the absolute paths of the files that a tool wrote, and whether each is new."""
    arguments = event.fields.get("tool_input")
    if not isinstance(arguments, dict):
        return {}
    is_new = _is_new(event.fields.get("tool_response"))
    named = [(arguments.get(key), is_new) for key in _PATH_KEYS]
    for key in _PATCH_KEYS:
        patch = arguments.get(key)
        if isinstance(patch, str) and _PATCH in patch:
            named += [
                (line.removeprefix(mark).strip(), mark == _ADDED)
                for line in patch.split("\n")
                for mark in _PATCH_MARKS
                if line.startswith(mark)
            ]
    return {
        os.path.normpath(os.path.join(event.cwd or "/", value)): is_added
        for value, is_added in named[:_MOST_FILES]
        if isinstance(value, str) and value and "\0" not in value
    }


def _is_new(response: object) -> bool:
    """Return whether a tool says that it created the file; Gemini CLI does in what it displays."""
    if not isinstance(response, dict):
        return False
    shown = response.get("returnDisplay")
    is_shown = isinstance(shown, dict) and shown.get("isNewFile") is True
    return is_shown or response.get("type") == "create"


def answer_compacted(document: bytes, state: str, agent: str = "") -> bytes:
    """Keep the summary of a compacted session for a handoff; what was given to the session before
    may be given again. Says nothing. Raises ValueError, OSError and sqlite3.Error.
    """
    from ricordo.search.usage import UsageStore

    event = HookEvent(document, agent)
    if event.is_of_sub_agent:
        return b""
    UsageStore(state, "").forget_given(event.session)
    summary = event.text("compact_summary")[:LONGEST_SUMMARY]
    if summary:
        record = {SUMMARY: summary, AT: time.time(), "cwd": event.cwd}
        append_to_session(state, event.session, record)
    return b""


def answer_end(document: bytes, state: str, agent: str = "") -> bytes:
    """Have the index brought up after a session. Says nothing. Raises ValueError and OSError."""
    event = HookEvent(document, agent)
    if event.cwd and not event.is_of_sub_agent:
        request_refresh(state, {"event": "end", "cwd": event.cwd, "session": event.session})
    return b""


def answer_stop(document: bytes, state: str, agent: str = "") -> bytes:
    """Return, once in a session and where the settings ask for it, the notes that name files which
    the agent changed and that it did not check. Raises ValueError and OSError.

    What other tools than those for files wrote into the memory is indexed in the background.
    """
    event = HookEvent(document, agent)
    if not event.cwd or event.is_of_sub_agent:
        return b""
    memory = find_indexed_memory(state, event.cwd, os.environ)
    if memory is None:
        return b""
    if _is_newer_than_index(memory):
        with suppress(OSError):
            request = {"event": "stop", "cwd": event.cwd, "session": event.session}
            request_refresh(state, request)
    if event.fields.get("stop_hook_active") is True or not _asks_for_check():
        return b""
    records = read_session(state, event.session)
    if any(ASKED in record for record in records):
        return b""
    changed = [record[CHANGED] for record in records if isinstance(record.get(CHANGED), str)]
    lines = list(_list_notes_to_check(memory, event.cwd, changed))
    if not lines:
        return b""
    append_to_session(state, event.session, {ASKED: True})
    reason = "\n".join([_TO_CHECK, *lines[:MOST_NOTES]])
    return json.dumps({"decision": "block", "reason": reason}).encode("ascii") + b"\n"


def _is_newer_than_index(memory: IndexedMemory) -> bool:
    """Return whether a file was added to or removed from the memory since it was indexed."""
    try:
        return os.stat(memory.root).st_mtime_ns > os.stat(memory.index).st_mtime_ns
    except OSError:
        return False


def _list_notes_to_check(memory: IndexedMemory, cwd: str, changed: list[str]) -> Iterator[str]:
    """Yield a line for each note that names a file of the project that was `changed`, unless the
    note was changed too.
    """
    named = read_facts(memory.index).get("named")
    top = find_workplace(cwd).top
    by_note: dict[str, list[str]] = {}
    for path in dict.fromkeys(changed):
        relative = os.path.relpath(os.path.realpath(path), top)
        notes = named.get(relative) if isinstance(named, dict) else None
        for note in notes if isinstance(notes, list) else ():
            by_note.setdefault(str(note), []).append(relative)
    written = {os.path.realpath(path) for path in changed}
    for note, files in by_note.items():
        path = os.path.join(memory.root, note)
        if path not in written:
            yield f"- {make_line(path, LONGEST_PATH)} (names {make_line(', '.join(files))})"


def _asks_for_check() -> bool:
    """Return whether the user's settings turn the check on."""
    path = os.path.join(config_directory(os.environ), "settings.toml")
    raw = read_plain_file(path, _LARGEST_SETTINGS, follow=True) or b""
    if b"check" not in raw:
        return False
    import tomllib

    table = tomllib.loads(raw.decode("utf-8", "replace")).get("hook")
    return isinstance(table, dict) and table.get("check") is True
