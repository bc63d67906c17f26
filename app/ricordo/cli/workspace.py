"""From the words of a command to an opened memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.output import tell
from ricordo.cli.parser import memory_path

if TYPE_CHECKING:
    from argparse import Namespace

    from ricordo.services.workspace.environment import Environment
    from ricordo.services.workspace.notebook import Notebook, Snapshot
    from ricordo.settings.settings import Settings


def open_notebook(
    options: Namespace, environment: Environment, only: frozenset[str] = frozenset()
) -> Notebook:
    """Return the memory that the words name, ready to be read; remarks on settings go to stderr.

    Raises MemoryNotFound where there is none.
    """
    from ricordo.services.workspace.notebook import Notebook
    from ricordo.services.workspace.places import find_memory

    place = find_memory(memory_path(options), environment)
    return Notebook(place, environment, told_settings(environment), only)


def open_notebook_or_project(options: Namespace, environment: Environment) -> Notebook:
    """Return the memory that the words name; where no memory belongs to a project, that project as
    a memory without notes. Raises MemoryNotFound where nothing is there.
    """
    from ricordo.services.workspace.notebook import Notebook
    from ricordo.services.workspace.places import find_memory_or_project

    place = find_memory_or_project(memory_path(options), environment)
    return Notebook(place, environment, told_settings(environment))


def told_settings(environment: Environment) -> Settings:
    """Return the person's settings; remarks on them go to stderr."""
    from ricordo.services.workspace.settings import load_settings
    from ricordo.tui.actions.registry import known_actions

    settings, remarks = load_settings(environment, known_actions())
    tell(map(str, remarks))
    return settings


def look_reported(notebook: Notebook) -> Snapshot:
    """Return all that can be known of the memory; what could not be looked at, and what became of
    our own files, goes to stderr. Raises MemoryNotFound and MemoryUnreadable.
    """
    snapshot = notebook.look_closely()
    remarks = [*notebook.take_notices(), snapshot.remark, *snapshot.evidence.remarks]
    tell(remark for remark in remarks if remark)
    return snapshot
