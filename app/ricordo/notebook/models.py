"""The engines outside our code, made for a notebook: its budget, its prices, its ledger."""

from __future__ import annotations

from contextlib import suppress

from ricordo.curator.asking import Ask, Asking
from ricordo.curator.asking_model import ANTHROPIC, DEFAULT_MODEL, AskModel
from ricordo.curator.asking_program import COMMAND, AskProgram
from ricordo.curator.engine import Step, Usage
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


def gate_of(surroundings: Surroundings, caps: Caps | None = None) -> Gate:
    """Return the gate that everything has to pass that is paid for."""
    return Gate(surroundings.state, lambda: surroundings.now.timestamp(), caps or Caps())


def by_model(
    model: str = DEFAULT_MODEL,
    server: Server | None = None,
    caps: Caps | None = None,
    *,
    is_automatic: bool = False,
) -> MakeEngine:
    """Return what makes the engine that asks `model` of a `server`; `is_automatic` where nobody
    asked for it just now, as by a timer or without a terminal.
    """

    def make(notebook: Notebook, prepared: Prepared, _: Step) -> Asking:
        surroundings = notebook.surroundings
        prompt = load_prompt(CURATE, surroundings.config)
        author = curator(ANTHROPIC, model, prompt.version)
        ask = AskModel(
            server or Server(),
            gate_of(surroundings, caps),
            load_prices(surroundings.config)[0],
            prompt,
            model,
            is_automatic,
            lambda usage: _record_lost(notebook, prepared, author, usage),
        )
        return _asking(prepared, author, ask)

    return make


def by_program(
    program: Program,
    bounds: Bounds | None = None,
    caps: Caps | None = None,
    *,
    is_automatic: bool = False,
) -> MakeEngine:
    """Return what makes the engine that runs a `program` of the person's."""

    def make(notebook: Notebook, prepared: Prepared, _: Step) -> Asking:
        surroundings = notebook.surroundings
        prompt = load_prompt(CURATE, surroundings.config)
        author = curator(COMMAND, program.name, prompt.version)
        ask = AskProgram(
            program,
            surroundings.environ,
            gate_of(surroundings, caps),
            prompt,
            bounds or Bounds(),
            is_automatic,
            lambda usage: _record_lost(notebook, prepared, author, usage),
        )
        return _asking(prepared, author, ask)

    return make


def _asking(prepared: Prepared, author: Author, ask: Ask) -> Asking:
    said = {it.source: it.text for it in prepared.told.said}
    return Asking(author, ask, prepared.redaction, said)


def _record_lost(notebook: Notebook, prepared: Prepared, author: Author, usage: Usage) -> None:
    """Record what was paid for without an answer; why there is none matters more than that."""
    surroundings = notebook.surroundings
    at, told = surroundings.now.isoformat(), prepared.told
    run = new_run(at, author, usage, told.tokens, 0)
    with suppress(StateUnusable):
        record(surroundings.state, notebook.place.root, run)
