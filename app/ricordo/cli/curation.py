"""`ricordo curate`: propose changes by what was said to agents since the last time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ricordo.cli.command import Command
from ricordo.cli.edit import begin_reported
from ricordo.cli.engine import (
    add_engine,
    add_letting_out,
    decide,
    engine_of,
    estimate_line,
    kept_back_lines,
    let_out_lines,
    let_run,
    new_program_lines,
    propose_told,
)
from ricordo.cli.output import is_confirmed, note_change, tell
from ricordo.cli.parser import add_json, add_memory
from ricordo.cli.proposals import (
    brief_lines,
    note_taken,
    print_taken,
    proposal_lines,
    rejected_lines,
)
from ricordo.cli.workspace import open_notebook
from ricordo.errors import WrongUsage
from ricordo.text import one_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from ricordo.curation.engines.external import Estimate
    from ricordo.curation.pending import Waiting
    from ricordo.memory.memory import Memory
    from ricordo.services.curation.curation import Curation, Taken
    from ricordo.services.curation.pending import CurationState
    from ricordo.services.curation.preparation import CurationScope, Prepared
    from ricordo.services.engines.engines import Outside
    from ricordo.services.workspace.environment import Environment
    from ricordo.services.workspace.notebook import Notebook


CURATE_SUMMARY = """Propose changes to a memory by what you said to agents since the last curation.

Nothing is changed: the proposals wait, and `ricordo pending` shows, applies or drops them.
What a model or a program may cost is told before it is asked, and what it did cost after."""

_CONFIRMATION = "curate"
_NOT_RUN = (
    "It was not run, and this is what it would read. Without --dry-run you are asked at a terminal "
    "whether it may run, and --yes lets it."
)
_NOT_ROUTINE = "it is not routine, so --yes leaves it for you to decide"
_TRIAL = "Nothing of this is kept, though it was asked and paid for; without --dry-run it waits."


def add_curate_arguments(parser: ArgumentParser) -> None:
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


def run_curate(options: Namespace, environment: Environment) -> int:
    """Propose; keep the proposals, or apply those that are routine."""
    from ricordo.services.curation.curation import begin, routine_ids, take, warnings_of

    scope = _scope(options, environment)
    notebook = open_notebook(options, environment)
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
    from ricordo.services.curation.curation import record_trial
    from ricordo.services.engines.choice import new_program

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
    options: Namespace, notebook: Notebook, outside: Outside | None, scope: CurationScope
) -> Prepared:
    """Return what is given to the engine, once nothing speaks against asking it."""
    from ricordo.cli.output import progress_line
    from ricordo.services.engines.choice import prepare_for

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
    from ricordo.services.curation.preparation import refuse_storm

    try:
        refuse_storm(notebook)
    except TooOften as storm:
        if not is_confirmed([storm.message], _CONFIRMATION, "curate all the same"):
            raise


def _scope(options: Namespace, environment: Environment) -> CurationScope:
    import os

    from ricordo.services.curation.preparation import CurationScope

    path = os.path.join(environment.cwd, options.session) if options.session else ""
    return CurationScope(_moment(options.since) if options.since else None, path)


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
    from ricordo.services.curation.decision import describe_curation, mask_proposal
    from ricordo.services.curation.preparation import summed_up

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
    from ricordo.curation.engine import EngineAnswer
    from ricordo.services.curation.curation import checked
    from ricordo.services.curation.decision import describe_curation

    curation = checked(notebook, prepared, outside.author, EngineAnswer())
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


PENDING_SUMMARY = """Show the pending proposals, apply them, or drop them.

--apply by itself applies those without a warning; one with a warning has to be named. What would
empty or halve a note, or retire many in a day, is applied only after its confirmation was typed at
a terminal. `ricordo undo` reverts both: the proposals are pending again."""
_PENDING_CONFIRMATION = "apply"
_SHORTEST_ID = 4
"""Characters of an id that are enough, where no other one begins so."""
_ID = 12


def add_pending_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `pending`."""
    add_memory(parser)
    add_json(parser)
    act = parser.add_mutually_exclusive_group()
    act.add_argument(
        "--apply",
        nargs="*",
        metavar="ID",
        help="apply those that are named; without ID, those that no warning speaks against",
    )
    act.add_argument(
        "--drop",
        nargs="*",
        metavar="ID",
        help="drop those that are named, or all; they are not proposed again",
    )


def run_pending(options: Namespace, environment: Environment) -> int:
    """Show, apply or drop what is pending."""
    from ricordo.cli.output import print_json, print_lines
    from ricordo.services.curation.curation import pending_proposals
    from ricordo.services.curation.decision import describe_pending, mask_proposal
    from ricordo.services.curation.pending import recall_curation

    ids = _ids(options, environment)
    notebook = open_notebook(options, environment)
    is_shown = options.apply is None and options.drop is None
    memory = notebook.read() if is_shown else begin_reported(notebook)
    kept = recall_curation(environment.state, memory.root)
    pending = pending_proposals(notebook, memory)
    if options.apply is not None:
        _apply(options, notebook, memory, _named(kept, pending, ids), is_named=bool(ids))
    elif options.drop is not None:
        _drop(options, notebook, memory, _named(kept, pending, ids))
    elif options.json:
        print_json(describe_pending(pending, memory))
    else:
        masked = (mask_proposal(it, memory) for it in pending)
        lines = [line for it in masked for line in proposal_lines(it)]
        print_lines([*lines, f"{len(pending)} pending"])
    return 0


def _ids(options: Namespace, environment: Environment) -> list[str]:
    """Return the ids behind --apply or --drop. Where no PATH is given, a word that is no id is
    taken for it. Raises WrongUsage.
    """
    import os

    words = list(dict.fromkeys((options.apply or []) + (options.drop or [])))
    ids = [word for word in words if _is_id(word)]
    others = [word for word in words if not _is_id(word)]
    if others and not (options.path or options.memory):
        path = others.pop()
        if not os.path.exists(os.path.join(environment.cwd, path)):
            others.append(path)
        options.path = path
    if others:
        raise WrongUsage(_no_such(others[0]))
    return ids


def _is_id(word: str) -> bool:
    return _SHORTEST_ID <= len(word) <= _ID and set(word) <= set("0123456789abcdef")


def _no_such(word: str) -> str:
    return f"There is no pending proposal “{one_line(word)}”: `ricordo pending` lists them."


def _named(kept: CurationState, pending: Sequence[Waiting], ids: Sequence[str]) -> list[Waiting]:
    """Return the `pending` proposals that `ids` name, whole or by their first characters; all where
    there are none. Raises WrongUsage.
    """
    chosen: dict[str, Waiting] = {}
    for id in ids:
        found = [it for it in pending if it.id.startswith(id)]
        if len(found) > 1:
            raise WrongUsage(f"{id} may be {' or '.join(it.id for it in found)}: name one.")
        if not found:
            was = "refused" if id in kept.refused else "applied" if id in kept.applied else ""
            raise WrongUsage(f"{id} was {was} already." if was else _no_such(id))
        chosen[found[0].id] = found[0]
    # in their order: one may need those before it
    return [it for it in pending if it.id in chosen or not ids]


def _apply(
    options: Namespace,
    notebook: Notebook,
    memory: Memory,
    chosen: Sequence[Waiting],
    *,
    is_named: bool,
) -> None:
    from ricordo.cli.output import print_json
    from ricordo.services.curation.curation import alarms, take, warnings_of
    from ricordo.services.curation.decision import describe_left

    if is_named:
        alarming = alarms(notebook, memory, chosen)
        asked = [
            f"{it.op} {one_line(it.path)}: {'; '.join(alarming[it.id])}"
            for it in chosen
            if it.id in alarming
        ]
        is_meant = bool(asked) and is_confirmed(asked, _PENDING_CONFIRMATION, "do this too")
        confirmed = alarming if is_meant else ()
        taken = take(notebook, memory, chosen, lambda _: "", by_hand=True, confirmed=confirmed)
    else:
        taken = take(notebook, memory, chosen, warnings_of, by_hand=True)
    note_taken(taken)
    if options.json:
        applied = {"applied": [it.id for it in taken.applied]}
        left = {"left": describe_left(taken, memory)}
        print_json({**_pending_now(notebook, memory), **applied, **left})
    else:
        print_taken(taken, memory)


def _drop(
    options: Namespace, notebook: Notebook, memory: Memory, chosen: Sequence[Waiting]
) -> None:
    from ricordo.cli.output import note_change, print_json, print_lines
    from ricordo.services.curation.curation import refuse

    count = refuse(notebook, chosen)
    note_change(f"proposals dropped: {count}")
    if options.json:
        dropped = {"dropped": [it.id for it in chosen]}
        print_json({**_pending_now(notebook, memory), **dropped})
        return
    lines = [f"dropped: {it.id} {it.op} {one_line(it.path)}" for it in chosen]
    lines.append(f"dropped {count}")
    if count:
        lines.append("`ricordo undo` makes them pending again.")
    print_lines(lines)


def _pending_now(notebook: Notebook, memory: Memory) -> dict[str, Any]:
    """Return what is pending after an act, as `--json` prints it."""
    from ricordo.services.curation.curation import pending_proposals
    from ricordo.services.curation.decision import describe_pending

    return describe_pending(pending_proposals(notebook, memory), memory)


LEDGER_SUMMARY = """What curation cost and what it bought.

Tokens of the activity that was curated against those of the notes, how often agents read them
since, what the curations took from the notes and brought to them, and every run with its cost and
what you took of it. Tokens are estimates; costs are those that engines told."""


def add_ledger_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `ledger`."""
    add_memory(parser)
    add_json(parser)


def run_ledger(options: Namespace, environment: Environment) -> int:
    """Print the ledger."""
    from ricordo.cli.output import print_json, print_lines
    from ricordo.services.ledger.benefit import bought
    from ricordo.services.ledger.describe import describe_bought, told_bought

    notebook = open_notebook(options, environment)
    memory = notebook.read()
    notebook.gather(memory)
    it = bought(notebook, memory)
    if options.json:
        print_json(describe_bought(it))
    else:
        print_lines([line for part in told_bought(it) for line in (part.title, *part.lines, "")])
    return 0


COMMANDS = {
    "curate": Command(CURATE_SUMMARY, add_curate_arguments, run_curate),
    "pending": Command(PENDING_SUMMARY, add_pending_arguments, run_pending),
    "ledger": Command(LEDGER_SUMMARY, add_ledger_arguments, run_ledger),
}
