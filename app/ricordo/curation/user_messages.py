"""Messages of the user, and the statements in them that are worth remembering."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date

from ricordo.agents.transcripts.lines import cut
from ricordo.agents.transcripts.session import Message, Speaker
from ricordo.curation.proposal import EvidenceQuote
from ricordo.extraction.dates import make_dates_absolute
from ricordo.extraction.statement import Statement, find_facts, find_statements, gives_reason
from ricordo.lexicon import lower_text, statement_pattern

_LONGEST_BEFORE = 600
"""Characters of an agent's message: users mostly answer to its end."""


@dataclass(frozen=True, slots=True)
class UserMessage:
    """A message of the user, as the brief and the rules get it."""

    source: str
    """The transcript and the message: `path#key`, or `path#:line` where the message has no key."""
    text: str
    day: date
    """The day of the message; that of the curation where the transcript has no time."""
    is_answer: bool
    """Whether an agent wrote before it in the session."""
    key: str = ""
    before: str = ""
    """The end of the agent's message right before it."""
    at: str = ""
    """The time of the message, ISO 8601 in UTC; "" where unknown."""


@dataclass(frozen=True, slots=True)
class MemorableStatement:
    """A statement worth remembering."""

    message: UserMessage
    saying: Statement

    @property
    def evidence(self) -> tuple[EvidenceQuote, ...]:
        """Its quotes with their source."""
        return tuple(EvidenceQuote(self.message.source, quote) for quote in self.saying.quotes)

    @property
    def statement(self) -> str:
        """The statement with absolute dates, without introductory words."""
        return self._make_absolute(_strip_opening(self.saying.text))

    @property
    def why(self) -> str:
        """The given reason; "" for none."""
        return self._join(is_reason=True)

    @property
    def details(self) -> str:
        """What follows it and is no reason; "" for nothing."""
        return self._join(is_reason=False)

    def _join(self, *, is_reason: bool) -> str:
        following = (it for it in self.saying.following if gives_reason(it) == is_reason)
        return self._make_absolute(" ".join(sentence.text for sentence in following))

    def _make_absolute(self, text: str) -> str:
        return " ".join(make_dates_absolute(text, self.message.day).split())


def read_user_messages(
    path: str, turns: Iterable[Message], today: date, *, is_answer: bool = False
) -> Iterator[UserMessage]:
    """Yield the user's messages among the `turns` of the transcript at `path`; `is_answer` says
    whether an agent wrote before the first of them.
    """
    before = ""
    for turn in turns:
        if not turn.is_spoken:
            continue
        if turn.who is Speaker.AGENT:
            is_answer, before = True, turn.text[-_LONGEST_BEFORE:]
            continue
        day = date.fromisoformat(turn.at[:10]) if turn.at else today
        place = turn.key or f":{turn.place.line}"
        yield UserMessage(
            f"{path}#{place}", cut(turn.text), day, is_answer, turn.key, before, turn.at
        )
        before = ""


def find_memorable(messages: Iterable[UserMessage]) -> Iterator[MemorableStatement]:
    """Yield the statements worth remembering in the messages."""
    for message in messages:
        for saying in find_statements(message.text, message.day, is_answer=message.is_answer):
            yield MemorableStatement(message, saying)


def list_facts(messages: Iterable[UserMessage]) -> Iterator[MemorableStatement]:
    """Yield the facts in the messages that may correct a note."""
    for message in messages:
        for saying in find_facts(message.text, message.day, is_answer=message.is_answer):
            yield MemorableStatement(message, saying)


def _strip_opening(text: str) -> str:
    for _ in range(3):
        match = statement_pattern("opening").match(lower_text(text))
        rest = text[match.end() :].lstrip(" ,:;-—") if match else text
        if rest == text or not rest:
            break
        text = rest[0].upper() + rest[1:]
    return text
