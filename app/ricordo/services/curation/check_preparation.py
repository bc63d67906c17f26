"""Prepare a check of notes: choose the notes that are due, and compose the brief with what is known
of the project. No engine runs yet.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate
from typing import NamedTuple

from ricordo.curation.brief import Brief, add_facts, compose_brief
from ricordo.curation.engine import CurationProgress, Step
from ricordo.curation.note_check import NoteCheck, divide_budget
from ricordo.curation.pending import PendingProposal
from ricordo.curation.placement import SharedStems
from ricordo.curation.project_facts import SOURCE, ProjectFact, ProjectReader
from ricordo.curation.related_lines import RelatedLine, find_related_lines
from ricordo.curation.user_decisions import DecisionSummary
from ricordo.errors import WrongUsage
from ricordo.llm.question import estimate_tokens
from ricordo.memory.change import compute_digest
from ricordo.memory.layout import FileRole
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.services.curation.pending import load_curation_state
from ricordo.services.curation.preparation import (
    COMPOSING,
    CurationScope,
    NewActivity,
    PreparedCuration,
    explain_rate_limit,
)
from ricordo.services.curation.user_decisions import load_user_decisions, parse_moment
from ricordo.services.engines.redaction import begin_redaction
from ricordo.services.workspace.notebook import Notebook
from ricordo.text import clip, make_one_line

_COMPOSING = CurationProgress(COMPOSING)
INDEX_NAME = "index"
"""The name that a check gives to the index."""
_OF_NOTES, _OF_RELATED, _OF_SUMMARY = 0.5, 0.2, 0.15
"""The share of the brief of a check that notes take in full, lines of other notes that are near to
theirs, and the summary of the project.
"""
_MOST_RELATED = 40
"""Lines that are near to one note."""
_LONGEST = 60
"""Characters of a passage that a pending proposal replaces."""
_MOST_NAMED = 3


def prepare_check(
    notebook: Notebook, memory: Memory, scope: CurationScope, step: Step, budget: int
) -> PreparedCuration:
    """Return the input of a check of the note in the `scope`, else of as many notes as fit: those
    that were never checked or have changed since, then those whose check is the oldest.
    """
    step(_COMPOSING)
    divided, redaction = divide_budget(budget), begin_redaction(notebook)
    shared = SharedStems(memory)
    choice = _choose_notes(notebook, memory, shared, scope, int(_OF_NOTES * divided.brief))
    brief = compose_brief(
        memory,
        choice.paths,
        (),
        (),
        int((1 - _OF_RELATED) * divided.brief),
        redaction,
        load_user_decisions(notebook, memory),
        _list_pending(notebook, memory),
        is_check=True,
    )
    reader = _open_project(notebook, memory, step)
    shown = {id: memory.by_path[path] for id, path in brief.ids if path in choice.paths}
    facts = _summarize_project(reader, shown, memory, brief) if reader else []
    names = {path: id for id, path in brief.ids}
    room = int(_OF_RELATED * divided.brief)
    related = _find_related(shared, [*shown.values()], names, room, step)
    if memory.index is not None:
        brief = replace(brief, ids=(*brief.ids, (INDEX_NAME, memory.index.path)))
    brief, added = add_facts(brief, facts, int(_OF_SUMMARY * divided.brief), redaction)
    brief, near = add_facts(brief, related, room, redaction)
    check = NoteCheck(reader, divided, (*added, *near))
    prepared = PreparedCuration(memory, scope, NewActivity(), (), brief, redaction, check=check)
    warnings = (explain_rate_limit(notebook), *_explain_gaps(prepared, choice))
    return replace(prepared, warnings=tuple(filter(None, warnings)))


class NoteChoice(NamedTuple):
    """The notes that a check covers."""

    paths: tuple[str, ...]
    due: int
    """How many are to be checked, also those that do not fit."""
    too_large: tuple[str, ...]
    """The paths of notes of which not even one fits."""


def _choose_notes(
    notebook: Notebook, memory: Memory, shared: SharedStems, scope: CurationScope, room: int
) -> NoteChoice:
    """Return the note in the `scope`, else those that are due, the first that fit into `room`
    tokens. Raises WrongUsage where the note in the scope does not exist.
    """
    if scope.note and scope.note not in memory.by_path:
        raise WrongUsage(f"The note {make_one_line(scope.note)} no longer exists.")
    notes = [
        note
        for note in memory.notes
        if note.role is FileRole.NOTE and note.is_readable and scope.note in ("", note.path)
    ]
    sizes = {note: estimate_tokens(note.text) for note in notes}
    due = _find_due(notebook, memory, shared, [note for note in notes if sizes[note] <= room])
    count = bisect_right(list(accumulate(sizes[note] for note in due)), room)
    too_large = tuple(note.path for note in notes if sizes[note] > room)
    return NoteChoice(tuple(note.path for note in due[:count]), len(due), too_large)


def _summarize_project(
    reader: ProjectReader, shown: Mapping[str, Note], memory: Memory, brief: Brief
) -> list[ProjectFact]:
    """Return what is known of the project before anything is looked up, and of the files of the
    notes: those that are `shown` first.
    """
    others = {id: memory.by_path[path] for id, path in brief.ids if id not in shown}
    facts = [
        ProjectFact(reader.tell_day(), f"{SOURCE}days", reader.date_notes(shown)),
        *reader.summarize(),
    ]
    if others:
        days = reader.date_notes(others)
        facts.append(ProjectFact("the files of the other notes", f"{SOURCE}days", days))
    return facts


def _find_related(
    shared: SharedStems, notes: Sequence[Note], names: Mapping[str, str], room: int, step: Step
) -> list[ProjectFact]:
    """Return the lines of other notes that are near to lines of `notes`, as many as fit into `room`
    tokens, the nearest first: a fact for each other note.
    """
    near = find_related_lines(shared, notes, _MOST_RELATED, lambda: step(_COMPOSING))
    count = bisect_right(list(accumulate(estimate_tokens(it.text) for it in near)), room)
    of_note: dict[str, list[RelatedLine]] = defaultdict(list)
    for it in near[:count]:
        of_note[it.path].append(it)
    return [
        ProjectFact(
            f"lines of note {names[path]}",
            path,
            tuple((str(it.number), it.text) for it in sorted(lines, key=lambda it: it.number)),
        )
        for path, lines in of_note.items()
    ]


def _open_project(notebook: Notebook, memory: Memory, step: Step) -> ProjectReader | None:
    """Return what reads the project of a memory; None where it has none, or is all of it."""
    project = notebook.environment.project or notebook.place.project
    if not project or not os.path.isdir(project) or os.path.samefile(project, memory.root):
        return None
    on = partial(step, _COMPOSING)
    return ProjectReader(project, memory.root, notebook.environment.now, on)


def _list_pending(notebook: Notebook, memory: Memory) -> list[DecisionSummary]:
    """Return the pending proposals, so that nothing is proposed twice."""
    now = notebook.environment.now
    pending = load_curation_state(notebook.environment.state, memory.root).pending
    return [
        DecisionSummary("proposed", parse_moment(it.at) or now, _describe_pending(it), it.path)
        for it in pending
    ]


def _describe_pending(it: PendingProposal) -> str:
    """Return a pending proposal in one line: the text that it replaces, and why."""
    old = getattr(it.change.operation, "old", "")
    return make_one_line(
        f"“{clip(old, _LONGEST)}”: {it.change.reason}" if old else it.change.reason
    )


def _find_due(
    notebook: Notebook, memory: Memory, shared: SharedStems, notes: Iterable[Note]
) -> list[Note]:
    """Return those of the `notes` that are to be checked, in order: the ones that were never
    checked or have changed since, by how close they are to the first of them, so that notes on one
    subject are checked together; where there are none, all, the oldest check first.
    """
    checked = load_curation_state(notebook.environment.state, memory.root).checked
    times: dict[Note, str] = {}
    for note in notes:
        last = checked.get(note.path)
        is_same = last is not None and last.digest == compute_digest(note.raw)
        times[note] = last.at if last and is_same else ""
    ordered = sorted(times, key=lambda note: (times[note], note.path))
    due = [note for note in ordered if not times[note]]
    if not due:
        return ordered
    near = shared.list_by_rarity(due[0].text, len(memory.notes))
    ranked = list(dict.fromkeys((due[0], *near)))
    places = {note: place for place, note in enumerate(ranked)}
    return sorted(due, key=lambda note: places.get(note, len(ranked)))


def _explain_gaps(prepared: PreparedCuration, choice: NoteChoice) -> tuple[str, ...]:
    """Return what the check does not cover, as sentences, "" for what it does."""
    checked, too_large = len(prepared.checked_notes), choice.too_large
    large = ", ".join(map(make_one_line, too_large[:_MOST_NAMED]))
    more = f" and {len(too_large) - _MOST_NAMED} more" if len(too_large) > _MOST_NAMED else ""
    return (
        "The memory belongs to no project: notes are only compared with each other."
        if prepared.check and prepared.check.reader is None
        else "",
        f"Too large for a check: {large}{more}. Raise the setting engine.check." if large else "",
        f"{checked} of {choice.due} notes to check fit into one run; the next one continues."
        if checked < choice.due
        else "",
    )
