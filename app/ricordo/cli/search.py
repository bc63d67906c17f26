"""`ricordo search`: find notes as the notebook's finder does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.arguments import add_json, add_memory, memory_path
from ricordo.cli.found import add_number, print_results
from ricordo.cli.opening import open_notebook, told_settings
from ricordo.cli.output import tell
from ricordo.errors import WrongUsage

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from ricordo.notebook.surroundings import Surroundings

SUMMARY = """Find notes by name and by what they say.

Conditions: type:feedback, is:protected, has:dead-link, after:2026-05, before:2026-06, >note (links
to it), <note (linked from it), "exact words", -not. Any of them may have a - before it; a query
that begins with -not stands behind --, as no option does."""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `search`."""
    parser.add_argument("query", metavar="QUERY", help="words and conditions")
    add_memory(parser)
    add_number(parser, default=10)
    parser.add_argument("--all", action="store_true", help="in every memory on this machine")
    add_json(parser)


def run(options: Namespace, surroundings: Surroundings) -> int:
    """Print the notes that were found."""
    if not options.all:
        return _in_one(options, surroundings)
    if memory_path(options):
        raise WrongUsage("search --all looks in every memory: it takes no PATH.")
    return _in_all(options, surroundings)


def _in_all(options: Namespace, surroundings: Surroundings) -> int:
    from ricordo.notebook.search_all import SearchAll

    search = SearchAll(surroundings, told_settings(surroundings))
    found = search.find(options.query, options.number)
    tell([*search.remarks, *found.remarks])
    roots = [it.place.root for it in found.hits]
    return print_results([it.hit.result for it in found.hits], options.json, roots)


def _in_one(options: Namespace, surroundings: Surroundings) -> int:
    from ricordo.notebook.conditions import Values, asks_findings, values_of
    from ricordo.notebook.recall import open_index
    from ricordo.notebook.search import Search
    from ricordo.notebook.usage import remember_gap, uses_by_person
    from ricordo.recall.query import parse

    notebook = open_notebook(options, surroundings)
    memory = notebook.read()
    uses = uses_by_person(surroundings, memory)
    if asks_findings(options.query):
        values = values_of(notebook.judge_closely(memory), uses)
    else:
        values = Values(uses=uses)
    index = open_index(notebook.place, surroundings)
    found = Search(index, memory, surroundings).find(options.query, values, options.number)
    tell(found.remarks)
    if not found.hits and not found.remarks:
        # conditions say nothing of what notes lack
        remember_gap(surroundings, memory, parse(options.query).words)
    return print_results([hit.result for hit in found.hits], options.json)
