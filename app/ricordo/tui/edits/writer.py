"""The writer of a screen: proposes change sets and applies them in threads, one after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

from textual.screen import Screen

from ricordo.errors import RicordoError
from ricordo.memory.change import Act, Change
from ricordo.services.edits.change import EditOverlap, Merged, apply_or_merge, put_together
from ricordo.services.workspace.notebook import Notebook
from ricordo.storage.writer import Applied
from ricordo.tui.dialogs.change_set import Extra, ProposalScreen
from ricordo.tui.dialogs.merge import ThreeVersionsScreen

if TYPE_CHECKING:
    from ricordo.memory.change import ChangeSet
    from ricordo.memory.memory import Memory
    from ricordo.services.workspace.follower import Follower
    from ricordo.tui.color_palette import Palette

MERGED = "Merged with changes by others: check again"
UNCHANGED = "Nothing written yet: others wrote at the same moment"

Result = TypeVar("Result")


class Writing:
    """Proposes and applies the changes of one screen."""

    def __init__(
        self,
        screen: Screen[Any],
        notebook: Notebook,
        follower: Follower,
        palette: Callable[[], Palette],
        expected: Expected,
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
        return followed.another()

    @property
    def palette(self) -> Palette:
        """The styles in use."""
        return self._palette_now()

    def begin(self, flow: Callable[[], Awaitable[object]]) -> None:
        """Do `flow` after all earlier work."""
        self.run(partial(self.in_turn, flow))

    def run(self, work: Callable[[], Awaitable[object]]) -> None:
        """Do `work` in a worker of the screen."""
        self._screen.run_worker(work, group="change")

    async def in_turn(self, flow: Callable[[], Awaitable[Result]]) -> Result | None:
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

    async def put_together(
        self,
        memory: Memory,
        acts: Iterable[Act],
        reason: str,
        others: Mapping[str, Memory] | None = None,
    ) -> ChangeSet:
        """Return the change set of `acts` in `memory`. Raises ChangeRefused."""
        changes = [Change(act, reason) for act in acts]
        return await asyncio.to_thread(put_together, self.notebook, memory, changes, others)

    async def propose(
        self,
        title: str,
        change_set: ChangeSet,
        words: Sequence[str] = (),
        extra: Extra | None = None,
    ) -> ChangeSet | None:
        """Return what the user approves of `change_set`; None for nothing."""
        if not change_set:
            self.tell("No changes.")
            return None
        keymap = self._followed.settings.keymap
        return await self.ask(ProposalScreen(title, change_set, self.palette, keymap, words, extra))

    async def warned(self, title: str, change_set: ChangeSet) -> ChangeSet | None:
        """Return `change_set` without showing it; where it has warnings, show it and return what
        the user approves.
        """
        return await self.propose(title, change_set) if change_set.remarks else change_set

    async def ask(self, screen: Screen[Result]) -> Result | None:
        """Show `screen` and return what it ends with."""
        return await self._screen.app.push_screen_wait(screen)

    async def write(
        self, change_set: ChangeSet, undoes: int | None = None
    ) -> Applied | EditOverlap | None:
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
            if isinstance(outcome, EditOverlap):
                return outcome
            if not outcome.change_set:
                self.tell("No changes: others wrote the same.")
                return None
            approved = await self.look_again(outcome)
            if approved is None:
                return None
            change_set = approved
        self.tell("No changes.")
        return None

    async def look_again(self, merged: Merged) -> ChangeSet | None:
        """Show a merge; return what the user approves of it."""
        title = MERGED if merged.files else UNCHANGED
        return await self.propose(title, merged.change_set, (merged.told,))

    async def write_and_tell(
        self, change_set: ChangeSet, told: str, undoes: int | None = None
    ) -> bool:
        """Apply `change_set` and report `told`; return whether it was written."""
        written = await self.write_or_show(change_set, undoes) is not None
        if written:
            self.tell(told)
        return written

    async def write_seen(self, change_set: ChangeSet) -> Applied | None:
        """Apply what the user has seen on a screen; return None where nothing was written. Errors
        are reported.
        """
        return await self.in_turn(partial(self.write_or_show, change_set))

    async def write_or_show(
        self, change_set: ChangeSet, undoes: int | None = None
    ) -> Applied | None:
        """Apply `change_set`, or show where others changed the same lines; return None where
        nothing was written.
        """
        outcome = await self.write(change_set, undoes)
        if isinstance(outcome, EditOverlap):
            await self.show_overlap(outcome)
            return None
        return outcome

    async def show_overlap(
        self, overlap: EditOverlap, words: str = "", *, edit: bool = False
    ) -> bool:
        """Show the three versions; return whether the user wants to edit again."""
        message = f"{overlap.error()} {words}".strip()
        screen = ThreeVersionsScreen(overlap.clashes, self.palette, message, can_edit=edit)
        again = await self.ask(screen)
        return again is True

    def tell(self, message: str, *, severe: bool = False) -> None:
        """Show `message` in a toast."""
        self._screen.notify(
            message, severity="warning" if severe else "information", markup=False, timeout=6
        )

    def wrote(self, paths: Iterable[str]) -> Awaitable[None]:
        """Record that Ricordo changed `paths`, and update the screen."""
        self._expected.wrote(paths)
        return self.show_written()

    async def show_written(self) -> None:
        """Read the memory again; wait until the screen shows it and knows what can be undone."""
        await self._expected.shown(self._follower.reread())
        await self._ask_history()


_PATIENCE = 3.0
"""Seconds to wait until the screen shows what was written: with 100,000 notes it takes longer.
"""


class Expected:
    """The files of one memory that Ricordo wrote and that no snapshot has shown yet."""

    def __init__(self) -> None:
        """Nothing is expected."""
        self._snapshot: int | None = None
        """The number of the snapshot that will show them; None while they are being written."""
        self._shown = asyncio.Event()
        self.own: frozenset[str] = frozenset()
        """Paths that Ricordo wrote."""
        self.moved: Mapping[str, str] = {}
        """New paths of notes that Ricordo renames, by old path."""

    def expect(self, root: str, change_set: ChangeSet) -> None:
        """Record what `change_set` will change in the memory at `root`."""
        edits = [edit for edit in change_set.edits if edit.root == root]
        self.wrote(edit.path for edit in edits)
        renamed = (edit for edit in edits if edit.moved_from and not edit.moved_from_root)
        self.moved = {**self.moved, **{edit.moved_from: edit.path for edit in renamed}}

    def wrote(self, paths: Iterable[str]) -> None:
        """Record that Ricordo changes `paths`."""
        self._snapshot = None
        self.own |= frozenset(paths)

    def forget(self) -> None:
        """Expect nothing."""
        self.own, self.moved = frozenset(), {}

    def looked(self, number: int) -> None:
        """Record that the snapshot requested as `number` is on the screen."""
        if self._snapshot is not None and number >= self._snapshot:
            self.forget()
            self._shown.set()

    async def shown(self, number: int) -> None:
        """Wait until the snapshot requested as `number` is on the screen, for a few seconds at
        most.
        """
        self._snapshot = number
        self._shown.clear()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._shown.wait(), _PATIENCE)
