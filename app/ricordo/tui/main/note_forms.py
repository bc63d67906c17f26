"""Notes that are made and heads that are edited, in a few fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from ricordo.errors import ChangeRefused, RicordoError
from ricordo.memory.change import Act, Rename, SetField
from ricordo.services.edits.note import new_note
from ricordo.text import clip, one_line
from ricordo.tui.dialogs.form import Field, Filled, FormScreen

if TYPE_CHECKING:
    from ricordo.memory.change import ChangeSet
    from ricordo.memory.memory import Memory
    from ricordo.memory.note import Note
    from ricordo.tui.edits.writer import Writing

_USUAL_TYPES = ("feedback", "project", "reference", "user")
_NEW = ""
"""Under which the unfinished new note is kept; no note has this path."""


class Forms:
    """Asks, and keeps what was typed and not confirmed."""

    def __init__(self, writing: Writing, open_note: Callable[[str], None]) -> None:
        """`open_note` is called with the path of a note that was made."""
        self._writing = writing
        self._open_note = open_note
        self._unfinished: dict[str, Mapping[str, str]] = {}

    async def make(self) -> None:
        """A new note, with its entry in the index."""
        memory = await self._writing.read()
        blank = {"name": "", "type": "", "description": ""}
        asked = await self._asked(_NEW, "New note", blank, memory, "make it", "n")
        if asked is None:
            return
        if not asked["name"].strip():
            self._unfinished[_NEW] = asked
            raise ChangeRefused("A note needs a name; n goes on with what you typed.")
        name, type_ = asked["name"].strip(), asked["type"].strip()
        try:
            act = new_note(memory, name, type_, asked["description"].strip())
        except RicordoError:
            self._unfinished[_NEW] = asked
            raise
        change_set = await self._writing.put_together(memory, [act], "made by hand")
        told = f"{one_line(act.path)} is there. e edits it, u takes it back."
        if await self._write("New note", change_set, told, _NEW, asked):
            self._open_note(act.path)

    async def edit_head(self, path: str) -> None:
        """Name, type and description of one note."""
        memory = await self._writing.read()
        note = memory.by_path.get(path)
        if note is None:
            raise ChangeRefused(f"{one_line(path)} is gone.")
        # whether its head may be edited is asked before anybody types
        await self._writing.put_together(memory, [SetField(path, *_probe(memory, note))], "")
        before = {
            "name": one_line(note.name),
            "type": one_line(note.type),
            "description": one_line(note.description),
        }
        title = f"Head of {clip(note.path, 60)}"
        asked = await self._asked(path, title, before, memory, "write it", "E")
        if asked is None:
            return
        acts = _acts(memory, note, before, asked)
        if not acts:
            self._writing.tell("Nothing is other than it was.")
            return
        change_set = await self._writing.put_together(memory, acts, "head edited by hand")
        told = "The head is written. u takes it back."
        await self._write(title, change_set, told, path, asked)

    async def set_types(self, paths: Sequence[str]) -> None:
        """The type of several notes."""
        memory = await self._writing.read()
        notes = [memory.by_path[path] for path in paths if path in memory.by_path]
        field = Field("type", "", "← → chooses, or type one", _types(memory))
        title = f"Type of {len(notes)} marked notes"
        palette = self._writing.palette
        asked = await self._writing.ask(FormScreen(title, [field], palette, "write it"))
        if asked is None or not asked.confirmed or not asked.values["type"].strip():
            return
        type_ = asked.values["type"].strip()
        acts = [SetField(note.path, _key(memory, note, "type"), type_) for note in notes]
        change_set = await self._writing.put_together(memory, acts, "type set by hand")
        told = f"{len(notes)} notes are of type {one_line(type_)}. u takes it back."
        approved = await self._writing.warned(title, change_set)
        if approved is not None:
            await self._writing.write_and_tell(approved, told)

    async def _write(
        self, title: str, change_set: ChangeSet, told: str, key: str, asked: Mapping[str, str]
    ) -> bool:
        """Write what came of a form; where the person does not approve of it, what was `asked` is
        kept under `key`.
        """
        approved = await self._writing.warned(title, change_set)
        if approved is None:
            self._unfinished[key] = asked
            return False
        return await self._writing.write_and_tell(approved, told)

    async def _asked(
        self,
        key: str,
        title: str,
        before: Mapping[str, str],
        memory: Memory,
        verb: str,
        again: str,
    ) -> Mapping[str, str] | None:
        """Return what was typed and confirmed; else keep it under `key` for the next time."""
        kept = self._unfinished.pop(key, None)
        values = {**before, **(kept or {})}
        fields = [
            Field("name", values["name"], "what it is called"),
            Field("type", values["type"], "← → chooses, or type one", _types(memory)),
            Field("description", values["description"], "one line: when it is worth reading"),
        ]
        words = f"What you typed the last time stands here; {again} keeps it." if kept else ""
        screen = FormScreen(title, fields, self._writing.palette, verb, words)
        asked: Filled | None = await self._writing.ask(screen)
        if asked is None:
            return None
        if asked.confirmed:
            return asked.values
        if asked.values != before:
            self._unfinished[key] = asked.values
            self._writing.tell(f"Nothing was written. {again} goes on with what you typed.")
        return None


def _types(memory: Memory) -> tuple[str, ...]:
    known = set(memory.types) | set(memory.layout.types)
    return tuple(sorted(known or _USUAL_TYPES))


def _key(memory: Memory, note: Note, field: str) -> str:
    """Return the field of the head of `note` that gives its `field`, or that would."""
    keys = memory.layout.keys_of(field)
    return next((key for key in keys if note.head.scalar(key)), keys[0])


def _probe(memory: Memory, note: Note) -> tuple[str, str]:
    return _key(memory, note, "description"), note.description


def _acts(
    memory: Memory, note: Note, before: Mapping[str, str], asked: Mapping[str, str]
) -> list[Act]:
    changed = {
        name: value.strip()
        for name, value in asked.items()
        if value.strip() != before[name].strip()
    }
    acts: list[Act] = []
    name = changed.pop("name", None)
    if name == "":
        raise ChangeRefused("A note needs a name.")
    if name is not None and note.head.present:
        acts.append(Rename(note.path, note.path, name))
    elif name is not None:
        acts.append(SetField(note.path, _key(memory, note, "name"), name))
    acts += [
        SetField(note.path, _key(memory, note, field), value) for field, value in changed.items()
    ]
    return acts
