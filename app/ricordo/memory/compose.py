"""From changes to edits: each act is tried on a draft, in order, and refused if it does not fit."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import assert_never

from ricordo.errors import ChangeRefused
from ricordo.memory import change as acts
from ricordo.memory.change import Act, Author, Change
from ricordo.memory.change_set import ChangeSet, Edit, effective
from ricordo.memory.draft import Draft, encoded
from ricordo.memory.entry_line import entry_text, index_for, lines_of_entry, place_for
from ricordo.memory.head_edit import set_field
from ricordo.memory.index import EntryForm
from ricordo.memory.lines import bare, line_end, split_lines
from ricordo.memory.links import Link
from ricordo.memory.memory import Memory
from ricordo.memory.names import Leads
from ricordo.memory.note import Note
from ricordo.memory.relink import as_text, links_to, pointing_to, rewrite_links
from ricordo.text import visible


def compose(
    memory: Memory,
    changes: Sequence[Change],
    *,
    marked: Collection[str] = (),
    others: Mapping[str, Memory] | None = None,
) -> ChangeSet:
    """Return what `changes` of `memory` come to, each seeing the ones before it.

    `marked` are the paths that the person has protected, `others` further memories by root, to
    which notes may move. Raises ChangeRefused where a change does not fit; then none is made.
    """
    composition = _Composition(memory, marked, others or {})
    for change in changes:
        composition.make(change.act, change.author)
    return ChangeSet(composition.edits(), tuple(changes), tuple(composition.remarks))


class _Composition:
    def __init__(
        self, memory: Memory, marked: Collection[str], others: Mapping[str, Memory]
    ) -> None:
        self._draft = Draft(memory, marked)
        self._others = {root: Draft(other) for root, other in others.items()}
        self._single: list[Edit] = []
        self.remarks: list[str] = []

    def edits(self) -> tuple[Edit, ...]:
        """What the acts so far come to."""
        drafts = (self._draft, *self._others.values())
        found = [edit for draft in drafts for edit in draft.edits()]
        for edit in found:
            note = self._draft.before.by_path.get(edit.path)
            if edit.root == self._draft.before.root and note and note.facts.links > 1:
                self.remarks.append(
                    f"{visible(edit.path)} has another name outside (a hard link); that one keeps "
                    "the old text."
                )
        return effective([*found, *self._single])

    def make(self, act: Act, author: Author) -> None:
        """Try `act` on the draft. Raises ChangeRefused."""
        if isinstance(act, acts.WriteFile):
            raw = encoded(act.text)
            self._single.append(Edit(act.root, act.name, act.before, raw, is_single_file=True))
            return
        self._draft.allow(act.path, author)
        match act:
            case acts.Create():
                self._create(act)
            case acts.Replace():
                self._replace(act)
            case acts.Insert():
                self._insert(act.path, act.after_line, act.text)
            case acts.Rewrite():
                self._draft.text(act.path)
                self._draft.put(act.path, act.text)
            case acts.SetField():
                text = self._draft.text_by_lines(act.path)
                self._draft.put(act.path, set_field(text, act.key, act.value))
            case acts.Rename():
                self._rename(act)
            case acts.Merge():
                self._draft.allow(act.other, author)
                self._draft.text(act.path)
                self._draft.put(act.path, act.text)
                self._retire(act.other, act.path)
            case acts.Split():
                self._split(act)
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

    def _create(self, act: acts.Create) -> None:
        self._draft.create(act.path, encoded(act.text))
        if act.entry != "":
            self._enter(self._draft, act.path, act.entry or "")

    def _replace(self, act: acts.Replace) -> None:
        text = self._draft.text_by_lines(act.path)
        if not act.old:
            raise ChangeRefused(f"{visible(act.path)}: the text to be replaced is empty.")
        before = self._draft.before.by_path.get(act.path)
        for version in dict.fromkeys((before.text if before else text, text)):
            _refuse_unless_once(version, act)
        self._draft.put(act.path, text.replace(act.old, act.new))

    def _insert(self, path: str, after_line: int, added: str) -> None:
        text = self._draft.text_by_lines(path)
        lines = split_lines(text)
        if not 0 <= after_line <= len(lines):
            raise ChangeRefused(
                f"{visible(path)} has {len(lines)} lines; nothing can be put after {after_line}."
            )
        end = line_end(text)
        if after_line and not lines[after_line - 1].endswith("\n"):
            lines[after_line - 1] += end
        added = added.replace("\r\n", "\n").replace("\n", end)
        lines.insert(after_line, added if added.endswith("\n") else added + end)
        self._draft.put(path, "".join(lines))

    def _edit_line(self, act: acts.EditLine) -> None:
        lines = self._lines_with(act.path, act.line, act.old)
        old = lines[act.line - 1]
        if act.new is None:
            del lines[act.line - 1]
        elif "\n" in act.new:
            raise ChangeRefused("A line cannot become several.")
        else:
            lines[act.line - 1] = act.new + old[len(bare(old)) :]
        self._draft.put(act.path, "".join(lines))

    def _move_line(self, act: acts.MoveLine) -> None:
        lines = self._lines_with(act.path, act.line, act.old)
        if not 0 <= act.after_line <= len(lines):
            raise ChangeRefused(f"{visible(act.path)} has only {len(lines)} lines.")
        self._draft.put(act.path, _moved(lines, act.line, act.after_line))

    def _lines_with(self, path: str, line: int, old: str) -> list[str]:
        """Return the lines of a file, of which number `line` must be `old`."""
        lines = split_lines(self._draft.text_by_lines(path))
        if not 1 <= line <= len(lines) or bare(lines[line - 1]) != old:
            raise ChangeRefused(f"Line {line} of {visible(path)} is not what it was.")
        return lines

    def _add_link(self, act: acts.AddLink) -> None:
        target = self._draft.file(act.target)
        named = target.name if not set(target.name) & set("[]|#\n") else target.stem
        text = self._draft.text_by_lines(act.path)
        end = line_end(text)
        gap = "" if not text.strip() or text.endswith(end + end) else end
        self._insert(act.path, len(split_lines(text)), f"{gap}Related: [[{named}]]{end}")

    def _add_entry(self, act: acts.AddEntry) -> None:
        note = self._draft.file(act.note)
        memory = self._draft.now
        index = next((it for it in memory.indexes if it.path == act.path), None)
        if index is None:
            raise ChangeRefused(f"{visible(act.path)} is no index of this memory.")
        text = act.text or entry_text(memory, index, note)
        after = place_for(memory, index, note) if act.after_line is None else act.after_line
        self._insert(act.path, after, text)

    def _enter(self, draft: Draft, path: str, text: str) -> None:
        """Give the note at `path` an entry in the nearest index, which is made where none is."""
        note = draft.file(path)
        index = index_for(draft.now, path)
        if index is None:
            name = draft.before.layout.index_name
            if name:
                draft.create(name, b"")
            index = index_for(draft.now, path)
        if index is None:
            return
        line = text or entry_text(draft.now, index, note)
        after = place_for(draft.now, index, note)
        current = draft.text_by_lines(index.path)
        end, lines = line_end(current), split_lines(current)
        if after and not lines[after - 1].endswith("\n"):
            lines[after - 1] += end
        draft.put(index.path, "".join([*lines[:after], line + end, *lines[after:]]))

    def _split(self, act: acts.Split) -> None:
        self._draft.text(act.path)
        self._draft.put(act.path, act.text)
        for part in act.parts:
            self._draft.create(part.path, encoded(part.text))
            self._enter(self._draft, part.path, "")

    def _rename(self, act: acts.Rename) -> None:
        if act.root and act.root != self._draft.before.root:
            self._move_out(act)
            return
        draft = self._draft
        before = draft.now
        note = draft.file(act.path)
        if act.to != act.path:
            self._refuse_single_roles(note)
            draft.remove(act.path)
            draft.create(act.to, note.raw)
            draft.came_from(act.to, *draft.origin_of(act.path))
        if act.name:
            self._set_name(act.to, act.name)
        for source, links in links_to(before, act.path):
            if source.path != act.path:
                self._repoint(source, source.path, dict.fromkeys(links, act.to))
        own = {
            resolved.link: act.to if resolved.path == act.path else resolved.path
            for resolved in before.links.get(act.path, ())
            if resolved.leads is Leads.NOTE
        }
        self._repoint(note, act.to, own)

    def _set_name(self, path: str, name: str) -> None:
        text = self._draft.text_by_lines(path)
        keys = self._draft.before.layout.title_keys
        head = self._draft.file(path).head
        key = next((key for key in keys if head.scalar(key)), keys[0])
        if head.present:
            self._draft.put(path, set_field(text, key, name))

    def _move_out(self, act: acts.Rename) -> None:
        other = self._others.get(act.root)
        if other is None:
            raise ChangeRefused(f"{visible(act.root)} is no memory that was opened.")
        note = self._draft.file(act.path)
        self._refuse_single_roles(note)
        text = rewrite_links(
            self._draft.text(act.path),
            [
                resolved.link
                for resolved in self._draft.now.links.get(act.path, ())
                if resolved.leads is Leads.NOTE
            ],
            as_text,
        )
        mark = note.raw[: len(note.raw) - len(note.text.encode())]
        other.create(act.to, mark + encoded(text))
        if act.name:
            keys = other.before.layout.title_keys
            other.put(act.to, set_field(other.text_by_lines(act.to), keys[0], act.name))
        other.came_from(act.to, *self._draft.origin_of(act.path))
        self._enter(other, act.to, "")
        self._retire(act.path, "")

    def _retire(self, path: str, successor: str) -> None:
        draft = self._draft
        self._refuse_single_roles(draft.file(path))
        if successor == path:
            raise ChangeRefused("A note cannot succeed itself.")
        if successor:
            draft.file(successor)
        self._remove_entries(draft.now, path)
        for source, links in list(links_to(draft.now, path)):
            if source.path == path:
                continue
            if successor and source.path != successor:
                self._repoint(source, source.path, dict.fromkeys(links, successor))
            else:
                self._relink(source, source.path, links, as_text)
        draft.remove(path)
        for source in draft.before.by_path.values():
            if path in draft.before.named_in_head(source) and source.path in draft.now.by_path:
                self.remarks.append(
                    f"The head of {visible(source.path)} still names {visible(path)}."
                )

    def _remove_entries(self, memory: Memory, path: str) -> None:
        """Take the lines of the indexes that are about the note at `path`."""
        gone: dict[str, set[int]] = {}
        for index, entry in memory.entries.get(path, ()):
            if entry.form is not EntryForm.PROSE:
                gone.setdefault(index.path, set()).update(lines_of_entry(index, entry))
        for index_path, numbers in gone.items():
            lines = split_lines(self._draft.text_by_lines(index_path))
            kept = [line for number, line in enumerate(lines, 1) if number not in numbers]
            self._draft.put(index_path, "".join(kept))

    def _repoint(self, was: Note, path: str, targets: Mapping[Link, str]) -> None:
        """Let links lead to other notes; those that lead there already stay as they are."""
        memory = self._draft.now

        def written(link: Link, old: str) -> str:
            return pointing_to(link, old, path, targets[link], memory)

        self._relink(was, path, list(targets), written)

    def _relink(
        self, was: Note, path: str, links: list[Link], written: Callable[[Link, str], str]
    ) -> None:
        """Write anew the `links` that stood in `was`, which is now at `path`."""
        if not links:
            return
        now = self._draft.file(path)
        # between the two only the head can have got longer or shorter
        body = [link for link in links if now.text == was.text or link.start >= was.head.end]
        shift = now.head.end - was.head.end
        old = {link.start + shift: link for link in body}
        moved = [link._replace(start=link.start + shift, end=link.end + shift) for link in body]
        text = rewrite_links(now.text, moved, lambda link, raw: written(old[link.start], raw))
        if text == now.text:
            return
        try:
            self._draft.text(path)
        except ChangeRefused as refused:
            self.remarks.append(f"A link could not follow: {refused.message}")
            return
        self._draft.put(path, text)

    def _refuse_single_roles(self, note: Note) -> None:
        if note.role.value in ("index", "support"):
            raise ChangeRefused(
                f"{visible(note.path)} keeps its name and place: agents look there."
            )


def _refuse_unless_once(text: str, act: acts.Replace) -> None:
    count = text.count(act.old)
    if count == 1:
        return
    if not count:
        raise ChangeRefused(f"{visible(act.path)} does not hold the text that is to be replaced.")
    at, numbers = -1, []
    for _ in range(count):
        at = text.index(act.old, at + 1)
        numbers.append(text.count("\n", 0, at) + 1)
    told = ", ".join(map(str, numbers[:20]))
    raise ChangeRefused(
        f"{visible(act.path)} holds the text that is to be replaced {count} times, in lines {told}."
    )


def _moved(lines: list[str], line: int, after_line: int) -> str:
    """Return the text in which number `line` stands after `after_line`; every line keeps its
    text, and a last line without line end stays the last one without.
    """
    end = line_end("".join(lines))
    unended = bool(lines) and not lines[-1].endswith("\n")
    whole = [it if it.endswith("\n") else it + end for it in lines]
    moving = whole[line - 1]
    before = [it for n, it in enumerate(whole[:after_line], 1) if n != line]
    behind = [it for n, it in enumerate(whole[after_line:], after_line + 1) if n != line]
    text = "".join([*before, moving, *behind])
    return text.removesuffix(end) if unended else text
