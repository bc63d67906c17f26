"""The engine with a model behind it, made for a notebook: its budget, its prices, its ledger."""

from __future__ import annotations

from ricordo.curator.engine import Step, Usage
from ricordo.curator.model_engine import DEFAULT_MODEL, ModelEngine
from ricordo.curator.prompts import CURATE, load_prompt
from ricordo.model.ask import Server
from ricordo.model.budget import Caps
from ricordo.model.gate import Gate
from ricordo.model.prices import load_prices
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

    def make(notebook: Notebook, prepared: Prepared, step: Step) -> ModelEngine:
        surroundings = notebook.surroundings

        def lost(usage: Usage) -> None:
            at = surroundings.now.isoformat()
            run = new_run(at, engine.author, usage, prepared.told.tokens, 0)
            record(surroundings.state, notebook.place.root, run)

        engine = ModelEngine(
            server or Server(),
            gate_of(surroundings, caps),
            load_prices(surroundings.config)[0],
            load_prompt(CURATE, surroundings.config),
            model,
            is_automatic,
            lost,
        )
        return engine

    return make
