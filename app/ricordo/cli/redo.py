"""`ricordo redo`: do again what was undone last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.arguments import add_memory
from ricordo.cli.taking_back import take_back

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from ricordo.notebook.surroundings import Surroundings

SUMMARY = "Do again what was undone last."


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `redo`."""
    add_memory(parser)


def run(options: Namespace, surroundings: Surroundings) -> int:
    """Redo."""
    from ricordo.notebook.undo import redo

    return take_back(options, surroundings, redo, "done again")
