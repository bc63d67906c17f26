"""`ricordo load`: what an agent is given at session start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.arguments import add_json, add_memory
from ricordo.cli.opening import open_notebook

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from ricordo.notebook.surroundings import Surroundings

SUMMARY = "What an agent is given of the memory at session start, and what is cut off."


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `load`."""
    add_memory(parser)
    add_json(parser)


def run(options: Namespace, surroundings: Surroundings) -> int:
    """Print the load."""
    from ricordo.cli.output import print_json, print_lines
    from ricordo.notebook.describe import describe_load, dropped
    from ricordo.notebook.report import load_line
    from ricordo.text import one_line, visible

    memory = open_notebook(options, surroundings).read()
    if options.json:
        print_json(describe_load(memory, with_text=True))
        return 0
    lines = [visible(line.rstrip("\r")) for line in memory.load.text.split("\n")]
    lost = dropped(memory)
    print_lines([*lines, "", f"── {load_line(memory)} ──"])
    print_lines(
        [f"line {line}: {one_line(title)} ({one_line(path)})" for line, title, path in lost]
    )
    return 0
