"""From the words of a command to an opened memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.arguments import memory_path
from ricordo.cli.output import tell

if TYPE_CHECKING:
    from argparse import Namespace

    from ricordo.notebook.open import Look, Notebook
    from ricordo.notebook.surroundings import Surroundings
    from ricordo.settings.settings import Settings


def open_notebook(
    options: Namespace, surroundings: Surroundings, only: frozenset[str] = frozenset()
) -> Notebook:
    """Return the memory that the words name, ready to be read; remarks on settings go to stderr.

    Raises MemoryNotFound where there is none.
    """
    from ricordo.notebook.find import find_memory
    from ricordo.notebook.open import Notebook

    place = find_memory(memory_path(options), surroundings)
    return Notebook(place, surroundings, told_settings(surroundings), only)


def open_notebook_or_project(options: Namespace, surroundings: Surroundings) -> Notebook:
    """Return the memory that the words name; where no memory belongs to a project, that project as
    a memory without notes. Raises MemoryNotFound where nothing is there.
    """
    from ricordo.notebook.find import find_memory_or_project
    from ricordo.notebook.open import Notebook

    place = find_memory_or_project(memory_path(options), surroundings)
    return Notebook(place, surroundings, told_settings(surroundings))


def told_settings(surroundings: Surroundings) -> Settings:
    """Return the person's settings; remarks on them go to stderr."""
    from ricordo.notebook.settle import load_settings
    from ricordo.tui.actions.registry import known_actions

    settings, remarks = load_settings(surroundings, known_actions())
    tell(map(str, remarks))
    return settings


def look_reported(notebook: Notebook) -> Look:
    """Return all that can be known of the memory; what could not be looked at, and what became of
    our own files, goes to stderr. Raises MemoryNotFound and MemoryUnreadable.
    """
    look = notebook.look_closely()
    remarks = [*notebook.take_notices(), look.remark, *look.evidence.remarks]
    tell(remark for remark in remarks if remark)
    return look
