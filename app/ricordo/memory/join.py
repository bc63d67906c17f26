"""Move notes from one memory to another, all of them or some, with their links, names and index
entries.

A note keeps its path where that is free; else it gets another one, and the links to it follow.
Links between notes that move together stay links; those between a note that moves and one that
stays become text. A note that the other memory has letter by letter is only removed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ricordo.errors import ChangeRefused
from ricordo.memory.change import Change, ChangeSet, Edit, Rename, Retire, drop_empty_edits
from ricordo.memory.compose import compose
from ricordo.memory.draft import apply_edits, encode_text
from ricordo.memory.entry import find_entry_lines
from ricordo.memory.index import EntryForm, compute_load
from ricordo.memory.lines import convert_line_ends, detect_line_end, split_lines
from ricordo.memory.link_text import remove_links
from ricordo.memory.memory import Memory
from ricordo.memory.names import TargetKind
from ricordo.memory.new_note import choose_path
from ricordo.memory.note import BOM, Note
from ricordo.text import make_visible

_MOST_NAMED = 5
"""Files that a warning names."""


def join_memories(
    source: Memory,
    target: Memory,
    title: str,
    reason: str,
    only: Collection[str] | None = None,
) -> ChangeSet:
    """Return the change set that moves the notes of `source` to `target`: those at the paths
    `only`, None for all. `title` heads what comes from the index of `source` in that of `target`.

    Raises ChangeRefused where there is nothing to move, or a memory is read-only.
    """
    join = _Join(source, target, only)
    edits = drop_empty_edits(
        [*join.create_notes(), *join.merge_indexes(title), *join.empty_source()]
    )
    if not edits:
        raise ChangeRefused("There is nothing to move.")
    moved = [Rename(old, new, root=target.root) for old, new in join.paths.items()]
    # of a memory without notes the index alone is removed
    removed = [path for path in join.moving or (it.path for it in edits) if path not in join.paths]
    changes = [Change(it, reason) for it in moved]
    changes += [Change(Retire(path), reason) for path in removed]
    return ChangeSet(edits, tuple(changes), tuple(join.list_warnings(edits)))


class _Join:
    """One join while it is composed."""

    def __init__(self, source: Memory, target: Memory, only: Collection[str] | None) -> None:
        for memory in (source, target):
            if memory.layout.read_only:
                raise ChangeRefused(memory.layout.read_only)
        self.source, self.target = source, target
        self.is_whole = only is None
        notes = [note for note in source.notes if only is None or note.path in only]
        self.moving = {note.path: note for note in notes if note.is_readable}
        """The notes that leave the source, by path there."""
        self.paths: dict[str, str] = {}
        """The new paths of those that arrive in the target."""
        self._warnings: list[str] = []
        renamed = self._rename()
        self.cut = _cut_links(renamed, {self.paths.get(path, path) for path in self.moving})
        """The source with the new names, and without links between what moves and what stays."""

    def _rename(self) -> Memory:
        """Choose the new paths; return the source with those notes renamed whose path or name is
        taken.
        """
        target = self.target
        taken = [*target.by_path, *target.others, *self.source.by_path]
        changes: list[Change] = []
        for path, note in self.moving.items():
            there = target.by_path.get(path)
            if there is not None and there.raw == note.raw:
                continue
            self.paths[path] = path
            is_taken = path in target.by_path or path in target.others
            if is_taken or _has_name(target, note):
                new = choose_path(note.stem, taken, self.source.layout, path.rpartition("/")[0])
                taken.append(new)
                self.paths[path] = new
                name = new.rpartition("/")[2].removesuffix(".md")
                changes.append(Change(Rename(path, new, name)))
        composed = compose(self.source, changes)
        self._warnings += composed.warnings
        return apply_edits(self.source, composed.edits)

    def create_notes(self) -> list[Edit]:
        """Return the edits that create the notes in the target."""
        return [
            Edit(
                self.target.root,
                new,
                None,
                self.cut.by_path[new].raw,
                moved_from=old,
                moved_from_root=self.source.root,
            )
            for old, new in self.paths.items()
        ]

    def merge_indexes(self, title: str) -> list[Edit]:
        """Return the edit of the target's index, with the lines of the source's."""
        lines = self._list_index_lines()
        if not any(line.strip() for line in lines):
            return []
        index, layout = self.target.index, self.target.layout
        if index is None:
            path, before, text = layout.index_name, None, ""
        else:
            path, before, text = index.path, index.note.raw, index.note.text
        section = "".join(lines).strip("\n")
        head = f"{text.rstrip()}\n\n## {title}\n\n" if text.strip() else ""
        merged = convert_line_ends(f"{head}{section}\n", detect_line_end(text))
        mark = BOM if before is not None and before.startswith(BOM) else b""
        return [Edit(self.target.root, path, before, mark + encode_text(merged))]

    def _list_index_lines(self) -> list[str]:
        """Return the lines of the source's index that go to the target: of a whole memory all but
        its title, of some notes their entries. Entries that the target has are left out.
        """
        index = self.cut.index
        if index is None:
            return []
        listed = self.target.entries
        moved = {self.paths.get(path, path) for path in self.moving}
        known = {path for path in moved if path in listed and path not in self.paths.values()}
        numbers = _find_lines(self.cut, moved - known)
        lines = split_lines(index.note.text)
        if not self.is_whole:
            return [lines[number - 1] for number in sorted(numbers)]
        stay = {note.path for note in self.source.notes if note.path not in self.moving}
        left_out = _find_lines(self.cut, known | stay)
        return [
            line
            for number, line in enumerate(lines, 1)
            if number not in left_out and not line.startswith("# ")
        ]

    def empty_source(self) -> list[Edit]:
        """Return the edits that remove from the source what moved, and its index if all did."""
        root, index = self.source.root, self.source.index
        edits = [Edit(root, path, note.raw, None) for path, note in self.moving.items()]
        stay = [note for note in self.source.notes if note.path not in self.moving]
        for note in stay:
            edits.append(Edit(root, note.path, note.raw, self.cut.by_path[note.path].raw))
        if index is not None and not stay:
            edits.append(Edit(root, index.path, index.note.raw, None))
        elif index is not None:
            gone = _find_lines(self.source, self.moving)
            lines = split_lines(index.note.text)
            text = "".join(line for n, line in enumerate(lines, 1) if n not in gone)
            edits.append(Edit(root, index.path, index.note.raw, _encode(index.note, text)))
        return edits

    def list_warnings(self, edits: Sequence[Edit]) -> Iterator[str]:
        """Yield what to know before the change is made."""
        yield from self._warnings
        if self.is_whole:
            others = sorted(self.source.others | {note.path for note in self._list_left_files()})
            if others:
                named = ", ".join(map(make_visible, others[:_MOST_NAMED]))
                yield f"Left in {make_visible(self.source.root)}: {named}."
        after = apply_edits(self.target, [it for it in edits if it.root == self.target.root])
        load = compute_load(after.index.note.text if after.index else "", after.layout.limits)
        if load.cut_at_line is not None and self.target.load.cut_at_line is None:
            yield f"Index too long: agents would stop loading it at line {load.cut_at_line}."

    def _list_left_files(self) -> list[Note]:
        index = self.source.index
        return [
            file
            for file in self.source.files
            if file.path not in self.moving and (index is None or file.path != index.path)
        ]


def _has_name(memory: Memory, note: Note) -> bool:
    """Return whether a link by the name of `note` could mean a note of `memory`."""
    names = memory.names
    return bool(names.find_by_name(note.name) or names.find_by_name(note.stem))


def _cut_links(memory: Memory, moved: Collection[str]) -> Memory:
    """Return `memory` with the links between the notes `moved` and all others as text."""
    notes = {note.path for note in memory.notes}
    edits: list[Edit] = []
    for note in memory.notes:
        links = [
            resolved.link
            for resolved in memory.links.get(note.path, ())
            if resolved.target_kind is TargetKind.NOTE
            and resolved.path in notes
            and (note.path in moved) is not (resolved.path in moved)
        ]
        if links and note.is_readable:
            after = _encode(note, remove_links(note.text, links))
            edits.append(Edit(memory.root, note.path, note.raw, after))
    return apply_edits(memory, edits)


def _encode(note: Note, text: str) -> bytes:
    """Return `text` as the bytes of a file, with the byte order mark that `note` has."""
    return (BOM if note.raw.startswith(BOM) else b"") + encode_text(text)


def _find_lines(memory: Memory, paths: Collection[str]) -> set[int]:
    """Return the numbers of the lines of the first index that are entries of notes at `paths`
    alone.
    """
    index = memory.index
    if index is None:
        return set()
    targets = [(entry, memory.resolve_entry(index, entry).path) for entry in index.entries]
    shared = {entry.line for entry, path in targets if path not in paths}
    numbers: set[int] = set()
    for entry, path in targets:
        if path in paths and entry.form is not EntryForm.PROSE and entry.line not in shared:
            numbers.update(find_entry_lines(index, entry))
    return numbers
