"""`ricordo demo`: opens a throwaway copy of the sample memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from ricordo.notebook.surroundings import Surroundings

SUMMARY = "Open a throwaway copy of the sample memory; nothing of yours is read or changed."


def add_arguments(parser: ArgumentParser) -> None:
    """`demo` takes no words of its own."""
    parser.set_defaults(path=None, memory=None)


def run(options: Namespace, surroundings: Surroundings) -> int:
    """Copy the sample memory, open the copy, and remove it afterwards."""
    from ricordo.cli import open as opening
    from ricordo.notebook.sample import copied_sample

    with copied_sample(surroundings) as sample:
        options.path = sample.memory
        return opening.run(options, sample.surroundings)
