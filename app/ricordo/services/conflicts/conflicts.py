"""Conflicts: pairs of notes that contradict each other, with what is known of both; duplicates; and
uncertain pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from ricordo.curation.opinion import Opinion, PairVerdict
from ricordo.lint.contradictions.records import (
    DUPLICATE_REASON,
    build_cause,
    build_cause_of_texts,
    find_line,
    find_valid_pairs,
    is_pair_valid,
)
from ricordo.lint.contradictions.replacement import find_named_value, find_replaced_values
from ricordo.lint.evidence import (
    RULE_OF,
    CheckOutcome,
    NoteCause,
    NotePair,
    NoteQuote,
    Relation,
    Verdict,
)
from ricordo.lint.finding import finding_id
from ricordo.memory.note import Note
from ricordo.services.sessions.activity_text import describe_reads_briefly, parse_stamp
from ricordo.services.workspace.notebook import Snapshot
from ricordo.text import make_visible

CONTRADICTION_RULE = RULE_OF[Relation.CONTRADICTS]
_DUPLICATE_RULE = RULE_OF[Relation.REPEATS]
_FAILED = (CheckOutcome.MISSING, CheckOutcome.CHANGED, CheckOutcome.MOVED)


class Keep(StrEnum):
    """Which side to keep when resolving a conflict."""

    LEFT = "left"
    RIGHT = "right"
    NONE = "none"
    """Neither: it is no conflict."""

    @property
    def opposite(self) -> Keep:
        """The other side; RIGHT for NONE."""
        return Keep.LEFT if self is Keep.RIGHT else Keep.RIGHT


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two notes, and its claim."""

    note: Note
    quote: NoteQuote
    line: int
    """1-based line of the claim now."""
    verdicts: tuple[Verdict, ...] = ()
    """Verdicts of checking the note's claims against the project."""
    origin: NoteCause | None = None
    reads: str = ""
    """How often agents read it, in two words; "" if no session is known."""
    linked_from: tuple[str, ...] = ()
    """Paths of the files that link to it."""

    @property
    def failed(self) -> tuple[Verdict, ...]:
        """The verdicts on claims that failed."""
        return tuple(each for each in self.verdicts if each.is_checked and each.outcome in _FAILED)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Which side to keep, and why."""

    keep: Keep
    """NONE if the user has to decide."""
    reason: str

    @property
    def text(self) -> str:
        """The suggestion in one sentence."""
        return self.reason if self.keep is Keep.NONE else f"keep {self.keep}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two notes that contradict each other, or may do so."""

    id: str
    """The id of its finding: stable while both claims exist, also when notes are renamed."""
    left: Side
    right: Side
    reason: str
    suggestion: Suggestion
    relation: Relation = Relation.CONTRADICTS
    opinion: Opinion | None = None
    """The opinion of an external engine on an uncertain pair; None without one."""

    @property
    def is_of_whole(self) -> bool:
        """Whether it is about the whole notes, which say nearly the same, not about two claims."""
        return self.relation.is_between_notes

    def is_problem_by(self, opinion: Opinion) -> bool:
        """Return whether something has to be done by an opinion: where both contradict each other,
        also with more of both notes, or the notes say the same as a whole. A fact that two notes
        state is no problem.
        """
        same = self.is_of_whole and opinion.verdict is PairVerdict.DUPLICATE
        return same or (opinion.verdict is PairVerdict.CONFLICT and opinion.is_confirmed)

    def get_other_side(self, keep: Keep) -> Side:
        """Return the side that is not kept."""
        return self.get_side(keep.opposite)

    def get_side(self, keep: Keep) -> Side:
        """Return the side that is kept; the left one for NONE."""
        return self.right if keep is Keep.RIGHT else self.left


def find_conflicts(snapshot: Snapshot) -> tuple[Conflict, ...]:
    """Return the conflicts of a snapshot with evidence, without dismissed ones, in the order of
    their findings.
    """
    # the rule numbers equal causes in the same order
    counts: Counter[str] = Counter()
    pairs: dict[tuple[str, int], NotePair] = {}
    for pair in find_valid_pairs(snapshot.memory, snapshot.evidence.pairs, Relation.CONTRADICTS):
        cause = build_cause(pair)
        pairs[cause, counts[cause]] = pair
        counts[cause] += 1
    return tuple(_conflicts(snapshot, pairs))


def find_duplicates(snapshot: Snapshot) -> tuple[Conflict, ...]:
    """Return the notes of a snapshot with evidence that say nearly the same, in the order of their
    findings: of each group the two that its finding names. The next two follow when these are
    resolved.
    """
    return tuple(_duplicates(snapshot))


def find_uncertain_pairs(snapshot: Snapshot) -> tuple[Conflict, ...]:
    """Return the uncertain pairs of a snapshot with evidence, the likeliest contradiction first;
    without dismissed ones.
    """
    pairs = (pair for pair in snapshot.evidence.pairs if not pair.relation.is_certain)
    return tuple(describe_uncertain(snapshot, pairs))


def describe_uncertain(snapshot: Snapshot, pairs: Iterable[NotePair]) -> Iterator[Conflict]:
    """Yield uncertain `pairs` with what is known of both notes; none that was dismissed, or that
    the notes no longer have.
    """
    for pair in pairs:
        if not is_pair_valid(snapshot.memory, pair):
            continue
        left, right = _side(snapshot, pair.left), _side(snapshot, pair.right)
        # the id that its finding would have: a dismissal counts for the pair and the finding
        texts = (side.quote.text or side.note.body for side in (left, right))
        id = finding_id(RULE_OF[pair.relation], "", build_cause_of_texts(*texts))
        if id not in snapshot.dismissed_ids:
            suggestion = suggest(left, right)
            yield Conflict(id, left, right, pair.reason, suggestion, pair.relation)


def _conflicts(snapshot: Snapshot, pairs: dict[tuple[str, int], NotePair]) -> Iterator[Conflict]:
    for finding in snapshot.findings:
        pair = (
            pairs.get((finding.cause, finding.occurrence))
            if finding.rule == CONTRADICTION_RULE
            else None
        )
        if pair is not None:
            left, right = _side(snapshot, pair.left), _side(snapshot, pair.right)
            yield Conflict(finding.id, left, right, pair.reason, suggest(left, right))


def _duplicates(snapshot: Snapshot) -> Iterator[Conflict]:
    for finding in snapshot.findings:
        if finding.rule != _DUPLICATE_RULE:
            continue
        quotes = (NoteQuote(path, 0, "") for path in (finding.path, finding.other_path))
        left, right = (_side(snapshot, quote) for quote in quotes)
        # the evidence of the finding is a line for each note of the group
        more = len(finding.evidence) - 2
        others = f", and {more} more note{'s' * (more > 1)}" if more > 0 else ""
        reason = f"{DUPLICATE_REASON}{others}"
        yield Conflict(finding.id, left, right, reason, suggest(left, right), Relation.REPEATS)


def _side(snapshot: Snapshot, quote: NoteQuote) -> Side:
    note, evidence = snapshot.memory.by_path[quote.path], snapshot.evidence
    return Side(
        note,
        quote,
        find_line(note, quote),
        evidence.verdicts.get(note.path, ()),
        evidence.origins.get(note.path),
        describe_reads_briefly(evidence, note),
        snapshot.memory.backlinks.get(note.path, ()),
    )


def suggest(left: Side, right: Side) -> Suggestion:
    """Return which of two sides to keep. Evidence comes before age, in this order: checks of the
    claims against the project, statements of the user over summaries by agents, checks of the rest
    of the notes; then the later note. If none of these decides, or project and user disagree, the
    user has to decide.
    """
    by_claim, by_speaker = (_preferred(by, left, right) for by in (_why_checked, _why_user_said))
    if by_claim and by_speaker and by_claim.keep is not by_speaker.keep:
        why = f"not decided: {by_speaker.text}, but {by_claim.text}"
        return Suggestion(Keep.NONE, why)
    others = (_preferred(by, left, right) for by in (_why_note_checked, _why_later))
    for suggestion in (by_claim, by_speaker, *others):
        if suggestion:
            return suggestion
    return Suggestion(Keep.NONE, "you decide: no date, session or check speaks for one of them")


def _preferred(
    why_better: Callable[[Side, Side], str], left: Side, right: Side
) -> Suggestion | None:
    for one, other, keep in ((left, right, Keep.LEFT), (right, left, Keep.RIGHT)):
        if why := why_better(one, other):
            return Suggestion(keep, why)
    return None


def _why_checked(one: Side, other: Side) -> str:
    """Return why `one` is better by what only one of the claims names in the project; "" if it is
    not. Existence speaks for a claim only if the two differ in what exists.
    """
    mine, theirs = _on_claim(one, other), _on_claim(other, one)
    if any(verdict.outcome in _FAILED for verdict in mine):
        return ""
    failed = next((verdict for verdict in theirs if verdict.outcome in _FAILED), None)
    if failed:
        return f"the project does not have {make_visible(failed.claim)}, which the other names"
    values = find_replaced_values(one.quote.text, other.quote.text)
    valid = next((verdict for verdict in mine if find_named_value(verdict.claim, values)), None)
    return f"the project has {make_visible(valid.claim)}" if valid and not theirs else ""


def _on_claim(side: Side, other: Side) -> list[Verdict]:
    """Return the verdicts on what only the claim of `side` names."""
    return [
        verdict
        for verdict in side.verdicts
        if verdict.is_checked
        and verdict.claim in side.quote.text
        and verdict.claim not in other.quote.text
    ]


def _why_user_said(one: Side, other: Side) -> str:
    if one.origin is None or other.origin is None:
        return ""
    if one.origin.speaker == "person" and other.origin.speaker == "agent":
        return "you said it, the other is an agent's summary"
    return ""


def _why_note_checked(one: Side, other: Side) -> str:
    if one.verdicts and not one.failed and other.failed:
        named = make_visible(other.failed[0].claim)
        return f"the project has what its note names, but not {named}, which the other note names"
    return ""


def _why_later(one: Side, other: Side) -> str:
    mine, theirs = parse_stamp(one.note), parse_stamp(other.note)
    if mine and theirs and mine > theirs:
        return f"it is newer ({mine}, the other {theirs})"
    return ""
