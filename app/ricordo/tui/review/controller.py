"""The review of the day: what is due, its screen, and the keys that confirm notes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

from ricordo.errors import RicordoError
from ricordo.services.workspace.notebook import Notebook, Snapshot
from ricordo.storage.decisions import ReviewVerdict
from ricordo.text import clip
from ricordo.tui.base.action_screen import NotebookController, NotebookParts
from ricordo.tui.workers import start_worker

if TYPE_CHECKING:
    from ricordo.services.review import ReviewQueue
    from ricordo.tui.actions.bindings import Handlers
    from ricordo.tui.review.screen import ReviewScreen


class ReviewController(NotebookController):
    """The review of the memory that a screen shows."""

    def __init__(self, parts: NotebookParts, changed: Callable[[], None], *, opens: bool) -> None:
        """With `opens` the review opens as soon as it is known what is due."""
        super().__init__(parts, changed)
        self._opens = opens
        self._queue: ReviewQueue | None = None
        self._review: ReviewScreen | None = None

    @property
    def due_count(self) -> int:
        """Number of notes to review today."""
        return len(self._queue.items) if self._queue else 0

    def update_snapshot(self, snapshot: Snapshot) -> None:
        """Use a new snapshot of the memory."""
        if self._review is not None:
            self._review.update_snapshot(snapshot)
        self.count()

    def count(self) -> None:
        """Find out what is due, once all evidence is gathered."""
        snapshot = self._reading.snapshot
        if snapshot is not None and snapshot.has_evidence:
            self._run(partial(self._count, snapshot), "due", exclusive=True)

    def _run(
        self, work: Callable[[], Awaitable[None]], group: str, *, exclusive: bool = False
    ) -> None:
        start_worker(self._screen, work, group=group, exclusive=exclusive)

    async def _count(self, snapshot: Snapshot) -> None:
        # imported in a thread, so that no key has to wait for it
        review = await asyncio.to_thread(_load_review)
        self._queue = await asyncio.to_thread(review, self._notebook, snapshot)
        self._on_changed()
        if self._opens:
            self._opens = False
            self.open_review()

    # What the keys do

    @property
    def handlers(self) -> Handlers:
        return {
            "review": self.open_review,
            "yes": self.confirm_note,
        }

    def open_review(self) -> None:
        """Open the review of what is due."""
        from ricordo.tui.review.screen import ReviewScreen

        snapshot, queue = self._reading.snapshot, self._queue
        if snapshot is not None and queue is not None:
            screen = self._screen
            self._review = ReviewScreen(
                snapshot,
                queue,
                screen.current_palette(),
                screen.keymap,
                self._actions,
                self.store_verdict,
                self._show_origin,
            )
            screen.app.push_screen(self._review, self._forget_review)

    def _forget_review(self, _: None) -> None:
        self._review = None

    def _show_origin(self, snapshot: Snapshot, path: str) -> None:
        from ricordo.services.sessions.quotes import list_note_origins
        from ricordo.tui.dialogs.origin import OriginScreen

        palette, keymap = self._screen.current_palette(), self._screen.keymap
        find = partial(list_note_origins, self._notebook, snapshot.memory, path)
        origin = OriginScreen(path, find, palette, keymap)
        self._screen.app.push_screen(origin)

    def confirm_note(self) -> None:
        """Record that the open note is still true."""
        snapshot, path = self._reading.snapshot, self._reading.path
        if snapshot is not None and path in snapshot.retention:
            self._run(partial(self._confirm, snapshot, path), "judge")

    async def _confirm(self, snapshot: Snapshot, path: str) -> None:
        if await self.store_verdict(snapshot, path, ReviewVerdict.TRUE):
            name = clip(snapshot.memory.by_path[path].name, 60)
            message = f"Confirmed as still true: {name}. u undoes it."
            self._screen.notify(message, markup=False, timeout=5)

    async def store_verdict(
        self, snapshot: Snapshot, path: str, judgement: ReviewVerdict, until: str = ""
    ) -> bool:
        """Store the user's verdict on a note as it is in `snapshot`; return whether it was stored.
        Errors are reported.
        """
        try:
            await asyncio.to_thread(self._notebook.record_verdict, snapshot, path, judgement, until)
        except RicordoError as error:
            self._screen.app.notify(str(error), severity="error", markup=False, timeout=10)
            return False
        self._follower.request_judging()
        if judgement is ReviewVerdict.TRUE:
            from ricordo.services.search.usage import remember_confirmed

            environment = self._notebook.environment
            await asyncio.to_thread(remember_confirmed, environment, snapshot.memory, path)
        return True


def _load_review() -> Callable[[Notebook, Snapshot], ReviewQueue]:
    from ricordo.services.review import build_review

    return build_review
