"""What the screens of handoffs ask of the services, in threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from ricordo.curation.engine import CurationProgress
from ricordo.errors import ChangeRefused, HandoffUnreadable, MemoryNotFound, StateUnusable
from ricordo.llm.prices import load_prices
from ricordo.services.curation.preparation import scope_of
from ricordo.services.engines.choice import (
    allow_program,
    engine_chosen,
    engines_to_choose,
    outside_of,
    remember_engine,
)
from ricordo.services.engines.preview import answered
from ricordo.services.handoff.engine_draft import by_engine, look_before_draft
from ricordo.services.handoff.handoff import (
    RULES,
    Composed,
    Composer,
    Ground,
    HandoffOptions,
    by_rules,
    draft,
    ground,
    project_of,
    sessions_to_choose,
)
from ricordo.services.handoff.output import (
    chosen,
    finished,
    pickup_change,
    pickup_of,
    proved_of,
    start_of,
    statements_of,
    writing,
)
from ricordo.services.handoff.resume import handoffs_written, resume_handoff
from ricordo.services.workspace.notebook import Notebook
from ricordo.tui.handoff.fact_rows import Listed, listed
from ricordo.tui.handoff.values import Ask, Earlier, HandoffFacts, HandoffStatus, Made

if TYPE_CHECKING:
    from ricordo.agents.transcripts.session import Session
    from ricordo.curation.engine import Step
    from ricordo.handoff.document import HandoffStatement
    from ricordo.handoff.facts import Facts
    from ricordo.llm.prices import Price
    from ricordo.llm.program import Program
    from ricordo.memory.change import ChangeSet
    from ricordo.services.handoff.engine_draft import BeforeDraft
    from ricordo.settings.settings import EngineSettings


class Drafter:
    """Hands off by a notebook. All raise RicordoError, and what `step` raises."""

    def __init__(self, notebook: Notebook) -> None:
        """Nothing is read yet."""
        # of its own: the other one is used in the follower's thread
        self._notebook = notebook.another()
        self._known: Mapping[str, Session] = {}
        """The sessions that can be chosen, by id."""
        self._last = ""
        """The text that was planned to be written last."""

    def sessions(self, step: Step) -> Sequence[Session]:
        """Return the sessions that bear on the memory, the latest first."""
        found = sessions_to_choose(self._notebook, _telling(step, "looking for sessions"))
        self._known = {it.id: it for it in found}
        return found

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

    def look_at(self, it: Earlier, step: Step) -> HandoffStatus:
        """Return how true a handoff still is."""
        around, root = self._notebook.surroundings, self._notebook.place.root
        try:
            found = resume_handoff(around, it.path, root, _telling(step, f"probing {it.name}"))
            return HandoffStatus(found)
        except HandoffUnreadable as error:
            return HandoffStatus(None, error.message)

    def gather(self, sessions: Sequence[Session], ask: Ask, step: Step) -> HandoffFacts:
        """Return what is known of the sessions, and the statements made of it."""
        chosen = dict.fromkeys(found for it in sessions for found in self._with_those_before(it))
        named = tuple(scope_of(it).session for it in chosen)
        wish = replace(_wish(ask), sessions=named)
        on = ground(self._notebook, wish, _telling(step, "gathering what happened"))
        return self._drafted(on, ask, step, listed(on.facts))

    def _with_those_before(self, session: Session) -> list[Session]:
        """Return a session with those that it went on with."""
        found = [session]
        while (before := self._known.get(found[-1].continues)) is not None and before not in found:
            found.append(before)
        return found

    def again(self, gathered: HandoffFacts, ask: Ask, step: Step) -> HandoffFacts:
        """Return statements for another wish, of the same facts, with the proofs of now."""
        on = Ground(gathered.facts, gathered.draft.destination)
        is_same = gathered.engine is not None and gathered.engine == ask.engine
        known = gathered.composed if is_same else None
        return self._drafted(on, ask, step, gathered.listed, known)

    def _drafted(
        self, on: Ground, ask: Ask, step: Step, rows: Listed, known: Composed | None = None
    ) -> HandoffFacts:
        """Draft; what is `known` already no engine is asked for again."""
        costs: list[str] = []
        compose = by_rules if ask.engine is None else self._by_engine(ask.engine, step, costs)
        made_of: list[Composed] = []

        def composer(
            notebook: Notebook, facts: Facts, statements: tuple[HandoffStatement, ...]
        ) -> Composed:
            made_of.append(known or compose(notebook, facts, statements))
            return made_of[0]

        telling = _telling(step, "looking what can be proved")
        made = draft(self._notebook, _wish(ask), telling, composer, on)
        step(CurationProgress("keeping secrets back"))
        engine = ask.engine if made.handoff.head.engine != RULES else None
        return HandoffFacts(
            made.facts, statements_of(made), made, rows, made_of[0], engine, " ".join(costs)
        )

    def _by_engine(self, own: EngineSettings, step: Step, costs: list[str]) -> Composer:
        outside = outside_of(self._notebook.surroundings, own)
        if outside is None:
            return by_rules
        return by_engine(outside, step, after=lambda run: costs.append(f"{answered(run)}."))

    # Who drafts

    def engines(self) -> tuple[Sequence[EngineSettings], EngineSettings]:
        """Return who could draft, and who was chosen last."""
        return engines_to_choose(self._notebook), engine_chosen(self._notebook)

    def models(self) -> Mapping[str, Price]:
        """Return the models whose price is known, by their names."""
        return load_prices(self._notebook.surroundings.config)[0].by_model

    def look(self, facts: Facts, own: EngineSettings, step: Step) -> BeforeDraft:
        """Return what is known before an engine drafts; that it was chosen is remembered."""
        step(CurationProgress("looking what would leave"))
        with suppress(StateUnusable):  # it can be chosen again
            remember_engine(self._notebook, own)
        return look_before_draft(self._notebook, own, facts)

    def let_run(self, program: Program) -> None:
        """Keep that a program may be run by its line."""
        allow_program(self._notebook.surroundings, program)

    def prove(self, gathered: HandoffFacts, statement: HandoffStatement) -> HandoffStatement:
        """Return a statement in the person's own words with the proof that it has."""
        return proved_of(gathered.draft, statement)

    def make(self, gathered: HandoffFacts, wanted: Sequence[HandoffStatement]) -> Made:
        """Return the handoff of what is wanted, as it would be written."""
        of_wanted = chosen(gathered.draft, [gathered.statements.get(it, it) for it in wanted])
        return Made(of_wanted, finished(of_wanted), start_of(self._notebook, of_wanted))

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
        from ricordo.services.handoff.output import pipe

        folder = self._project or self._notebook.place.root
        environ = self._notebook.surroundings.environ
        return pipe(words, text, environ, folder, _telling(step, "running"))


def _wish(ask: Ask) -> HandoffOptions:
    return HandoffOptions(ask.target, ask.budget, with_messages=ask.with_messages)


def _telling(step: Step, phase: str) -> Callable[[], None]:
    return lambda: step(CurationProgress(phase))


def _name(path: str, project: str) -> str:
    inside = os.path.relpath(path, project) if project else ".."
    return path if inside.startswith("..") else inside
