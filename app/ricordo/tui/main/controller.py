"""What the changing keys do: each puts a wish together and actions it to `Writing`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING

from ricordo.errors import ChangeRefused, StateUnusable
from ricordo.memory.change import Rewrite
from ricordo.memory.entry import Moved, lift_entry, step_entry
from ricordo.memory.names import Leads
from ricordo.services.edits.change import Merged
from ricordo.services.history.undo import ToBeSeen, UndoResult, redo, undo
from ricordo.tui.context import Pane, Situation
from ricordo.tui.edits.writer import Expected
from ricordo.tui.main.fixes import mendable
from ricordo.tui.render.index_rows import IndexRow, RowKind

if TYPE_CHECKING:
    from textual.app import App

    from ricordo.memory.change import ChangeSet
    from ricordo.memory.index import Entry, MemoryIndex
    from ricordo.services.workspace.follower import Follower
    from ricordo.services.workspace.notebook import Notebook, Snapshot
    from ricordo.storage.writer import Applied
    from ricordo.tui.actions.handlers import Handlers
    from ricordo.tui.base.reading import OpenNote
    from ricordo.tui.color_palette import Palette
    from ricordo.tui.conflicts.controller import Settling
    from ricordo.tui.edits.writer import Writing
    from ricordo.tui.main.fixes import Fixing
    from ricordo.tui.main.note_forms import Forms
    from ricordo.tui.main.note_moves import NoteMoves
    from ricordo.tui.widgets.index_list import IndexList
    from ricordo.tui.widgets.panes import Panes

_ENTRIES = (RowKind.NOTE, RowKind.MISSING)


class Changing:
    """The changing keys of one screen."""

    def __init__(
        self,
        notebook: Notebook,
        follower: Follower,
        panes: Panes,
        reading: OpenNote,
        palette: Callable[[], Palette],
        say: Callable[[], None],
        open_note: Callable[[str], None],
    ) -> None:
        """`notebook` is the one that `follower` owns; `panes` and `reading` tell what the person
        looks at; `palette` gives the styles in use; `say` is called when other keys may work,
        `open_note` with the path of a note that was made.
        """
        self._notebook = notebook
        self._follower = follower
        self._panes = panes
        self._reading = reading
        self._palette = palette
        self._say = say
        self._open_note = open_note
        self._expected = Expected()
        self._can_undo = self._can_redo = False
        self.marked: frozenset[str] = frozenset()
        """Paths of the notes that the person marked."""
        self._has_told_alone = False
        """Whether it was told of these marks that not all keys act on them."""

    # What composes and applies changes is loaded with the first of them: the first paint need not
    # wait for it.

    @cached_property
    def _writing(self) -> Writing:
        from ricordo.tui.edits.writer import Writing

        return Writing(
            self._panes.screen,
            self._notebook,
            self._follower,
            self._palette,
            self._expected,
            self._ask_history,
        )

    @cached_property
    def _forms(self) -> Forms:
        from ricordo.tui.main.note_forms import Forms

        return Forms(self._writing, self._open_note)

    @cached_property
    def _leaving(self) -> NoteMoves:
        from ricordo.tui.main.note_moves import NoteMoves

        return NoteMoves(self._writing)

    @cached_property
    def _fixing(self) -> Fixing:
        from ricordo.tui.main.fixes import Fixing

        return Fixing(self._writing)

    @cached_property
    def _entries(self) -> Entries:
        return Entries(self._writing, self._reading, self._panes.index)

    @cached_property
    def _settling(self) -> Settling:
        from ricordo.tui.conflicts.controller import Settling

        return Settling(self, self._writing, self._follower)

    # What the screen asks

    @property
    def app(self) -> App[object]:
        """The program, which lends its terminal to editors."""
        return self._panes.app

    @property
    def own(self) -> frozenset[str]:
        """Paths of files that we wrote and that no look has shown yet."""
        return self._expected.own

    @property
    def entry_line(self) -> int:
        """The line of the index to which the entry under the cursor is being moved; 0 for none."""
        return self._entries.line if "_entries" in self.__dict__ else 0

    def looked(self, look: Snapshot, number: int) -> None:
        """Take note of a look that is on the screen, and of the `number` of looks that were asked
        for and are.
        """
        if look.read:
            self.marked &= look.memory.by_path.keys()
            self._panes.index.mark_chosen(self.marked)
        self._expected.looked(number)
        if look.judged:
            self.ask_history()
        if "_settling" in self.__dict__:
            self._settling.looked(look)

    def follow_moved(self, look: Snapshot) -> None:
        """Stay in `look` with the open note where we gave it another path."""
        for old, new in self._expected.moved.items():
            if new not in look.memory.by_path:
                continue
            self._reading.trail = self._reading.trail.renamed(old, new)
            if old in self.marked:
                self.marked = self.marked - {old} | {new}

    def ask_history(self) -> None:
        """Find out whether there is something to undo."""
        self._panes.run_worker(self._ask_history(), group="history", exclusive=True)

    async def _ask_history(self) -> None:
        # loaded in a thread, so that no key has to wait for it
        can_take_back = await asyncio.to_thread(_what_asks_the_history)
        known = False, False
        with suppress(StateUnusable):
            known = await asyncio.to_thread(can_take_back, self._writing.notebook)
        if known != (self._can_undo, self._can_redo):
            self._can_undo, self._can_redo = known
            self._say()

    def situation(self, situation: Situation) -> Situation:
        """Add to `situation` what the changing keys need."""
        look, row = self._reading.look, self._panes.index.row
        return replace(
            situation,
            read_only=look.memory.layout.read_only if look else "",
            entry=situation.in_order and row is not None and row.kind in _ENTRIES and row.line > 0,
            marks=len(self.marked),
            fix=look is not None and bool(mendable(look, *self._under_cursor())),
            undo=self._can_undo,
            redo=self._can_redo,
            conflicts=look.numbers.get("contradiction", 0) if look else 0,
        )

    # What the screens have done that look back (`screens.past.Hands`)

    @property
    def can_undo(self) -> bool:
        """Whether there is an act to take back."""
        return self._can_undo

    @property
    def can_redo(self) -> bool:
        """Whether there is one to do again."""
        return self._can_redo

    async def propose(self, title: str, change_set: ChangeSet) -> ChangeSet | None:
        """Show a change set; return what the person approves of it."""
        return await self._writing.propose(title, change_set)

    async def write_seen(self, change_set: ChangeSet) -> Applied | None:
        """Apply what the person has seen on a screen of its own; return None where nothing was
        written.
        """
        return await self._writing.write_seen(change_set)

    async def edit_note(self, path: str) -> None:
        """Open a note in the person's editor, and write what was saved."""
        from ricordo.tui.edits.editor import Editing

        editing = Editing(self._panes.app, self._writing)
        await self._writing.in_turn(partial(editing.edit, path))

    async def edit_text(self, name: str, text: str, use: Callable[[str], Awaitable[None]]) -> None:
        """Open a text in the person's editor as a file that is called `name`, and hand what was
        saved, where it is another one, to `use`. Raises RicordoError, nothing being lost.
        """
        from ricordo.tui.edits.editor import edit_text

        await edit_text(self._panes.app, self._writing.notebook, name, text, use)

    async def retire_note(self, path: str) -> bool:
        """Show what it means to retire a note, and do it where the person approves; say whether it
        was done.
        """
        return await self._writing.in_turn(partial(self._leaving.retire, [path])) or False

    async def undo_last(self) -> frozenset[str]:
        """Take the last act back; return what it was about, such as paths of notes."""
        return await self._writing.in_turn(partial(undo_last, self._writing)) or frozenset()

    async def redo_last(self) -> frozenset[str]:
        """Do again what was undone last; return what it was about, such as paths of notes."""
        return await self._writing.in_turn(partial(redo_last, self._writing)) or frozenset()

    def leave_marks(self) -> None:
        """Take all marks away."""
        self._mark(frozenset())

    @property
    def _subjects(self) -> list[str]:
        """The notes that an act is about: the marked ones, else the open one."""
        return sorted(self.marked) or [self._reading.path]

    def _under_cursor(self) -> tuple[list[str], str]:
        """Return the notes that an act is about, and the id of the finding under the cursor."""
        among = self._panes.active is Pane.FRESHNESS
        finding = self._panes.freshness.finding if among else None
        return self._subjects, finding.id if finding else ""

    def _mark(self, marked: frozenset[str]) -> None:
        self.marked = marked
        self._has_told_alone = False
        self._panes.index.mark_chosen(marked)

    # What the keys do

    @property
    def handlers(self) -> Handlers:
        """What the keys do, by action id."""
        return {
            "mark": self.toggle_mark,
            "edit": self.edit_open_note,
            "new": self.create_note,
            "head": self.edit_frontmatter,
            "move": self.move_notes,
            "retire": self.retire_notes,
            "protect": self.toggle_protection,
            "fix": self.fix_finding,
            "dismiss": self.toggle_dismissal,
            "conflicts": self.open_conflicts,
            "undo": self.undo,
            "redo": self.redo,
            "lift": self.lift_entry,
            "entry-down": partial(self._move_entry, 1),
            "entry-up": partial(self._move_entry, -1),
        }

    def toggle_mark(self) -> None:
        """Mark the note under the cursor, or no longer."""
        row = self._panes.index.row
        if row is None or row.kind is not RowKind.NOTE:
            self._writing.tell("Only notes can be marked.")
            return
        self._mark(self.marked ^ {row.path})

    def _tell_alone(self) -> None:
        """Say once of some marks that a key does not act on them."""
        if self.marked and not self._has_told_alone:
            self._has_told_alone = True
            self._writing.tell("This acts on the note under the cursor alone, not on the marks.")

    def edit_open_note(self) -> None:
        """In the editor."""
        self._tell_alone()
        self._writing.run(partial(self.edit_note, self._reading.path))

    def create_note(self) -> None:
        """A new note."""
        self._writing.begin(self._forms.make)

    def edit_frontmatter(self) -> None:
        """Name, description and type; of several notes the type."""
        if self.marked:
            self._writing.begin(partial(self._forms.set_types, self._subjects))
        else:
            self._writing.begin(partial(self._forms.edit_head, self._reading.path))

    def move_notes(self) -> None:
        """Another path, name or memory."""
        self._writing.begin(partial(self._leaving.move, self._subjects))

    def retire_notes(self) -> None:
        """Out of the memory."""
        self._writing.begin(partial(self._leaving.retire, self._subjects))

    def toggle_protection(self) -> None:
        """Protect or free."""
        self._writing.begin(partial(self._fixing.protect, self._reading.look, self._subjects))

    def fix_finding(self) -> None:
        """Mend what is under the cursor."""
        look = self._reading.look
        if look is not None:
            findings = mendable(look, *self._under_cursor())
            self._writing.begin(partial(self._fixing.fix, look, findings))

    def toggle_dismissal(self) -> None:
        """This is fine; or it is not, after all."""
        finding, look = self._panes.freshness.finding, self._reading.look
        if finding is not None and look is not None:
            gone = finding in look.dismissed
            self._writing.begin(partial(self._dismiss, finding.id, take_back=gone))

    async def _dismiss(self, finding_id: str, *, take_back: bool) -> None:
        await self._follower.decide(finding_id, take_back=take_back)
        said = "It stands again." if take_back else "Dismissed until its cause changes."
        self._writing.tell(said)

    def open_conflicts(self) -> None:
        """Settle what contradicts itself."""
        if self._reading.look is not None:
            self._settling.open(self.app, self._reading.look)

    def undo(self) -> None:
        """Take the last act back."""
        self._writing.run(self.undo_last)

    def redo(self) -> None:
        """Do again what was undone."""
        self._writing.run(self.redo_last)

    def _move_entry(self, step: int) -> None:
        self._tell_alone()
        self._writing.begin(partial(self._entries.step, step))

    def lift_entry(self) -> None:
        """The entry above the cut."""
        self._tell_alone()
        self._writing.begin(self._entries.lift)


def _what_asks_the_history() -> Callable[[Notebook], tuple[bool, bool]]:
    from ricordo.services.history.undo import can_take_back

    import_module("ricordo.tui.edits.writer")
    return can_take_back


async def undo_last(writing: Writing) -> frozenset[str]:
    """Take back the last act and say which; return what it was about. Raises what `undo` raises."""
    return await _turn(writing, undo, "Undone")


async def redo_last(writing: Writing) -> frozenset[str]:
    """Do again what was undone last, say what, and return what it was about. Raises what `redo`
    raises.
    """
    return await _turn(writing, redo, "Done again")


async def _turn(
    writing: Writing, act: Callable[[Notebook], UndoResult | ToBeSeen], word: str
) -> frozenset[str]:
    outcome = await asyncio.to_thread(act, writing.notebook)
    told = f"{word}: {outcome.told}."
    if isinstance(outcome, UndoResult):
        await writing.wrote(edit.path for edit in outcome.edits)
        writing.tell(told)
        return outcome.about
    if isinstance(outcome.outcome, Merged):
        approved = await writing.look_again(outcome.outcome)
        if approved is not None:
            await writing.write_and_tell(approved, told, outcome.undoes)
    else:
        await writing.show_overlap(outcome.outcome)
    return frozenset()


class Entries:
    """Moves the entry under the cursor, which stays on it."""

    def __init__(self, writing: Writing, reading: OpenNote, index: IndexList) -> None:
        """`reading` knows the last look, `index` the cursor."""
        self._writing = writing
        self._reading = reading
        self._index = index
        self.line = 0
        """The line to which the entry is being moved; 0 while none is."""

    async def step(self, step: int) -> None:
        """One place down (1) or up (-1). Raises ChangeRefused."""
        look, index, entry = self._under_cursor()
        await self._write(look, index, step_entry(index, entry, step))

    async def lift(self) -> None:
        """Above the cut. Raises ChangeRefused."""
        look, index, entry = self._under_cursor()
        if index is not look.memory.index:
            raise ChangeRefused("This index is not what agents are given, so nothing cuts it.")
        if await self._write(look, index, lift_entry(look.memory, entry)):
            self._writing.tell("Agents are given this entry now. u takes it back.")

    async def _write(self, look: Snapshot, index: MemoryIndex, moved: Moved) -> bool:
        text, self.line = moved
        try:
            change_set = await self._writing.put_together(
                look.memory, [Rewrite(index.path, text)], "entry moved by hand"
            )
            approved = await self._writing.warned("Move the entry", change_set)
            if approved is None:
                return False
            return await self._writing.write_or_show(approved) is not None
        finally:
            self.line = 0

    def _under_cursor(self) -> tuple[Snapshot, MemoryIndex, Entry]:
        # asked when its turn has come: the keys before may have moved it
        look, row = self._reading.look, self._index.row
        if look is not None and row is not None:
            for index in look.memory.indexes:
                for entry in index.entries:
                    if entry.line == row.line and _is_shown_by(look, index, entry, row):
                        return look, index, entry
        raise ChangeRefused("No entry of the index is under the cursor.")


def _is_shown_by(look: Snapshot, index: MemoryIndex, entry: Entry, row: IndexRow) -> bool:
    target = look.memory.target(index, entry)
    if target.leads is Leads.NOTE:
        return row.kind is RowKind.NOTE and target.path == row.path
    return row.kind is RowKind.MISSING and index.path == row.path
