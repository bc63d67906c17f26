"""Turn changes into edits: each is applied to a draft, in order, and refused if it does not fit."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import assert_never

from ricordo.errors import ChangeRefused
from ricordo.memory import change as acts
from ricordo.memory.change import Author, Change, ChangeOperation, ChangeSet, Edit, drop_empty_edits
from ricordo.memory.draft import MemoryDraft, encode_text
from ricordo.memory.entry import (
    find_entry_lines,
    find_index,
    find_line_before,
    find_model_entry,
    format_entry,
)
from ricordo.memory.frontmatter.edit import set_field
from ricordo.memory.index import Entry, EntryForm, MemoryIndex
from ricordo.memory.layout import FileRole
from ricordo.memory.lines import (
    check_line_number,
    check_single_line,
    convert_line_ends,
    detect_line_end,
    find_only_place,
    has_one_line_end,
    insert_lines,
    move_line,
    split_lines,
    strip_line_end,
)
from ricordo.memory.link_repair import convert_links_to_text, update_links
from ricordo.memory.link_text import format_markdown_link, format_wikilink, remove_links
from ricordo.memory.memory import Memory
from ricordo.memory.names import TargetKind, has_same_names
from ricordo.memory.note import Note
from ricordo.text import make_visible


def compose(
    memory: Memory,
    changes: Sequence[Change],
    *,
    protected: Collection[str] = (),
    others: Mapping[str, Memory] | None = None,
) -> ChangeSet:
    """Return the change set of `changes` in `memory`; each change sees the ones before it.

    `marked` are the paths that the user protected, `others` further memories by root, to which
    notes may move. Raises ChangeRefused if a change does not fit; then none is made.
    """
    composition = _Composition(memory, protected, others or {})
    for change in changes:
        composition.apply(change.operation, change.author)
    return ChangeSet(composition.collect_edits(), tuple(changes), tuple(composition.warnings))


class _Composition:
    def __init__(
        self, memory: Memory, marked: Collection[str], others: Mapping[str, Memory]
    ) -> None:
        self._draft = MemoryDraft(memory, marked)
        self._others = {root: MemoryDraft(other) for root, other in others.items()}
        self._single: list[Edit] = []
        self._replaced: dict[str, list[range]] = {}
        """The replaced ranges by path, as offsets in the original file."""
        self.warnings: list[str] = []

    def collect_edits(self) -> tuple[Edit, ...]:
        """Return the edits of all changes so far, and collect their warnings."""
        edits: list[Edit] = []
        for draft in (self._draft, *self._others.values()):
            draft_edits = draft.edits()
            edits += draft_edits
            self.warnings += find_hard_link_warnings(draft.before, draft_edits)
        return drop_empty_edits([*edits, *self._single])

    def apply(self, act: ChangeOperation, author: Author) -> None:
        """Apply `act` to the draft. Raises ChangeRefused."""
        for draft in (self._draft, *self._others.values()):
            draft.author = author
        match act:
            case acts.WriteFile():
                self._write_file(act)
            case acts.Create():
                self._create(act)
            case acts.Replace():
                self._replace(act)
            case acts.Insert():
                self._insert(act)
            case acts.Rewrite():
                self._draft.get_text(act.path)
                self._put(act.path, act.text)
            case acts.Convert():
                self._draft.convert(act.path)
            case acts.SetField():
                self._set_field(act)
            case acts.Rename():
                self._rename(act)
            case acts.Merge():
                self._merge(act)
            case acts.Retire():
                self._retire(act.path, act.successor)
            case acts.AddLink():
                self._add_link(act)
            case acts.EditLine():
                self._edit_line(act)
            case acts.AddEntry():
                self._add_entry(act)
            case acts.MoveLine():
                self._move_line(act)
            case _:
                assert_never(act)

    def _write_file(self, act: acts.WriteFile) -> None:
        edit = Edit(act.root, act.name, act.before, encode_text(act.text), is_single_file=True)
        if any(edit.key == other.key for other in self._single):
            raise ChangeRefused(f"{make_visible(act.name)} would be written twice.")
        self._single.append(edit)

    def _create(self, act: acts.Create) -> None:
        self._draft.create(act.path, encode_text(act.text))
        if act.entry != "":
            self._enter(self._draft, act.path, act.entry or "")

    def _replace(self, act: acts.Replace) -> None:
        text = self._draft.get_editable_lines(act.path)
        old, new = (convert_line_ends(part, detect_line_end(text)) for part in (act.old, act.new))
        at = find_only_place(text, old, act.path)
        # check the original text too: this change was made without seeing other replacements
        _, origin = self._draft.find_origin(act.path)
        before = self._draft.before.by_path.get(origin)
        if before is not None:
            first = find_only_place(before.text, old, act.path)
            span = range(first, first + len(old))
            earlier = self._replaced.setdefault(origin, [])
            if any(span.start < other.stop and other.start < span.stop for other in earlier):
                raise ChangeRefused(f"Two replacements in {make_visible(act.path)} overlap.")
            earlier.append(span)
        self._draft.set_text(act.path, text[:at] + new + text[at + len(old) :])

    def _insert(self, act: acts.Insert) -> None:
        text = self._draft.get_editable_lines(act.path)
        check_line_number(text, act.after_line, act.path)
        self._draft.set_text(act.path, insert_lines(text, act.after_line, act.text))

    def _edit_line(self, act: acts.EditLine) -> None:
        lines = self._lines_with(act.path, act.line, act.old)
        old = lines[act.line - 1]
        if act.new is None:
            del lines[act.line - 1]
        else:
            check_single_line(act.new)
            lines[act.line - 1] = act.new + old[len(strip_line_end(old)) :]
        self._draft.set_text(act.path, "".join(lines))

    def _move_line(self, act: acts.MoveLine) -> None:
        lines = self._lines_with(act.path, act.line, act.old)
        check_line_number("".join(lines), act.after_line, act.path)
        self._draft.set_text(act.path, move_line(lines, act.line, act.after_line))

    def _lines_with(self, path: str, line: int, old: str) -> list[str]:
        """Return the lines of a file, whose line number `line` must be `old`."""
        lines = split_lines(self._draft.get_editable_lines(path))
        if not 1 <= line <= len(lines) or strip_line_end(lines[line - 1]) != old:
            raise ChangeRefused(f"Line {line} of {make_visible(path)} has changed.")
        return lines

    def _add_link(self, act: acts.AddLink) -> None:
        text = self._draft.get_editable_lines(act.path)
        note = self._draft.get_file(act.target)
        link = format_wikilink(self._draft.memory, act.path, note.path) or format_markdown_link(
            note.stem.translate(_NO_BRACKETS), act.path, note.path
        )
        end = detect_line_end(text)
        gap = "" if not text.strip() or text.endswith(end + end) else end
        added = f"{gap}Related: {link}{end}"
        self._draft.set_text(act.path, insert_lines(text, len(split_lines(text)), added))

    def _add_entry(self, act: acts.AddEntry) -> None:
        note = self._draft.get_file(act.note)
        indexes = self._draft.memory.indexes
        index = next((index for index in indexes if index.path == act.path), None)
        if index is None:
            raise ChangeRefused(f"{make_visible(act.path)} is not an index of this memory.")
        model = find_model_entry(self._draft.memory, index, note)
        self._put_entry(self._draft, index, note, model, act.text, act.after_line)

    def _enter(self, draft: MemoryDraft, path: str, text: str = "") -> None:
        """Add an entry for the note at `path` to the nearest index, creating one if needed."""
        note = draft.get_file(path)
        if note.role is not FileRole.NOTE:
            return
        index = find_index(draft.memory, path)
        if index is None and draft.before.layout.index_name:
            draft.create(draft.before.layout.index_name, b"")
            index = find_index(draft.memory, path)
        if index is not None:
            self._put_entry(draft, index, note, find_model_entry(draft.memory, index, note), text)

    def _put_entry(
        self,
        draft: MemoryDraft,
        index: MemoryIndex,
        note: Note,
        model: Entry | None,
        text: str = "",
        after_line: int | None = None,
    ) -> None:
        """Insert a line for `note` into `index`: `text`, or one in the style of `model`; at its
        place, unless `after_line` is given.
        """
        line = text or format_entry(draft.memory, index, note, model)
        check_single_line(line)
        current = draft.get_editable_lines(index.path)
        after = find_line_before(index, note, model) if after_line is None else after_line
        check_line_number(current, after, index.path)
        draft.set_text(index.path, insert_lines(current, after, line))

    def _set_field(self, act: acts.SetField) -> None:
        draft = self._draft
        old, text = draft.get_file(act.path), draft.get_editable_lines(act.path)
        draft.set_text(act.path, set_field(text, act.key, act.value))
        if has_same_names(old, draft.get_file(act.path)):
            return
        after = draft.memory
        # link offsets are those of the old text, so the field is set after the links
        draft.set_text(act.path, text)
        self.warnings += update_links(draft, draft.memory, after, {})
        draft.set_text(act.path, set_field(draft.get_text(act.path), act.key, act.value))

    def _put_whole(self, path: str, text: str) -> None:
        """Replace a note's text, keeping its line ends."""
        old = self._draft.get_text(path)
        if has_one_line_end(old) and "\n" in old:
            text = convert_line_ends(text, detect_line_end(old))
        self._put(path, text)

    def _put(self, path: str, text: str) -> None:
        """Replace a note's text; if its name changes, update the links to it."""
        draft = self._draft
        old = draft.get_file(path)
        draft.set_text(path, text)
        if has_same_names(old, draft.get_file(path)):
            return
        # the memory before is rebuilt only for the few notes that get another name
        draft.set_text(path, old.text)
        before = draft.memory
        draft.set_text(path, text)
        self.warnings += update_links(draft, before, draft.memory, {}, rewritten=[path])

    def _merge(self, act: acts.Merge) -> None:
        self._put_whole(act.path, act.text)
        self._retire(act.other, act.path)

    def _rename(self, act: acts.Rename) -> None:
        if act.root and act.root != self._draft.before.root:
            self._move_out(act)
            return
        draft = self._draft
        before, note = draft.memory, draft.get_file(act.path)
        if act.to != act.path:
            self._refuse_single_roles(note)
            origin = draft.find_origin(act.path)
            draft.remove(act.path)
            draft.create(act.to, note.raw)
            draft.record_origin(act.to, *origin)
            self._refuse_single_roles(draft.get_file(act.to))
        if act.name:
            _set_name(draft, act.to, act.name)
        after = draft.memory
        if act.name:
            # link offsets are those of the old text, so the name is set after the links
            draft.set_text(act.to, note.text)
        self.warnings += update_links(draft, before, after, {act.path: act.to})
        if act.name:
            _set_name(draft, act.to, act.name)

    def _move_out(self, act: acts.Rename) -> None:
        other = self._others.get(act.root)
        if other is None:
            raise ChangeRefused(f"{make_visible(act.root)} is not an open memory.")
        note, text = self._draft.get_file(act.path), self._draft.get_text(act.path)
        self._refuse_single_roles(note)
        inner_links = [
            resolved.link
            for resolved in self._draft.memory.links.get(act.path, ())
            if resolved.target_kind in (TargetKind.NOTE, TargetKind.FILE)
        ]
        mark = note.raw[: len(note.raw) - len(note.text.encode())]
        other.create(act.to, mark + encode_text(remove_links(text, inner_links)))
        self._refuse_single_roles(other.get_file(act.to))
        if act.name:
            _set_name(other, act.to, act.name)
        other.record_origin(act.to, *self._draft.find_origin(act.path))
        self._enter(other, act.to)
        self._retire(act.path, "")

    def _retire(self, path: str, successor: str) -> None:
        draft = self._draft
        self._refuse_single_roles(draft.get_file(path))
        if successor == path:
            raise ChangeRefused("A note cannot succeed itself.")
        if successor:
            draft.get_file(successor)
        self._remove_entries(path, successor)
        self.warnings += convert_links_to_text(draft, path, within=successor)
        before = draft.memory
        draft.remove(path)
        if successor:
            moved = {path: successor}
            self.warnings += update_links(draft, before, draft.memory, moved, rewritten=[path])

    def _remove_entries(self, path: str, successor: str) -> None:
        """Remove index lines that name only the note at `path`, or also its `successor` if that
        has its own entry.
        """
        memory = self._draft.memory
        removed: dict[str, set[int]] = {}
        listed = memory.entries.get(successor, ()) if successor else ()
        is_listed = any(entry.form is not EntryForm.PROSE for _, entry in listed)
        about = {path, successor} if is_listed else {path}
        for index, entry in memory.entries.get(path, ()):
            is_alone = all(
                memory.resolve_entry(index, other).path in about
                for other in index.entries
                if other.line == entry.line
            )
            if entry.form is not EntryForm.PROSE and is_alone:
                removed.setdefault(index.path, set()).update(find_entry_lines(index, entry))
        for index_path, numbers in removed.items():
            lines = split_lines(self._draft.get_editable_lines(index_path))
            remaining = [line for number, line in enumerate(lines, 1) if number not in numbers]
            self._draft.set_text(index_path, "".join(remaining))

    def _refuse_single_roles(self, note: Note) -> None:
        if note.role in (FileRole.INDEX, FileRole.SUPPORT):
            raise ChangeRefused(
                f"{make_visible(note.path)} cannot be moved or retired: agents expect it there."
            )


_NO_BRACKETS = str.maketrans("[]\\", "()/")


def _set_name(draft: MemoryDraft, path: str, name: str) -> None:
    """Set a note's name in its frontmatter, if it has one."""
    frontmatter, keys = draft.get_file(path).frontmatter, draft.before.layout.title_keys
    if frontmatter.is_present:
        key = next((key for key in keys if frontmatter.get_text(key)), keys[0])
        draft.set_text(path, set_field(draft.get_editable_lines(path), key, name))


def find_hard_link_warnings(memory: Memory, edits: Iterable[Edit]) -> list[str]:
    """Return warnings about `edits` of files in `memory` that have other hard links."""
    warnings: list[str] = []
    for edit in edits:
        note = memory.by_path.get(edit.path)
        if note is None or note.facts.links < 2:
            continue
        linked = [
            make_visible(file.path)
            for file in memory.files
            if file is not note and file.facts.inode == note.facts.inode
        ]
        where = ", ".join(linked) if len(linked) == note.facts.links - 1 else "outside the memory"
        warnings.append(
            f"{make_visible(edit.path)} is hard-linked ({where}). The other name becomes a "
            "separate file with the old text."
        )
    return warnings
