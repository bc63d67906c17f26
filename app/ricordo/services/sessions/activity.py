"""What agents did with the notes of a memory, updated from their transcripts."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime

from ricordo.agents.place import MemoryPlace
from ricordo.agents.transcripts.catch_up import Stamps, catch_up, places_of, stamps_of
from ricordo.agents.transcripts.session import FileAction, Session
from ricordo.agents.transcripts.sources import SessionScope
from ricordo.agents.transcripts.store import KnownTranscript, Touched, TranscriptStore
from ricordo.errors import StateUnusable
from ricordo.lint.evidence import Evidence, Reads
from ricordo.memory.memory import Memory
from ricordo.services.history.whereabouts import Whereabouts
from ricordo.services.sessions.origin import causes_by_note
from ricordo.services.sessions.sessions import (
    bearing,
    bearing_rests_on,
    bears,
    folders_of,
    sources_of,
)
from ricordo.services.sessions.trace import Tracer
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
    touched: Touched
    by: str
    """The title of the session, else the beginning of its id."""


class Activity:
    """A source of evidence: readings of notes, and their origins."""

    rules = frozenset(("never-read", "stale"))

    def __init__(
        self, place: MemoryPlace, environment: Environment, store: TranscriptStore
    ) -> None:
        """`store` keeps what was read; nothing is read yet."""
        self._place = place
        self._environment = environment
        self._store = store
        self._bearing: tuple[object, SessionScope] | None = None
        self._stamps: Stamps | None = None
        """The stamps of the relevant transcripts before they were last read; None where not all
        could be read.
        """

    def has_news(self) -> bool:
        """Return whether transcripts may have changed since they were read."""
        return self._stamps is None or stamps_of(self._stamps) != self._stamps

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
        folders = folders_of(relevance, self._environment)
        stamps = stamps_of(places_of(sources_of(relevance, self._environment), folders))
        # listed again: what was added since is read, and what is added from now on is news
        catch_up(self._store, sources_of(relevance, self._environment), report)
        self._stamps = stamps
        accesses = self._list_accesses(memory)
        writes = [(run.note, run.touched) for run in accesses if run.touched.deed.changes]
        Tracer(self._store, self._list_transcripts()).keep(memory, writes, report)
        return self._build_evidence(memory, before, accesses)

    def read_at(self, memory: Memory) -> tuple[str, ...]:
        """Return when sessions loaded the memory and when agents read a note of it, ISO 8601 in
        UTC, as far as transcripts were read; empty where Ricordo's data cannot be used.
        """
        try:
            read = [
                access.touched.at
                for access in self._list_accesses(memory)
                if access.touched.deed is FileAction.READ
            ]
            started = [session.started for session in self._list_sessions()]
        except _UNREADABLE:
            return ()
        return tuple(sorted(at for at in (*read, *started) if at))

    def _find_filter(self) -> SessionScope:
        """Return the filter of relevant sessions, found again when its inputs changed."""
        stamps = bearing_rests_on(self._environment)
        if self._bearing is None or self._bearing[0] != stamps:
            self._bearing = stamps, bearing(self._place, self._environment)
        return self._bearing[1]

    def _list_transcripts(self) -> list[KnownTranscript]:
        relevance = self._find_filter()
        return [
            transcripts
            for transcripts in self._store.known()
            if bears(relevance, transcripts.session)
        ]

    def _list_accesses(self, memory: Memory) -> list[_NoteAccess]:
        relevance, renamed = self._find_filter(), self._map_renamed(memory)
        titles = {transcript.n: transcript.session.shown for transcript in self._list_transcripts()}
        accesses: dict[tuple[str, str, FileAction], _NoteAccess] = {}
        for touched in self._store.touched(titles):
            note = relevance.note(touched.path)
            if note:
                note = note if note in memory.by_path else renamed.get(note, note)
                # a resumed session may be in two transcripts
                key = (note, touched.call, touched.deed)
                accesses.setdefault(key, _NoteAccess(note, touched, titles[touched.transcript]))
        return list(accesses.values())

    def _map_renamed(self, memory: Memory) -> Mapping[str, str]:
        return Whereabouts(Database(self._environment.state), memory)

    def _build_evidence(
        self, memory: Memory, before: Evidence, accesses: Sequence[_NoteAccess]
    ) -> Evidence:
        causes = causes_by_note(self._store, memory.root, self._map_renamed(memory))
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


def _count_reads(accesses: Sequence[_NoteAccess]) -> dict[str, Reads]:
    """Count the readings of each note. An agent has to read a note to edit it, but not to overwrite
    it.
    """
    reads_by_note: dict[str, Reads] = {}
    days: dict[str, set[date]] = {}
    for run in accesses:
        if run.touched.deed in _NEVER_READ:
            continue
        earlier = reads_by_note.get(run.note, Reads(0, ""))
        # only explicit readings are counted
        times = earlier.times + (run.touched.deed is FileAction.READ)
        last, session = max((earlier.last, earlier.session), (run.touched.at, run.by))
        reads_by_note[run.note] = Reads(times, last, session)
        with suppress(ValueError):
            days.setdefault(run.note, set()).add(datetime.fromisoformat(run.touched.at).date())
    return {
        note: replace(reads, days=tuple(sorted(days.get(note, ()))))
        for note, reads in reads_by_note.items()
    }
