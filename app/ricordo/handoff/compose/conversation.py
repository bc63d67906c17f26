"""The conversation of a session: messages of the user, and what the agent then said and did."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from ricordo.extraction.sentence import Sentence, split_text
from ricordo.handoff.compose.phrases import has_phrase, has_phrase_at_start, is_only_phrases
from ricordo.handoff.facts import CommandPurpose, Facts, MessageFact, MessageRef
from ricordo.lexicon import lower_text, statement_pattern

_MAX_PARAGRAPH = 400
_MAX_OBJECTION = 400
_MAX_ENDING = 8_000
"""Characters at the end of a message that are searched for open points."""
_MAX_RECENT = 100
ConversationPlace = tuple[int, int]
"""The session and number of a message."""


@dataclass(frozen=True, slots=True)
class TalkExchange:
    """A message of the user, and what the agent said until the next one."""

    request: MessageFact | None
    """None for what an agent said before the user said anything."""
    answers: tuple[MessageFact, ...]
    is_over: bool
    """Whether nothing was done after the agent's last message."""
    is_work: bool
    """Whether files were changed in it, or tests, checks or actions were run."""
    is_corrected: bool
    """Whether the user objected to it in the next message."""

    @property
    def closing(self) -> MessageFact | None:
        """The agent's last message; None where it is not over."""
        return self.answers[-1] if self.answers and self.is_over else None


@dataclass(frozen=True, slots=True)
class Conversation:
    """The conversations of all sessions, in the order of time."""

    exchanges: tuple[TalkExchange, ...]
    messages: tuple[MessageFact, ...]

    @property
    def requests(self) -> tuple[MessageFact, ...]:
        """The messages of the user that say more than “yes” or “go on”, each text once."""
        requests = (exchange.request for exchange in self.exchanges)
        kept_requests = [item for item in requests if item is not None and not is_answer(item.text)]
        return tuple(
            {message.text.strip(): message for message in reversed(kept_requests)}.values()
        )[::-1]

    @property
    def last(self) -> TalkExchange | None:
        """The last exchange."""
        return self.exchanges[-1] if self.exchanges else None

    @property
    def recent(self) -> tuple[TalkExchange, ...]:
        """The last exchanges, whose open points may still matter."""
        return self.exchanges[-_MAX_RECENT:]

    def find_agent_message(self, ref: MessageRef) -> MessageFact | None:
        """Return the agent's first message after `ref`, before the next one of the user."""
        number = bisect_right(self.messages, find_place(ref), key=_find_place)
        first = self.messages[number] if number < len(self.messages) else None
        return first if first is not None and not first.is_user else None

    def find_paragraph(self, ref: MessageRef, words: str) -> str:
        """Return the paragraph around `words` in the message at `ref`; `words` alone where there is
        none, or it is long.
        """
        number = bisect_left(self.messages, find_place(ref), key=_find_place)
        for message in self.messages[number:]:
            if find_place(message.ref) != find_place(ref):
                break
            if words in message.text:
                paragraph = _find_paragraph(message.text, message.text.index(words), len(words))
                return paragraph if len(paragraph) <= _MAX_PARAGRAPH else words
        return words

    def is_answered(self, fact: MessageFact) -> bool:
        """Return whether the agent had a message in the session before this one."""
        first = bisect_left(self.messages, (fact.ref.session, 0), key=_find_place)
        before = takewhile(lambda message: message is not fact, self.messages[first:])
        return any(not message.is_user for message in before)


def build_conversation(facts: Facts) -> Conversation:
    """Return the conversations of the sessions in `facts`."""
    messages = sorted(facts.messages, key=_find_place)
    groups: list[tuple[MessageFact | None, list[MessageFact]]] = []
    for message in messages:
        if message.is_user:
            groups.append((message, []))
        elif groups:
            groups[-1][1].append(message)
        else:
            groups.append((None, [message]))
    return Conversation(tuple(_build_exchanges(groups, facts)), tuple(messages))


def last_sentences(message: MessageFact) -> tuple[Sentence, ...]:
    """Return the last sentences of a message."""
    return split_text(message.text[-_MAX_ENDING:])


def is_answer(text: str) -> bool:
    """Return whether a message of the user only agrees or declines."""
    return is_only_phrases("assent", text) or is_only_phrases("refusal", text)


def is_objection(text: str) -> bool:
    """Return whether the user corrects the agent: the message denies, reverts, or says how it
    should be instead. One that only continues (“yes, but add a test”) does not.
    """
    if is_answer(text):
        return False
    plain = lower_text(text[:_MAX_OBJECTION]).lstrip()
    is_other = statement_pattern("objection").match(plain) and statement_pattern("contrast").search(
        plain
    )
    return (
        bool(is_other)
        or has_phrase_at_start("denial", plain)
        or has_phrase_at_start("set_right", plain)
    )


def find_place(ref: MessageRef) -> ConversationPlace:
    """Return the session and number of a message."""
    return ref.session, ref.number


def _build_exchanges(
    grouped: Sequence[tuple[MessageFact | None, list[MessageFact]]], facts: Facts
) -> Iterator[TalkExchange]:
    action_places, work_places = (
        sorted(_list_action_places(facts)),
        sorted(_list_work_places(facts)),
    )
    rejected = {find_place(item.ref) for item in facts.ruled_out if not item.is_action}
    begins = [find_place((request or answers[0]).ref) for request, answers in grouped]
    ends = [*begins[1:], (len(facts.sessions) + 1, 0)]
    for number, (request, answers) in enumerate(grouped):
        begin, end = begins[number], ends[number]
        last = find_place(answers[-1].ref) if answers else begin
        is_last = number == len(grouped) - 1
        is_over = bool(answers) and not _has_place_between(action_places, last, end)
        is_work = _has_place_between(work_places, begin, end)
        following = grouped[number + 1][0] if not is_last and begin[0] == end[0] else None
        is_set_right = following is not None and _is_correction(following, rejected)
        yield TalkExchange(request, tuple(answers), is_over, is_work, is_set_right)


def _is_correction(message: MessageFact, rejected: Collection[ConversationPlace]) -> bool:
    """Return whether the user objects to what was done, or abandoned it: a message that begins with
    an answer only continues.
    """
    is_unwanted = find_place(message.ref) in rejected and not has_phrase_at_start(
        "answer", message.text
    )
    return is_unwanted or is_objection(message.text)


def _has_place_between(
    places: Sequence[ConversationPlace], start: ConversationPlace, end: ConversationPlace
) -> bool:
    """Return whether one of the sorted `places` lies between two others."""
    return bisect_right(places, start) < bisect_left(places, end)


def _find_paragraph(text: str, at: int, length: int) -> str:
    start = text.rfind("\n\n", 0, at) + 1
    end = text.find("\n\n", at + length)
    return text[start : end if end >= 0 else None].strip()


def _find_place(message: MessageFact) -> ConversationPlace:
    return find_place(message.ref)


def _list_action_places(facts: Facts) -> Iterator[ConversationPlace]:
    """Yield the places of commands, and of the last use of each file."""
    yield from (find_place(run.ref) for run in facts.commands)
    yield from (find_place(use.last_use) for use in facts.files)


def _list_work_places(facts: Facts) -> Iterator[ConversationPlace]:
    for run in facts.commands:
        if run.purpose is not CommandPurpose.OTHER or has_phrase("deed", run.command):
            yield find_place(run.ref)
    yield from (find_place(use.last_use) for use in facts.files if use.is_changed)
