"""What the person said that is worth remembering, with where and when it was said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date

from ricordo.agents.transcripts.lines import cut
from ricordo.agents.transcripts.session import Turn, Who
from ricordo.curation.proposal import Quoted
from ricordo.extraction.dates import made_absolute
from ricordo.extraction.statement import Saying, find_saying
from ricordo.lexicon import lowered, pattern

_LONGEST_BEFORE = 600
"""Characters: what a person answers to mostly stands at the end."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """A turn of the person, as the brief and the rules are given it."""

    source: str
    """The transcript and the turn: `path#key`, or `path#:line` where the agent gave no key."""
    text: str
    day: date
    """When it was said; the day of the curation where the transcript has no time."""
    is_answer: bool
    """Whether an agent had spoken before it in the session."""
    key: str = ""
    before: str = ""
    """The end of what the agent had said right before it."""
    at: str = ""
    """The moment at which it was said, ISO 8601 in UTC; "" where that is not known."""


@dataclass(frozen=True, slots=True)
class Heard:
    """Something worth remembering."""

    spoken: Spoken
    saying: Saying

    @property
    def evidence(self) -> tuple[Quoted, ...]:
        """The words, and where they stand."""
        return tuple(Quoted(self.spoken.source, it) for it in self.saying.quotes)

    @property
    def statement(self) -> str:
        """What is stated, with absolute dates, without the words that lead to it."""
        return self._absolute(_without_opening(self.saying.text))

    @property
    def why(self) -> str:
        """The reason that was given; "" where none was."""
        return self._absolute(" ".join(it.text for it in self.saying.why))

    def _absolute(self, text: str) -> str:
        return " ".join(made_absolute(text, self.spoken.day).split())


def spoken(
    path: str, turns: Iterable[Turn], today: date, *, is_answer: bool = False
) -> Iterator[Spoken]:
    """Yield what the person said in the `turns` of the transcript at `path`; `is_answer` says
    whether an agent had spoken before the first of them.
    """
    before = ""
    for turn in turns:
        if not turn.is_said:
            continue
        if turn.who is Who.AGENT:
            is_answer, before = True, turn.text[-_LONGEST_BEFORE:]
            continue
        day = date.fromisoformat(turn.at[:10]) if turn.at else today
        place = turn.key or f":{turn.where.line}"
        yield Spoken(f"{path}#{place}", cut(turn.text), day, is_answer, turn.key, before, turn.at)
        before = ""


def heard(said: Iterable[Spoken]) -> Iterator[Heard]:
    """Yield what of it is worth remembering."""
    for it in said:
        saying = find_saying(it.text, it.day, is_answer=it.is_answer)
        if saying is not None:
            yield Heard(it, saying)


def _without_opening(text: str) -> str:
    for _ in range(3):
        match = pattern("opening").match(lowered(text))
        rest = text[match.end() :].lstrip(" ,:;-—") if match else text
        if rest == text or not rest:
            break
        text = rest[0].upper() + rest[1:]
    return text
