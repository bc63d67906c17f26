"""Curation: count the pending proposals, and open the screens that ask for and decide on them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from ricordo.errors import RicordoError, StateUnusable
from ricordo.services.workspace.notebook import Notebook, Snapshot
from ricordo.text import make_one_line
from ricordo.tui.base.action_screen import NotebookController, NotebookParts
from ricordo.tui.render.line import BLANK, StyledLine, StyledSpan
from ricordo.tui.workers import start_worker

if TYPE_CHECKING:
    from ricordo.curation.engine import Step
    from ricordo.curation.proposal import RejectedChange
    from ricordo.services.curation.curation import Curation, RetryPreview, RetryRequest
    from ricordo.settings.settings import EngineSettings
    from ricordo.tui.actions.bindings import Handlers
    from ricordo.tui.curation.decisions import CurationDecisions
    from ricordo.tui.curation.scope_screen import ScopeChoice
    from ricordo.tui.curation.screen import CurationScreen

_ASKED_EVERY = 2.0
"""Seconds between two checks whether another process has added proposals."""


def _count_pending(state: str, root: str, before: object) -> tuple[object, int | None]:
    """Return the stamp of the proposals for the memory at `root`, and how many are pending; None
    where the stamp is that of `before`, or the history is unreadable.
    """
    # here, in a thread: the first paint need not wait for what reads proposals
    from ricordo.services.curation.pending import get_curation_stamp, load_curation_state

    stamp = get_curation_stamp(state, root)
    if stamp == before:
        return stamp, None
    # an unreadable history is reported where it is written
    with suppress(StateUnusable):
        return stamp, len(load_curation_state(state, root).pending)
    return stamp, None


class CurationController(NotebookController):
    """Runs the curation of the memory that a screen shows."""

    def __init__(self, parts: NotebookParts, changed: Callable[[], None]) -> None:
        super().__init__(parts, changed)
        self._review: CurationScreen | None = None
        self._request: RetryRequest | None = None
        """The request behind the rejected proposals that the review shows; None for the rules."""
        self._stamp: object = None
        self.pending_count = 0
        """How many proposals are pending."""

    @cached_property
    def _decisions(self) -> CurationDecisions:
        from ricordo.tui.curation.decisions import CurationDecisions

        return CurationDecisions()

    async def follow_pending(self) -> None:
        """Keep the number of pending proposals up to date while the screen exists."""
        while True:
            await self._count()
            await asyncio.sleep(_ASKED_EVERY)

    async def _count(self) -> None:
        state, root = self._notebook.environment.state, self._notebook.place.root
        stamp, count = await asyncio.to_thread(_count_pending, state, root, self._stamp)
        if stamp == self._stamp:
            return
        self._stamp = stamp
        if count is not None:
            self.pending_count = count
        self._screen.call_later(self._on_changed)

    def update_snapshot(self, snapshot: Snapshot) -> None:
        """Update the review, if it is open, with a new snapshot."""
        if self._review is not None and snapshot.is_judged:
            self._review.update_snapshot(snapshot)

    def _run(self, work: Callable[[], Awaitable[None]]) -> None:
        start_worker(self._screen, work, group="curate")

    # Keys

    @property
    def handlers(self) -> Handlers:
        return {
            "curate": partial(self._run, self._open),
        }

    async def _open(self) -> None:
        """Open the review if proposals are pending or can be sent back, else ask for new ones."""
        await self._count()
        if self.pending_count or (self._request is not None and self._decisions.has_to_send_back):
            self._open_review()
        else:
            self.choose_scope()

    def _open_review(self) -> None:
        from ricordo.tui.curation.screen import CurationScreen

        screen = self._screen
        self._review = CurationScreen(
            self._notebook,
            screen.current_palette(),
            screen.keymap,
            self._actions,
            self._decisions,
            self.choose_scope,
            self._send_back,
            partial(self._run, self._count),
        )
        screen.app.push_screen(self._review, self._forget_review)

    def _forget_review(self, _: None) -> None:
        self._review = None

    # Asking for proposals

    def choose_scope(self) -> None:
        """Ask what to curate, and curate it."""
        self._run(self._choose_scope)

    async def _choose_scope(self) -> None:
        # its own notebook: the review may read the memory meanwhile
        notebook = self._notebook.copy()
        ways = await asyncio.to_thread(_find_scopes, notebook, self._reading.path)
        engines, chosen = await asyncio.to_thread(_list_engines, notebook)
        # its dependencies were loaded in the threads
        from ricordo.tui.curation.scope_screen import ScopeScreen

        styles, keymap = self._screen.current_palette(), self._screen.keymap
        screen = ScopeScreen(ways, engines, chosen, notebook, styles, keymap)

        def curated(curation: Curation | None) -> None:
            # a cancelled screen has asked nobody: the earlier request can still be sent back to
            if curation is not None:
                self._run(partial(self._store, curation, screen.last_request))

        self._screen.app.push_screen(screen, curated)

    def _send_back(self, rejected: RejectedChange) -> None:
        """Show what would be sent back about a change that the checks rejected, and send it."""
        from ricordo.tui.dialogs.ask_screen import QuestionScreen

        # only what a model or a program proposed can be sent back
        assert self._request is not None
        question = RetryQuestion(self._notebook, self._request, rejected)
        environment, palette = self._notebook.environment, self._screen.current_palette()
        screen = QuestionScreen(question, environment, palette, self._screen.keymap)
        self._screen.app.push_screen(screen, partial(self._store_answer, rejected))

    def _store_answer(self, rejected: RejectedChange, curation: Curation | None) -> None:
        if curation is not None:
            self._decisions.record_sent_back(rejected)
            # the other rejected changes can still be sent back, and skipped input stays listed
            rejected_now = (*self._decisions.rejected, *curation.rejected)
            merged = replace(
                curation, rejected=rejected_now, skipped=tuple(self._decisions.skipped)
            )
            self._run(partial(self._store, merged, self._request))

    async def _store(self, curation: Curation, request: RetryRequest | None) -> None:
        """Store the proposals of a curation as pending; `request` is what they answer."""
        from ricordo.services.curation.curation import save_curation
        from ricordo.services.curation.preparation import summarize_skipped

        try:
            await asyncio.to_thread(save_curation, self._notebook, curation)
        except RicordoError as error:
            self._screen.app.notify(str(error), severity="error", markup=False, timeout=10)
            return
        self._request, self._decisions.rejected = request, curation.rejected
        self._decisions.skipped = summarize_skipped(curation.skipped)
        await self._count()
        if self._review is not None:
            self._review.refresh_proposals()
        elif curation.proposals or curation.rejected or curation.skipped:
            self._open_review()
        for message in _describe_outcome(curation):
            self._screen.app.notify(message, markup=False, timeout=6)


def _describe_outcome(curation: Curation) -> Iterator[str]:
    from ricordo.curation.proposal import RULES
    from ricordo.services.engines.preview import format_answer, name_engine

    run = curation.run
    if run.engine != RULES:
        yield f"{make_one_line(format_answer(run))}."
    if not curation.proposals:
        yield f"No changes proposed by {make_one_line(name_engine(run))}."


def _list_engines(notebook: Notebook) -> tuple[Sequence[EngineSettings], EngineSettings]:
    """Return the engines to choose from, and the last chosen one."""
    from ricordo.services.engines.choice import list_engines, load_chosen_engine

    return list_engines(notebook), load_chosen_engine(notebook)


def _find_scopes(notebook: Notebook, note: str) -> list[ScopeChoice]:
    from ricordo.services.curation.preparation import CurationScope, get_scope, list_recent_sessions
    from ricordo.services.sessions.activity_text import format_day
    from ricordo.tui.curation.scope_screen import ScopeChoice

    scopes = [ScopeChoice(CurationScope(), "since last time", "messages that were not curated yet")]
    if note:
        scopes.append(ScopeChoice(CurationScope(note=note), "this note", note))
    scopes.append(
        ScopeChoice(CurationScope(everything=True), "everything", "all sessions from the first one")
    )
    scopes.append(
        ScopeChoice(
            CurationScope(is_check=True),
            "check all notes",
            "against the project and each other, by a model or program",
        )
    )
    if note:
        checked = CurationScope(note=note, is_check=True)
        scopes.append(ScopeChoice(checked, "check this note", note))
    # the last one, for sessions are read in the background: no other scope changes its number
    sessions = list_recent_sessions(notebook)
    if sessions:
        session = sessions[0]
        last_title = f"“{session.shown}”, {format_day(session.ended)}"
        scopes.append(ScopeChoice(get_scope(session), "the last session", last_title))
    return scopes


_ABOUT = (
    "This change is sent back once, with the reason why the checks rejected it, and the notes and "
    "messages that it names. The answer is checked like any other proposal, then pending."
)


class RetryQuestion:
    """One rejected change as a question to the model or program that proposed it."""

    title = "Sent back · a change that the checks rejected"

    def __init__(self, notebook: Notebook, request: RetryRequest, rejected: RejectedChange) -> None:
        """`request` is that of the curation that proposed it."""
        # its own notebook: it is used in a thread
        self._notebook = notebook.copy()
        self._request = request
        self._rejected = rejected

    def load_preview(self, step: Step) -> RetryPreview:
        from ricordo.services.curation.curation import preview_retry

        return preview_retry(self._notebook, self._request, self._rejected)

    def render_preview(self, before: RetryPreview, width: int) -> list[StyledLine]:
        heading = [BLANK, StyledLine((StyledSpan("this is sent", "heading"),)), BLANK]
        from ricordo.tui.render.egress_lines import render_about, render_sent

        return [*render_about(_ABOUT, width), *heading, *render_sent(before.egress.text, width)]

    def ask(self, before: RetryPreview, step: Step) -> Curation:
        """Send the change back; return the proposals of the answer."""
        from ricordo.services.curation.curation import send_back

        return send_back(self._notebook, self._request, self._rejected, step)
