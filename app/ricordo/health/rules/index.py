"""Rules on what the index points to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ricordo.health.finding import Severity
from ricordo.health.mending.entries import MissingEntries, drop_second, repoint_or_drop
from ricordo.health.mending.links import Meant
from ricordo.health.rule import Context, Found, memory_rule
from ricordo.memory.index import Entry, EntryForm, Index
from ricordo.memory.layout import Role
from ricordo.memory.memory import Memory
from ricordo.memory.names import Leads
from ricordo.memory.note import Note

LISTED = frozenset((EntryForm.BULLET, EntryForm.ROW))
"""The forms in which an index lists a note; prose only mentions it."""


@memory_rule("index-missing-file", Severity.ERROR, "an entry points to a file that is not there")
def index_missing_file(memory: Memory, context: Context) -> Iterator[Found]:
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
                yield Found(entry.line, message, entry.link.target, (entry.text,), index.path, fix)


@memory_rule("unindexed-note", Severity.WARNING, "a note that no entry points to")
def unindexed_note(memory: Memory, context: Context) -> Iterator[Found]:
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
            yield Found(0, message, note.path, (), note.path, entries.fix(note))


def what_is_listed(memory: Memory, context: Context) -> tuple[object, ...]:
    """Return the indexes and where their entries lead: all that a rule on entries rests on."""
    return memory.indexes, [memory.links.get(index.path) for index in memory.indexes]


@memory_rule(
    "index-duplicate-entry",
    Severity.WARNING,
    "two entries for one note",
    rests_on=what_is_listed,
)
def index_duplicate_entry(memory: Memory, context: Context) -> Iterator[Found]:
    """Listed entries of one index that point to the same place of the same note."""
    for index in memory.indexes:
        seen: dict[tuple[str, str], Entry] = {}
        for path, entry in _listed(memory, index):
            first = seen.setdefault((path, entry.link.anchor), entry)
            if first is not entry:
                message = f"{path} has two entries, on lines {first.line} and {entry.line}."
                fix = drop_second(index, first, entry)
                yield Found(entry.line, message, path, (first.text, entry.text), index.path, fix)


def _listed(memory: Memory, index: Index) -> Iterator[tuple[str, Entry]]:
    for entry in index.entries:
        if entry.form in LISTED:
            found = memory.target(index, entry)
            if found.leads is Leads.NOTE and memory.by_path[found.path].role is not Role.INDEX:
                yield found.path, entry


def _index_above(note: Note, folders: Mapping[str, Index], memory: Memory) -> Index | None:
    """The index in the folder of `note` or nearest above; for a raw source, among sources."""
    within = memory.layout.source_folder if note.role is Role.SOURCE else ""
    folder = note.path.rpartition("/")[0]
    while folder not in folders:
        if folder in ("", within):
            return None
        folder = folder.rpartition("/")[0]
    return folders[folder] if folder.startswith(within) else None
