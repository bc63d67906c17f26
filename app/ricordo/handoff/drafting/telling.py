"""What a model is told of the facts: a block each, under its id, without secrets.

The words of a session stand behind a mark, so that no line of theirs can pass for one of ours.
Where all of it would be too long, facts give way as a whole: first commands that were no tests or
checks, then files that were only read, what the agent said, summaries, errors, notes, and so on
back to what the person said last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import assert_never

from ricordo.handoff.facts import (
    GIT,
    Decided,
    Fact,
    Facts,
    FileUse,
    GitState,
    GivenUp,
    Mishap,
    NoteFound,
    Ran,
    Ref,
    Refusal,
    Said,
    Summary,
    Todo,
    Work,
)
from ricordo.handoff.prove import all_facts
from ricordo.model.question import estimate
from ricordo.model.redaction import Redaction, Sealed
from ricordo.text import visible

_LONGEST = {"person": 4_000, "agent": 1_500, "other": 600}
"""Characters of a text that are told."""
_CUT = "…"
_MOST_DIRTY = 20


@dataclass(frozen=True, slots=True)
class Told:
    """What a model is told."""

    text: Sealed
    shown: Mapping[str, str]
    """The words of each fact that was told, as they were shown."""
    left_out: int
    """Facts for which there was no room."""
    redaction: Redaction

    @property
    def tokens(self) -> int:
        """About how many tokens it costs."""
        return estimate(self.text)


@dataclass(frozen=True, slots=True)
class _Block:
    id: str
    about: str
    """What it is, in our words."""
    words: str
    """What it says, in the words of others."""
    place: tuple[int, int]
    """By which the blocks are ordered."""

    @property
    def text(self) -> str:
        lines = "".join(f"| {line}\n" for line in self.words.split("\n"))
        return f"{self.id}: {self.about}\n{lines}"


def tell(facts: Facts, redaction: Redaction, room: int) -> Told:
    """Return what a model is told of `facts`: as much as has `room`, in tokens."""
    ordered = _by_weight(facts)
    redaction.learn(text for it in ordered for text in _words(it))
    blocks: list[_Block] = []
    for number, it in enumerate(ordered):
        block = _block(facts, it, number, redaction)
        room -= estimate(block.text)
        if room < 0:
            break
        blocks.append(block)
    blocks.sort(key=lambda it: it.place)
    text = redaction.sealed("".join(it.text for it in blocks))
    shown = {it.id: it.words for it in blocks}
    return Told(text, shown, len(ordered) - len(blocks), redaction)


def _by_weight(facts: Facts) -> list[Fact | GitState]:
    """The facts, what matters most first."""
    found: list[Fact | GitState] = [facts.git] if facts.git else []
    rest = sorted(enumerate(all_facts(facts)), key=lambda it: (_weight(it[1]), -it[0]))
    return found + [it for _, it in rest]


def _weight(fact: Fact) -> int:
    match fact:
        case Said(is_person=is_person):
            return 0 if is_person else 8
        case Ran(work=work):
            return 10 if work is Work.OTHER else 1
        case FileUse():
            return 2 if fact.is_changed else 9
        case Todo():
            return 3
        case Decided():
            return 4
        case GivenUp():
            return 5
        case NoteFound():
            return 6
        case Mishap() | Summary():
            return 7
        case _:
            assert_never(fact)


def _block(facts: Facts, fact: Fact | GitState, number: int, redaction: Redaction) -> _Block:
    id = GIT if isinstance(fact, GitState) else fact.id
    words = "\n".join(
        visible(redaction.redact(id, _cut(text, fact))) for text in _words(fact) if text
    )
    return _Block(id, _about(fact, len(facts.sessions)), words, _place(fact, number))


def _place(fact: Fact | GitState, number: int) -> tuple[int, int]:
    """Talk, commands and what came of them by their turns; what has none behind them."""
    match fact:
        case GitState() | NoteFound() | FileUse():
            return 1_000_000, number
        case _:
            return fact.ref.session, fact.ref.turn


def _about(fact: Fact | GitState, sessions: int) -> str:
    match fact:
        case Said():
            return f"the {'person' if fact.is_person else 'agent'} said{_at(fact.ref, sessions)}"
        case Summary():
            return f"the agent's summary{_at(fact.ref, sessions)}"
        case Ran():
            return f"command{_at(fact.ref, sessions)}, {_ending(fact)}"
        case FileUse():
            deeds = ", ".join(deed.value for deed in fact.deeds)
            gone = ", is not there now" if fact.is_gone else ""
            return f"file, {deeds}{_at(fact.last, sessions)}{gone}"
        case Todo():
            return f"on the agent's list, {fact.status}{_at(fact.ref, sessions)}"
        case Mishap():
            mended = f", mended{_at(fact.mended, sessions)}" if fact.mended else ""
            return f"error{_at(fact.ref, sessions)}{mended}"
        case GivenUp(refusal=Refusal.USER):
            return f"refused by the user, never to be done{_at(fact.ref, sessions)}"
        case GivenUp(refusal=Refusal.RULES):
            return f"not allowed by the rules of the agent{_at(fact.ref, sessions)}"
        case GivenUp():
            return f"given up{_at(fact.ref, sessions)}"
        case Decided():
            who = "person" if fact.is_person else "agent"
            return f"decided by the {who}{_at(fact.ref, sessions)}"
        case NoteFound():
            return "note of the memory"
        case GitState():
            return "the repository now"
        case _:
            assert_never(fact)


def _at(ref: Ref, sessions: int) -> str:
    session = f" of session {ref.session + 1}" if sessions > 1 else ""
    return f", turn {ref.turn}{session}"


def _ending(ran: Ran) -> str:
    if ran.exit is not None:
        return f"exit {ran.exit}"
    if ran.has_failed is None:
        return "how it ended is not known"
    return "failed" if ran.has_failed else "succeeded"


def _words(fact: Fact | GitState) -> Iterator[str]:
    """What a fact has of others: their words, paths, names."""
    match fact:
        case Said() | Summary() | Todo():
            yield fact.text
        case Ran():
            yield from (fact.command, fact.result)
            yield from (f"{path} was changed since" for path in fact.changed_since)
        case FileUse():
            yield fact.path
            yield ", ".join(fact.parts)
        case Mishap():
            yield from (fact.what, fact.error, fact.by)
        case GivenUp():
            yield from (fact.what, fact.why)
        case Decided():
            yield from (fact.asked, fact.text, fact.why)
        case NoteFound():
            yield from (fact.path, fact.description)
        case GitState():
            yield from _repository(fact)
        case _:
            assert_never(fact)


def _repository(state: GitState) -> Iterable[str]:
    yield f"branch {state.branch}, commit {state.commit[:12]}: {state.subject}"
    yield from (f"{path} is not committed" for path in state.dirty[:_MOST_DIRTY])
    if len(state.dirty) > _MOST_DIRTY:
        yield f"and {len(state.dirty) - _MOST_DIRTY} more"


def _cut(text: str, fact: Fact | GitState) -> str:
    who = "other"
    if isinstance(fact, Said):
        who = "person" if fact.is_person else "agent"
    most = _LONGEST["agent" if isinstance(fact, Summary) else who]
    return text if len(text) <= most else f"{text[:most]}{_CUT}"
