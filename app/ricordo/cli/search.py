"""`ricordo search`, `recall`, `usage`: find notes, and report what they were used for."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ricordo.cli.output import print_messages
from ricordo.cli.parser import Command, add_json, add_memory, get_memory_path
from ricordo.cli.workspace import load_settings_reported, open_notebook, read_memory_reported
from ricordo.errors import WrongUsage
from ricordo.text import make_one_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence

    from ricordo.memory.memory import Memory
    from ricordo.search.index import SearchIndex
    from ricordo.services.search.recall import RecallResult
    from ricordo.services.search.search import Hit
    from ricordo.services.search.usage import NoteUse, SearchMiss
    from ricordo.services.workspace.environment import Environment


NO_RESULTS = 1
"""The exit code if nothing was found."""


def add_number(parser: ArgumentParser, default: int = 5) -> None:
    """Add `-n N`."""
    parser.add_argument(
        "-n",
        dest="number",
        metavar="N",
        type=_positive,
        default=default,
        help=f"maximum number of notes (default: {default})",
    )


def print_results(results: Sequence[RecallResult], options: Namespace) -> int:
    """Print `results`, and return the exit code."""
    from ricordo.cli.output import print_json, print_lines
    from ricordo.services.search.recall import describe_results

    if options.json:
        print_json(describe_results(results), options.command)
    else:
        for result in results:
            print_lines(_rows(result, "", [("", result.snippet)]))
    return 0 if results else NO_RESULTS


def _rows(result: RecallResult, root: str, passages: Sequence[tuple[str, str]]) -> list[str]:
    """Return a note as lines: where it is, its `passages` that match, each after its label, and why
    it was found. Secrets are masked.
    """
    from ricordo.secrets import mask_passage

    note = result.note
    name = mask_passage(note.name, note.text)
    title = f"{os.path.join(root, note.path)}  {name}" + (f"  ({note.type})" if note.type else "")
    shown = (f"    {label}{mask_passage(passage, note.text)}" for label, passage in passages)
    rows = [title, *shown, f"    {'; '.join(result.why)}"]
    return [make_one_line(row) for row in rows if row.strip()]


def _positive(text: str) -> int:
    if text.isdecimal() and (number := int(text)) > 0:
        return number
    from argparse import ArgumentTypeError

    raise ArgumentTypeError(f"expects a number from 1, not “{make_one_line(text)}”")


USAGE_SUMMARY = """Show what notes were used for, and your searches without results.

It counts notes that the hook gave to agents and that you opened or confirmed in the notebook. The
record is in the state directory, never in the memory. --drop forgets a search."""

_KINDS = {"given": "given to agents", "opened": "opened by you", "confirmed": "confirmed by you"}


def _add_usage_arguments(parser: ArgumentParser) -> None:
    add_memory(parser)
    parser.add_argument("--drop", metavar="WORDS", help="forget the search with these words")
    add_json(parser)


def run_usage(options: Namespace, environment: Environment) -> int:
    """Print the report, or forget a search without results."""
    from ricordo.cli.change import Changed, print_change
    from ricordo.cli.output import note_change, print_json, print_lines
    from ricordo.errors import WrongUsage
    from ricordo.services.search.usage import drop_search_miss, list_search_misses, list_uses

    _, memory = read_memory_reported(options, environment)
    missed = list_search_misses(environment, memory)
    if options.drop is not None:
        miss = next((each for each in missed if each.words == options.drop), None)
        if miss is None:
            from ricordo.suggestions import suggest

            words = make_one_line(options.drop)
            near = suggest(options.drop, (each.words for each in missed))
            raise WrongUsage(
                f"No search without results has the words “{words}”.",
                hint=f"{near} `ricordo usage` lists them.".lstrip(),
            )
        drop_search_miss(environment, memory, miss)
        done = f"forgot the search “{make_one_line(miss.words)}”"
        note_change(done)
        print_change(options, done, [Changed("forgotten", id=miss.words)])
        return 0
    uses = list_uses(environment, memory)
    if options.json:
        print_json(_document(uses, missed), "usage")
    else:
        print_lines(_lines(uses, missed))
    return 0


def _document(
    uses: Sequence[NoteUse], missed: Sequence[SearchMiss]
) -> dict[str, list[dict[str, Any]]]:
    return {
        "uses": [use._asdict() for use in uses],
        "gaps": [miss._asdict() for miss in missed],
    }


def _lines(uses: Sequence[NoteUse], missed: Sequence[SearchMiss]) -> list[str]:
    lines = ["uses, newest first" if uses else "no note was used yet"]
    for use in uses:
        what = _KINDS.get(use.kind, make_one_line(use.kind))
        lines.append(f"  {use.last[:10]}  {use.times:4d} × {what:16}  {make_one_line(use.path)}")
    lines.append(
        "your searches without results, newest first" if missed else "no search without results"
    )
    lines += [f"  {miss.last[:10]}  {make_one_line(miss.words)}" for miss in missed]
    return lines


SEARCH_SUMMARY = """Find notes by name and text.

Words are found with typing errors and in any form; notes with more of them come first. Conditions:
type:feedback, tag:deploy, is:protected, has:dead-link, after:2026-05, before:2026-06, in:folder,
>note (links to it), <note (linked from it), "exact words" (through markup, punctuation and line
ends), -word. A - before any condition negates it. OR in capitals separates alternatives:
tag:deploy "release day" OR type:feedback. Put -- before a query that starts with -word, which would
be taken for an option.

Each note is printed with its matching lines and their numbers. Secrets are masked, as in everything
that is printed of notes; `ricordo show --reveal` prints them. Exits with 1 if nothing matches."""
MOST_LINES = 3
"""Matching lines that are printed of a note."""
MAX_JSON_LINES = 20
"""Matching lines of a note in a JSON document."""


def _add_search_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("query", metavar="QUERY", help="words and conditions")
    add_memory(parser)
    add_number(parser, default=10)
    parser.add_argument("--all", action="store_true", help="in every memory on this machine")
    add_json(parser)


def run_search(options: Namespace, environment: Environment) -> int:
    """Print the notes that match the query."""
    if not options.query.strip():
        raise WrongUsage("QUERY is empty: name words or a condition.")
    if not options.all:
        return _search_one(options, environment)
    if get_memory_path(options):
        raise WrongUsage("--all searches every memory and takes no PATH.")
    return _search_all(options, environment)


def _search_all(options: Namespace, environment: Environment) -> int:
    from ricordo.services.search.search import SearchAll

    search = SearchAll(environment, load_settings_reported(environment))
    results = search.find(options.query, options.number)
    print_messages(search.warnings)
    _refuse_invalid(results.warnings)
    placed = [(each.hit, each.place.root) for each in results.hits]
    return _print_hits(options, placed, results.total, results.hints, is_exact=results.is_exact)


def _search_one(options: Namespace, environment: Environment) -> int:
    from ricordo.search.query import join_words
    from ricordo.services.search.conditions import ConditionValues, collect_values, needs_findings
    from ricordo.services.search.recall import open_index
    from ricordo.services.search.search import Search
    from ricordo.services.search.usage import count_uses, remember_search_miss

    if needs_findings(options.query):
        notebook = open_notebook(options, environment)
        place, memory = notebook.place, notebook.read()
        uses = count_uses(environment, memory)
        values = collect_values(notebook.judge_with_evidence(memory), uses)
    else:
        place, memory = read_memory_reported(options, environment)
        values = ConditionValues(uses=count_uses(environment, memory))
    search = Search(open_index(place, environment), memory, environment)
    results = search.find(options.query, values, options.number)
    _refuse_invalid(results.warnings)
    hints: tuple[str, ...] = ()
    if not results.hits:
        # only the words: conditions say nothing about missing notes
        remember_search_miss(environment, memory, join_words(options.query))
        hints = (*search.suggest(options.query, values), "--all searches every memory.")
    hits = [(hit, "") for hit in results.hits]
    return _print_hits(options, hits, results.total, hints, is_exact=results.is_exact)


def _refuse_invalid(warnings: Sequence[str]) -> None:
    """Raise WrongUsage if a condition of the query is invalid."""
    if warnings:
        whole = "; ".join(warnings)
        raise WrongUsage(whole if whole.endswith("?") else f"{whole}.")


def _print_hits(
    options: Namespace,
    hits: Sequence[tuple[Hit, str]],
    total: int,
    hints: Sequence[str],
    *,
    is_exact: bool,
) -> int:
    """Print the hits, each with the root of its memory or ""; without one, what to try instead.
    Return the exit code.
    """
    from ricordo.cli.output import print_json, print_lines

    if options.json:
        print_json({"results": [_describe_hit(hit, root) for hit, root in hits]}, "search")
    else:
        for hit, root in hits:
            print_lines(_rows(hit.result, root, _passages(hit)))
    if not hits:
        message = f"No note matches “{make_one_line(options.query)}”."
        print_messages([" ".join((message, *hints))])
        return NO_RESULTS
    if total > len(hits):
        number = f"{total:,}" if is_exact else f"at least {total:,}"
        print_messages([f"{len(hits)} of {number} matching notes; -n N shows more."])
    return 0


def _passages(hit: Hit) -> list[tuple[str, str]]:
    """Return the matching lines of a note after their numbers; its passage if no line matches."""
    lines = hit.find_lines(MOST_LINES)
    if not lines.shown:
        return [("", hit.result.snippet)]
    width = len(str(lines.shown[-1].line))
    rows = [(f"{each.line:>{width}}: ", each.text) for each in lines.shown]
    more = lines.total - len(rows)
    if more:
        rows.append((f"{' ' * width}  and {more} more {'line' if more == 1 else 'lines'}", ""))
    return rows


def _describe_hit(hit: Hit, root: str) -> dict[str, Any]:
    """Return a note as `search --json` prints it, with its secrets masked."""
    from ricordo.secrets import mask_passage
    from ricordo.services.search.recall import describe_result

    lines, text = hit.find_lines(MAX_JSON_LINES).shown, hit.result.note.text
    return {
        **describe_result(hit.result),
        "line": lines[0].line if lines else 0,
        "lines": [{"line": it.line, "text": mask_passage(it.text, text)} for it in lines],
        **({"memory": root} if root else {}),
    }


RECALL_SUMMARY = """Find the notes that an agent should read for a message; there may be none.

Nothing is recorded: only the hook gives notes to agents. It gives fewer of them, as most messages
need none.
Notes with a credential, or with text that lint reports as instruction-shaped, are never among them;
`search` finds them.

With --ambient there is no message. Notes are then found by the environment: the current directory
and its git branch, recently changed files and those of the last three commits, weekday and part of
the day; after them come notes associated with those used last. It needs a memory whose project is
known."""


def _add_recall_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "message", metavar="MESSAGE", nargs="?", default="", help="message to the agent"
    )
    add_memory(parser)
    add_number(parser)
    parser.add_argument(
        "--ambient", action="store_true", help="find notes by the environment instead of a MESSAGE"
    )
    add_json(parser)


def run_recall(options: Namespace, environment: Environment) -> int:
    """Print the notes that are relevant to the message or the environment."""
    from ricordo.errors import WrongUsage
    from ricordo.search.select import LENIENT
    from ricordo.services.search.ambient import recall_ambient
    from ricordo.services.search.recall import open_index, recall

    if options.ambient and options.message and not options.path:
        options.path, options.message = options.message, ""
    if not options.message and not options.ambient:
        raise WrongUsage("recall needs a MESSAGE, or --ambient.")
    place, memory = read_memory_reported(options, environment)
    index = open_index(place, environment)
    if options.ambient and not place.project:
        print_messages(
            ["--ambient needs the project of this memory, which is unknown: give a MESSAGE."]
        )
        results = []
    elif options.ambient:
        results = recall_ambient(index, memory, place, environment, options.number)
        if not results:
            print_messages(["No note belongs to this environment. Give a MESSAGE."])
    else:
        results = recall(
            index,
            memory,
            options.message,
            environment,
            options.number,
            semantic=True,
            strictness=LENIENT,
        )
        if not results:
            print_messages([_suggest_instead(options.message, index, memory)])
    return print_results(results, options)


def _suggest_instead(message: str, index: SearchIndex, memory: Memory) -> str:
    """Return that no note was found for a `message`, and what to try."""
    from ricordo.search.words import content_words, split_words
    from ricordo.services.search.suggestion import list_near_words

    words = content_words(split_words(message))
    near = index.query(memory, lambda reader: list_near_words(reader, words))
    hint = (
        f"Nearest words in the notes: {', '.join(near)}." if near else "Name a topic in two words."
    )
    return (
        f"No note for “{make_one_line(message)}”. {hint}"
        " `ricordo search` also finds names and parts of words."
    )


COMMANDS = {
    "search": Command(SEARCH_SUMMARY, _add_search_arguments, run_search),
    "recall": Command(RECALL_SUMMARY, _add_recall_arguments, run_recall),
    "usage": Command(USAGE_SUMMARY, _add_usage_arguments, run_usage, ("--drop",)),
}
