"""The conversation of a session: messages of the user, and what the agent then said and did."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from ricordo.extraction.sentence import Sentence, written_sentences
from ricordo.handoff.compose.words import begins, has, is_only
from ricordo.handoff.facts import Facts, MessageFact, Ref, Work
from ricordo.lexicon import lowered, pattern

_MAX_PARAGRAPH = 400
_MAX_OBJECTION = 400
_MAX_ENDING = 8_000
"""Characters at the end of a message that are searched for open points."""
_MAX_RECENT = 100
Place = tuple[int, int]
"""The session and number of a message."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A message of the user, and what the agent said until the next one."""

    wish: MessageFact | None
    """None for what an agent said before the user said anything."""
    answers: tuple[MessageFact, ...]
    is_over: bool
    """Whether nothing was done after the agent's last message."""
    is_work: bool
    """Whether files were changed in it, or tests, checks or actions were run."""
    is_set_right: bool
    """Whether the user objected to it in the next message."""

    @property
    def closing(self) -> MessageFact | None:
        """The agent's last message; None where it is not over."""
        return self.answers[-1] if self.answers and self.is_over else None


@dataclass(frozen=True, slots=True)
class Talk:
    """The conversations of all sessions, in the order of time."""

    exchanges: tuple[Exchange, ...]
    said: tuple[MessageFact, ...]
    """All messages."""

    @property
    def wishes(self) -> tuple[MessageFact, ...]:
        """The messages of the user that say more than “yes” or “go on”, each text once."""
        requests = (exchange.wish for exchange in self.exchanges)
        kept_requests = [item for item in requests if item is not None and not is_answer(item.text)]
        return tuple(
            {message.text.strip(): message for message in reversed(kept_requests)}.values()
        )[::-1]

    @property
    def last(self) -> Exchange | None:
        """The last exchange."""
        return self.exchanges[-1] if self.exchanges else None

    @property
    def recent(self) -> tuple[Exchange, ...]:
        """The last exchanges, whose open points may still matter."""
        return self.exchanges[-_MAX_RECENT:]

    def after(self, ref: Ref) -> MessageFact | None:
        """Return the agent's first message after `ref`, before the next one of the user."""
        number = bisect_right(self.said, place(ref), key=_find_place)
        first = self.said[number] if number < len(self.said) else None
        return first if first is not None and not first.is_person else None

    def around(self, ref: Ref, words: str) -> str:
        """Return the paragraph around `words` in the message at `ref`; `words` alone where there is
        none, or it is long.
        """
        number = bisect_left(self.said, place(ref), key=_find_place)
        for message in self.said[number:]:
            if place(message.ref) != place(ref):
                break
            if words in message.text:
                paragraph = _find_paragraph(message.text, message.text.index(words), len(words))
                return paragraph if len(paragraph) <= _MAX_PARAGRAPH else words
        return words

    def is_answered(self, said: MessageFact) -> bool:
        """Return whether the agent had a message in the session before this one."""
        first = bisect_left(self.said, (said.ref.session, 0), key=_find_place)
        before = takewhile(lambda message: message is not said, self.said[first:])
        return any(not message.is_person for message in before)


def talk(facts: Facts) -> Talk:
    """Return the conversations of the sessions in `facts`."""
    messages = sorted(facts.said, key=_find_place)
    groups: list[tuple[MessageFact | None, list[MessageFact]]] = []
    for message in messages:
        if message.is_person:
            groups.append((message, []))
        elif groups:
            groups[-1][1].append(message)
        else:
            groups.append((None, [message]))
    return Talk(tuple(_build_exchanges(groups, facts)), tuple(messages))


def last_sentences(message: MessageFact) -> tuple[Sentence, ...]:
    """Return the last sentences of a message."""
    return written_sentences(message.text[-_MAX_ENDING:])


def is_answer(text: str) -> bool:
    """Return whether a message of the user only agrees or declines."""
    return is_only("assent", text) or is_only("refusal", text)


def objects(text: str) -> bool:
    """Return whether the user corrects the agent: the message denies, reverts, or says how it
    should be instead. One that only continues (“yes, but add a test”) does not.
    """
    if is_answer(text):
        return False
    plain = lowered(text[:_MAX_OBJECTION]).lstrip()
    is_other = pattern("objection").match(plain) and pattern("contrast").search(plain)
    return bool(is_other) or begins("denial", plain) or begins("set_right", plain)


def place(ref: Ref) -> Place:
    """Return the session and number of a message."""
    return ref.session, ref.turn


def _build_exchanges(
    grouped: Sequence[tuple[MessageFact | None, list[MessageFact]]], facts: Facts
) -> Iterator[Exchange]:
    action_places, work_places = (
        sorted(_list_action_places(facts)),
        sorted(_list_work_places(facts)),
    )
    rejected = {place(item.ref) for item in facts.given_up if not item.is_deed}
    begins = [place((request or answers[0]).ref) for request, answers in grouped]
    ends = [*begins[1:], (len(facts.sessions) + 1, 0)]
    for number, (request, answers) in enumerate(grouped):
        begin, end = begins[number], ends[number]
        last = place(answers[-1].ref) if answers else begin
        is_last = number == len(grouped) - 1
        is_over = bool(answers) and not _has_place_between(action_places, last, end)
        is_work = _has_place_between(work_places, begin, end)
        following = grouped[number + 1][0] if not is_last and begin[0] == end[0] else None
        is_set_right = following is not None and _is_correction(following, rejected)
        yield Exchange(request, tuple(answers), is_over, is_work, is_set_right)


def _is_correction(message: MessageFact, rejected: Collection[Place]) -> bool:
    """Return whether the user objects to what was done, or abandoned it: a message that begins with
    an answer only continues.
    """
    is_unwanted = place(message.ref) in rejected and not begins("answer", message.text)
    return is_unwanted or objects(message.text)


def _has_place_between(places: Sequence[Place], start: Place, end: Place) -> bool:
    """Return whether one of the sorted `places` lies between two others."""
    return bisect_right(places, start) < bisect_left(places, end)


def _find_paragraph(text: str, at: int, length: int) -> str:
    start = text.rfind("\n\n", 0, at) + 1
    end = text.find("\n\n", at + length)
    return text[start : end if end >= 0 else None].strip()


def _find_place(message: MessageFact) -> Place:
    return place(message.ref)


def _list_action_places(facts: Facts) -> Iterator[Place]:
    """Yield the places of commands, and of the last use of each file."""
    yield from (place(run.ref) for run in facts.ran)
    yield from (place(use.last) for use in facts.files)


def _list_work_places(facts: Facts) -> Iterator[Place]:
    for run in facts.ran:
        if run.work is not Work.OTHER or has("deed", run.command):
            yield place(run.ref)
    yield from (place(use.last) for use in facts.files if use.is_changed)
