"""`ricordo pending`: proposals that wait for a decision."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ricordo.cli.arguments import add_json, add_memory
from ricordo.cli.changing import begin_reported
from ricordo.cli.opening import open_notebook
from ricordo.cli.proposals import print_taken, proposal_lines

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence

    from ricordo.curator.waiting import Waiting
    from ricordo.notebook.surroundings import Surroundings

SUMMARY = """Show the proposals that wait, apply them, or drop them.

What would empty or halve a note, or retire many in a day, is applied only after its confirmation
was typed at a terminal."""
_CONFIRMATION = "apply"


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `pending`."""
    add_memory(parser)
    add_json(parser)
    act = parser.add_mutually_exclusive_group()
    act.add_argument("--apply", action="store_true", help="apply all that still fits")
    act.add_argument("--drop", action="store_true", help="drop them; they are not proposed again")


def run(options: Namespace, surroundings: Surroundings) -> int:
    """Show, apply or drop what waits."""
    from ricordo.cli.output import print_json, print_lines
    from ricordo.notebook.curate import drop, take
    from ricordo.notebook.describe_proposals import describe_waiting
    from ricordo.notebook.pending import recall_curation

    notebook = open_notebook(options, surroundings)
    memory = begin_reported(notebook) if options.apply else notebook.read()
    kept = recall_curation(surroundings.state, memory.root)
    if options.drop:
        count = drop(notebook, memory)
        if options.json:
            print_json(describe_waiting(()))
        else:
            print_lines([f"dropped {count}"])
    elif options.apply:
        confirmed = _is_confirmed(kept.waiting)

        def wanted(it: Waiting) -> str:
            alarms = "; ".join(alarm.value for alarm in it.alarms)
            return "" if confirmed or not alarms else f"{alarms}: this has to be confirmed"

        taken = take(notebook, memory, kept, wanted, by_hand=True)
        if options.json:
            print_json(describe_waiting(taken.kept.waiting))
        else:
            print_taken(taken)
    elif options.json:
        print_json(describe_waiting(kept.waiting))
    else:
        lines = [line for it in kept.waiting for line in proposal_lines(it)]
        print_lines([*lines, f"{len(kept.waiting)} wait"])
    return 0


def _is_confirmed(waits: Sequence[Waiting]) -> bool:
    """Ask, where a person sits at the terminal, for the word that alarming changes need."""
    from ricordo.text import one_line

    alarming = [it for it in waits if it.alarms]
    if not alarming or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    for it in alarming:
        print(f"{it.op} {one_line(it.path)}: {'; '.join(it.alarms)}", file=sys.stderr)
    print(f"Type “{_CONFIRMATION}” to do this too:", file=sys.stderr)
    return sys.stdin.readline().strip() == _CONFIRMATION
