"""Makes drafts for the handoff screens by the services, in threads."""

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
    """Makes handoffs from a notebook. All methods raise RicordoError, and what `step` raises."""

    def __init__(self, notebook: Notebook) -> None:
        """Read nothing yet."""
        # its own notebook: the other one is used in the follower's thread
        self._notebook = notebook.another()
        self._sessions_by_id: Mapping[str, Session] = {}
        """The sessions that can be chosen, by id."""
        self._last_text = ""
        """The text of the last change set that `plan` returned."""

    def sessions(self, step: Step) -> Sequence[Session]:
        """Return the sessions that are relevant to the memory, latest first."""
        sessions = sessions_to_choose(self._notebook, _report(step, "looking for sessions"))
        self._sessions_by_id = {session.id: session for session in sessions}
        return sessions

    def earlier(self) -> Sequence[Earlier]:
        """Return the files that may be earlier handoffs."""
        project = self._project
        return [Earlier(path, _shorten(path, project)) for path in handoffs_written(self._notebook)]

    @property
    def _project(self) -> str:
        """Return the project directory of the memory; "" if it does not exist."""
        try:
            return project_of(self._notebook)
        except MemoryNotFound:
            return ""

    def look_at(self, earlier: Earlier, step: Step) -> HandoffStatus:
        """Return how much of a handoff is still valid."""
        environment, root = self._notebook.surroundings, self._notebook.place.root
        try:
            report = _report(step, f"checking {earlier.name}")
            return HandoffStatus(resume_handoff(environment, earlier.path, root, report))
        except HandoffUnreadable as error:
            return HandoffStatus(None, error.message)

    def gather(self, sessions: Sequence[Session], ask: Ask, step: Step) -> HandoffFacts:
        """Return the facts of the sessions, and the statements composed from them."""
        chosen = dict.fromkeys(
            each for session in sessions for each in self._find_continued(session)
        )
        ids = tuple(scope_of(session).session for session in chosen)
        request = replace(_options_of(ask), sessions=ids)
        sources = ground(self._notebook, request, _report(step, "reading the sessions"))
        return self._draft_facts(sources, ask, step, listed(sources.facts))

    def _find_continued(self, session: Session) -> list[Session]:
        """Return a session with those that it continues."""
        chain = [session]
        while (
            previous := self._sessions_by_id.get(chain[-1].continues)
        ) is not None and previous not in chain:
            chain.append(previous)
        return chain

    def again(self, gathered: HandoffFacts, ask: Ask, step: Step) -> HandoffFacts:
        """Return statements for other options from the same facts, checked again."""
        sources = Ground(gathered.facts, gathered.draft.destination)
        is_same_engine = gathered.engine is not None and gathered.engine == ask.engine
        known = gathered.composed if is_same_engine else None
        return self._draft_facts(sources, ask, step, gathered.listed, known)

    def _draft_facts(
        self, sources: Ground, ask: Ask, step: Step, rows: Listed, known: Composed | None = None
    ) -> HandoffFacts:
        """Return the draft for some facts; with `known`, no engine is asked again."""
        messages: list[str] = []
        compose = by_rules if ask.engine is None else self._by_engine(ask.engine, step, messages)
        composed: list[Composed] = []

        def composer(
            notebook: Notebook, facts: Facts, statements: tuple[HandoffStatement, ...]
        ) -> Composed:
            composed.append(known or compose(notebook, facts, statements))
            return composed[0]

        report = _report(step, "checking statements")
        drafted = draft(self._notebook, _options_of(ask), report, composer, sources)
        step(CurationProgress("redacting secrets"))
        engine = ask.engine if drafted.handoff.head.engine != RULES else None
        return HandoffFacts(
            drafted.facts,
            statements_of(drafted),
            drafted,
            rows,
            composed[0],
            engine,
            " ".join(messages),
        )

    def _by_engine(self, engine: EngineSettings, step: Step, messages: list[str]) -> Composer:
        outside = outside_of(self._notebook.surroundings, engine)
        if outside is None:
            return by_rules
        return by_engine(outside, step, after=lambda run: messages.append(f"{answered(run)}."))

    # Who drafts

    def engines(self) -> tuple[Sequence[EngineSettings], EngineSettings]:
        """Return the engines to choose from, and the last chosen one."""
        return engines_to_choose(self._notebook), engine_chosen(self._notebook)

    def models(self) -> Mapping[str, Price]:
        """Return the prices of the known models by name."""
        return load_prices(self._notebook.surroundings.config)[0].by_model

    def look(self, facts: Facts, engine: EngineSettings, step: Step) -> BeforeDraft:
        """Return what an engine would be sent and what that may cost; remember the engine as the
        last chosen one.
        """
        step(CurationProgress("preparing the request"))
        with suppress(StateUnusable):  # it can be chosen again
            remember_engine(self._notebook, engine)
        return look_before_draft(self._notebook, engine, facts)

    def let_run(self, program: Program) -> None:
        """Allow a program to be run by its command line."""
        allow_program(self._notebook.surroundings, program)

    def prove(self, gathered: HandoffFacts, statement: HandoffStatement) -> HandoffStatement:
        """Return a statement in the user's own words with its proof."""
        return proved_of(gathered.draft, statement)

    def make(self, gathered: HandoffFacts, wanted: Sequence[HandoffStatement]) -> Made:
        """Return the handoff with the `wanted` statements, as it would be written."""
        kept = chosen(gathered.draft, [gathered.statements.get(each, each) for each in wanted])
        return Made(kept, finished(kept), start_of(self._notebook, kept))

    def plan(self, made: Made) -> ChangeSet:
        """Return the change set that writes a handoff."""
        change_set = writing(self._notebook, made.draft, made.done, self._last_text)
        self._last_text = made.done.text
        return change_set

    def pick_up(self, made: Made) -> ChangeSet:
        """Return the change of the next agent's instructions that makes it read the handoff."""
        pickup = pickup_of(self._notebook, made.draft)
        if pickup is None:
            raise ChangeRefused("No agent chosen: press t to choose whose instructions to change.")
        return pickup_change(self._notebook, self._notebook.read(), pickup)

    def run(self, words: Sequence[str], text: str, step: Step) -> str:
        """Return the output of a command of the user's that reads `text` from standard input."""
        from ricordo.services.handoff.output import pipe

        folder = self._project or self._notebook.place.root
        environ = self._notebook.surroundings.environ
        return pipe(words, text, environ, folder, _report(step, "running"))


def _options_of(options: Ask) -> HandoffOptions:
    return HandoffOptions(options.target, options.budget, with_messages=options.with_messages)


def _report(step: Step, phase: str) -> Callable[[], None]:
    return lambda: step(CurationProgress(phase))


def _shorten(path: str, project: str) -> str:
    inside = os.path.relpath(path, project) if project else ".."
    return path if inside.startswith("..") else inside
