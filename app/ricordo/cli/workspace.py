"""Opening the memory of a command."""

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
    """Return the memory that `options` name, ready to be read; warnings on settings go to stderr.

    Raises MemoryNotFound.
    """
    from ricordo.services.workspace.notebook import Notebook
    from ricordo.services.workspace.places import find_memory

    place = find_memory(memory_path(options), environment)
    return Notebook(place, environment, told_settings(environment), only)


def open_notebook_or_project(options: Namespace, environment: Environment) -> Notebook:
    """Return the memory that `options` name; for a project without a memory, the project as a
    memory without notes. Raises MemoryNotFound if the path does not exist.
    """
    from ricordo.services.workspace.notebook import Notebook
    from ricordo.services.workspace.places import find_memory_or_project

    place = find_memory_or_project(memory_path(options), environment)
    return Notebook(place, environment, told_settings(environment))


def told_settings(environment: Environment) -> Settings:
    """Return the user's settings; warnings on them go to stderr."""
    from ricordo.services.workspace.settings import load_settings
    from ricordo.tui.actions.registry import known_actions

    settings, warnings = load_settings(environment, known_actions())
    tell(map(str, warnings))
    return settings


def look_reported(notebook: Notebook) -> Snapshot:
    """Return a snapshot of the memory with evidence; warnings, and messages on Ricordo's own files,
    go to stderr. Raises MemoryNotFound and MemoryUnreadable.
    """
    snapshot = notebook.look_closely()
    messages = [*notebook.take_notices(), snapshot.remark, *snapshot.evidence.remarks]
    tell(message for message in messages if message)
    return snapshot
