"""Curating: how many proposals wait, the screens that ask for more and that decide on them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from ricordo.errors import RicordoError, StateUnusable
from ricordo.services.curation.pending import recall_curation, stamp_of_curation
from ricordo.services.workspace.notebook import Notebook, Snapshot
from ricordo.text import one_line
from ricordo.tui.render.line import BLANK, StyledLine, StyledSpan, wrap
from ricordo.tui.render.uncertain_lines import sent_lines

if TYPE_CHECKING:
    from ricordo.curation.engine import Step
    from ricordo.curation.proposal import Rejected
    from ricordo.services.curation.curation import BeforeSendingBack, Curation, RetryRequest
    from ricordo.tui.actions.handlers import Handlers
    from ricordo.tui.base.acting_screen import ActingScreen
    from ricordo.tui.base.reading import OpenNote
    from ricordo.tui.curation.decisions import Deciding
    from ricordo.tui.curation.scope_screen import ScopeWay
    from ricordo.tui.curation.screen import CurationActions, CurationScreen

_ASKED_EVERY = 2.0
"""Seconds between two looks whether a command has left proposals."""


class Curating:
    """The curation of the memory that a screen shows."""

    def __init__(
        self,
        screen: ActingScreen[Any],
        notebook: Notebook,
        reading: OpenNote,
        say: Callable[[], None],
        hands: CurationActions,
    ) -> None:
        """`say` is called when another number of proposals waits; `hands` is what the review has
        done to the memory.
        """
        self._screen = screen
        # a notebook of its own for threads: the other one is used in the follower's
        self._notebook = notebook.another()
        self._reading = reading
        self._say = say
        self._hands = hands
        self._review: CurationScreen | None = None
        self._asked: RetryRequest | None = None
        """Whom the curation asked of which the review shows what was rejected."""
        self._stamp: object = None
        self.waiting = 0
        """How many proposals wait."""

    @cached_property
    def _deciding(self) -> Deciding:
        from ricordo.tui.curation.decisions import Deciding

        return Deciding()

    async def follow(self) -> None:
        """Tell how many wait, for as long as the screen is there."""
        while True:
            await self._count()
            await asyncio.sleep(_ASKED_EVERY)

    async def _count(self) -> None:
        surroundings, root = self._notebook.surroundings, self._notebook.place.root
        stamp = stamp_of_curation(surroundings.state, root)
        if stamp == self._stamp:
            return
        # that the history cannot be read is told where it is written
        with suppress(StateUnusable):
            kept = await asyncio.to_thread(recall_curation, surroundings.state, root)
            self.waiting = len(kept.waiting)
        self._stamp = stamp
        self._screen.call_later(self._say)

    def looked(self, look: Snapshot) -> None:
        """Let the review, where it is open, show what is in the memory now."""
        if self._review is not None and look.judged:
            self._review.looked(look)

    def _run(self, work: Callable[[], Awaitable[None]]) -> None:
        self._screen.run_worker(work, group="curate")

    # What the keys do

    @property
    def handlers(self) -> Handlers:
        """What the keys do, by action id."""
        return {
            "curate": self.open_curation,
        }

    def open_curation(self) -> None:
        """Decide on what waits, or was rejected and can be sent back; where there is nothing of
        it, have something proposed.
        """
        self._run(self._open)

    async def _open(self) -> None:
        await self._count()
        if self.waiting or (self._asked is not None and self._deciding.has_to_send_back):
            self._decide()
        else:
            self.choose_scope()

    def _decide(self) -> None:
        from ricordo.tui.curation.screen import CurationScreen

        screen = self._screen
        self._review = CurationScreen(
            self._notebook,
            screen.styles_now(),
            screen.keymap,
            self._hands,
            self._deciding,
            self.choose_scope,
            self._send_back,
            self._changed,
        )
        screen.app.push_screen(self._review, self._left)

    def _left(self, _: None) -> None:
        self._review = None

    def _changed(self) -> None:
        self._run(self._count)

    # Having something proposed

    def choose_scope(self) -> None:
        """Ask what is to be curated, and curate it."""
        self._run(self._choose_scope)

    async def _choose_scope(self) -> None:
        from ricordo.tui.curation.runner import Asker

        asker = Asker(self._notebook)
        ways = await asyncio.to_thread(_ways, self._notebook, self._reading.path)
        engines, own = await asyncio.to_thread(asker.engines)
        # what it stands on was loaded in the threads
        from ricordo.tui.curation.scope_screen import ScopeScreen

        styles, keymap = self._screen.styles_now(), self._screen.keymap
        screen = ScopeScreen(ways, engines, own, asker, styles, keymap)

        def curated(curation: Curation | None) -> None:
            # one that was looked at and left has asked nobody: the one before can still be asked
            if curation is not None:
                self._run(partial(self._keep, curation, asker.asked))

        self._screen.app.push_screen(screen, curated)

    def _send_back(self, rejected: Rejected) -> None:
        """Show what would go back of a change that the checks rejected, and send it."""
        from ricordo.tui.dialogs.question import QuestionScreen

        # what engines outside our code proposed is all that can go back
        assert self._asked is not None
        question = SendingBack(self._notebook, self._asked, rejected)
        screen = QuestionScreen(question, self._screen.styles_now())
        self._screen.app.push_screen(screen, partial(self._sent_back, rejected))

    def _sent_back(self, rejected: Rejected, curation: Curation | None) -> None:
        if curation is not None:
            self._deciding.sends_back(rejected)
            # what else was rejected can still go back, and what was not read stays so
            left = (*self._deciding.rejected, *curation.rejected)
            known = replace(curation, rejected=left, skipped=tuple(self._deciding.skipped))
            self._run(partial(self._keep, known, self._asked))

    async def _keep(self, curation: Curation, asked: RetryRequest | None) -> None:
        """Let what was proposed wait, by whom was `asked`."""
        from ricordo.services.curation.curation import begin
        from ricordo.services.curation.preparation import summed_up

        try:
            await asyncio.to_thread(begin, self._notebook, curation)
        except RicordoError as error:
            self._screen.app.notify(str(error), severity="error", markup=False, timeout=10)
            return
        self._asked, self._deciding.rejected = asked, curation.rejected
        self._deciding.skipped = summed_up(curation.skipped)
        await self._count()
        if self._review is not None:
            self._review.refresh_proposals()
        elif curation.proposals or curation.rejected or curation.skipped:
            self._decide()
        for said in _told_of(curation):
            self._screen.app.notify(said, markup=False, timeout=6)


def _told_of(curation: Curation) -> Iterator[str]:
    from ricordo.curation.proposal import RULES
    from ricordo.services.engines.preview import answered, who

    run = curation.run
    if run.engine != RULES:
        yield f"{one_line(answered(run))}."
    if not curation.proposals:
        yield f"Nothing is to be changed, as far as {one_line(who(run))} can tell."


def _ways(notebook: Notebook, note: str) -> list[ScopeWay]:
    from ricordo.services.curation.preparation import CurationScope, recent_sessions, scope_of
    from ricordo.services.sessions.activity_text import day_in_words
    from ricordo.tui.curation.scope_screen import ScopeWay

    ways = [ScopeWay(CurationScope(), "since last time", "what was said and not curated yet")]
    if note:
        ways.append(ScopeWay(CurationScope(note=note), "this note", note))
    sessions = recent_sessions(notebook)
    if sessions:
        last = sessions[0]
        told = f"“{last.shown}”, {day_in_words(last.ended)}"
        ways.append(ScopeWay(scope_of(last), "the last session", told))
    ways.append(
        ScopeWay(CurationScope(everything=True), "everything", "all sessions from the first one")
    )
    return ways


_ABOUT = (
    "This change goes back once, with the reason for which the checks rejected it, the notes and "
    "the turns that it names. What is answered is checked as any other change, and waits."
)


class SendingBack:
    """One change that goes back."""

    title = "Sent back · a change that the checks rejected"

    def __init__(self, notebook: Notebook, asked: RetryRequest, rejected: Rejected) -> None:
        """`asked` is whom the curation asked that it is of."""
        # of its own: it is asked in a thread
        self._notebook = notebook.another()
        self._asked = asked
        self._rejected = rejected

    def look(self, step: Step) -> BeforeSendingBack:
        """Return what is known before."""
        from ricordo.services.curation.curation import look_before_sending_back

        return look_before_sending_back(self._notebook, self._asked, self._rejected)

    def lines(self, before: BeforeSendingBack, width: int) -> list[StyledLine]:
        """Return what would be sent."""
        about = [StyledLine(row) for row in wrap([StyledSpan(_ABOUT, "dim")], width - 1)]
        heading = [BLANK, StyledLine((StyledSpan("this is sent", "heading"),)), BLANK]
        return [*about, *heading, *sent_lines(before.leaving.text, "== ", width)]

    def ask(self, before: BeforeSendingBack, step: Step) -> Curation:
        """Send it back."""
        from ricordo.services.curation.curation import send_back

        return send_back(self._notebook, self._asked, self._rejected, step)
