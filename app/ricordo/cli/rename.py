"""`ricordo rename`: give a note another name; links and index follow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.arguments import add_memory
from ricordo.cli.changing import begin_reported, make
from ricordo.cli.opening import open_notebook
from ricordo.text import one_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from ricordo.notebook.surroundings import Surroundings

SUMMARY = "Give a note another name or path; links and index follow."


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `rename`."""
    parser.add_argument("note", metavar="NOTE", help="its name, its file, or its path")
    parser.add_argument("name", metavar="NAME", help="the new name, file name or path")
    add_memory(parser)


def run(options: Namespace, surroundings: Surroundings) -> int:
    """Rename the note."""
    from ricordo.memory.change import Change
    from ricordo.notebook.pick import pick_note
    from ricordo.notebook.rename import rename_to

    notebook = open_notebook(options, surroundings)
    memory = begin_reported(notebook)
    act = rename_to(memory, pick_note(memory, options.note), options.name)
    done = f"renamed {one_line(act.path)} to {one_line(act.to)}"
    make(notebook, memory, Change(act, "renamed by hand"), done)
    return 0
