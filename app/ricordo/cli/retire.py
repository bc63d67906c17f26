"""`ricordo retire`: a note and its entries leave the memory; the history keeps them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.arguments import add_memory
from ricordo.cli.changing import begin_reported, make
from ricordo.cli.opening import open_notebook
from ricordo.text import one_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from ricordo.notebook.surroundings import Surroundings

SUMMARY = "Take a note out of the memory; the history keeps it."


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `retire`."""
    parser.add_argument("note", metavar="NOTE", help="its name, its file, or its path")
    add_memory(parser)
    parser.add_argument(
        "--successor", metavar="NOTE", help="the note to which links go from now on"
    )
    parser.add_argument("--reason", default="", help="why it goes")


def run(options: Namespace, surroundings: Surroundings) -> int:
    """Retire the note."""
    from ricordo.memory.change import Change, Retire
    from ricordo.notebook.pick import pick_note

    notebook = open_notebook(options, surroundings)
    memory = begin_reported(notebook)
    note = pick_note(memory, options.note)
    successor = pick_note(memory, options.successor).path if options.successor else ""
    change = Change(Retire(note.path, successor), options.reason or "retired by hand")
    make(notebook, memory, change, f"retired {one_line(note.path)}")
    return 0
