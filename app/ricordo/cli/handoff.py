"""`ricordo handoff`: write what the next agent needs to go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.arguments import add_json, add_memory
from ricordo.cli.changing import begin_reported
from ricordo.cli.engine import add_engine, engine_of, estimate_line, let_run
from ricordo.cli.kept_back import kept_back_lines
from ricordo.cli.opening import open_notebook_or_project
from ricordo.cli.output import tell
from ricordo.text import one_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from ricordo.notebook.drafting import Asked
    from ricordo.notebook.handing_off import Composer, Draft, Wish
    from ricordo.notebook.handing_over import Finished, Written
    from ricordo.notebook.models import Outside
    from ricordo.notebook.open import Notebook
    from ricordo.notebook.surroundings import Surroundings

SUMMARY = """Write HANDOFF.md: what the next agent needs to go on with the work of a session.

Each statement says how far it is proved, and by what; `ricordo resume` proves it again. What looks
like a credential is kept back. A HANDOFF.md that somebody else wrote or edited is left alone."""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `handoff`."""
    from ricordo.handoff.budget import DEFAULT
    from ricordo.handoff.document import Target

    add_memory(parser)
    add_json(parser)
    parser.add_argument(
        "--for",
        dest="target",
        choices=[target.value for target in Target],
        default=Target.ANY.value,
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
        default=DEFAULT,
        help=f"tokens that it may take, four bytes each ({DEFAULT})",
    )
    add_engine(parser, "puts it into words")
    parser.add_argument("--yes", action="store_true", help="let a new program run")
    parser.add_argument(
        "--messages",
        action="store_true",
        help="with every message of the person, word for word, as far as there is room",
    )
    parser.add_argument(
        "-o", dest="output", metavar="FILE", default="", help="write this file, or into this folder"
    )


def run(options: Namespace, surroundings: Surroundings) -> int:
    """Draft, write, and say how the next agent picks it up."""
    from ricordo.cli.output import note_change, print_json, print_lines
    from ricordo.notebook.describe_handoff import describe_handoff
    from ricordo.notebook.handing_over import finished, write

    notebook = open_notebook_or_project(options, surroundings)
    outside = engine_of(options, notebook)
    let_run(notebook, outside, is_meant=options.yes)
    memory = begin_reported(notebook)
    drafted = _drafted(options, notebook, outside)
    done = finished(drafted)
    tell(drafted.remarks)
    written = write(notebook, memory, drafted, done)
    if written.act is not None:
        note_change(f"wrote {written.path}")
    if options.json:
        print_json(describe_handoff(done, written.path))
    else:
        print_lines(_lines(notebook, drafted, done, written))
    return 0


def _drafted(options: Namespace, notebook: Notebook, outside: Outside | None) -> Draft:
    """Return the draft, and tell what asking an engine costs and what was kept back from it."""
    from ricordo.cli.progress import progress_line
    from ricordo.curator.engine import Progress
    from ricordo.notebook.handing_off import by_rules, draft

    asked: list[Asked] = []

    def before(it: Asked) -> None:
        asked.append(it)
        left_out = it.told.left_out
        told = [f"{left_out} facts had no room in what is sent"] if left_out else []
        tell([*told, estimate_line(it.outside, it.estimate)])

    reading = Progress("reading transcripts")
    with progress_line() as show:
        composer: Composer = by_rules
        if outside is not None:
            from ricordo.notebook.describe_run import answered
            from ricordo.notebook.drafting import by_engine

            composer = by_engine(outside, show, before, lambda run: tell([answered(run)]))
        try:
            return draft(notebook, _wish(options), lambda: show(reading), composer)
        finally:
            # it has left, whatever became of the answer
            tell(line for it in asked for line in kept_back_lines(it.told.redaction.told()))


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


def _how(engine: str) -> str:
    from ricordo.notebook.handing_off import RULES

    if engine == RULES:
        return "composed by rules from the transcript, without a model"
    return f"drafted by {one_line(engine)} from facts of the transcript"


def _lines(notebook: Notebook, drafted: Draft, done: Finished, written: Written) -> list[str]:
    """Return what was written and how it is picked up."""
    from ricordo.notebook.handing_over import pickup_of

    head = done.handoff.head
    act = "updated" if drafted.destination.handoff else "wrote"
    is_new = written.act is not None
    marks = ", ".join(f"{count} {status.value}" for status, count in done.counts.items() if count)
    credentials = "credential" if head.redactions == 1 else "credentials"
    lines = [
        f"{act if is_new else 'unchanged:'} {one_line(written.path)} for {head.target.value}",
        f"  {len(done.handoff.statements)} statements: {marks or 'none'}",
        f"  about {done.tokens:,} of {head.budget:,} tokens, {done.handoff.left_out} left out, "
        f"{head.redactions} {credentials} kept back",
        f"  {_how(head.engine)}",
        f"next: {written.start}",
    ]
    at_start = pickup_of(notebook, drafted)
    if at_start is not None:
        lines.append(f"or, to have it read at every start, in {at_start.file}: {at_start.added}")
    return [*lines, "`ricordo undo` takes it back."] if is_new else lines
