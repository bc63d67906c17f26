"""The engine that is chosen by words and settings, and the programs that the person lets run."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from ricordo.curator.asking_model import ANTHROPIC
from ricordo.curator.asking_program import COMMAND, AskProgram
from ricordo.curator.engine import Step
from ricordo.curator.proposal import RULES
from ricordo.disk.line_log import add_line, read_lines
from ricordo.errors import StateUnusable, WrongUsage
from ricordo.memory.memory import Memory
from ricordo.model.ask import Server
from ricordo.model.budget import Caps
from ricordo.model.programs import Program, program_of
from ricordo.notebook.models import Outside, model_outside, program_outside
from ricordo.notebook.open import Notebook
from ricordo.notebook.preparing import Prepared, prepare
from ricordo.notebook.spoken import Scope
from ricordo.notebook.surroundings import Surroundings
from ricordo.settings.settings import EngineSettings
from ricordo.text import visible

_FILE = "programs.jsonl"
"""The lines that may be run, by their digests."""


def chosen(
    notebook: Notebook, engine: str = "", model: str = "", *, is_automatic: bool = False
) -> Outside | None:
    """Return what is outside our code of the engine that is named, else set; None for the rules.
    `is_automatic` where nobody asks for it just now. Raises WrongUsage.
    """
    own = notebook.settings.engine
    use = engine or own.use
    if model and use != ANTHROPIC:
        raise WrongUsage(f"{NO_MODEL[use]}: --model goes with --engine {ANTHROPIC}.")
    wanted = replace(own, use=use, model=model or own.model)
    return outside_of(notebook.surroundings, wanted, is_automatic=is_automatic)


NO_MODEL = {RULES: "The rules have no model", COMMAND: "A program has its model on its line"}
"""Why no model can be named, by engine."""


def outside_of(
    surroundings: Surroundings, own: EngineSettings, *, is_automatic: bool = False
) -> Outside | None:
    """Return what is outside our code of the engine that is set; None for the rules.
    `is_automatic` where nobody asks for it just now. Raises WrongUsage.
    """
    caps = Caps(own.sent, own.written, own.day, own.month)
    if own.use == ANTHROPIC:
        server = Server(address_of(surroundings, own))
        return model_outside(surroundings, own.model, server, caps, is_automatic=is_automatic)
    if own.use == COMMAND:
        if not own.command:
            raise WrongUsage(
                "No program is set: `ricordo config edit` takes it as engine.command, such as "
                '["claude", "-p"].'
            )
        program = program_of(own.command)
        return program_outside(surroundings, program, caps=caps, is_automatic=is_automatic)
    return None


def address_of(surroundings: Surroundings, own: EngineSettings) -> str:
    """Return the address of the server of a model; "" for Anthropic's own. It is looked up here and
    not by the client alone, for the person has to be told where text goes.
    """
    return own.server or surroundings.environ.get("ANTHROPIC_BASE_URL", "")


def prepare_for(
    outside: Outside | None,
    notebook: Notebook,
    memory: Memory,
    scope: Scope,
    step: Step = lambda _: None,
) -> Prepared:
    """Return what a curation is given, within what may be sent `outside`. Raises as `prepare`."""
    if outside is None:
        return prepare(notebook, memory, scope, step)
    budget = outside.ask.room
    # what was named is not gone on with by the next curation
    room = None if scope.is_named else budget // 2
    return prepare(notebook, memory, scope, step, budget=budget, room=room)


def new_program(surroundings: Surroundings, outside: Outside | None) -> Program | None:
    """Return the program that would be run and whose line the person has not seen yet."""
    if outside is None or not isinstance(outside.ask, AskProgram):
        return None
    program = outside.ask.program
    allowed = {it.get("line") for it in read_lines(surroundings.state, _FILE) if it}
    return None if _digest(program) in allowed else program


def allow_program(surroundings: Surroundings, program: Program) -> None:
    """Keep that a program may be run by its line. Raises StateUnusable."""
    told = {"at": surroundings.now.isoformat(), "line": _digest(program)}
    try:
        add_line(surroundings.state, _FILE, told)
    except OSError as error:
        why = f"{visible(surroundings.state)} cannot be written: {error.strerror}."
        raise StateUnusable(why) from None


def _digest(program: Program) -> str:
    return hashlib.sha256(program.line.encode("utf-8", "surrogateescape")).hexdigest()
