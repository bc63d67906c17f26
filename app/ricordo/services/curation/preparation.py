"""Prepare a curation: read the new messages and compose the brief. No engine runs yet."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import NamedTuple

from ricordo.agents.agent import MemoryPlace
from ricordo.agents.registry import find_named_session, open_transcript
from ricordo.agents.transcripts.checkpoint import dump_checkpoint, load_checkpoint
from ricordo.agents.transcripts.session import Message, Session
from ricordo.agents.transcripts.sources import SessionFilter, TranscriptSource
from ricordo.curation.brief import (
    BUDGET,
    TOUCHED,
    Brief,
    compose_brief,
    estimate_message,
    find_name,
)
from ricordo.curation.engine import CurationProgress, Step, UnreadInput
from ricordo.curation.note_check import NoteCheck
from ricordo.curation.user_messages import (
    MemorableStatement,
    UserMessage,
    find_memorable,
    read_user_messages,
)
from ricordo.errors import RateLimited
from ricordo.llm.question import estimate_tokens
from ricordo.llm.redaction import Redaction
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.secrets import mask
from ricordo.services.curation.pending import Cursor, load_curation_state
from ricordo.services.curation.user_decisions import load_user_decisions
from ricordo.services.engines.redaction import begin_redaction
from ricordo.services.ledger.ledger import list_applied_times
from ricordo.services.search.recall import open_index, recall
from ricordo.services.search.usage import list_search_misses
from ricordo.services.sessions.sessions import find_session_filter, is_relevant, list_sources
from ricordo.services.workspace.environment import Environment
from ricordo.services.workspace.notebook import Notebook
from ricordo.text import clip, make_one_line

MAX_MESSAGES = 20_000
"""Messages of the user in one curation; later ones are left for the next."""


@dataclass(frozen=True, slots=True)
class CurationScope:
    """The input of a curation: everything since the last one, or what is named here."""

    since: datetime | None = None
    session: str = ""
    """The path of a transcript; `#` and an id behind it where it holds several sessions."""
    note: str = ""
    """The path of a note: only what is about it is proposed."""
    everything: bool = False
    """Whether what was curated before is curated again."""
    is_check: bool = False
    """Whether notes are checked against the project and each other, instead of curated from
    messages.
    """

    @property
    def is_named(self) -> bool:
        """Whether the input is named, so that the cursors do not count."""
        return bool(self.since or self.session or self.note or self.everything)


@dataclass(slots=True)
class NewActivity:
    """New messages, and how far the transcripts were read."""

    messages: list[UserMessage] = field(default_factory=list)
    cursors: dict[str, Cursor] = field(default_factory=dict)
    sessions: int = 0
    tokens: int = 0
    """Estimated tokens of all messages, also those of agents."""
    last: str = ""
    """Time of the last message, ISO 8601 in UTC; "" where unknown."""
    has_more: bool = False
    """Whether messages that did not fit are left for the next curation."""


def read_activity(
    place: MemoryPlace,
    environment: Environment,
    scope: CurationScope,
    cursors: Mapping[str, Cursor],
    step: Callable[[], None],
    room: int | None = None,
) -> NewActivity:
    """Return the user's messages in the `scope` by day, as many as fit into `room` tokens of a
    brief. Unreadable transcripts are skipped. Raises WrongUsage where the scope names no
    transcript.
    """
    activity = NewActivity()
    seen: set[tuple[str, str]] = set()
    own = None if scope.session else find_session_filter(place, environment)
    for source in _sources(own, scope, environment):
        if len(activity.messages) >= MAX_MESSAGES or (room is not None and room <= 0):
            activity.has_more = True
            break
        reading = _TranscriptReading(source, scope, cursors, own, room)
        found = reading.read_messages(environment.now.date(), step)
        if found is None:
            continue
        messages, cursor = found
        # a resumed session may be in two transcripts
        fresh = [it for it in messages if (it.key, it.text) not in seen]
        seen |= {(it.key, it.text) for it in fresh}
        activity.messages += fresh
        activity.sessions += bool(fresh)
        activity.cursors[get_cursor_key(source)] = cursor
        activity.tokens += reading.tokens
        activity.last = max(activity.last, reading.last)
        activity.has_more |= reading.has_more
        room = reading.room
    # sessions of one day stay whole
    activity.messages.sort(key=lambda it: it.day)
    return activity


def get_cursor_key(source: TranscriptSource) -> str:
    """Return the key of a transcript among the cursors."""
    return f"{source.path}\0{source.session}"


def drop_missing(cursors: Mapping[str, Cursor]) -> dict[str, Cursor]:
    """Return the `cursors` without those of deleted transcripts. Those in a missing folder stay: it
    may come back, as with an unmounted disk.
    """

    def is_gone(key: str) -> bool:
        path = key.partition("\0")[0]
        return not os.path.lexists(path) and os.path.isdir(os.path.dirname(path))

    return {key: cursor for key, cursor in cursors.items() if not is_gone(key)}


def _sources(
    own: SessionFilter | None, scope: CurationScope, environment: Environment
) -> Iterator[TranscriptSource]:
    if scope.session or own is None:
        yield find_named_session(scope.session)
    else:
        yield from sorted(list_sources(own, environment), key=lambda it: (it.path, it.session))


class _TranscriptReading:
    """Reads one transcript from where the last curation ended."""

    def __init__(
        self,
        source: TranscriptSource,
        scope: CurationScope,
        cursors: Mapping[str, Cursor],
        own: SessionFilter | None,
        room: int | None,
    ) -> None:
        self._source, self._scope, self._own = source, scope, own
        self._cursor = None if scope.is_named else cursors.get(get_cursor_key(source))
        self.room = room
        """Tokens left after reading."""
        self.tokens = 0
        self.last = ""
        self.has_more = False

    def read_messages(
        self, today: date, step: Callable[[], None]
    ) -> tuple[list[UserMessage], Cursor] | None:
        """Return the messages and the new cursor; None where there is nothing new, or the session
        does not belong to the memory.
        """
        source, cursor = self._source, self._cursor
        if cursor is not None and cursor.stamp == source.stamp and source.stamp:
            return None
        kept = load_checkpoint(cursor.learnt) if cursor and cursor.learnt else None
        transcript = open_transcript(source, kept)
        first = cursor.last if cursor and not cursor.learnt else 0
        last = first

        def turns() -> Iterator[Message]:
            nonlocal last
            for turn in transcript.messages():
                step()
                last = max(last, turn.place.line)
                if turn.place.line > first and self._is_in_scope(turn):
                    self._count(turn)
                    yield turn

        found: list[UserMessage] = []
        for it in read_user_messages(source.path, turns(), today, is_answer=cursor is not None):
            found.append(it)
            if self._is_full(it):
                transcript.seal()
                break
        if self._own is not None and not is_relevant(self._own, transcript.session):
            return None
        learnt = dump_checkpoint(transcript.checkpoint) if transcript.is_resumable else ""
        return found, Cursor("" if self.has_more else source.stamp, learnt, last)

    def _is_in_scope(self, turn: Message) -> bool:
        since = self._scope.since
        return since is None or not turn.at or datetime.fromisoformat(turn.at) >= since

    def _count(self, turn: Message) -> None:
        if turn.is_spoken:
            self.tokens += estimate_tokens(turn.text)
            self.last = max(self.last, turn.at)

    def _is_full(self, it: UserMessage) -> bool:
        """Subtract a message from the room; return whether none is left."""
        if self.room is None:
            return False
        self.room -= estimate_message(it)
        self.has_more = self.room <= 0
        return self.has_more


_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)


class RatePeriod(NamedTuple):
    """A period with a limit of applied curations."""

    length: timedelta
    name: str
    most: int
    setting: str


def check_rate_limit(notebook: Notebook) -> None:
    """Raise RateLimited where a memory was curated too often lately. Raises StateUnusable."""
    if reason := explain_rate_limit(notebook):
        raise RateLimited(reason)


def explain_rate_limit(notebook: Notebook) -> str:
    """Return a message where too many curations were applied lately, also undone ones; "" where
    not. Curations in the future, after the clock was put back, count. Raises StateUnusable.
    """
    now, applied = notebook.environment.now, list_applied_times(notebook)
    for span in _spans(notebook):
        lately = sorted(at for at in applied if now - at < span.length)
        if len(lately) >= span.most:
            free = lately[-span.most] + span.length
            return (
                f"Too many curations: {len(lately)} applied within {span.name}, limit {span.most}. "
                f"Next one from {free.astimezone(now.tzinfo):%Y-%m-%d %H:%M}, or raise the setting "
                f"{span.setting}."
            )
    return ""


def explain_open_session(notebook: Notebook, last: str) -> str:
    """Return a warning where the last message is recent; "" where it is not. `last` is its time,
    ISO 8601; "" for none.
    """
    quiet = timedelta(minutes=notebook.settings.curate.quiet)
    if not last or not quiet:
        return ""
    ago = notebook.environment.now - datetime.fromisoformat(last)
    if not timedelta(0) <= ago < quiet:
        return ""
    minutes = int(ago.total_seconds() // 60)
    when = f"{minutes} minutes ago" if minutes > 1 else "a moment ago"
    return f"A session is still active (last message {when}): curate it when it has ended."


def _spans(notebook: Notebook) -> tuple[RatePeriod, ...]:
    most = notebook.settings.curate
    return (
        RatePeriod(_HOUR, "an hour", most.hour, "curate.hour"),
        RatePeriod(_DAY, "a day", most.day, "curate.day"),
    )


_BESIDE = "the index and the names of the other notes"
_LEFT = "not asked about"
_STAYS = "you can still open, edit or delete it"
_LONGEST = 60
"""Characters of a message."""
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class SkippedInput:
    """A note or message that a curation skipped."""

    source: str
    """The path of the note or the source of the message; "" for the context around them."""
    name: str
    """Its name, in one line."""
    why: str
    """The reason in one line, with what can still be done."""
    is_deferred: bool
    """Whether the engine was not asked about it."""

    @property
    def message(self) -> str:
        """The whole message."""
        return f"skipped: {self.name}, {self.why}"


def list_skipped(
    unread: Iterable[UnreadInput], memory: Memory, messages: Iterable[UserMessage]
) -> tuple[SkippedInput, ...]:
    """Return the unread input as skipped: notes of `memory`, and those among `messages`."""
    turns = {it.source: it for it in messages}

    def describe(it: UnreadInput) -> SkippedInput:
        is_note = it.source in memory.by_path
        why = f"{it.why}; {_STAYS}" if is_note else it.why
        why = f"{_LEFT}: {it.why}" if it.is_deferred else why
        turn = turns.get(it.source)
        name = _name(turn) if turn else make_one_line(it.source) or _BESIDE
        return SkippedInput(it.source, name, make_one_line(why), it.is_deferred)

    return tuple(map(describe, unread))


def summarize_skipped(found: Iterable[SkippedInput]) -> tuple[SkippedInput, ...]:
    """Return the skipped input one by one, but everything that was not asked about as one, since it
    has one reason.
    """
    known = tuple(found)
    left = [it for it in known if it.is_deferred]
    rest = tuple(it for it in known if not it.is_deferred)
    if not left:
        return rest
    more = [f"and {len(left) - _MOST_NAMED} more"] if len(left) > _MOST_NAMED else []
    names = ", ".join([*(it.name for it in left[:_MOST_NAMED]), *more])
    return (*rest, SkippedInput("", names, left[0].why, is_deferred=True))


def _name(turn: UserMessage) -> str:
    return f"what you said on {turn.day:%-d %b}, “{clip(make_one_line(mask(turn.text)), _LONGEST)}”"


def list_recent_sessions(notebook: Notebook) -> tuple[Session, ...]:
    """Return the sessions of the memory whose transcript exists, newest first; without
    sub-agents.
    """
    own = find_session_filter(notebook.place, notebook.environment)
    known = (it.session for it in notebook.activity.list_transcripts())
    found = [
        it for it in known if not it.part_of and is_relevant(own, it) and os.path.isfile(it.path)
    ]
    return tuple(sorted(found, key=lambda it: it.ended, reverse=True))


def get_scope(session: Session) -> CurationScope:
    """Return the scope of one session."""
    is_one_of_many = session.agent.keeps_database
    return CurationScope(session=f"{session.path}#{session.id}" if is_one_of_many else session.path)


READING, COMPOSING = "reading transcripts", "composing the brief"
_MOST_ASKED = 20
"""The newest messages, and as many memorable statements, for which relevant notes are searched: the
notes for more of them would hardly fit into a brief.
"""
_LONGEST_ASKED = 400
"""Characters of a message in such a search."""


@dataclass(frozen=True, slots=True)
class PreparedCuration:
    """The input of an engine."""

    memory: Memory
    scope: CurationScope
    activity: NewActivity
    statements: tuple[MemorableStatement, ...]
    """The statements worth remembering, by the rules."""
    brief: Brief
    redaction: Redaction
    """The redaction of the brief; restores the answer."""
    warnings: tuple[str, ...] = ()
    """Warnings to the user before it runs."""
    check: NoteCheck | None = None
    """What a check of the notes needs in addition; None for a curation from messages."""

    @property
    def tokens(self) -> int:
        """The most tokens that are sent, beside a prompt and form."""
        return self.check.count_sent(self.brief) if self.check else self.brief.tokens

    @property
    def checked_notes(self) -> tuple[str, ...]:
        """The paths of the notes that a check covers."""
        return tuple(note.path for note in self._list_shown()) if self.check else ()

    def _list_shown(self) -> Iterator[Note]:
        paths = dict(self.brief.ids)
        for block in self.brief.parts[TOUCHED].blocks:
            yield self.memory.by_path[paths[find_name(TOUCHED, block)]]


def prepare(
    notebook: Notebook,
    memory: Memory,
    scope: CurationScope,
    step: Step = lambda _: None,
    *,
    budget: int = BUDGET,
    room: int | None = None,
) -> PreparedCuration:
    """Return the input of a curation of `memory` in the `scope`. `budget` is that of the brief, and
    `room` the part of it for activity, both in tokens; activity that does not fit is left for the
    next curation. Without `room` all is read, though the brief may not show it all.

    Raises WrongUsage where the scope names no transcript, StateUnusable, and what `step` raises.
    """
    environment = notebook.environment
    cursors = load_curation_state(environment.state, memory.root).cursors

    def on() -> None:
        step(CurationProgress(READING))

    activity = read_activity(notebook.place, environment, scope, cursors, on, room)
    statements: list[MemorableStatement] = []
    for it in activity.messages:
        on()
        statements += find_memorable((it,))
    missed = [gap.words for gap in list_search_misses(environment, memory)]
    step(CurationProgress(COMPOSING))
    asked = () if scope.note else _asked(activity.messages, statements)
    decisions = load_user_decisions(notebook, memory)
    touched = [scope.note, *decisions.wrong, *_touched(notebook, memory, asked, step)]
    redaction = begin_redaction(notebook)
    brief = compose_brief(memory, touched, activity.messages, missed, budget, redaction, decisions)
    return PreparedCuration(
        memory, scope, activity, tuple(statements), brief, redaction, _remarks(notebook, activity)
    )


def _remarks(notebook: Notebook, activity: NewActivity) -> tuple[str, ...]:
    more = "Too much activity for one curation: the rest is left for the next one."
    found = (
        explain_rate_limit(notebook),
        explain_open_session(notebook, activity.last),
        more if activity.has_more else "",
    )
    return tuple(filter(None, found))


def _asked(messages: list[UserMessage], worth: Sequence[MemorableStatement]) -> Iterator[str]:
    """Yield the texts for which relevant notes are searched."""
    yield from (it.statement for it in worth[-_MOST_ASKED:])
    yield from (it.text[:_LONGEST_ASKED] for it in messages[-_MOST_ASKED:])


def _touched(notebook: Notebook, memory: Memory, texts: Iterable[str], step: Step) -> list[str]:
    """Return the paths of the notes that are relevant to the texts."""
    index = open_index(notebook.place, notebook.environment)
    found: dict[str, None] = {}
    for text in texts:
        step(CurationProgress(COMPOSING))
        for it in recall(index, memory, text, notebook.environment, for_agents=False):
            found[it.note.path] = None
    return list(found)
