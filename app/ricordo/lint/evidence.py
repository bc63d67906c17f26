"""Evidence: facts about notes from outside their text.

It is slow to gather (by searching the project, reading transcripts and comparing notes), so
`services/workspace/evidence.py` gathers it beforehand and rules only read it. It may be older than
the note: a rule checks that the note still contains the text before it reports it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum

from ricordo.memory.note import Note


class CheckOutcome(StrEnum):
    """The outcome of a claim check."""

    VALID = "holds"
    MISSING = "missing"
    """It does not exist."""
    MOVED = "moved"
    """It exists under another name."""
    CHANGED = "changed"
    """It differs from the note, or changed since the note was confirmed."""
    UNCHECKED = "not checked"
    """It cannot be decided, or there was no time."""


MOST_QUOTED = 200
"""Characters of a line of a note that are shown as evidence."""


class ClaimKind(StrEnum):
    """The subject of a claim."""

    PATH = "path"
    DRAWN = "drawn"
    """A file in a tree that the note draws: other files may have its name."""
    SYMBOL = "symbol"
    COMMAND = "command"
    VERSION = "version"
    VALUE = "value"
    POSITION = "position"
    """A line of a file has a name."""
    COMMITS = "commits"
    """Files that the note names changed since it was confirmed."""
    STATUS = "status"
    """Work is not merged, pushed or released yet."""
    TASK = "task"
    """Work is still to be done."""
    INSTRUCTION = "instruction"
    """The note repeats the instructions of the project."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of checking one claim of a note against the project."""

    claim: str
    """As written in the note."""
    kind: ClaimKind
    line: int
    """1-based line of the claim in the note when it was checked."""
    outcome: CheckOutcome
    evidence: tuple[str, ...] = ()
    """Observations, a line each."""
    suggestion: str = ""
    """The text that should replace the claim; "" where it is not known."""
    problem: str = ""
    """The problem, a sentence without its full stop; "" where the claim says it all."""
    changed_at: float = 0.0
    """When the change was made, in seconds since the epoch; 0 where it is not known."""
    existed: bool = False
    """Whether the claim was true of the project once."""
    is_guess: bool = False
    """Whether the suggestion is only likely, so that no fix may write it; of what is missing,
    whether the note hardly needs it.
    """
    origin: str = ""
    """What it has in common with others that became untrue: the id of a commit or, behind the path
    of the note, the tree that they are in; "" where it is not known.
    """
    is_of_line: bool = False
    """Whether it is on what its line says, and not on the claim wherever the note has that."""

    @property
    def is_checked(self) -> bool:
        """Whether it decides if a claim is valid."""
        is_claim = self.kind not in (ClaimKind.COMMITS, ClaimKind.INSTRUCTION)
        return is_claim and self.outcome is not CheckOutcome.UNCHECKED


class Relation(StrEnum):
    """The relation between two notes."""

    REPEATS = "repeats"
    """Nearly the same text."""
    CONTRADICTS = "excludes"
    """Contradicting claims."""
    MAY_REPEAT = "may repeat"
    """Perhaps nearly the same text: an uncertain pair, which no rule reports."""
    MAY_CONTRADICT = "may exclude"
    """Perhaps contradicting claims: an uncertain pair, too."""

    @property
    def is_certain(self) -> bool:
        """Whether rules report it."""
        return self in (Relation.REPEATS, Relation.CONTRADICTS)

    @property
    def is_between_notes(self) -> bool:
        """Whether it is between two whole notes, not between two claims in them."""
        return self in (Relation.REPEATS, Relation.MAY_REPEAT)


RULE_OF = {
    Relation.CONTRADICTS: "contradiction",
    Relation.MAY_CONTRADICT: "contradiction",
    Relation.REPEATS: "duplicate",
    Relation.MAY_REPEAT: "duplicate",
}
"""The rule of each relation; uncertain pairs have none of their own."""


@dataclass(frozen=True, slots=True)
class NoteQuote:
    """A statement of a note."""

    path: str
    line: int
    """Its 1-based line when the notes were compared; 0 for the whole note."""
    text: str
    """Its words, separated by single spaces; "" for the whole note."""


@dataclass(frozen=True, slots=True)
class NotePair:
    """Two notes that repeat or contradict each other, perhaps."""

    relation: Relation
    left: NoteQuote
    """The one whose path sorts first."""
    right: NoteQuote
    reason: str
    """In a few words, often `kind: one value / other value`; models are sent the kind."""


@dataclass(frozen=True, slots=True)
class NoteReads:
    """The reads of one note by agents, from transcripts."""

    count: int
    last_at: str
    """When it was last read or written, ISO 8601 in UTC; "" where the transcript has no time."""
    session: str = ""
    """The session of the last one: its title, else the beginning of its id."""
    days: tuple[date, ...] = ()
    """The days of the reads with a time, each once, in order."""


@dataclass(frozen=True, slots=True)
class NoteCommit:
    """The commit with the present text of a note."""

    at: datetime
    """When it was made, in UTC."""
    modified: float
    """The modification time of the file when it was compared with the commit."""


UNKNOWN_SPEAKER = "unknown"
"""The speaker where it is not known whose words caused a note."""


@dataclass(frozen=True, slots=True)
class NoteCause:
    """The message that caused a note, from agents' transcripts."""

    speaker: str
    """`person` or `agent`: whose words are quoted; an agent's are its own summary. `unknown` where
    no message of the user was found, and one may have been missed.
    """
    text: str
    """The quoted words, without secrets; "" where the agent wrote no message, or the speaker is not
    known.
    """
    session: str
    """Its title, else the beginning of its id."""
    agent: str
    """The display name of the program."""
    at: str
    """When the note was written, ISO 8601 in UTC."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """All evidence on the notes of a memory, by their paths."""

    verdicts: Mapping[str, tuple[Verdict, ...]] = field(default_factory=dict)
    """On the claims of each note, in order; without notes that have none."""
    pairs: tuple[NotePair, ...] = ()
    """Notes that repeat or contradict each other, by path; then uncertain pairs, the likeliest
    first.
    """
    reads: Mapping[str, NoteReads] = field(default_factory=dict)
    """Of the notes that agents read."""
    origins: Mapping[str, NoteCause] = field(default_factory=dict)
    """Of the notes with a known cause."""
    commits: Mapping[str, NoteCommit] = field(default_factory=dict)
    """Of the notes without uncommitted changes."""
    last_session: str = ""
    """When the newest known session began, ISO 8601 in UTC; "" where none is known, or not all of
    them could be read.
    """
    project: str = ""
    """The directory against which claims were checked; "" where there is none."""
    warnings: tuple[str, ...] = ()
    """Warnings: what was not read, and why, a line each."""

    def committed_at(self, note: Note) -> datetime | None:
        """Return when the present text of a note was committed; None where it is not known."""
        commit = self.commits.get(note.path)
        is_same = commit is not None and commit.modified == note.facts.modified
        return commit.at if commit is not None and is_same else None


NO_EVIDENCE = Evidence()
"""The evidence before any was gathered."""
