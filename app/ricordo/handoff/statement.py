"""A statement of a handoff and the mark it carries: what it rests on, and how far that was proved.

A mark is never better than its proof. *Verified* is what a probe saw itself, now, on disk or in
git; *reported* what a transcript tells of a result, and *stale* the same where what it rests on
changed since; *quoted* the words of a person or an agent as they stand in the transcript; the rest
is *unverified*.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ricordo.handoff.facts import Ref


class Section(StrEnum):
    """What a statement is about. How a section is called depends on for whom it is written."""

    OBJECTIVE = "objective"
    CONSTRAINTS = "constraints"
    DONE = "done"
    ACTIVE = "active"
    BLOCKED = "blocked"
    DECISIONS = "decisions"
    RULED_OUT = "ruled out"
    FILES = "files"
    ERRORS = "errors"
    NEXT = "next"
    QUESTIONS = "questions"
    MEMORY = "memory"
    MESSAGES = "messages"


class Status(StrEnum):
    """How far a statement is proved."""

    VERIFIED = "verified"
    REPORTED = "reported"
    STALE = "stale"
    QUOTED = "quoted"
    UNVERIFIED = "unverified"


@dataclass(frozen=True, slots=True)
class FileIs:
    """A file of the project has this content."""

    path: str
    sha: str | None
    """The first 12 digits of its SHA-256; None: it is not there."""


@dataclass(frozen=True, slots=True)
class GitIs:
    """This commit is checked out, on this branch, with as many files that are not as committed."""

    commit: str
    """In full, or its first 12 digits."""
    branch: str
    dirty: int


@dataclass(frozen=True, slots=True)
class NoteIs:
    """A note of the memory has this content."""

    path: str
    sha: str
    """The first 12 digits of its SHA-256."""


@dataclass(frozen=True, slots=True)
class MemoryAt:
    """The memory lies in this directory."""

    path: str
    """Absolute."""


@dataclass(frozen=True, slots=True)
class Result:
    """A transcript reports how a command ended."""

    exit: int | None
    """None where it says only whether it failed."""
    has_failed: bool
    ref: Ref
    changed: tuple[str, ...] = ()
    """What it rests on and was changed since: files, or `commit`."""


@dataclass(frozen=True, slots=True)
class Quote:
    """The words stand in the transcript."""

    ref: Ref


Proof = FileIs | GitIs | NoteIs | MemoryAt | Result | Quote
"""What a statement rests on."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One line of a handoff."""

    section: Section
    text: str
    """One line or several; several only where it quotes. Without its mark."""
    proof: Proof | None = None
    """None where nothing proves it."""
    stands_on: tuple[str, ...] = ()
    """The ids of the facts that it stands on."""
    quote: str = ""
    """What it quotes word for word, and stands in the document as a quotation."""
    is_own_words: bool = False
    """Whether a model put it into its own words: nothing proves what they mean."""

    @property
    def status(self) -> Status:
        """The mark that it carries."""
        match self.proof:
            case None:
                return Status.UNVERIFIED
            case Quote():
                return Status.QUOTED
            case Result(changed=changed):
                return Status.STALE if changed else Status.REPORTED
            case FileIs() | GitIs() | NoteIs() | MemoryAt():
                return Status.VERIFIED
