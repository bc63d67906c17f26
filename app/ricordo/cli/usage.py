"""`ricordo usage`: what notes were used for, and searches without results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ricordo.cli.arguments import add_json, add_memory
from ricordo.cli.opening import open_notebook
from ricordo.text import one_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence

    from ricordo.notebook.surroundings import Surroundings
    from ricordo.notebook.usage import Gap, Use

SUMMARY = """What notes were used for, and your searches without results (gaps).

Agents are given notes by the hook; you open and confirm them in the notebook, and search there and
by `search`. It is kept in the state directory, never in the memory. --drop forgets a gap."""

_KINDS = {"given": "given to agents", "opened": "opened by you", "confirmed": "confirmed by you"}


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `usage`."""
    add_memory(parser)
    parser.add_argument("--drop", metavar="WORDS", help="forget the gap of these words")
    add_json(parser)


def run(options: Namespace, surroundings: Surroundings) -> int:
    """Print the report, or forget a gap."""
    from ricordo.cli.output import note_change, print_json, print_lines
    from ricordo.errors import WrongUsage
    from ricordo.notebook.usage import drop_gap, gaps, use_report

    memory = open_notebook(options, surroundings).read()
    missed = gaps(surroundings, memory)
    if options.drop is not None:
        meant = next((gap for gap in missed if gap.words == options.drop), None)
        if meant is None:
            words = one_line(options.drop)
            raise WrongUsage(f"“{words}” is no gap of this memory; `ricordo usage` lists them.")
        drop_gap(surroundings, memory, meant)
        note_change(f"forgot the gap “{meant.words}”")
        print_lines([f"forgot the gap “{one_line(meant.words)}”"])
        return 0
    uses = use_report(surroundings, memory)
    if options.json:
        print_json(_document(uses, missed))
    else:
        print_lines(_lines(uses, missed))
    return 0


def _document(uses: Sequence[Use], missed: Sequence[Gap]) -> dict[str, list[dict[str, Any]]]:
    return {
        "uses": [use._asdict() for use in uses],
        "gaps": [gap._asdict() for gap in missed],
    }


def _lines(uses: Sequence[Use], missed: Sequence[Gap]) -> list[str]:
    lines = ["used, the latest first" if uses else "no note was used yet"]
    for use in uses:
        what = _KINDS.get(use.kind, one_line(use.kind))
        lines.append(f"  {use.last[:10]}  {use.times:4d} × {what:16}  {one_line(use.path)}")
    lines.append(
        "your searches without results, the latest first" if missed else "nothing was missed"
    )
    lines += [f"  {gap.last[:10]}  {one_line(gap.words)}" for gap in missed]
    return lines
