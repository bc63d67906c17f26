"""From a wish to the disk: one after the other, off the thread of the screen, seen before it is."""

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

MERGED = "Merged with what somebody else wrote: look again"
UNCHANGED = "Nothing was written yet: somebody else wrote at the same moment"

Result = TypeVar("Result")


class Writing:
    """Carries the wishes of one screen out."""

    def __init__(
        self,
        screen: Screen[Any],
        notebook: Notebook,
        follower: Follower,
        palette: Callable[[], Palette],
        expected: Expected,
        ask_history: Callable[[], Awaitable[None]],
    ) -> None:
        """`notebook` is the one that `follower` owns: nothing is asked of it but where it is.
        `palette` gives the styles in use, `expected` is told what will be written, `ask_history`
        finds out what can be undone.
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
        """A notebook of the same memory for this thread: the other one belongs to its follower."""
        followed = self._followed
        return followed.another()

    @property
    def palette(self) -> Palette:
        """The styles in use."""
        return self._palette_now()

    def begin(self, flow: Callable[[], Awaitable[object]]) -> None:
        """Do `flow` once all that was begun before is done."""
        self.run(partial(self.in_turn, flow))

    def run(self, work: Callable[[], Awaitable[object]]) -> None:
        """Do `work` beside the screen."""
        self._screen.run_worker(work, group="change")

    async def in_turn(self, flow: Callable[[], Awaitable[Result]]) -> Result | None:
        """Do `flow` once all that was begun before is done, and return what it gives; None where
        it could not be done, which is told.
        """
        async with self._one_at_a_time:
            try:
                return await flow()
            except RicordoError as error:
                self._expected.forget()
                self._screen.notify(str(error), severity="error", markup=False, timeout=10)
                # what cannot be undone is no longer offered
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
        """Return what `acts` of `memory` come to. Raises ChangeRefused."""
        changes = [Change(act, reason) for act in acts]
        return await asyncio.to_thread(put_together, self.notebook, memory, changes, others)

    async def propose(
        self,
        title: str,
        change_set: ChangeSet,
        words: Sequence[str] = (),
        extra: Extra | None = None,
    ) -> ChangeSet | None:
        """Return what the person approves of `change_set`; None where nothing is to be done."""
        if not change_set:
            self.tell("That is so already; nothing would change.")
            return None
        keymap = self._followed.settings.keymap
        return await self.ask(ProposalScreen(title, change_set, self.palette, keymap, words, extra))

    async def warned(self, title: str, change_set: ChangeSet) -> ChangeSet | None:
        """Return a `change_set` that is written unseen; where there is something to know of it
        first, what the person approves of it.
        """
        return await self.propose(title, change_set) if change_set.remarks else change_set

    async def ask(self, screen: Screen[Result]) -> Result | None:
        """Show `screen` and return what it ends with."""
        return await self._screen.app.push_screen_wait(screen)

    async def write(
        self, change_set: ChangeSet, undoes: int | None = None
    ) -> Applied | EditOverlap | None:
        """Apply `change_set`, after another look where others wrote meanwhile; return None where
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
                self.tell("Somebody else had done the same already.")
                return None
            approved = await self.look_again(outcome)
            if approved is None:
                return None
            change_set = approved
        self.tell("Nothing would change.")
        return None

    async def look_again(self, merged: Merged) -> ChangeSet | None:
        """Show a merge; return what of it the person approves."""
        title = MERGED if merged.files else UNCHANGED
        return await self.propose(title, merged.change_set, (merged.told,))

    async def write_and_tell(
        self, change_set: ChangeSet, told: str, undoes: int | None = None
    ) -> bool:
        """Apply `change_set` and say `told`; say whether it was written."""
        written = await self.write_or_show(change_set, undoes) is not None
        if written:
            self.tell(told)
        return written

    async def write_seen(self, change_set: ChangeSet) -> Applied | None:
        """Apply what the person has seen on a screen of its own; return None where nothing was
        written. What could not be is told.
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
        """Show the three versions; return whether the person wants to edit again."""
        said = f"{overlap.error()} {words}".strip()
        screen = ThreeVersionsScreen(overlap.clashes, self.palette, said, can_edit=edit)
        again = await self.ask(screen)
        return again is True

    def tell(self, message: str, *, severe: bool = False) -> None:
        """Say what was done, in one toast."""
        self._screen.notify(
            message, severity="warning" if severe else "information", markup=False, timeout=6
        )

    def wrote(self, paths: Iterable[str]) -> Awaitable[None]:
        """Know that `paths` were changed by us already, and let the screen show it."""
        self._expected.wrote(paths)
        return self.show_written()

    async def show_written(self) -> None:
        """Ask for a look at what is on disk now, and wait until the screen has it and undoes it."""
        await self._expected.shown(self._follower.reread())
        await self._ask_history()


_PATIENCE = 3.0
"""Seconds after which it is told that something was written, although the screen does not show it
yet: to judge a hundred thousand notes takes longer.
"""


class Expected:
    """The files of one memory that will look as we wrote them."""

    def __init__(self) -> None:
        """Nothing is expected."""
        self._look: int | None = None
        """The number of the look that will show it; None while it is being written."""
        self._shown = asyncio.Event()
        self.own: frozenset[str] = frozenset()
        """Paths of what we wrote."""
        self.moved: Mapping[str, str] = {}
        """Where notes go that we rename, by their old path."""

    def expect(self, root: str, change_set: ChangeSet) -> None:
        """Know what `change_set` will change in the memory at `root`, before anybody sees it."""
        edits = [edit for edit in change_set.edits if edit.root == root]
        self.wrote(edit.path for edit in edits)
        renamed = (edit for edit in edits if edit.moved_from and not edit.moved_from_root)
        self.moved = {**self.moved, **{edit.moved_from: edit.path for edit in renamed}}

    def wrote(self, paths: Iterable[str]) -> None:
        """Know that `paths` are changed by us."""
        self._look = None
        self.own |= frozenset(paths)

    def forget(self) -> None:
        """Expect nothing: it was not written."""
        self.own, self.moved = frozenset(), {}

    def looked(self, number: int) -> None:
        """Know that the look asked for as `number` is on the screen, with all that was written
        before.
        """
        if self._look is not None and number >= self._look:
            self.forget()
            self._shown.set()

    async def shown(self, number: int) -> None:
        """Wait until the look asked for as `number` is on the screen, as long as a person likes to
        wait.
        """
        self._look = number
        self._shown.clear()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._shown.wait(), _PATIENCE)
