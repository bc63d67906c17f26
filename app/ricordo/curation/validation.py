"""Validate proposed changes before anybody sees them: whether they apply, whether their evidence is
in its source, and what would be lost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from ricordo.curation import drift
from ricordo.curation.gist import extract_stems
from ricordo.curation.project_facts import SOURCE
from ricordo.curation.proposal import (
    Alarm,
    EvidenceQuote,
    Proposal,
    ProposedChange,
    RejectedChange,
    ValidationResult,
    find_retired_path,
    name_operation,
)
from ricordo.curation.user_decisions import NO_DECISIONS, UserDecisions
from ricordo.errors import ChangeRefused
from ricordo.lint.rules.safety import find_injections
from ricordo.memory import change as acts
from ricordo.memory.change import Author, Change, ChangeOperation, Edit
from ricordo.memory.compose import compose
from ricordo.memory.draft import apply_edits
from ricordo.memory.frontmatter import parser as frontmatter
from ricordo.memory.index import compute_load
from ricordo.memory.layout import FileRole, Limits
from ricordo.memory.memory import Memory
from ricordo.memory.note import BOM, Note
from ricordo.search.words import join_pairs
from ricordo.secrets import find_secrets
from ricordo.text import clip, find_hidden_characters, make_one_line

MAX_NOTES_PER_QUOTE = 3
"""New notes that may rest on the same quote."""
_WRITING = (acts.Create, acts.Replace, acts.Insert, acts.Rewrite, acts.Merge)
"""Acts that add sentences."""
_FEWEST = 2
"""Stems of the evidence, under which its subject is unclear."""
_WIDEST = 60


def find_new_orders(memory: Memory, edits: Sequence[Edit]) -> list[str]:
    """Return a warning for each order to agents that `edits` of `memory` add."""
    after = apply_edits(memory, edits)
    pairs = [(memory.by_path.get(edit.path), after.by_path.get(edit.path)) for edit in edits]
    return [
        f"adds text that {says}: “{clip(make_one_line(line.strip()), _WIDEST)}”"
        for before, now in pairs
        for says, line in (_count_orders(now) - _count_orders(before)).elements()
    ]


def is_unrelated(
    memory: Memory, act: ChangeOperation, edits: Iterable[Edit], evidence: Sequence[EvidenceQuote]
) -> bool:
    """Return whether the new text of an act shares no stem with its evidence. Evidence with fewer
    than two stems, such as “Remember that”, fits any text, and so do lines of a project, which
    are not prose.
    """
    is_of_project = any(quote.found and quote.source.startswith(SOURCE) for quote in evidence)
    if not isinstance(act, _WRITING) or is_of_project:
        return False
    notes = (edit for edit in edits if memory.layout.get_role(edit.path) is not FileRole.INDEX)
    new = frozenset[str]().union(
        *(extract_stems(line) for edit in notes for line in _list_added(edit))
    )
    quoted = frozenset[str]().union(
        *(extract_stems(quote.quote) for quote in evidence if quote.found)
    )
    return bool(new) and len(quoted) >= _FEWEST and not new & quoted


def find_crowded(proposals: Sequence[Proposal]) -> frozenset[int]:
    """Return the numbers of the `proposals` that create a note from a quote from which enough
    proposals before them create one already.
    """
    counts: Counter[str] = Counter()
    numbers: list[int] = []
    for number, proposal in enumerate(proposals):
        if isinstance(proposal.change.operation, acts.Create):
            quotes = {quoted.quote for quoted in proposal.evidence}
            counts.update(quotes)
            if any(counts[quote] > MAX_NOTES_PER_QUOTE for quote in quotes):
                numbers.append(number)
    return frozenset(numbers)


def _count_orders(note: Note | None) -> Counter[tuple[str, str]]:
    return (
        Counter()
        if note is None
        else Counter((says, line) for _, says, line, _ in find_injections(note))
    )


def _list_added(edit: Edit) -> list[str]:
    before = set((edit.before or b"").decode("utf-8", "replace").split("\n"))
    after = (edit.after or b"").decode("utf-8", "replace").split("\n")
    return [line for line in after if line not in before]


MAX_TEXT_BYTES = 64 * 1024
"""Bytes of the text of a change, the most."""
MAX_RETIRED = 5
"""Notes that may be retired within a day without a typed confirmation."""
_SHARE_RETIRED = 0.1
MAX_CREATED = 12
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
    protected: Collection[str] = ()
    """Paths of the notes that the user has protected."""
    retired: int = 0
    """Notes that curations have retired within the last day."""
    pending_retired: Collection[str] = ()
    """Paths of the notes that pending proposals would retire."""
    created: int = 0
    """Notes that curations have created within the last day."""
    pending_created: Collection[str] = ()
    """Paths of the notes that pending proposals would create."""
    decisions: UserDecisions = NO_DECISIONS
    message_times: Mapping[str, datetime] = field(default_factory=dict)
    """Times of the messages, by source, as far as known."""


class _ContradictsDecision(ChangeRefused):
    """A change contradicts a decision of the user."""


def validate(context: ValidationContext, changes: Sequence[ProposedChange]) -> ValidationResult:
    """Return the valid `changes` as proposals, each validated after the ones before it, and the
    rejected ones with reasons. The edits of a proposal are those it makes by itself, where it can.
    """
    memory, retiring = context.memory, set(context.pending_retired)
    edited: set[str] = set()
    proposals: list[Proposal] = []
    rejected: list[RejectedChange] = []
    for change in changes:
        try:
            proposal = _validate_one(context, memory, change)
        except ChangeRefused as refused:
            is_decided = isinstance(refused, _ContradictsDecision)
            why = make_one_line(refused.message)
            # a model cannot correct what the user decided
            original = "" if is_decided else change.original
            rejected.append(RejectedChange(describe_act(change.act), why, original, is_decided))
            continue
        memory = apply_edits(memory, proposal.edits)
        paths = {edit.path for edit in proposal.edits}
        if paths & edited:
            proposal = _show_alone(context, change, proposal)
        edited |= paths
        if path := find_retired_path(change.act):
            retiring.add(path)
            if context.retired + len(retiring) > count_retirable(context.memory, context.retired):
                proposal = replace(proposal, alarms=(*proposal.alarms, Alarm.MANY))
        proposals.append(proposal)
    numbers = find_crowded(proposals)
    same = f"more than {MAX_NOTES_PER_QUOTE} new notes rest on the same quote"
    proposals = [
        _add_warning(proposal, same) if number in numbers else proposal
        for number, proposal in enumerate(proposals)
    ]
    new = (proposal.change.operation for proposal in proposals)
    new_paths = (act.path for act in new if isinstance(act, acts.Create))
    created = context.created + len({*context.pending_created, *new_paths})
    if created > MAX_CREATED:
        # all of them are warned of: nobody knows which are too many
        many = f"{created} new notes within a day, limit {MAX_CREATED}"
        proposals = [_add_warning(p, many) if _is_new_note(p) else p for p in proposals]
    return ValidationResult(tuple(proposals), tuple(rejected))


def _is_new_note(proposal: Proposal) -> bool:
    return isinstance(proposal.change.operation, acts.Create)


def _show_alone(
    context: ValidationContext, proposed: ProposedChange, proposal: Proposal
) -> Proposal:
    """Return a proposal with the edits and warnings that it has without those before it, where it
    can be made, and the other warnings that it has after them.
    """
    try:
        alone = _validate_one(context, context.memory, proposed)
    except ChangeRefused:
        return proposal
    others = (text for text in proposal.warnings if text not in alone.warnings)
    warnings = *alone.warnings, *(f"{text} (with the proposals before it)" for text in others)
    return replace(proposal, edits=alone.edits, warnings=warnings)


def _add_warning(proposal: Proposal, warning: str) -> Proposal:
    return replace(proposal, warnings=(*proposal.warnings, warning))


def count_retirable(memory: Memory, retired: int) -> int:
    """Return how many notes may be retired within a day without a typed confirmation: five, or a
    tenth where that is less, but one at least. Notes `retired` that day count to the whole.
    """
    return max(1, min(MAX_RETIRED, int((len(memory.notes) + retired) * _SHARE_RETIRED)))


def describe_act(act: ChangeOperation) -> str:
    """Return an act in a few words."""
    about = getattr(act, "path", "") or getattr(act, "name", "")
    return f"{name_operation(act)} {make_one_line(about)}".strip()


def _validate_one(context: ValidationContext, memory: Memory, proposed: ProposedChange) -> Proposal:
    """Return a proposed change as a proposal. Raises ChangeRefused."""
    act = proposed.act
    if not isinstance(act, ALLOWED):
        raise ChangeRefused(f"Curators cannot propose the change “{name_operation(act)}”.")
    _refuse_text(act)
    _refuse_other_files(memory, act)
    change = Change(act, proposed.reason, context.author)
    composed = compose(memory, [change], protected=context.protected)
    if not composed.edits:
        raise ChangeRefused("No changes.")
    evidence = tuple(_look_up(context, quote) for quote in proposed.evidence)
    times = (context.message_times.get(quote.source) for quote in evidence if quote.found)
    newest = max(filter(None, times), default=None)
    if why := context.decisions.find_objection(memory, act, composed.edits, newest):
        raise _ContradictsDecision(why)
    warnings = [proposed.warning] if proposed.warning else []
    warnings += [*_check_evidence(evidence), *_check_removal(memory, act), *composed.warnings]
    warnings += find_new_orders(memory, composed.edits)
    if is_unrelated(memory, act, composed.edits, evidence):
        warnings.append("unrelated to the words of its evidence")
    alarms: list[Alarm] = []
    for edit in composed.edits:
        if memory.layout.get_role(edit.path) is FileRole.INDEX:
            warnings += _check_index(memory, edit)
        else:
            warnings += _check_edit(edit, only_redirects=_only_redirects(act, edit))
            alarms += _find_alarms(edit, act)
    unique_warnings = tuple(dict.fromkeys(warnings))
    unique_alarms = tuple(dict.fromkeys(alarms))
    return Proposal(
        change, evidence, composed.edits, unique_warnings, unique_alarms, proposed.finding
    )


def _refuse_text(act: ChangeOperation) -> None:
    for name in act.__dataclass_fields__:
        value = getattr(act, name)
        if not isinstance(value, str):
            continue
        try:
            size = len(value.encode("utf-8"))
        except UnicodeEncodeError:
            raise ChangeRefused(f"“{name}” is not valid text (lone surrogate).") from None
        if size > MAX_TEXT_BYTES:
            raise ChangeRefused(f"“{name}” is longer than {MAX_TEXT_BYTES // 1024} KB.")
        if "\0" in value:
            raise ChangeRefused(f"“{name}” contains a NUL character.")


def _refuse_other_files(memory: Memory, act: ChangeOperation) -> None:
    """Raise ChangeRefused unless an act changes a note, or single lines of an index: a curator
    writes no log, no schema and no raw source.
    """
    path = getattr(act, "path", "")
    role = memory.layout.get_role(path)
    is_of_line = isinstance(act, acts.Replace) and "\n" not in f"{act.old}{act.new}"
    is_of_index = is_of_line or isinstance(act, acts.AddEntry | acts.EditLine | acts.MoveLine)
    if role in (FileRole.SUPPORT, FileRole.SOURCE) or (role is FileRole.INDEX and not is_of_index):
        raise ChangeRefused(f"Curators cannot change {make_one_line(path)}.")


def _look_up(context: ValidationContext, quoted: EvidenceQuote) -> EvidenceQuote:
    note = context.memory.by_path.get(quoted.source)
    text = context.texts.get(quoted.source) or (note.text if note is not None else "")
    return replace(quoted, found=bool(quoted.quote.strip()) and quoted.quote in text)


def _check_evidence(evidence: Sequence[EvidenceQuote]) -> list[str]:
    if not evidence:
        return ["no evidence"]
    missing = (quote for quote in evidence if not quote.found)
    warnings = [f"quote not found in {make_one_line(quote.source)}" for quote in missing]
    found = [quote.quote.strip() for quote in evidence if quote.found]
    if found and max(len(text.encode("utf-8")) for text in found) < _SHORTEST_QUOTE:
        warnings.append("quote too short to be evidence")
    return warnings


def _only_redirects(act: ChangeOperation, edit: Edit) -> bool:
    """Return whether an edit only redirects links from a removed note to the other one."""
    match act:
        case acts.Retire(path=path, successor=str(successor)) if successor:
            return edit.path != path
        case acts.Merge(path=path, other=other):
            return edit.path not in (path, other)
        case _:
            return False


def _check_edit(edit: Edit, *, only_redirects: bool) -> list[str]:
    before, after = decode_text(edit.before), decode_text(edit.after)
    warnings = [
        f"placeholder instead of text: “{words}”"
        for words in drift.find_placeholders(before, after)
    ]
    if edit.after is not None and edit.before is not None and not only_redirects:
        losses = [f"loses {fact}" for fact in drift.describe_losses(before, after)]
        warnings += losses or _describe_removed_words(before, after)
        if (
            frontmatter.read_frontmatter(before).is_present
            and not frontmatter.read_frontmatter(after).is_present
        ):
            warnings.append("loses the frontmatter of the note")
    if kinds := _find_secret_kinds(after) - _find_secret_kinds(before):
        warnings.append(f"adds a possible secret: {', '.join(sorted(kinds))}")
    if _adds_hidden(before, after):
        warnings.append("adds invisible characters")
    return warnings


def _describe_removed_words(before: str, after: str) -> list[str]:
    words = join_pairs(drift.find_removed_words(before, after)).strip()
    return [f"removes “{clip(words, _WIDEST)}”"] if words else []


def _adds_hidden(before: str, after: str) -> bool:
    """Return whether a text has invisible characters that it did not have before."""
    return bool(_count_hidden(after) - _count_hidden(before))


def _count_hidden(text: str) -> Counter[str]:
    return Counter(hidden[0] for hidden in find_hidden_characters(text))


def _check_removal(memory: Memory, act: ChangeOperation) -> list[str]:
    """Return warnings that an act removes a note, and of the facts that the other one
    would lack.
    """
    removal = describe_removal(act)
    warnings = [removal] if removal else []
    match act:
        case acts.Retire(successor=""):
            warnings.append("no successor")
        case acts.Merge(other=other, text=text) if other in memory.by_path:
            losses = drift.describe_losses(memory.by_path[other].body, text)
            warnings += [f"loses {fact}" for fact in losses]
    return warnings


def describe_removal(act: ChangeOperation) -> str:
    """Return the warning that an act removes a note; "" where it removes none."""
    path = find_retired_path(act)
    return f"removes the note {make_one_line(path)}" if path else ""


def _check_index(memory: Memory, edit: Edit) -> list[str]:
    before, after = decode_text(edit.before), decode_text(edit.after)
    warnings: list[str] = []
    if _adds_hidden(before, after):
        warnings.append("adds invisible characters to the index")
    if memory.index is None or edit.path == memory.index.path:
        warnings += _check_load(memory.layout.limits, before, after)
    return warnings


def _check_load(limits: Limits | None, before: str, after: str) -> list[str]:
    """Return a warning where agents would not load a new index entry, would load less of the index
    than before, or has no room for another; else none.
    """
    now, loaded = compute_load(after, limits), compute_load(before, limits)
    cut = now.cut_at_line
    if cut is None:
        takes_last = loaded.has_room and not now.has_room
        size = f"{now.lines} lines, {now.units:,} characters"
        return [f"index-near-budget: leaves no room in the index: {size}"] * takes_last
    known = set(before.split("\n"))
    new = [number for number, line in enumerate(after.split("\n"), 1) if line not in known]
    if any(number >= cut for number in new):
        return [f"index-over-budget: agents stop loading at line {cut}, before its entry"]
    if loaded.cut_at_line is None:
        return [f"index-over-budget: agents would stop loading the index at line {cut}"]
    unloaded = set(after.split("\n")) - set(now.text.split("\n"))
    count = sum(line in unloaded for line in loaded.text.split("\n"))
    if count:
        lines = "1 line" if count == 1 else f"{count} lines"
        return [f"index-over-budget: agents would no longer load {lines}"]
    return []


def _find_alarms(edit: Edit, act: ChangeOperation) -> list[Alarm]:
    is_removal = isinstance(act, acts.Retire | acts.Merge) and edit.after is None
    if edit.before is None or is_removal:
        return []
    before, after = decode_body(edit.before), decode_body(edit.after)
    if drift.is_emptied(before, after):
        return [Alarm.EMPTIES]
    return [Alarm.HALVES] if drift.is_halved(before, after) else []


def _find_secret_kinds(text: str) -> set[str]:
    return {secret.kind for secret in find_secrets(text)}


def decode_text(raw: bytes | None) -> str:
    """Return the text of a file's bytes; "" for None."""
    return (raw or b"").removeprefix(BOM).decode("utf-8", "replace")


def decode_body(raw: bytes | None) -> str:
    """Return the text of a note's bytes after the frontmatter."""
    text = decode_text(raw)
    return text[frontmatter.read_frontmatter(text).end :]
