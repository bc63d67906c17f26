"""Curation: a separate session proposes changes to a memory, and the person decides on them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from ricordo.curator.brief import Brief, compose_brief
from ricordo.curator.checking import Desk, check
from ricordo.curator.heard import Heard, heard
from ricordo.curator.overlap import Overlap
from ricordo.curator.placing import Known
from ricordo.curator.proposal import RULES, Proposal, Rejected, curator
from ricordo.curator.rules import wishes
from ricordo.curator.waiting import Waiting, waiting
from ricordo.disk.door import Applied
from ricordo.errors import ChangeRefused, Conflict
from ricordo.memory.change import Change, Insert, Merge, Retire
from ricordo.memory.change_set import ChangeSet, digest
from ricordo.memory.compose import compose
from ricordo.memory.edited import with_edits
from ricordo.memory.layout import Kind
from ricordo.memory.lines import split_lines
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.notebook.change import Merged, apply_or_merge, protected_paths
from ricordo.notebook.open import Look, Notebook
from ricordo.notebook.origin import causes_by_note
from ricordo.notebook.pending import Kept, recall_curation, remember_curation
from ricordo.notebook.recall import open_index, recall
from ricordo.notebook.spoken import Scope, Told, listen

_LOG = "log.md"
"""Where an LLM wiki keeps what was done to it."""


@dataclass(frozen=True, slots=True)
class Curation:
    """What a curation came to; nothing of it is kept or done yet."""

    proposals: tuple[Waiting, ...]
    """Those that were kept from before, as far as they still fit, and the new ones."""
    rejected: tuple[Rejected, ...]
    brief: Brief
    kept: Kept
    """What will be kept, once the person was told."""
    sessions: int
    """In how many something was said since the last time."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """What an engine is given, before it was asked."""

    memory: Memory
    scope: Scope
    told: Told
    said: tuple[Heard, ...]
    """What of it is worth remembering."""
    brief: Brief


@dataclass(frozen=True, slots=True)
class Plan:
    """What comes of the proposals that are to be applied; nothing was applied yet."""

    change_set: ChangeSet
    chosen: tuple[Waiting, ...]
    left: tuple[tuple[Waiting, str], ...]
    """Those that are not among them, each with why."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of proposals that were to be applied."""

    applied: tuple[Waiting, ...]
    left: tuple[tuple[Waiting, str], ...]
    """Those that were not, each with why."""
    kept: Kept


def prepare(
    notebook: Notebook, memory: Memory, scope: Scope, step: Callable[[], None] = lambda: None
) -> Prepared:
    """Return what was said in the `scope`, and the brief on it that an engine is given. Changes
    nothing. Raises StateUnusable.
    """
    surroundings = notebook.surroundings
    kept = recall_curation(surroundings.state, memory.root)
    told = listen(notebook.place, surroundings, scope, kept.cursors, step)
    said = tuple(heard(told.said))
    touched = (scope.note,) if scope.note else _touched(notebook, memory, said, step)
    return Prepared(memory, scope, told, said, compose_brief(memory, touched, told.said))


def propose(
    notebook: Notebook, memory: Memory, scope: Scope, step: Callable[[], None] = lambda: None
) -> Curation:
    """Return what the rules would change in `memory`, by what was said in the `scope`. Changes
    nothing. Raises StateUnusable.
    """
    return propose_prepared(notebook, prepare(notebook, memory, scope, step), step)


def propose_prepared(
    notebook: Notebook, prepared: Prepared, step: Callable[[], None] = lambda: None
) -> Curation:
    """Return what the rules would change by what was `prepared`. Changes nothing. Raises
    StateUnusable.
    """
    surroundings, memory, scope, told = (
        notebook.surroundings,
        prepared.memory,
        prepared.scope,
        prepared.told,
    )
    # read again: what waits may have been decided while the brief was looked at
    kept = recall_curation(surroundings.state, memory.root)
    notebook.gather(memory, lambda _: step())
    look = notebook.judge(memory)
    desk = Desk(
        memory,
        {it.source: it.text for it in told.said},
        curator(RULES),
        protected_paths(notebook),
        kept.retired_since(surroundings.now),
    )
    checked = check(desk, wishes(_known(notebook, look, step), prepared.said, look.findings))
    fresh = [waiting(it, memory) for it in checked.proposals if _is_about(scope.note, it)]
    waits = _together(memory, kept, fresh)
    moving = {} if scope.is_named else {**kept.moving, **told.cursors}
    new = replace(kept, waiting=waits, moving=moving)
    return Curation(waits, checked.rejected, prepared.brief, new, told.sessions)


def _is_about(note: str, it: Proposal) -> bool:
    """Whether a proposal is about the note that was asked for; "" asks for all."""
    return not note or note in (
        *(edit.path for edit in it.edits),
        getattr(it.change.act, "note", ""),
    )


def _together(memory: Memory, kept: Kept, fresh: Iterable[Waiting]) -> tuple[Waiting, ...]:
    """Return what waits and still fits, and what is new; nothing that was dropped before."""
    old = [it for it in kept.waiting if not why_changed(memory, it)]
    found = {it.id: it for it in (*old, *fresh) if it.id not in kept.dropped}
    return tuple(found.values())


def _known(notebook: Notebook, look: Look, step: Callable[[], None]) -> Known:
    surroundings, memory = notebook.surroundings, look.memory
    index = open_index(notebook.place, surroundings)

    def speaks_of(text: str) -> Sequence[Note]:
        step()
        return [it.note for it in recall(index, memory, text, surroundings)]

    causes: dict[str, list[str]] = {}
    found = causes_by_note(surroundings, memory.root, notebook.renamed(memory))
    for note, of_note in found.items():
        for cause in of_note:
            for turn in cause.turns:
                if turn.is_cause and turn.key:
                    causes.setdefault(turn.key, []).append(note)
    pairs = look.evidence.pairs
    return Known(memory, speaks_of, Overlap(memory), pairs, causes, _instructions(notebook))


def _instructions(notebook: Notebook) -> Callable[[str], bool]:
    """Return what says of a text that the project's own instructions say it."""
    project = notebook.surroundings.project or notebook.place.project
    if not project or not os.path.isdir(project):
        return lambda _: False
    from ricordo.disk.project_tree import list_project
    from ricordo.health.probes.instructions import Instructions, says

    lines = Instructions.of(list_project(project, lambda: None))
    return lambda text: says(text, lines)


def _touched(
    notebook: Notebook, memory: Memory, said: Iterable[Heard], step: Callable[[], None]
) -> tuple[str, ...]:
    """Return the notes that what was said bears on."""
    index = open_index(notebook.place, notebook.surroundings)
    found: set[str] = set()
    for each in said:
        step()
        bearing = recall(index, memory, each.statement, notebook.surroundings)
        found.update(it.note.path for it in bearing)
    return tuple(sorted(found))


def keep(notebook: Notebook, kept: Kept) -> None:
    """Keep the state of curation. Raises StateUnusable."""
    remember_curation(notebook.surroundings.state, notebook.place.root, kept)


def take(
    notebook: Notebook,
    memory: Memory,
    kept: Kept,
    wanted: Callable[[Waiting], str],
    *,
    by_hand: bool,
) -> Taken:
    """Apply what waits, as one change set: each proposal of which `wanted` says no reason against
    it, and whose notes are as they were shown. Keeps what was done, and what waits on.

    Raises Conflict where somebody writes meanwhile, ChangeRefused, WriteFailed, StateUnusable and
    Busy; nothing was applied then.
    """
    plan = plan_of(notebook, memory, kept.waiting, wanted)
    if plan.chosen:
        outcome = apply_or_merge(notebook, plan.change_set, by_hand=by_hand)
        if isinstance(outcome, Merged):
            raise Conflict(outcome.told)
        if not isinstance(outcome, Applied):
            raise outcome.error()
    return settle(notebook, kept, plan)


def plan_of(
    notebook: Notebook,
    memory: Memory,
    waits: Iterable[Waiting],
    wanted: Callable[[Waiting], str],
    change_of: Callable[[Waiting, Memory], Change] = lambda it, _: it.change,
) -> Plan:
    """Return what comes of those of the proposals that `wait` of which `wanted` says no reason
    against it, and which still fit, each seeing the ones before it. `change_of` gives the change
    that is to be made for one, on the memory as those before it would leave it.
    """
    chosen: list[Waiting] = []
    left: list[tuple[Waiting, str]] = []
    changes: list[Change] = []
    marked = protected_paths(notebook)
    drafted = memory
    for it in waits:
        why = wanted(it) or why_changed(memory, it)
        if not why:
            try:
                change = change_of(it, drafted)
                drafted = with_edits(drafted, compose(drafted, [change], marked=marked).edits)
            except ChangeRefused as refused:
                why = refused.message
        if why:
            left.append((it, why))
        else:
            chosen.append(it)
            changes.append(change)
    changes += _log_line(notebook, memory, chosen)
    change_set = compose(memory, changes, marked=marked)
    return Plan(change_set, tuple(chosen), tuple(left))


def settle(notebook: Notebook, kept: Kept, plan: Plan) -> Taken:
    """Keep that what was planned was applied; what was not waits on. Raises StateUnusable."""
    at = notebook.surroundings.now.isoformat()
    gone = sum(isinstance(it.change.act, Retire | Merge) for it in plan.chosen)
    done = {it.id for it in plan.chosen}
    now = replace(
        kept,
        waiting=tuple(it for it in kept.waiting if it.id not in done),
        retired=(*kept.retired, *([at] * gone)),
    ).settled()
    keep(notebook, now)
    return Taken(plan.chosen, plan.left, now)


def drop(notebook: Notebook, memory: Memory) -> int:
    """Drop all that waits; return how many proposals there were. Raises StateUnusable."""
    kept = recall_curation(notebook.surroundings.state, memory.root)
    ids = tuple(it.id for it in kept.waiting)
    keep(notebook, replace(kept, waiting=(), dropped=(*kept.dropped, *ids)).settled())
    return len(ids)


def why_changed(memory: Memory, it: Waiting) -> str:
    """Return why a proposal is no longer what was shown; "" where it is."""
    for path, sha in it.made_against.items():
        file = memory.by_path.get(path)
        if (digest(file.raw) if file is not None else None) != sha:
            return f"{path} is not what it was when this was proposed"
    return ""


def _log_line(notebook: Notebook, memory: Memory, chosen: Sequence[Waiting]) -> list[Change]:
    """Return the change that tells of a curation in a wiki's log, where it keeps one."""
    logs = [file for file in memory.files if file.path.rpartition("/")[2] == _LOG]
    if not chosen or memory.layout.kind is not Kind.WIKI or not logs:
        return []
    log = min(logs, key=lambda it: it.path.count("/"))
    day = notebook.surroundings.now.date().isoformat()
    told = ", ".join(f"{it.op} {it.path}" for it in chosen)
    lines = split_lines(log.text)
    text = f"\n## [{day}] curate | {len(chosen)} changes\n\n{told}\n"
    return [Change(Insert(log.path, len(lines), text), "what was curated", chosen[0].change.author)]
