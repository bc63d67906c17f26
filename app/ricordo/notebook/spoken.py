"""What the person said to agents since the last curation, in all sessions that bear on a memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime

from ricordo.activity.learnt import as_text, from_text
from ricordo.activity.named import named_session
from ricordo.activity.session import Agent, Turn
from ricordo.activity.sources import Source
from ricordo.agents.place import Place
from ricordo.curator.brief import tokens, turn_tokens
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
    """The path of a transcript; `#` and an id behind it where it holds several sessions."""
    note: str = ""
    """The path of a note: only what is about it is proposed."""
    everything: bool = False
    """Whether what was curated before is curated again."""

    @property
    def is_named(self) -> bool:
        """Whether it was named, so that how far curations came does not count."""
        return bool(self.since or self.session or self.note or self.everything)


@dataclass(slots=True)
class Told:
    """What was said, and how far it was read."""

    said: list[Spoken] = field(default_factory=list)
    cursors: dict[str, Cursor] = field(default_factory=dict)
    sessions: int = 0
    tokens: int = 0
    """About how many tokens all that was said came to, by agents too."""
    last: str = ""
    """When the last thing was said, ISO 8601 in UTC; "" where that is not known."""
    has_more: bool = False
    """Whether there was no room for all of it: the rest waits for the next curation."""


def listen(
    place: Place,
    surroundings: Surroundings,
    scope: Scope,
    cursors: Mapping[str, Cursor],
    step: Callable[[], None],
    room: int | None = None,
) -> Told:
    """Return what was said in the `scope`, day by day, no more than fits into `room` tokens of a
    brief. A transcript that cannot be read says nothing. Raises WrongUsage where no transcript is
    named.
    """
    told = Told()
    seen: set[tuple[str, str]] = set()
    own = None if scope.session else bearing(place, surroundings)
    for source in _sources(own, scope, surroundings):
        if len(told.said) >= MOST or (room is not None and room <= 0):
            told.has_more = True
            break
        listening = _Listening(source, scope, cursors, own, room)
        found = listening.said(surroundings.now.date(), step)
        if found is None:
            continue
        said, cursor = found
        # a session that was resumed may stand in two transcripts
        fresh = [it for it in said if (it.key, it.text) not in seen]
        seen |= {(it.key, it.text) for it in fresh}
        told.said += fresh
        told.sessions += bool(fresh)
        told.cursors[key_of(source)] = cursor
        told.tokens += listening.tokens
        told.last = max(told.last, listening.last)
        told.has_more |= listening.has_more
        room = listening.room
    # sessions of one day stay whole
    told.said.sort(key=lambda it: it.day)
    return told


def key_of(source: Source) -> str:
    """Return what names a transcript among the cursors."""
    return f"{source.path}\0{source.session}"


def still_there(cursors: Mapping[str, Cursor]) -> dict[str, Cursor]:
    """Return the `cursors` without those of transcripts that were swept away. A folder that cannot
    be seen may come back with all that is in it.
    """

    def is_gone(key: str) -> bool:
        path = key.partition("\0")[0]
        return not os.path.lexists(path) and os.path.isdir(os.path.dirname(path))

    return {key: cursor for key, cursor in cursors.items() if not is_gone(key)}


def _sources(own: Bearing | None, scope: Scope, surroundings: Surroundings) -> Iterator[Source]:
    if scope.session or own is None:
        yield named_session(scope.session)
    else:
        yield from sorted(sources_of(own, surroundings), key=lambda it: (it.path, it.session))


class _Listening:
    """Reads one transcript on from where a curation ended."""

    def __init__(
        self,
        source: Source,
        scope: Scope,
        cursors: Mapping[str, Cursor],
        own: Bearing | None,
        room: int | None,
    ) -> None:
        self._source, self._scope, self._own = source, scope, own
        self._cursor = None if scope.is_named else cursors.get(key_of(source))
        self.room = room
        """Tokens that are left when it was read."""
        self.tokens = 0
        self.last = ""
        self.has_more = False

    def said(self, today: date, step: Callable[[], None]) -> tuple[list[Spoken], Cursor] | None:
        """Return what was said, and how far it was read; None where there is nothing new, or the
        session does not bear on the memory.
        """
        source, cursor = self._source, self._cursor
        if cursor is not None and cursor.stamp == source.stamp and source.stamp:
            return None
        kept = from_text(cursor.learnt) if cursor and cursor.learnt else None
        transcript = source.transcript(kept)
        first = cursor.last if cursor and not cursor.learnt else 0
        last = first

        def turns() -> Iterator[Turn]:
            nonlocal last
            for turn in transcript.turns():
                step()
                last = max(last, turn.where.line)
                if turn.where.line > first and self._is_in_scope(turn):
                    self._count(turn)
                    yield turn

        found: list[Spoken] = []
        for it in spoken(source.path, turns(), today, is_answer=cursor is not None):
            found.append(it)
            if self._is_full(it):
                transcript.seal()
                break
        if self._own is not None and not bears(self._own, transcript.session):
            return None
        is_of_lines = source.agent is not Agent.OPENCODE
        learnt = as_text(transcript.learnt) if is_of_lines else ""
        return found, Cursor("" if self.has_more else source.stamp, learnt, last)

    def _is_in_scope(self, turn: Turn) -> bool:
        since = self._scope.since
        return since is None or not turn.at or datetime.fromisoformat(turn.at) >= since

    def _count(self, turn: Turn) -> None:
        if turn.is_said:
            self.tokens += tokens(turn.text)
            self.last = max(self.last, turn.at)

    def _is_full(self, it: Spoken) -> bool:
        """Take the room that a turn needs; say whether none is left."""
        if self.room is None:
            return False
        self.room -= turn_tokens(it)
        self.has_more = self.room <= 0
        return self.has_more
