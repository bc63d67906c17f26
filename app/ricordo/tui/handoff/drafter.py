"""Makes drafts for the handoff screens by the services, in threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from ricordo.curation.engine import CurationProgress
from ricordo.errors import ChangeRefused, HandoffUnreadable, MemoryNotFound, StateUnusable
from ricordo.services.curation.preparation import get_scope
from ricordo.services.engines.choice import (
    get_target,
    list_engines,
    load_chosen_engine,
    save_chosen_engine,
)
from ricordo.services.engines.preview import format_answer
from ricordo.services.handoff.engine_draft import compose_by_engine, preview_draft
from ricordo.services.handoff.handoff import (
    RULES_ENGINE,
    ComposedStatements,
    Composer,
    DraftInput,
    HandoffOptions,
    compose_by_rules,
    draft_handoff,
    find_project,
    gather_input,
    list_sessions,
)
from ricordo.services.handoff.output import (
    build_overwrite,
    build_pickup_change,
    find_pickup,
    find_start_command,
    finish_draft,
    list_redacted_statements,
    pipe_to_command,
    prove_statement,
    select_statements,
)
from ricordo.services.handoff.resume import list_handoffs, resume_handoff
from ricordo.services.workspace.notebook import Notebook
from ricordo.tui.handoff.draft import (
    DraftedHandoff,
    DraftOptions,
    EarlierHandoff,
    FinishedHandoff,
    HandoffStatus,
)
from ricordo.tui.handoff.fact_rows import FactTable, build_fact_table

if TYPE_CHECKING:
    from ricordo.agents.transcripts.session import Session
    from ricordo.curation.engine import Step
    from ricordo.handoff.document import HandoffStatement
    from ricordo.handoff.facts import Facts
    from ricordo.memory.change import ChangeSet
    from ricordo.services.handoff.engine_draft import DraftPreview
    from ricordo.settings.settings import EngineSettings


class Drafter:
    """Makes handoffs from a notebook. All methods raise RicordoError, and what `step` raises."""

    def __init__(self, notebook: Notebook) -> None:
        # its own notebook: the other one is used in the follower's thread
        self._notebook = notebook.copy()
        self.environment = notebook.environment
        """Where programs are allowed and prices are read."""
        self._sessions_by_id: Mapping[str, Session] = {}
        """The sessions that can be chosen, by id."""
        self.last_command = ""
        """The last command line that a handoff was piped to."""
        self._last_text = ""
        """The text of the last change set that `plan` returned."""

    def find_sessions(self, step: Step) -> Sequence[Session]:
        """Return the sessions that are relevant to the memory, latest first."""
        sessions = list_sessions(self._notebook, _report(step, "looking for sessions"))
        self._sessions_by_id = {session.id: session for session in sessions}
        return sessions

    def find_earlier(self) -> Sequence[EarlierHandoff]:
        """Return the files that may be earlier handoffs."""
        project = self._project
        return [
            EarlierHandoff(path, _shorten(path, project)) for path in list_handoffs(self._notebook)
        ]

    @property
    def _project(self) -> str:
        """Return the project directory of the memory; "" if it does not exist."""
        try:
            return find_project(self._notebook)
        except MemoryNotFound:
            return ""

    def check_earlier(self, earlier: EarlierHandoff, step: Step) -> HandoffStatus:
        """Return how much of a handoff is still valid."""
        environment, root = self._notebook.environment, self._notebook.place.root
        try:
            report = _report(step, f"checking {earlier.name}")
            return HandoffStatus(resume_handoff(environment, earlier.path, root, report))
        except HandoffUnreadable as error:
            return HandoffStatus(None, error.message)

    def draft_sessions(
        self, sessions: Sequence[Session], options: DraftOptions, step: Step
    ) -> DraftedHandoff:
        """Return the facts of the sessions, and the statements composed from them."""
        chosen = dict.fromkeys(
            each for session in sessions for each in self._find_continued(session)
        )
        ids = tuple(get_scope(session).session for session in chosen)
        request = replace(_options_of(options), sessions=ids)
        sources = gather_input(self._notebook, request, _report(step, "reading the sessions"))
        return self._draft_facts(sources, options, step, build_fact_table(sources.facts))

    def _find_continued(self, session: Session) -> list[Session]:
        """Return a session with those that it continues."""
        chain = [session]
        while (
            previous := self._sessions_by_id.get(chain[-1].continues)
        ) is not None and previous not in chain:
            chain.append(previous)
        return chain

    def draft_again(
        self, drafted: DraftedHandoff, options: DraftOptions, step: Step
    ) -> DraftedHandoff:
        """Return statements for other options from the same facts, checked again."""
        sources = DraftInput(drafted.facts, drafted.draft.destination)
        is_same_engine = drafted.engine is not None and drafted.engine == options.engine
        known = drafted.composed if is_same_engine else None
        return self._draft_facts(sources, options, step, drafted.fact_table, known)

    def _draft_facts(
        self,
        sources: DraftInput,
        ask: DraftOptions,
        step: Step,
        rows: FactTable,
        known: ComposedStatements | None = None,
    ) -> DraftedHandoff:
        """Return the draft for some facts; with `known`, no engine is asked again."""
        messages: list[str] = []
        compose = (
            compose_by_rules if ask.engine is None else self._by_engine(ask.engine, step, messages)
        )
        composed: list[ComposedStatements] = []

        def composer(
            notebook: Notebook, facts: Facts, statements: tuple[HandoffStatement, ...]
        ) -> ComposedStatements:
            composed.append(known or compose(notebook, facts, statements))
            return composed[0]

        report = _report(step, "checking statements")
        drafted = draft_handoff(self._notebook, _options_of(ask), report, composer, sources)
        step(CurationProgress("redacting secrets"))
        engine = ask.engine if drafted.handoff.header.engine != RULES_ENGINE else None
        return DraftedHandoff(
            drafted.facts,
            list_redacted_statements(drafted),
            drafted,
            rows,
            composed[0],
            engine,
            " ".join(messages),
        )

    def _by_engine(self, engine: EngineSettings, step: Step, messages: list[str]) -> Composer:
        target = get_target(self._notebook.environment, engine)
        if target is None:
            return compose_by_rules
        return compose_by_engine(
            target, step, after=lambda run: messages.append(f"{format_answer(run)}.")
        )

    # Who drafts

    def list_engines(self) -> tuple[Sequence[EngineSettings], EngineSettings]:
        """Return the engines to choose from, and the last chosen one."""
        return list_engines(self._notebook), load_chosen_engine(self._notebook)

    def load_preview(self, facts: Facts, engine: EngineSettings, step: Step) -> DraftPreview:
        """Return what an engine would be sent and what that may cost; remember the engine as the
        last chosen one.
        """
        step(CurationProgress("preparing the request"))
        with suppress(StateUnusable):  # it can be chosen again
            save_chosen_engine(self._notebook, engine)
        return preview_draft(self._notebook, engine, facts)

    def prove(self, drafted: DraftedHandoff, statement: HandoffStatement) -> HandoffStatement:
        """Return a statement in the user's own words with its proof."""
        return prove_statement(drafted.draft, statement)

    def make(self, drafted: DraftedHandoff, wanted: Sequence[HandoffStatement]) -> FinishedHandoff:
        """Return the handoff with the `wanted` statements, as it would be written."""
        selected = select_statements(
            drafted.draft, [drafted.statements.get(each, each) for each in wanted]
        )
        return FinishedHandoff(
            selected, finish_draft(selected), find_start_command(self._notebook, selected)
        )

    def plan_write(self, finished: FinishedHandoff) -> ChangeSet:
        """Return the change set that writes a handoff."""
        change_set = build_overwrite(
            self._notebook, finished.draft, finished.output, self._last_text
        )
        self._last_text = finished.output.text
        return change_set

    def plan_pickup(self, finished: FinishedHandoff) -> ChangeSet:
        """Return the change of the next agent's instructions that makes it read the handoff."""
        pickup = find_pickup(self._notebook, finished.draft)
        if pickup is None:
            raise ChangeRefused("No agent chosen: press t to choose whose instructions to change.")
        return build_pickup_change(self._notebook, self._notebook.read(), pickup)

    def run_command(self, words: Sequence[str], text: str, step: Step) -> str:
        """Return the output of a command of the user's that reads `text` from standard input."""
        folder = self._project or self._notebook.place.root
        environ = self._notebook.environment.environ
        return pipe_to_command(words, text, environ, folder, _report(step, "running"))


def _options_of(options: DraftOptions) -> HandoffOptions:
    return HandoffOptions(options.target, options.budget, with_messages=options.with_messages)


def _report(step: Step, phase: str) -> Callable[[], None]:
    return lambda: step(CurationProgress(phase))


def _shorten(path: str, project: str) -> str:
    inside = os.path.relpath(path, project) if project else ".."
    return path if inside.startswith("..") else inside
