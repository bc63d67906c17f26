"""Evidence: what is known of notes besides their text.

It is of slow origin (a project was looked through, transcripts were read, notes were compared), so
it is gathered beforehand, by `notebook/evidence.py`, and rules only look at it. It may be older
than the note: what a rule tells of a note it finds in the note's text again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum

from ricordo.memory.note import Note


class CheckOutcome(StrEnum):
    """What came of checking a claim."""

    HOLDS = "holds"
    MISSING = "missing"
    """What is claimed to be there is not."""
    MOVED = "moved"
    """It is there, under another name."""
    CHANGED = "changed"
    """It is there, and other than it was when the note was confirmed, or than the note says."""
    UNCHECKED = "not checked"
    """It cannot be told, or there was no time for it."""


class ClaimKind(StrEnum):
    """What a claim is about."""

    PATH = "path"
    SYMBOL = "symbol"
    COMMAND = "command"
    VERSION = "version"
    VALUE = "value"
    COMMITS = "commits"
    """Files that the note names were changed since it was confirmed."""
    INSTRUCTION = "instruction"
    """The note says what the project's own instructions say."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of checking one claim of a note against the project."""

    claim: str
    """As it stands in the note."""
    kind: ClaimKind
    line: int
    """1-based line of the note on which it stood when it was checked."""
    outcome: CheckOutcome
    evidence: tuple[str, ...] = ()
    """What was seen, a line each."""
    suggestion: str = ""
    """What should stand in the place of the claim; "" where that is not known."""
    amiss: str = ""
    """What is wrong, a sentence without its full stop, where the claim alone would not tell."""
    at: float = 0.0
    """When that came about, in seconds since the epoch; 0 where it is not known."""
    was_there: bool = False
    """Whether the project had it once: the claim was true of it."""

    @property
    def is_checked(self) -> bool:
        """Whether it says of a claim that it holds or not."""
        is_claim = self.kind not in (ClaimKind.COMMITS, ClaimKind.INSTRUCTION)
        return is_claim and self.outcome is not CheckOutcome.UNCHECKED


class Relation(StrEnum):
    """What two notes are to each other."""

    REPEATS = "repeats"
    """They say nearly the same."""
    EXCLUDES = "excludes"
    """They claim what cannot both hold."""
    MAY_REPEAT = "may repeat"
    """They may say nearly the same: a doubt, of which no finding tells."""
    MAY_EXCLUDE = "may exclude"
    """They may claim what cannot both hold: a doubt too."""

    @property
    def is_certain(self) -> bool:
        """Whether it is no mere doubt."""
        return self in (Relation.REPEATS, Relation.EXCLUDES)

    @property
    def is_of_whole(self) -> bool:
        """Whether it is between two notes as wholes, not between two claims of theirs."""
        return self in (Relation.REPEATS, Relation.MAY_REPEAT)


@dataclass(frozen=True, slots=True)
class NoteQuote:
    """A statement of a note."""

    path: str
    line: int
    """1-based line on which it stood when the notes were compared; 0 for the whole note."""
    text: str
    """Its words, white space made single blanks; "" for the whole note."""


@dataclass(frozen=True, slots=True)
class NotePair:
    """Two notes of which one may have to go."""

    relation: Relation
    left: NoteQuote
    """The one whose path comes first."""
    right: NoteQuote
    reason: str
    """Why, in a few words."""


@dataclass(frozen=True, slots=True)
class Reads:
    """What agents' transcripts tell of the readings of one note."""

    times: int
    last: str
    """When it was touched last, ISO 8601 in UTC; "" where the transcript has no time."""
    session: str = ""
    """By which session: its title, else the beginning of its id."""
    days: tuple[date, ...] = ()
    """The days of the readings that have a time, each once, in order."""


@dataclass(frozen=True, slots=True)
class Commit:
    """The commit in which git has the present text of a note."""

    at: datetime
    """When it was made, in UTC."""
    touched: float
    """When the file was changed last, by its own time, as the two were compared."""


UNKNOWN = "unknown"
"""The speaker where it is not known whose words a note rests on."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What caused a note, as far as agents' transcripts tell."""

    speaker: str
    """`person` or `agent`: whose words are quoted. An agent's are its own summary: nobody said
    it. `unknown` where no turn of the person was found, and one may have been missed.
    """
    text: str
    """What was said, without credentials; "" where the agent wrote without a word, or it is not
    known who said it.
    """
    session: str
    """Its title, else the beginning of its id."""
    agent: str
    """The program, as people write it."""
    at: str
    """When the note was written, ISO 8601 in UTC."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that is known of the notes of a memory, by their paths."""

    verdicts: Mapping[str, tuple[Verdict, ...]] = field(default_factory=dict)
    """On the claims of each note, in their order; a note without any is left out."""
    pairs: tuple[NotePair, ...] = ()
    """Notes that repeat or contradict each other, by their paths; then those of which that is in
    doubt, the likeliest first.
    """
    reads: Mapping[str, Reads] = field(default_factory=dict)
    """Of the notes that agents read; a note that none of them read is left out."""
    origins: Mapping[str, Origin] = field(default_factory=dict)
    """Of the notes of which it is known what caused them."""
    commits: Mapping[str, Commit] = field(default_factory=dict)
    """Of the notes whose present text git has; what was changed since is left out."""
    last_session: str = ""
    """When the newest known session began, ISO 8601 in UTC; "" where none is known, or not all of
    them could be read.
    """
    project: str = ""
    """The directory against which claims were checked; "" where there is none."""
    remarks: tuple[str, ...] = ()
    """What was not looked at, and why, a line each."""

    def committed_at(self, note: Note) -> datetime | None:
        """Return when the present text of a note was committed; None where that is not known."""
        commit = self.commits.get(note.path)
        is_same = commit is not None and commit.touched == note.facts.modified
        return commit.at if commit is not None and is_same else None


NOTHING_KNOWN = Evidence()
"""Before anything was gathered."""
