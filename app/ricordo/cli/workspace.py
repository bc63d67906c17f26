"""Opening the memory of a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.output import print_messages
from ricordo.cli.parser import get_memory_path
from ricordo.cli.progress import set_phase

if TYPE_CHECKING:
    from argparse import Namespace

    from ricordo.agents.agent import MemoryPlace
    from ricordo.memory.memory import Memory
    from ricordo.services.workspace.environment import Environment
    from ricordo.services.workspace.notebook import Notebook, Snapshot
    from ricordo.settings.settings import Settings


def open_notebook(options: Namespace, environment: Environment) -> Notebook:
    """Return the memory that `options` name, ready to be read; warnings on settings go to stderr.

    Raises MemoryNotFound.
    """
    from ricordo.services.workspace.notebook import Notebook
    from ricordo.services.workspace.places import find_memory

    place = find_memory(get_memory_path(options), environment)
    return Notebook(place, environment, load_settings_reported(environment))


def open_notebook_or_project(options: Namespace, environment: Environment) -> Notebook:
    """Return the memory that `options` name; for a project without a memory, the project as a
    memory without notes. Raises MemoryNotFound if the path does not exist.
    """
    from ricordo.services.workspace.notebook import Notebook
    from ricordo.services.workspace.places import find_memory_or_project

    place = find_memory_or_project(get_memory_path(options), environment)
    return Notebook(place, environment, load_settings_reported(environment))


def read_memory_reported(
    options: Namespace, environment: Environment
) -> tuple[MemoryPlace, Memory]:
    """Return the memory that `options` name, for a command that neither judges nor changes it;
    warnings on settings go to stderr. Raises MemoryNotFound and MemoryUnreadable.
    """
    from ricordo.storage.reader import read_memory

    place = find_memory_reported(options, environment)
    return place, read_memory(place.root, place.layout)


def load_settings_reported(environment: Environment) -> Settings:
    """Return the user's settings; warnings on them go to stderr."""
    from ricordo.services.workspace.settings import has_settings, load_settings

    if not has_settings(environment):
        return load_settings(environment)[0]
    from ricordo.tui.actions.registry import list_known_actions

    settings, warnings = load_settings(environment, list_known_actions())
    print_messages(map(str, warnings))
    return settings


def find_memory_reported(options: Namespace, environment: Environment) -> MemoryPlace:
    """Return where the memory is that `options` name, for a command that only reads it; warnings
    on settings go to stderr. Raises MemoryNotFound.
    """
    from ricordo.services.workspace.places import find_memory
    from ricordo.services.workspace.settings import has_settings

    place = find_memory(get_memory_path(options), environment)
    if has_settings(environment):
        load_settings_reported(environment)
    return place


def judge_with_evidence(notebook: Notebook, memory: Memory) -> Snapshot:
    """Return a snapshot of `memory` with evidence, showing on a terminal what is done."""
    notebook.gather(memory, set_phase)
    set_phase("running rules")
    return notebook.judge(memory)


def read_snapshot_reported(notebook: Notebook) -> Snapshot:
    """Return a snapshot of the memory with evidence; warnings, and messages on Ricordo's own files,
    go to stderr. Raises MemoryNotFound and MemoryUnreadable.
    """
    set_phase("reading notes")
    snapshot = judge_with_evidence(notebook, notebook.read())
    messages = [*notebook.take_messages(), snapshot.warning, *snapshot.evidence.warnings]
    print_messages(message for message in messages if message)
    return snapshot
