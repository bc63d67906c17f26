"""`ricordo conflicts`: pairs of notes that cannot both hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.command import Command
from ricordo.cli.edit import apply_reported, begin_reported
from ricordo.cli.engine import add_engine, engine_of, estimate_line, kept_back_lines, let_run
from ricordo.cli.output import note_change, tell
from ricordo.cli.parser import add_json, add_memory, add_project, with_project
from ricordo.cli.workspace import look_reported, open_notebook
from ricordo.errors import WrongUsage
from ricordo.text import one_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from ricordo.services.conflicts.conflicts import Conflict, Keep, Side
    from ricordo.services.engines.engines import Outside
    from ricordo.services.workspace.environment import Environment
    from ricordo.services.workspace.notebook import Notebook, Snapshot


def add_doubts(parser: ArgumentParser) -> None:
    """Declare the words that are about doubts."""
    parser.add_argument(
        "--doubts",
        action="store_true",
        help="tell of pairs too that are in doubt, with what was thought of them; none counts",
    )
    parser.add_argument(
        "--judge",
        action="store_true",
        help="first have a model or a program say what it thinks of up to 20 doubts that nobody "
        "has judged; it is paid, and settles nothing",
    )
    add_engine(parser)
    parser.add_argument("--yes", action="store_true", help="with --judge, let a new program run")


def doubts_told(options: Namespace, notebook: Notebook, snapshot: Snapshot) -> tuple[Conflict, ...]:
    """Return the doubts with what was thought of them, after having the others judged where that
    is wanted. Raises WrongUsage, CuratorFailed and StateUnusable.
    """
    from ricordo.services.conflicts.opinions import judged, known_opinions

    state = notebook.surroundings.state
    told, untold = judged(snapshot, known_opinions(state))
    if options.judge and untold:
        _judge(notebook, _engine(options, notebook), untold)
        told, untold = judged(snapshot, known_opinions(state))
    return (*told, *untold)


def _engine(options: Namespace, notebook: Notebook) -> Outside:
    outside = engine_of(options, notebook)
    if outside is None:
        raise WrongUsage("The rules judge nothing further: --engine names a model or a program.")
    let_run(notebook, outside, is_meant=options.yes)
    return outside


def _judge(notebook: Notebook, outside: Outside, untold: tuple[Conflict, ...]) -> None:
    from ricordo.cli.output import progress_line
    from ricordo.services.conflicts.judgement import judge, prepare_judging
    from ricordo.services.engines.preview import answered

    asked = prepare_judging(notebook, untold, outside)
    if not asked.doubts:
        raise WrongUsage("Not even one pair has room under the cap of a run.")
    tell([asked.outside.remark] if asked.outside.remark != outside.remark else [])
    count = f"{len(asked.doubts)} of {len(untold)} doubts are judged"
    tell([count, estimate_line(asked.outside, asked.estimate)])
    try:
        with progress_line() as step:
            found = judge(notebook, asked, step)
    finally:
        # it has left, whatever became of the answer
        tell(kept_back_lines(asked.kept_back))
    note_change("opinions on doubts were kept")
    tell([answered(found.run)])
    tell(f"refused: {it.change}: {it.why}" for it in found.rejected)


CONFLICTS_SUMMARY = """Pairs of notes that cannot both hold. Ends with 1 where there is any.

Of some pairs the rules cannot tell: --doubts shows them, --judge has a model or a program say what
it thinks of them. That is an opinion: nothing is settled by it."""


def add_conflicts_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `conflicts`."""
    add_memory(parser)
    add_project(parser)
    add_json(parser)
    parser.add_argument("--resolve", metavar="ID", help="settle this one, with --keep")
    parser.add_argument(
        "--keep",
        choices=("left", "right", "none"),
        help="which of the two holds; none: it is no conflict",
    )
    add_doubts(parser)


def run_conflicts(options: Namespace, environment: Environment) -> int:
    """Print the conflicts, or settle one."""
    if bool(options.resolve) != bool(options.keep):
        raise WrongUsage("--resolve goes with --keep.")
    if options.resolve and (options.doubts or options.judge):
        raise WrongUsage("--resolve settles one; it does not go with --doubts and --judge.")
    notebook = open_notebook(options, with_project(options, environment))
    if options.resolve:
        from ricordo.services.conflicts.conflicts import Keep

        return _resolve(notebook, options.resolve, Keep(options.keep))
    return _print(options, notebook)


def _print(options: Namespace, notebook: Notebook) -> int:
    from ricordo.cli.output import print_json, print_lines
    from ricordo.services.conflicts.conflicts import conflicts

    snapshot = look_reported(notebook)
    found = conflicts(snapshot)
    wants_doubts = options.doubts or options.judge
    doubts = doubts_told(options, notebook, snapshot) if wants_doubts else ()
    if options.json:
        told = {"conflicts": [_described(it) for it in found]}
        more = {"doubts": [_described_doubt(it) for it in doubts]} if wants_doubts else {}
        print_json({**told, **more})
    else:
        print_lines([line for it in found for line in _lines(it)] or ["No conflicts."])
        print_lines([line for it in doubts for line in (*_lines(it), _thought(it))])
    return 1 if found else 0


def _resolve(notebook: Notebook, conflict_id: str, keep: Keep) -> int:
    from ricordo.cli.output import note_change, print_lines
    from ricordo.services.conflicts.conflicts import Keep, find_conflict
    from ricordo.services.conflicts.resolution import compose_settled, keep_one

    memory = begin_reported(notebook)
    notebook.gather(memory)
    conflict = find_conflict(notebook.judge(memory), conflict_id)
    if keep is Keep.NONE:
        notebook.dismiss(conflict.id, "no conflict")
        note_change(f"{conflict.id} counts as no conflict")
        print_lines(["No conflict: it stays away until one of the two claims is changed."])
        return 0
    settled = keep_one(memory, conflict, keep)
    apply_reported(notebook, compose_settled(notebook, memory, settled), settled.told)
    return 0


def _described(conflict: Conflict) -> dict[str, object]:
    """A conflict as `--json` prints it."""
    return {
        "id": conflict.id,
        "left": _described_side(conflict.left),
        "right": _described_side(conflict.right),
        "reason": conflict.reason,
        "suggestion": conflict.suggestion.told,
    }


def _described_doubt(doubt: Conflict) -> dict[str, object]:
    """A doubt as `--json` prints it."""
    it = doubt.opinion
    told = it and {"verdict": it.view, "keep": it.keeps, "reason": it.reason, "model": it.model}
    return {**_described(doubt), "opinion": told}


def _thought(doubt: Conflict) -> str:
    it = doubt.opinion
    if it is None:
        return "  in doubt: nobody has judged it"
    return f"  in doubt: {one_line(it.model)}: {it.view}, keep {it.keeps}: {one_line(it.reason)}"


def _described_side(side: Side) -> dict[str, object]:
    from ricordo.secrets import mask

    return {"path": side.quote.path, "line": side.line, "claim": mask(side.quote.text)}


def _lines(conflict: Conflict) -> list[str]:
    from ricordo.secrets import mask

    return [
        f"{conflict.id}  {one_line(conflict.reason)}",
        *(
            f"  {label:<6}{one_line(f'{it.quote.path}:{it.line}')}  {one_line(mask(it.quote.text))}"
            for label, it in (("left", conflict.left), ("right", conflict.right))
        ),
        f"  {one_line(conflict.suggestion.told)}",
    ]


COMMANDS = {
    "conflicts": Command(CONFLICTS_SUMMARY, add_conflicts_arguments, run_conflicts),
}
