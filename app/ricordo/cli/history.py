"""`ricordo history`: the versions of a note, or of all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.arguments import add_json
from ricordo.cli.changing import begin_shown
from ricordo.cli.opening import open_notebook
from ricordo.text import clip, one_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from ricordo.notebook.open import Notebook
    from ricordo.notebook.surroundings import Surroundings
    from ricordo.notebook.versions import Version

SUMMARY = "The versions of a note, or of the whole memory, newest first."
_LONGEST_REASON = 80
"""Cells; `--json` has all of it."""
_MOST_DAYS = 36_500


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `history`; a single word is NOTE."""
    parser.add_argument("note", metavar="NOTE", nargs="?", help="its name, its file, or its path")
    parser.add_argument("path", metavar="PATH", nargs="?", help="the memory")
    parser.add_argument("-m", "--memory", metavar="PATH", help="the same as PATH")
    form = parser.add_mutually_exclusive_group()
    add_json(parser)
    form.add_argument("--verify", action="store_true", help="read every kept text again")
    form.add_argument("--size", action="store_true", help="say how large the history is")
    form.add_argument(
        "--older-than",
        metavar="DAYS",
        type=int,
        help="say which texts of older versions could be dropped; with --drop, drop them",
    )
    parser.add_argument("--drop", action="store_true", help="drop what --older-than names")


def run(options: Namespace, surroundings: Surroundings) -> int:
    """Print versions, or what the check or the size says."""
    from ricordo.cli.output import print_json, print_lines
    from ricordo.errors import WrongUsage
    from ricordo.notebook.describe import describe_version
    from ricordo.notebook.pick import pick_path
    from ricordo.notebook.versions import versions

    if options.drop and options.older_than is None:
        raise WrongUsage("--drop needs --older-than, which says what to drop.")
    notebook = open_notebook(options, surroundings)
    if options.verify:
        return _verify(notebook, as_json=options.json)
    if options.size:
        return _size(notebook, as_json=options.json)
    if options.older_than is not None:
        return _trim(notebook, options)
    memory = begin_shown(notebook)
    path = pick_path(notebook, memory, options.note) if options.note else None
    found = versions(notebook, path)
    if options.json:
        print_json({"versions": [describe_version(version) for version in found]})
    else:
        print_lines([_line(version) for version in found] or ["The history is empty."])
    return 0


def _line(version: Version) -> str:
    size = "" if version.bytes is None else f"{version.bytes:,} bytes"
    reason = f"  {clip(version.reason, _LONGEST_REASON)}" if version.reason else ""
    return (
        f"{version.id:<8} {version.at[:16].replace('T', ' ')}  {version.kind:<8} "
        f"{clip(version.path, 40):<40} {size:>14}  {one_line(version.by)}{reason}"
    )


def _verify(notebook: Notebook, *, as_json: bool) -> int:
    from ricordo.cli.output import print_json, print_lines
    from ricordo.notebook.history_check import check_history

    checked = check_history(notebook)
    verdict = f"{len(checked.faults)} faults" if checked.faults else "all as it should be"
    if as_json:
        print_json({"texts": checked.contents, "faults": list(checked.faults)})
    else:
        print_lines([*map(one_line, checked.faults), f"{checked.contents} kept texts: {verdict}"])
    return 3 if checked.faults else 0


def _trim(notebook: Notebook, options: Namespace) -> int:
    from ricordo.cli.output import note_change, print_json, print_lines
    from ricordo.errors import WrongUsage
    from ricordo.notebook.trim import plan_trimming, trim

    days, drop = options.older_than, options.drop
    if not 1 <= days <= _MOST_DAYS:
        raise WrongUsage(f"--older-than needs a number of days from 1 to {_MOST_DAYS:,}.")
    trimming = (trim if drop else plan_trimming)(notebook, days)
    what = f"{len(trimming.texts)} texts, {trimming.bytes / 1_000_000:.1f} MB"
    if drop:
        note_change(f"dropped {what}")
    if options.json:
        counted = {"texts": len(trimming.texts), "bytes": trimming.bytes, "kept": trimming.kept}
        print_json({**counted, "dropped": drop})
    elif drop:
        print_lines([f"dropped {what}; {trimming.kept} texts stay"])
    else:
        print_lines([f"{what} could be dropped, {trimming.kept} stay; --drop does it"])
    return 0


def _size(notebook: Notebook, *, as_json: bool) -> int:
    from ricordo.cli.output import print_json, print_lines
    from ricordo.notebook.history_check import history_size

    size = history_size(notebook)
    if as_json:
        print_json({"bytes": size.bytes, "texts": size.contents, "acts": size.acts})
    else:
        measured = f"{size.bytes / 1_000_000:.1f} MB, {size.contents} texts, {size.acts} acts"
        print_lines([f"{measured}; of all memories"])
    return 0
