"""The engine chosen by options and settings, and the programs that the user has allowed."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import replace
from typing import Any

from ricordo.curation.brief import BUDGET
from ricordo.curation.engine import Step
from ricordo.curation.engines.command import COMMAND, ProgramClient
from ricordo.curation.engines.llm import ANTHROPIC
from ricordo.curation.proposal import RULES
from ricordo.errors import StateUnusable, WrongUsage
from ricordo.llm.ask import Server
from ricordo.llm.budget import Caps
from ricordo.llm.program import Program, find_known_programs, resolve_program
from ricordo.memory.memory import Memory
from ricordo.services.curation.check_preparation import prepare_check
from ricordo.services.curation.preparation import CurationScope, PreparedCuration, prepare
from ricordo.services.engines.engines import EngineTarget, make_model_target, make_program_target
from ricordo.services.workspace.environment import Environment
from ricordo.services.workspace.notebook import Notebook
from ricordo.settings.settings import EngineSettings
from ricordo.settings.values import is_model
from ricordo.storage.foreign_file import read_json
from ricordo.storage.line_log import append_line, read_lines
from ricordo.storage.state_file import replace_state_file
from ricordo.text import make_visible

_FILE = "programs.jsonl"
"""Digests of the command lines that may be run."""


def choose_engine(
    notebook: Notebook,
    engine: str = "",
    model: str = "",
    *,
    is_automatic: bool = False,
    is_check: bool = False,
) -> EngineTarget | None:
    """Return the external engine given by name, else by the settings; None for the rules.
    `is_automatic` and `is_check` are those of `get_target`. Raises WrongUsage.
    """
    own = notebook.settings.engine
    use = engine or own.use
    if model and use != ANTHROPIC:
        raise WrongUsage(f"{NO_MODEL[use]}: --model goes with --engine {ANTHROPIC}.")
    wanted = replace(own, use=use, model=model or own.model)
    return get_target(notebook.environment, wanted, is_automatic=is_automatic, is_check=is_check)


NO_MODEL = {RULES: "The rules have no model", COMMAND: "A program sets its own model"}
"""Why no model can be given, by engine."""


def get_target(
    environment: Environment,
    own: EngineSettings,
    *,
    is_automatic: bool = False,
    is_check: bool = False,
) -> EngineTarget | None:
    """Return the external engine of the settings `own`; None for the rules. `is_automatic` says
    that no user started it, `is_check` that it is to check notes. Raises WrongUsage.
    """
    if own.use == RULES:
        if is_check:
            raise WrongUsage(_RULES_CHECK, hint=_CHOOSE)
        return None
    caps = Caps(own.check if is_check else own.sent, own.written, own.day, own.month)
    target = _make_target(environment, own, caps, is_automatic=is_automatic)
    return target.for_check(environment) if is_check else target


_RULES_CHECK = "The rules cannot check notes."
_CHOOSE = "Choose the engine anthropic (a model) or command (a program)."


def _make_target(
    environment: Environment, own: EngineSettings, caps: Caps, *, is_automatic: bool
) -> EngineTarget:
    if own.use == ANTHROPIC:
        server = Server(get_server_address(environment, own))
        return make_model_target(environment, own.model, server, caps, is_automatic=is_automatic)
    if not own.command:
        raise WrongUsage(
            "No program set.",
            hint='Run `ricordo config edit` and set engine.command, such as ["claude", "-p"].',
        )
    program = resolve_program(own.command)
    return make_program_target(environment, program, caps=caps, is_automatic=is_automatic)


def get_server_address(environment: Environment, own: EngineSettings) -> str:
    """Return the address of a model's server; "" for Anthropic's. It is found here and not only by
    the client, for the user has to see where text is sent.
    """
    return own.server or environment.environ.get("ANTHROPIC_BASE_URL", "")


def prepare_for(
    target: EngineTarget | None,
    notebook: Notebook,
    memory: Memory,
    scope: CurationScope,
    step: Step = lambda _: None,
) -> PreparedCuration:
    """Return the input of a curation or check, within what may be sent to `target`. Raises as
    `prepare` and `prepare_check`.
    """
    budget = target.ask.max_brief_tokens if target else BUDGET
    if scope.is_check:
        return prepare_check(notebook, memory, scope, step, budget)
    if target is None:
        return prepare(notebook, memory, scope, step)
    # the next curation does not continue a named input
    room = None if scope.is_named else budget // 2
    return prepare(notebook, memory, scope, step, budget=budget, room=room)


def find_new_program(environment: Environment, target: EngineTarget | None) -> Program | None:
    """Return the program to be run whose command line the user has not allowed yet; else None."""
    if target is None or not isinstance(target.ask, ProgramClient):
        return None
    program = target.ask.program
    allowed = {it.get("line") for it in read_lines(environment.state, _FILE) if it}
    return None if _digest(program) in allowed else program


def allow_program(environment: Environment, program: Program) -> None:
    """Record that a program's command line may be run. Raises StateUnusable."""
    record = {"at": environment.now.isoformat(), "line": _digest(program)}
    try:
        append_line(environment.state, _FILE, record)
    except OSError as error:
        why = f"{make_visible(environment.state)} cannot be written: {error.strerror}."
        raise StateUnusable(why) from None


def _digest(program: Program) -> str:
    return hashlib.sha256(program.line.encode("utf-8", "surrogateescape")).hexdigest()


_CHOICE_FILE = "engines.json"
_LARGEST = 1024 * 1024
_MOST_MEMORIES = 200


def list_engines(notebook: Notebook) -> tuple[EngineSettings, ...]:
    """Return the engines to choose from, each as settings that use it: the rules, a model, and the
    user's program; where none is set, the known programs installed on this machine. The server is
    that of the environment where the settings have none.
    """
    own = _get_settings(notebook)
    known = find_known_programs(notebook.environment.environ.get("PATH"))
    lines = [own.command] if own.command else known or [()]
    programs = (replace(own, use=COMMAND, command=line) for line in lines)
    return (replace(own, use=RULES), replace(own, use=ANTHROPIC), *programs)


def load_chosen_engine(notebook: Notebook) -> EngineSettings:
    """Return the engine that was chosen last; that of the settings where none was, or where it no
    longer exists.
    """
    own = _get_settings(notebook)
    choice = _read_choices(notebook.environment.state).get(notebook.place.root)
    if not isinstance(choice, dict):
        return own
    use, model, line = choice.get("use"), choice.get("model"), choice.get("command")
    named = model if isinstance(model, str) and is_model(model) else own.model
    for it in list_engines(notebook):
        if it.use == use and (use != COMMAND or list(it.command) == line):
            return replace(it, model=named)
    return replace(own, model=named)


def save_chosen_engine(notebook: Notebook, own: EngineSettings) -> None:
    """Save which engine was chosen. Raises StateUnusable."""
    state, root = notebook.environment.state, notebook.place.root
    choices = _read_choices(state)
    choices.pop(root, None)
    choices[root] = {"use": own.use, "model": own.model, "command": list(own.command)}
    text = json.dumps(dict(list(choices.items())[-_MOST_MEMORIES:]))
    try:
        replace_state_file(state, _CHOICE_FILE, text.encode("ascii"))
    except OSError as error:
        path = make_visible(os.path.join(state, _CHOICE_FILE))
        raise StateUnusable(f"{path} cannot be written: {error.strerror}.") from None


def _get_settings(notebook: Notebook) -> EngineSettings:
    own = notebook.settings.engine
    return replace(own, server=get_server_address(notebook.environment, own))


def _read_choices(state: str) -> dict[str, Any]:
    document, _ = read_json(os.path.join(state, _CHOICE_FILE), _LARGEST)
    return document if isinstance(document, dict) else {}
