"""`ricordo recall`: the notes that an agent should read for a message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.arguments import add_json, add_memory
from ricordo.cli.found import add_number, print_results
from ricordo.cli.opening import open_notebook
from ricordo.cli.output import tell

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from ricordo.notebook.surroundings import Surroundings

SUMMARY = """The notes an agent should read for a message; none where none bears on it.

Nothing is recorded: only the hook gives notes to agents.
Notes with a credential, or with text that lint reports as instruction-shaped, are never among them;
`search` finds them.

With --ambient there is no message: the notes are those that the surroundings call for, which are
the current directory and its git branch, files changed lately or in the last three commits, the day
of the week and the part of the day, and after them what the notes that were used last remind of. A
memory whose project is not known gives none."""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `recall`."""
    parser.add_argument("message", metavar="MESSAGE", nargs="?", default="", help="what is said")
    add_memory(parser)
    add_number(parser)
    parser.add_argument(
        "--ambient",
        action="store_true",
        help="the notes that the surroundings call for, instead of those for a MESSAGE",
    )
    add_json(parser)


def run(options: Namespace, surroundings: Surroundings) -> int:
    """Print the notes."""
    from ricordo.errors import WrongUsage
    from ricordo.notebook.ambient import ambient
    from ricordo.notebook.recall import open_index, recall

    if options.ambient and options.message and not options.path:
        options.path, options.message = options.message, ""
    if not options.message and not options.ambient:
        raise WrongUsage("recall needs a MESSAGE, or --ambient.")
    notebook = open_notebook(options, surroundings)
    memory = notebook.read()
    index = open_index(notebook.place, surroundings)
    if options.ambient and not notebook.place.project:
        tell(["The project of this memory is not known: name a MESSAGE instead of --ambient."])
        found = []
    elif options.ambient:
        found = ambient(index, memory, notebook.place, surroundings, options.number)
    else:
        found = recall(index, memory, options.message, surroundings, options.number)
    return print_results(found, options.json)
