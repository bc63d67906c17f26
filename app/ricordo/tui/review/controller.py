"""Reviewing: what is due today, the screen that leads through it, and what is said of notes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from ricordo.errors import RicordoError
from ricordo.services.workspace.notebook import Notebook, Snapshot
from ricordo.storage.decisions import ReviewVerdict
from ricordo.text import clip

if TYPE_CHECKING:
    from ricordo.services.review import Queue
    from ricordo.services.workspace.follower import Follower
    from ricordo.tui.actions.handlers import Handlers
    from ricordo.tui.base.acting_screen import ActingScreen
    from ricordo.tui.base.list_diff_screen import RevertActions
    from ricordo.tui.base.reading import OpenNote
    from ricordo.tui.review.screen import ReviewScreen


class Reviewing:
    """The review of the memory that a screen shows."""

    def __init__(
        self,
        screen: ActingScreen[Any],
        notebook: Notebook,
        follower: Follower,
        reading: OpenNote,
        say: Callable[[], None],
        actions: RevertActions,
        *,
        opens: bool,
    ) -> None:
        """`notebook` belongs to `follower`; `say` is called when another number of notes is due;
        `actions` is what the review has done to the memory. With `opens` it opens as soon as it is
        known what is due.
        """
        self._screen = screen
        # a notebook of its own for threads: the other one is used in the follower's
        self._notebook = notebook.another()
        self._follower = follower
        self._reading = reading
        self._say = say
        self._actions = actions
        self._opens = opens
        self._queue: Queue | None = None
        self._review: ReviewScreen | None = None

    @property
    def due(self) -> int:
        """How many notes are to be looked at today."""
        return len(self._queue.items) if self._queue else 0

    def looked(self, look: Snapshot) -> None:
        """Take another look at the memory."""
        if self._review is not None:
            self._review.looked(look)
        self.count()

    def count(self) -> None:
        """Find out what is due, once all that can be known is known."""
        look = self._reading.look
        if look is not None and look.known:
            self._run(partial(self._count, look), "due", exclusive=True)

    def _run(
        self, work: Callable[[], Awaitable[None]], group: str, *, exclusive: bool = False
    ) -> None:
        self._screen.run_worker(work, group=group, exclusive=exclusive)

    async def _count(self, look: Snapshot) -> None:
        # loaded in a thread, so that no key has to wait for it
        review = await asyncio.to_thread(_what_reviews)
        self._queue = await asyncio.to_thread(review, self._notebook, look)
        self._say()
        if self._opens:
            self._opens = False
            self.open_review()

    # What the keys do

    @property
    def handlers(self) -> Handlers:
        """What the keys do, by action id."""
        return {
            "review": self.open_review,
            "yes": self.confirm_note,
        }

    def open_review(self) -> None:
        """Lead through what is due."""
        from ricordo.tui.review.screen import ReviewScreen

        look, queue = self._reading.look, self._queue
        if look is not None and queue is not None:
            screen = self._screen
            self._review = ReviewScreen(
                look,
                queue,
                screen.styles_now(),
                screen.keymap,
                self._actions,
                self.judge,
                self._show_origin,
            )
            screen.app.push_screen(self._review, self._left)

    def _left(self, _: None) -> None:
        self._review = None

    def _show_origin(self, look: Snapshot, path: str) -> None:
        from ricordo.services.sessions.quotes import causes_of_note
        from ricordo.tui.dialogs.origin import OriginScreen

        palette, keymap = self._screen.styles_now(), self._screen.keymap
        find = partial(causes_of_note, self._notebook, look.memory, path)
        origin = OriginScreen(path, find, palette, keymap)
        self._screen.app.push_screen(origin)

    def confirm_note(self) -> None:
        """The open note is still true."""
        look, path = self._reading.look, self._reading.path
        if look is not None and path in look.retention:
            self._run(partial(self._confirm, look, path), "judge")

    async def _confirm(self, look: Snapshot, path: str) -> None:
        if await self.judge(look, path, ReviewVerdict.TRUE):
            name = clip(look.memory.by_path[path].name, 60)
            said = f"Still true: {name}. u takes it back."
            self._screen.notify(said, markup=False, timeout=5)

    async def judge(
        self, look: Snapshot, path: str, judgement: ReviewVerdict, until: str = ""
    ) -> bool:
        """Keep what the person says of a note as it stands in `look`; say whether it is kept. Why
        it is not is told.
        """
        try:
            await asyncio.to_thread(self._notebook.judge_note, look, path, judgement, until)
        except RicordoError as error:
            self._screen.app.notify(str(error), severity="error", markup=False, timeout=10)
            return False
        self._follower.judge()
        if judgement is ReviewVerdict.TRUE:
            from ricordo.services.search.usage import remember_confirmed

            around = self._notebook.surroundings
            await asyncio.to_thread(remember_confirmed, around, look.memory, path)
        return True


def _what_reviews() -> Callable[[Notebook, Snapshot], Queue]:
    from ricordo.services.review import review

    return review
