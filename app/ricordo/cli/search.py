"""`ricordo search`: find notes as the notebook's finder does."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ricordo.cli.command import Command
from ricordo.cli.output import tell
from ricordo.cli.parser import add_json, add_memory, memory_path
from ricordo.cli.workspace import open_notebook, told_settings
from ricordo.errors import WrongUsage
from ricordo.text import one_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence

    from ricordo.services.search.recall import RecallResult
    from ricordo.services.search.usage import NoteUse, SearchMiss
    from ricordo.services.workspace.environment import Environment


NOTHING = 1
"""The exit code when nothing was found."""


def add_number(parser: ArgumentParser, default: int = 5) -> None:
    """Add `-n N`."""
    parser.add_argument(
        "-n",
        dest="number",
        metavar="N",
        type=_positive,
        default=default,
        help=f"at most so many notes ({default})",
    )


def print_results(found: Sequence[RecallResult], as_json: bool, roots: Sequence[str] = ()) -> int:
    """Print the notes that were `found`, each with the memory of which it is where `roots` stand
    beside them; return the exit code.
    """
    from ricordo.cli.output import print_json, print_lines
    from ricordo.services.search.recall import describe_results

    if as_json:
        print_json(describe_results(found, roots))
    else:
        for it, root in zip(found, roots or [""] * len(found), strict=True):
            note = it.note
            path = os.path.join(root, note.path)
            head = f"{path}  {note.name}" + (f"  ({note.type})" if note.type else "")
            rows = [head, f"    {it.snippet}", f"    {'; '.join(it.why)}"]
            print_lines([one_line(row) for row in rows if row.strip()])
    return 0 if found else NOTHING


def _positive(text: str) -> int:
    if text.isdecimal() and (number := int(text)) > 0:
        return number
    from argparse import ArgumentTypeError

    raise ArgumentTypeError(f"wants a number from 1 on, not “{one_line(text)}”")


USAGE_SUMMARY = """What notes were used for, and your searches without results (gaps).

Agents are given notes by the hook; you open and confirm them in the notebook, and search there and
by `search`. It is kept in the state directory, never in the memory. --drop forgets a gap."""

_KINDS = {"given": "given to agents", "opened": "opened by you", "confirmed": "confirmed by you"}


def add_usage_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `usage`."""
    add_memory(parser)
    parser.add_argument("--drop", metavar="WORDS", help="forget the gap of these words")
    add_json(parser)


def run_usage(options: Namespace, environment: Environment) -> int:
    """Print the report, or forget a gap."""
    from ricordo.cli.output import note_change, print_json, print_lines
    from ricordo.errors import WrongUsage
    from ricordo.services.search.usage import drop_gap, gaps, use_report

    memory = open_notebook(options, environment).read()
    missed = gaps(environment, memory)
    if options.drop is not None:
        meant = next((gap for gap in missed if gap.words == options.drop), None)
        if meant is None:
            words = one_line(options.drop)
            raise WrongUsage(f"“{words}” is no gap of this memory; `ricordo usage` lists them.")
        drop_gap(environment, memory, meant)
        note_change(f"forgot the gap “{meant.words}”")
        print_lines([f"forgot the gap “{one_line(meant.words)}”"])
        return 0
    uses = use_report(environment, memory)
    if options.json:
        print_json(_document(uses, missed))
    else:
        print_lines(_lines(uses, missed))
    return 0


def _document(
    uses: Sequence[NoteUse], missed: Sequence[SearchMiss]
) -> dict[str, list[dict[str, Any]]]:
    return {
        "uses": [use._asdict() for use in uses],
        "gaps": [gap._asdict() for gap in missed],
    }


def _lines(uses: Sequence[NoteUse], missed: Sequence[SearchMiss]) -> list[str]:
    lines = ["used, the latest first" if uses else "no note was used yet"]
    for use in uses:
        what = _KINDS.get(use.kind, one_line(use.kind))
        lines.append(f"  {use.last[:10]}  {use.times:4d} × {what:16}  {one_line(use.path)}")
    lines.append(
        "your searches without results, the latest first" if missed else "nothing was missed"
    )
    lines += [f"  {gap.last[:10]}  {one_line(gap.words)}" for gap in missed]
    return lines


SEARCH_SUMMARY = """Find notes by name and by what they say.

Conditions: type:feedback, is:protected, has:dead-link, after:2026-05, before:2026-06, >note (links
to it), <note (linked from it), "exact words", -not. Any of them may have a - before it; a query
that begins with -not stands behind --, as no option does."""


def add_search_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `search`."""
    parser.add_argument("query", metavar="QUERY", help="words and conditions")
    add_memory(parser)
    add_number(parser, default=10)
    parser.add_argument("--all", action="store_true", help="in every memory on this machine")
    add_json(parser)


def run_search(options: Namespace, environment: Environment) -> int:
    """Print the notes that were found."""
    if not options.all:
        return _in_one(options, environment)
    if memory_path(options):
        raise WrongUsage("search --all looks in every memory: it takes no PATH.")
    return _in_all(options, environment)


def _in_all(options: Namespace, environment: Environment) -> int:
    from ricordo.services.search.search import SearchAll

    search = SearchAll(environment, told_settings(environment))
    found = search.find(options.query, options.number)
    tell([*search.remarks, *found.remarks])
    roots = [it.place.root for it in found.hits]
    return print_results([it.hit.result for it in found.hits], options.json, roots)


def _in_one(options: Namespace, environment: Environment) -> int:
    from ricordo.search.query import parse
    from ricordo.services.search.conditions import Values, asks_findings, values_of
    from ricordo.services.search.recall import open_index
    from ricordo.services.search.search import Search
    from ricordo.services.search.usage import remember_gap, uses_by_person

    notebook = open_notebook(options, environment)
    memory = notebook.read()
    uses = uses_by_person(environment, memory)
    if asks_findings(options.query):
        values = values_of(notebook.judge_closely(memory), uses)
    else:
        values = Values(uses=uses)
    index = open_index(notebook.place, environment)
    found = Search(index, memory, environment).find(options.query, values, options.number)
    tell(found.remarks)
    if not found.hits and not found.remarks:
        # conditions say nothing of what notes lack
        remember_gap(environment, memory, parse(options.query).words)
    return print_results([hit.result for hit in found.hits], options.json)


RECALL_SUMMARY = """The notes an agent should read for a message; none where none bears on it.

Nothing is recorded: only the hook gives notes to agents.
Notes with a credential, or with text that lint reports as instruction-shaped, are never among them;
`search` finds them.

With --ambient there is no message: the notes are those that the surroundings call for, which are
the current directory and its git branch, files changed lately or in the last three commits, the day
of the week and the part of the day, and after them what the notes that were used last remind of. A
memory whose project is not known gives none."""


def add_recall_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `recall`."""
    parser.add_argument("message", metavar="MESSAGE", nargs="?", default="", help="what is said")
    add_memory(parser)
    add_number(parser)
    parser.add_argument(
        "--ambient",
        action="store_true",
        help="the notes that the surroundings call for, instead of those for a MESSAGE",
    )
    add_json(parser)


def run_recall(options: Namespace, environment: Environment) -> int:
    """Print the notes."""
    from ricordo.errors import WrongUsage
    from ricordo.services.search.ambient import ambient
    from ricordo.services.search.recall import open_index, recall

    if options.ambient and options.message and not options.path:
        options.path, options.message = options.message, ""
    if not options.message and not options.ambient:
        raise WrongUsage("recall needs a MESSAGE, or --ambient.")
    notebook = open_notebook(options, environment)
    memory = notebook.read()
    index = open_index(notebook.place, environment)
    if options.ambient and not notebook.place.project:
        tell(["The project of this memory is not known: name a MESSAGE instead of --ambient."])
        found = []
    elif options.ambient:
        found = ambient(index, memory, notebook.place, environment, options.number)
    else:
        found = recall(index, memory, options.message, environment, options.number)
    return print_results(found, options.json)


COMMANDS = {
    "search": Command(SEARCH_SUMMARY, add_search_arguments, run_search),
    "recall": Command(RECALL_SUMMARY, add_recall_arguments, run_recall),
    "usage": Command(USAGE_SUMMARY, add_usage_arguments, run_usage),
}
