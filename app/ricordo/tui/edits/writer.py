"""The writer of a screen: proposes change sets and applies them in threads, one after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

from textual.app import App
from textual.screen import Screen

from ricordo.errors import RicordoError
from ricordo.memory.change import Change, ChangeOperation
from ricordo.services.edits.change import (
    EditConflicts,
    MergedEdits,
    apply_or_merge,
    build_change_set,
)
from ricordo.services.history.undo import (
    UndoResult,
    UndoToConfirm,
    find_foreign_change,
    redo,
    undo,
)
from ricordo.services.workspace.notebook import Notebook
from ricordo.storage.writer import Applied
from ricordo.text import make_one_line
from ricordo.tui.dialogs.change_set import ExtraAction, ProposalScreen
from ricordo.tui.dialogs.edit_conflict import EditConflictScreen
from ricordo.tui.render.inbox_rows import format_moment
from ricordo.tui.workers import start_worker

if TYPE_CHECKING:
    from ricordo.memory.change import ChangeSet
    from ricordo.memory.memory import Memory
    from ricordo.services.workspace.follower import Follower
    from ricordo.tui.color_palette import Palette
    from ricordo.tui.edits.expected_writes import ExpectedWrites

MERGED = "Merged with changes by others: check again"
UNCHANGED = "Nothing written yet: others wrote at the same moment"

Result = TypeVar("Result")


class ChangeWriter:
    """Proposes and applies the changes of one screen."""

    def __init__(
        self,
        screen: Screen[Any],
        notebook: Notebook,
        follower: Follower,
        palette: Callable[[], Palette],
        expected: ExpectedWrites,
        ask_history: Callable[[], Awaitable[None]],
    ) -> None:
        """`notebook` belongs to `follower`: only its place and settings are read. `palette` returns
        the styles in use, `expected` records what will be written, `ask_history` finds out what
        can be undone.
        """
        self._screen = screen
        self._followed = notebook
        self._follower = follower
        self._palette_now = palette
        self._one_at_a_time = asyncio.Lock()
        self._expected = expected
        self._ask_history = ask_history

    @cached_property
    def notebook(self) -> Notebook:
        """A notebook of the same memory for this screen's threads."""
        followed = self._followed
        return followed.copy()

    @property
    def app(self) -> App[object]:
        """The app, which is suspended while an editor runs."""
        return self._screen.app

    @property
    def palette(self) -> Palette:
        """The styles in use."""
        return self._palette_now()

    def begin(self, flow: Callable[[], Awaitable[object]]) -> None:
        """Do `flow` after all earlier work."""
        self.run(partial(self.run_in_turn, flow))

    def run(self, work: Callable[[], Awaitable[object]]) -> None:
        """Do `work` in a worker of the screen."""
        start_worker(self._screen, work, group="change")

    async def run_in_turn(self, flow: Callable[[], Awaitable[Result]]) -> Result | None:
        """Do `flow` after all earlier work and return its result; None where it failed, which is
        reported.
        """
        async with self._one_at_a_time:
            try:
                return await flow()
            except RicordoError as error:
                self._expected.forget()
                self._screen.notify(str(error), severity="error", markup=False, timeout=10)
                # undo may not be possible any more
                await self._ask_history()
                return None

    async def read(self) -> Memory:
        """Return the memory as it is on disk now. Raises MemoryNotFound and MemoryUnreadable."""
        return await asyncio.to_thread(self.notebook.read)

    async def compose(
        self,
        memory: Memory,
        acts: Iterable[ChangeOperation],
        reason: str,
        others: Mapping[str, Memory] | None = None,
    ) -> ChangeSet:
        changes = [Change(act, reason) for act in acts]
        return await asyncio.to_thread(build_change_set, self.notebook, memory, changes, others)

    async def propose(
        self,
        title: str,
        change_set: ChangeSet,
        words: Sequence[str] = (),
        extra: ExtraAction | None = None,
    ) -> ChangeSet | None:
        """Return what the user approves of `change_set`; None for nothing."""
        if not change_set:
            self.report("No changes.")
            return None
        keymap = self._followed.settings.keymap
        return await self.ask(ProposalScreen(title, change_set, self.palette, keymap, words, extra))

    async def propose_if_warned(self, title: str, change_set: ChangeSet) -> ChangeSet | None:
        """Return `change_set` without showing it; where it has warnings, show it and return what
        the user approves.
        """
        return await self.propose(title, change_set) if change_set.warnings else change_set

    async def ask(self, screen: Screen[Result]) -> Result | None:
        """Show `screen` and return what it ends with."""
        return await self._screen.app.push_screen_wait(screen)

    async def write(
        self, change_set: ChangeSet, undoes: int | None = None
    ) -> Applied | EditConflicts | None:
        """Apply `change_set`; where others wrote meanwhile, show the merge first. Return None where
        nothing was written. Raises what `apply_or_merge` raises.
        """
        while change_set:
            self._expected.expect(self.notebook.place.root, change_set)
            outcome = await asyncio.to_thread(
                apply_or_merge, self.notebook, change_set, undoes=undoes
            )
            if isinstance(outcome, Applied):
                await self.show_written()
                return outcome
            self._expected.forget()
            if isinstance(outcome, EditConflicts):
                return outcome
            if not outcome.change_set:
                self.report("No changes: others wrote the same.")
                return None
            approved = await self.show_merge(outcome)
            if approved is None:
                return None
            change_set = approved
        self.report("No changes.")
        return None

    async def show_merge(self, merged: MergedEdits) -> ChangeSet | None:
        """Show a merge; return what the user approves of it."""
        title = MERGED if merged.files else UNCHANGED
        return await self.propose(title, merged.change_set, (merged.summary,))

    async def write_and_report(
        self, change_set: ChangeSet, message: str, undoes: int | None = None
    ) -> bool:
        """Apply `change_set` and report `message`; return whether it was written."""
        written = await self.write_or_show(change_set, undoes) is not None
        if written:
            self.report(message)
        return written

    async def write_approved(self, change_set: ChangeSet) -> Applied | None:
        """Apply what the user has seen on a screen; return None where nothing was written. Errors
        are reported.
        """
        return await self.run_in_turn(partial(self.write_or_show, change_set))

    async def write_or_show(
        self, change_set: ChangeSet, undoes: int | None = None
    ) -> Applied | None:
        """Apply `change_set`, or show where others changed the same lines; return None where
        nothing was written.
        """
        outcome = await self.write(change_set, undoes)
        if isinstance(outcome, EditConflicts):
            await self.show_edit_conflict(outcome)
            return None
        return outcome

    async def show_edit_conflict(
        self, overlap: EditConflicts, words: str = "", *, edit: bool = False
    ) -> bool:
        """Show the three versions; return whether the user wants to edit again."""
        message = f"{overlap.to_error()} {words}".strip()
        screen = EditConflictScreen(overlap.conflicts, self.palette, message, can_edit=edit)
        again = await self.ask(screen)
        return again is True

    async def undo_last(self) -> frozenset[str]:
        """Undo the last change and report it; return what it was about. Raises what `undo`
        raises.
        """
        return await self._undo_or_redo(undo, "Undone", back=True)

    async def redo_last(self) -> frozenset[str]:
        """Redo what was undone last and report it; return what it was about. Raises what `redo`
        raises.
        """
        return await self._undo_or_redo(redo, "Redone", back=False)

    async def _undo_or_redo(
        self, act: Callable[[Notebook], UndoResult | UndoToConfirm], word: str, *, back: bool
    ) -> frozenset[str]:
        if not await self._may_undo(word, back=back):
            return frozenset()
        outcome = await asyncio.to_thread(act, self.notebook)
        message = f"{word}: {outcome.description}."
        if isinstance(outcome, UndoResult):
            await self.record_written(edit.path for edit in outcome.edits)
            self.report(message)
            return outcome.affected
        if isinstance(outcome.outcome, MergedEdits):
            approved = await self.show_merge(outcome.outcome)
            if approved is not None:
                await self.write_and_report(approved, message, outcome.undoes)
        else:
            await self.show_edit_conflict(outcome.outcome, outcome.follow_up)
        return frozenset()

    async def _may_undo(self, word: str, *, back: bool) -> bool:
        """Show the next change to undo or redo where this notebook did not make it; return whether
        to go on. What the user approves only in part is written here.
        """
        shown = 0
        find = partial(find_foreign_change, self.notebook, back=back)
        # meanwhile another program may have changed something else
        while (foreign := await asyncio.to_thread(find)) and foreign.act != shown:
            shown, change_set = foreign.act, foreign.change_set
            if not change_set:
                continue
            root = self.notebook.place.root
            outside = [f"{it.root}/{it.path}" for it in change_set.edits if it.root != root]
            words = [f"{foreign.description}, {format_moment(foreign.at)}"]
            words += [f"outside the memory: {make_one_line(path)}" for path in outside]
            title = f"{'Undo' if back else 'Redo'} what was not done in this notebook?"
            approved = await self.propose(title, change_set, words)
            if approved != change_set:
                if approved is not None:
                    message = f"{word} in part: {foreign.description}."
                    await self.write_and_report(approved, message, foreign.act)
                return False
        return True

    def report(self, message: str, *, severe: bool = False) -> None:
        """Show `message` in a toast."""
        self._screen.notify(
            message, severity="warning" if severe else "information", markup=False, timeout=6
        )

    def record_written(self, paths: Iterable[str]) -> Awaitable[None]:
        """Record that Ricordo changed `paths`, and update the screen."""
        self._expected.record_written(paths)
        return self.show_written()

    async def show_written(self) -> None:
        """Read the memory again; wait until the screen shows it and knows what can be undone."""
        await self._expected.wait_until_shown(self._follower.request_reread())
        await self._ask_history()
