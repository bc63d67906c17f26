"""`ricordo ledger`: what curation cost and what it bought."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.arguments import add_json, add_memory
from ricordo.cli.opening import open_notebook

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from ricordo.notebook.surroundings import Surroundings

SUMMARY = """What curation cost and what it bought.

Tokens of the activity that was curated against those of the notes, how often agents read them
since, what the curations took from the notes and brought to them, and every run with its cost and
what you took of it. Tokens are estimates; costs are those that engines told."""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `ledger`."""
    add_memory(parser)
    add_json(parser)


def run(options: Namespace, surroundings: Surroundings) -> int:
    """Print the ledger."""
    from ricordo.cli.output import print_json, print_lines
    from ricordo.notebook.bought import bought
    from ricordo.notebook.describe_bought import describe_bought, told_bought

    notebook = open_notebook(options, surroundings)
    memory = notebook.read()
    notebook.gather(memory)
    it = bought(notebook, memory)
    if options.json:
        print_json(describe_bought(it))
    else:
        print_lines([line for part in told_bought(it) for line in (part.title, *part.lines, "")])
    return 0
