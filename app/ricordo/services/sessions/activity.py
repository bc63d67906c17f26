"""What agents did with the notes of a memory, updated from their transcripts."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import ClassVar

from ricordo.agents.agent import MemoryPlace
from ricordo.agents.transcripts.catch_up import Stamps, catch_up, list_watched_paths, read_stamps
from ricordo.agents.transcripts.session import FileAction, Session
from ricordo.agents.transcripts.sources import SessionFilter
from ricordo.agents.transcripts.store import StoredTouch, StoredTranscript, TranscriptStore
from ricordo.errors import StateUnusable
from ricordo.lint.evidence import Evidence, NoteReads
from ricordo.memory.memory import Memory
from ricordo.services.history.moved_files import MovedFiles
from ricordo.services.sessions.origin import load_origins
from ricordo.services.sessions.sessions import (
    find_session_filter,
    is_relevant,
    list_sources,
    list_watched_folders,
    read_filter_stamps,
)
from ricordo.services.workspace.environment import Environment
from ricordo.storage.database import Database
from ricordo.storage.sqlite import is_busy

_UNREADABLE = (sqlite3.Error, OSError, StateUnusable)
"""Errors that may keep transcripts from being read."""
_STEP_TEXT = "reading transcripts"
_NEVER_READ = frozenset((FileAction.WROTE, FileAction.DELETED))


@dataclass(frozen=True, slots=True)
class _NoteAccess:
    """What one session did to one note."""

    note: str
    """Its current path in the memory, or its last one."""
    touched: StoredTouch
    by: str
    """The title of the session, else the beginning of its id."""


class Activity:
    """A source of evidence: readings of notes, and their origins."""

    rules: ClassVar[frozenset[str]] = frozenset(("never-read", "stale"))

    def __init__(
        self, place: MemoryPlace, environment: Environment, store: TranscriptStore
    ) -> None:
        """`store` keeps what was read; nothing is read yet."""
        self._place = place
        self._environment = environment
        self._store = store
        self._bearing: tuple[object, SessionFilter] | None = None
        self._stamps: Stamps | None = None
        """The stamps of the relevant transcripts before they were last read; None where not all
        could be read.
        """

    def has_news(self) -> bool:
        """Return whether transcripts may have changed since they were read."""
        return self._stamps is None or read_stamps(self._stamps) != self._stamps

    def gather(self, memory: Memory, before: Evidence, step: Callable[[str], None]) -> Evidence:
        """Return `before` with the evidence of the transcripts. Only what was added to them is
        read; where Ricordo's data cannot be written, it is kept in memory for this process.
        """
        try:
            return self._read_all(memory, before, step)
        except _UNREADABLE as error:
            if is_busy(error):
                # another process is reading them: use what it has stored, and count the rest as
                # news
                self._stamps = None
                return self._build_evidence(memory, before, self._list_accesses(memory))
            with suppress(*_UNREADABLE):
                if self._store.work_in_memory():
                    return self._read_all(memory, before, step)
            return before

    def _read_all(self, memory: Memory, before: Evidence, step: Callable[[str], None]) -> Evidence:
        def report() -> None:
            step(_STEP_TEXT)

        relevance = self._find_filter()
        folders = list_watched_folders(relevance, self._environment)
        stamps = read_stamps(
            list_watched_paths(list_sources(relevance, self._environment), folders)
        )
        # listed again: what was added since is read, and what is added from now on is news
        catch_up(self._store, list_sources(relevance, self._environment), report)
        self._stamps = stamps
        accesses = self._list_accesses(memory)
        # without transcripts, as for most folders of notes, there is nothing to find
        if transcripts := self._list_transcripts():
            from ricordo.services.sessions.trace import OriginFinder

            writes = [(run.note, run.touched) for run in accesses if run.touched.action.changes]
            OriginFinder(self._store, transcripts).store_origins(memory, writes, report)
        return self._build_evidence(memory, before, accesses)

    def list_read_times(self, memory: Memory) -> tuple[str, ...]:
        """Return when sessions loaded the memory and when agents read a note of it, ISO 8601 in
        UTC, as far as transcripts were read; empty where Ricordo's data cannot be used.
        """
        try:
            read = [
                access.touched.at
                for access in self._list_accesses(memory)
                if access.touched.action is FileAction.READ
            ]
            started = [session.started for session in self._list_sessions()]
        except _UNREADABLE:
            return ()
        return tuple(sorted(at for at in (*read, *started) if at))

    def _find_filter(self) -> SessionFilter:
        """Return the filter of relevant sessions, found again when its inputs changed."""
        stamps = read_filter_stamps(self._environment)
        if self._bearing is None or self._bearing[0] != stamps:
            self._bearing = stamps, find_session_filter(self._place, self._environment)
        return self._bearing[1]

    def _list_transcripts(self) -> list[StoredTranscript]:
        relevance = self._find_filter()
        return [
            transcripts
            for transcripts in self._store.list_transcripts()
            if is_relevant(relevance, transcripts.session)
        ]

    def _list_accesses(self, memory: Memory) -> list[_NoteAccess]:
        relevance, renamed = self._find_filter(), self._map_renamed(memory)
        titles = {
            transcript.number: transcript.session.shown for transcript in self._list_transcripts()
        }
        accesses: dict[tuple[str, str, FileAction], _NoteAccess] = {}
        for touched in self._store.list_touches(titles):
            note = relevance.find_note_path(touched.path)
            if note:
                note = note if note in memory.by_path else renamed.get(note, note)
                # a resumed session may be in two transcripts
                key = (note, touched.call, touched.action)
                accesses.setdefault(key, _NoteAccess(note, touched, titles[touched.transcript]))
        return list(accesses.values())

    def _map_renamed(self, memory: Memory) -> Mapping[str, str]:
        return MovedFiles(Database(self._environment.state), memory)

    def _build_evidence(
        self, memory: Memory, before: Evidence, accesses: Sequence[_NoteAccess]
    ) -> Evidence:
        causes = load_origins(self._store, memory.root, self._map_renamed(memory))
        return replace(
            before,
            reads=_count_reads(accesses),
            origins={note: origins[0].summary for note, origins in causes.items()},
            last_session=self._last_session(),
        )

    def _last_session(self) -> str:
        """Return when the newest session began that could have read the notes."""
        return max((session.started for session in self._list_sessions()), default="")

    def _list_sessions(self) -> list[Session]:
        """Return the sessions that loaded the memory: sub-agents load only their own, and no agent
        loads that of another one.
        """
        layout = self._place.layout
        sessions = [
            item.session
            for item in self._list_transcripts()
            if layout.given_to in ("", item.session.agent.name)
        ]
        return [item for item in sessions if layout.is_of_sub_agent or not item.part_of]


def _count_reads(accesses: Sequence[_NoteAccess]) -> dict[str, NoteReads]:
    """Count the readings of each note. An agent has to read a note to edit it, but not to overwrite
    it.
    """
    reads_by_note: dict[str, NoteReads] = {}
    days: dict[str, set[date]] = {}
    for run in accesses:
        if run.touched.action in _NEVER_READ:
            continue
        earlier = reads_by_note.get(run.note, NoteReads(0, ""))
        # only explicit readings are counted
        times = earlier.count + (run.touched.action is FileAction.READ)
        last, session = max((earlier.last_at, earlier.session), (run.touched.at, run.by))
        reads_by_note[run.note] = NoteReads(times, last, session)
        with suppress(ValueError):
            days.setdefault(run.note, set()).add(datetime.fromisoformat(run.touched.at).date())
    return {
        note: replace(reads, days=tuple(sorted(days.get(note, ()))))
        for note, reads in reads_by_note.items()
    }
