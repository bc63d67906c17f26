"""What agents did with the notes of a memory, brought up to date from their transcripts."""

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

_LOST = (sqlite3.Error, OSError, StateUnusable)
"""What may keep transcripts from being known."""
_DOING = "reading transcripts"
_NO_READING = frozenset((FileAction.WROTE, FileAction.DELETED))


@dataclass(frozen=True, slots=True)
class _Done:
    """What one session did to one note."""

    note: str
    """Its present path in the memory, or the one that it had when it was there."""
    touched: Touched
    by: str
    """The session: its title, else the beginning of its id."""


class Activity:
    """A source of evidence: readings of notes, and where they came from."""

    rules = frozenset(("never-read", "stale"))

    def __init__(
        self, place: MemoryPlace, surroundings: Environment, store: TranscriptStore
    ) -> None:
        """`store` is where it is kept; nothing is read yet."""
        self._place = place
        self._surroundings = surroundings
        self._store = store
        self._bearing: tuple[object, SessionScope] | None = None
        self._stamps: Stamps | None = None
        """Of the transcripts that bear on the memory, from before they were read last; None where
        not all of them could be.
        """

    def has_news(self) -> bool:
        """Whether agents may have done something since it was gathered."""
        return self._stamps is None or stamps_of(self._stamps) != self._stamps

    def gather(self, memory: Memory, known: Evidence, step: Callable[[str], None]) -> Evidence:
        """Return `known` with what the transcripts tell now. What was read of them earlier is not
        read again, unless our state cannot be written: then it is known to this process alone.
        """
        try:
            return self._gathered(memory, known, step)
        except _LOST as error:
            if is_busy(error):
                # another process reads them just now: what it has kept is told, the rest is news
                self._stamps = None
                return self._told(memory, known, self._done(memory))
            with suppress(*_LOST):
                if self._store.work_in_memory():
                    return self._gathered(memory, known, step)
            return known

    def _gathered(self, memory: Memory, known: Evidence, step: Callable[[str], None]) -> Evidence:
        def on() -> None:
            step(_DOING)

        own = self._bears()
        folders = folders_of(own, self._surroundings)
        stamps = stamps_of(places_of(sources_of(own, self._surroundings), folders))
        # listed again: what came up since then is read, and what comes up from now on is news
        catch_up(self._store, sources_of(own, self._surroundings), on)
        self._stamps = stamps
        done = self._done(memory)
        writes = [(it.note, it.touched) for it in done if it.touched.deed.changes]
        Tracer(self._store, self._known()).keep(memory, writes, on)
        return self._told(memory, known, done)

    def read_at(self, memory: Memory) -> tuple[str, ...]:
        """Return when sessions were given the memory, and when agents read a note of it, ISO 8601
        in UTC, as far as transcripts were read; nothing where our state cannot be used.
        """
        try:
            read = [
                it.touched.at for it in self._done(memory) if it.touched.deed is FileAction.READ
            ]
            given = [it.started for it in self._given()]
        except _LOST:
            return ()
        return tuple(sorted(at for at in (*read, *given) if at))

    def _bears(self) -> SessionScope:
        """Which sessions bear on the memory: found out anew when something that tells is new."""
        rests_on = bearing_rests_on(self._surroundings)
        if self._bearing is None or self._bearing[0] != rests_on:
            self._bearing = rests_on, bearing(self._place, self._surroundings)
        return self._bearing[1]

    def _known(self) -> list[KnownTranscript]:
        own = self._bears()
        return [it for it in self._store.known() if bears(own, it.session)]

    def _done(self, memory: Memory) -> list[_Done]:
        own, renamed = self._bears(), self._renamed(memory)
        known = {it.n: it.session.shown for it in self._known()}
        found: dict[tuple[str, str, FileAction], _Done] = {}
        for touched in self._store.touched(known):
            note = own.note(touched.path)
            if note:
                note = note if note in memory.by_path else renamed.get(note, note)
                # a session that was resumed may stand in two transcripts
                key = (note, touched.call, touched.deed)
                found.setdefault(key, _Done(note, touched, known[touched.transcript]))
        return list(found.values())

    def _renamed(self, memory: Memory) -> Mapping[str, str]:
        return Whereabouts(Database(self._surroundings.state), memory)

    def _told(self, memory: Memory, known: Evidence, done: Sequence[_Done]) -> Evidence:
        causes = causes_by_note(self._store, memory.root, self._renamed(memory))
        return replace(
            known,
            reads=_reads(done),
            origins={note: of_note[0].summary for note, of_note in causes.items()},
            last_session=self._last_session(),
        )

    def _last_session(self) -> str:
        """When the newest session began that could have read the notes."""
        return max((it.started for it in self._given()), default="")

    def _given(self) -> list[Session]:
        """Return the sessions that were given the memory: sub-agents are given none but their own,
        nor is an agent given that of another one.
        """
        layout = self._place.layout
        known = [it.session for it in self._known()]
        told = [it for it in known if layout.given_to in ("", it.agent.name)]
        return [it for it in told if layout.is_of_sub_agent or not it.part_of]


def _reads(done: Sequence[_Done]) -> dict[str, Reads]:
    """Count the readings of each note. To change a note an agent has to have read it; to write it
    anew it has not.
    """
    read: dict[str, Reads] = {}
    days: dict[str, set[date]] = {}
    for it in done:
        if it.touched.deed in _NO_READING:
            continue
        before = read.get(it.note, Reads(0, ""))
        # only what was asked for as a reading is counted as one
        times = before.times + (it.touched.deed is FileAction.READ)
        last, session = max((before.last, before.session), (it.touched.at, it.by))
        read[it.note] = Reads(times, last, session)
        with suppress(ValueError):
            days.setdefault(it.note, set()).add(datetime.fromisoformat(it.touched.at).date())
    return {
        note: replace(reads, days=tuple(sorted(days.get(note, ())))) for note, reads in read.items()
    }
