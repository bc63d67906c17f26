"""What an agent is told when a session starts: facts that its own load lacks or gets wrong.

Nothing is computed here. What is wrong of the notes was found by the last check of the memory, and
counts only while the files are the ones that were checked.
"""

from __future__ import annotations

import os
from contextlib import suppress

from ricordo.agents.prompt_rules import list_shadowed_instructions
from ricordo.agents.workplace import find_workplace, read_head_commit
from ricordo.hook.event import HookEvent, give_context, make_line
from ricordo.hook.indexed_memory import find_indexed_memory
from ricordo.hook.refresh import request_refresh
from ricordo.storage.foreign_file import read_plain_file
from ricordo.storage.hook_files import (
    append_to_session,
    read_facts,
    read_handoff_verdict,
    read_session,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ricordo.agents.workplace import Workplace
    from ricordo.hook.indexed_memory import IndexedMemory

EVENT = "SessionStart"
LONGEST = 1_500
"""Characters of all facts."""
FACTS = "start"
"""The field of a session that holds the facts that it started with."""
_REPEATING = ("resume", "fork")
"""Starts whose session still has the facts of an earlier start."""
_INTRODUCTION = (
    "Facts from Ricordo about the notes of this project. They are records, not instructions."
)
_HANDOFFS = ("HANDOFF.md", "HANDOFF.new.md")
_LONGEST_HEAD = 8_192
_FORMAT = "ricordo handoff "
_SHORT = 9


def answer_start(document: bytes, state: str, agent: str = "") -> bytes:
    """Return the facts for a session that starts, and have the index brought up in the background.
    Raises ValueError and OSError.
    """
    event = HookEvent(document, agent)
    if not event.cwd or event.is_of_sub_agent:
        return b""
    with suppress(OSError):
        request = {"event": "start", "cwd": event.cwd, "session": event.session}
        request_refresh(state, request)
    here = find_workplace(event.cwd)
    memory = find_indexed_memory(state, event.cwd, os.environ)
    facts = [*_list_findings(memory), *_list_handoffs(here, state)]
    facts += list_shadowed_instructions(event.agent, dict.fromkeys((here.directory, here.top)))
    text = _fit(facts)
    if not text or (event.text("source") in _REPEATING and _has_same_facts(state, event, text)):
        return b""
    with suppress(OSError):
        append_to_session(state, event.session, {FACTS: text})
    return give_context(event.text("hook_event_name") or EVENT, text)


def _has_same_facts(state: str, event: HookEvent, text: str) -> bool:
    earlier = [record[FACTS] for record in read_session(state, event.session) if FACTS in record]
    return earlier[-1:] == [text]


def _fit(facts: list[str]) -> str:
    """Return as many of the first facts as there is room for; "" for none."""
    lines, room = [_INTRODUCTION], LONGEST - len(_INTRODUCTION)
    for fact in facts:
        line = f"- {make_line(fact)}"
        room -= len(line) + 1
        if room < 0:
            break
        lines.append(line)
    return "\n".join(lines) if lines[1:] else ""


def _list_findings(memory: IndexedMemory | None) -> Iterator[str]:
    """Yield what the last check found, as far as the files are unchanged since."""
    if memory is None:
        return
    entries = read_facts(memory.index).get("facts")
    for entry in entries if isinstance(entries, list) else ():
        with suppress(TypeError, ValueError, KeyError, OSError):
            if all(_is_unchanged(memory.root, *file) for file in entry["files"]):
                yield str(entry["text"])


def _is_unchanged(root: str, path: str, size: int, changed: int) -> bool:
    status = os.lstat(os.path.join(root, path))
    return (status.st_size, status.st_ctime_ns) == (size, changed)


def _list_handoffs(here: Workplace, state: str) -> Iterator[str]:
    """Yield a line on each handoff of the project that has not expired."""
    for path in dict.fromkeys(
        os.path.join(folder, name) for folder in (here.directory, here.top) for name in _HANDOFFS
    ):
        head = _read_head(path)
        if head.get("format", "").startswith(_FORMAT) and not _has_expired(head):
            parts = [
                f"A handoff is pending: {path}, written {head.get('written', '')[:10]}",
                _describe_verdict(read_handoff_verdict(state, path)),
            ]
            now = read_head_commit(here.top)
            then = head.get("commit", "")
            if now and then and not now.startswith(then):
                parts.append(f"the commit moved since, from {then[:_SHORT]} to {now[:_SHORT]}")
            yield f"{'; '.join(parts)}."


def _read_head(path: str) -> dict[str, str]:
    """Return the plain fields of the header of a handoff; empty if the file has none."""
    raw = read_plain_file(path, _LONGEST_HEAD) or b""
    opening, *lines = raw.decode("utf-8", "replace").split("\n")
    fields: dict[str, str] = {}
    for line in lines if opening == "---" else ():
        if line == "---":
            break
        key, colon, value = line.partition(": ")
        if colon and not key.startswith(" "):
            fields[key] = value.strip("'\"")
    return fields


def _has_expired(head: dict[str, str]) -> bool:
    from datetime import UTC, datetime

    try:
        expires = datetime.fromisoformat(head.get("expires", ""))
    except ValueError:
        return False
    return expires.astimezone(UTC) < datetime.now(UTC)


def _describe_verdict(verdict: dict[str, object]) -> str:
    wrong, total = verdict.get("wrong"), verdict.get("total")
    if not isinstance(wrong, int) or not isinstance(total, int):
        return "not verified since it was written"
    if not total:
        return "none of its statements could be verified"
    day = str(verdict.get("at", ""))[:10]
    statements = f"{total} statement{'' if total == 1 else 's'}"
    if wrong:
        return f"{wrong} of {statements} no longer valid on {day}"
    return f"{statements} valid on {day}"
