"""`ricordo handoff`: write what the next agent needs to go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.arguments import add_json, add_memory
from ricordo.cli.changing import begin_reported
from ricordo.cli.opening import open_notebook
from ricordo.cli.output import tell
from ricordo.text import one_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from ricordo.notebook.handing_off import Draft, Finished, Wish, Written
    from ricordo.notebook.open import Notebook
    from ricordo.notebook.surroundings import Surroundings

SUMMARY = """Write HANDOFF.md: what the next agent needs to go on with the work of a session.

Each statement says how far it is proved, and by what; `ricordo resume` proves it again. What looks
like a credential is kept back. A HANDOFF.md that somebody else wrote or edited is left alone."""

_TARGETS = ("claude", "codex", "opencode", "gemini", "any")
_ENGINES = ("rules",)
_BUDGET = 4_000


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `handoff`."""
    add_memory(parser)
    add_json(parser)
    parser.add_argument(
        "--for",
        dest="target",
        choices=_TARGETS,
        default="any",
        help="which agent reads it: its headings, their order, the length that suits (any)",
    )
    parser.add_argument(
        "--session",
        metavar="F",
        action="append",
        default=[],
        help="this transcript instead of the latest of the project, also several: a file of Claude "
        "Code, Codex or opencode, or the database of opencode with # and the id of a session "
        "behind it",
    )
    parser.add_argument(
        "--budget",
        metavar="N",
        type=int,
        default=_BUDGET,
        help=f"tokens that it may take, four bytes each ({_BUDGET})",
    )
    parser.add_argument(
        "--engine", choices=_ENGINES, default="rules", help="what composes it: the rules (rules)"
    )
    parser.add_argument(
        "--messages",
        action="store_true",
        help="with every message of the person, word for word, as far as there is room",
    )
    parser.add_argument(
        "-o", dest="output", metavar="FILE", default="", help="write this file instead"
    )


def run(options: Namespace, surroundings: Surroundings) -> int:
    """Draft, write, and say how the next agent picks it up."""
    from ricordo.cli.output import print_json, print_lines
    from ricordo.cli.progress import progress_line
    from ricordo.curator.engine import Progress
    from ricordo.notebook.describe_handoff import describe_handoff
    from ricordo.notebook.handing_off import draft, finished, write

    notebook = open_notebook(options, surroundings)
    memory = begin_reported(notebook)
    with progress_line() as show:
        drafted = draft(notebook, _wish(options), lambda: show(Progress("reading transcripts")))
        done = finished(drafted)
    tell(drafted.remarks)
    written = write(notebook, memory, drafted, done)
    if options.json:
        print_json(describe_handoff(done, written.path))
    else:
        print_lines(_lines(notebook, drafted, done, written))
    return 0


def _wish(options: Namespace) -> Wish:
    from ricordo.handoff.document import Target
    from ricordo.notebook.handing_off import Wish

    return Wish(
        Target(options.target),
        options.budget,
        tuple(options.session),
        options.output,
        options.messages,
    )


def _lines(notebook: Notebook, drafted: Draft, done: Finished, written: Written) -> list[str]:
    """Return what was written and how it is picked up."""
    from ricordo.notebook.handing_off import pickup_of

    head = done.handoff.head
    act = "updated" if drafted.destination.handoff else "wrote"
    marks = ", ".join(f"{count} {status.value}" for status, count in done.counts.items() if count)
    lines = [
        f"{act} {one_line(written.path)} for {head.target.value}",
        f"  {len(done.handoff.statements)} statements: {marks or 'none'}",
        f"  about {done.tokens:,} of {head.budget:,} tokens, {done.handoff.left_out} left out, "
        f"{head.redactions} credentials kept back",
        "  composed by rules from the transcript, without a model",
        f"next: {written.start}",
    ]
    at_start = pickup_of(notebook, drafted)
    if at_start is not None:
        lines.append(f"or, to have it read at every start, in {at_start.file}: {at_start.added}")
    return [*lines, "`ricordo undo` takes it back."]
