"""`ricordo curate`, `pending`, `ledger`: propose changes, decide on them, show their cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ricordo.cli.edit import begin_change
from ricordo.cli.engine import (
    add_engine,
    add_redaction_options,
    choose_engine,
    confirm_program,
    decide_redaction,
    describe_redaction,
    propose,
    render_allowed,
    render_estimate,
    render_new_program,
    render_redacted,
)
from ricordo.cli.ids import is_id, pick_ids, split_off_path
from ricordo.cli.output import is_confirmed, note_change, print_messages
from ricordo.cli.parser import Command, add_memory_and_json, add_project, with_project
from ricordo.cli.proposals import (
    describe_applied,
    list_dropped,
    note_applied,
    print_decided,
    render_brief,
    render_dropped,
    render_proposal,
    render_rejected,
)
from ricordo.cli.style import print_diffs
from ricordo.cli.workspace import open_notebook
from ricordo.errors import ChangeRefused, WrongUsage
from ricordo.text import make_one_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from ricordo.curation.engines.external import Estimate
    from ricordo.curation.pending import PendingProposal
    from ricordo.memory.memory import Memory
    from ricordo.services.curation.curation import ApplyResult, Curation
    from ricordo.services.curation.preparation import CurationScope, PreparedCuration
    from ricordo.services.engines.engines import EngineTarget
    from ricordo.services.workspace.environment import Environment
    from ricordo.services.workspace.notebook import Notebook


CURATE_SUMMARY = """Propose changes to a memory from what you told agents since the last curation.

With --check, a model checks the notes against the project instead.
No note is changed: `ricordo pending` shows, applies or drops the proposals.
The cost of a model or program is estimated before it is asked, and reported afterwards."""

_CONFIRMATION = "curate"
_NOT_RUN = (
    "The program was not run; below is what it would read. To allow it, run without --dry-run at a "
    "terminal, or with --yes."
)
_NOT_ROUTINE = "not a routine change: decide on it yourself"
_TRIAL = "These proposals were paid for but not stored. Run without --dry-run to store them."


def _add_curate_arguments(parser: ArgumentParser) -> None:
    add_memory_and_json(parser)
    add_engine(parser)
    add_redaction_options(parser)
    parser.add_argument(
        "--check",
        action="store_true",
        help="check notes against the project and each other instead: a model or program reads "
        "them, says what to look up in the project, and proposes edits of what is wrong",
    )
    add_project(parser)
    parser.add_argument("--note", metavar="NOTE", help="only what is about this note")
    parser.add_argument("--since", metavar="T", help="only messages since then, ISO 8601")
    parser.add_argument(
        "--session",
        metavar="F",
        help="only this transcript: a file of Claude Code, Codex or opencode, or the database of "
        "opencode followed by # and the id of a session",
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="show the proposals and the size of the brief, store nothing; a model is still asked "
        "and paid; for a new program only its command line and the brief are shown",
    )
    parser.add_argument(
        "--brief",
        action="store_true",
        help="show the brief for the engine and the estimated cost; no engine is asked",
    )
    parser.add_argument(
        "--yes",
        action="store_true",
        help="apply routine proposals without warnings at once: a missing index entry, a link to a "
        "renamed note, quoted frontmatter, removal of a duplicate entry; allow a new program to "
        "run; without effect with --dry-run or --brief",
    )


def run_curate(options: Namespace, environment: Environment) -> int:
    """Propose changes; store the proposals, or apply the routine ones."""
    from ricordo.services.curation.curation import (
        apply_proposals,
        find_routine_ids,
        format_warnings,
        save_curation,
    )

    scope = _scope(options, environment)
    environment = with_project(options, environment)
    notebook = open_notebook(options, environment)
    target = choose_engine(options, notebook, is_check=scope.is_check)
    prepared = _prepared(options, notebook, target, scope)
    if options.allow or options.withhold:
        return decide_redaction(options, notebook, prepared)
    if options.brief:
        _print_brief(options, notebook, prepared, target)
        return 0
    if options.dry_run:
        _dry_run(options, notebook, prepared, target)
        return 0
    curation = propose(notebook, prepared, target)
    estimate = target.ask.estimate(prepared) if target else None
    state = save_curation(notebook, curation)
    note_change(f"proposals stored: {len(curation.proposals)}")
    if not options.yes:
        _print(options, prepared.memory, curation, estimate)
        return 0
    routine = find_routine_ids(notebook, prepared.memory, state.pending)

    def why_pending(proposal: PendingProposal) -> str:
        return format_warnings(proposal) or ("" if proposal.id in routine else _NOT_ROUTINE)

    result = apply_proposals(notebook, prepared.memory, state.pending, why_pending, by_hand=False)
    note_applied(result)
    _print(options, prepared.memory, curation, estimate, result)
    if not options.json:
        print_decided(result, prepared.memory)
    return 0


def _dry_run(
    options: Namespace, notebook: Notebook, prepared: PreparedCuration, target: EngineTarget | None
) -> None:
    """Print what a curation would propose, and store nothing; a new program is not run."""
    from ricordo.services.curation.curation import record_trial
    from ricordo.services.engines.choice import find_new_program

    if target is not None and (program := find_new_program(notebook.environment, target)):
        print_messages([*render_new_program(program), _NOT_RUN])
        _print_brief(options, notebook, prepared, target, _unasked(notebook, prepared, target))
        return
    curation = propose(notebook, prepared, target)
    record_trial(notebook, curation)
    estimate = target.ask.estimate(prepared) if target else None
    _print(options, prepared.memory, curation, estimate)
    print_messages([_TRIAL] if target and curation.proposals else [])


def _prepared(
    options: Namespace, notebook: Notebook, target: EngineTarget | None, scope: CurationScope
) -> PreparedCuration:
    """Return what is sent to the engine, once asking it is allowed."""
    from dataclasses import replace

    from ricordo.cli.output import show_progress
    from ricordo.services.engines.choice import prepare_for
    from ricordo.services.workspace.note_choice import pick_note

    is_trial = options.dry_run or options.brief or options.allow or options.withhold
    if not is_trial:
        confirm_program(notebook, target, is_meant=options.yes)
        _check_rate_limit(notebook)
    memory = notebook.read() if is_trial else begin_change(notebook)
    if options.note:
        scope = replace(scope, note=pick_note(memory, options.note).path)
    with show_progress() as step:
        prepared = prepare_for(target, notebook, memory, scope, step)
    print_messages(prepared.warnings)
    return prepared


def _check_rate_limit(notebook: Notebook) -> None:
    """Ask the user to confirm if the memory was curated too often. Raises RateLimited if they do
    not, or if there is no terminal.
    """
    from ricordo.errors import RateLimited
    from ricordo.services.curation.preparation import check_rate_limit

    try:
        check_rate_limit(notebook)
    except RateLimited as error:
        if not is_confirmed([error.message], _CONFIRMATION, "curate anyway"):
            raise


def _scope(options: Namespace, environment: Environment) -> CurationScope:
    import os

    from ricordo.services.curation.preparation import CurationScope

    if options.check and (options.since or options.session):
        raise WrongUsage("--check reads notes, not messages: leave out --since and --session.")
    path = os.path.join(environment.cwd, options.session) if options.session else ""
    since = _parse_time(options.since) if options.since else None
    return CurationScope(since, path, is_check=options.check)


def _parse_time(text: str) -> datetime:
    from datetime import datetime

    try:
        time = datetime.fromisoformat(text)
        return time if time.tzinfo else time.astimezone()
    except (ValueError, OverflowError):
        raise WrongUsage("--since expects a date or time such as 2026-05-01T09:00.") from None


def _print(
    options: Namespace,
    memory: Memory,
    curation: Curation,
    estimate: Estimate | None,
    result: ApplyResult | None = None,
) -> None:
    from ricordo.cli.output import print_json
    from ricordo.services.curation.decision import describe_curation, mask_proposal
    from ricordo.services.curation.preparation import summarize_skipped

    if options.json:
        document = describe_curation(curation, memory, result, estimate)
        changed = describe_applied(result, memory.root) if result else {}
        print_json({**document, **changed}, "curate")
        return
    new = [each for each in curation.proposals if each.run == curation.recorded.id]
    masked = (mask_proposal(proposal, memory) for proposal in new)
    lines = [line for proposal in masked for line in render_proposal(proposal)]
    lines += render_rejected(curation.rejected)
    lines += [skipped.message for skipped in summarize_skipped(curation.skipped)]
    lines += render_brief(curation.brief) if options.dry_run else []
    count = len(curation.proposals)
    before = f", {count - len(new)} pending from before" if count > len(new) else ""
    lines.append(f"{len(new)} proposed, {len(curation.rejected)} rejected{before}")
    if count and result is None and not options.dry_run:
        lines.append("`ricordo pending` shows the proposals; --apply and --drop decide on them.")
    print_diffs(lines, margin=2)


def _unasked(
    notebook: Notebook, prepared: PreparedCuration, target: EngineTarget
) -> Mapping[str, Any]:
    """Return what a dry run prints as JSON if no engine was asked."""
    from ricordo.curation.engine import EngineAnswer
    from ricordo.services.curation.curation import validate_answer
    from ricordo.services.curation.decision import describe_curation

    curation = validate_answer(notebook, prepared, target.author, EngineAnswer())
    return describe_curation(curation, prepared.memory, None)


def _print_brief(
    options: Namespace,
    notebook: Notebook,
    prepared: PreparedCuration,
    target: EngineTarget | None,
    also: Mapping[str, Any] | None = None,
) -> None:
    """Print what would be sent to the engine; `also` is added to the JSON document."""
    from dataclasses import asdict

    from ricordo.cli.output import print_json, print_lines

    brief = prepared.brief
    text, redacted = prepared.redaction.preview(brief.stable, brief.changing)
    print_messages([*render_redacted(redacted), *render_allowed(notebook)])
    estimate = target.ask.estimate(prepared) if target else None
    if options.json:
        document = {"brief": text, "input_tokens": brief.tokens, "left_out": dict(brief.omitted)}
        document |= {"estimate": asdict(estimate)} if estimate else {}
        document |= describe_redaction(notebook, redacted)
        print_json({**(also or {}), **document}, "curate")
        return
    lines = [*text.split("\n")[:-1], *render_brief(brief)]
    lines += [render_estimate(target, estimate)] if target and estimate else []
    print_lines(lines)


PENDING_SUMMARY = """Show, apply or drop the pending proposals.

An ID may be abbreviated to its first characters, at least 4. --apply without ID applies all
proposals without warnings; name the others by ID. --apply and --drop can be used together: it is
one change, and the one without ID decides on the rest. A proposal that empties or halves a note, or
retires many notes in a day, needs a confirmation typed at a terminal. `ricordo undo` reverts all of
it: the proposals are pending again."""
_PENDING_CONFIRMATION = "apply"


def _add_pending_arguments(parser: ArgumentParser) -> None:
    add_memory_and_json(parser)
    parser.add_argument(
        "--apply",
        nargs="*",
        action="extend",
        metavar="ID",
        help="apply these proposals; without ID, all without warnings",
    )
    parser.add_argument(
        "--drop",
        nargs="*",
        action="extend",
        metavar="ID",
        help="drop these proposals; without ID, all; they are not proposed again",
    )
    parser.add_argument("--reason", default="", help="with --drop: why, for the history")


def run_pending(options: Namespace, environment: Environment) -> int:
    """Show, apply or drop pending proposals."""
    from ricordo.cli.output import print_json
    from ricordo.services.curation.curation import pending_proposals
    from ricordo.services.curation.decision import describe_pending, mask_proposal

    for words in (options.drop, options.apply):
        if words:
            words[:], path = split_off_path(words, options, environment)
            options.path = options.path or path
    if options.reason and options.drop is None:
        raise WrongUsage("--reason needs --drop.")
    notebook = open_notebook(options, environment)
    if options.apply is not None or options.drop is not None:
        memory = begin_change(notebook)
        _decide(options, notebook, memory, pending_proposals(notebook, memory))
        return 0
    memory = notebook.read()
    pending = pending_proposals(notebook, memory)
    if options.json:
        print_json(describe_pending(pending, memory), "pending")
    else:
        masked = (mask_proposal(proposal, memory) for proposal in pending)
        lines = [line for proposal in masked for line in render_proposal(proposal)]
        print_diffs([*lines, f"{len(pending)} pending"], margin=2)
    return 0


def _decide(
    options: Namespace, notebook: Notebook, memory: Memory, pending: Sequence[PendingProposal]
) -> None:
    """Apply and drop the proposals that the options name."""
    from ricordo.services.curation.pending import load_curation_state

    state = load_curation_state(notebook.environment.state, memory.root)

    def pick(words: Sequence[str] | None) -> frozenset[str]:
        def find_decision(id: str) -> str:
            for was, ids in (("refused", state.refused), ("applied", state.applied)):
                if any(is_id(id) and each.startswith(id) for each in ids):
                    return f"was already {was}"
            return ""

        known = [proposal.id for proposal in pending]
        hint = "`ricordo pending` lists them."
        return frozenset(pick_ids(words or (), known, "pending proposal", hint, find_decision))

    applied, dropped = pick(options.apply), pick(options.drop)
    if both := applied & dropped:
        raise WrongUsage(f"{min(both)} cannot be both applied and dropped.")
    applies_rest, drops_rest = options.apply == [], options.drop == []
    if applies_rest and drops_rest:
        raise WrongUsage("--apply and --drop without ID cannot be used together.")
    # in pending order: a proposal may need those before it
    rest = [each for each in pending if each.id not in applied | dropped]
    chosen = rest if applies_rest else [each for each in pending if each.id in applied]
    refused = rest if drops_rest else [each for each in pending if each.id in dropped]
    if options.apply is None:
        _drop(options, notebook, memory, refused)
    else:
        _apply(options, notebook, memory, chosen, refused)


def _apply(
    options: Namespace,
    notebook: Notebook,
    memory: Memory,
    chosen: Sequence[PendingProposal],
    refused: Sequence[PendingProposal],
) -> None:
    from ricordo.cli.output import print_json
    from ricordo.services.curation.curation import apply_proposals, find_alarms, format_warnings
    from ricordo.services.curation.decision import describe_skipped

    confirmed = frozenset[str]()
    if options.apply:
        by_id = find_alarms(notebook, memory, chosen)
        lines = [
            f"{proposal.op} {make_one_line(proposal.path)}: {'; '.join(by_id[proposal.id])}"
            for proposal in chosen
            if proposal.id in by_id
        ]
        is_meant = bool(lines) and is_confirmed(lines, _PENDING_CONFIRMATION, "apply this too")
        confirmed = frozenset(by_id) if is_meant else confirmed
    result = apply_proposals(
        notebook,
        memory,
        chosen,
        # who names a proposal has seen its warnings
        lambda proposal: "" if options.apply else format_warnings(proposal),
        by_hand=True,
        confirmed=confirmed,
        refused=refused,
    )
    note_applied(result)
    if options.json:
        applied = {"applied": [proposal.id for proposal in result.applied]}
        left = {"left": describe_skipped(result, memory)}
        dropped = {"dropped": [proposal.id for proposal in refused]} if refused else {}
        changed = describe_applied(result, memory.root)
        document = {**_pending_now(notebook, memory), **applied, **left, **dropped, **changed}
        print_json(document, "pending")
    else:
        print_decided(result, memory)
    if options.apply and result.skipped:
        # whoever names a proposal has to know that it was not applied
        raise _refuse_named(result, memory)


def _refuse_named(result: ApplyResult, memory: Memory) -> ChangeRefused:
    """Return the error on named proposals that were not applied."""
    from ricordo.services.curation.decision import mask_text

    reasons = "; ".join(
        f"{proposal.id} {proposal.op} {make_one_line(proposal.path)}: "
        f"{make_one_line(mask_text(why, proposal, memory))}"
        for proposal, why in result.skipped
    )
    return ChangeRefused(f"Not applied: {reasons}.")


def _drop(
    options: Namespace, notebook: Notebook, memory: Memory, chosen: Sequence[PendingProposal]
) -> None:
    from ricordo.cli.change import describe_change
    from ricordo.cli.output import note_change, print_json, print_lines
    from ricordo.services.curation.curation import refuse

    count = refuse(notebook, chosen, options.reason)
    note_change(f"proposals dropped: {count}")
    if options.json:
        dropped = {"dropped": [proposal.id for proposal in chosen]}
        done = f"dropped {count}" if count else ""
        changed = describe_change(done, list_dropped(chosen))
        print_json({**_pending_now(notebook, memory), **dropped, **changed}, "pending")
        return
    lines = render_dropped(chosen)
    lines.append(f"dropped {count}")
    if count:
        lines.append("`ricordo undo` makes them pending again.")
    print_lines(lines)


def _pending_now(notebook: Notebook, memory: Memory) -> dict[str, Any]:
    """Return what is still pending, as `--json` prints it."""
    from ricordo.services.curation.curation import pending_proposals
    from ricordo.services.curation.decision import describe_pending

    return describe_pending(pending_proposals(notebook, memory), memory)


LEDGER_SUMMARY = """Show the cost and benefit of curation.

It compares the tokens of the curated activity with those of the notes, counts how often agents read
the notes since and what curation removed from and added to them, and lists every run with its cost
and the proposals you accepted. Tokens are estimates; costs are as reported by the engines."""


def run_ledger(options: Namespace, environment: Environment) -> int:
    """Print the ledger."""
    from ricordo.cli.output import print_result
    from ricordo.services.ledger.benefit import compute_benefit
    from ricordo.services.ledger.describe import describe_benefit, format_benefit

    notebook = open_notebook(options, environment)
    memory = notebook.read()
    notebook.gather(memory)
    stats = compute_benefit(notebook, memory)
    print_result(
        options,
        lambda: describe_benefit(stats),
        lambda: [line for it in format_benefit(stats) for line in (it.title, *it.lines, "")],
    )
    return 0


COMMANDS = {
    "curate": Command(CURATE_SUMMARY, _add_curate_arguments, run_curate, ("curate",)),
    "pending": Command(PENDING_SUMMARY, _add_pending_arguments, run_pending, ("--apply", "--drop")),
    "ledger": Command(LEDGER_SUMMARY, add_memory_and_json, run_ledger),
}
