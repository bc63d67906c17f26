"""`ricordo pending`: proposals that wait for a decision."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.arguments import add_json, add_memory
from ricordo.cli.changing import begin_reported
from ricordo.cli.confirm import is_confirmed
from ricordo.cli.opening import open_notebook
from ricordo.cli.proposals import note_taken, print_taken, proposal_lines
from ricordo.text import one_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from ricordo.memory.memory import Memory
    from ricordo.notebook.open import Notebook
    from ricordo.notebook.pending import Kept
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
    from ricordo.cli.output import note_change, print_json, print_lines
    from ricordo.notebook.curate import drop
    from ricordo.notebook.describe_proposals import describe_waiting
    from ricordo.notebook.pending import recall_curation

    notebook = open_notebook(options, surroundings)
    memory = begin_reported(notebook) if options.apply else notebook.read()
    kept = recall_curation(surroundings.state, memory.root)
    if options.drop:
        count = drop(notebook, memory)
        note_change(f"proposals dropped: {count}")
        if options.json:
            print_json(describe_waiting(()))
        else:
            print_lines([f"dropped {count}"])
    elif options.apply:
        _apply(options, notebook, memory, kept)
    elif options.json:
        print_json(describe_waiting(kept.waiting))
    else:
        lines = [line for it in kept.waiting for line in proposal_lines(it)]
        print_lines([*lines, f"{len(kept.waiting)} wait"])
    return 0


def _apply(options: Namespace, notebook: Notebook, memory: Memory, kept: Kept) -> None:
    from ricordo.cli.output import print_json
    from ricordo.notebook.curate import alarms, take
    from ricordo.notebook.describe_proposals import describe_waiting

    alarming = alarms(notebook, memory, kept.waiting)
    asked = [
        f"{it.op} {one_line(it.path)}: {'; '.join(alarming[it.id])}"
        for it in kept.waiting
        if it.id in alarming
    ]
    is_meant = bool(asked) and is_confirmed(asked, _CONFIRMATION, "do this too")
    confirmed = alarming if is_meant else ()
    taken = take(notebook, memory, kept, lambda _: "", by_hand=True, confirmed=confirmed)
    note_taken(taken)
    if options.json:
        print_json(describe_waiting(taken.kept.waiting))
    else:
        print_taken(taken)
