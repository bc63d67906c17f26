"""Move notes from one memory to another, all of them or some, with their links, names and index
entries.

A note keeps its path where that is free. Of two notes of one name the newer one keeps it, by the
date in its frontmatter, else that of its file; the other gets another one, and its links follow.
Links between notes that move together stay links; those between a note that moves and one that
stays become text. A note that the other memory has, letter by letter or with more fields in its
frontmatter, is only removed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import NamedTuple

from ricordo.errors import ChangeRefused
from ricordo.memory.change import Change, ChangeSet, Edit, Rename, Retire, drop_empty_edits
from ricordo.memory.compose import compose
from ricordo.memory.draft import apply_edits, encode_text
from ricordo.memory.entry import find_entry_lines
from ricordo.memory.index import EntryForm, compute_load
from ricordo.memory.lines import convert_line_ends, detect_line_end, split_lines, strip_line_end
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
    *,
    keeps_names: bool = False,
) -> ChangeSet:
    """Return the change set that moves the notes of `source` to `target`: those at the paths
    `only`, None for all. `title` heads what comes from the index of `source` in that of `target`,
    whose notes keep their names with `keeps_names`, even if they are older.

    Raises ChangeRefused where there is nothing to move, or a memory is read-only.
    """
    join = _Join(source, target, only, keeps_names)
    edits = drop_empty_edits([*join.merge_into_target(title), *join.empty_source()])
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

    def __init__(
        self, source: Memory, target: Memory, only: Collection[str] | None, keeps_names: bool
    ) -> None:
        for memory in (source, target):
            if memory.layout.read_only:
                raise ChangeRefused(memory.layout.read_only)
        self.source, self.target = source, target
        self.is_whole = only is None
        self._keeps_names = keeps_names
        notes = [note for note in source.notes if only is None or note.path in only]
        self.moving = {note.path: note for note in notes if note.is_readable}
        """The notes that leave the source, by path there."""
        self.paths: dict[str, str] = {}
        """The new paths of those that arrive in the target."""
        self._warnings: list[str] = []
        self.there = target
        """The target, where notes that are older than one of their name have made room."""
        self._there_edits: tuple[Edit, ...] = ()
        renamed = self._rename()
        self.cut = _cut_links(renamed, {self.paths.get(path, path) for path in self.moving})
        """The source with the new names, and without links between what moves and what stays."""

    def _rename(self) -> Memory:
        """Choose the new paths; return the source with those notes renamed whose path or name is
        taken. Older notes of the target make room.
        """
        target = self.target
        taken = [*target.by_path, *target.others, *self.source.by_path]
        changes: list[Change] = []
        made_room: dict[str, Change] = {}
        for path, note in self.moving.items():
            rival = _find_rival(target, note)
            if rival is not None and rival.path == path and self._is_known(note, rival):
                continue
            self.paths[path] = path
            if rival is None and path not in target.others:
                continue
            moved = note
            if rival is not None and rival.path not in made_room and not self._keeps_names:
                moved = rival if _is_newer(note, rival) else note
            folder = moved.path.rpartition("/")[0]
            new = choose_path(moved.stem, taken, self.source.layout, folder)
            taken.append(new)
            name = new.rpartition("/")[2].removesuffix(".md")
            change = Change(Rename(moved.path, new, name))
            if moved is rival:
                made_room[moved.path] = change
            else:
                self.paths[path] = new
                changes.append(change)
            if rival is not None:
                self._warnings.append(_describe_difference(note, rival, moved, new))
        if made_room:
            room = compose(target, list(made_room.values()))
            self._warnings += room.warnings
            self._there_edits = room.edits
            self.there = apply_edits(target, room.edits)
        composed = compose(self.source, changes)
        self._warnings += composed.warnings
        return apply_edits(self.source, composed.edits)

    def _is_known(self, note: Note, there: Note) -> bool:
        """Return whether the target has a note: the same bytes, or the same body and all fields of
        its frontmatter, by whose name no other note links to it.
        """
        if there.raw == note.raw:
            return True
        fields, own = (_list_fields(it.frontmatter.fields) for it in (there, note))
        is_linked = any(
            resolved.path == note.path
            for other in self.source.notes
            for resolved in self.source.links.get(other.path, ())
        )
        is_same_name = there.name == note.name or not is_linked
        bodies = {convert_line_ends(it.body, "\n").strip() for it in (there, note)}
        if len(bodies) > 1 or not fields >= own or not is_same_name:
            return False
        self._warnings.append(
            f"{make_visible(note.path)} has the same text in both, under other frontmatter: the "
            "one that is there stays."
        )
        return True

    def merge_into_target(self, title: str) -> list[Edit]:
        """Return the edits of the target: the notes that arrive, the index with the lines of the
        source's, and what made room for them.
        """
        made = {edit.path: edit for edit in self._there_edits}
        for old, new in self.paths.items():
            made[new] = Edit(
                self.target.root,
                new,
                made[new].before if new in made else None,
                self.cut.by_path[new].raw,
                moved_from=old,
                moved_from_root=self.source.root,
            )
        if sections := _list_sections(self._list_index_lines()):
            before, index = self.target.index, self.there.index
            path = index.path if index else self.target.layout.index_name
            text = _insert_sections(index.note.text if index else "", sections, title)
            raw = before.note.raw if before else None
            mark = BOM if raw is not None and raw.startswith(BOM) else b""
            made[path] = Edit(self.target.root, path, raw, mark + encode_text(text))
        return list(made.values())

    def _list_index_lines(self) -> list[str]:
        """Return the lines of the source's index that go to the target: of a whole memory all but
        its title, of some notes their entries. Entries that the target has are left out.
        """
        index = self.cut.index
        if index is None:
            return []
        listed = self.there.entries
        moved = {self.paths.get(path, path) for path in self.moving}
        known = {path for path in moved if path in listed and path not in self.paths.values()}
        numbers = _find_lines(self.cut, moved - known)
        lines = split_lines(index.note.text)
        if not self.is_whole:
            return [lines[number - 1] for number in sorted(numbers)]
        stay = {note.path for note in self.source.notes if note.path not in self.moving}
        lines = _drop_lines(lines, _find_lines(self.cut, known | stay))
        return [line for line in lines if not line.startswith("# ")]

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
            text = "".join(_drop_lines(lines, gone))
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


def _find_rival(memory: Memory, note: Note) -> Note | None:
    """Return the note of `memory` that has the path of `note`, or to which a link by its name could
    lead; None where both are free.
    """
    names = memory.names
    paths = (note.path, *names.find_by_name(note.name), *names.find_by_name(note.stem))
    return next((memory.by_path[it] for it in paths if it in memory.by_path), None)


def _get_time(note: Note) -> tuple[datetime, bool]:
    """Return when a note was changed last, and whether its frontmatter says so."""
    with suppress(ValueError):
        stated = datetime.fromisoformat(note.stated_date)
        return stated if stated.tzinfo else stated.replace(tzinfo=UTC), True
    return datetime.fromtimestamp(note.facts.modified, UTC), False


def _is_newer(one: Note, other: Note) -> bool:
    return _get_time(one)[0] > _get_time(other)[0]


def _describe_difference(note: Note, rival: Note, moved: Note, new: str) -> str:
    """Return that a note differs from the one of its name, which of both is newer, and that `moved`
    is called `new` afterwards.
    """
    moving, there = (
        f"{at:%Y-%m-%d %H:%M}{'' if is_stated else ', by its file'}"
        for at, is_stated in map(_get_time, (note, rival))
    )
    which = "none is newer"
    if _is_newer(note, rival):
        which = f"the one that moves is newer ({moving}; the other {there})"
    elif _is_newer(rival, note):
        which = f"the one that is there is newer ({there}; the other {moving})"
    who = "The one that moves" if moved is note else "The other"
    path, new = make_visible(note.path), make_visible(new)
    return f"{path} is in both with different texts: {which}. {who} becomes {new}."


def _list_fields(fields: Mapping[str, object]) -> set[str]:
    """Return the keys of frontmatter, those inside others too."""
    inner = [_list_fields(it) for it in fields.values() if isinstance(it, Mapping)]
    return {*fields, *(key for keys in inner for key in keys)} - {"metadata"}


class _Section(NamedTuple):
    """Part of an index."""

    heading: str
    """The whole line, without its line end; "" for what is above the first one."""
    lines: list[str]
    """Without line ends, and without blank ones at the ends."""


def _get_level(line: str) -> int:
    """Return the level of a heading; 0 for any other line."""
    marks, _, text = line.partition(" ")
    return len(marks) if text.strip() and marks and not marks.strip("#") else 0


def _list_sections(lines: Iterable[str]) -> list[_Section]:
    """Return the sections in these lines; a heading inside another one belongs to that section."""
    sections = [_Section("", [])]
    for line in map(strip_line_end, lines):
        level, above = _get_level(line), _get_level(sections[-1].heading)
        if level and (not above or level <= above):
            sections.append(_Section(line.rstrip(), []))
        else:
            sections[-1].lines.append(line)
    trimmed = (_Section(it.heading, _trim(it.lines)) for it in sections)
    return [it for it in trimmed if it.lines]


def _trim(lines: Sequence[str]) -> list[str]:
    """Return lines without blank ones at their ends."""
    filled = [number for number, line in enumerate(lines) if line.strip()]
    return list(lines[filled[0] : filled[-1] + 1]) if filled else []


def _insert_sections(text: str, sections: Iterable[_Section], title: str) -> str:
    """Return the text of an index with further sections: each at the end of the one with its
    heading, else at the end of all. What has no heading is under `title`.
    """
    lines = [strip_line_end(line) for line in split_lines(text.rstrip())]
    for section in sections:
        heading = section.heading or (f"## {title}" if lines else "")
        start = next(
            (n for n, line in enumerate(lines) if heading and line.rstrip() == heading), -1
        )
        if start < 0:
            lines += [*([""] if lines else []), *([heading, ""] if heading else []), *section.lines]
            continue
        after = range(start + 1, len(lines))
        end = next(
            (n for n in after if 0 < _get_level(lines[n]) <= _get_level(heading)), len(lines)
        )
        while end > start + 1 and not lines[end - 1].strip():
            end -= 1
        lines[end:end] = section.lines
    return convert_line_ends("\n".join([*lines, ""]), detect_line_end(text))


def _drop_lines(lines: Sequence[str], numbers: Collection[int]) -> list[str]:
    """Return the lines without those of these numbers, headings under which nothing else was, and
    blank lines that then follow others.
    """
    dropped = set(numbers)
    for number in range(len(lines), 0, -1):
        if level := _get_level(lines[number - 1]):
            rest = range(number + 1, len(lines) + 1)
            end = next((n for n in rest if 0 < _get_level(lines[n - 1]) <= level), len(lines) + 1)
            under = [n for n in range(number + 1, end) if lines[n - 1].strip()]
            if under and dropped.issuperset(under):
                dropped.add(number)
    kept: list[str] = []
    has_gap = False
    for number, line in enumerate(lines, 1):
        is_spare = has_gap and not line.strip() and not "".join(kept[-1:]).strip()
        if number in dropped or is_spare:
            has_gap = True
            continue
        has_gap = has_gap and not line.strip()
        kept.append(line)
    while has_gap and kept and not kept[-1].strip():
        kept.pop()
    return kept


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
