"""The forms that create a note and edit the frontmatter of notes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from ricordo.errors import ChangeRefused, RicordoError
from ricordo.memory.change import ChangeOperation, Rename, SetField
from ricordo.services.edits.note import build_note, choose_folder, split_folder
from ricordo.text import clip, make_one_line
from ricordo.tui.dialogs.form import Field, FormResult, FormScreen

if TYPE_CHECKING:
    from ricordo.memory.change import ChangeSet
    from ricordo.memory.memory import Memory
    from ricordo.memory.note import Note
    from ricordo.tui.edits.writer import ChangeWriter

_USUAL_TYPES = ("feedback", "project", "reference", "user")
_NEW = ""
"""The path under which an unfinished new note is kept; no note has it."""


class NoteForms:
    """The forms of one screen; they keep what was typed and not confirmed."""

    def __init__(self, writing: ChangeWriter, open_note: Callable[[str], None]) -> None:
        """`open_note` is called with the path of a note that was created."""
        self._writing = writing
        self._open_note = open_note
        self._unfinished: dict[str, Mapping[str, str]] = {}

    async def create_note(self) -> None:
        """Create a note, with its entry in the index."""
        memory = await self._writing.read()
        blank = {"name": "", "type": "", "description": ""}
        filled = await self._fill_in(_NEW, "New note", blank, memory, "create it", "n")
        if filled is None:
            return
        if not filled["name"].strip():
            self._unfinished[_NEW] = filled
            raise ChangeRefused("A note needs a name; n continues with what you typed.")
        name, type_ = filled["name"].strip(), filled["type"].strip()
        try:
            folder, name = split_folder(memory, name)
            act = build_note(memory, name, type_, filled["description"].strip())
            act = choose_folder(memory, act, folder)
        except RicordoError:
            self._unfinished[_NEW] = filled
            raise
        change_set = await self._writing.compose(memory, [act], "made by hand")
        message = f"Created {make_one_line(act.path)} without text. e writes it, u undoes it."
        if await self._write("New note", change_set, message, _NEW, filled):
            self._open_note(act.path)

    async def edit_frontmatter(self, path: str) -> None:
        """Edit name, type and description of one note."""
        memory = await self._writing.read()
        note = memory.by_path.get(path)
        if note is None:
            raise ChangeRefused(f"{make_one_line(path)} is gone.")
        # refused before the user types
        await self._writing.compose(memory, [SetField(path, *_unchanged_field(memory, note))], "")
        before = {
            "name": make_one_line(note.name),
            "type": make_one_line(note.type),
            "description": make_one_line(note.description),
        }
        title = f"Frontmatter of {clip(note.path, 60)}"
        filled = await self._fill_in(path, title, before, memory, "write it", "E")
        if filled is None:
            return
        acts = _acts(memory, note, before, filled)
        if not acts:
            self._writing.report("No changes.")
            return
        change_set = await self._writing.compose(memory, acts, "frontmatter edited by hand")
        await self._write(title, change_set, "Frontmatter written. u undoes it.", path, filled)

    async def set_types(self, paths: Sequence[str]) -> None:
        """Set the type of several notes."""
        memory = await self._writing.read()
        notes = [memory.by_path[path] for path in paths if path in memory.by_path]
        field = Field("type", "", "← → chooses, or type one", _types(memory))
        title = f"Type of {len(notes)} marked notes"
        palette = self._writing.palette
        filled = await self._writing.ask(FormScreen(title, [field], palette, "write it"))
        if filled is None or not filled.confirmed or not filled.values["type"].strip():
            return
        type_ = filled.values["type"].strip()
        acts = [SetField(note.path, _key(memory, note, "type"), type_) for note in notes]
        change_set = await self._writing.compose(memory, acts, "type set by hand")
        message = f"Set the type of {len(notes)} notes to {make_one_line(type_)}. u undoes it."
        approved = await self._writing.propose_if_warned(title, change_set)
        if approved is not None:
            await self._writing.write_and_report(approved, message)

    async def _write(
        self, title: str, change_set: ChangeSet, message: str, key: str, filled: Mapping[str, str]
    ) -> bool:
        """Write the change of a form and report `message`; return whether it was written. Where the
        user does not approve of it, `filled` is kept under `key`.
        """
        approved = await self._writing.propose_if_warned(title, change_set)
        if approved is None:
            self._unfinished[key] = filled
            return False
        return await self._writing.write_and_report(approved, message)

    async def _fill_in(
        self,
        key: str,
        title: str,
        before: Mapping[str, str],
        memory: Memory,
        verb: str,
        again: str,
    ) -> Mapping[str, str] | None:
        """Return what was typed and confirmed; else keep it under `key` for the next time, and
        return None.
        """
        unfinished = self._unfinished.pop(key, None)
        values = {**before, **(unfinished or {})}
        fields = [
            Field("name", values["name"], "the name of the note"),
            Field("type", values["type"], "← → chooses, or type one", _types(memory)),
            Field("description", values["description"], "one line: when to read it"),
        ]
        words = "Continues with what you typed last time." if unfinished else ""
        screen = FormScreen(title, fields, self._writing.palette, verb, words)
        filled: FormResult | None = await self._writing.ask(screen)
        if filled is None:
            return None
        if filled.confirmed:
            return filled.values
        if filled.values != before:
            self._unfinished[key] = filled.values
            self._writing.report(f"Nothing was written. {again} continues with what you typed.")
        return None


def _types(memory: Memory) -> tuple[str, ...]:
    known = set(memory.types) | set(memory.layout.types)
    return tuple(sorted(known or _USUAL_TYPES))


def _key(memory: Memory, note: Note, field: str) -> str:
    """Return the key in the frontmatter of `note` for its `field`: the one it has, else the usual
    one.
    """
    keys = memory.layout.get_keys(field)
    return next((key for key in keys if note.frontmatter.get_text(key)), keys[0])


def _unchanged_field(memory: Memory, note: Note) -> tuple[str, str]:
    """Return a field of `note` with its present value, to ask whether it may be changed."""
    return _key(memory, note, "description"), note.description


def _acts(
    memory: Memory, note: Note, before: Mapping[str, str], filled: Mapping[str, str]
) -> list[ChangeOperation]:
    changed = {
        name: value.strip()
        for name, value in filled.items()
        if value.strip() != before[name].strip()
    }
    acts: list[ChangeOperation] = []
    name = changed.pop("name", None)
    if name == "":
        raise ChangeRefused("A note needs a name.")
    if name is not None and note.frontmatter.is_present:
        acts.append(Rename(note.path, note.path, name))
    elif name is not None:
        acts.append(SetField(note.path, _key(memory, note, "name"), name))
    acts += [
        SetField(note.path, _key(memory, note, field), value) for field, value in changed.items()
    ]
    return acts
