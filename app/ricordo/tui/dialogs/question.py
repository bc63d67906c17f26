"""Ask a model or a program one question. What would be sent and what that may cost is shown before
it is sent.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import ClassVar, Generic, Protocol, TypeVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from ricordo.curation.engine import Step
from ricordo.services.engines.preview import Egress
from ricordo.text import make_one_line
from ricordo.tui.actions.bindings import dialog_bindings, format_first_keys
from ricordo.tui.actions.dialogs import Dialog
from ricordo.tui.base.action_screen import HEIGHT_BREAKPOINTS
from ricordo.tui.color_palette import Palette
from ricordo.tui.jobs import Answer, Jobs
from ricordo.tui.render.bars import render_keys
from ricordo.tui.render.egress_lines import render_asked, render_egress_summary
from ricordo.tui.render.line import BLANK, StyledLine, StyledSpan, wrap
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.text_view import TextView

_TICK = 0.1
"""Seconds between two updates of the progress."""
_IDLE = " nothing is sent before Enter; the answer alone changes nothing"


class QuestionPreview(Protocol):
    """What is known before the question is sent."""

    @property
    def egress(self) -> Egress | None:
        """What is sent; None if nothing is."""

    @property
    def disabled_reason(self) -> str:
        """Why the question cannot be sent; "" if it can."""


Preview = TypeVar("Preview", bound=QuestionPreview)
Result = TypeVar("Result", covariant=True)


class EngineQuestion(Protocol[Preview, Result]):
    """A question; its methods are called in threads, one at a time."""

    title: str

    def load_preview(self, step: Step) -> Preview:
        """Return the preview. Raises RicordoError."""

    def render_preview(self, before: Preview, width: int) -> list[StyledLine]:
        """Return the preview as lines, with everything that is sent."""

    def ask(self, before: Preview, step: Step) -> Result:
        """Send the question and return its result. Raises RicordoError."""


class QuestionScreen(ModalScreen["Result | None"], Generic[Preview, Result]):
    """Shows a question and sends it; returns its result, None if nothing was sent."""

    # absolute: Textual resolves a relative path beside the module of the subclass
    CSS_PATH = Path(__file__).with_name("overlay.tcss")
    VERTICAL_BREAKPOINTS = HEIGHT_BREAKPOINTS
    BINDINGS: ClassVar[list[BindingType]] = dialog_bindings(
        Dialog.QUESTION,
        {
            "open": "ask",
            "leave": "leave",
            "close": "leave",
        },
    )

    def __init__(self, question: EngineQuestion[Preview, Result], palette: Palette) -> None:
        """Preview `question` once the screen is mounted."""
        super().__init__()
        self._question = question
        self._jobs = Jobs()
        self.preview: Preview | None = None
        """The preview; None while it is being made."""
        self.failure = ""
        """Why the last attempt failed; "" if it did not."""
        self._is_asking = False
        self._text = TextView(palette, self._render_text, id="brief")
        names = ("engine", "cost", "left", "secrets")
        self._bars = {name: Bar(palette, id=name, base="") for name in names}
        self._state = Bar(palette, id="state")
        self._keys = Bar(palette, id="keys")

    def compose(self) -> ComposeResult:
        """Lay out cost and secrets, the text, the progress and the keys."""
        with Vertical(id="overlay") as overlay:
            overlay.border_title = Content(self._question.title)
            yield from self._bars.values()
            yield self._text
            yield self._state
            yield self._keys

    def on_mount(self) -> None:
        """Begin to make the preview."""
        self._text.focus()
        self.set_interval(_TICK, self._update_bars)
        self._load_preview()

    def on_unmount(self) -> None:
        """Cancel the job of a closed screen."""
        self._jobs.cancel()

    # What is shown

    def _render_text(self, width: int) -> list[StyledLine]:
        warnings = [StyledSpan(f"✗ {make_one_line(self.failure)}", "error")] if self.failure else []
        warnings += [
            StyledSpan(f"! {make_one_line(warning)}", "warning")
            for warning in self._warnings
            if warning
        ]
        lines = [
            StyledLine(row)
            for warning in warnings
            for row in wrap([warning], width - 1, (), (StyledSpan("  "),))
        ]
        lines += [BLANK] if lines else []
        return lines + (self._question.render_preview(self.preview, width) if self.preview else [])

    @property
    def _warnings(self) -> tuple[str, ...]:
        """Return the warnings about the question."""
        if self.preview is None:
            return ()
        egress = self.preview.egress
        return self.preview.disabled_reason, egress.target.warning if egress else ""

    def _update_bars(self) -> None:
        job, egress = self._jobs.now, self.preview.egress if self.preview else None
        for bar in self._bars.values():
            bar.display = egress is not None
        if egress is not None:
            self._bars["engine"].set_content(render_asked(egress.target))
            for name, spans in render_egress_summary(egress).items():
                self._bars[name].set_content(spans)
        doing = StyledSpan(f" ○ {job.label}", "accent") if job else StyledSpan(_IDLE, "dim")
        self._state.set_content((doing,))
        can_ask = (
            self.preview is not None and not self.preview.disabled_reason and not self._is_asking
        )
        ask_key = (
            [(format_first_keys(self.app, "open"), f"ask {make_one_line(self._model)}")]
            if can_ask
            else []
        )
        leave = format_first_keys(self.app, "leave"), "cancel" if self._is_asking else "back"
        self._keys.set_content(render_keys([*ask_key, leave]))

    @property
    def _model(self) -> str:
        egress = self.preview.egress if self.preview else None
        return egress.target.author.model if egress else ""

    # Jobs

    def _load_preview(self) -> None:
        self.preview = None
        self._start_job("preparing the request", self._question.load_preview, self._show_preview)

    def _show_preview(self, before: Preview) -> None:
        self.preview = before
        self._text.on_resize()

    def _start_job(
        self, phase: str, work: Callable[[Step], Answer], done: Callable[[Answer], object]
    ) -> None:
        job = self._jobs.begin(phase)
        self._update_bars()

        def finish(result: Answer) -> None:
            self._is_asking = False
            done(result)
            self._update_bars()

        self.run_worker(self._jobs.follow(job, work, finish, self._show_failure))

    def _show_failure(self, reason: str) -> None:
        self.failure = reason
        if self._is_asking:
            self._is_asking = False
            # the attempt has used up some of the budget
            self._load_preview()
        self._text.on_resize()
        self._update_bars()

    # Keys

    def action_ask(self) -> None:
        """Send the question, or show why it cannot be sent."""
        before = self.preview
        if before is None or self._is_asking:
            return
        if before.disabled_reason:
            self.notify(before.disabled_reason, markup=False, timeout=4)
            return
        self._is_asking, self.failure = True, ""
        self._start_job("asking", partial(self._question.ask, before), self.dismiss)

    def action_leave(self) -> None:
        """Cancel the running job, else close the screen."""
        if not self._is_asking:
            self.dismiss(None)
            return
        self._is_asking = False
        self._jobs.cancel()
        self.notify("Cancelled. Nothing was changed.", markup=False, timeout=4)
        self._load_preview()
