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
from ricordo.curator.proposal import RULES, Rejected, curator
from ricordo.curator.rules import wishes
from ricordo.curator.waiting import Waiting, waiting
from ricordo.disk.door import Applied
from ricordo.errors import ChangeRefused, Conflict
from ricordo.memory.change import Change, Insert, Merge, Retire
from ricordo.memory.change_set import digest
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
from ricordo.notebook.spoken import Scope, listen

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
class Taken:
    """What became of proposals that were to be applied."""

    applied: tuple[Waiting, ...]
    left: tuple[tuple[Waiting, str], ...]
    """Those that were not, each with why."""
    kept: Kept


def propose(
    notebook: Notebook, memory: Memory, scope: Scope, step: Callable[[], None] = lambda: None
) -> Curation:
    """Return what the rules would change in `memory`, by what was said in the `scope`. Changes
    nothing. Raises StateUnusable.
    """
    surroundings = notebook.surroundings
    kept = recall_curation(surroundings.state, memory.root)
    told = listen(notebook.place, surroundings, scope, kept.cursors, step)
    notebook.gather(memory, lambda _: step())
    look = notebook.judge(memory)
    said = tuple(heard(told.said))
    desk = Desk(
        memory,
        {it.source: it.text for it in told.said},
        curator(RULES),
        protected_paths(notebook),
        kept.retired_since(surroundings.now),
    )
    checked = check(desk, wishes(_known(notebook, look), said, look.findings))
    fresh = [waiting(it, memory) for it in checked.proposals]
    waits = _together(memory, kept, fresh)
    moving = {} if scope.is_named else {**kept.moving, **told.cursors}
    brief = compose_brief(memory, _touched(notebook, memory, said), told.said)
    new = replace(kept, waiting=waits, moving=moving)
    return Curation(waits, checked.rejected, brief, new, told.sessions)


def _together(memory: Memory, kept: Kept, fresh: Iterable[Waiting]) -> tuple[Waiting, ...]:
    """Return what waits and still fits, and what is new; nothing that was dropped before."""
    old = [it for it in kept.waiting if not _changed(memory, it)]
    found = {it.id: it for it in (*old, *fresh) if it.id not in kept.dropped}
    return tuple(found.values())


def _known(notebook: Notebook, look: Look) -> Known:
    surroundings, memory = notebook.surroundings, look.memory
    index = open_index(notebook.place, surroundings)

    def speaks_of(text: str) -> Sequence[Note]:
        return [it.note for it in recall(index, memory, text, surroundings)]

    causes: dict[str, list[str]] = {}
    found = causes_by_note(notebook.activity, memory.root, notebook.renamed(memory))
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


def _touched(notebook: Notebook, memory: Memory, said: Iterable[Heard]) -> tuple[str, ...]:
    """Return the notes that what was said bears on."""
    index = open_index(notebook.place, notebook.surroundings)
    found = {
        it.note.path: None
        for each in said
        for it in recall(index, memory, each.statement, notebook.surroundings)
    }
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
    chosen, left = _choose(notebook, memory, kept.waiting, wanted)
    if chosen:
        changes = [*(it.change for it in chosen), *_log_line(notebook, memory, chosen)]
        change_set = compose(memory, changes, marked=protected_paths(notebook))
        outcome = apply_or_merge(notebook, change_set, by_hand=by_hand)
        if isinstance(outcome, Merged):
            raise Conflict(outcome.told)
        if not isinstance(outcome, Applied):
            raise outcome.error()
    at = notebook.surroundings.now.isoformat()
    gone = sum(isinstance(it.change.act, Retire | Merge) for it in chosen)
    now = replace(
        kept,
        waiting=tuple(it for it, _ in left),
        retired=(*kept.retired, *([at] * gone)),
    ).settled()
    keep(notebook, now)
    return Taken(tuple(chosen), tuple(left), now)


def drop(notebook: Notebook, memory: Memory) -> int:
    """Drop all that waits; return how many proposals there were. Raises StateUnusable."""
    kept = recall_curation(notebook.surroundings.state, memory.root)
    ids = tuple(it.id for it in kept.waiting)
    keep(notebook, replace(kept, waiting=(), dropped=(*kept.dropped, *ids)).settled())
    return len(ids)


def _choose(
    notebook: Notebook,
    memory: Memory,
    waits: Iterable[Waiting],
    wanted: Callable[[Waiting], str],
) -> tuple[list[Waiting], list[tuple[Waiting, str]]]:
    """Return the proposals that go together, and the others with why they do not."""
    chosen: list[Waiting] = []
    left: list[tuple[Waiting, str]] = []
    marked = protected_paths(notebook)
    drafted = memory
    for it in waits:
        why = wanted(it) or _changed(memory, it)
        if not why:
            try:
                composed = compose(drafted, [it.change], marked=marked)
                drafted = with_edits(drafted, composed.edits)
            except ChangeRefused as refused:
                why = refused.message
        if why:
            left.append((it, why))
        else:
            chosen.append(it)
    return chosen, left


def _changed(memory: Memory, it: Waiting) -> str:
    """Return why a proposal is no longer what was shown; "" where it is."""
    for path, sha in it.made_against.items():
        file = memory.by_path.get(path)
        if (digest(file.raw) if file is not None else None) != sha:
            return f"{path} is not what it was when this was proposed"
    return ""


def _log_line(notebook: Notebook, memory: Memory, chosen: Sequence[Waiting]) -> list[Change]:
    """Return the change that tells of a curation in a wiki's log, where it keeps one."""
    logs = [file for file in memory.files if file.path.rpartition("/")[2] == _LOG]
    if memory.layout.kind is not Kind.WIKI or not logs:
        return []
    log = min(logs, key=lambda it: it.path.count("/"))
    day = notebook.surroundings.now.date().isoformat()
    told = ", ".join(f"{it.op} {it.path}" for it in chosen)
    lines = split_lines(log.text)
    text = f"\n## [{day}] curate | {len(chosen)} changes\n\n{told}\n"
    return [Change(Insert(log.path, len(lines), text), "what was curated", chosen[0].change.author)]
