"""Proposals: changes that a curator wishes, each with its evidence and what checking showed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ricordo.memory.change import Act, Author, AuthorRole, Change, Edit, Merge, Retire

RULES = "rules"


@dataclass(frozen=True, slots=True)
class Quoted:
    """Words on which a proposal rests."""

    source: str
    """The transcript and the turn, as `path#key`, or the path of a note in the memory."""
    quote: str
    found: bool = False
    """Whether they stand there, letter by letter."""


@dataclass(frozen=True, slots=True)
class ProposedChange:
    """A change that an engine wishes, unchecked."""

    act: Act
    reason: str
    evidence: tuple[Quoted, ...] = ()
    said: str = ""
    """As an engine outside our code gave it, in JSON; "" where none did, or not for the first
    time.
    """
    finding: str = ""
    """The id of the finding that it fixes; "" for none."""


class Alarm(StrEnum):
    """What may only be done after a person has typed that it is meant."""

    EMPTIES = "it empties the note"
    HALVES = "it takes away half of the note or more"
    MANY = "many notes would be retired within a day"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change that fits the memory as it is, and what a person should know of it."""

    change: Change
    evidence: tuple[Quoted, ...]
    edits: tuple[Edit, ...]
    """What it comes to by itself; their `before` is what the person is shown."""
    warnings: tuple[str, ...] = ()
    alarms: tuple[Alarm, ...] = ()
    finding: str = ""
    """The id of the finding that it fixes; "" for none."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """What was proposed and cannot be done."""

    change: str
    """In a few words."""
    why: str
    said: str = ""
    """It as an engine outside our code gave it, by which it can be sent back once; else ""."""
    is_decided: bool = False
    """Whether it would go against what the user decided."""


@dataclass(frozen=True, slots=True)
class ValidationResult:
    """What came of checking the wishes of an engine."""

    proposals: tuple[Proposal, ...] = ()
    rejected: tuple[Rejected, ...] = ()


def curator(engine: str, model: str = "", prompt_version: str = "") -> Author:
    """Return the author of what an engine proposes."""
    return Author(AuthorRole.CURATOR, engine, model, prompt_version)


def op_of(act: Act) -> str:
    """Return the kind of an act as a word: `create`, `replace`, `link`."""
    name = type(act).__name__
    return _WORDS.get(name, name.lower())


_WORDS = {"AddLink": "link", "AddEntry": "entry", "EditLine": "line", "SetField": "field"}


def retired(act: Act) -> str:
    """Return the path of the note that an act takes away; "" where it takes none."""
    match act:
        case Retire(path=path) | Merge(other=path):
            return path
        case _:
            return ""
