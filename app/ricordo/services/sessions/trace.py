"""Finding in transcripts what caused the notes of a memory; kept before they are swept."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ricordo.agents.registry import turns_from
from ricordo.agents.transcripts.checkpoint import MOST_KEPT
from ricordo.agents.transcripts.session import Session, Turn, Where, Who
from ricordo.agents.transcripts.sources import TranscriptSource
from ricordo.agents.transcripts.store import KnownTranscript, StoredOrigin, Touched, TranscriptStore
from ricordo.lint.contradictions.compare import excludes
from ricordo.lint.contradictions.statements import sayings, sentences
from ricordo.lint.prose import are_all_in, language_of
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.search.words import content_words, stem, words
from ricordo.secrets import mask
from ricordo.services.sessions.origin import NoteOrigin, QuotedMessage, told

LEAST_SHARED = 2
"""Words; one word in common is chance."""
LEAST_OF_SAID, LEAST_OF_WRITTEN = 0.2, 0.15
"""How much of what was said, or of what was written, has to be in common: a long text shares two
words with any other.
"""


def bearing_turn(written: str, said: Sequence[str]) -> int | None:
    """Return which of the things `said` bears most on what was `written`; None where none does.

    A word counts the more the fewer of them have it; of two that are equal the later one counts.
    """
    target = _stems(written)
    turns = [_stems(text) for text in said]
    spread = Counter(word for turn in turns for word in turn)
    best, best_score = None, 0.0
    for number, turn in enumerate(turns):
        shared = turn & target
        if not _is_enough(len(shared), len(turn), len(target)):
            continue
        score = sum(1 / spread[word] for word in shared)
        if score >= best_score:
            best, best_score = number, score
    return best


def says_the_contrary(said: str, note: Note) -> bool:
    """Say whether anything that was `said` excludes what `note` states."""
    stated = [it.text for it in sayings(note)]
    return any(excludes(one, other) for one in sentences(said) for other in stated)


def _is_enough(shared: int, said: int, written: int) -> bool:
    if shared < LEAST_SHARED:
        return False
    return shared / said >= LEAST_OF_SAID or shared / written >= LEAST_OF_WRITTEN


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, content_words(words(text))))


LONGEST_QUOTE = 2_000
"""Characters of a turn that are kept."""
MOST_BEFORE = 60
"""Turns before a note was written that are looked at."""
AFTER = 2
"""Turns after it that are kept."""
_BEFORE_CAUSE, _BEHIND_CAUSE, _BEFORE_ACT = 1, 2, 2
"""Turns that are kept: before what caused it, behind that, and before it was written."""
_WHOLE = "whole"
"""The stamp of what nothing can be added to."""

Writes = Sequence[tuple[str, Touched]]
"""What sessions did to notes, with the path of the note in the memory."""


class Tracer:
    """Finds the causes of the notes of one memory."""

    def __init__(self, store: TranscriptStore, known: Iterable[KnownTranscript]) -> None:
        """`known` are the transcripts that bear on the memory."""
        self._store = store
        self._by_number = {it.n: it for it in known}
        self._by_session = {it.session.id: it for it in self._by_number.values()}

    def keep(self, memory: Memory, writes: Writes, step: Callable[[], None]) -> None:
        """Keep what caused the `writes`, and the notes that name their session themselves. Only
        what is not known yet is looked for. Raises sqlite3.Error, OSError and StateUnusable.
        """
        kept = {(it.note, it.session, it.call): it.stamp for it in self._store.origins(memory.root)}
        found: list[StoredOrigin] = []
        try:
            found.extend(self._of_calls(writes, kept, step))
            found.extend(self._of_heads(memory, writes, kept, step))
        finally:
            # who is interrupted need not look for it again
            self._store.keep_origins(memory.root, found)

    def _of_calls(
        self, writes: Writes, kept: Mapping[tuple[str, str, str], str], step: Callable[[], None]
    ) -> Iterator[StoredOrigin]:
        wanted: dict[int, list[tuple[str, Touched]]] = {}
        for note, touched in writes:
            known = self._by_number[touched.transcript]
            stamp = kept.get((note, known.session.id, touched.call))
            if stamp not in (_WHOLE, known.source.stamp):
                wanted.setdefault(known.n, []).append((note, touched))
        for number, of_one in wanted.items():
            known = self._by_number[number]
            for act in _acts(known, of_one, step):
                cause = self._cause_of(act, known.session)
                stamp = _WHOLE if act.is_whole else known.source.stamp
                yield StoredOrigin(
                    act.note, cause.session, act.touched.call, cause.at, told(cause), stamp
                )

    def _of_heads(
        self,
        memory: Memory,
        writes: Writes,
        kept: Mapping[tuple[str, str, str], str],
        step: Callable[[], None],
    ) -> Iterator[StoredOrigin]:
        written = {note for note, _ in writes} | {note for note, _, call in kept if call}
        for note in memory.notes:
            session = note.head.scalar("originSessionId")
            known = self._by_session.get(session) if session else None
            if known is None or note.path in written:
                continue
            step()
            stamp = known.source.stamp
            if kept.get((note.path, session, "")) == stamp:
                continue
            turns = _best_of_session(known, note, step)
            cause = _cause(note.path, known.session.started, known.session, turns, None)
            yield StoredOrigin(note.path, session, "", known.session.started, told(cause), stamp)

    def _cause_of(self, act: _Act, session: Session) -> NoteOrigin:
        before, is_all = act.before, act.is_from_start and not session.continues
        above = session.part_of or session.continues
        if above and not any(turn.who is Who.PERSON for turn in before):
            earlier = self._said_in(above, act.touched.at)
            before, is_all = earlier + before, is_all and len(earlier) < MOST_BEFORE
        path = act.touched.path
        written = "\n".join(it.text for it in act.turn.touches if it.path == path)
        turns = _chosen(before, act.turn, act.after, written)
        said = [turn.text for turn in before if turn.who is Who.PERSON]
        is_heard_out = is_all and are_all_in(language_of(written), said)
        cause = _cause(act.note, act.touched.at, session, turns, act.touched)
        return replace(cause, is_heard_out=is_heard_out)

    def _said_in(self, session: str, before: str) -> list[Turn]:
        """What was said last in a session, before a moment."""
        known = self._by_session.get(session)
        if known is None:
            return []
        said = (it for it in _turns(known.source, Where(0, 1)) if it.is_said and it.at <= before)
        return list(deque(said, maxlen=MOST_BEFORE))


@dataclass(slots=True)
class _Act:
    """The writing of a note, and what was said around it."""

    note: str
    touched: Touched
    before: list[Turn]
    turn: Turn
    passed: int
    """How many turns stand before it, as far back as was read."""
    after: list[Turn] = field(default_factory=list)

    @property
    def is_from_start(self) -> bool:
        """Whether what is known of the turns before it goes back to the first of the person."""
        person = sum(turn.who is Who.PERSON for turn in self.before)
        return self.passed == len(self.before) and person < MOST_KEPT

    @property
    def is_whole(self) -> bool:
        """Whether nothing is to be added to it."""
        return len(self.after) == AFTER


def _acts(known: KnownTranscript, writes: Writes, step: Callable[[], None]) -> Iterator[_Act]:
    """Yield the writings of notes in one transcript, which is read once."""
    awaited: dict[Where, list[tuple[str, Touched]]] = {}
    for note, touched in writes:
        awaited.setdefault(touched.where, []).append((note, touched))
    before: deque[Turn] = deque(maxlen=MOST_BEFORE)
    passed = 0
    begun: list[_Act] = []
    for turn in _turns(known.source, min(touched.window for _, touched in writes)):
        step()
        is_spoken = _is_spoken(turn, known.session)
        if is_spoken:
            for act in begun:
                act.after.append(turn)
            yield from (act for act in begun if act.is_whole)
            begun = [act for act in begun if not act.is_whole]
        earlier = list(before) if turn.where in awaited else []
        begun += [_Act(*write, earlier, turn, passed) for write in awaited.pop(turn.where, ())]
        if is_spoken:
            before.append(turn)
            passed += 1
        if not awaited and not begun:
            return
    yield from begun


def _turns(source: TranscriptSource, start: Where) -> Iterator[Turn]:
    return turns_from(source, start)


def _is_spoken(turn: Turn, session: Session) -> bool:
    """Whether a turn is part of the talk; in the transcript of a sub-agent all of it stands
    aside.
    """
    if session.part_of and turn.is_aside:
        return turn.who is Who.AGENT and bool(turn.text) and turn.noise is None
    return turn.is_said


def _chosen(
    before: list[Turn], act: Turn, after: list[Turn], written: str
) -> tuple[QuotedMessage, ...]:
    """Choose what is kept of the turns around an act."""
    person = [number for number, turn in enumerate(before) if turn.who is Who.PERSON]
    found = bearing_turn(written, [before[number].text for number in person])
    cause = None if found is None else person[found]
    wanted = set(range(max(0, len(before) - _BEFORE_ACT), len(before)))
    if cause is not None:
        first, last = max(0, cause - _BEFORE_CAUSE), min(len(before), cause + 1 + _BEHIND_CAUSE)
        wanted |= set(range(first, last))
    chosen: list[QuotedMessage] = []
    at = min(wanted, default=0)
    for number in sorted(wanted):
        said = said_as_kept(before[number], is_cause=number == cause, skipped=number - at)
        chosen.append(said)
        at = number + 1
    return (*chosen, said_as_kept(act, is_act=True), *map(said_as_kept, after))


def _best_of_session(
    known: KnownTranscript, note: Note, step: Callable[[], None]
) -> tuple[QuotedMessage, ...]:
    """Return what was said in the whole session that bears most on a note that names it."""
    said: list[Turn] = []
    for turn in _turns(known.source, Where(0, 1)):
        step()
        if turn.is_said:
            said.append(turn)
    person = [number for number, turn in enumerate(said) if turn.who is Who.PERSON]
    cause = _bearing(note, said, person)
    if cause is None:
        return ()
    first = max(0, cause - _BEFORE_CAUSE)
    around = enumerate(said[first : cause + 1 + _BEHIND_CAUSE], first)
    return tuple(said_as_kept(turn, is_cause=number == cause) for number, turn in around)


def _bearing(note: Note, said: Sequence[Turn], person: list[int]) -> int | None:
    """Return the number of the turn that bears on `note`. That the note names the session is all
    that ties it to it: who says the contrary there has not caused it.
    """
    left = list(person)
    while (found := bearing_turn(note.body, [said[number].text for number in left])) is not None:
        if not says_the_contrary(said[left[found]].text, note):
            return left[found]
        del left[found]
    return None


def _cause(
    note: str, at: str, session: Session, turns: tuple[QuotedMessage, ...], touched: Touched | None
) -> NoteOrigin:
    done, deed = (touched.done, touched.deed) if touched else ("", None)
    agent, title, path = session.agent, session.title, session.path
    return NoteOrigin(note, at, done, deed, agent, session.id, title, path, turns)


def said_as_kept(
    turn: Turn, *, is_cause: bool = False, is_act: bool = False, skipped: int = 0
) -> QuotedMessage:
    """Return a turn as it is kept and shown: without credentials, cut where it is long."""
    text = mask(turn.text)
    if len(text) > LONGEST_QUOTE:
        text = f"{text[:LONGEST_QUOTE]} …"
    return QuotedMessage(turn.who, text, turn.at, turn.key, is_cause, is_act, skipped)
