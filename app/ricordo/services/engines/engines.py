"""Make the engine for a prepared curation: the rules, a model or a program."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from ricordo.curation.engine import CurationProgress, Engine, EngineUsage, Step
from ricordo.curation.engines.command import COMMAND, AskProgram
from ricordo.curation.engines.external import Asking
from ricordo.curation.engines.llm import ANTHROPIC, DEFAULT_MODEL, AskModel
from ricordo.curation.engines.rules import RulesEngine
from ricordo.curation.parts import InParts
from ricordo.curation.placement import PlacementContext, SharedStems
from ricordo.curation.prompts import CURATE, load_prompt
from ricordo.curation.proposal import curator
from ricordo.curation.user_decisions import UserDecisions
from ricordo.errors import StateUnusable
from ricordo.llm.ask import Server
from ricordo.llm.budget import Caps
from ricordo.llm.gate import Gate
from ricordo.llm.prices import load_prices
from ricordo.llm.program import Program
from ricordo.llm.question import Bounds
from ricordo.memory.change import Author
from ricordo.memory.note import Note
from ricordo.services.curation.preparation import Prepared
from ricordo.services.curation.user_decisions import user_decisions
from ricordo.services.ledger.ledger import new_run, record
from ricordo.services.search.recall import open_index, recall
from ricordo.services.sessions.origin import causes_by_note
from ricordo.services.workspace.environment import Environment
from ricordo.services.workspace.notebook import Notebook, Snapshot

MakeEngine = Callable[[Notebook, Prepared, Step], Engine]
"""Makes an engine for a curation. Raises what the step raises."""


def rules(notebook: Notebook, prepared: Prepared, step: Step) -> RulesEngine:
    """Return the engine that needs no key and no network."""
    notebook.gather(prepared.memory, lambda doing: step(CurationProgress(doing)))
    look = notebook.judge(prepared.memory)
    decisions = user_decisions(notebook, prepared.memory)
    return RulesEngine(_make_context(notebook, look, decisions), prepared.heard, look.findings)


def _make_context(notebook: Notebook, look: Snapshot, decisions: UserDecisions) -> PlacementContext:
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
    said = (
        SharedStems(memory),
        pairs,
        causes,
        decisions.confirmed,
        _make_instruction_check(notebook),
    )
    return PlacementContext(memory, speaks_of, *said)


def _make_instruction_check(notebook: Notebook) -> Callable[[str], bool]:
    """Return a function that says whether the project's own instructions contain a text."""
    project = notebook.surroundings.project or notebook.place.project
    if not project or not os.path.isdir(project):
        return lambda _: False
    from ricordo.lint.claims.instructions import Instructions, says
    from ricordo.storage.project_tree import list_project

    lines = Instructions.of(list_project(project, lambda: None))
    return lambda text: says(text, lines)


@dataclass(frozen=True, slots=True)
class Outside:
    """A model or a program that can be asked (`engines.MakeEngine`)."""

    ask: AskModel | AskProgram
    author: Author
    remark: str = ""
    """A warning about the user's prices or prompt; "" for none."""

    def __call__(self, notebook: Notebook, prepared: Prepared, _: Step) -> Engine:
        """Return the engine for a prepared curation."""
        asking = self.asking(notebook, prepared)
        # a program does not report whether a brief was too large or refused
        return InParts(asking, asking.ask) if isinstance(asking.ask, AskModel) else asking

    def asking(self, notebook: Notebook, prepared: Prepared) -> Asking:
        """Return the engine that asks once, for a prepared curation."""

        def lost(usage: EngineUsage) -> None:
            with suppress(StateUnusable):  # the reason for the failure matters more than its cost
                _record_cost(notebook, self.author, usage)

        said = {it.source: it.text for it in prepared.told.said}
        return Asking(self.author, replace(self.ask, lost=lost), prepared.redaction, said)


def gate_of(surroundings: Environment, caps: Caps | None = None) -> Gate:
    """Return the gate for everything that costs money."""
    return Gate(surroundings.state, lambda: surroundings.now.timestamp(), caps or Caps())


def model_outside(
    surroundings: Environment,
    model: str = DEFAULT_MODEL,
    server: Server | None = None,
    caps: Caps | None = None,
    *,
    is_automatic: bool = False,
) -> Outside:
    """Return `model` of a `server` as an external engine; `is_automatic` says that no user started
    it, as by a timer or without a terminal.
    """
    prompt = load_prompt(CURATE, surroundings.config)
    prices, remark = load_prices(surroundings.config)
    gate = gate_of(surroundings, caps)
    ask = AskModel(server or Server(), gate, prices, prompt, model, is_automatic)
    remarks = " ".join(filter(None, (remark, prompt.remark)))
    return Outside(ask, curator(ANTHROPIC, model, prompt.version), remarks)


def program_outside(
    surroundings: Environment,
    program: Program,
    bounds: Bounds | None = None,
    caps: Caps | None = None,
    *,
    is_automatic: bool = False,
) -> Outside:
    """Return a `program` of the user's as an external engine."""
    prompt = load_prompt(CURATE, surroundings.config)
    gate = gate_of(surroundings, caps)
    environ = surroundings.environ
    ask = AskProgram(program, environ, gate, prompt, bounds or Bounds(), is_automatic)
    return Outside(ask, curator(COMMAND, program.name, prompt.version), prompt.remark)


def by_model(
    model: str = DEFAULT_MODEL, server: Server | None = None, caps: Caps | None = None
) -> MakeEngine:
    """Return a factory of the engine that asks `model` of a `server`."""

    def make(notebook: Notebook, prepared: Prepared, step: Step) -> Engine:
        return model_outside(notebook.surroundings, model, server, caps)(notebook, prepared, step)

    return make


def by_program(
    program: Program, bounds: Bounds | None = None, caps: Caps | None = None
) -> MakeEngine:
    """Return a factory of the engine that runs a `program` of the user's."""

    def make(notebook: Notebook, prepared: Prepared, step: Step) -> Engine:
        outside = program_outside(notebook.surroundings, program, bounds, caps)
        return outside(notebook, prepared, step)

    return make


def _record_cost(notebook: Notebook, author: Author, usage: EngineUsage) -> None:
    """Record a cost as a run of its own, which curated no activity. Raises StateUnusable."""
    surroundings = notebook.surroundings
    run = new_run(surroundings.now.isoformat(), author, usage, 0, 0)
    record(surroundings.state, notebook.place.root, run)
