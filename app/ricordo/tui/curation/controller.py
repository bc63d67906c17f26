"""Curation: count the pending proposals, and open the screens that ask for and decide on them."""

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
"""Seconds between two checks whether another process has added proposals."""


class Curating:
    """Runs the curation of the memory that a screen shows."""

    def __init__(
        self,
        screen: ActingScreen[Any],
        notebook: Notebook,
        reading: OpenNote,
        say: Callable[[], None],
        hands: CurationActions,
    ) -> None:
        """`say` is called when the number of pending proposals changes; `hands` is what the review
        can do to the memory.
        """
        self._screen = screen
        # its own notebook for threads: the other one is used in the follower's
        self._notebook = notebook.another()
        self._reading = reading
        self._say = say
        self._hands = hands
        self._review: CurationScreen | None = None
        self._request: RetryRequest | None = None
        """The request behind the rejected proposals that the review shows; None for the rules."""
        self._stamp: object = None
        self.waiting = 0
        """How many proposals are pending."""

    @cached_property
    def _decisions(self) -> Deciding:
        from ricordo.tui.curation.decisions import Deciding

        return Deciding()

    async def follow(self) -> None:
        """Keep the number of pending proposals up to date while the screen exists."""
        while True:
            await self._count()
            await asyncio.sleep(_ASKED_EVERY)

    async def _count(self) -> None:
        environment, root = self._notebook.surroundings, self._notebook.place.root
        stamp = stamp_of_curation(environment.state, root)
        if stamp == self._stamp:
            return
        # an unreadable history is reported where it is written
        with suppress(StateUnusable):
            pending = await asyncio.to_thread(recall_curation, environment.state, root)
            self.waiting = len(pending.waiting)
        self._stamp = stamp
        self._screen.call_later(self._say)

    def looked(self, snapshot: Snapshot) -> None:
        """Update the review, if it is open, with a new snapshot."""
        if self._review is not None and snapshot.judged:
            self._review.looked(snapshot)

    def _run(self, work: Callable[[], Awaitable[None]]) -> None:
        self._screen.run_worker(work, group="curate")

    # Keys

    @property
    def handlers(self) -> Handlers:
        """Return the handlers of the keys by action id."""
        return {
            "curate": self.open_curation,
        }

    def open_curation(self) -> None:
        """Open the review if proposals are pending or can be sent back, else ask for new ones."""
        self._run(self._open)

    async def _open(self) -> None:
        await self._count()
        if self.waiting or (self._request is not None and self._decisions.has_to_send_back):
            self._open_review()
        else:
            self.choose_scope()

    def _open_review(self) -> None:
        from ricordo.tui.curation.screen import CurationScreen

        screen = self._screen
        self._review = CurationScreen(
            self._notebook,
            screen.styles_now(),
            screen.keymap,
            self._hands,
            self._decisions,
            self.choose_scope,
            self._send_back,
            self._recount,
        )
        screen.app.push_screen(self._review, self._forget_review)

    def _forget_review(self, _: None) -> None:
        self._review = None

    def _recount(self) -> None:
        self._run(self._count)

    # Asking for proposals

    def choose_scope(self) -> None:
        """Ask what to curate, and curate it."""
        self._run(self._choose_scope)

    async def _choose_scope(self) -> None:
        from ricordo.tui.curation.runner import Asker

        asker = Asker(self._notebook)
        ways = await asyncio.to_thread(_find_scopes, self._notebook, self._reading.path)
        engines, chosen = await asyncio.to_thread(asker.engines)
        # its dependencies were loaded in the threads
        from ricordo.tui.curation.scope_screen import ScopeScreen

        styles, keymap = self._screen.styles_now(), self._screen.keymap
        screen = ScopeScreen(ways, engines, chosen, asker, styles, keymap)

        def curated(curation: Curation | None) -> None:
            # a cancelled screen has asked nobody: the earlier request can still be sent back to
            if curation is not None:
                self._run(partial(self._store, curation, asker.asked))

        self._screen.app.push_screen(screen, curated)

    def _send_back(self, rejected: Rejected) -> None:
        """Show what would be sent back about a change that the checks rejected, and send it."""
        from ricordo.tui.dialogs.question import QuestionScreen

        # only what a model or a program proposed can be sent back
        assert self._request is not None
        question = SendingBack(self._notebook, self._request, rejected)
        screen = QuestionScreen(question, self._screen.styles_now())
        self._screen.app.push_screen(screen, partial(self._store_answer, rejected))

    def _store_answer(self, rejected: Rejected, curation: Curation | None) -> None:
        if curation is not None:
            self._decisions.sends_back(rejected)
            # the other rejected changes can still be sent back, and skipped input stays listed
            rejected_now = (*self._decisions.rejected, *curation.rejected)
            merged = replace(
                curation, rejected=rejected_now, skipped=tuple(self._decisions.skipped)
            )
            self._run(partial(self._store, merged, self._request))

    async def _store(self, curation: Curation, request: RetryRequest | None) -> None:
        """Store the proposals of a curation as pending; `asked` is the request they answer."""
        from ricordo.services.curation.curation import begin
        from ricordo.services.curation.preparation import summed_up

        try:
            await asyncio.to_thread(begin, self._notebook, curation)
        except RicordoError as error:
            self._screen.app.notify(str(error), severity="error", markup=False, timeout=10)
            return
        self._request, self._decisions.rejected = request, curation.rejected
        self._decisions.skipped = summed_up(curation.skipped)
        await self._count()
        if self._review is not None:
            self._review.refresh_proposals()
        elif curation.proposals or curation.rejected or curation.skipped:
            self._open_review()
        for message in _describe_outcome(curation):
            self._screen.app.notify(message, markup=False, timeout=6)


def _describe_outcome(curation: Curation) -> Iterator[str]:
    from ricordo.curation.proposal import RULES
    from ricordo.services.engines.preview import answered, who

    run = curation.run
    if run.engine != RULES:
        yield f"{one_line(answered(run))}."
    if not curation.proposals:
        yield f"No changes proposed by {one_line(who(run))}."


def _find_scopes(notebook: Notebook, note: str) -> list[ScopeWay]:
    from ricordo.services.curation.preparation import CurationScope, recent_sessions, scope_of
    from ricordo.services.sessions.activity_text import day_in_words
    from ricordo.tui.curation.scope_screen import ScopeWay

    scopes = [ScopeWay(CurationScope(), "since last time", "messages that were not curated yet")]
    if note:
        scopes.append(ScopeWay(CurationScope(note=note), "this note", note))
    sessions = recent_sessions(notebook)
    if sessions:
        session = sessions[0]
        last_title = f"“{session.shown}”, {day_in_words(session.ended)}"
        scopes.append(ScopeWay(scope_of(session), "the last session", last_title))
    scopes.append(
        ScopeWay(CurationScope(everything=True), "everything", "all sessions from the first one")
    )
    return scopes


_ABOUT = (
    "This change is sent back once, with the reason why the checks rejected it, and the notes and "
    "messages that it names. The answer is checked like any other proposal, then pending."
)


class SendingBack:
    """One rejected change as a question to the model or program that proposed it."""

    title = "Sent back · a change that the checks rejected"

    def __init__(self, notebook: Notebook, request: RetryRequest, rejected: Rejected) -> None:
        """`asked` is the request of the curation that proposed it."""
        # its own notebook: it is used in a thread
        self._notebook = notebook.another()
        self._request = request
        self._rejected = rejected

    def look(self, step: Step) -> BeforeSendingBack:
        """Return what is sent and what it may cost."""
        from ricordo.services.curation.curation import look_before_sending_back

        return look_before_sending_back(self._notebook, self._request, self._rejected)

    def lines(self, before: BeforeSendingBack, width: int) -> list[StyledLine]:
        """Return what would be sent, as lines."""
        about = [StyledLine(row) for row in wrap([StyledSpan(_ABOUT, "dim")], width - 1)]
        heading = [BLANK, StyledLine((StyledSpan("this is sent", "heading"),)), BLANK]
        return [*about, *heading, *sent_lines(before.leaving.text, "== ", width)]

    def ask(self, before: BeforeSendingBack, step: Step) -> Curation:
        """Send the change back; return the proposals of the answer."""
        from ricordo.services.curation.curation import send_back

        return send_back(self._notebook, self._request, self._rejected, step)
