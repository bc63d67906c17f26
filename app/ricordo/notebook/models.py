"""The engines outside our code, made for a notebook: its budget, its prices, its ledger."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

from ricordo.curator.asking import Asking
from ricordo.curator.asking_model import ANTHROPIC, DEFAULT_MODEL, AskModel
from ricordo.curator.asking_program import COMMAND, AskProgram
from ricordo.curator.engine import Engine, Step, Usage
from ricordo.curator.in_parts import InParts
from ricordo.curator.prompts import CURATE, load_prompt
from ricordo.curator.proposal import curator
from ricordo.errors import StateUnusable
from ricordo.memory.change import Author
from ricordo.model.ask import Server
from ricordo.model.bounds import Bounds
from ricordo.model.budget import Caps
from ricordo.model.gate import Gate
from ricordo.model.prices import load_prices
from ricordo.model.programs import Program
from ricordo.notebook.engines import MakeEngine
from ricordo.notebook.ledger import new_run, record
from ricordo.notebook.open import Notebook
from ricordo.notebook.preparing import Prepared
from ricordo.notebook.surroundings import Surroundings


@dataclass(frozen=True, slots=True)
class Outside:
    """A model or a program that can be asked (`engines.MakeEngine`)."""

    ask: AskModel | AskProgram
    author: Author
    remark: str = ""
    """What the person should know of its prices and its prompt."""

    def __call__(self, notebook: Notebook, prepared: Prepared, _: Step) -> Engine:
        """Return the engine for what was prepared."""
        asking = self.asking(notebook, prepared)
        # of a program it is not known whether it was too much, or the wrong thing
        return InParts(asking, asking.ask) if isinstance(asking.ask, AskModel) else asking

    def asking(self, notebook: Notebook, prepared: Prepared) -> Asking:
        """Return the engine that asks for what was prepared once."""

        def lost(usage: Usage) -> None:
            with suppress(StateUnusable):  # why there is no answer matters more than its cost
                _record_cost(notebook, self.author, usage)

        said = {it.source: it.text for it in prepared.told.said}
        return Asking(self.author, replace(self.ask, lost=lost), prepared.redaction, said)


def gate_of(surroundings: Surroundings, caps: Caps | None = None) -> Gate:
    """Return the gate that everything has to pass that is paid for."""
    return Gate(surroundings.state, lambda: surroundings.now.timestamp(), caps or Caps())


def model_outside(
    surroundings: Surroundings,
    model: str = DEFAULT_MODEL,
    server: Server | None = None,
    caps: Caps | None = None,
    *,
    is_automatic: bool = False,
) -> Outside:
    """Return `model` of a `server`; `is_automatic` where nobody asked for it just now, as by a
    timer or without a terminal.
    """
    prompt = load_prompt(CURATE, surroundings.config)
    prices, remark = load_prices(surroundings.config)
    gate = gate_of(surroundings, caps)
    ask = AskModel(server or Server(), gate, prices, prompt, model, is_automatic)
    remarks = " ".join(filter(None, (remark, prompt.remark)))
    return Outside(ask, curator(ANTHROPIC, model, prompt.version), remarks)


def program_outside(
    surroundings: Surroundings,
    program: Program,
    bounds: Bounds | None = None,
    caps: Caps | None = None,
    *,
    is_automatic: bool = False,
) -> Outside:
    """Return a `program` of the person's."""
    prompt = load_prompt(CURATE, surroundings.config)
    gate = gate_of(surroundings, caps)
    environ = surroundings.environ
    ask = AskProgram(program, environ, gate, prompt, bounds or Bounds(), is_automatic)
    return Outside(ask, curator(COMMAND, program.name, prompt.version), prompt.remark)


def by_model(
    model: str = DEFAULT_MODEL, server: Server | None = None, caps: Caps | None = None
) -> MakeEngine:
    """Return what makes the engine that asks `model` of a `server`."""

    def make(notebook: Notebook, prepared: Prepared, step: Step) -> Engine:
        return model_outside(notebook.surroundings, model, server, caps)(notebook, prepared, step)

    return make


def by_program(
    program: Program, bounds: Bounds | None = None, caps: Caps | None = None
) -> MakeEngine:
    """Return what makes the engine that runs a `program` of the person's."""

    def make(notebook: Notebook, prepared: Prepared, step: Step) -> Engine:
        outside = program_outside(notebook.surroundings, program, bounds, caps)
        return outside(notebook, prepared, step)

    return make


def _record_cost(notebook: Notebook, author: Author, usage: Usage) -> None:
    """Record what was paid for by itself: no activity was curated by it. Raises StateUnusable."""
    surroundings = notebook.surroundings
    run = new_run(surroundings.now.isoformat(), author, usage, 0, 0)
    record(surroundings.state, notebook.place.root, run)
