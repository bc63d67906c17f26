"""Ask before anything is sent to a model or a program: show the engine, what would be sent, what
that may cost and what is redacted. A new program has to be allowed before it runs.
"""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Generic, Protocol, TypeVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from ricordo.curation.proposal import RULES
from ricordo.errors import RicordoError
from ricordo.llm.prices import load_prices
from ricordo.services.engines.choice import allow_program
from ricordo.settings.values import is_model
from ricordo.text import make_one_line
from ricordo.tui.actions.bindings import (
    Handlers,
    dialog_bindings,
    format_first_keys,
    moving_handlers,
)
from ricordo.tui.actions.dialogs import Dialog
from ricordo.tui.base.action_screen import HEIGHT_BREAKPOINTS, ActionScreen
from ricordo.tui.context import ActionContext, ScreenId
from ricordo.tui.dialogs.choose import Choice, ChooseScreen
from ricordo.tui.dialogs.form import ConfirmScreen, Field, FormResult, FormScreen
from ricordo.tui.jobs import Answer, Jobs
from ricordo.tui.render.bars import render_key_line, render_keys
from ricordo.tui.render.egress_lines import (
    Spans,
    describe_price,
    render_asked,
    render_egress_summary,
    render_incoming,
    render_problems,
)
from ricordo.tui.render.line import StyledLine, StyledSpan
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.row_list import RowList
from ricordo.tui.widgets.text_view import TextView
from ricordo.tui.workers import start_worker

if TYPE_CHECKING:
    from ricordo.curation.engine import Step
    from ricordo.curation.engines.external import Estimate
    from ricordo.llm.program import Program
    from ricordo.services.engines.preview import Egress
    from ricordo.services.workspace.environment import Environment
    from ricordo.settings.keymap import Keymap
    from ricordo.settings.settings import EngineSettings
    from ricordo.tui.color_palette import Palette

_TICK = 0.1
"""Seconds between two updates of the progress."""
_BUSY = "The engine is running; Esc cancels."
_MOVING = ("cursor-down", "cursor-up", "first", "last")
_BARS = ("engine", "cost", "left", "secrets", "about")
"""Lines above what is sent, from the first; one without content takes no room."""
_WHICH_MODEL = "Which model?"
_RUN = "run"
"""The word to type, as on the command line."""
_IS_KNOWN = "The switches at the end turn off its memory, hooks and tools."
_NOT_KNOWN = "Nothing is added to the command: turn off its memory, hooks and tools there."


class AskPreview(Protocol):
    """What is known before anything is sent."""

    @property
    def egress(self) -> Egress | None:
        """What is sent; None if nothing is."""

    @property
    def disabled_reason(self) -> str:
        """Why the engine cannot be asked, and what to do; "" if it can."""


Preview = TypeVar("Preview", bound=AskPreview)
Result = TypeVar("Result")
Reply = TypeVar("Reply", covariant=True)


class AskScreen(
    ModalScreen["Result | None"], ActionScreen["Result | None"], Generic[Preview, Result]
):
    """Shows what an engine would be sent, and asks; returns the result, None without one."""

    # absolute: Textual resolves a relative path beside the module of the subclass
    CSS_PATH = Path(__file__).with_name("overlay.tcss")
    VERTICAL_BREAKPOINTS = HEIGHT_BREAKPOINTS
    PREPARING: ClassVar[str] = "preparing the request"
    """The phase in which the preview is made."""
    NOT_READY: ClassVar[str] = "The request is still being prepared."
    """Why nothing can be sent in that phase."""

    def __init__(
        self,
        heading: str,
        environment: Environment,
        palette: Palette,
        keymap: Keymap,
        engine: EngineSettings | None = None,
        rows: int = 0,
        row: int = 0,
    ) -> None:
        """`engine` is chosen at first, None where another screen chooses it; of `rows` rows to
        choose from, `row` is chosen at first.
        """
        ActionScreen.__init__(self, palette, keymap)
        self._heading = heading
        self._environment = environment
        self.engine = engine
        """The chosen engine."""
        self._row_count, self.row = rows, row
        self._jobs = Jobs()
        self.preview: Preview | None = None
        """The preview; None while it is being made."""
        self.counted: Estimate | None = None
        """The cost estimate by the server's token count; None until it was counted."""
        self.failure = ""
        """Why the last attempt failed; "" if it did not."""
        self.finished: Result | None = None
        """The result, until the screen closes with it."""
        self.is_asking = False
        """Whether the engine is answering or counting."""
        self._is_paid = False
        """Whether that costs anything."""
        self._drawn: object = None
        self._list = RowList(palette, self._move_to_row, self._render_row, id="ways", one_row=0)
        self._text = TextView(palette, self._render_text, id="brief")
        self._bars = {name: Bar(palette, id=name, base="") for name in _BARS}
        self._state = Bar(palette, id="state")
        self._keys = Bar(palette, id="keys")

    # What differs from request to request

    @abstractmethod
    def load_preview(self, step: Step) -> Preview:
        """Return the preview; called in a thread. Raises RicordoError."""

    @abstractmethod
    def render_preview(self, before: Preview, width: int) -> list[StyledLine]:
        """Return the preview as lines, with everything that is sent."""

    @abstractmethod
    def describe_idle(self) -> str:
        """Return the line that is shown while no job is running."""

    @abstractmethod
    def send(self, before: Preview) -> None:
        """Send the request: the user has seen the preview."""

    def render_row(self, number: int, width: int) -> Spans:
        """Return a row to choose from."""
        return ()

    def choose_row(self, number: int) -> None:
        """Record that the cursor is on another row."""

    def render_bars(self) -> Mapping[str, tuple[Spans, ...]]:
        """Return what the lines `engine` and `about` show, each from left to right."""
        return {}

    def find_refusals(self, disabled_reason: str) -> Mapping[str, str]:
        """Return why the screen's own actions are disabled, by action id; `disabled_reason` is why
        the engine cannot be asked.
        """
        return {}

    # What is shown

    def compose(self) -> ComposeResult:
        with Vertical(id="overlay") as overlay:
            overlay.border_title = Content(self._heading)
            if self._row_count:
                yield self._list
            yield from self._bars.values()
            yield self._text
            yield self._state
        yield self._keys

    def on_mount(self) -> None:
        if self._row_count:
            self._list.styles.height = self._row_count
            self._list.show(self._row_count, self.row)
        (self._list if self._row_count else self._text).focus()
        self.set_interval(_TICK, self._tick)
        self.reload_preview()

    def on_unmount(self) -> None:
        self._jobs.cancel()

    def _render_row(self, number: int, width: int, in_one: bool) -> tuple[StyledLine, ...]:
        return (StyledLine(self.render_row(number, width)),)

    @property
    def egress(self) -> Egress | None:
        """What is sent; None if nothing is, or while the preview is being made."""
        return self.preview.egress if self.preview else None

    @property
    def _incoming(self) -> str:
        """Return the answer as far as it has arrived."""
        job = self._jobs.now
        return job.progress.text if job is not None and self.is_asking else ""

    def _render_text(self, width: int) -> list[StyledLine]:
        if self._incoming:
            return render_incoming(self._incoming, width)
        reason = self.preview.disabled_reason if self.preview else ""
        lines = render_problems(self.egress, self.failure, reason, width)
        return lines + (self.render_preview(self.preview, width) if self.preview else [])

    def update_bars(self) -> None:
        bars = dict(self.render_bars())
        # rows that are being looked up stay, so that nothing jumps
        may_send = self.engine is not None and self.engine.use != RULES
        if self.egress is not None or (self.preview is None and may_send):
            summary = render_egress_summary(self.egress, self.counted)
            bars |= {name: (spans,) for name, spans in summary.items()}
        for name, bar in self._bars.items():
            bar.display = name in bars
            bar.set_content(*bars.get(name, ((),)))
        if job := self._jobs.now:
            progress = StyledSpan(f" ○ {job.label}", "accent")
            self._state.set_content((progress, StyledSpan(" · nothing is written", "dim")))
        else:
            is_refused = bool(self.preview and self.preview.disabled_reason)
            why = " nothing can be sent: the reason is above"
            idle = why if is_refused else self.describe_idle()
            self._state.set_content((StyledSpan(idle, "dim"),))
        if self.is_asking:
            self._keys.set_content(render_keys([(format_first_keys(self.app, "leave"), "cancel")]))
        else:
            self._keys.set_content(*render_key_line(self.action_context, self.keymap))
        self._draw_text()

    def _tick(self) -> None:
        if self._jobs.now is not None:
            self.update_bars()

    def _draw_text(self) -> None:
        """Draw the preview or the incoming answer, if it changed."""
        shown = (self.preview, self.failure, self._incoming)
        if shown == self._drawn:
            return
        was_incoming = bool(self._drawn) and bool(self._incoming)
        self._drawn = shown
        self._text.on_resize()
        self._text.jump_to(self._text.line_count if was_incoming else 0)

    # Jobs

    def _move_to_row(self) -> None:
        """Preview the request of the row under the cursor; while the engine runs, stay on its
        row.
        """
        if self.is_asking:
            self._list.set_cursor(self.row)
        elif self._list.at != self.row:
            self.row = self._list.at
            self.choose_row(self.row)
            self.reload_preview()

    def reload_preview(self, failure: str = "") -> None:
        """Make the preview, and show `failure` above it."""
        self.preview, self.counted, self.failure = None, None, failure
        self._start_job(self.PREPARING, self.load_preview, self._show_preview)

    def _show_preview(self, before: Preview) -> None:
        self.preview = before

    def begin_asking(
        self,
        phase: str,
        work: Callable[[Step], Answer],
        done: Callable[[Answer], None],
        *,
        is_paid: bool,
    ) -> None:
        """Have the engine do `work` in a thread, then call `done` with its result."""
        self.is_asking, self._is_paid, self.failure = True, is_paid, ""
        self._start_job(phase, work, done)

    def _start_job(
        self, phase: str, work: Callable[[Step], Answer], done: Callable[[Answer], None]
    ) -> None:
        """Run `work` in a thread instead of the current job, then `done` with its result."""
        job = self._jobs.begin(phase)
        self.update_bars()

        def finish(result: Answer) -> None:
            self.is_asking = False
            done(result)
            self.update_bars()

        follow = partial(self._jobs.follow, job, work, finish)
        start_worker(self, partial(self._run_reporting, follow))

    def _report_error(self, error: RicordoError) -> None:
        reason = str(error)
        if self.is_asking:
            self.is_asking = False
            # the attempt has used up some of the budget
            self.reload_preview(reason)
        else:
            self.failure = reason
        self.update_bars()

    # Keys

    @property
    def action_context(self) -> ActionContext:
        reason = self.preview.disabled_reason if self.preview else self.NOT_READY
        refusals = {"open": reason, **self.find_refusals(reason)}
        if self.is_asking:
            rows = _MOVING if self._row_count else ()
            refusals = dict.fromkeys((*refusals, *rows), _BUSY)
        return ActionContext(screen_id=self.SCREEN_ID, disabled_reasons=refusals)

    @property
    def handlers(self) -> Handlers:
        return {
            **super().handlers,
            **moving_handlers(self._list if self._row_count else self._text),
            "open": self.start,
            "leave": self.cancel,
            "page-down": partial(self._text.move_page, 1),
            "page-up": partial(self._text.move_page, -1),
        }

    def on_row_list_opened(self) -> None:
        self.action_do("open")

    def start(self) -> None:
        """Send the request; a new program has to be allowed first."""
        assert self.preview is not None
        program = self.egress.program if self.egress else None
        if program is None:
            self.send(self.preview)
        else:
            lines = [make_one_line(program.line), _IS_KNOWN if program.is_known else _NOT_KNOWN]
            title = "Run this program for the first time?"
            screen = ConfirmScreen(title, lines, self.current_palette(), _RUN)
            self.app.push_screen(screen, partial(self._send_if, self.preview, program))

    def _send_if(self, before: Preview, program: Program, is_allowed: bool | None) -> None:
        if is_allowed:
            allow = partial(self._allow_and_send, before, program)
            start_worker(self, partial(self._run_reporting, allow))

    async def _allow_and_send(self, before: Preview, program: Program) -> None:
        await asyncio.to_thread(allow_program, self._environment, program)
        # nothing is sent twice: Enter may have been pressed again meanwhile
        if before is self.preview and not self.is_asking:
            self.send(before)

    def ask_for_model(self) -> None:
        """Choose the model: one with a known price, or any by its name."""
        assert self.engine is not None
        prices = load_prices(self._environment.config)[0].by_model
        names = dict.fromkeys((self.engine.model, *prices))
        ways = [Choice(name, name, describe_price(prices.get(name))) for name in names]
        ways.insert(1, Choice("", "another model", "by the name that its server knows"))
        self.app.push_screen(ChooseScreen(_WHICH_MODEL, ways, self._palette), self._take_model)

    def _take_model(self, name: str | None) -> None:
        if name:
            self._use_model(name)
        elif name is not None:
            fields = [Field("model", "", "its name")]
            form = FormScreen(_WHICH_MODEL, fields, self._palette, "choose")
            self.app.push_screen(form, self._take_named_model)

    def _take_named_model(self, filled: FormResult | None) -> None:
        if filled is None or not filled.confirmed:
            return
        name = filled.values["model"].strip()
        if is_model(name):
            self._use_model(name)
        else:
            self.app.notify("Not the name of a model.", severity="warning", markup=False)

    def _use_model(self, name: str) -> None:
        assert self.engine is not None
        self.engine = replace(self.engine, model=name)
        self._list.refresh()
        self.reload_preview()

    def finish(self, result: Result) -> None:
        """Close with `result`."""
        self.finished = result
        self.on_screen_resume()

    def on_screen_resume(self) -> None:
        """Close with the result, once no other screen is on top."""
        if self.finished is not None and self.is_active:
            result, self.finished = self.finished, None
            self.dismiss(result)

    def cancel(self) -> None:
        """Cancel the running job, else close the screen."""
        if not self.is_asking:
            self.dismiss(None)
            return
        self.is_asking = False
        self._jobs.cancel()
        cost = " The cost so far is in the ledger ($)." if self._is_paid else ""
        self.notify(f"Cancelled. Nothing was changed.{cost}", markup=False, timeout=4)
        self.reload_preview()


class EngineQuestion(Protocol[Preview, Reply]):
    """A question to the engine that was chosen last; its methods are called in threads, one at a
    time.
    """

    title: str

    def load_preview(self, step: Step) -> Preview:
        """Return the preview. Raises RicordoError."""

    def render_preview(self, before: Preview, width: int) -> list[StyledLine]:
        """Return the preview as lines, with everything that is sent."""

    def ask(self, before: Preview, step: Step) -> Reply:
        """Send the question and return its result. Raises RicordoError."""


class QuestionScreen(AskScreen[Preview, Result]):
    """Asks one question; returns its result, None if nothing was sent."""

    SCREEN_ID = ScreenId.QUESTION
    BINDINGS: ClassVar[list[BindingType]] = [
        *dialog_bindings(Dialog.QUESTION, {"close": "do('leave')"}),
    ]

    def __init__(
        self,
        question: EngineQuestion[Preview, Result],
        environment: Environment,
        palette: Palette,
        keymap: Keymap,
    ) -> None:
        """Preview `question` once the screen is mounted."""
        super().__init__(question.title, environment, palette, keymap)
        self._question = question

    def load_preview(self, step: Step) -> Preview:
        return self._question.load_preview(step)

    def render_preview(self, before: Preview, width: int) -> list[StyledLine]:
        return self._question.render_preview(before, width)

    def render_bars(self) -> Mapping[str, tuple[Spans, ...]]:
        return {"engine": (render_asked(self.egress.target),)} if self.egress else {}

    @property
    def action_context(self) -> ActionContext:
        asked = make_one_line(self.egress.target.author.model) if self.egress else ""
        return replace(super().action_context, asked=asked)

    def describe_idle(self) -> str:
        return " nothing is sent before Enter; the answer alone changes nothing"

    def send(self, before: Preview) -> None:
        self.begin_asking("asking", partial(self._question.ask, before), self.finish, is_paid=True)
