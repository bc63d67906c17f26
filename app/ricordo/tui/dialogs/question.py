"""Something that a model or a program is asked on request: what would leave, what that may cost and
all that is sent are there to be read before it is.
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
from ricordo.text import one_line
from ricordo.tui.actions.bindings import dialog_bindings, first_keys
from ricordo.tui.actions.dialogs import Dialog
from ricordo.tui.base.acting_screen import LOW
from ricordo.tui.color_palette import Palette
from ricordo.tui.jobs import Answer, Jobs
from ricordo.tui.render.bars import key_spans
from ricordo.tui.render.egress_lines import asked_spans, leaving_spans
from ricordo.tui.render.line import BLANK, StyledLine, StyledSpan, wrap
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.text_view import TextView

_TICK = 0.1
"""Seconds after which it is told anew how far something is."""
_WAITS = " nothing was sent yet; what comes back changes nothing by itself"


class QuestionPreview(Protocol):
    """What is known before it is asked."""

    @property
    def leaving(self) -> Egress | None:
        """What leaves; None where nothing does."""

    @property
    def why_not(self) -> str:
        """Why it cannot be asked; "" where it can."""


Before = TypeVar("Before", bound=QuestionPreview)
Result = TypeVar("Result", covariant=True)


class ScreenQuestion(Protocol[Before, Result]):
    """What is asked; called in threads, one call at a time."""

    title: str

    def look(self, step: Step) -> Before:
        """Return what is known before. Raises RicordoError."""

    def lines(self, before: Before, width: int) -> list[StyledLine]:
        """Return what is to be read before: all that is sent among it."""

    def ask(self, before: Before, step: Step) -> Result:
        """Ask. Raises RicordoError."""


class QuestionScreen(ModalScreen["Result | None"], Generic[Before, Result]):
    """Ends with what came of it, or with None: then nothing has happened."""

    # a path for itself: Textual looks for other ones beside the module of the subclass
    CSS_PATH = Path(__file__).with_name("overlay.tcss")
    VERTICAL_BREAKPOINTS = LOW
    BINDINGS: ClassVar[list[BindingType]] = dialog_bindings(
        Dialog.QUESTION,
        {
            "open": "ask",
            "leave": "leave",
            "close": "leave",
        },
    )

    def __init__(self, question: ScreenQuestion[Before, Result], palette: Palette) -> None:
        """Nothing is looked at yet."""
        super().__init__()
        self._question = question
        self._jobs = Jobs()
        self.before: Before | None = None
        """What is known before, once it is."""
        self.failure = ""
        """Why the last attempt failed."""
        self._is_asking = False
        self._text = TextView(palette, self._lines, id="brief")
        names = ("engine", "cost", "left", "secrets")
        self._bars = {name: Bar(palette, id=name, base="") for name in names}
        self._state = Bar(palette, id="state")
        self._keys = Bar(palette, id="keys")

    def compose(self) -> ComposeResult:
        """What leaves, what is to be read, what goes on, the keys."""
        with Vertical(id="overlay") as overlay:
            overlay.border_title = Content(self._question.title)
            yield from self._bars.values()
            yield self._text
            yield self._state
            yield self._keys

    def on_mount(self) -> None:
        """Find out what is to be known."""
        self._text.focus()
        self.set_interval(_TICK, self._say)
        self._look()

    def on_unmount(self) -> None:
        """Let nothing go on for a screen that is gone."""
        self._jobs.cancel()

    # What is shown

    def _lines(self, width: int) -> list[StyledLine]:
        told = [StyledSpan(f"✗ {one_line(self.failure)}", "error")] if self.failure else []
        told += [StyledSpan(f"! {one_line(it)}", "warning") for it in self._remarks if it]
        lines = [
            StyledLine(row) for it in told for row in wrap([it], width - 1, (), (StyledSpan("  "),))
        ]
        lines += [BLANK] if lines else []
        return lines + (self._question.lines(self.before, width) if self.before else [])

    @property
    def _remarks(self) -> tuple[str, ...]:
        """What to know before."""
        if self.before is None:
            return ()
        leaving = self.before.leaving
        return self.before.why_not, leaving.outside.remark if leaving else ""

    def _say(self) -> None:
        job, leaving = self._jobs.now, self.before.leaving if self.before else None
        for bar in self._bars.values():
            bar.display = leaving is not None
        if leaving is not None:
            self._bars["engine"].say(asked_spans(leaving.outside))
            for name, spans in leaving_spans(leaving).items():
                self._bars[name].say(spans)
        doing = StyledSpan(f" ○ {job.told}", "accent") if job else StyledSpan(_WAITS, "dim")
        self._state.say((doing,))
        can_ask = self.before is not None and not self.before.why_not and not self._is_asking
        ask = [(first_keys(self.app, "open"), f"ask {one_line(self._who)}")] if can_ask else []
        leave = first_keys(self.app, "leave"), "cancel" if self._is_asking else "back"
        self._keys.say(key_spans([*ask, leave]))

    @property
    def _who(self) -> str:
        leaving = self.before.leaving if self.before else None
        return leaving.outside.author.model if leaving else ""

    # What goes on

    def _look(self) -> None:
        self.before = None
        self._begin("looking", self._question.look, self._looked)

    def _looked(self, before: Before) -> None:
        self.before = before
        self._text.on_resize()

    def _begin(
        self, phase: str, work: Callable[[Step], Answer], done: Callable[[Answer], object]
    ) -> None:
        job = self._jobs.begin(phase)
        self._say()

        def came(found: Answer) -> None:
            self._is_asking = False
            done(found)
            self._say()

        self.run_worker(self._jobs.follow(job, work, came, self._failed))

    def _failed(self, why: str) -> None:
        self.failure = why
        if self._is_asking:
            self._is_asking = False
            # what the caps leave is less by now
            self._look()
        self._text.on_resize()
        self._say()

    # What the keys do

    def action_ask(self) -> None:
        """Ask, where nothing speaks against it."""
        before = self.before
        if before is None or self._is_asking:
            return
        if before.why_not:
            self.notify(before.why_not, markup=False, timeout=4)
            return
        self._is_asking, self.failure = True, ""
        self._begin("asking", partial(self._question.ask, before), self.dismiss)

    def action_leave(self) -> None:
        """Stop what was asked; else end."""
        if not self._is_asking:
            self.dismiss(None)
            return
        self._is_asking = False
        self._jobs.cancel()
        self.notify("Cancelled. Nothing was changed.", markup=False, timeout=4)
        self._look()
