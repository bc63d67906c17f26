"""Make the engine for a prepared curation: the rules, a model or a program."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from ricordo.curation.engine import CurationProgress, Engine, EngineUsage, Step
from ricordo.curation.engines.command import COMMAND, ProgramClient
from ricordo.curation.engines.external import ExternalEngine
from ricordo.curation.engines.llm import ANTHROPIC, DEFAULT_MODEL, ModelClient
from ricordo.curation.engines.rules import RulesEngine
from ricordo.curation.note_check import CheckEngine
from ricordo.curation.parts import PartwiseEngine
from ricordo.curation.placement import PlacementContext, SharedStems
from ricordo.curation.prompts import CHECK, CURATE, load_prompt
from ricordo.curation.proposal import make_curator
from ricordo.curation.user_decisions import UserDecisions
from ricordo.curation.user_messages import list_facts
from ricordo.errors import StateUnusable
from ricordo.llm.ask import Server
from ricordo.llm.budget import Caps
from ricordo.llm.gate import Gate
from ricordo.llm.prices import load_prices
from ricordo.llm.program import Program
from ricordo.llm.question import RequestLimits
from ricordo.memory.change import Author
from ricordo.memory.note import Note
from ricordo.services.curation.preparation import PreparedCuration
from ricordo.services.curation.user_decisions import load_user_decisions
from ricordo.services.ledger.ledger import new_run, record_run
from ricordo.services.search.recall import open_index, recall
from ricordo.services.sessions.origin import load_origins
from ricordo.services.workspace.environment import Environment
from ricordo.services.workspace.notebook import Notebook, Snapshot

EngineFactory = Callable[[Notebook, PreparedCuration, Step], Engine]
"""Makes an engine for a curation. Raises what the step raises."""


def make_rules_engine(notebook: Notebook, prepared: PreparedCuration, step: Step) -> RulesEngine:
    """Return the engine that needs no key and no network."""
    notebook.gather(prepared.memory, lambda doing: step(CurationProgress(doing)))
    snapshot = notebook.judge(prepared.memory)
    decisions = load_user_decisions(notebook, prepared.memory)
    return RulesEngine(
        _make_context(notebook, snapshot, decisions),
        prepared.statements,
        tuple(list_facts(prepared.activity.messages)),
        snapshot.findings,
    )


def _make_context(
    notebook: Notebook, snapshot: Snapshot, decisions: UserDecisions
) -> PlacementContext:
    environment, memory = notebook.environment, snapshot.memory
    index = open_index(notebook.place, environment)

    def speaks_of(text: str) -> Sequence[Note]:
        return [it.note for it in recall(index, memory, text, environment, for_agents=False)]

    causes: dict[str, list[str]] = {}
    found = load_origins(notebook.activity, memory.root, notebook.find_moved(memory))
    for note, of_note in found.items():
        for cause in of_note:
            for turn in cause.turns:
                if turn.is_cause and turn.key:
                    causes.setdefault(turn.key, []).append(note)
    pairs = tuple(it for it in snapshot.evidence.pairs if not decisions.is_dismissed(it, memory))
    values = (
        SharedStems(memory),
        pairs,
        causes,
        decisions.confirmed,
        _make_instruction_check(notebook),
    )
    return PlacementContext(memory, speaks_of, *values)


def _make_instruction_check(notebook: Notebook) -> Callable[[str], bool]:
    """Return a function that says whether the project's own instructions contain a text."""
    project = notebook.environment.project or notebook.place.project
    if not project or not os.path.isdir(project):
        return lambda _: False
    from ricordo.lint.claims.instructions import Instructions, is_instruction
    from ricordo.storage.project_tree import list_project

    lines = Instructions.from_tree(list_project(project, lambda: None))
    return lambda text: is_instruction(text, lines)


_SECONDS_OF_CHECK = 600.0
"""For all questions of a check."""


@dataclass(frozen=True, slots=True)
class EngineTarget:
    """A model or a program that can be asked (by an `EngineFactory`)."""

    ask: ModelClient | ProgramClient
    author: Author
    warning: str = ""
    """A warning about the user's prices or prompt; "" for none."""

    def __call__(self, notebook: Notebook, prepared: PreparedCuration, _: Step) -> Engine:
        """Return the engine for a prepared curation."""
        asking = self.make_engine(notebook, prepared)
        ask = asking.ask
        if prepared.check is not None:
            assert isinstance(ask, ModelClient | ProgramClient)
            return CheckEngine(asking, ask, prepared.check)
        # a program does not report whether a brief was too large or refused
        return PartwiseEngine(asking, ask) if isinstance(ask, ModelClient) else asking

    def for_check(self, environment: Environment) -> EngineTarget:
        """Return the engine with the prompt for checking notes."""
        prompt = load_prompt(CHECK, environment.config)
        author = make_curator(self.author.name, self.author.model, prompt.version)
        ask = replace(self.ask, prompt=prompt)
        if isinstance(ask, ModelClient):
            limits = replace(ask.server.limits, total=_SECONDS_OF_CHECK)
            ask = replace(ask, server=replace(ask.server, limits=limits))
        return replace(self, ask=ask, author=author, warning=prompt.warning)

    def make_engine(self, notebook: Notebook, prepared: PreparedCuration) -> ExternalEngine:
        """Return the engine that asks once, for a prepared curation."""

        def lost(usage: EngineUsage) -> None:
            with suppress(StateUnusable):  # the reason for the failure matters more than its cost
                _record_cost(notebook, self.author, usage)

        messages = {it.source: it.text for it in prepared.activity.messages}
        return ExternalEngine(
            self.author, replace(self.ask, record_lost=lost), prepared.redaction, messages
        )


def make_gate(environment: Environment, caps: Caps | None = None) -> Gate:
    """Return the gate for everything that costs money."""
    return Gate(environment.state, lambda: environment.now.timestamp(), caps or Caps())


def make_model_target(
    environment: Environment,
    model: str = DEFAULT_MODEL,
    server: Server | None = None,
    caps: Caps | None = None,
    *,
    is_automatic: bool = False,
) -> EngineTarget:
    """Return `model` of a `server` as an external engine; `is_automatic` says that no user started
    it, as by a timer or without a terminal.
    """
    prompt = load_prompt(CURATE, environment.config)
    prices, remark = load_prices(environment.config)
    gate = make_gate(environment, caps)
    ask = ModelClient(server or Server(), gate, prices, prompt, model, is_automatic)
    remarks = " ".join(filter(None, (remark, prompt.warning)))
    return EngineTarget(ask, make_curator(ANTHROPIC, model, prompt.version), remarks)


def make_program_target(
    environment: Environment,
    program: Program,
    bounds: RequestLimits | None = None,
    caps: Caps | None = None,
    *,
    is_automatic: bool = False,
) -> EngineTarget:
    """Return a `program` of the user's as an external engine."""
    prompt = load_prompt(CURATE, environment.config)
    gate = make_gate(environment, caps)
    environ = environment.environ
    ask = ProgramClient(program, environ, gate, prompt, bounds or RequestLimits(), is_automatic)
    return EngineTarget(ask, make_curator(COMMAND, program.name, prompt.version), prompt.warning)


def _record_cost(notebook: Notebook, author: Author, usage: EngineUsage) -> None:
    """Record a cost as a run of its own, which curated no activity. Raises StateUnusable."""
    environment = notebook.environment
    run = new_run(environment.now.isoformat(), author, usage, 0, 0)
    record_run(environment.state, notebook.place.root, run)
