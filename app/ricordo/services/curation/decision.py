"""Deciding on proposals: the edits of each in the present memory, the hunks that are accepted, and
the user's changes to its text. Only what was shown is written.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from ricordo.curation.engines.external import Estimate
from ricordo.curation.pending import Waiting, describe, describe_rejected, waiting
from ricordo.curation.proposal import ProposedChange, Rejected
from ricordo.curation.validation import ValidationContext, check, text_of
from ricordo.errors import ChangeRefused
from ricordo.memory.change import (
    Act,
    AddEntry,
    AddLink,
    Change,
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
from ricordo.memory.diff import merge, without_hunks
from ricordo.memory.draft import with_edits
from ricordo.memory.layout import FileRole
from ricordo.memory.memory import Memory
from ricordo.secrets import mask
from ricordo.secrets.excerpt import collect_secrets, mask_excerpt
from ricordo.services.curation.curation import (
    Curation,
    Plan,
    Taken,
    keep,
    pending_proposals,
    plan_of,
    why_changed,
)
from ricordo.services.curation.pending import recall_curation
from ricordo.services.edits.change import protected_paths
from ricordo.services.ledger.ledger import LedgerRun, runs_of
from ricordo.services.workspace.notebook import Notebook
from ricordo.text import one_line

_FINDS_ITS_PLACE = (Create, Replace, SetField, AddLink, Retire)
"""Acts that apply even where other proposals have moved the lines of a note."""

Hunks = Collection[tuple[int, int]]
"""Hunks, each as the number of its edit and its own number."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A proposal as shown to the user."""

    waiting: Waiting
    edits: tuple[Edit, ...] = ()
    """Its edits by itself, that of its own note first."""
    why_not: str = ""
    """Why it no longer applies; "" where it does."""
    needs_others: bool = False
    """Whether it applies only after the proposals before it."""

    @property
    def is_plain(self) -> bool:
        """Whether it has no warning and applies by itself."""
        return not (self.waiting.told or self.why_not or self.needs_others)

    def is_other_in(self, memory: Memory) -> bool:
        """Return whether its files differ in `memory` from what was shown."""
        before = ((memory.by_path.get(edit.path), edit.before) for edit in self.edits)
        return any((note and note.raw) != raw for note, raw in before)

    def can_leave_out(self, number: int) -> bool:
        """Return whether single hunks of an edit can be left out; those of other files follow from
        the change as a whole.
        """
        edit, act = self.edits[number], self.waiting.change.act
        if self.needs_others or None in (edit.before, edit.after) or isinstance(act, Retire):
            return False
        return (edit.path != act.path) if isinstance(act, Create) else (edit.path == _path(act))

    def is_nothing_without(self, left_out: Hunks, of: Hunks) -> bool:
        """Return whether the change is empty without the hunks `left_out` of all its hunks."""
        own = {hunk for hunk in of if hunk[0] == 0}
        goes_on = isinstance(self.waiting.change.act, Create | Merge)
        return not goes_on and bool(own) and own <= set(left_out)

    def _left_of(self, number: int, left_out: Hunks) -> str:
        """Return the text of an edit's file without the hunks that are left out."""
        edit = self.edits[number]
        own = {hunk for n, hunk in left_out if n == number}
        return without_hunks(text_of(edit.before), text_of(edit.after), own)

    def change(self, left_out: Hunks, memory: Memory, drafted: Callable[[], Memory]) -> Change:
        """Return the change without the hunks `left_out`; `memory` is what it was shown in, and
        `drafted` returns the memory after the proposals before it. Raises ChangeRefused.
        """
        change = self.waiting.change
        act = change.act
        if isinstance(act, Create):
            return replace(change, act=replace(act, entry="")) if left_out else change
        if self.needs_others or (not left_out and isinstance(act, _FINDS_ITS_PLACE)):
            return change
        base, now = (_text(it, _path(act)) for it in (memory, drafted()))
        if not left_out and base == now:
            return change
        joins = isinstance(act, Insert) or memory.layout.role(_path(act)) is FileRole.INDEX
        text = merge(base, self._left_of(0, left_out), now, additions_join=joins)
        if text is None:
            raise ChangeRefused("Another accepted proposal changes the same lines.")
        whole = replace(act, text=text) if isinstance(act, Merge) else Rewrite(_path(act), text)
        return replace(change, act=whole)


@dataclass(frozen=True, slots=True)
class Waits:
    """The pending proposals of a memory."""

    memory: Memory
    shown: tuple[Shown, ...]
    runs: tuple[LedgerRun, ...]
    """The runs that proposed them, newest first, as far as the ledger has them."""
    applied: frozenset[str] = frozenset()
    """Ids of the proposals that were applied, by any process."""


def what_waits(notebook: Notebook) -> Waits:
    """Return the pending proposals with their edits. Raises MemoryNotFound, MemoryUnreadable and
    StateUnusable.
    """
    memory = notebook.read()
    state = notebook.surroundings.state
    waits = pending_proposals(notebook, memory)
    ids = {it.run for it in waits}
    runs = tuple(it for it in runs_of(state, memory.root)[0] if it.id in ids)
    return Waits(
        memory, show(notebook, memory, waits), runs, recall_curation(state, memory.root).applied
    )


def show(notebook: Notebook, memory: Memory, waits: Sequence[Waiting]) -> tuple[Shown, ...]:
    """Return each proposal with its edits of `memory`, by itself where possible."""
    marked = protected_paths(notebook)
    return tuple(_shown(memory, waits, number, marked) for number in range(len(waits)))


def _shown(memory: Memory, waits: Sequence[Waiting], number: int, marked: Collection[str]) -> Shown:
    it = waits[number]
    if why := why_changed(memory, it):
        return Shown(it, why_not=why)
    try:
        return Shown(it, _edits(memory, it, marked))
    except ChangeRefused as refused:
        try:
            edits = _edits(_behind(memory, waits[:number], marked), it, marked)
        except ChangeRefused:
            return Shown(it, why_not=one_line(refused.message))
        return Shown(it, edits, needs_others=True)


def _behind(memory: Memory, waits: Iterable[Waiting], marked: Collection[str]) -> Memory:
    """Return the memory after those of the proposals that apply."""
    for it in waits:
        try:
            memory = with_edits(memory, _edits(memory, it, marked))
        except ChangeRefused:
            continue
    return memory


def _edits(memory: Memory, it: Waiting, marked: Collection[str]) -> tuple[Edit, ...]:
    edits = compose(memory, [it.change], marked=marked).edits
    if not edits:
        raise ChangeRefused("No changes: the memory already has this.")
    return tuple(sorted(edits, key=lambda edit: edit.path != it.path))


# Writing


def plan(
    notebook: Notebook,
    memory: Memory,
    shown_in: Memory,
    chosen: Sequence[Shown],
    left_out: Mapping[str, Hunks],
) -> Plan:
    """Return the plan for the `chosen` proposals without the hunks `left_out`, given by proposal
    id. They were shown in the memory `shown_in`; those whose notes differ in `memory` are skipped.
    """
    by_id = {it.waiting.id: it for it in chosen}

    def wanted(it: Waiting) -> str:
        return by_id[it.id].why_not or _why_other(by_id[it.id], shown_in, memory)

    def change_of(it: Waiting, drafted: Callable[[], Memory]) -> Change:
        return by_id[it.id].change(left_out.get(it.id, ()), memory, drafted)

    return plan_of(notebook, memory, [it.waiting for it in chosen], wanted, change_of)


def _why_other(shown: Shown, shown_in: Memory, memory: Memory) -> str:
    """Return why a proposal is not as shown, "" where it is; indexes may have grown meanwhile."""
    for edit in shown.edits:
        if memory.layout.role(edit.path) is FileRole.INDEX:
            continue
        before, now = (it.by_path.get(edit.path) for it in (shown_in, memory))
        if (before and before.raw) != (now and now.raw):
            return f"{one_line(edit.path)} changed after it was shown"
    return ""


# What is pending


def put_in_place(notebook: Notebook, old: Waiting, new: Waiting) -> None:
    """Replace a pending proposal by the one that the user edited. Raises StateUnusable."""
    # read again: another command may have saved proposals meanwhile
    kept = recall_curation(notebook.surroundings.state, notebook.place.root)
    proposals = tuple(new if it.id == old.id else it for it in kept.proposals)
    keep(notebook, replace(kept, proposals=proposals, dropped=(*kept.dropped, old.id)))


# Editing


def text_to_edit(shown: Shown) -> str:
    """Return the text of a proposal that can be edited: the note as it would be, or the index line.
    Raises ChangeRefused where there is none.
    """
    act = shown.waiting.change.act
    if shown.why_not or shown.needs_others:
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
            return text_of(shown.edits[0].after)


def _added(edit: Edit) -> str:
    before = text_of(edit.before).split("\n")
    new = [line for line in text_of(edit.after).split("\n") if line not in before]
    return f"{new[0]}\n" if new else "\n"


def edited(notebook: Notebook, memory: Memory, it: Waiting, text: str) -> Waiting:
    """Return a proposal with the `text` that the user edited, validated again. Raises
    ChangeRefused.
    """
    texts: dict[str, str] = {}
    for quoted in it.evidence:
        if quoted.found:
            texts[quoted.source] = f"{texts.get(quoted.source, '')}\n{quoted.quote}"
    desk = ValidationContext(memory, texts, it.change.author, protected_paths(notebook))
    wish = ProposedChange(_with_text(it.change.act, text), it.change.reason, it.evidence)
    checked = check(desk, [wish])
    if not checked.proposals:
        raise ChangeRefused(checked.rejected[0].why)
    return replace(waiting(checked.proposals[0], memory, it.run, it.at), is_edited=True)


def _with_text(act: Act, text: str) -> Act:
    match act:
        case Create() | Merge():
            return replace(act, text=text)
        case EditLine():
            return replace(act, new=text.rstrip("\r\n"))
        case AddEntry():
            return replace(act, text=text.rstrip("\r\n"))
        case _:
            return Rewrite(_path(act), text)


def _path(act: Act) -> str:
    return str(getattr(act, "path", ""))


def _text(memory: Memory, path: str) -> str:
    note = memory.by_path.get(path)
    return note.text if note is not None else ""


def describe_curation(
    curation: Curation, memory: Memory, taken: Taken | None, estimate: Estimate | None = None
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
        skipped = [{"source": it.source, "why": it.told} for it in curation.skipped]
        document = {**document, "skipped": skipped}
    if taken is None:
        return document
    return {**document, "applied": len(taken.applied), "left": describe_left(taken, memory)}


def describe_pending(proposals: Iterable[Waiting], memory: Memory) -> dict[str, Any]:
    """Return what `pending --json` prints of proposals on `memory`."""
    return {"changes": [describe(mask_proposal(it, memory)) for it in proposals]}


def describe_left(taken: Taken, memory: Memory) -> list[dict[str, str]]:
    """Return the proposals that were not applied, each with the reason."""
    return [{"id": it.id, "why": mask_text(why, it, memory)} for it, why in taken.left]


def mask_proposal(it: Waiting, memory: Memory) -> Waiting:
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


def mask_text(text: str, it: Waiting, memory: Memory) -> str:
    """Return a text about a proposal on `memory` with the secrets of its notes masked."""
    return mask_excerpt(text, collect_secrets(_texts_of(it, memory)))


def mask_rejected(it: Rejected) -> Rejected:
    """Return a rejected change for output, with secrets masked."""
    return replace(it, change=mask(it.change), why=mask(it.why))


def _texts_of(it: Waiting, memory: Memory) -> Iterator[str]:
    """Yield all texts that a proposal is about: their secrets are masked in parts of them."""
    act = it.change.act
    values = [str(getattr(act, each.name)) for each in fields(act)]
    paths = {*it.made_against, *values, *(index.path for index in memory.indexes)}
    yield from (memory.by_path[path].text for path in sorted(paths & memory.by_path.keys()))
    yield from values
    lines = it.diff.split("\n")
    for sign in "-+":
        yield "\n".join(line[1:] for line in lines if line[:1] in (sign, " "))
    yield from (quoted.quote for quoted in it.evidence)
