"""Conflicts: pairs of notes that cannot both hold, each with what is known of the two; and the
pairs of which it is in doubt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain

from ricordo.curation.opinion import Opinion
from ricordo.errors import WrongUsage
from ricordo.lint.contradictions.differences import says, values_of
from ricordo.lint.contradictions.records import cause_of, cause_of_texts, line_of, standing, stands
from ricordo.lint.evidence import CheckOutcome, NotePair, NoteQuote, Origin, Relation, Verdict
from ricordo.lint.finding import finding_id
from ricordo.lint.rules.relations import RULE_OF
from ricordo.memory.note import Note
from ricordo.services.sessions.activity_text import read_briefly, stamped_day
from ricordo.services.workspace.notebook import Snapshot
from ricordo.text import visible

RULE = RULE_OF[Relation.EXCLUDES]
_FAILED = (CheckOutcome.MISSING, CheckOutcome.CHANGED, CheckOutcome.MOVED)


class Keep(StrEnum):
    """Which of the two a conflict is settled for."""

    LEFT = "left"
    RIGHT = "right"
    NONE = "none"
    """Neither: it is no conflict."""

    @property
    def opposite(self) -> Keep:
        """The side across; of neither the right one."""
        return Keep.LEFT if self is Keep.RIGHT else Keep.RIGHT


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two notes, and its claim."""

    note: Note
    quote: NoteQuote
    line: int
    """1-based line on which the claim stands now."""
    verdicts: tuple[Verdict, ...] = ()
    """What the project says of the note's claims."""
    origin: Origin | None = None
    read: str = ""
    """How often agents have read it, in two words; "" where no session is known."""
    linked_from: tuple[str, ...] = ()
    """Paths of the files that lead to it."""

    @property
    def failed(self) -> tuple[Verdict, ...]:
        """The verdicts against it."""
        return tuple(it for it in self.verdicts if it.is_checked and it.outcome in _FAILED)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Which side to keep, and why."""

    keep: Keep
    """`none` where it is left to the person."""
    why: str

    @property
    def told(self) -> str:
        """In one sentence."""
        return self.why if self.keep is Keep.NONE else f"keep {self.keep}: {self.why}"


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two notes that cannot both hold."""

    id: str
    """That of its finding: it is stable while both claims stand, whatever the notes are called."""
    left: Side
    right: Side
    reason: str
    suggestion: Suggestion
    relation: Relation = Relation.EXCLUDES
    opinion: Opinion | None = None
    """What an engine outside our code thinks of it, where it is in doubt."""

    @property
    def is_of_whole(self) -> bool:
        """Whether it is about the notes as wholes: they say nearly the same."""
        return self.relation.is_of_whole

    def other(self, keep: Keep) -> Side:
        """Return the side across from the one that is kept."""
        return self.side(keep.opposite)

    def side(self, keep: Keep) -> Side:
        """Return the side that is kept; the left one where none is."""
        return self.right if keep is Keep.RIGHT else self.left


def conflicts(snapshot: Snapshot) -> tuple[Conflict, ...]:
    """Return the conflicts of a memory that was judged with its evidence, dismissed ones left out,
    in the order of their findings.
    """
    # the rule counts them in the same order
    counts: Counter[str] = Counter()
    pairs: dict[tuple[str, int], NotePair] = {}
    for pair in standing(snapshot.memory, snapshot.evidence.pairs, Relation.EXCLUDES):
        cause = cause_of(pair)
        pairs[cause, counts[cause]] = pair
        counts[cause] += 1
    return tuple(_conflicts(snapshot, pairs))


def doubts(snapshot: Snapshot) -> tuple[Conflict, ...]:
    """Return the pairs of a memory that was judged with its evidence of which it is in doubt
    whether one has to go, the likeliest first; without those that the person says are fine.
    """
    return tuple(_doubts(snapshot))


def find_conflict(snapshot: Snapshot, conflict_id: str) -> Conflict:
    """Return the conflict, or the doubt, with that id. Raises WrongUsage."""
    every = chain(conflicts(snapshot), _doubts(snapshot))
    found = next((it for it in every if it.id == conflict_id), None)
    if found is None:
        raise WrongUsage(f"No conflict has the id “{visible(conflict_id)}”.")
    return found


def _conflicts(snapshot: Snapshot, pairs: dict[tuple[str, int], NotePair]) -> Iterator[Conflict]:
    for finding in snapshot.findings:
        pair = pairs.get((finding.cause, finding.occurrence)) if finding.rule == RULE else None
        if pair is not None:
            left, right = _side(snapshot, pair.left), _side(snapshot, pair.right)
            yield Conflict(finding.id, left, right, pair.reason, suggest(left, right))


def _doubts(snapshot: Snapshot) -> Iterator[Conflict]:
    for pair in snapshot.evidence.pairs:
        if pair.relation.is_certain or not stands(snapshot.memory, pair):
            continue
        left, right = _side(snapshot, pair.left), _side(snapshot, pair.right)
        # were it certain its finding would have this id: what is dismissed is so in both cases
        texts = (it.quote.text or it.note.body for it in (left, right))
        known = finding_id(RULE_OF[pair.relation], "", cause_of_texts(*texts))
        if known not in snapshot.fine:
            told = suggest(left, right)
            yield Conflict(known, left, right, pair.reason, told, pair.relation)


def _side(snapshot: Snapshot, quote: NoteQuote) -> Side:
    note, known = snapshot.memory.by_path[quote.path], snapshot.evidence
    return Side(
        note,
        quote,
        line_of(note, quote),
        known.verdicts.get(note.path, ()),
        known.origins.get(note.path),
        read_briefly(known, note),
        snapshot.memory.backlinks.get(note.path, ()),
    )


def suggest(left: Side, right: Side) -> Suggestion:
    """Return which of two sides to keep. Evidence comes before age: what the project says of the
    claims themselves, what a person said before what an agent made of it, what the project says of
    the rest of the notes; then what became true later ends the earlier. Where none of these tells,
    or the project and the person do not agree, it is left to the person.
    """
    checked, said = (_preferred(by, left, right) for by in (_checked, _said))
    if checked and said and checked.keep is not said.keep:
        why = f"not decided: {said.told}, but {checked.told}"
        return Suggestion(Keep.NONE, why)
    for found in (checked, said, *(_preferred(by, left, right) for by in (_probed, _later))):
        if found:
            return found
    return Suggestion(Keep.NONE, "neither dates nor sessions nor the project decide it: you do")


def _preferred(
    why_better: Callable[[Side, Side], str], left: Side, right: Side
) -> Suggestion | None:
    for one, other, keep in ((left, right, Keep.LEFT), (right, left, Keep.RIGHT)):
        if why := why_better(one, other):
            return Suggestion(keep, why)
    return None


def _checked(one: Side, other: Side) -> str:
    """What the project says of what only one of the claims names. That a thing is there speaks for
    a claim only where the thing is what the two differ in.
    """
    mine, theirs = _on_claim(one, other), _on_claim(other, one)
    if any(it.outcome in _FAILED for it in mine):
        return ""
    failed = next((it for it in theirs if it.outcome in _FAILED), None)
    if failed:
        return f"the project does not have {visible(failed.claim)}, which the other names"
    values = values_of(one.quote.text, other.quote.text)
    held = next((it for it in mine if says(it.claim, values)), None)
    return f"the project has {visible(held.claim)}" if held and not theirs else ""


def _on_claim(side: Side, other: Side) -> list[Verdict]:
    """What was checked of the claim of one side that the other does not name too."""
    return [
        it
        for it in side.verdicts
        if it.is_checked and it.claim in side.quote.text and it.claim not in other.quote.text
    ]


def _said(one: Side, other: Side) -> str:
    if one.origin is None or other.origin is None:
        return ""
    if one.origin.speaker == "person" and other.origin.speaker == "agent":
        return "a person said it, the other is an agent's own summary"
    return ""


def _probed(one: Side, other: Side) -> str:
    if one.verdicts and not one.failed and other.failed:
        named = visible(other.failed[0].claim)
        return f"the project has what its note names, but not {named}, which the other note names"
    return ""


def _later(one: Side, other: Side) -> str:
    mine, theirs = stamped_day(one.note), stamped_day(other.note)
    if mine and theirs and mine > theirs:
        return f"it is the later one ({mine}, the other {theirs})"
    return ""
