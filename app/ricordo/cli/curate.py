"""`ricordo curate`: propose changes by what was said to agents since the last time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.arguments import add_json, add_memory
from ricordo.cli.changing import begin_reported
from ricordo.cli.opening import open_notebook
from ricordo.cli.proposals import print_taken, proposal_lines, rejected_lines
from ricordo.errors import WrongUsage

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from datetime import datetime

    from ricordo.notebook.curate import Curation
    from ricordo.notebook.spoken import Scope
    from ricordo.notebook.surroundings import Surroundings

SUMMARY = """Propose changes to a memory by what you said to agents since the last curation.

Nothing is changed: the proposals wait, and `ricordo pending` shows, applies or drops them."""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `curate`."""
    add_memory(parser)
    add_json(parser)
    parser.add_argument(
        "--engine",
        choices=("rules",),
        default="rules",
        help="what proposes; the rules need no key and no network (default: rules)",
    )
    parser.add_argument("--since", metavar="T", help="only what was said since then, ISO 8601")
    parser.add_argument("--session", metavar="F", help="only this transcript")
    parser.add_argument("--dry-run", action="store_true", help="show the proposals, keep nothing")
    parser.add_argument(
        "--yes", action="store_true", help="apply at once what no warning speaks against"
    )


def run(options: Namespace, surroundings: Surroundings) -> int:
    """Propose; keep the proposals, or apply those that are plain."""
    from ricordo.notebook.curate import keep, propose, take

    if options.dry_run and options.yes:
        raise WrongUsage("--dry-run applies nothing, so it does not go with --yes.")
    scope = _scope(options, surroundings)
    notebook = open_notebook(options, surroundings)
    memory = notebook.read() if options.dry_run else begin_reported(notebook)
    curation = propose(notebook, memory, scope)
    if options.dry_run:
        _print(options, curation)
        return 0
    keep(notebook, curation.kept)
    if not options.yes:
        _print(options, curation)
        return 0
    taken = take(notebook, memory, curation.kept, lambda it: "; ".join(it.told), by_hand=False)
    _print(options, curation, applied=len(taken.applied))
    if not options.json:
        print_taken(taken)
    return 0


def _scope(options: Namespace, surroundings: Surroundings) -> Scope:
    import os

    from ricordo.notebook.spoken import Scope
    from ricordo.text import one_line

    path = os.path.join(surroundings.cwd, options.session) if options.session else ""
    if path and not os.path.isfile(path):
        raise WrongUsage(f"--session: {one_line(path)} is no file.")
    return Scope(_moment(options.since) if options.since else None, path)


def _moment(text: str) -> datetime:
    from datetime import datetime

    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise WrongUsage(
            "The time given as --since is no day or moment such as 2026-05-01T09:00."
        ) from None
    return moment if moment.tzinfo else moment.astimezone()


def _print(options: Namespace, curation: Curation, applied: int | None = None) -> None:
    from ricordo.cli.output import print_json, print_lines
    from ricordo.notebook.describe_proposals import describe_curation

    if options.json:
        print_json(describe_curation(curation, options.engine, applied))
        return
    lines = [line for it in curation.proposals for line in proposal_lines(it)]
    lines += rejected_lines(curation.rejected)
    count = len(curation.proposals)
    lines.append(f"{count} proposed, {len(curation.rejected)} rejected")
    if count and applied is None and not options.dry_run:
        lines.append("They wait: `ricordo pending` shows them, --apply and --drop decide.")
    print_lines(lines)
