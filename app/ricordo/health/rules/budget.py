"""Rules on how much of the index an agent is given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from ricordo.health.finding import Severity
from ricordo.health.mending.entries import extract, shorten
from ricordo.health.rule import Context, Found, memory_rule
from ricordo.health.rules.index import LISTED
from ricordo.memory.index import Index
from ricordo.memory.load import Load, stripped_lines
from ricordo.memory.memory import Memory

_SHOWN = 3


@memory_rule("index-over-budget", Severity.ERROR, "the index is longer than what agents load")
def index_over_budget(memory: Memory, context: Context) -> Iterator[Found]:
    """The first line that the agent is not given."""
    load, index = memory.load, memory.index
    if index is None or load.cut_at_line is None:
        return
    lines = index.note.text.split("\n")
    lost = [line for line in lines[load.cut_at_line - 1 :] if line.strip()]
    message = f"The index has {_measure(load)}: nothing from line {load.cut_at_line} on is loaded."
    yield Found(
        load.cut_at_line, message, lost[0] if lost else "", tuple(lost[:_SHOWN]), index.path
    )


@memory_rule("index-near-budget", Severity.WARNING, "the index is over 75 % of what agents load")
def index_near_budget(memory: Memory, context: Context) -> Iterator[Found]:
    """An index that is all loaded, but not for long."""
    load, index = memory.load, memory.index
    near = context.thresholds["index-near-budget.share"]
    if index is None or load.cut_at_line is not None or load.share <= near:
        return
    message = f"The index has {_measure(load)}: {load.share:.0%} of what agents load."
    yield Found(0, message, f"over {near:.0%}", (), index.path)


@memory_rule("index-long-entry", Severity.INFO, "an entry over 200 characters")
def index_long_entry(memory: Memory, context: Context) -> Iterator[Found]:
    """Entries that take the room of several."""
    longest = context.thresholds["index-long-entry.characters"]
    for index in memory.indexes:
        for entry in index.entries:
            if entry.form in LISTED and len(entry.text) > longest:
                message = f"The entry “{entry.title}” has {len(entry.text)} characters."
                fix = shorten(index, entry, int(longest))
                yield Found(entry.line, message, entry.text, (entry.text,), index.path, fix)


@memory_rule("index-inline-body", Severity.INFO, "note text written into the index")
def index_inline_body(memory: Memory, context: Context) -> Iterator[Found]:
    """Stretches of text between two entries or headings, where every line costs budget."""
    least = context.thresholds["index-inline-body.lines"]
    index = memory.index
    if index is None or memory.layout.limits is None:
        return
    for lines in _stretches(index):
        if len(lines) >= least:
            text = list(lines.values())
            message = f"{len(text)} lines of note text stand in the index."
            fix = extract(memory, index, list(lines))
            yield Found(min(lines), message, "\n".join(text), tuple(text[:_SHOWN]), index.path, fix)


def _measure(load: Load) -> str:
    limits = load.limits
    assert limits is not None
    lines = f"{load.lines:,} of {limits.lines:,} lines"
    return f"{lines} and {load.units:,} of {limits.units:,} characters"


@lru_cache(maxsize=1)
def _stretches(index: Index) -> tuple[Mapping[int, str], ...]:
    """The runs of lines that are neither heading nor entry, each line by its number."""
    return tuple(_runs_of_text(index))


def _runs_of_text(index: Index) -> Iterator[Mapping[int, str]]:
    entries = {entry.line for entry in index.entries}
    text: dict[int, str] = {}
    for number, line in stripped_lines(index.note.text):
        if number in entries or line.startswith("#"):
            yield text
            text = {}
        elif line.strip():
            text[number] = line
    yield text
