"""The keys that move, rename and retire notes, and the form that asks for the destination."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import BindingType

from ricordo.agents.agent import MemoryPlace
from ricordo.errors import ChangeRefused, RicordoError
from ricordo.memory.change import Rename, Retire
from ricordo.memory.layout import FileRole
from ricordo.services.edits.note import build_rename
from ricordo.services.workspace.notebook import get_short_name
from ricordo.services.workspace.places import find_all_memories
from ricordo.storage.reader import read_memory
from ricordo.text import clip, make_one_line
from ricordo.tui.actions.bindings import dialog_bindings
from ricordo.tui.actions.dialogs import Dialog
from ricordo.tui.dialogs.change_set import ExtraAction, ProposalScreen
from ricordo.tui.dialogs.form import Field, FieldForm
from ricordo.tui.dialogs.memories import PlaceList
from ricordo.tui.dialogs.pick_note import PickedNote, PickNoteScreen
from ricordo.tui.render.line import StyledSpan
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.workers import start_worker

if TYPE_CHECKING:
    from ricordo.memory.change import ChangeSet
    from ricordo.memory.memory import Memory
    from ricordo.memory.note import Note
    from ricordo.tui.color_palette import Palette
    from ricordo.tui.edits.writer import ChangeWriter


class MoveTarget(NamedTuple):
    """The destination of notes."""

    path: str
    """The typed path or name; "" for several notes."""
    place: MemoryPlace
    """The chosen memory; may be the present one."""


class _Places(PlaceList):
    BINDINGS: ClassVar[list[BindingType]] = dialog_bindings(
        Dialog.CHOICE,
        {
            "cursor-down": "step(1)",
            "cursor-up": "step(-1)",
            "open": "screen.confirm",
        },
    )

    def action_step(self, step: int) -> None:
        """Move the cursor."""
        self.move(step)


class MoveScreen(FieldForm[MoveTarget | None]):
    """Returns a destination, or None."""

    def __init__(
        self, title: str, path: str, places: Sequence[MemoryPlace], palette: Palette, home: str
    ) -> None:
        """`path` is the path of the note, "" for several notes; `places` are the memories, the
        present one first; `home` is shown as `~`.
        """
        fields = [Field("path", path)] if path else []
        super().__init__(title, fields, palette, "show what would change")
        self._places = _Places(places, palette, home)

    def compose_below(self) -> ComposeResult:
        words = StyledSpan(" into the memory", "dim")
        yield Bar(self._palette, id="where", base="").with_left(words)
        yield self._places

    def on_mount(self) -> None:
        self._places.styles.height = min(self._places.line_count, 10)
        if not self._fields:
            self._places.focus()

    def close_form(self, *, confirmed: bool) -> None:
        place = self._places.place
        if not confirmed or place is None:
            self.dismiss(None)
            return
        self.dismiss(MoveTarget(self.values.get("path", ""), place))


_NAMED = 6
"""The most notes that are named; the others are counted."""


class NoteMoves:
    """Moves, renames and retires notes; what becomes of links and entries is shown first."""

    def __init__(self, writing: ChangeWriter) -> None:
        """`writing` proposes and applies the changes."""
        self._writing = writing

    async def move(self, paths: Sequence[str]) -> None:
        """Move notes to another path, name or memory."""
        writing, here = self._writing, self._writing.notebook.place
        memory = await writing.read()
        notes = _notes(memory, paths)
        environment = writing.notebook.environment
        memories = await asyncio.to_thread(find_all_memories, environment)
        places = [here, *(place for place in memories if place.root != here.root)]
        path = notes[0].path if len(notes) == 1 else ""
        title = f"Move or rename {_name_notes(notes)}"
        home = environment.agent_home
        screen = MoveScreen(title, make_one_line(path), places, self._writing.palette, home)
        target = await writing.ask(screen)
        if target is None:
            return
        if target.place.root != here.root:
            await self._move_out(memory, notes, target.path, target.place)
        elif not path:
            writing.report("No changes: the notes are in this memory.")
        elif target.path.strip() in ("", path):
            writing.report("No changes: the path is the same.")
        else:
            act = build_rename(memory, notes[0], target.path.strip())
            change_set = await writing.compose(memory, [act], "renamed by hand")
            words = [
                f"{make_one_line(act.path)} becomes {make_one_line(act.to)}; "
                "links to it are updated."
            ]
            await self._propose(f"Rename {_name_notes(notes)}", change_set, words, "Renamed")

    async def _move_out(
        self, memory: Memory, notes: Sequence[Note], wanted: str, place: MemoryPlace
    ) -> None:
        writing = self._writing
        other = await asyncio.to_thread(read_memory, place.root, place.layout)
        acts = [_act_of_move(memory, note, wanted, other) for note in notes]
        name = make_one_line(get_short_name(place))
        change_set = await writing.compose(memory, acts, f"moved to {name}", {other.root: other})
        words = [*_describe_links(memory, notes, "links become plain text")]
        await self._propose(f"Move {_name_notes(notes)} to {name}", change_set, words, "Moved")

    async def retire(self, paths: Sequence[str]) -> bool:
        """Retire notes with their entries; return whether they were retired."""
        memory = await self._writing.read()
        notes = _notes(memory, paths)
        change_set = await self._retired(memory, notes, "")
        words = _describe_links(memory, notes, "links become plain text")

        def choose(proposal: ProposalScreen) -> None:
            self._choose_successor(proposal, memory, notes)

        extra = ExtraAction("successor", choose)
        return await self._propose(
            f"Retire {_name_notes(notes)}", change_set, words, "Retired", extra
        )

    async def _retired(self, memory: Memory, notes: Sequence[Note], successor: str) -> ChangeSet:
        acts = [Retire(note.path, successor) for note in notes]
        return await self._writing.compose(memory, acts, "retired by hand")

    def _choose_successor(
        self, proposal: ProposalScreen, memory: Memory, notes: Sequence[Note]
    ) -> None:
        retired = {note.path for note in notes}
        others = [note for note in memory.notes if note.path not in retired]
        none = "none: links become plain text"

        async def retire_into(successor: str) -> None:
            try:
                change_set = await self._retired(memory, notes, successor)
            except RicordoError as error:
                proposal.notify(str(error), severity="error", markup=False)
                return
            becomes = f"links go to {successor}" if successor else "links become plain text"
            if proposal.is_current:
                proposal.show_other(change_set, _describe_links(memory, notes, becomes))

        def picked(choice: PickedNote | None) -> None:
            if choice is not None:
                start_worker(proposal, partial(retire_into, choice.path))

        screen = PickNoteScreen("Which note replaces it?", others, none, self._writing.palette)
        proposal.app.push_screen(screen, picked)

    async def _propose(
        self,
        title: str,
        change_set: ChangeSet,
        words: Sequence[str],
        done: str,
        extra: ExtraAction | None = None,
    ) -> bool:
        approved = await self._writing.propose(title, change_set, words, extra)
        message = f"{done}. u undoes it."
        return approved is not None and await self._writing.write_and_report(approved, message)


def _notes(memory: Memory, paths: Sequence[str]) -> list[Note]:
    notes = [memory.by_path[path] for path in paths if path in memory.by_path]
    if not notes:
        raise ChangeRefused(f"{make_one_line(paths[0])} is gone.")
    return notes


def _name_notes(notes: Sequence[Note]) -> str:
    return clip(notes[0].name, 60) if len(notes) == 1 else f"{len(notes)} notes"


def _act_of_move(memory: Memory, note: Note, wanted: str, other: Memory) -> Rename:
    """Return the act that moves `note` to `other`, under the name `wanted`; "" keeps its name."""
    act = build_rename(memory, note, wanted.strip() or note.path, other)
    folder, _, name = act.to.rpartition("/")
    to = act.to if folder in other.others else name
    return Rename(note.path, to, act.name, other.root)


def _describe_links(memory: Memory, notes: Sequence[Note], becomes: str) -> list[str]:
    """Return what links to `notes`, a sentence each; `becomes` says what happens to the links."""
    sentences: list[str] = []
    for note in notes[:_NAMED]:
        sources = [memory.by_path[path] for path in memory.backlinks.get(note.path, ())]
        names = [file.path for file in sources if file.role is not FileRole.INDEX]
        listed = len(names) < len(sources)
        who = [f"{len(names)} note{'' if len(names) == 1 else 's'}"] if names else []
        who += ["the index" if names else "The index"] if listed else []
        verb = "links" if len(names) + listed == 1 else "link"
        subject = "it" if len(notes) == 1 else note.path
        some = ", ".join(names[:_NAMED]) + (" …" if len(names) > _NAMED else "")
        named = f": {some}; {becomes}" if names else ""
        sentences.append(
            f"{' and '.join(who)} {verb} to {subject}{named}."
            if who
            else f"Nothing links to {subject}."
        )
    if len(notes) > _NAMED:
        sentences.append(f"… and {len(notes) - _NAMED} more notes.")
    return sentences
