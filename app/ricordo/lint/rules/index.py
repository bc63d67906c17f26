"""Rules on what the index points to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from ricordo.lint.finding import Severity
from ricordo.lint.fixes.entries import (
    MissingEntries,
    drop_second,
    extract,
    repoint_or_drop,
    shorten,
)
from ricordo.lint.fixes.links import Meant
from ricordo.lint.rule import RuleContext, RuleResult, memory_rule
from ricordo.memory.index import Entry, EntryForm, MemoryIndex
from ricordo.memory.layout import FileRole
from ricordo.memory.load import Load, stripped_lines
from ricordo.memory.memory import Memory
from ricordo.memory.names import Leads
from ricordo.memory.note import Note

LISTED = frozenset((EntryForm.BULLET, EntryForm.ROW))
"""The forms in which an index lists a note; prose only mentions it."""


@memory_rule("index-missing-file", Severity.ERROR, "an entry points to a file that is not there")
def index_missing_file(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Entries that lead nowhere; a wikilink in prose is a note that is wanted, no entry."""
    meant = Meant(memory, context.renamed)
    for index in memory.indexes:
        astray = {found.link.start for found in memory.astray.get(index.path, ())}
        for entry in index.entries:
            if entry.link.start not in astray or (
                entry.link.is_wikilink and entry.form not in LISTED
            ):
                continue
            if memory.target(index, entry).leads is Leads.NOWHERE:
                message = (
                    f"The entry “{entry.title}” points to {entry.link.target}, which is not there."
                )
                fix = repoint_or_drop(memory, meant, index, entry)
                yield RuleResult(
                    entry.line, message, entry.link.target, (entry.text,), index.path, fix
                )


@memory_rule("unindexed-note", Severity.WARNING, "a note that no entry points to")
def unindexed_note(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Notes that an index should list and none does; an empty file has nothing to be listed."""
    folders = {index.folder: index for index in reversed(memory.indexes)}
    missing: dict[str, list[Note]] = {}
    for note in memory.notes if folders else ():
        if note.path in memory.entries or (note.readable and not note.text.strip()):
            continue
        index = _index_above(note, folders, memory)
        if index is not None:
            missing.setdefault(index.folder, []).append(note)
    for folder, notes in missing.items():
        entries = MissingEntries(memory, folders[folder], notes, context.encrypted)
        for note in notes:
            message = f"No entry of the index points to “{note.name}”."
            yield RuleResult(0, message, note.path, (), note.path, entries.fix(note))


def what_is_listed(memory: Memory, context: RuleContext) -> tuple[object, ...]:
    """Return the indexes and where their entries lead: all that a rule on entries rests on."""
    return memory.indexes, [memory.links.get(index.path) for index in memory.indexes]


@memory_rule(
    "index-duplicate-entry",
    Severity.WARNING,
    "two entries for one note",
    rests_on=what_is_listed,
)
def index_duplicate_entry(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Listed entries of one index that point to the same place of the same note."""
    for index in memory.indexes:
        seen: dict[tuple[str, str], Entry] = {}
        for path, entry in _listed(memory, index):
            first = seen.setdefault((path, entry.link.anchor), entry)
            if first is not entry:
                message = f"{path} has two entries, on lines {first.line} and {entry.line}."
                fix = drop_second(index, first, entry)
                yield RuleResult(
                    entry.line, message, path, (first.text, entry.text), index.path, fix
                )


def _listed(memory: Memory, index: MemoryIndex) -> Iterator[tuple[str, Entry]]:
    for entry in index.entries:
        if entry.form in LISTED:
            found = memory.target(index, entry)
            if found.leads is Leads.NOTE and memory.by_path[found.path].role is not FileRole.INDEX:
                yield found.path, entry


def _index_above(
    note: Note, folders: Mapping[str, MemoryIndex], memory: Memory
) -> MemoryIndex | None:
    """The index in the folder of `note` or nearest above; for a raw source, among sources."""
    within = memory.layout.source_folder if note.role is FileRole.SOURCE else ""
    folder = note.path.rpartition("/")[0]
    while folder not in folders:
        if folder in ("", within):
            return None
        folder = folder.rpartition("/")[0]
    return folders[folder] if folder.startswith(within) else None


_SHOWN = 3


@memory_rule("index-over-budget", Severity.ERROR, "the index is longer than what agents load")
def index_over_budget(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """The first line that the agent is not given."""
    load, index = memory.load, memory.index
    if index is None or load.cut_at_line is None:
        return
    lines = index.note.text.split("\n")
    lost = [line for line in lines[load.cut_at_line - 1 :] if line.strip()]
    message = f"The index has {_measure(load)}: nothing from line {load.cut_at_line} on is loaded."
    yield RuleResult(
        load.cut_at_line, message, lost[0] if lost else "", tuple(lost[:_SHOWN]), index.path
    )


@memory_rule("index-near-budget", Severity.WARNING, "the index is over 75 % of what agents load")
def index_near_budget(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """An index that is all loaded, but not for long."""
    load, index = memory.load, memory.index
    near = context.thresholds["index-near-budget.share"]
    if index is None or load.cut_at_line is not None or load.share <= near:
        return
    message = f"The index has {_measure(load)}: {load.share:.0%} of what agents load."
    yield RuleResult(0, message, f"over {near:.0%}", (), index.path)


@memory_rule("index-long-entry", Severity.INFO, "an entry over 200 characters")
def index_long_entry(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Entries that take the room of several."""
    longest = context.thresholds["index-long-entry.characters"]
    for index in memory.indexes:
        for entry in index.entries:
            if entry.form in LISTED and len(entry.text) > longest:
                message = f"The entry “{entry.title}” has {len(entry.text)} characters."
                fix = shorten(index, entry, int(longest))
                yield RuleResult(entry.line, message, entry.text, (entry.text,), index.path, fix)


@memory_rule("index-inline-body", Severity.INFO, "note text written into the index")
def index_inline_body(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
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
            yield RuleResult(
                min(lines), message, "\n".join(text), tuple(text[:_SHOWN]), index.path, fix
            )


def _measure(load: Load) -> str:
    limits = load.limits
    assert limits is not None
    lines = f"{load.lines:,} of {limits.lines:,} lines"
    return f"{lines} and {load.units:,} of {limits.units:,} characters"


@lru_cache(maxsize=1)
def _stretches(index: MemoryIndex) -> tuple[Mapping[int, str], ...]:
    """The runs of lines that are neither heading nor entry, each line by its number."""
    return tuple(_runs_of_text(index))


def _runs_of_text(index: MemoryIndex) -> Iterator[Mapping[int, str]]:
    entries = {entry.line for entry in index.entries}
    text: dict[int, str] = {}
    for number, line in stripped_lines(index.note.text):
        if number in entries or line.startswith("#"):
            yield text
            text = {}
        elif line.strip():
            text[number] = line
    yield text
