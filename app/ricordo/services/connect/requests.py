"""What happens in the background while agents work: notes are indexed, recorded and checked.

Hooks leave requests and start this in a process of its own. Indexing comes first, as the next
prompt may need it; recording and checking follow, in one process at a time.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from ricordo.agents.agent import MemoryPlace
from ricordo.agents.registry import place_from_directory
from ricordo.agents.workplace import find_workplace, read_head_commit
from ricordo.errors import RicordoError
from ricordo.search.reader import read_catalogue
from ricordo.services.search.recall import open_index
from ricordo.services.workspace.environment import Environment, load_environment
from ricordo.services.workspace.places import keep_existing, list_places
from ricordo.storage.cache_file import compute_code_stamp, load_judgement, save_judgement
from ricordo.storage.history import has_history
from ricordo.storage.hook_files import (
    AT,
    CHANGED,
    CHECKING,
    INDEXING,
    RequestQueue,
    drop_old_sessions,
    read_session,
)
from ricordo.storage.reader import SETTLING_NS, read_memory

if TYPE_CHECKING:
    from ricordo.services.workspace.notebook import Notebook

_STAMP = "session start"
_ERRORS = (RicordoError, OSError, sqlite3.Error, ValueError)
"""What may go wrong with one memory; the others go on."""


@dataclass(slots=True)
class _MemoryWork:
    """What is to be done for one memory."""

    place: MemoryPlace
    cwd: str = ""
    sessions: set[str] = field(default_factory=set)
    created: set[str] = field(default_factory=set)
    """Paths in the memory of notes that were not there before."""
    is_start: bool = False
    at: float = field(default_factory=time.time)
    """When the first request was made, in seconds since the epoch."""


def answer_requests(state: str, lock: int) -> None:
    """Answer all requests of hooks, with the `lock` of their queue; return when none is left."""
    environment = load_environment(os.environ, state=state)
    checking = RequestQueue(state, CHECKING)

    def index(requests: list[dict[str, Any]]) -> None:
        for work in _sort_by_memory(requests, environment):
            with suppress(*_ERRORS):
                _index(work, environment)
                checking.add(_to_request(work))
        for cwd in sorted({_text(it, "cwd") for it in requests if it.get("event") == "start"}):
            with suppress(OSError):
                checking.add({"cwd": cwd})

    RequestQueue(state, INDEXING).answer(lock, index)
    second = checking.lock()
    if second is not None:
        checking.answer(second, lambda requests: _check_all(requests, environment))


def _sort_by_memory(
    requests: Iterable[Mapping[str, Any]], environment: Environment
) -> Iterable[_MemoryWork]:
    """Return the memories that requests are about, each once."""
    works: dict[str, _MemoryWork] = {}
    for request in requests:
        cwd = _text(request, "cwd")
        created = _real_paths(request, "created")
        for place, notes in _find_places(cwd, _real_paths(request, "files"), environment):
            work = works.setdefault(place.root, _MemoryWork(place))
            work.cwd = cwd
            work.is_start |= request.get("event") == "start"
            work.sessions.add(_text(request, "session"))
            work.at = min(work.at, _number(request, AT) or work.at)
            work.created.update(it for it in notes if os.path.join(place.root, it) in created)
    return works.values()


def _real_paths(request: Mapping[str, Any], key: str) -> list[str]:
    return [os.path.realpath(path) for path in _list_texts(request, key)]


def _list_texts(request: Mapping[str, Any], key: str) -> list[str]:
    values = request.get(key)
    return [it for it in values if isinstance(it, str)] if isinstance(values, list) else []


def _number(request: Mapping[str, Any], key: str) -> float:
    value = request.get(key)
    return float(value) if isinstance(value, int | float) else 0.0


def _find_places(
    cwd: str, files: Sequence[str], environment: Environment
) -> Iterator[tuple[MemoryPlace, list[str]]]:
    """Yield the memories in which the `files` are, with their paths there; without files those of
    the directory `cwd` that are indexed unasked.

    These are the ones that an agent keeps for the project and those that were indexed before, but
    not notes that come with a repository: anybody may have written them.
    """
    if not os.path.isabs(cwd):
        return
    here = find_workplace(cwd)
    places = keep_existing(list_places(environment._replace(cwd=cwd), here))
    known = {place.root for place in places}
    indexed = read_catalogue(environment.state)
    for root, entry in indexed.items():
        project = entry.get("project")
        if root not in known and isinstance(project, str) and os.path.isdir(root):
            places.append(replace(place_from_directory(root), project=project))
    for place in places:
        inside = os.path.join(place.root, "")
        notes = [file.removeprefix(inside) for file in files if file.startswith(inside)]
        is_own = bool(place.project) and not place.is_in_project
        is_here = place.root in known or place.project in here.all_directories
        if notes or (not files and is_here and (is_own or place.root in indexed)):
            yield place, notes


def _text(request: Mapping[str, Any], key: str) -> str:
    value = request.get(key)
    return value if isinstance(value, str) else ""


def _index(work: _MemoryWork, environment: Environment) -> None:
    """Bring the index of a memory up to its files."""
    memory = read_memory(work.place.root, work.place.layout)
    if not all(note.facts.is_settled for note in memory.notes):
        # a file counts as unchanged only once its time can no longer stay the same
        time.sleep(SETTLING_NS / 1e9)
        memory = read_memory(work.place.root, work.place.layout, memory)
    index = open_index(work.place, environment)
    try:
        index.update(memory)
    finally:
        index.close()


def _to_request(work: _MemoryWork) -> dict[str, Any]:
    return {
        "root": work.place.root,
        "project": work.place.project,
        "cwd": work.cwd,
        "sessions": sorted(work.sessions),
        "created": sorted(work.created),
        "start": work.is_start,
        AT: work.at,
    }


def _check_all(requests: Sequence[Mapping[str, Any]], environment: Environment) -> None:
    """Record what was written, then check the memories and handoffs of sessions that started."""
    memories = [request for request in requests if _text(request, "root")]
    for request in memories:
        with suppress(*_ERRORS):
            _record(request, environment)
    for request in memories:
        if request.get("start") is True:
            with suppress(*_ERRORS):
                _check(request, environment)
    for cwd in {_text(request, "cwd") for request in requests if request not in memories}:
        _verify_handoffs(cwd, environment)
    drop_old_sessions(environment.state)


def _open(request: Mapping[str, Any], environment: Environment) -> Notebook:
    from ricordo.services.workspace.notebook import Notebook
    from ricordo.services.workspace.settings import load_settings

    project = _text(request, "project")
    place = replace(place_from_directory(_text(request, "root")), project=project)
    here = environment._replace(cwd=_text(request, "cwd") or environment.cwd)
    return Notebook(place, here, load_settings(here)[0])


def _record(request: Mapping[str, Any], environment: Environment) -> None:
    """Record a memory in the history once its files are stable, with the sessions that wrote."""
    from ricordo.services.history.recorder import STABLE_SECONDS

    notebook = _open(request, environment)
    time.sleep(STABLE_SECONDS)
    memory = notebook.read()
    since = time.time() - STABLE_SECONDS
    waiting = frozenset(file.path for file in memory.files if file.facts.modified > since)
    if not has_history(notebook.database, memory.root):
        # what was written since the session began is news in a memory that is new to Ricordo
        began = _number(request, AT)
        new = {file.path for file in memory.files if file.facts.modified >= began}
        notebook.record(memory, waiting.union(new, _list_texts(request, "created")))
    writers = {
        os.path.relpath(os.path.realpath(path), memory.root): session
        for session in _list_texts(request, "sessions")
        for record in read_session(environment.state, session)
        if isinstance(path := record.get(CHANGED), str)
    }
    notebook.record(memory, waiting, sessions=writers)


def _check(request: Mapping[str, Any], environment: Environment) -> None:
    """Check a memory with all evidence, unless nothing changed since the last time; the notebook
    keeps the facts for the next start.
    """
    notebook = _open(request, environment)
    memory = notebook.read()
    commit = read_head_commit(find_workplace(_text(request, "project")).top)
    files = ((file.path, file.facts.size, file.facts.changed_ns) for file in memory.files)
    day = environment.now.date().isoformat()
    parts = (compute_code_stamp(), commit, day, *map(repr, files))
    stamp = sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()
    key = f"{_STAMP} {memory.root}"
    if load_judgement(environment.state, key, stamp):
        return
    notebook.judge_with_evidence(memory)
    save_judgement(environment.state, key, stamp, {})


def _verify_handoffs(cwd: str, environment: Environment) -> None:
    """Verify the handoffs of the project again, for the hook of the next start."""
    from ricordo.handoff.check import HANDOFF_FILES

    here = find_workplace(cwd)
    for name in sorted(HANDOFF_FILES):
        path = os.path.join(here.top, name)
        if os.path.isfile(path):
            # most projects have none, and it takes longer to load than all the rest
            from ricordo.services.handoff.resume import resume_handoff

            with suppress(*_ERRORS):
                resume_handoff(environment._replace(cwd=cwd), path)
