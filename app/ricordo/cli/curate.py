"""`ricordo curate`: propose changes by what was said to agents since the last time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ricordo.cli.arguments import add_json, add_memory
from ricordo.cli.changing import begin_reported
from ricordo.cli.confirm import is_confirmed
from ricordo.cli.engine import (
    add_engine,
    engine_of,
    estimate_line,
    let_run,
    new_program_lines,
    propose_told,
)
from ricordo.cli.kept_back import add_letting_out, decide, kept_back_lines, let_out_lines
from ricordo.cli.opening import open_notebook
from ricordo.cli.output import note_change, tell
from ricordo.cli.proposals import (
    brief_lines,
    note_taken,
    print_taken,
    proposal_lines,
    rejected_lines,
)
from ricordo.errors import WrongUsage

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Mapping
    from datetime import datetime

    from ricordo.curator.asking import Estimate
    from ricordo.curator.waiting import Waiting
    from ricordo.memory.memory import Memory
    from ricordo.notebook.curate import Curation, Taken
    from ricordo.notebook.models import Outside
    from ricordo.notebook.open import Notebook
    from ricordo.notebook.preparing import Prepared
    from ricordo.notebook.spoken import Scope
    from ricordo.notebook.surroundings import Surroundings

SUMMARY = """Propose changes to a memory by what you said to agents since the last curation.

Nothing is changed: the proposals wait, and `ricordo pending` shows, applies or drops them.
What a model or a program may cost is told before it is asked, and what it did cost after."""

_CONFIRMATION = "curate"
_NOT_RUN = (
    "It was not run, and this is what it would read. Without --dry-run you are asked at a terminal "
    "whether it may run, and --yes lets it."
)
_NOT_ROUTINE = "it is not routine, so --yes leaves it for you to decide"
_TRIAL = "Nothing of this is kept, though it was asked and paid for; without --dry-run it waits."


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `curate`."""
    add_memory(parser)
    add_json(parser)
    add_engine(parser)
    add_letting_out(parser)
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
        help="show the proposals and the measure of the brief, keep nothing; a model is asked and "
        "paid all the same; of a program that was not run before its line and the brief are shown",
    )
    parser.add_argument(
        "--brief",
        action="store_true",
        help="show the brief that an engine is given and what it may cost, ask nobody",
    )
    parser.add_argument(
        "--yes",
        action="store_true",
        help="apply at once what is routine and has no warning: an entry for a note that has none, "
        "a link to a renamed note, quoted frontmatter, a duplicate entry removed; let a new "
        "program run; neither of it with --dry-run or --brief",
    )


def run(options: Namespace, surroundings: Surroundings) -> int:
    """Propose; keep the proposals, or apply those that are routine."""
    from ricordo.notebook.curate import begin, routine_ids, take, warnings_of

    scope = _scope(options, surroundings)
    notebook = open_notebook(options, surroundings)
    outside = engine_of(options, notebook)
    prepared = _prepared(options, notebook, outside, scope)
    if options.allow or options.withhold:
        return decide(options, notebook, prepared)
    if options.brief:
        _print_brief(options, notebook, prepared, outside)
        return 0
    if options.dry_run:
        _try(options, notebook, prepared, outside)
        return 0
    curation = propose_told(notebook, prepared, outside)
    estimate = outside.ask.estimate(prepared.brief) if outside else None
    kept = begin(notebook, curation)
    note_change(f"proposals kept: {len(curation.proposals)}")
    if not options.yes:
        _print(options, prepared.memory, curation, estimate)
        return 0
    routine = routine_ids(notebook, prepared.memory, kept.waiting)

    def why_left(it: Waiting) -> str:
        return warnings_of(it) or ("" if it.id in routine else _NOT_ROUTINE)

    taken = take(notebook, prepared.memory, kept.waiting, why_left, by_hand=False)
    note_taken(taken)
    _print(options, prepared.memory, curation, estimate, taken)
    if not options.json:
        print_taken(taken, prepared.memory)
    return 0


def _try(
    options: Namespace, notebook: Notebook, prepared: Prepared, outside: Outside | None
) -> None:
    """Show what a curation would come to, of which nothing is kept; a new program is not run."""
    from ricordo.notebook.chosen import new_program
    from ricordo.notebook.curate import record_trial

    if outside is not None and (program := new_program(notebook.surroundings, outside)):
        tell([*new_program_lines(program), _NOT_RUN])
        _print_brief(options, notebook, prepared, outside, _unasked(notebook, prepared, outside))
        return
    curation = propose_told(notebook, prepared, outside)
    record_trial(notebook, curation)
    estimate = outside.ask.estimate(prepared.brief) if outside else None
    _print(options, prepared.memory, curation, estimate)
    tell([_TRIAL] if outside and curation.proposals else [])


def _prepared(
    options: Namespace, notebook: Notebook, outside: Outside | None, scope: Scope
) -> Prepared:
    """Return what is given to the engine, once nothing speaks against asking it."""
    from ricordo.cli.progress import progress_line
    from ricordo.notebook.chosen import prepare_for

    asks_nobody = options.brief or options.allow or options.withhold
    is_trial = options.dry_run or asks_nobody
    if not is_trial:
        let_run(notebook, outside, is_meant=options.yes)
        _refuse_storm(notebook)
    memory = notebook.read() if is_trial else begin_reported(notebook)
    with progress_line() as step:
        prepared = prepare_for(outside, notebook, memory, scope, step)
    tell(prepared.remarks)
    return prepared


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
        return moment if moment.tzinfo else moment.astimezone()
    except (ValueError, OverflowError):
        raise WrongUsage(
            "The time given as --since is no day or moment such as 2026-05-01T09:00."
        ) from None


def _print(
    options: Namespace,
    memory: Memory,
    curation: Curation,
    estimate: Estimate | None,
    taken: Taken | None = None,
) -> None:
    from ricordo.cli.output import print_json, print_lines
    from ricordo.notebook.describe_proposals import describe_curation, mask_proposal
    from ricordo.notebook.unread import summed_up

    if options.json:
        print_json(describe_curation(curation, memory, taken, estimate))
        return
    masked = (mask_proposal(it, memory) for it in curation.proposals)
    lines = [line for it in masked for line in proposal_lines(it)]
    lines += rejected_lines(curation.rejected)
    lines += [it.told for it in summed_up(curation.skipped)]
    lines += brief_lines(curation.brief) if options.dry_run else []
    count = len(curation.proposals)
    lines.append(f"{count} proposed, {len(curation.rejected)} rejected")
    if count and taken is None and not options.dry_run:
        lines.append("They are pending: `ricordo pending` shows them, --apply and --drop decide.")
    print_lines(lines)


def _unasked(notebook: Notebook, prepared: Prepared, outside: Outside) -> Mapping[str, Any]:
    """Return what a dry run prints as JSON where nobody was asked."""
    from ricordo.curator.engine import Answer
    from ricordo.notebook.curate import checked
    from ricordo.notebook.describe_proposals import describe_curation

    curation = checked(notebook, prepared, outside.author, Answer())
    return describe_curation(curation, prepared.memory, None)


def _print_brief(
    options: Namespace,
    notebook: Notebook,
    prepared: Prepared,
    outside: Outside | None,
    also: Mapping[str, Any] | None = None,
) -> None:
    """Print what an engine would be given; `also` stands in the JSON."""
    from dataclasses import asdict

    from ricordo.cli.output import print_json, print_lines

    brief = prepared.brief
    text, kept_back = prepared.redaction.foreseen(brief.stable, brief.changing)
    tell([*kept_back_lines(kept_back), *let_out_lines(notebook)])
    estimate = outside.ask.estimate(brief) if outside else None
    if options.json:
        told = {"brief": text, "input_tokens": brief.tokens, "left_out": dict(brief.left_out)}
        told |= {"estimate": asdict(estimate)} if estimate else {}
        print_json({**(also or {}), **told})
        return
    lines = [*text.split("\n")[:-1], *brief_lines(brief)]
    lines += [estimate_line(outside, estimate)] if outside and estimate else []
    print_lines(lines)
