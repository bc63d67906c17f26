"""Validate proposed changes before anybody sees them: whether they apply, whether their evidence is
in its source, and what would be lost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from ricordo.curation import drift
from ricordo.curation.gist import gist
from ricordo.curation.proposal import (
    Alarm,
    Proposal,
    ProposedChange,
    Quoted,
    Rejected,
    ValidationResult,
    op_of,
    retired,
)
from ricordo.curation.user_decisions import NOTHING_DECIDED, UserDecisions
from ricordo.errors import ChangeRefused
from ricordo.lint.rules.safety import orders
from ricordo.memory import change as acts
from ricordo.memory.change import Act, Author, Change, Edit
from ricordo.memory.compose import compose
from ricordo.memory.draft import with_edits
from ricordo.memory.frontmatter import parser as frontmatter
from ricordo.memory.layout import FileRole, Limits
from ricordo.memory.load import compute_load
from ricordo.memory.memory import Memory
from ricordo.memory.note import BOM, Note
from ricordo.secrets import find_secrets
from ricordo.text import clip, hidden_characters, one_line

MOST_OF_ONE = 3
"""New notes that may rest on the same quote."""
_WRITING = (acts.Create, acts.Replace, acts.Insert, acts.Rewrite, acts.Merge)
"""Acts that add sentences."""
_FEWEST = 2
"""Stems of the evidence, under which its subject is unclear."""
_WIDEST = 60


def brought_orders(memory: Memory, edits: Sequence[Edit]) -> list[str]:
    """Return a warning for each order to agents that `edits` of `memory` add."""
    after = with_edits(memory, edits)
    pairs = [(memory.by_path.get(edit.path), after.by_path.get(edit.path)) for edit in edits]
    return [
        f"adds text that {says}: “{clip(one_line(line.strip()), _WIDEST)}”"
        for before, now in pairs
        for says, line in (_count_orders(now) - _count_orders(before)).elements()
    ]


def strays(memory: Memory, act: Act, edits: Iterable[Edit], evidence: Sequence[Quoted]) -> bool:
    """Return whether the new text of an act shares no stem with its evidence. Evidence with fewer
    than two stems, such as “Remember that”, fits any text.
    """
    if not isinstance(act, _WRITING):
        return False
    notes = (edit for edit in edits if memory.layout.role(edit.path) is not FileRole.INDEX)
    new = frozenset[str]().union(*(gist(line) for edit in notes for line in _list_added(edit)))
    quoted = frozenset[str]().union(*(gist(quote.quote) for quote in evidence if quote.found))
    return bool(new) and len(quoted) >= _FEWEST and not new & quoted


def crowded(proposals: Sequence[Proposal]) -> frozenset[int]:
    """Return the numbers of the `proposals` that create a note from a quote from which enough
    proposals before them create one already.
    """
    counts: Counter[str] = Counter()
    numbers: list[int] = []
    for number, proposal in enumerate(proposals):
        if isinstance(proposal.change.act, acts.Create):
            quotes = {quoted.quote for quoted in proposal.evidence}
            counts.update(quotes)
            if any(counts[quote] > MOST_OF_ONE for quote in quotes):
                numbers.append(number)
    return frozenset(numbers)


def _count_orders(note: Note | None) -> Counter[tuple[str, str]]:
    return Counter() if note is None else Counter((says, line) for _, says, line in orders(note))


def _list_added(edit: Edit) -> list[str]:
    before = set((edit.before or b"").decode("utf-8", "replace").split("\n"))
    after = (edit.after or b"").decode("utf-8", "replace").split("\n")
    return [line for line in after if line not in before]


LONGEST = 64 * 1024
"""Bytes of the text of a change, the most."""
MOST_RETIRED = 5
"""Notes that may be retired within a day without a typed confirmation."""
_SHARE_RETIRED = 0.1
MOST_CREATED = 12
"""Notes that may be created within a day without a warning."""
_SHORTEST_QUOTE = 4
"""Bytes of a quote; a shorter one is in every text."""
ALLOWED = (
    acts.Create,
    acts.Replace,
    acts.Insert,
    acts.Rewrite,
    acts.Merge,
    acts.Retire,
    acts.AddLink,
    acts.AddEntry,
    acts.EditLine,
    acts.SetField,
    acts.MoveLine,
)
"""Acts of a curator: none that writes outside the memory, splits or renames."""


@dataclass(frozen=True, slots=True)
class ValidationContext:
    """What proposed changes are validated against."""

    memory: Memory
    texts: Mapping[str, str]
    """The messages, by source."""
    author: Author
    marked: Collection[str] = ()
    """Paths of the notes that the user has protected."""
    retired: int = 0
    """Notes that curations have retired within the last day."""
    retiring: Collection[str] = ()
    """Paths of the notes that pending proposals would retire."""
    created: int = 0
    """Notes that curations have created within the last day."""
    creating: Collection[str] = ()
    """Paths of the notes that pending proposals would create."""
    decisions: UserDecisions = NOTHING_DECIDED
    said_at: Mapping[str, datetime] = field(default_factory=dict)
    """Times of the messages, by source, as far as known."""


class _ContradictsDecision(ChangeRefused):
    """A change contradicts a decision of the user."""


def check(context: ValidationContext, changes: Sequence[ProposedChange]) -> ValidationResult:
    """Return the valid `changes` as proposals, each validated after the ones before it, and the
    rejected ones with reasons.
    """
    memory, retiring = context.memory, set(context.retiring)
    proposals: list[Proposal] = []
    rejected: list[Rejected] = []
    for change in changes:
        try:
            proposal = _validate_one(context, memory, change)
        except ChangeRefused as refused:
            is_decided = isinstance(refused, _ContradictsDecision)
            why = one_line(refused.message)
            # a model cannot correct what the user decided
            said = "" if is_decided else change.said
            rejected.append(Rejected(told(change.act), why, said, is_decided))
            continue
        memory = with_edits(memory, proposal.edits)
        if path := retired(change.act):
            retiring.add(path)
            if context.retired + len(retiring) > most_retired(context.memory, context.retired):
                proposal = replace(proposal, alarms=(*proposal.alarms, Alarm.MANY))
        proposals.append(proposal)
    numbers = crowded(proposals)
    same = f"more than {MOST_OF_ONE} new notes rest on the same quote"
    proposals = [
        _add_warning(proposal, same) if number in numbers else proposal
        for number, proposal in enumerate(proposals)
    ]
    new = (proposal.change.act for proposal in proposals)
    paths = {*context.creating, *(act.path for act in new if isinstance(act, acts.Create))}
    created = context.created + len(paths)
    if created > MOST_CREATED:
        # all of them are warned of: nobody knows which are too many
        many = f"{created} new notes within a day, limit {MOST_CREATED}"
        proposals = [_add_warning(p, many) if _is_new_note(p) else p for p in proposals]
    return ValidationResult(tuple(proposals), tuple(rejected))


def _is_new_note(proposal: Proposal) -> bool:
    return isinstance(proposal.change.act, acts.Create)


def _add_warning(proposal: Proposal, warning: str) -> Proposal:
    return replace(proposal, warnings=(*proposal.warnings, warning))


def most_retired(memory: Memory, retired: int) -> int:
    """Return how many notes may be retired within a day without a typed confirmation: five, or a
    tenth where that is less, but one at least. Notes `retired` that day count to the whole.
    """
    return max(1, min(MOST_RETIRED, int((len(memory.notes) + retired) * _SHARE_RETIRED)))


def told(act: Act) -> str:
    """Return an act in a few words."""
    about = getattr(act, "path", "") or getattr(act, "name", "")
    return f"{op_of(act)} {one_line(about)}".strip()


def _validate_one(context: ValidationContext, memory: Memory, proposed: ProposedChange) -> Proposal:
    """Return a proposed change as a proposal. Raises ChangeRefused."""
    act = proposed.act
    if not isinstance(act, ALLOWED):
        raise ChangeRefused(f"Curators cannot propose the change “{op_of(act)}”.")
    _refuse_text(act)
    _refuse_other_files(memory, act)
    change = Change(act, proposed.reason, context.author)
    composed = compose(memory, [change], marked=context.marked)
    if not composed.edits:
        raise ChangeRefused("No changes.")
    evidence = tuple(_look_up(context, quote) for quote in proposed.evidence)
    times = (context.said_at.get(quote.source) for quote in evidence if quote.found)
    newest = max(filter(None, times), default=None)
    if why := context.decisions.objection(memory, act, composed.edits, newest):
        raise _ContradictsDecision(why)
    warnings = [*_check_evidence(evidence), *_check_removal(memory, act), *composed.remarks]
    warnings += brought_orders(memory, composed.edits)
    if strays(memory, act, composed.edits, evidence):
        warnings.append("unrelated to the words of its evidence")
    alarms: list[Alarm] = []
    for edit in composed.edits:
        if memory.layout.role(edit.path) is FileRole.INDEX:
            warnings += _check_index(memory, edit)
        else:
            warnings += _check_edit(edit, only_redirects=_only_redirects(act, edit))
            alarms += _find_alarms(edit, act)
    unique_warnings = tuple(dict.fromkeys(warnings))
    unique_alarms = tuple(dict.fromkeys(alarms))
    return Proposal(
        change, evidence, composed.edits, unique_warnings, unique_alarms, proposed.finding
    )


def _refuse_text(act: Act) -> None:
    for name in act.__dataclass_fields__:
        value = getattr(act, name)
        if not isinstance(value, str):
            continue
        try:
            size = len(value.encode("utf-8"))
        except UnicodeEncodeError:
            raise ChangeRefused(f"“{name}” is not valid text (lone surrogate).") from None
        if size > LONGEST:
            raise ChangeRefused(f"“{name}” is longer than {LONGEST // 1024} KB.")
        if "\0" in value:
            raise ChangeRefused(f"“{name}” contains a NUL character.")


def _refuse_other_files(memory: Memory, act: Act) -> None:
    """Raise ChangeRefused unless an act changes a note, or lines of an index: a curator writes no
    log, no schema and no raw source.
    """
    path = getattr(act, "path", "")
    role = memory.layout.role(path)
    is_of_index = isinstance(act, acts.AddEntry | acts.EditLine | acts.MoveLine)
    if role in (FileRole.SUPPORT, FileRole.SOURCE) or (role is FileRole.INDEX and not is_of_index):
        raise ChangeRefused(f"Curators cannot change {one_line(path)}.")


def _look_up(context: ValidationContext, quoted: Quoted) -> Quoted:
    note = context.memory.by_path.get(quoted.source)
    text = context.texts.get(quoted.source) or (note.text if note is not None else "")
    return replace(quoted, found=bool(quoted.quote.strip()) and quoted.quote in text)


def _check_evidence(evidence: Sequence[Quoted]) -> list[str]:
    if not evidence:
        return ["no evidence"]
    missing = (quote for quote in evidence if not quote.found)
    warnings = [f"quote not found in {one_line(quote.source)}" for quote in missing]
    found = [quote.quote.strip() for quote in evidence if quote.found]
    if found and max(len(text.encode("utf-8")) for text in found) < _SHORTEST_QUOTE:
        warnings.append("quote too short to be evidence")
    return warnings


def _only_redirects(act: Act, edit: Edit) -> bool:
    """Return whether an edit only redirects links from a removed note to the other one."""
    match act:
        case acts.Retire(path=path, successor=str(successor)) if successor:
            return edit.path != path
        case acts.Merge(path=path, other=other):
            return edit.path not in (path, other)
        case _:
            return False


def _check_edit(edit: Edit, *, only_redirects: bool) -> list[str]:
    before, after = text_of(edit.before), text_of(edit.after)
    warnings = [
        f"placeholder instead of text: “{words}”" for words in drift.placeholders(before, after)
    ]
    if edit.after is not None and edit.before is not None and not only_redirects:
        warnings += [f"loses {fact}" for fact in drift.losses(before, after)]
        if frontmatter.read(before).present and not frontmatter.read(after).present:
            warnings.append("loses the frontmatter of the note")
    if kinds := _find_secret_kinds(after) - _find_secret_kinds(before):
        warnings.append(f"adds a possible secret: {', '.join(sorted(kinds))}")
    if _adds_hidden(before, after):
        warnings.append("adds invisible characters")
    return warnings


def _adds_hidden(before: str, after: str) -> bool:
    """Return whether a text has invisible characters that it did not have before."""
    return bool(_count_hidden(after) - _count_hidden(before))


def _count_hidden(text: str) -> Counter[str]:
    return Counter(hidden[0] for hidden in hidden_characters(text))


def _check_removal(memory: Memory, act: Act) -> list[str]:
    """Return warnings that an act removes a note, and of the facts that the other one
    would lack.
    """
    removal = told_of_removal(act)
    warnings = [removal] if removal else []
    match act:
        case acts.Retire(successor=""):
            warnings.append("no successor")
        case acts.Merge(other=other, text=text) if other in memory.by_path:
            losses = drift.losses(memory.by_path[other].body, text)
            warnings += [f"loses {fact}" for fact in losses]
    return warnings


def told_of_removal(act: Act) -> str:
    """Return the warning that an act removes a note; "" where it removes none."""
    path = retired(act)
    return f"removes the note {one_line(path)}" if path else ""


def _check_index(memory: Memory, edit: Edit) -> list[str]:
    before, after = text_of(edit.before), text_of(edit.after)
    warnings: list[str] = []
    if _adds_hidden(before, after):
        warnings.append("adds invisible characters to the index")
    if memory.index is None or edit.path == memory.index.path:
        warnings += _check_load(memory.layout.limits, before, after)
    return warnings


def _check_load(limits: Limits | None, before: str, after: str) -> list[str]:
    """Return a warning where agents would not load a new index entry, or would load less of the
    index than before; else none.
    """
    cut = compute_load(after, limits).cut_at_line
    if cut is None:
        return []
    known = set(before.split("\n"))
    new = [number for number, line in enumerate(after.split("\n"), 1) if line not in known]
    if any(number >= cut for number in new):
        return [f"index-over-budget: agents stop loading at line {cut}, before its entry"]
    loaded = compute_load(before, limits)
    if loaded.cut_at_line is None:
        return [f"index-over-budget: agents would stop loading the index at line {cut}"]
    now = set(compute_load(after, limits).text.split("\n"))
    unloaded = set(after.split("\n")) - now
    count = sum(line in unloaded for line in loaded.text.split("\n"))
    if count:
        lines = "1 line" if count == 1 else f"{count} lines"
        return [f"index-over-budget: agents would no longer load {lines}"]
    return []


def _find_alarms(edit: Edit, act: Act) -> list[Alarm]:
    is_removal = isinstance(act, acts.Retire | acts.Merge) and edit.after is None
    if edit.before is None or is_removal:
        return []
    before, after = body_of(edit.before), body_of(edit.after)
    if drift.empties(before, after):
        return [Alarm.EMPTIES]
    return [Alarm.HALVES] if drift.halves(before, after) else []


def _find_secret_kinds(text: str) -> set[str]:
    return {secret.kind for secret in find_secrets(text)}


def text_of(raw: bytes | None) -> str:
    """Return the text of a file's bytes; "" for None."""
    return (raw or b"").removeprefix(BOM).decode("utf-8", "replace")


def body_of(raw: bytes | None) -> str:
    """Return the text of a note's bytes after the frontmatter."""
    text = text_of(raw)
    return text[frontmatter.read(text).end :]
