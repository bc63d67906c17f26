"""The user's decisions that bind every engine, until the user says something newer."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date, datetime

from ricordo.curation.gist import extract_stems, extract_values, measure_share
from ricordo.curation.proposal import find_retired_path, name_operation
from ricordo.lint.contradictions.records import build_cause_of_texts
from ricordo.lint.contradictions.statements import extract_note_statements
from ricordo.lint.evidence import RULE_OF, NotePair, Relation
from ricordo.lint.finding import finding_id
from ricordo.lint.prose import extract_statements
from ricordo.memory.change import (
    AddEntry,
    ChangeOperation,
    Create,
    Edit,
    Insert,
    Merge,
    Replace,
    Retire,
)
from ricordo.memory.draft import apply_edits
from ricordo.memory.frontmatter import parser as frontmatter
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.text import make_one_line

_SAID_AGAIN = 0.8
"""Share of the stems of each of two texts in the other, from which they say the same."""
_ANY_DAY = date(2000, 1, 1)
"""One day for both of two texts, so that equal relative dates are equal."""
_LEFT_TO_YOU = "the person says that this note is wrong, and leaves it to you"
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Confirmed:
    """A note whose present text the user confirmed."""

    at: datetime
    how: str
    """Such as “still true”."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A proposal that the user refused."""

    act: ChangeOperation
    at: datetime
    reason: str = ""
    """Why it had been proposed."""


@dataclass(frozen=True, slots=True)
class Dismissed:
    """A finding that the user dismissed."""

    path: str
    text: str
    """Its rule and message."""
    at: datetime


@dataclass(frozen=True, slots=True)
class DecisionSummary:
    """A decision in words, for the brief."""

    what: str
    """Such as “refused”."""
    at: datetime
    text: str
    path: str = ""
    """The note that it is about; "" where it is about no existing note."""


@dataclass(frozen=True, slots=True)
class UserDecisions:
    """The user's decisions on a memory that were not undone."""

    confirmed: Mapping[str, Confirmed] = field(default_factory=dict)
    """By the path of the note."""
    wrong: Mapping[str, datetime] = field(default_factory=dict)
    """When the user marked the present text of a note as wrong and left the fix to the curator, by
    path.
    """
    deleted: Mapping[str, datetime] = field(default_factory=dict)
    """When the user accepted that others deleted a note, by path."""
    refused: Sequence[Refused] = ()
    dismissed: Sequence[Dismissed] = ()
    dismissed_at: Mapping[str, datetime] = field(default_factory=dict)
    """When findings were dismissed, by id, also of findings that no longer exist."""
    dismissed_groups: Mapping[frozenset[str], datetime] = field(default_factory=dict)
    """When notes that repeat each other were dismissed, by their paths."""

    def find_objection(
        self, memory: Memory, act: ChangeOperation, edits: Sequence[Edit], said_at: datetime | None
    ) -> str:
        """Return why an act with these `edits` of `memory` contradicts a decision; "" where it does
        not. `said_at` is the time of the newest message in its evidence, None where unknown: what
        the user said after a decision overrides it.
        """

        def binds(at: datetime) -> bool:
            return said_at is None or said_at <= at

        for path in _loses_statements(memory, act, edits):
            confirmed = self.confirmed.get(path)
            if confirmed is not None and binds(confirmed.at):
                day = _format_day(confirmed.at)
                return f"You confirmed {make_one_line(path)} on {day}: {confirmed.how}."
        if isinstance(act, Create) and (at := self.deleted.get(act.path)) and binds(at):
            return f"You accepted the deletion of {make_one_line(act.path)} on {_format_day(at)}."
        if any(binds(at) for at in self._find_dismissals(memory, *_get_pair(act))):
            return "You decided that these two notes are neither a conflict nor duplicates."
        for refused in self.refused:
            if binds(refused.at) and _is_same(refused.act, act):
                return f"You refused this on {_format_day(refused.at)}."
        return ""

    def list_newest(self, paths: Collection[str], most: int) -> list[DecisionSummary]:
        """Return at most `most` decisions, newest first: those on the notes at `paths`, and those
        about no note.
        """
        decisions = [
            DecisionSummary("confirmed", each.at, each.how, p) for p, each in self.confirmed.items()
        ]
        decisions += [
            DecisionSummary("wrong", at, _LEFT_TO_YOU, path) for path, at in self.wrong.items()
        ]
        decisions += [
            DecisionSummary("dismissed", each.at, each.text, each.path) for each in self.dismissed
        ]
        decisions = [decision for decision in decisions if decision.path in paths]
        for refused in self.refused:
            path = find_retired_path(refused.act) or str(getattr(refused.act, "path", ""))
            about = path if path in paths else ""
            decisions.append(
                DecisionSummary("refused", refused.at, _describe_refused(refused), about)
            )
        for path, at in self.deleted.items():
            decisions.append(DecisionSummary("accepted", at, f"{path} was deleted"))
        return sorted(decisions, key=lambda decision: decision.at, reverse=True)[:most]

    def is_dismissed(self, pair: NotePair, memory: Memory) -> bool:
        """Return whether the user dismissed the finding on a pair, or on more notes with them."""
        paths = {pair.left.path, pair.right.path}
        if pair.relation.is_between_notes and any(paths <= it for it in self.dismissed_groups):
            return True
        one, other = (
            quote.text or (note.body if (note := memory.by_path.get(quote.path)) else "")
            for quote in (pair.left, pair.right)
        )
        return (
            finding_id(RULE_OF[pair.relation], "", build_cause_of_texts(one, other))
            in self.dismissed_at
        )

    def _find_dismissals(self, memory: Memory, *paths: str) -> Iterator[datetime]:
        """Yield when the user dismissed a finding on two notes, on more notes with them, or on a
        claim of each.
        """
        notes = [memory.by_path[path] for path in paths if path in memory.by_path]
        if len(notes) < 2 or not self.dismissed_at:
            return
        one, other = notes
        yield from (at for group, at in self.dismissed_groups.items() if group.issuperset(paths))
        pairs = [(RULE_OF[Relation.REPEATS], one.body, other.body)]
        for claim in extract_note_statements(one):
            pairs += [
                (RULE_OF[Relation.CONTRADICTS], claim.text, c.text)
                for c in extract_note_statements(other)
            ]
        for rule, left, right in pairs:
            at = self.dismissed_at.get(finding_id(rule, "", build_cause_of_texts(left, right)))
            if at is not None:
                yield at


NO_DECISIONS = UserDecisions()


def _format_day(at: datetime) -> str:
    return at.date().isoformat()


def _get_pair(act: ChangeOperation) -> tuple[str, ...]:
    """Return the paths of two notes of which an act keeps one; empty for other acts."""
    match act:
        case Merge(path=path, other=other):
            return path, other
        case Retire(path=path, successor=str(successor)) if successor:
            return path, successor
        case _:
            return ()


def _loses_statements(memory: Memory, act: ChangeOperation, edits: Sequence[Edit]) -> Iterator[str]:
    """Yield the paths of the notes that lose a statement. A statement that a merge moves into the
    other note is not lost.
    """
    after = apply_edits(memory, edits)
    for edit in edits:
        note = memory.by_path.get(edit.path)
        if note is None:
            continue
        target = act.path if isinstance(act, Merge) and edit.path == act.other else edit.path
        now = after.by_path.get(target)
        if now is None or not _contains_all(now, note):
            yield edit.path


def _contains_all(now: Note, note: Note) -> bool:
    """Return whether `now` has all statements of `note`, word by word; link targets are ignored."""
    words = _normalize(f"{now.description}\n{now.body}")
    return all(_normalize(statement.text) in words for statement in extract_statements(note))


def _normalize(text: str) -> str:
    plain = re.sub(r"\]\([^)\n]*\)|\[\[[^\]\n]*\]\]", " ", text.lower())
    return f" {' '.join(_WORD.findall(plain))} "


def _is_same(refused: ChangeOperation, act: ChangeOperation) -> bool:
    """Return whether an act would do the same as one that was refused."""
    if asdict(refused) == asdict(act) and type(refused) is type(act):
        return True
    if find_retired_path(refused) or find_retired_path(act):
        return find_retired_path(refused) == find_retired_path(act)
    if isinstance(refused, AddEntry) and isinstance(act, AddEntry):
        return (refused.path, refused.note) == (act.path, act.note)
    are_new = isinstance(refused, Create) and isinstance(act, Create)
    if not are_new and getattr(refused, "path", "") != getattr(act, "path", ""):
        return False
    old, new = _get_text(refused), _get_text(act)
    one, other = extract_stems(old), extract_stems(new)
    if (
        not one
        or not other
        or min(measure_share(one, other), measure_share(other, one)) < _SAID_AGAIN
    ):
        return False
    # many corrections differ in one value only
    return extract_values(old, _ANY_DAY) == extract_values(new, _ANY_DAY)


def _get_text(act: ChangeOperation) -> str:
    """Return the new text of an act; "" where it has none."""
    match act:
        case Create(text=text):
            return text[frontmatter.read_frontmatter(text).end :]
        case Insert(text=text):
            return text
        case Replace(old=old, new=new):
            return new or old
        case _:
            return ""


def _describe_refused(refused: Refused) -> str:
    """Return a refused proposal in a few words."""
    text = " ".join(_get_text(refused.act).split())
    return f"{name_operation(refused.act)}: {text or refused.reason}"
