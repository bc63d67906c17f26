"""What a curation is given: what was said, and the brief on it. No engine has run by then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ricordo.curator.brief import BUDGET, Brief, compose_brief
from ricordo.curator.engine import Progress, Step
from ricordo.curator.heard import Heard, Spoken, heard
from ricordo.memory.memory import Memory
from ricordo.model.redaction import Redaction
from ricordo.notebook.open import Notebook
from ricordo.notebook.pending import recall_curation
from ricordo.notebook.recall import open_index, recall
from ricordo.notebook.redacting import begin_redaction
from ricordo.notebook.spoken import Scope, Told, listen
from ricordo.notebook.storm import still_going_on, storm
from ricordo.notebook.usage import gaps
from ricordo.notebook.user_decisions import user_decisions

READING, COMPOSING = "reading transcripts", "composing the brief"
_MOST_ASKED = 20
"""Turns for which the notes that they bear on are looked for, the newest, and as many of those that
are worth remembering: notes in full for more of them would hardly fit into a brief.
"""
_LONGEST_ASKED = 400
"""Characters of a turn by which that is done."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """All that an engine needs to know."""

    memory: Memory
    scope: Scope
    told: Told
    heard: tuple[Heard, ...]
    """What of it is worth remembering by the rules."""
    brief: Brief
    redaction: Redaction
    """What keeps the secrets of the brief back, and brings them home."""
    remarks: tuple[str, ...] = ()
    """What the person should know before it runs."""


def prepare(
    notebook: Notebook,
    memory: Memory,
    scope: Scope,
    step: Step = lambda _: None,
    *,
    budget: int = BUDGET,
    room: int | None = None,
) -> Prepared:
    """Return what a curation of `memory` in the `scope` is given; `budget` is that of the brief,
    and `room` what activity may take of it, both in tokens. What there is no room for waits for
    the next curation. Without `room` all of it is read, though the brief may not show it all.

    Raises WrongUsage where the scope names no transcript, StateUnusable, and what `step` raises.
    """
    surroundings = notebook.surroundings
    cursors = recall_curation(surroundings.state, memory.root).cursors

    def on() -> None:
        step(Progress(READING))

    told = listen(notebook.place, surroundings, scope, cursors, on, room)
    said: list[Heard] = []
    for it in told.said:
        on()
        said += heard((it,))
    missed = [gap.words for gap in gaps(surroundings, memory)]
    step(Progress(COMPOSING))
    asked = () if scope.note else _asked(told.said, said)
    decisions = user_decisions(notebook, memory)
    touched = [scope.note, *decisions.wrong, *_touched(notebook, memory, asked, step)]
    redaction = begin_redaction(notebook)
    brief = compose_brief(memory, touched, told.said, missed, budget, redaction, decisions)
    return Prepared(memory, scope, told, tuple(said), brief, redaction, _remarks(notebook, told))


def _remarks(notebook: Notebook, told: Told) -> tuple[str, ...]:
    more = "There is more activity than one curation takes: the rest waits for the next one."
    found = (storm(notebook), still_going_on(notebook, told.last), more if told.has_more else "")
    return tuple(filter(None, found))


def _asked(said: list[Spoken], worth: Sequence[Heard]) -> Iterator[str]:
    """Yield the texts for which notes are looked for."""
    yield from (it.statement for it in worth[-_MOST_ASKED:])
    yield from (it.text[:_LONGEST_ASKED] for it in said[-_MOST_ASKED:])


def _touched(notebook: Notebook, memory: Memory, texts: Iterable[str], step: Step) -> list[str]:
    """Return the notes that the texts bear on."""
    index = open_index(notebook.place, notebook.surroundings)
    found: dict[str, None] = {}
    for text in texts:
        step(Progress(COMPOSING))
        for it in recall(index, memory, text, notebook.surroundings, for_agents=False):
            found[it.note.path] = None
    return list(found)
