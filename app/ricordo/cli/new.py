"""`ricordo new`: make a note and its entry in the index."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ricordo.cli.arguments import add_memory
from ricordo.cli.changing import begin_reported, make
from ricordo.cli.opening import open_notebook
from ricordo.text import one_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from ricordo.notebook.surroundings import Surroundings

SUMMARY = "Make a note from its type's template; its body comes from standard input if piped."


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `new`."""
    parser.add_argument("name", metavar="NAME", help="what the note is called")
    add_memory(parser)
    parser.add_argument("--type", metavar="T", default="", help="its type")
    parser.add_argument("--description", metavar="D", default="", help="one line: what it says")


def run(options: Namespace, surroundings: Surroundings) -> int:
    """Make the note."""
    from ricordo.errors import WrongUsage
    from ricordo.memory.change import Change
    from ricordo.notebook.new import new_note

    if not options.name.strip():
        raise WrongUsage("A note needs a name.")
    body = None if sys.stdin.isatty() else sys.stdin.read()
    notebook = open_notebook(options, surroundings)
    types = notebook.place.layout.types
    if options.type and types and options.type not in types:
        known = ", ".join(sorted(types))
        raise WrongUsage(f"This memory has no type “{one_line(options.type)}”, only {known}.")
    memory = begin_reported(notebook)
    act = new_note(memory, options.name, options.type, options.description, body or None)
    make(notebook, memory, Change(act, "made by hand"), f"made {one_line(act.path)}")
    return 0
