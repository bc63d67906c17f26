"""`ricordo conflicts`: pairs of notes that contradict each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.edit import begin_change
from ricordo.cli.engine import (
    add_engine,
    choose_engine,
    confirm_program,
    render_estimate,
    render_redacted,
)
from ricordo.cli.ids import pick_ids, refuse_no_ids, split_off_path
from ricordo.cli.output import note_change, print_messages
from ricordo.cli.parser import Command, add_json, add_memory, add_project, with_project
from ricordo.cli.workspace import open_notebook, read_snapshot_reported
from ricordo.errors import WrongUsage
from ricordo.text import make_one_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence

    from ricordo.curation.opinion import Opinion
    from ricordo.memory.change import Edit
    from ricordo.services.conflicts.conflicts import Conflict, Keep, Side
    from ricordo.services.conflicts.judgement import JudgementOutcome
    from ricordo.services.conflicts.opinions import JudgedPairs
    from ricordo.services.engines.engines import EngineTarget
    from ricordo.services.workspace.environment import Environment
    from ricordo.services.workspace.notebook import Notebook, Snapshot


def add_uncertain_pairs(parser: ArgumentParser) -> None:
    """Add the options on uncertain pairs."""
    parser.add_argument(
        "--doubts",
        action="store_true",
        help="also list uncertain pairs, with opinions on them; they do not count as conflicts",
    )
    parser.add_argument(
        "--judge",
        action="store_true",
        help="first ask a model or a program for its opinion on up to 60 pairs without one: "
        "conflicts, uncertain pairs, and other statements that are likely to be on one subject; "
        "and once more, with more of both notes, on what it calls a conflict; "
        "this may cost money, and resolves nothing",
    )
    add_engine(parser)
    parser.add_argument(
        "--yes", action="store_true", help="with --judge: allow a new program to run"
    )


def list_pairs(options: Namespace, notebook: Notebook, snapshot: Snapshot) -> JudgedPairs:
    """Return the conflicts and uncertain pairs with opinions on them; with --judge, those without
    are judged first. Raises WrongUsage, CuratorFailed and StateUnusable.
    """
    from ricordo.services.conflicts.opinions import load_opinions, split_by_opinion

    if options.judge:
        _judge(options, notebook, snapshot)
    return split_by_opinion(snapshot, load_opinions(notebook.environment.state))


def _judge(options: Namespace, notebook: Notebook, snapshot: Snapshot) -> None:
    """Have pairs judged, and what is called a conflict by excerpts once more."""
    from ricordo.cli.output import show_progress
    from ricordo.services.conflicts.judgement import NONE_PENDING, list_pairs_to_judge

    target = choose_engine(options, notebook)
    if target is None:
        raise WrongUsage("The rules engine cannot judge pairs: choose another with --engine.")
    with show_progress() as step:
        pairs = list_pairs_to_judge(notebook, snapshot, step).asked
    if not pairs:
        print_messages([NONE_PENDING])
        return
    confirm_program(notebook, target, is_meant=options.yes)
    outcome = _ask(notebook, pairs, target)
    if outcome is None:
        raise WrongUsage("Not even one pair fits under the token limit of a run.")
    again = outcome.unconfirmed
    while again and outcome is not None:
        outcome = _ask(notebook, again, target)
        asked = {pair.id for pair in outcome.asked} if outcome else ()
        again = tuple(pair for pair in again if pair.id not in asked)
    if again:
        count = f"{len(again)} pair{'s' * (len(again) > 1)} called a conflict by excerpts"
        print_messages([f"{count}: more of both notes does not fit under the token limit"])


def _ask(
    notebook: Notebook, pairs: Sequence[Conflict], target: EngineTarget
) -> JudgementOutcome | None:
    """Ask about as many of the pairs as fit; return what was answered, None where none fits."""
    from ricordo.cli.output import show_progress
    from ricordo.services.conflicts.judgement import describe_asked, judge, prepare_judgement
    from ricordo.services.engines.preview import format_answer

    request = prepare_judgement(notebook, pairs, target)
    if not request.pairs:
        return None
    print_messages([request.target.warning] if request.target.warning != target.warning else [])
    estimate = render_estimate(request.target, request.estimate)
    print_messages([f"judging {describe_asked(request, pairs)}", estimate])
    try:
        with show_progress() as step:
            outcome = judge(notebook, request, step)
    finally:
        # it was sent, whatever the answer is
        print_messages(render_redacted(request.redacted))
    note_change("opinions on uncertain pairs were stored")
    print_messages([format_answer(outcome.run)])
    print_messages(f"rejected: {it.change}: {it.why}" for it in outcome.rejected)
    return outcome


_MORE = (
    "`ricordo curate --check` has a model read whole notes: it may also find contradictions within "
    "one note, or between a note and its index."
)

CONFLICTS_SUMMARY = """List pairs of notes that contradict each other. Exits with 1 if there is any.

The rules cannot decide some pairs: --doubts lists these, --judge asks a model or a program for its
opinion on them. An opinion resolves nothing. --resolve takes several ids, which may be abbreviated
to their first characters, at least 4; also those of uncertain pairs, and of duplicates as `lint`
lists them."""


def _add_conflicts_arguments(parser: ArgumentParser) -> None:
    add_memory(parser)
    add_project(parser)
    add_json(parser)
    parser.add_argument(
        "--resolve",
        nargs="+",
        action="extend",
        metavar="ID",
        help="resolve these conflicts; needs --keep",
    )
    parser.add_argument(
        "--keep",
        choices=("left", "right", "none"),
        help="which claim is true; none: this is no conflict",
    )
    parser.add_argument("--reason", default="", help="with --resolve: why, for the history")
    add_uncertain_pairs(parser)


def run_conflicts(options: Namespace, environment: Environment) -> int:
    """Print the conflicts, or resolve one."""
    if bool(options.resolve) != bool(options.keep):
        raise WrongUsage("--resolve and --keep need each other.")
    if options.resolve and (options.doubts or options.judge):
        raise WrongUsage("--resolve cannot be used with --doubts or --judge.")
    if options.reason and not options.resolve:
        raise WrongUsage("--reason needs --resolve.")
    if options.resolve:
        options.resolve, path = split_off_path(options.resolve, options, environment)
        options.path = options.path or path
        refuse_no_ids(options.resolve, "--resolve")
    notebook = open_notebook(options, with_project(options, environment))
    return _resolve(options, notebook) if options.resolve else _print(options, notebook)


def _print(options: Namespace, notebook: Notebook) -> int:
    from ricordo.cli.output import print_json, print_lines
    from ricordo.services.conflicts.conflicts import find_duplicates

    snapshot = read_snapshot_reported(notebook)
    pairs = list_pairs(options, notebook, snapshot)
    certain, wants_uncertain = pairs.conflicts, options.doubts or options.judge
    uncertain = (*pairs.judged, *pairs.pending) if wants_uncertain else ()
    if options.json:
        document = {"conflicts": [_describe(pair) for pair in certain]}
        more = {"doubts": [_describe_uncertain(pair) for pair in uncertain]}
        print_json({**document, **(more if wants_uncertain else {})}, "conflicts")
    else:
        print_lines([line for pair in certain for line in _lines(pair)] or ["No conflicts."])
        print_lines([line for pair in uncertain for line in _lines(pair, is_uncertain=True)])
        if duplicates := find_duplicates(snapshot):
            count = f"{len(duplicates)} duplicate{'s' * (len(duplicates) > 1)}"
            print_messages([f"{count}: `ricordo lint --select duplicate` lists what repeats."])
        if not certain:
            print_messages([_MORE])
    return 1 if certain else 0


def _resolve(options: Namespace, notebook: Notebook) -> int:
    """Resolve the conflicts with the ids of --resolve, all in the same way."""
    from ricordo.services.conflicts.conflicts import Keep
    from ricordo.services.conflicts.opinions import list_pairs

    memory = begin_change(notebook)
    notebook.gather(memory)
    state = notebook.environment.state
    known = {pair.id: pair for pair in list_pairs(notebook.judge(memory), state)}
    ids = pick_ids(options.resolve, known, "conflict", "`ricordo conflicts` lists them.")
    if options.keep == Keep.NONE:
        _dismiss(options, notebook, ids)
    else:
        _keep_one_side(options, notebook, ids, Keep(options.keep))
    return 0


def _dismiss(options: Namespace, notebook: Notebook, ids: Sequence[str]) -> None:
    from ricordo.cli.change import Changed, print_change

    for id in ids:
        notebook.dismiss(id, options.reason or "no conflict")
        note_change(f"dismissed {id}")
    done = f"Dismissed {', '.join(ids)} until one of the two claims changes."
    print_change(options, done, [Changed("dismissed", id=id) for id in ids])


def _keep_one_side(options: Namespace, notebook: Notebook, ids: Sequence[str], keep: Keep) -> None:
    """Apply a resolution for each of the conflicts, one after the other: resolving one may change
    or end the next.
    """
    from ricordo.cli.change import list_changed, print_change, render_edits, render_merged
    from ricordo.services.conflicts.opinions import find_conflict
    from ricordo.services.conflicts.resolution import compose_resolution, resolve_for_one
    from ricordo.services.edits.change import apply_merging

    done: list[str] = []
    edits: list[Edit] = []
    merged: list[str] = []
    warnings: list[str] = []
    for id in ids:
        memory = notebook.read()
        notebook.gather(memory)
        try:
            conflict = find_conflict(notebook.judge(memory), notebook.environment.state, id)
        except WrongUsage:
            print_messages([f"{id} was resolved with the conflicts before it."])
            continue
        resolution = resolve_for_one(memory, conflict, keep)
        if options.reason:
            resolution = resolution._replace(reason=f"{resolution.reason}: {options.reason}")
        change_set = compose_resolution(notebook, memory, resolution)
        _, now_merged = apply_merging(notebook, change_set, by_hand=True)
        note_change(resolution.description)
        done.append(resolution.description)
        edits += change_set.edits
        merged += now_merged
        warnings += change_set.warnings
    details = [*render_edits(edits), *render_merged(merged), *(f"  {it}" for it in warnings)]
    reverts = "this" if len(done) == 1 else "the last of these"
    print_change(
        options,
        "; ".join(done),
        list_changed(edits, notebook.place.root),
        details=[*details, f"`ricordo undo` reverts {reverts}."],
        merged=merged,
        warnings=warnings,
    )


def _describe(conflict: Conflict) -> dict[str, object]:
    """Return a conflict as `--json` prints it."""
    return {
        "id": conflict.id,
        "left": _describe_side(conflict.left),
        "right": _describe_side(conflict.right),
        "reason": conflict.reason,
        "suggestion": conflict.suggestion.text,
        **({"opinion": _describe_opinion(conflict.opinion)} if conflict.opinion else {}),
    }


def _describe_uncertain(pair: Conflict) -> dict[str, object]:
    """Return an uncertain pair as `--json` prints it."""
    return {"opinion": None, **_describe(pair)}


def _describe_opinion(it: Opinion) -> dict[str, object]:
    return {
        "verdict": it.verdict,
        "keep": it.kept_side,
        "reason": it.reason,
        "model": it.model,
        "confirmed": it.is_confirmed,
    }


def _describe_side(side: Side) -> dict[str, object]:
    from ricordo.secrets import mask

    return {"path": side.quote.path, "line": side.line, "claim": mask(side.quote.text)}


def _lines(conflict: Conflict, *, is_uncertain: bool = False) -> list[str]:
    from ricordo.secrets import mask

    lines = [
        f"{conflict.id}  {make_one_line(conflict.reason)}",
        *(
            f"  {label:<6}{make_one_line(f'{it.quote.path}:{it.line}')}"
            f"  {make_one_line(mask(it.quote.text))}"
            for label, it in (("left", conflict.left), ("right", conflict.right))
        ),
        f"  {make_one_line(conflict.suggestion.text)}",
    ]
    uncertain, it = "uncertain: " * is_uncertain, conflict.opinion
    if it is not None:
        by = " by excerpts alone" * it.needs_confirmation
        opinion = f"{it.verdict}{by}, keep {it.kept_side}: {make_one_line(it.reason)}"
        lines.append(f"  {uncertain}{make_one_line(it.model)}: {opinion}")
    elif is_uncertain:
        lines.append(f"  {uncertain}no opinion yet")
    return lines


COMMANDS = {
    "conflicts": Command(
        CONFLICTS_SUMMARY, _add_conflicts_arguments, run_conflicts, ("--resolve", "--judge")
    ),
}
