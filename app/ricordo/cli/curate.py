"""`ricordo curate`: propose changes by what was said to agents since the last time."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ricordo.cli.arguments import add_json, add_memory
from ricordo.cli.changing import begin_reported
from ricordo.cli.confirm import is_confirmed
from ricordo.cli.opening import open_notebook
from ricordo.cli.proposals import brief_lines, print_taken, proposal_lines, rejected_lines
from ricordo.errors import WrongUsage
from ricordo.text import one_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from datetime import datetime

    from ricordo.curator.brief import Brief
    from ricordo.notebook.curate import Curation
    from ricordo.notebook.open import Notebook
    from ricordo.notebook.spoken import Scope
    from ricordo.notebook.surroundings import Surroundings

SUMMARY = """Propose changes to a memory by what you said to agents since the last curation.

Nothing is changed: the proposals wait, and `ricordo pending` shows, applies or drops them."""

_CONFIRMATION = "curate"


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
    parser.add_argument(
        "--session",
        metavar="F",
        help="only this transcript: a file of Claude Code, Codex or opencode, or the database of "
        "opencode with # and the id of a session behind it",
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="show the proposals and the measure of the brief, keep nothing",
    )
    parser.add_argument(
        "--brief", action="store_true", help="show the brief that an engine is given, and end"
    )
    parser.add_argument(
        "--yes", action="store_true", help="apply at once what no warning speaks against"
    )


def run(options: Namespace, surroundings: Surroundings) -> int:
    """Propose; keep the proposals, or apply those that are plain."""
    from ricordo.notebook.curate import begin, propose_prepared, take
    from ricordo.notebook.engines import ENGINES
    from ricordo.notebook.preparing import prepare

    if (options.dry_run or options.brief) and options.yes:
        raise WrongUsage("--dry-run and --brief apply nothing, so they do not go with --yes.")
    scope = _scope(options, surroundings)
    notebook = open_notebook(options, surroundings)
    is_trial = options.dry_run or options.brief
    if not is_trial:
        _refuse_storm(notebook)
    memory = notebook.read() if is_trial else begin_reported(notebook)
    prepared = prepare(notebook, memory, scope)
    for remark in prepared.remarks:
        print(f"ricordo: {one_line(remark)}", file=sys.stderr)
    if options.brief:
        _print_brief(options, prepared.brief)
        return 0
    curation = propose_prepared(notebook, prepared, make=ENGINES[options.engine])
    if options.dry_run:
        _print(options, curation)
        return 0
    kept = begin(notebook, curation)
    if not options.yes:
        _print(options, curation)
        return 0
    taken = take(notebook, memory, kept, lambda it: "; ".join(it.told), by_hand=False)
    _print(options, curation, applied=len(taken.applied))
    if not options.json:
        print_taken(taken)
    return 0


def _refuse_storm(notebook: Notebook) -> None:
    """Where the memory was curated too often, ask the person who sits at the terminal. Raises
    TooOften where nobody does, or where they do not want it.
    """
    from ricordo.errors import TooOften
    from ricordo.notebook.storm import refuse_storm

    try:
        refuse_storm(notebook)
    except TooOften as storm:
        if not is_confirmed([storm.message], _CONFIRMATION, "curate all the same"):
            raise


def _scope(options: Namespace, surroundings: Surroundings) -> Scope:
    import os

    from ricordo.notebook.spoken import Scope

    path = os.path.join(surroundings.cwd, options.session) if options.session else ""
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
        print_json(describe_curation(curation, applied))
        return
    lines = [line for it in curation.proposals for line in proposal_lines(it)]
    lines += rejected_lines(curation.rejected)
    lines += brief_lines(curation.brief) if options.dry_run else []
    count = len(curation.proposals)
    lines.append(f"{count} proposed, {len(curation.rejected)} rejected")
    if count and applied is None and not options.dry_run:
        lines.append("They wait: `ricordo pending` shows them, --apply and --drop decide.")
    print_lines(lines)


def _print_brief(options: Namespace, brief: Brief) -> None:
    from ricordo.cli.output import print_json, print_lines

    if options.json:
        left_out = dict(brief.left_out)
        print_json({"brief": brief.text, "input_tokens": brief.tokens, "left_out": left_out})
    else:
        print_lines([*brief.text.split("\n")[:-1], *brief_lines(brief)])
