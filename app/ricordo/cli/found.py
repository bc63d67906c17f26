"""Printing what a search or a recall found."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ricordo.text import one_line

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Sequence

    from ricordo.notebook.recall import Result

NOTHING = 1
"""The exit code when nothing was found."""


def add_number(parser: ArgumentParser, default: int = 5) -> None:
    """Add `-n N`."""
    parser.add_argument(
        "-n",
        dest="number",
        metavar="N",
        type=_positive,
        default=default,
        help=f"at most so many notes ({default})",
    )


def print_results(found: Sequence[Result], as_json: bool, roots: Sequence[str] = ()) -> int:
    """Print the notes that were `found`, each with the memory of which it is where `roots` stand
    beside them; return the exit code.
    """
    from ricordo.cli.output import print_json, print_lines
    from ricordo.notebook.recall import describe_results

    if as_json:
        print_json(describe_results(found, roots))
    else:
        for it, root in zip(found, roots or [""] * len(found), strict=True):
            note = it.note
            path = os.path.join(root, note.path)
            head = f"{path}  {note.name}" + (f"  ({note.type})" if note.type else "")
            rows = [head, f"    {it.snippet}", f"    {'; '.join(it.why)}"]
            print_lines([one_line(row) for row in rows if row.strip()])
    return 0 if found else NOTHING


def _positive(text: str) -> int:
    if text.isdecimal() and (number := int(text)) > 0:
        return number
    from argparse import ArgumentTypeError

    raise ArgumentTypeError(f"wants a number from 1 on, not “{one_line(text)}”")
