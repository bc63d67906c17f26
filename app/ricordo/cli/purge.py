"""`ricordo purge`: remove a value from every version in the history."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ricordo.text import one_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from ricordo.notebook.surroundings import Surroundings

SUMMARY = """Remove a value from all versions in the history, of every memory.

It is removed from quotes of sessions, searches without results, indexes and lists in the state
directory too; indexes that held it are built again when they are next needed.

The value is read from standard input, so that it stands in no list of processes and no shell
history. The notes themselves are not touched; those that still hold the value are named."""
SHORTEST = 4
"""Characters; a shorter value would tear innocent texts."""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `purge`: there are none."""


def run(options: Namespace, surroundings: Surroundings) -> int:
    """Purge the value."""
    from ricordo.cli.output import note_change, print_errors, print_lines
    from ricordo.errors import WrongUsage
    from ricordo.notebook.purge import purge_value

    if sys.stdin.isatty():
        print_errors(["The value, then Enter and ctrl+d:"])
    value = sys.stdin.read().strip("\r\n")
    if len(value.strip()) < SHORTEST:
        raise WrongUsage(f"The value on standard input must have at least {SHORTEST} characters.")
    purged = purge_value(surroundings, value)
    note_change("removed the value from the history")
    counted = purged.history
    lines = [
        f"removed from {counted.contents} texts and {counted.told} reasons and paths in the history"
    ]
    if purged.quotes:
        lines.append(f"and from {purged.quotes} quotes and titles of sessions")
    if purged.derived:
        lines.append(f"and from {purged.derived} search misses, indexes and lists of our own")
    left = {
        "It still stands in these notes, and comes into the history with them:": (
            purged.still_holding
        ),
        "It still stands in these files of our own state; delete them:": purged.copies,
        "These damaged histories cannot be searched; delete them:": purged.unsearched,
    }
    for told, paths in left.items():
        lines += [told, *(f"  {one_line(path)}" for path in paths)] if paths else []
    print_lines(lines)
    return 0
