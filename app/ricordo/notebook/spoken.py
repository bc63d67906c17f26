"""What the person said to agents since the last curation, in all sessions that bear on a memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime

from ricordo.activity.learnt import as_text, from_text
from ricordo.activity.session import Agent, Turn
from ricordo.activity.sources import Source, source_at
from ricordo.agents.place import Place
from ricordo.curator.heard import Spoken, spoken
from ricordo.notebook.pending import Cursor
from ricordo.notebook.sessions import Bearing, bearing, bears, sources_of
from ricordo.notebook.surroundings import Surroundings

MOST = 20_000
"""Turns of the person in one curation; those after them wait for the next one."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What is curated: all since the last curation, or what is named here."""

    since: datetime | None = None
    session: str = ""
    """The path of a transcript."""
    note: str = ""
    """The path of a note: only what is about it is proposed."""

    @property
    def is_named(self) -> bool:
        """Whether it was named, so that how far curations came does not count."""
        return bool(self.since or self.session or self.note)


@dataclass(slots=True)
class Told:
    """What was said, and how far it was read."""

    said: list[Spoken] = field(default_factory=list)
    cursors: dict[str, Cursor] = field(default_factory=dict)
    sessions: int = 0


def listen(
    place: Place,
    surroundings: Surroundings,
    scope: Scope,
    cursors: Mapping[str, Cursor],
    step: Callable[[], None],
) -> Told:
    """Return what was said in the `scope`. A transcript that cannot be read says nothing."""
    told = Told()
    seen: set[tuple[str, str]] = set()
    own = None if scope.session else bearing(place, surroundings)
    for source in _sources(own, scope, surroundings):
        if len(told.said) >= MOST:
            break
        found = _Listening(source, scope, cursors, own).said(surroundings.now.date(), step)
        if found is None:
            continue
        said, cursor = found
        # a session that was resumed may stand in two transcripts
        fresh = [it for it in said if (it.key, it.text) not in seen]
        seen |= {(it.key, it.text) for it in fresh}
        told.said += fresh
        told.sessions += bool(fresh)
        told.cursors[key_of(source)] = cursor
    return told


def key_of(source: Source) -> str:
    """Return what names a transcript among the cursors."""
    return f"{source.path}\0{source.session}"


def _sources(own: Bearing | None, scope: Scope, surroundings: Surroundings) -> Iterator[Source]:
    if scope.session or own is None:
        yield source_at(scope.session)
    else:
        yield from sorted(sources_of(own, surroundings), key=lambda it: (it.path, it.session))


class _Listening:
    """Reads one transcript on from where a curation ended."""

    def __init__(
        self, source: Source, scope: Scope, cursors: Mapping[str, Cursor], own: Bearing | None
    ) -> None:
        self._source, self._scope, self._own = source, scope, own
        self._cursor = None if scope.is_named else cursors.get(key_of(source))

    def said(self, today: date, step: Callable[[], None]) -> tuple[list[Spoken], Cursor] | None:
        """Return what was said, and how far it was read; None where there is nothing new, or the
        session does not bear on the memory.
        """
        source, cursor = self._source, self._cursor
        if cursor is not None and cursor.stamp == source.stamp and source.stamp:
            return None
        kept = from_text(cursor.learnt) if cursor and cursor.learnt else None
        transcript = source.transcript(kept)
        last = cursor.last if cursor and not cursor.learnt else 0

        def turns() -> Iterator[Turn]:
            nonlocal last
            first = last
            for turn in transcript.turns():
                step()
                last = max(last, turn.where.line)
                if turn.where.line > first and self._is_in_scope(turn):
                    yield turn

        found = list(spoken(source.path, turns(), today, is_answer=cursor is not None))
        if self._own is not None and not bears(self._own, transcript.session):
            return None
        is_of_lines = source.agent is not Agent.OPENCODE
        learnt = as_text(transcript.learnt) if is_of_lines else ""
        return found, Cursor(source.stamp, learnt, last)

    def _is_in_scope(self, turn: Turn) -> bool:
        since = self._scope.since
        return since is None or not turn.at or datetime.fromisoformat(turn.at) >= since
