"""Pairs of notes that are in doubt, on the command line: what was thought of them, and having the
others judged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.engine import add_engine, engine_of, estimate_line, let_run
from ricordo.cli.kept_back import kept_back_lines
from ricordo.cli.output import note_change, tell
from ricordo.errors import WrongUsage

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from ricordo.notebook.conflicts import Conflict
    from ricordo.notebook.models import Outside
    from ricordo.notebook.open import Look, Notebook


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


def doubts_told(options: Namespace, notebook: Notebook, look: Look) -> tuple[Conflict, ...]:
    """Return the doubts with what was thought of them, after having the others judged where that
    is wanted. Raises WrongUsage, CuratorFailed and StateUnusable.
    """
    from ricordo.notebook.opinions import judged, known_opinions

    state = notebook.surroundings.state
    told, untold = judged(look, known_opinions(state))
    if options.judge and untold:
        _judge(notebook, _engine(options, notebook), untold)
        told, untold = judged(look, known_opinions(state))
    return (*told, *untold)


def _engine(options: Namespace, notebook: Notebook) -> Outside:
    outside = engine_of(options, notebook)
    if outside is None:
        raise WrongUsage("The rules judge nothing further: --engine names a model or a program.")
    let_run(notebook, outside, is_meant=options.yes)
    return outside


def _judge(notebook: Notebook, outside: Outside, untold: tuple[Conflict, ...]) -> None:
    from ricordo.cli.progress import progress_line
    from ricordo.notebook.describe_run import answered
    from ricordo.notebook.judging import judge, prepare_judging

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
