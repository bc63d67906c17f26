"""The engine that is made of rules, and what makes an engine for what was prepared."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from ricordo.curator.engine import Engine, Progress, Step
from ricordo.curator.overlap import Overlap
from ricordo.curator.placing import Known
from ricordo.curator.rules import Rules
from ricordo.curator.user_decisions import UserDecisions
from ricordo.memory.note import Note
from ricordo.notebook.open import Look, Notebook
from ricordo.notebook.origin import causes_by_note
from ricordo.notebook.preparing import Prepared
from ricordo.notebook.recall import open_index, recall
from ricordo.notebook.user_decisions import user_decisions

MakeEngine = Callable[[Notebook, Prepared, Step], Engine]
"""Makes an engine for a curation. Raises what the step raises."""


def rules(notebook: Notebook, prepared: Prepared, step: Step) -> Rules:
    """Return the engine that needs no key and no network."""
    notebook.gather(prepared.memory, lambda doing: step(Progress(doing)))
    look = notebook.judge(prepared.memory)
    decisions = user_decisions(notebook, prepared.memory)
    return Rules(_known(notebook, look, decisions), prepared.heard, look.findings)


def _known(notebook: Notebook, look: Look, decisions: UserDecisions) -> Known:
    surroundings, memory = notebook.surroundings, look.memory
    index = open_index(notebook.place, surroundings)

    def speaks_of(text: str) -> Sequence[Note]:
        return [it.note for it in recall(index, memory, text, surroundings, for_agents=False)]

    causes: dict[str, list[str]] = {}
    found = causes_by_note(notebook.activity, memory.root, notebook.renamed(memory))
    for note, of_note in found.items():
        for cause in of_note:
            for turn in cause.turns:
                if turn.is_cause and turn.key:
                    causes.setdefault(turn.key, []).append(note)
    pairs = tuple(it for it in look.evidence.pairs if not decisions.is_fine(it, memory))
    said = (Overlap(memory), pairs, causes, decisions.confirmed, _instructions(notebook))
    return Known(memory, speaks_of, *said)


def _instructions(notebook: Notebook) -> Callable[[str], bool]:
    """Return what says of a text that the project's own instructions say it."""
    project = notebook.surroundings.project or notebook.place.project
    if not project or not os.path.isdir(project):
        return lambda _: False
    from ricordo.disk.project_tree import list_project
    from ricordo.health.probes.instructions import Instructions, says

    lines = Instructions.of(list_project(project, lambda: None))
    return lambda text: says(text, lines)
