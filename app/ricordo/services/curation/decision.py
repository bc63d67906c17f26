"""Deciding on proposals: the edits of each in the present memory, the hunks that are accepted, and
the user's changes to its text. Only what was shown is written.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from ricordo.curation.engines.external import Estimate
from ricordo.curation.pending import PendingProposal, describe, describe_rejected, make_pending
from ricordo.curation.proposal import ProposedChange, RejectedChange
from ricordo.curation.validation import ValidationContext, decode_text, validate
from ricordo.errors import ChangeRefused
from ricordo.memory.change import (
    AddEntry,
    AddLink,
    Change,
    ChangeOperation,
    Create,
    Edit,
    EditLine,
    Insert,
    Merge,
    MoveLine,
    Replace,
    Retire,
    Rewrite,
    SetField,
)
from ricordo.memory.compose import compose
from ricordo.memory.diff import merge, revert_hunks
from ricordo.memory.draft import apply_edits
from ricordo.memory.layout import FileRole
from ricordo.memory.memory import Memory
from ricordo.secrets import mask
from ricordo.secrets.find import collect_secrets, mask_excerpt
from ricordo.services.curation.curation import (
    ApplyPlan,
    ApplyResult,
    Curation,
    explain_change,
    make_plan,
    pending_proposals,
    save_state,
)
from ricordo.services.curation.pending import load_curation_state
from ricordo.services.edits.change import protected_paths
from ricordo.services.ledger.ledger import LedgerRun, read_runs
from ricordo.services.workspace.notebook import Notebook
from ricordo.text import make_one_line

_FINDS_ITS_PLACE = (Create, Replace, SetField, AddLink, Retire)
"""Acts that apply even where other proposals have moved the lines of a note."""

Hunks = Collection[tuple[int, int]]
"""Hunks, each as the number of its edit and its own number."""


@dataclass(frozen=True, slots=True)
class ShownProposal:
    """A proposal as shown to the user."""

    proposal: PendingProposal
    edits: tuple[Edit, ...] = ()
    """Its edits by itself, that of its own note first."""
    blocked_reason: str = ""
    """Why it no longer applies; "" where it does."""
    needs_others: bool = False
    """Whether it applies only after the proposals before it."""

    @property
    def is_plain(self) -> bool:
        """Whether it has no warning and applies by itself."""
        return not (self.proposal.all_warnings or self.blocked_reason or self.needs_others)

    def is_outdated_in(self, memory: Memory) -> bool:
        """Return whether its files differ in `memory` from what was shown."""
        before = ((memory.by_path.get(edit.path), edit.before) for edit in self.edits)
        return any((note and note.raw) != raw for note, raw in before)

    def can_omit_hunks(self, number: int) -> bool:
        """Return whether single hunks of an edit can be left out; those of other files follow from
        the change as a whole.
        """
        edit, act = self.edits[number], self.proposal.change.operation
        if self.needs_others or None in (edit.before, edit.after) or isinstance(act, Retire):
            return False
        return (edit.path != act.path) if isinstance(act, Create) else (edit.path == _path(act))

    def is_empty_without(self, left_out: Hunks, of: Hunks) -> bool:
        """Return whether the change is empty without the hunks `left_out` of all its hunks."""
        own = {hunk for hunk in of if hunk[0] == 0}
        goes_on = isinstance(self.proposal.change.operation, Create | Merge)
        return not goes_on and bool(own) and own <= set(left_out)

    def _left_of(self, number: int, left_out: Hunks) -> str:
        """Return the text of an edit's file without the hunks that are left out."""
        edit = self.edits[number]
        own = {hunk for n, hunk in left_out if n == number}
        return revert_hunks(decode_text(edit.before), decode_text(edit.after), own)

    def make_change(self, left_out: Hunks, memory: Memory, drafted: Callable[[], Memory]) -> Change:
        """Return the change without the hunks `left_out`; `memory` is what it was shown in, and
        `drafted` returns the memory after the proposals before it. Raises ChangeRefused.
        """
        change = self.proposal.change
        act = change.operation
        if isinstance(act, Create):
            return replace(change, operation=replace(act, entry="")) if left_out else change
        if self.needs_others or (not left_out and isinstance(act, _FINDS_ITS_PLACE)):
            return change
        base, now = (_text(it, _path(act)) for it in (memory, drafted()))
        if not left_out and base == now:
            return change
        joins = isinstance(act, Insert) or memory.layout.get_role(_path(act)) is FileRole.INDEX
        text = merge(base, self._left_of(0, left_out), now, additions_join=joins)
        if text is None:
            raise ChangeRefused("Another accepted proposal changes the same lines.")
        whole = replace(act, text=text) if isinstance(act, Merge) else Rewrite(_path(act), text)
        return replace(change, operation=whole)


@dataclass(frozen=True, slots=True)
class PendingProposals:
    """The pending proposals of a memory."""

    memory: Memory
    proposals: tuple[ShownProposal, ...]
    runs: tuple[LedgerRun, ...]
    """The runs that proposed them, newest first, as far as the ledger has them."""
    applied: frozenset[str] = frozenset()
    """Ids of the proposals that were applied, by any process."""


def read_pending(notebook: Notebook) -> PendingProposals:
    """Return the pending proposals with their edits. Raises MemoryNotFound, MemoryUnreadable and
    StateUnusable.
    """
    memory = notebook.read()
    state = notebook.environment.state
    waits = pending_proposals(notebook, memory)
    ids = {it.run for it in waits}
    runs = tuple(it for it in read_runs(state, memory.root)[0] if it.id in ids)
    return PendingProposals(
        memory,
        show_proposals(notebook, memory, waits),
        runs,
        load_curation_state(state, memory.root).applied,
    )


def show_proposals(
    notebook: Notebook, memory: Memory, waits: Sequence[PendingProposal]
) -> tuple[ShownProposal, ...]:
    """Return each proposal with its edits of `memory`, by itself where possible."""
    marked = protected_paths(notebook)
    return tuple(_shown(memory, waits, number, marked) for number in range(len(waits)))


def _shown(
    memory: Memory, waits: Sequence[PendingProposal], number: int, marked: Collection[str]
) -> ShownProposal:
    it = waits[number]
    if why := explain_change(memory, it):
        return ShownProposal(it, blocked_reason=why)
    try:
        return ShownProposal(it, _edits(memory, it, marked))
    except ChangeRefused as refused:
        try:
            edits = _edits(_behind(memory, waits[:number], marked), it, marked)
        except ChangeRefused:
            return ShownProposal(it, blocked_reason=make_one_line(refused.message))
        return ShownProposal(it, edits, needs_others=True)


def _behind(memory: Memory, waits: Iterable[PendingProposal], marked: Collection[str]) -> Memory:
    """Return the memory after those of the proposals that apply."""
    for it in waits:
        try:
            memory = apply_edits(memory, _edits(memory, it, marked))
        except ChangeRefused:
            continue
    return memory


def _edits(memory: Memory, it: PendingProposal, marked: Collection[str]) -> tuple[Edit, ...]:
    edits = compose(memory, [it.change], protected=marked).edits
    if not edits:
        raise ChangeRefused("No changes: the memory already has this.")
    return tuple(sorted(edits, key=lambda edit: edit.path != it.path))


# Writing


def plan_shown(
    notebook: Notebook,
    memory: Memory,
    shown_in: Memory,
    chosen: Sequence[ShownProposal],
    left_out: Mapping[str, Hunks],
) -> ApplyPlan:
    """Return the plan for the `chosen` proposals without the hunks `left_out`, given by proposal
    id. They were shown in the memory `shown_in`; those whose notes differ in `memory` are skipped.
    """
    by_id = {it.proposal.id: it for it in chosen}

    def wanted(it: PendingProposal) -> str:
        return by_id[it.id].blocked_reason or _why_other(by_id[it.id], shown_in, memory)

    def change_of(it: PendingProposal, drafted: Callable[[], Memory]) -> Change:
        return by_id[it.id].make_change(left_out.get(it.id, ()), memory, drafted)

    return make_plan(notebook, memory, [it.proposal for it in chosen], wanted, change_of)


def _why_other(shown: ShownProposal, shown_in: Memory, memory: Memory) -> str:
    """Return why a proposal is not as shown, "" where it is; indexes may have grown meanwhile."""
    for edit in shown.edits:
        if memory.layout.get_role(edit.path) is FileRole.INDEX:
            continue
        before, now = (it.by_path.get(edit.path) for it in (shown_in, memory))
        if (before and before.raw) != (now and now.raw):
            return f"{make_one_line(edit.path)} changed after it was shown"
    return ""


# What is pending


def replace_proposal(notebook: Notebook, old: PendingProposal, new: PendingProposal) -> None:
    """Replace a pending proposal by the one that the user edited. Raises StateUnusable."""
    # read again: another command may have saved proposals meanwhile
    state = load_curation_state(notebook.environment.state, notebook.place.root)
    proposals = tuple(new if it.id == old.id else it for it in state.proposals)
    save_state(notebook, replace(state, proposals=proposals, dropped=(*state.dropped, old.id)))


# Editing


def get_editable_text(shown: ShownProposal) -> str:
    """Return the text of a proposal that can be edited: the note as it would be, or the index line.
    Raises ChangeRefused where there is none.
    """
    act = shown.proposal.change.operation
    if shown.blocked_reason or shown.needs_others:
        raise ChangeRefused("The proposal does not apply by itself, so it cannot be edited.")
    match act:
        case Create(text=text) | Merge(text=text):
            return text
        case EditLine(new=str(line)):
            return f"{line}\n"
        case AddEntry():
            return _added(shown.edits[0])
        case Retire() | MoveLine() | EditLine():
            raise ChangeRefused("The proposal has no text to edit.")
        case _:
            return decode_text(shown.edits[0].after)


def _added(edit: Edit) -> str:
    before = decode_text(edit.before).split("\n")
    new = [line for line in decode_text(edit.after).split("\n") if line not in before]
    return f"{new[0]}\n" if new else "\n"


def apply_edit(
    notebook: Notebook, memory: Memory, it: PendingProposal, text: str
) -> PendingProposal:
    """Return a proposal with the `text` that the user edited, validated again. Raises
    ChangeRefused.
    """
    texts: dict[str, str] = {}
    for quoted in it.evidence:
        if quoted.found:
            texts[quoted.source] = f"{texts.get(quoted.source, '')}\n{quoted.quote}"
    desk = ValidationContext(memory, texts, it.change.author, protected_paths(notebook))
    wish = ProposedChange(_with_text(it.change.operation, text), it.change.reason, it.evidence)
    checked = validate(desk, [wish])
    if not checked.proposals:
        raise ChangeRefused(checked.rejected[0].why)
    return replace(make_pending(checked.proposals[0], memory, it.run, it.at), is_edited=True)


def _with_text(act: ChangeOperation, text: str) -> ChangeOperation:
    match act:
        case Create() | Merge():
            return replace(act, text=text)
        case EditLine():
            return replace(act, new=text.rstrip("\r\n"))
        case AddEntry():
            return replace(act, text=text.rstrip("\r\n"))
        case _:
            return Rewrite(_path(act), text)


def _path(act: ChangeOperation) -> str:
    return str(getattr(act, "path", ""))


def _text(memory: Memory, path: str) -> str:
    note = memory.by_path.get(path)
    return note.text if note is not None else ""


def describe_curation(
    curation: Curation, memory: Memory, taken: ApplyResult | None, estimate: Estimate | None = None
) -> dict[str, Any]:
    """Return what `curate --json` prints; `taken` is None where nothing was to be applied, and
    `estimate` where the engine is free. It has `skipped` only where input was skipped.
    """
    run = curation.run
    document = {
        "engine": run.engine,
        "model": run.model,
        "prompt_version": run.prompt_version,
        "estimate": asdict(estimate or Estimate(curation.brief.tokens, 0, 0.0)),
        "usage": {
            "input_tokens": run.input_tokens,
            "output_tokens": run.output_tokens,
            "usd": run.usd,
        },
        **describe_pending(curation.proposals, memory),
        "rejected": [describe_rejected(mask_rejected(it)) for it in curation.rejected],
    }
    if curation.skipped:
        skipped = [{"source": it.source, "why": it.message} for it in curation.skipped]
        document = {**document, "skipped": skipped}
    if taken is None:
        return document
    return {**document, "applied": len(taken.applied), "left": describe_skipped(taken, memory)}


def describe_pending(proposals: Iterable[PendingProposal], memory: Memory) -> dict[str, Any]:
    """Return what `pending --json` prints of proposals on `memory`."""
    return {"changes": [describe(mask_proposal(it, memory)) for it in proposals]}


def describe_skipped(taken: ApplyResult, memory: Memory) -> list[dict[str, str]]:
    """Return the proposals that were not applied, each with the reason."""
    return [{"id": it.id, "why": mask_text(why, it, memory)} for it, why in taken.skipped]


def mask_proposal(it: PendingProposal, memory: Memory) -> PendingProposal:
    """Return a proposal on `memory` for output, with the secrets in all its texts masked."""
    secrets = collect_secrets(_texts_of(it, memory))

    def masked(text: str) -> str:
        return mask_excerpt(text, secrets)

    evidence = (replace(quoted, quote=masked(quoted.quote)) for quoted in it.evidence)
    return replace(
        it,
        change=replace(it.change, reason=masked(it.change.reason)),
        evidence=tuple(evidence),
        diff=masked(it.diff),
        warnings=tuple(map(masked, it.warnings)),
    )


def mask_text(text: str, it: PendingProposal, memory: Memory) -> str:
    """Return a text about a proposal on `memory` with the secrets of its notes masked."""
    return mask_excerpt(text, collect_secrets(_texts_of(it, memory)))


def mask_rejected(it: RejectedChange) -> RejectedChange:
    """Return a rejected change for output, with secrets masked."""
    return replace(it, change=mask(it.change), why=mask(it.why))


def _texts_of(it: PendingProposal, memory: Memory) -> Iterator[str]:
    """Yield all texts that a proposal is about: their secrets are masked in parts of them."""
    act = it.change.operation
    values = [str(getattr(act, each.name)) for each in fields(act)]
    paths = {*it.made_against, *values, *(index.path for index in memory.indexes)}
    yield from (memory.by_path[path].text for path in sorted(paths & memory.by_path.keys()))
    yield from values
    lines = it.diff.split("\n")
    for sign in "-+":
        yield "\n".join(line[1:] for line in lines if line[:1] in (sign, " "))
    yield from (quoted.quote for quoted in it.evidence)
