"""`ricordo conflicts`: pairs of notes that cannot both hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.arguments import add_json, add_memory, add_project, with_project
from ricordo.cli.changing import apply_reported, begin_reported
from ricordo.cli.doubts import add_doubts, doubts_told
from ricordo.cli.opening import look_reported, open_notebook
from ricordo.errors import WrongUsage
from ricordo.text import one_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from ricordo.notebook.conflicts import Conflict, Keep, Side
    from ricordo.notebook.open import Notebook
    from ricordo.notebook.surroundings import Surroundings

SUMMARY = """Pairs of notes that cannot both hold. Ends with 1 where there is any.

Of some pairs the rules cannot tell: --doubts shows them, --judge has a model or a program say what
it thinks of them. That is an opinion: nothing is settled by it."""


def add_arguments(parser: ArgumentParser) -> None:
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


def run(options: Namespace, surroundings: Surroundings) -> int:
    """Print the conflicts, or settle one."""
    if bool(options.resolve) != bool(options.keep):
        raise WrongUsage("--resolve goes with --keep.")
    if options.resolve and (options.doubts or options.judge):
        raise WrongUsage("--resolve settles one; it does not go with --doubts and --judge.")
    notebook = open_notebook(options, with_project(options, surroundings))
    if options.resolve:
        from ricordo.notebook.conflicts import Keep

        return _resolve(notebook, options.resolve, Keep(options.keep))
    return _print(options, notebook)


def _print(options: Namespace, notebook: Notebook) -> int:
    from ricordo.cli.output import print_json, print_lines
    from ricordo.notebook.conflicts import conflicts

    look = look_reported(notebook)
    found = conflicts(look)
    wants_doubts = options.doubts or options.judge
    doubts = doubts_told(options, notebook, look) if wants_doubts else ()
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
    from ricordo.notebook.conflicts import Keep, find_conflict
    from ricordo.notebook.resolve import compose_settled, keep_one

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
