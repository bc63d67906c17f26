"""`ricordo undo`: take the last act back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.arguments import add_memory
from ricordo.cli.taking_back import take_back

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from ricordo.notebook.surroundings import Surroundings

SUMMARY = "Take the last act back: a change of files, or a decision."


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `undo`."""
    add_memory(parser)


def run(options: Namespace, surroundings: Surroundings) -> int:
    """Undo."""
    from ricordo.notebook.undo import undo

    return take_back(options, surroundings, undo, "undone")
