"""From the words of a command to an opened memory."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ricordo.cli.arguments import memory_path
from ricordo.text import one_line

if TYPE_CHECKING:
    from argparse import Namespace

    from ricordo.notebook.open import Notebook
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


def told_settings(surroundings: Surroundings) -> Settings:
    """Return the person's settings; remarks on them go to stderr."""
    from ricordo.notebook.settle import load_settings
    from ricordo.tui.actions.registry import known_actions

    settings, remarks = load_settings(surroundings, known_actions())
    for remark in remarks:
        print(f"ricordo: {one_line(str(remark))}", file=sys.stderr)
    return settings
