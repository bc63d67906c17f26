"""The draft of a handoff beside its facts: statements with their marks, to be dropped, reworded or
checked again. Only ctrl+s writes it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.content import Content

from ricordo.errors import RicordoError
from ricordo.handoff.document import load_layout
from ricordo.settings.keymap import Keymap
from ricordo.text import clip, make_one_line
from ricordo.tui.actions.bindings import Handlers, moving_handlers
from ricordo.tui.base.action_screen import make_bindings
from ricordo.tui.base.list_diff_screen import SIDE_BY_SIDE_WIDTH
from ricordo.tui.context import ActionContext, ScreenId, needs_redo, needs_undo
from ricordo.tui.handoff.draft import DraftDecisions, DraftStatement, text_of
from ricordo.tui.handoff.fact_rows import render_fact
from ricordo.tui.handoff.options import DraftScreen, OptionHandlers
from ricordo.tui.handoff.output import HandoffActions, OutputHandlers
from ricordo.tui.handoff.rows import DraftRow, render_draft, render_statement
from ricordo.tui.handoff.session_rows import (
    render_budget,
    render_path,
    render_start_line,
    render_title,
)
from ricordo.tui.handoff.values import DraftedHandoff, DraftOptions, FinishedHandoff, PipeState
from ricordo.tui.handoff.views import DraftView, FactList
from ricordo.tui.jobs import Answer, Jobs
from ricordo.tui.render.bars import render_key_line
from ricordo.tui.render.line import StyledLine, StyledSpan
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.text_view import AboutView

if TYPE_CHECKING:
    from ricordo.agents.transcripts.session import Session
    from ricordo.curation.engine import Step
    from ricordo.tui.color_palette import Palette
    from ricordo.tui.handoff.drafter import Drafter


class StatementHandlers:
    """Handles the keys that decide on the statement under the cursor."""

    def __init__(
        self,
        screen: HandoffScreen,
        drafter: Drafter,
        drafting: DraftDecisions,
        actions: HandoffActions,
        begin: Callable[[Callable[[], Awaitable[None]]], None],
    ) -> None:
        """`drafting` holds the decisions; `begin` runs work after the work begun before."""
        self._screen = screen
        self._drafter = drafter
        self._decisions = drafting
        self._actions = actions
        self._start_job = begin

    @property
    def _statement(self) -> DraftStatement:
        statement = self._screen.statement
        assert statement is not None, "disabled without a statement under the cursor"
        return statement

    @property
    def handlers(self) -> Handlers:
        """Return the handlers of the keys by action id."""
        return {
            "no": self.toggle_statement,
            "edit": self.edit_statement,
        }

    def toggle_statement(self) -> None:
        """Drop the statement, or include it again."""
        if self._decisions.toggle_dropped(self._statement.key):
            self._screen.show_draft()
            self._screen.select_next()
        self._screen.make_handoff()

    def edit_statement(self) -> None:
        """Reword the statement in the user's editor."""
        self._start_job(partial(self._edit, self._statement))

    async def _edit(self, drafted: DraftStatement) -> None:
        gathered = self._screen.drafted
        assert gathered is not None, "a statement exists"

        async def use(saved: str) -> None:
            reworded = self._decisions.reword(drafted.key, " ".join(saved.split()))
            if reworded is not None:
                proved = await asyncio.to_thread(self._drafter.prove, gathered, reworded)
                self._decisions.set_reworded(drafted.key, proved)

        await self._actions.edit_text("statement.md", f"{text_of(drafted.statement)}\n", use)
        self._screen.make_handoff()


_TICK = 0.2
"""Seconds between two updates of the progress."""
_BUSY = "Still working; Esc cancels."
_NOT_YET = "There is no draft yet."
_NOT_FITTED = "The draft was not fitted to the budget: b changes it, ctrl+r tries again."
_OF_DRAFT = ("write", "copy", "pipe", "pick-up")
_OF_FACTS = ("engine", "budget", "messages", "reread")
_NOTHING = (
    ("This session has nothing to hand off", "heading"),
    ("It has no messages, commands or files for a handoff.", "dim"),
)


class HandoffScreen(DraftScreen):
    """One handoff, from its facts to the written file."""

    SCREEN_ID = ScreenId.HANDOFF
    CSS_PATH = "style.tcss"
    BINDINGS: ClassVar[list[BindingType]] = make_bindings(SCREEN_ID)

    def __init__(
        self,
        sessions: Sequence[Session],
        ask: DraftOptions,
        drafter: Drafter,
        decisions: DraftDecisions,
        actions: HandoffActions,
        shared: PipeState,
        palette: Palette,
        keymap: Keymap,
    ) -> None:
        """`drafting` holds earlier decisions on statements; `shared` outlives this screen."""
        super().__init__(palette, keymap)
        self._sessions = sessions
        self.options = ask
        """The options of the requested handoff."""
        self._shown_ask = ask
        """The options of the handoff that is shown."""
        self._drafter = drafter
        self._decisions = decisions
        self._actions = actions
        self._jobs = Jobs()
        self.drafted: DraftedHandoff | None = None
        """Facts and statements; None until they are read."""
        self.finished: FinishedHandoff | None = None
        """The handoff as it would be written; None until it is made."""
        self._is_outdated = False
        """Whether `made` does not have the latest decisions."""
        self._drafted: Sequence[DraftStatement] = ()
        self.written = ""
        """Path to which the shown handoff was written; "" if it was not."""
        self._is_on_disk = False
        """Whether this screen wrote a handoff that was not undone."""
        self._failure = ""
        self._options_keys = OptionHandlers(self, drafter)
        self._output_keys = OutputHandlers(self, drafter, actions, shared)
        self._statement_keys = StatementHandlers(
            self, drafter, decisions, actions, self._output_keys.begin
        )
        names = ("title", "meter", "where", "start", "keys")
        self._bars = {name: Bar(palette, id=name) for name in names}
        self._list = FactList(palette, self._show_fact, id="facts")
        self._right = Vertical(id="right", classes="pane")
        self._draft = DraftView(palette, self._show_statement, self._render_draft, id="draft")
        self._about = AboutView(palette, self._render_about, id="about")

    def compose(self) -> ComposeResult:
        """Lay out the title, the facts beside the draft, budget, path, start line and keys."""
        yield self._bars["title"]
        with Container(id="handoff"):
            yield self._list.add_class("pane")
            with self._right:
                yield self._draft
                yield self._about
        for name in ("meter", "where", "start", "keys"):
            yield self._bars[name]

    def on_mount(self) -> None:
        """Begin to read the sessions."""
        self._draft.focus()
        self.set_interval(_TICK, self.update_bars)
        self._draft.show_rows(0, (("reading the sessions …", "dim"),))
        self._gather("reading the sessions")

    def on_unmount(self) -> None:
        """Cancel the job of a closed screen."""
        self._jobs.cancel()

    def on_resize(self) -> None:
        """Put the facts beside the draft if there is room, else above it."""
        self.set_class(self.size.width >= SIDE_BY_SIDE_WIDTH, "-wide")

    # Jobs in threads

    def _start_job(
        self, phase: str, work: Callable[[Step], Answer], done: Callable[[Answer], None]
    ) -> None:
        """Run `work` in a thread instead of the current job, then `done` with its result."""
        job = self._jobs.begin(phase)
        self._failure = ""
        self.update_bars()

        async def run() -> None:
            try:
                result = await self._jobs.run(job, work)
            except RicordoError as error:
                self.options = self._shown_ask
                self._show_error(error)
                return
            if result is not None:
                done(result)

        self.run_worker(run(), group="handoff")

    def _show_error(self, error: RicordoError) -> None:
        """Show an error: as a toast, or in the place of a missing draft."""
        if self.finished is not None:
            self.notify(str(error), severity="error", markup=False, timeout=10)
        else:
            self._failure = str(error)
        self.show_draft()

    def _gather(self, phase: str) -> None:
        gather = partial(self._drafter.draft_sessions, self._sessions, self.options)
        self._start_job(phase, gather, self._take_result)

    def _take_result(self, gathered: DraftedHandoff) -> None:
        if gathered.cost:
            self.notify(make_one_line(gathered.cost), markup=False, timeout=8)
        for remark in gathered.draft.warnings:
            self.notify(make_one_line(remark), severity="warning", markup=False, timeout=10)
        # an engine that gave no answer is not asked again automatically
        self.options = self._shown_ask = replace(self.options, engine=gathered.engine)
        self._store(gathered)

    def _store(self, gathered: DraftedHandoff) -> None:
        """Store facts and statements, and make the handoff."""
        self.drafted = gathered
        self._decisions.set_statements(gathered.statements)
        self._list.show_facts(gathered.fact_table)
        self.make_handoff()

    def draft_again(self, ask: DraftOptions, phase: str = "drafting") -> None:
        """Draft again from the same facts with other options."""
        assert self.drafted is not None, "disabled until there is a draft"
        self.options = ask
        again = partial(self._drafter.draft_again, self.drafted, ask)
        self._start_job(phase, again, self._take_result)

    def make_handoff(self) -> None:
        """Make the handoff from the statements that are not dropped."""
        if self.drafted is None:
            return
        make = partial(self._drafter.make, self.drafted, self._decisions.wanted)
        self.written, self._is_outdated = "", True
        self._start_job("fitting it to the budget", lambda step: make(), self._show_made)

    def _show_made(self, made: FinishedHandoff) -> None:
        self.finished, self._is_outdated = made, False
        self.show_draft()

    def record_written(self, finished: FinishedHandoff) -> None:
        """Record that a handoff was written."""
        self._is_on_disk = True
        if finished is self.finished:
            self.written = finished.path
        self.update_bars()

    def record_undo(self) -> None:
        """Record that the last change was undone or redone."""
        self._is_on_disk = False
        self.make_handoff()

    def show_draft(self) -> None:
        """Draw the draft again, with the cursor on the same statement."""
        selected, at = self.statement, self._draft.statement_number
        if self.drafted is not None:
            written = self.finished.handoff.statements if self.finished else ()
            self._drafted = self._decisions.list_statements(
                load_layout(self.options.target).order, written
            )
        keys = [drafted.key for drafted in self._drafted]
        at = (
            keys.index(selected.key)
            if selected is not None and selected.key in keys
            else max(at, 0)
        )
        self._draft.show_rows(at, [(self._failure, "error")] if self._failure else _NOTHING)
        self._show_statement()

    # What is shown

    @property
    def statement(self) -> DraftStatement | None:
        """Return the statement under the cursor; None without one."""
        at = self._draft.statement_number
        return self._drafted[at] if 0 <= at < len(self._drafted) else None

    @property
    def _is_among_facts(self) -> bool:
        return self._list.has_focus

    def _render_draft(self, width: int) -> Sequence[DraftRow]:
        return render_draft(
            self._drafted, load_layout(self.options.target).headings, self.options.budget, width
        )

    def _render_about(self, width: int) -> list[StyledLine]:
        if self._is_among_facts:
            return render_fact(self._list.fact, width) if self._list.fact is not None else []
        if self.statement is None:
            return []
        sessions = len(self.drafted.facts.sessions) if self.drafted else 1
        return render_statement(self.statement, self._list.by_id, sessions, width)

    def _show_statement(self) -> None:
        """Show the facts on which the statement under the cursor is based."""
        if self.statement is not None and not self._is_among_facts:
            self._list.mark_facts(self.statement.statement.fact_ids)
        self._about.redraw()
        self.update_bars()

    def _show_fact(self) -> None:
        self._about.redraw()
        self.update_bars()

    def update_bars(self) -> None:
        """Update the title, the budget, the path, the start line and the keys."""
        bars = self._bars
        sessions = self.drafted.facts.sessions if self.drafted else self._sessions
        bars["title"].set_content(*render_title(sessions, self.options, self.finished))
        bars["meter"].set_content(*render_budget(self.finished, self.options.budget))
        job = self._jobs.now
        if job is not None:
            doing = StyledSpan(f" ○ {job.label}", "accent")
            bars["where"].set_content(
                (doing, StyledSpan(" · nothing is written, Esc cancels", "dim"))
            )
        else:
            bars["where"].set_content(render_path(self.finished, self.written))
        bars["start"].set_content(render_start_line(self.finished))
        bars["keys"].set_content(*render_key_line(self.action_context, self.keymap))
        self._list.border_title = Content(f"Facts · {len(self._list.by_id):,} · by turn")
        name = clip(os.path.basename(self.finished.path), 60) if self.finished else "…"
        self._right.border_title = Content(f"Draft · {name}")

    # What can be done

    @property
    def _is_asking(self) -> bool:
        """Return whether an engine is drafting."""
        job = self._jobs.now
        return job is not None and self.options.engine != self._shown_ask.engine

    @property
    def action_context(self) -> ActionContext:
        """Return the state of the keys, with the reasons for disabled ones."""
        not_read = "" if self.drafted else _NOT_YET
        not_made = "" if self.finished and not self._is_outdated else not_read or _NOT_FITTED
        working = _BUSY if self._jobs.now is not None else ""
        busy = working or not_made
        refusals = dict.fromkeys(_OF_DRAFT, busy)
        refusals |= dict.fromkeys(_OF_FACTS, working or not_read)
        # one after the other, quickly: the last one counts
        refusals["for-whom"] = not_read or (_BUSY if self._is_asking else "")
        if self.options.engine is not None and not busy:
            refusals["messages"] = "The engine chose the messages; draft by rules (M) for all."
        none_selected = "" if self.statement else "No statement is selected."
        refusals["no"] = refusals["edit"] = refusals["for-whom"] or none_selected
        known = ActionContext(undo=self._actions.can_undo, redo=self._actions.can_redo)
        refusals["undo"], refusals["redo"] = needs_undo(known), needs_redo(known)
        is_there = self._is_on_disk or (self.finished is not None and self.finished.exists)
        if not busy and not is_there:
            refusals["pick-up"] = "The handoff is not written yet; ctrl+s writes it."
        if not busy and self.finished and not self.finished.handoff.statements:
            refusals["write"] = "Every statement is dropped; d includes one again."
        if self.written and not busy:
            refusals["write"] = "Already written as shown; u undoes it."
        return replace(super().action_context, disabled_reasons=refusals)

    @property
    def handlers(self) -> Handlers:
        """Return the handlers of the keys by action id."""
        return {
            **super().handlers,
            **moving_handlers(self._list if self._is_among_facts else self._draft),
            **self._statement_keys.handlers,
            **self._options_keys.handlers,
            **self._output_keys.handlers,
            "index": self.go_to_facts,
            "note": self.go_to_draft,
            "next-pane": self.go_to_other_pane,
            "open": self.go_to_counterpart,
            "leave": self.go_back,
            "reread": self.check_again,
            "next": self.go_to_draft,
            "previous": self.go_to_facts,
            "previous-pane": self.go_to_other_pane,
        }

    # Moving

    def go_to_facts(self) -> None:
        """Focus the facts."""
        # on a narrow screen they are shown only now
        self.add_class("-facts")
        self._list.focus()
        self.call_after_refresh(self._show_fact)

    def go_to_draft(self) -> None:
        """Focus the draft."""
        self._draft.focus()
        self.remove_class("-facts")
        self.call_after_refresh(self._show_statement)

    def select_next(self) -> None:
        """Move to the next statement."""
        self._draft.move(1)

    def go_to_other_pane(self) -> None:
        """Focus the other pane."""
        if self._is_among_facts:
            self.go_to_draft()
        else:
            self.go_to_facts()

    def go_to_counterpart(self) -> None:
        """Go from a statement to a fact on which it is based, or back."""
        if not self._is_among_facts:
            self.go_to_facts()
            return
        id = self._list.fact_id
        numbers = (
            n for n, drafted in enumerate(self._drafted) if id and id in drafted.statement.fact_ids
        )
        at = next(numbers, -1)
        if at < 0:
            self.notify("No statement is based on this fact.", markup=False, timeout=3)
            return
        self.go_to_draft()
        self._draft.go_to(at)

    def go_back(self) -> None:
        """Cancel the running job; else go from the facts to the draft; else close."""
        if self._jobs.now is not None:
            self._jobs.cancel()
            self.options = self._shown_ask
            self.notify("Cancelled. Nothing was changed.", markup=False, timeout=4)
            if self.finished is None:
                self.dismiss(None)
            self.update_bars()
        elif self._is_among_facts:
            self.go_to_draft()
        else:
            self.dismiss(None)

    # Statements

    def check_again(self) -> None:
        """Check every statement again."""
        self.draft_again(self.options, "checking statements again")
