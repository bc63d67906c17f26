"""What the screens of handing off have done by the notebook: in threads, one call at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ricordo.curator.engine import Progress
from ricordo.errors import ChangeRefused, HandoffUnreadable, MemoryNotFound
from ricordo.notebook.drafted import chosen, probed_again, proved_of, statements_of, writing
from ricordo.notebook.handing_off import (
    Wish,
    draft,
    finished,
    pickup_change,
    pickup_of,
    project_of,
    start_of,
)
from ricordo.notebook.handoffs_written import handoffs_written
from ricordo.notebook.recent import recent_sessions, scope_of
from ricordo.notebook.resuming import resume_handoff
from ricordo.tui.handoffs import Ask, Earlier, Gathered, Made, Standing

if TYPE_CHECKING:
    from ricordo.activity.session import Session
    from ricordo.curator.engine import Step
    from ricordo.handoff.statement import Statement
    from ricordo.memory.change_set import ChangeSet
    from ricordo.notebook.open import Notebook


class NotebookDrafter:
    """Hands off by a notebook (`tui.handoffs.Drafter`)."""

    def __init__(self, notebook: Notebook) -> None:
        """Nothing is read yet."""
        # of its own: the other one is used in the follower's thread
        self._notebook = notebook.another()
        self._last = ""
        """The text that was planned to be written last."""

    def sessions(self, step: Step) -> Sequence[Session]:
        """Return the sessions that bear on the memory, the latest first."""
        step(Progress("looking for sessions"))
        return recent_sessions(self._notebook)

    def earlier(self) -> Sequence[Earlier]:
        """Return what may be handoffs that were written before."""
        project = self._project
        return [Earlier(path, _name(path, project)) for path in handoffs_written(self._notebook)]

    @property
    def _project(self) -> str:
        """The project of the memory; "" where it is not there."""
        try:
            return project_of(self._notebook)
        except MemoryNotFound:
            return ""

    def look_at(self, it: Earlier, step: Step) -> Standing:
        """Return how true a handoff still is."""
        around, root = self._notebook.surroundings, self._notebook.place.root
        try:
            found = resume_handoff(around, it.path, root, _telling(step, f"probing {it.name}"))
            return Standing(found)
        except HandoffUnreadable as error:
            return Standing(None, error.message)

    def gather(self, sessions: Sequence[Session], ask: Ask, step: Step) -> Gathered:
        """Return what is known of the sessions, and the statements made of it."""
        oldest_first = sorted(sessions, key=lambda it: it.ended)
        named = tuple(scope_of(it).session for it in oldest_first)
        wish = Wish(ask.target, ask.budget, named, with_messages=ask.with_messages)
        made = draft(self._notebook, wish, _telling(step, "gathering what happened"))
        step(Progress("keeping secrets back"))
        return Gathered(made.facts, statements_of(made), made)

    def probe(self, gathered: Gathered, step: Step) -> Gathered:
        """Return the same statements with the proofs that they have now."""
        now, telling = self._notebook.surroundings.now, _telling(step, "probing again")
        draft = probed_again(gathered.draft, now, telling)
        return Gathered(gathered.facts, statements_of(draft), draft)

    def prove(self, gathered: Gathered, statement: Statement) -> Statement:
        """Return a statement in the person's own words with the proof that it has."""
        return proved_of(gathered.draft, statement)

    def make(self, gathered: Gathered, wanted: Sequence[Statement], ask: Ask) -> Made:
        """Return the handoff of what is wanted, as it would be written."""
        draft = chosen(gathered.draft, wanted, ask.target, ask.budget)
        done = finished(draft)
        start = start_of(self._notebook, draft)
        return Made(draft, done, start)

    def plan(self, made: Made) -> ChangeSet:
        """Return what writing it comes to."""
        change_set = writing(self._notebook, made.draft, made.done, self._last)
        self._last = made.done.text
        return change_set

    def pick_up(self, made: Made) -> ChangeSet:
        """Return what makes the next agent read it by itself: a change of its instructions."""
        wanted = pickup_of(self._notebook, made.draft)
        if wanted is None:
            raise ChangeRefused("No agent is chosen whose instructions could name it; t chooses.")
        return pickup_change(self._notebook, self._notebook.read(), wanted)

    def run(self, words: Sequence[str], text: str, step: Step) -> str:
        """Return what a command of the person's answers that is given the text."""
        from ricordo.notebook.piping import pipe

        folder = self._project or self._notebook.place.root
        environ = self._notebook.surroundings.environ
        return pipe(words, text, environ, folder, _telling(step, "running"))


def _telling(step: Step, phase: str) -> Callable[[], None]:
    return lambda: step(Progress(phase))


def _name(path: str, project: str) -> str:
    inside = os.path.relpath(path, project) if project else ".."
    return path if inside.startswith("..") else inside
