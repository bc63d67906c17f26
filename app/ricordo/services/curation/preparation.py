"""What a curation is given: what was said, and the brief on it. No engine has run by then."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import NamedTuple

from ricordo.agents.place import MemoryPlace
from ricordo.agents.transcripts.checkpoint import as_text, from_text
from ricordo.agents.transcripts.session import Agent, Session, Turn
from ricordo.agents.transcripts.sources import TranscriptSource, named_session
from ricordo.curation.brief import BUDGET, Brief, compose_brief, turn_tokens
from ricordo.curation.engine import CurationProgress, Step, Unread
from ricordo.curation.spoken import Heard, Spoken, heard, spoken
from ricordo.errors import TooOften
from ricordo.llm.question import estimate
from ricordo.llm.redaction import Redaction
from ricordo.memory.memory import Memory
from ricordo.secrets import mask
from ricordo.services.curation.pending import Cursor, recall_curation
from ricordo.services.curation.user_decisions import user_decisions
from ricordo.services.engines.redaction import begin_redaction
from ricordo.services.ledger.ledger import applied_at
from ricordo.services.search.recall import open_index, recall
from ricordo.services.search.usage import gaps
from ricordo.services.sessions.sessions import Bearing, bearing, bears, sources_of
from ricordo.services.workspace.environment import Environment
from ricordo.services.workspace.notebook import Notebook
from ricordo.text import clip, one_line

MOST = 20_000
"""Turns of the person in one curation; those after them wait for the next one."""


@dataclass(frozen=True, slots=True)
class CurationScope:
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
class SpokenSince:
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
    place: MemoryPlace,
    surroundings: Environment,
    scope: CurationScope,
    cursors: Mapping[str, Cursor],
    step: Callable[[], None],
    room: int | None = None,
) -> SpokenSince:
    """Return what was said in the `scope`, day by day, no more than fits into `room` tokens of a
    brief. A transcript that cannot be read says nothing. Raises WrongUsage where no transcript is
    named.
    """
    told = SpokenSince()
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


def key_of(source: TranscriptSource) -> str:
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


def _sources(
    own: Bearing | None, scope: CurationScope, surroundings: Environment
) -> Iterator[TranscriptSource]:
    if scope.session or own is None:
        yield named_session(scope.session)
    else:
        yield from sorted(sources_of(own, surroundings), key=lambda it: (it.path, it.session))


class _Listening:
    """Reads one transcript on from where a curation ended."""

    def __init__(
        self,
        source: TranscriptSource,
        scope: CurationScope,
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
            self.tokens += estimate(turn.text)
            self.last = max(self.last, turn.at)

    def _is_full(self, it: Spoken) -> bool:
        """Take the room that a turn needs; say whether none is left."""
        if self.room is None:
            return False
        self.room -= turn_tokens(it)
        self.has_more = self.room <= 0
        return self.has_more


_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)


class RatePeriod(NamedTuple):
    """A stretch of time in which no more than so many curations may be applied."""

    length: timedelta
    name: str
    most: int
    setting: str


def refuse_storm(notebook: Notebook) -> None:
    """Refuse to curate a memory that was curated too often. Raises TooOften and StateUnusable."""
    if told := storm(notebook):
        raise TooOften(told)


def storm(notebook: Notebook) -> str:
    """Return what is to be told where too many curations were applied of late, those too that were
    taken back; "" where all is calm. What a clock that was put back leaves in the future counts.
    Raises StateUnusable.
    """
    now, applied = notebook.surroundings.now, applied_at(notebook)
    for span in _spans(notebook):
        lately = sorted(at for at in applied if now - at < span.length)
        if len(lately) >= span.most:
            free = lately[-span.most] + span.length
            return (
                f"The memory is left to settle until {free.astimezone(now.tzinfo):%Y-%m-%d %H:%M}: "
                f"curations applied within {span.name}: {len(lately)}. The setting {span.setting} "
                "allows more."
            )
    return ""


def still_going_on(notebook: Notebook, last: str) -> str:
    """Return what is to be told where somebody spoke a moment ago; "" where all is quiet. `last` is
    when that was, ISO 8601, "" where nobody did.
    """
    quiet = timedelta(minutes=notebook.settings.curate.quiet)
    if not last or not quiet:
        return ""
    ago = notebook.surroundings.now - datetime.fromisoformat(last)
    if not timedelta(0) <= ago < quiet:
        return ""
    minutes = int(ago.total_seconds() // 60)
    when = f"{minutes} minutes ago" if minutes > 1 else "a moment ago"
    return f"A session still goes on ({when}): curate it when it has ended."


def _spans(notebook: Notebook) -> tuple[RatePeriod, ...]:
    most = notebook.settings.curate
    return (
        RatePeriod(_HOUR, "an hour", most.hour, "curate.hour"),
        RatePeriod(_DAY, "a day", most.day, "curate.day"),
    )


_BESIDE = "the index and the names of the other notes"
_LEFT = "not asked about any further"
_STAYS = "you can still open, edit or delete it"
_LONGEST = 60
"""Characters of what was said."""
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class SkippedInput:
    """A note, or something that was said, that a curation passed over."""

    source: str
    """The path of the note or the source of the turn; "" for what stands around them."""
    name: str
    """What it is called, in one line."""
    why: str
    """In one line, with what can still be done."""
    is_left: bool
    """Whether it was only not asked about."""

    @property
    def told(self) -> str:
        """All of it."""
        return f"skipped: {self.name}, {self.why}"


def skipped(
    unread: Iterable[Unread], memory: Memory, said: Iterable[Spoken]
) -> tuple[SkippedInput, ...]:
    """Return what was not read of `memory` and of what was `said`."""
    turns = {it.source: it for it in said}

    def told(it: Unread) -> SkippedInput:
        is_note = it.source in memory.by_path
        why = f"{it.why}; {_STAYS}" if is_note else it.why
        why = f"{_LEFT}: {it.why}" if it.is_left else why
        turn = turns.get(it.source)
        name = _name(turn) if turn else one_line(it.source) or _BESIDE
        return SkippedInput(it.source, name, one_line(why), it.is_left)

    return tuple(map(told, unread))


def summed_up(found: Iterable[SkippedInput]) -> tuple[SkippedInput, ...]:
    """Return what was skipped, one by one, and as one all that was not asked about: that has one
    reason.
    """
    known = tuple(found)
    left = [it for it in known if it.is_left]
    rest = tuple(it for it in known if not it.is_left)
    if not left:
        return rest
    more = [f"and {len(left) - _MOST_NAMED} more"] if len(left) > _MOST_NAMED else []
    names = ", ".join([*(it.name for it in left[:_MOST_NAMED]), *more])
    return (*rest, SkippedInput("", names, left[0].why, is_left=True))


def _name(turn: Spoken) -> str:
    return f"what you said on {turn.day:%-d %b}, “{clip(one_line(mask(turn.text)), _LONGEST)}”"


def recent_sessions(notebook: Notebook) -> tuple[Session, ...]:
    """Return what is known of the sessions whose transcript is still there. Those of sub-agents
    are none of their own.
    """
    own = bearing(notebook.place, notebook.surroundings)
    known = (it.session for it in notebook.activity.known())
    found = [it for it in known if not it.part_of and bears(own, it) and os.path.isfile(it.path)]
    return tuple(sorted(found, key=lambda it: it.ended, reverse=True))


def scope_of(session: Session) -> CurationScope:
    """Return the scope of one session."""
    is_one_of_many = session.agent is Agent.OPENCODE
    return CurationScope(session=f"{session.path}#{session.id}" if is_one_of_many else session.path)


READING, COMPOSING = "reading transcripts", "composing the brief"
_MOST_ASKED = 20
"""Turns for which the notes that they bear on are looked for, the newest, and as many of those that
are worth remembering: notes in full for more of them would hardly fit into a brief.
"""
_LONGEST_ASKED = 400
"""Characters of a turn by which that is done."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """All that an engine needs to know."""

    memory: Memory
    scope: CurationScope
    told: SpokenSince
    heard: tuple[Heard, ...]
    """What of it is worth remembering by the rules."""
    brief: Brief
    redaction: Redaction
    """What keeps the secrets of the brief back, and brings them home."""
    remarks: tuple[str, ...] = ()
    """What the person should know before it runs."""


def prepare(
    notebook: Notebook,
    memory: Memory,
    scope: CurationScope,
    step: Step = lambda _: None,
    *,
    budget: int = BUDGET,
    room: int | None = None,
) -> Prepared:
    """Return what a curation of `memory` in the `scope` is given; `budget` is that of the brief,
    and `room` what activity may take of it, both in tokens. What there is no room for waits for
    the next curation. Without `room` all of it is read, though the brief may not show it all.

    Raises WrongUsage where the scope names no transcript, StateUnusable, and what `step` raises.
    """
    surroundings = notebook.surroundings
    cursors = recall_curation(surroundings.state, memory.root).cursors

    def on() -> None:
        step(CurationProgress(READING))

    told = listen(notebook.place, surroundings, scope, cursors, on, room)
    said: list[Heard] = []
    for it in told.said:
        on()
        said += heard((it,))
    missed = [gap.words for gap in gaps(surroundings, memory)]
    step(CurationProgress(COMPOSING))
    asked = () if scope.note else _asked(told.said, said)
    decisions = user_decisions(notebook, memory)
    touched = [scope.note, *decisions.wrong, *_touched(notebook, memory, asked, step)]
    redaction = begin_redaction(notebook)
    brief = compose_brief(memory, touched, told.said, missed, budget, redaction, decisions)
    return Prepared(memory, scope, told, tuple(said), brief, redaction, _remarks(notebook, told))


def _remarks(notebook: Notebook, told: SpokenSince) -> tuple[str, ...]:
    more = "There is more activity than one curation takes: the rest waits for the next one."
    found = (storm(notebook), still_going_on(notebook, told.last), more if told.has_more else "")
    return tuple(filter(None, found))


def _asked(said: list[Spoken], worth: Sequence[Heard]) -> Iterator[str]:
    """Yield the texts for which notes are looked for."""
    yield from (it.statement for it in worth[-_MOST_ASKED:])
    yield from (it.text[:_LONGEST_ASKED] for it in said[-_MOST_ASKED:])


def _touched(notebook: Notebook, memory: Memory, texts: Iterable[str], step: Step) -> list[str]:
    """Return the notes that the texts bear on."""
    index = open_index(notebook.place, notebook.surroundings)
    found: dict[str, None] = {}
    for text in texts:
        step(CurationProgress(COMPOSING))
        for it in recall(index, memory, text, notebook.surroundings, for_agents=False):
            found[it.note.path] = None
    return list(found)
