"""What is handed off: the sessions that are meant, as facts."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace

from ricordo.activity.named import named_session
from ricordo.activity.sources import Source
from ricordo.handoff.facts import Facts
from ricordo.handoff.gather import gather
from ricordo.notebook.open import Notebook
from ricordo.notebook.sessions import bearing, sources_of

Step = Callable[[], None]


def facts_of(notebook: Notebook, project: str, named: Sequence[str], step: Step) -> Facts:
    """Return what the sessions at the paths `named` tell, without one the latest of the project.
    Raises WrongUsage where a path is no transcript, and what `step` raises.
    """
    cwd = notebook.surroundings.cwd
    sources = [
        named_session(os.path.normpath(os.path.join(cwd, path))) for path in named
    ] or _latest(notebook)
    return replace(gather(sources, project, step), memory=notebook.place.root)


def _latest(notebook: Notebook) -> list[Source]:
    own = bearing(notebook.place, notebook.surroundings)
    found = list(sources_of(own, notebook.surroundings))
    return [max(found, key=lambda it: it.touched)] if found else []
