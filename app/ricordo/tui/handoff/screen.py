"""The draft of a handoff beside its facts: statements with their marks, to be dropped, reworded or
checked again. Only ctrl+s writes it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content

from ricordo.errors import RicordoError
from ricordo.handoff.document import handoff_targets, load_layout
from ricordo.services.handoff.handoff import RULES_ENGINE
from ricordo.settings.keymap import Keymap
from ricordo.text import clip, make_one_line
from ricordo.tui.actions.bindings import Handlers, moving_handlers
from ricordo.tui.base.action_screen import NotebookActions, UndoAction
from ricordo.tui.base.list_diff_screen import TwoPaneScreen
from ricordo.tui.context import ActionContext, ScreenId
from ricordo.tui.dialogs.form import Field, FormResult, FormScreen
from ricordo.tui.handoff.draft import (
    DraftDecisions,
    DraftedHandoff,
    DraftOptions,
    DraftStatement,
    FinishedHandoff,
    text_of,
)
from ricordo.tui.handoff.fact_rows import render_fact
from ricordo.tui.handoff.pipe_screen import PIPE_FIELD, PipeForm, PipeScreen, split_words
from ricordo.tui.handoff.rows import DraftRow, render_draft, render_statement
from ricordo.tui.handoff.session_rows import (
    render_budget,
    render_path,
    render_start_line,
    render_title,
)
from ricordo.tui.handoff.views import DraftView, FactList
from ricordo.tui.jobs import Answer, Jobs
from ricordo.tui.render.line import StyledLine, StyledSpan
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.text_view import AboutView
from ricordo.tui.workers import start_worker

if TYPE_CHECKING:
    from ricordo.agents.transcripts.session import Session
    from ricordo.curation.engine import Step
    from ricordo.settings.settings import EngineSettings
    from ricordo.tui.color_palette import Palette
    from ricordo.tui.handoff.drafter import Drafter


_TICK = 0.2
"""Seconds between two updates of the progress."""
_BUSY = "Still working; Esc cancels."
_NOT_YET = "There is no draft yet."
_NOT_FITTED = "The draft was not fitted to the budget: b changes it, ctrl+r tries again."
_LEAST, _MOST = 500, 200_000
"""Limits of a budget in tokens."""
_BUDGETS = ("2000", "4000", "8000", "16000")
_OF_DRAFT = ("write", "copy", "pipe", "pick-up")
_OF_FACTS = ("engine", "budget", "messages", "reread")
_NOTHING = (
    ("This session has nothing to hand off", "heading"),
    ("It has no messages, commands or files for a handoff.", "dim"),
)


class HandoffScreen(TwoPaneScreen):
    """One handoff, from its facts to the written file."""

    SCREEN_ID = ScreenId.HANDOFF
    _list: FactList
    CSS_PATH = "style.tcss"

    def __init__(
        self,
        sessions: Sequence[Session],
        ask: DraftOptions,
        drafter: Drafter,
        decisions: DraftDecisions,
        actions: NotebookActions,
        palette: Palette,
        keymap: Keymap,
    ) -> None:
        """`decisions` holds earlier decisions on statements."""
        super().__init__(palette, keymap, actions)
        self._sessions = sessions
        self.options = ask
        """The options of the requested handoff."""
        self._shown_ask = ask
        """The options of the handoff that is shown."""
        self._drafter = drafter
        self._decisions = decisions
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
        self._meter = Bar(palette, id="meter")
        self._where = Bar(palette, id="where")
        self._start = Bar(palette, id="start")
        self._list = FactList(palette, self._show_fact, id="facts")
        self._right = Vertical(id="right", classes="pane")
        self._draft = DraftView(palette, self._show_statement, self._render_draft, id="draft")
        self._pane = self._draft
        self._about = AboutView(palette, self._render_about, id="about")

    def compose(self) -> ComposeResult:
        yield self._title
        with Container(id="handoff"):
            yield self._list.add_class("pane")
            with self._right:
                yield self._draft
                yield self._about
        yield from (self._meter, self._where, self._start, self._keys)

    def on_mount(self) -> None:
        self._draft.focus()
        self.set_interval(_TICK, self.update_bars)
        self._draft.show_rows(0, (("reading the sessions …", "dim"),))
        self._gather("reading the sessions")

    def on_unmount(self) -> None:
        self._jobs.cancel()

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
                await self._jobs.follow(job, work, done)
            except RicordoError as error:
                self.options = self._shown_ask
                self._show_error(error)

        start_worker(self, run, group="handoff")

    def _show_error(self, error: RicordoError) -> None:
        """Show an error: as a toast, or in the place of a missing draft."""
        if self.finished is not None:
            self._report_error(error)
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
        super().update_bars()
        sessions = self.drafted.facts.sessions if self.drafted else self._sessions
        self._title.set_content(*render_title(sessions, self.options, self.finished))
        self._meter.set_content(*render_budget(self.finished, self.options.budget))
        job = self._jobs.now
        if job is not None:
            doing = StyledSpan(f" ○ {job.label}", "accent")
            self._where.set_content(
                (doing, StyledSpan(" · nothing is written, Esc cancels", "dim"))
            )
        else:
            self._where.set_content(render_path(self.finished, self.written))
        self._start.set_content(render_start_line(self.finished))
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
        refusals |= self._undo_refusals
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
        return {
            **super().handlers,
            **moving_handlers(self._list if self._is_among_facts else self._draft),
            "open": self.go_to_counterpart,
            "no": self.toggle_statement,
            "edit": lambda: self._begin(partial(self._edit, self._selected)),
            "for-whom": self.choose_next_agent,
            "messages": self.toggle_messages,
            "budget": self.ask_for_budget,
            "engine": lambda: start_worker(self, self._choose_engine, group="engine"),
            "write": lambda: self._begin(partial(self._write, self._made)),
            "copy": lambda: self.copy_text(self._made.output.text),
            "pick-up": lambda: self._begin(partial(self._pick_up, self._made)),
            "pipe": self.ask_for_command,
            "reread": self._reload,
        }

    # Moving

    def go_to_list(self) -> None:
        """Focus the facts."""
        # on a narrow screen they are shown only now
        self.add_class("-facts")
        self._list.focus()
        self.call_after_refresh(self._show_fact)

    def go_to_pane(self) -> None:
        """Focus the draft."""
        self._draft.focus()
        self.remove_class("-facts")
        self.call_after_refresh(self._show_statement)

    def go_to_counterpart(self) -> None:
        """Go from a statement to a fact on which it is based, or back."""
        if not self._is_among_facts:
            self.go_to_list()
            return
        id = self._list.fact_id
        numbers = (
            n for n, drafted in enumerate(self._drafted) if id and id in drafted.statement.fact_ids
        )
        at = next(numbers, -1)
        if at < 0:
            self.notify("No statement is based on this fact.", markup=False, timeout=3)
            return
        self.go_to_pane()
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
            self.go_to_pane()
        else:
            self.dismiss(None)

    # Statements

    @property
    def _selected(self) -> DraftStatement:
        assert self.statement is not None, "disabled without a statement under the cursor"
        return self.statement

    def toggle_statement(self) -> None:
        """Drop the statement, or include it again."""
        if self._decisions.toggle_dropped(self._selected.key):
            self.show_draft()
            self._draft.move(1)
        self.make_handoff()

    async def _edit(self, drafted: DraftStatement) -> None:
        """Reword the statement in the user's editor."""
        gathered = self.drafted
        assert gathered is not None, "a statement exists"

        async def use(saved: str) -> None:
            reworded = self._decisions.reword(drafted.key, " ".join(saved.split()))
            if reworded is not None:
                proved = await asyncio.to_thread(self._drafter.prove, gathered, reworded)
                self._decisions.set_reworded(drafted.key, proved)

        await self._actions.edit_text("statement.md", f"{text_of(drafted.statement)}\n", use)
        self.make_handoff()

    def _reload(self) -> None:
        """Check every statement again."""
        self.draft_again(self.options, "checking statements again")

    # Options: a change of one drafts at once

    def choose_next_agent(self) -> None:
        """Switch to the next target agent."""
        targets = handoff_targets()
        target = targets[(targets.index(self.options.target) + 1) % len(targets)]
        self.draft_again(replace(self.options, target=target))

    def toggle_messages(self) -> None:
        """Include every message of the user, or only the relevant ones."""
        with_messages = not self.options.with_messages
        included = "every message of yours" if with_messages else "the relevant messages"
        self.notify(f"With {included}.", markup=False, timeout=3)
        self.draft_again(replace(self.options, with_messages=with_messages))

    def ask_for_budget(self) -> None:
        """Ask for another budget."""
        field = Field("tokens", str(self.options.budget), "4000", _BUDGETS)
        form = FormScreen("Budget of the handoff", [field], self._palette, "set budget")
        self.app.push_screen(form, self._set_budget)

    def _set_budget(self, filled: FormResult | None) -> None:
        if filled is None or not filled.confirmed:
            return
        typed = filled.values["tokens"].replace(",", "").strip()
        if typed.isdecimal() and _LEAST <= int(typed) <= _MOST:
            self.draft_again(replace(self.options, budget=int(typed)))
        else:
            message = f"Not a budget: type a number of tokens from {_LEAST:,} to {_MOST:,}."
            self.notify(message, severity="warning", markup=False)

    async def _choose_engine(self) -> None:
        """Choose who drafts the handoff."""
        from ricordo.tui.handoff.engine_screen import EngineScreen

        assert self.drafted is not None, "disabled until there is a draft"
        engines, chosen = await asyncio.to_thread(self._drafter.list_engines)
        choice = EngineScreen(
            self.drafted.facts, engines, chosen, self._drafter, self._palette, self.keymap
        )
        self.app.push_screen(choice, self._set_engine)

    def _set_engine(self, chosen: EngineSettings | None) -> None:
        if chosen is not None:
            engine = None if chosen.use == RULES_ENGINE else chosen
            phase = "asking the engine" if engine else "drafting"
            self.draft_again(replace(self.options, engine=engine), phase)

    # Output

    @property
    def _made(self) -> FinishedHandoff:
        assert self.finished is not None, "disabled until there is a draft"
        return self.finished

    async def _write(self, made: FinishedHandoff) -> None:
        change_set = await asyncio.to_thread(self._drafter.plan_write, made)
        if await self._actions.write_approved(change_set):
            self._is_on_disk = True
            if made is self.finished:
                self.written = made.path
            self.update_bars()
            message = f"Written to {clip(made.path, 80)}. u undoes it."
            self.notify(message, markup=False, timeout=6)

    async def _turn(self, turn: UndoAction) -> None:
        if await turn():
            self._is_on_disk = False
            self.make_handoff()

    async def _pick_up(self, made: FinishedHandoff) -> None:
        """Propose to name the handoff in the next agent's instructions."""
        change_set = await asyncio.to_thread(self._drafter.plan_pickup, made)
        title = f"{made.handoff.header.target.shown}: read the handoff at every start"
        approved = await self._actions.propose(title, change_set)
        if approved is not None and await self._actions.write_approved(approved):
            self.notify("Written. u undoes it.", markup=False, timeout=5)

    def ask_for_command(self) -> None:
        """Ask for a command, and pipe the handoff to it."""
        form = PipeForm(self._drafter.last_command, self._palette)
        self.app.push_screen(form, partial(self._pipe, self._made.output.text))

    def _pipe(self, text: str, filled: FormResult | None) -> None:
        if filled is None:
            return
        self._drafter.last_command = line = filled.values[PIPE_FIELD]
        if filled.confirmed:
            run = self._drafter.run_command
            self.app.push_screen(PipeScreen(run, split_words(line), text, self._palette))
