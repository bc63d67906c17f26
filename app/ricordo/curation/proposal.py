"""Proposals: changes that a curator proposes, with evidence and the result of validation."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ricordo.memory.change import Author, AuthorRole, Change, ChangeOperation, Edit, Merge, Retire

RULES = "rules"


@dataclass(frozen=True, slots=True)
class EvidenceQuote:
    """A quotation as evidence of a proposal."""

    source: str
    """The transcript and the message, as `path#key`, or the path of a note."""
    quote: str
    found: bool = False
    """Whether the source contains the quote exactly."""


@dataclass(frozen=True, slots=True)
class ProposedChange:
    """A change that an engine proposes, not validated."""

    act: ChangeOperation
    reason: str
    evidence: tuple[EvidenceQuote, ...] = ()
    original: str = ""
    """The edit of an external engine as JSON, with which it can be sent back once; else ""."""
    finding: str = ""
    """The id of the finding that it fixes; "" for none."""
    warning: str = ""
    """What the user should check before it is applied; "" for nothing."""


class Alarm(StrEnum):
    """What is applied only after the user has confirmed it by typing."""

    EMPTIES = "it empties the note"
    HALVES = "it takes away half of the note or more"
    MANY = "many notes would be retired within a day"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A validated change with its warnings."""

    change: Change
    evidence: tuple[EvidenceQuote, ...]
    edits: tuple[Edit, ...]
    """Its edits by itself; `before` is what the user sees."""
    warnings: tuple[str, ...] = ()
    alarms: tuple[Alarm, ...] = ()
    finding: str = ""
    """The id of the finding that it fixes; "" for none."""


@dataclass(frozen=True, slots=True)
class RejectedChange:
    """A proposed change that cannot be applied."""

    change: str
    """A few words."""
    why: str
    original: str = ""
    """The edit of an external engine as JSON, with which it can be sent back once; else ""."""
    is_decided: bool = False
    """Whether it contradicts a decision of the user."""


@dataclass(frozen=True, slots=True)
class ValidationResult:
    """The result of validating an engine's changes."""

    proposals: tuple[Proposal, ...] = ()
    rejected: tuple[RejectedChange, ...] = ()


def make_curator(engine: str, model: str = "", prompt_version: str = "") -> Author:
    """Return the author of an engine's proposals."""
    return Author(AuthorRole.CURATOR, engine, model, prompt_version)


def name_operation(act: ChangeOperation) -> str:
    """Return the kind of an act as one word: `create`, `replace`, `link`."""
    name = type(act).__name__
    return _WORDS.get(name, name.lower())


_WORDS = {"AddLink": "link", "AddEntry": "entry", "EditLine": "line", "SetField": "field"}


def find_retired_path(act: ChangeOperation) -> str:
    """Return the path of the note that an act removes; "" where it removes none."""
    match act:
        case Retire(path=path) | Merge(other=path):
            return path
        case _:
            return ""
