"""Which engine the person chose on the screen: what there is to choose from, and what was chosen
last. It is kept by memory, for some may leave this machine and others not.

Commands go by the settings alone: no nightly job costs money because of a key on the screen.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import Any

from ricordo.curator.asking_model import ANTHROPIC
from ricordo.curator.asking_program import COMMAND
from ricordo.curator.proposal import RULES
from ricordo.disk.json_file import read_json
from ricordo.disk.state_file import replace_state_file
from ricordo.errors import StateUnusable
from ricordo.model.programs import known_programs
from ricordo.notebook.chosen import address_of
from ricordo.notebook.open import Notebook
from ricordo.settings.read_engine import is_model
from ricordo.settings.settings import EngineSettings
from ricordo.text import visible

_FILE = "engines.json"
_LARGEST = 1024 * 1024
_MOST_MEMORIES = 200


def engines_to_choose(notebook: Notebook) -> tuple[EngineSettings, ...]:
    """Return the engines to choose from, each as settings that use it: the rules, a model, and the
    person's program; where none is set, those that we know and that are on this machine. The server
    is told where the environment names it.
    """
    own = _own(notebook)
    known = known_programs(notebook.surroundings.environ.get("PATH"))
    lines = [own.command] if own.command else known or [()]
    programs = (replace(own, use=COMMAND, command=line) for line in lines)
    return (replace(own, use=RULES), replace(own, use=ANTHROPIC), *programs)


def engine_chosen(notebook: Notebook) -> EngineSettings:
    """Return the engine that was chosen last; the one of the settings where none was, or where it
    is not there any more.
    """
    own = _own(notebook)
    kept = _kept(notebook.surroundings.state).get(notebook.place.root)
    if not isinstance(kept, dict):
        return own
    use, model, line = kept.get("use"), kept.get("model"), kept.get("command")
    named = model if isinstance(model, str) and is_model(model) else own.model
    for it in engines_to_choose(notebook):
        if it.use == use and (use != COMMAND or list(it.command) == line):
            return replace(it, model=named)
    return replace(own, model=named)


def remember_engine(notebook: Notebook, own: EngineSettings) -> None:
    """Keep which engine was chosen. Raises StateUnusable."""
    state, root = notebook.surroundings.state, notebook.place.root
    kept = _kept(state)
    kept.pop(root, None)
    kept[root] = {"use": own.use, "model": own.model, "command": list(own.command)}
    text = json.dumps(dict(list(kept.items())[-_MOST_MEMORIES:]))
    try:
        replace_state_file(state, _FILE, text.encode("ascii"))
    except OSError as error:
        path = visible(os.path.join(state, _FILE))
        raise StateUnusable(f"{path} cannot be written: {error.strerror}.") from None


def _own(notebook: Notebook) -> EngineSettings:
    own = notebook.settings.engine
    return replace(own, server=address_of(notebook.surroundings, own))


def _kept(state: str) -> dict[str, Any]:
    document, _ = read_json(os.path.join(state, _FILE), _LARGEST)
    return document if isinstance(document, dict) else {}
