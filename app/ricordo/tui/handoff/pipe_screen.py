"""Pipe a text to a command of the user's: ask for the command line, run it, show its output."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Protocol

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input

from ricordo.errors import RicordoError
from ricordo.settings.values import split_command
from ricordo.text import make_one_line
from ricordo.tui.actions.bindings import dialog_bindings, format_first_keys
from ricordo.tui.actions.dialogs import Dialog
from ricordo.tui.dialogs.form import Field, FormScreen
from ricordo.tui.jobs import Jobs
from ricordo.tui.render.bars import render_keys
from ricordo.tui.render.line import StyledLine, StyledSpan, span_text, wrap
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.text_view import TextView
from ricordo.tui.workers import start_worker

if TYPE_CHECKING:
    from ricordo.curation.engine import Step
    from ricordo.tui.color_palette import Palette

_TICK = 0.2
"""Seconds between two updates of the running time."""
PIPE_FIELD = "command"
_SHELL = frozenset("|&;<>$`*")
"""Characters that have a meaning only in a shell."""


class PipeCommand(Protocol):
    """Runs a command with a text as its input; called in a thread."""

    def __call__(self, words: Sequence[str], text: str, step: Step) -> str:
        """Return the output. Raises RicordoError, and what `step` raises."""


class PipeForm(FormScreen):
    """Asks for a command line, and shows the words into which it is split."""

    def __init__(self, line: str, palette: Palette) -> None:
        """`line` is the command line typed before."""
        field = Field(PIPE_FIELD, line, 'claude -p "Continue from this handoff."')
        words = "It reads the handoff from its input, in the project, without a shell."
        super().__init__("Pipe the handoff to a command", [field], palette, "run", words)
        self._render_words = Bar(palette, id="runs", base="")

    def compose_below(self) -> ComposeResult:
        yield self._render_words

    def on_input_changed(self, event: Input.Changed) -> None:
        self._render_words.set_content(_render_words(event.value))

    def close_form(self, *, confirmed: bool) -> None:
        """Return the typed line; stay open if it cannot be run."""
        words = split_words(self.values[PIPE_FIELD])
        if confirmed and not words:
            message = "Cannot run this: no command, or a quote is not closed."
            self.notify(message, severity="warning", markup=False)
            return
        super().close_form(confirmed=confirmed)


def split_words(line: str) -> tuple[str, ...]:
    """Return the words of a command line; () if a quote is not closed."""
    try:
        return split_command(line)
    except ValueError:
        return ()


def _render_words(line: str) -> tuple[StyledSpan, ...]:
    words = split_words(line)
    spans = [StyledSpan(" runs         ", "dim"), StyledSpan(make_one_line(" · ".join(words)))]
    if any(_SHELL.intersection(word) for word in words):
        spans.append(StyledSpan("  ! no shell: these characters are plain text", "warning"))
    return tuple(spans)


class PipeScreen(ModalScreen[None]):
    """A running command, then its output. Closing the screen stops the command."""

    CSS_PATH = "../dialogs/overlay.tcss"
    BINDINGS: ClassVar[list[BindingType]] = dialog_bindings(
        Dialog.TEXT,
        {
            "leave": "leave",
            "help": "app.show_keys",
        },
    )

    def __init__(self, run: PipeCommand, words: Sequence[str], text: str, palette: Palette) -> None:
        """`words` are the words of the command, `text` is its input."""
        super().__init__()
        self._run = run
        self._words = words
        self._text = text
        self._palette = palette
        self._jobs = Jobs()
        self._answer = ""
        self._failure = ""
        self._view = TextView(palette, self._render_output, id="answer")
        self._state = Bar(palette, id="state")

    def compose(self) -> ComposeResult:
        with Vertical(id="overlay") as overlay:
            overlay.border_title = Content(make_one_line(shlex.join(self._words)))
            yield self._view
            yield self._state
        keys = (
            (format_first_keys(self.app, "leave"), "stop or close"),
            ("↑ ↓ PgUp PgDn", "move"),
        )
        yield Bar(self._palette, id="keys").with_left(*render_keys(keys))

    def on_mount(self) -> None:
        self.set_interval(_TICK, self._update)
        start_worker(self, self._run_command, group="pipe")

    def on_unmount(self) -> None:
        self._jobs.cancel()

    @property
    def has_ended(self) -> bool:
        """Whether the command has ended."""
        return self._jobs.now is None

    async def _run_command(self) -> None:
        work = partial(self._run, self._words, self._text)
        try:
            self._answer = await self._jobs.run(self._jobs.begin("running"), work) or ""
        except RicordoError as error:
            self._failure = error.message
        self._view.on_resize()
        self._view.focus()
        self._update()

    def _update(self) -> None:
        job = self._jobs.now
        if job is not None:
            self._state.set_content((StyledSpan(f" ○ {job.label}", "accent"),))
        elif self._failure:
            self._state.set_content((StyledSpan(" ✗ the command failed", "error"),))
        else:
            ended = f" ✓ the command ended · {len(self._answer):,} characters"
            self._state.set_content((StyledSpan(ended, "dim"),))

    def _render_output(self, width: int) -> list[StyledLine]:
        text = (
            self._failure
            or self._answer
            or ("" if self._jobs.now else "The command wrote no output.")
        )
        style = "error" if self._failure else ""
        rows = (wrap([StyledSpan(span_text(part), style)], width - 1) for part in text.split("\n"))
        return [StyledLine(row) for lines in rows for row in lines]

    def action_leave(self) -> None:
        """Stop the command, and close the screen."""
        if self._jobs.now is not None:
            self.app.notify("The command was stopped.", markup=False, timeout=4)
        self.dismiss(None)
