"""Finding the origins of notes in transcripts; they are stored before transcripts are deleted."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ricordo.agents.registry import read_messages_from
from ricordo.agents.transcripts.checkpoint import MOST_PLACES
from ricordo.agents.transcripts.session import Message, MessagePlace, Session, Speaker
from ricordo.agents.transcripts.sources import TranscriptSource
from ricordo.agents.transcripts.store import (
    StoredOrigin,
    StoredTouch,
    StoredTranscript,
    TranscriptStore,
)
from ricordo.lint.contradictions.compare import find_opposition
from ricordo.lint.contradictions.statements import extract_note_statements, split_sentences
from ricordo.lint.prose import detect_language, is_all_in_language
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.search.words import content_words, split_words, stem_word
from ricordo.secrets import mask
from ricordo.services.sessions.origin import NoteOrigin, QuotedMessage, serialize_origin

MIN_SHARED_WORDS = 2
"""Words; a single shared word is chance."""
MIN_SHARE_OF_MESSAGE, MIN_SHARE_OF_NOTE = 0.2, 0.15
"""The share of a message, or of the written text, that has to be shared: a long text shares two
words with any other.
"""


def find_relevant_message(written: str, messages: Sequence[str]) -> int | None:
    """Return the index of the message that is most relevant to what was `written`; None where none
    is.

    A word counts the more, the fewer messages have it; of two equal messages the later one counts.
    """
    target = _list_stems(written)
    stems = [_list_stems(text) for text in messages]
    spread = Counter(word for words_of_message in stems for word in words_of_message)
    best, best_score = None, 0.0
    for number, words_of_message in enumerate(stems):
        shared = words_of_message & target
        if not _is_relevant(len(shared), len(words_of_message), len(target)):
            continue
        score = sum(1 / spread[word] for word in shared)
        if score >= best_score:
            best, best_score = number, score
    return best


def is_contradiction(message: str, note: Note) -> bool:
    """Return whether a message contradicts what `note` states."""
    claims = [statement.text for statement in extract_note_statements(note)]
    return any(find_opposition(one, other) for one in split_sentences(message) for other in claims)


def _is_relevant(shared: int, said_words: int, written: int) -> bool:
    if shared < MIN_SHARED_WORDS:
        return False
    return shared / said_words >= MIN_SHARE_OF_MESSAGE or shared / written >= MIN_SHARE_OF_NOTE


def _list_stems(text: str) -> frozenset[str]:
    return frozenset(map(stem_word, content_words(split_words(text))))


MAX_STORED_LENGTH = 2_000
"""Characters of a message that are kept."""
MAX_SEARCHED_BEFORE = 60
"""Messages before the writing of a note that are searched."""
KEPT_AFTER = 2
"""Messages after it that are kept."""
_BEFORE_CAUSE, _BEHIND_CAUSE, _BEFORE_ACT = 1, 2, 2
"""Messages that are kept: before the cause, after it, and before the writing."""
_WHOLE = "whole"
"""The stamp of an origin to which nothing can be added."""

NoteWrites = Sequence[tuple[str, StoredTouch]]
"""What sessions did to notes, each with the path of the note in the memory."""


class OriginFinder:
    """Finds the origins of the notes of one memory."""

    def __init__(self, store: TranscriptStore, known: Iterable[StoredTranscript]) -> None:
        """`known` are the relevant transcripts."""
        self._store = store
        self._by_number = {transcript.number: transcript for transcript in known}
        self._by_session = {item.session.id: item for item in self._by_number.values()}

    def store_origins(self, memory: Memory, writes: NoteWrites, step: Callable[[], None]) -> None:
        """Find and store the origins of `writes`, and of notes that name their session themselves,
        where they are not known yet. Raises sqlite3.Error, OSError and StateUnusable.
        """
        stored = {
            (origin.note, origin.session, origin.call): origin.stamp
            for origin in self._store.list_origins(memory.root)
        }
        origins: list[StoredOrigin] = []
        try:
            origins.extend(self._find_for_calls(writes, stored, step))
            origins.extend(self._find_for_headers(memory, writes, stored, step))
        finally:
            # after an interruption these need not be searched again
            self._store.save_origins(memory.root, origins)

    def _find_for_calls(
        self,
        writes: NoteWrites,
        stored: Mapping[tuple[str, str, str], str],
        step: Callable[[], None],
    ) -> Iterator[StoredOrigin]:
        wanted: dict[int, list[tuple[str, StoredTouch]]] = {}
        for note, touched in writes:
            transcript = self._by_number[touched.transcript]
            stamp = stored.get((note, transcript.session.id, touched.call))
            if stamp not in (_WHOLE, transcript.source.stamp):
                wanted.setdefault(transcript.number, []).append((note, touched))
        for number, of_transcript in wanted.items():
            transcript = self._by_number[number]
            for write in _read_writes(transcript, of_transcript, step):
                cause = self._find_cause(write, transcript.session)
                stamp = _WHOLE if write.is_whole else transcript.source.stamp
                yield StoredOrigin(
                    write.note,
                    cause.session,
                    write.touched.call,
                    cause.at,
                    serialize_origin(cause),
                    stamp,
                )

    def _find_for_headers(
        self,
        memory: Memory,
        writes: NoteWrites,
        stored: Mapping[tuple[str, str, str], str],
        step: Callable[[], None],
    ) -> Iterator[StoredOrigin]:
        written = {note for note, _ in writes} | {note for note, _, call in stored if call}
        for note in memory.notes:
            session = note.frontmatter.get_text("originSessionId")
            transcript = self._by_session.get(session) if session else None
            if transcript is None or note.path in written:
                continue
            step()
            stamp = transcript.source.stamp
            if stored.get((note.path, session, "")) == stamp:
                continue
            turns = _find_in_session(transcript, note, step)
            cause = _build_cause(
                note.path, transcript.session.started, transcript.session, turns, None
            )
            yield StoredOrigin(
                note.path, session, "", transcript.session.started, serialize_origin(cause), stamp
            )

    def _find_cause(self, write: _NoteWrite, session: Session) -> NoteOrigin:
        before, is_all = write.before, write.is_from_start and not session.continues
        above = session.part_of or session.continues
        if above and not any(turn.who is Speaker.USER for turn in before):
            earlier = self._read_last_messages(above, write.touched.at)
            before, is_all = earlier + before, is_all and len(earlier) < MAX_SEARCHED_BEFORE
        path = write.touched.path
        written = "\n".join(touch.text for touch in write.turn.touches if touch.path == path)
        turns = _choose_messages(before, write.turn, write.after, written)
        user_messages = [turn.text for turn in before if turn.who is Speaker.USER]
        is_heard_out = is_all and is_all_in_language(detect_language(written), user_messages)
        cause = _build_cause(write.note, write.touched.at, session, turns, write.touched)
        return replace(cause, is_heard_out=is_heard_out)

    def _read_last_messages(self, session: str, before: str) -> list[Message]:
        """Return the last messages of a session before a moment."""
        transcript = self._by_session.get(session)
        if transcript is None:
            return []
        messages = (
            turn
            for turn in _read_turns(transcript.source, MessagePlace(0, 1))
            if turn.is_spoken and turn.at <= before
        )
        return list(deque(messages, maxlen=MAX_SEARCHED_BEFORE))


@dataclass(slots=True)
class _NoteWrite:
    """The writing of a note, and the messages around it."""

    note: str
    touched: StoredTouch
    before: list[Message]
    turn: Message
    passed: int
    """How many messages are before it, as far back as was read."""
    after: list[Message] = field(default_factory=list)

    @property
    def is_from_start(self) -> bool:
        """Whether the known messages before it go back to the first one of the user."""
        person = sum(turn.who is Speaker.USER for turn in self.before)
        return self.passed == len(self.before) and person < MOST_PLACES

    @property
    def is_whole(self) -> bool:
        """Whether nothing can be added to it."""
        return len(self.after) == KEPT_AFTER


def _read_writes(
    known: StoredTranscript, writes: NoteWrites, step: Callable[[], None]
) -> Iterator[_NoteWrite]:
    """Yield the writings of notes in one transcript, which is read once."""
    awaited: dict[MessagePlace, list[tuple[str, StoredTouch]]] = {}
    for note, touched in writes:
        awaited.setdefault(touched.where, []).append((note, touched))
    before: deque[Message] = deque(maxlen=MAX_SEARCHED_BEFORE)
    passed = 0
    started: list[_NoteWrite] = []
    for turn in _read_turns(known.source, min(touched.window for _, touched in writes)):
        step()
        is_spoken = _is_in_conversation(turn, known.session)
        if is_spoken:
            for started_write in started:
                started_write.after.append(turn)
            yield from (started_write for started_write in started if started_write.is_whole)
            started = [started_write for started_write in started if not started_write.is_whole]
        earlier_turns = list(before) if turn.place in awaited else []
        started += [
            _NoteWrite(*write, earlier_turns, turn, passed) for write in awaited.pop(turn.place, ())
        ]
        if is_spoken:
            before.append(turn)
            passed += 1
        if not awaited and not started:
            return
    yield from started


def _read_turns(source: TranscriptSource, start: MessagePlace) -> Iterator[Message]:
    return read_messages_from(source, start)


def _is_in_conversation(turn: Message, session: Session) -> bool:
    """Return whether a turn is part of the conversation; in the transcript of a sub-agent all turns
    are asides.
    """
    if session.part_of and turn.is_aside:
        return turn.who is Speaker.AGENT and bool(turn.text) and turn.noise is None
    return turn.is_spoken


def _choose_messages(
    before: list[Message], act: Message, after: list[Message], written: str
) -> tuple[QuotedMessage, ...]:
    """Choose the messages around a writing that are kept."""
    user_turns = [number for number, turn in enumerate(before) if turn.who is Speaker.USER]
    best = find_relevant_message(written, [before[number].text for number in user_turns])
    cause = None if best is None else user_turns[best]
    chosen_numbers = set(range(max(0, len(before) - _BEFORE_ACT), len(before)))
    if cause is not None:
        first, last = max(0, cause - _BEFORE_CAUSE), min(len(before), cause + 1 + _BEHIND_CAUSE)
        chosen_numbers |= set(range(first, last))
    chosen: list[QuotedMessage] = []
    at = min(chosen_numbers, default=0)
    for number in sorted(chosen_numbers):
        message = to_quoted_message(before[number], is_cause=number == cause, skipped=number - at)
        chosen.append(message)
        at = number + 1
    return (*chosen, to_quoted_message(act, is_act=True), *map(to_quoted_message, after))


def _find_in_session(
    known: StoredTranscript, note: Note, step: Callable[[], None]
) -> tuple[QuotedMessage, ...]:
    """Return the messages of a whole session around the one that is most relevant to a note."""
    turns: list[Message] = []
    for turn in _read_turns(known.source, MessagePlace(0, 1)):
        step()
        if turn.is_spoken:
            turns.append(turn)
    user_turns = [number for number, turn in enumerate(turns) if turn.who is Speaker.USER]
    cause = _find_relevant(note, turns, user_turns)
    if cause is None:
        return ()
    first = max(0, cause - _BEFORE_CAUSE)
    around = enumerate(turns[first : cause + 1 + _BEHIND_CAUSE], first)
    return tuple(to_quoted_message(turn, is_cause=number == cause) for number, turn in around)


def _find_relevant(note: Note, turns: Sequence[Message], user_turns: list[int]) -> int | None:
    """Return the index of the message that is relevant to `note`. Only the note itself names the
    session: a message that contradicts it has not caused it.
    """
    candidates = list(user_turns)
    while (
        best := find_relevant_message(note.body, [turns[number].text for number in candidates])
    ) is not None:
        if not is_contradiction(turns[candidates[best]].text, note):
            return candidates[best]
        del candidates[best]
    return None


def _build_cause(
    note: str,
    at: str,
    session: Session,
    turns: tuple[QuotedMessage, ...],
    touched: StoredTouch | None,
) -> NoteOrigin:
    done, deed = (touched.done_at, touched.action) if touched else ("", None)
    agent, title, path = session.agent, session.title, session.path
    return NoteOrigin(note, at, done, deed, agent, session.id, title, path, turns)


def to_quoted_message(
    turn: Message, *, is_cause: bool = False, is_act: bool = False, skipped: int = 0
) -> QuotedMessage:
    """Return a message as it is stored and shown: without credentials, shortened where it
    is long.
    """
    text = mask(turn.text)
    if len(text) > MAX_STORED_LENGTH:
        text = f"{text[:MAX_STORED_LENGTH]} …"
    return QuotedMessage(turn.who, text, turn.at, turn.key, is_cause, is_act, skipped)
