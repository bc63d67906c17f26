"""Giving a text to a command of the person's: its line is shown, then it runs, then its answer."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input

from ricordo.errors import RicordoError
from ricordo.settings.values import split_command
from ricordo.text import one_line
from ricordo.tui.actions.bindings import dialog_bindings, first_keys
from ricordo.tui.actions.dialogs import Dialog
from ricordo.tui.dialogs.form import Field, Filled, FormScreen
from ricordo.tui.jobs import Jobs
from ricordo.tui.render.bars import key_spans
from ricordo.tui.render.line import StyledLine, StyledSpan, shown, wrap
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.text_view import TextView

if TYPE_CHECKING:
    from ricordo.curation.engine import Step
    from ricordo.tui.color_palette import Palette
    from ricordo.tui.handoff.values import Shared

_TICK = 0.2
"""Seconds after which it is told anew for how long it runs."""
_FIELD = "command"
_SHELL = frozenset("|&;<>$`*")
"""Characters that mean something to a shell only."""


class PipeCommand(Protocol):
    """Runs a command with a text; called in a thread."""

    def __call__(self, words: Sequence[str], text: str, step: Step) -> str:
        """Return what it answers. Raises RicordoError, and what `step` raises."""


class LineForm(FormScreen):
    """Asks for a line; shows the words of which the command will be started."""

    def __init__(self, line: str, palette: Palette) -> None:
        """`line` was typed before."""
        field = Field(_FIELD, line, 'claude -p "Go on from this handoff."')
        words = "It is given the handoff to read, in the project, without a shell."
        super().__init__("Pipe the handoff to a command", [field], palette, "run it", words)
        self._runs = Bar(palette, id="runs", base="")

    def compose_below(self) -> ComposeResult:
        """The words."""
        yield self._runs

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show the words of what is typed."""
        self._runs.say(_runs(event.value))

    def end(self, *, confirmed: bool) -> None:
        """End with what was typed; what cannot be run is asked again."""
        words = words_of(self.filled[_FIELD])
        if confirmed and not words:
            said = "This is no command: a word is missing, or a quote is left open."
            self.notify(said, severity="warning", markup=False)
            return
        super().end(confirmed=confirmed)


def words_of(line: str) -> tuple[str, ...]:
    """Return the words of a line; none where a quote is left open."""
    try:
        return split_command(line)
    except ValueError:
        return ()


def _runs(line: str) -> tuple[StyledSpan, ...]:
    words = words_of(line)
    told = [StyledSpan(" runs         ", "dim"), StyledSpan(one_line(" · ".join(words)))]
    if any(_SHELL.intersection(word) for word in words):
        told.append(StyledSpan("  ! there is no shell: such signs are plain text", "warning"))
    return tuple(told)


class PipedScreen(ModalScreen[None]):
    """A command while it runs, and what it answered. Leaving ends it."""

    CSS_PATH = "../dialogs/overlay.tcss"
    BINDINGS: ClassVar[list[BindingType]] = dialog_bindings(
        Dialog.TEXT,
        {
            "leave": "leave",
        },
    )

    def __init__(self, run: PipeCommand, words: Sequence[str], text: str, palette: Palette) -> None:
        """`words` are those of the command, `text` is what it is given."""
        super().__init__()
        self._run = run
        self._words = words
        self._text = text
        self._palette = palette
        self._jobs = Jobs()
        self._answer = ""
        self._failure = ""
        self._view = TextView(palette, self._lines, id="answer")
        self._state = Bar(palette, id="state")

    def compose(self) -> ComposeResult:
        """The answer, what goes on, the keys."""
        with Vertical(id="overlay") as overlay:
            overlay.border_title = Content(one_line(shlex.join(self._words)))
            yield self._view
            yield self._state
            keys = ((first_keys(self.app, "leave"), "end it, or close"), ("↑ ↓ PgUp PgDn", "move"))
            yield Bar(self._palette, id="keys").with_left(*key_spans(keys))

    def on_mount(self) -> None:
        """Run it."""
        self.set_interval(_TICK, self._say)
        self.run_worker(self._run_it(), group="pipe")

    def on_unmount(self) -> None:
        """End it with the screen."""
        self._jobs.cancel()

    def repaint(self, palette: Palette) -> None:
        """Take the styles of another theme; what is on the screen is drawn anew by itself."""
        self._palette = palette

    @property
    def has_ended(self) -> bool:
        """Whether the command has."""
        return self._jobs.now is None

    async def _run_it(self) -> None:
        work = partial(self._run, self._words, self._text)
        try:
            self._answer = await self._jobs.done(self._jobs.begin("running"), work) or ""
        except RicordoError as error:
            self._failure = error.message
        self._view.on_resize()
        self._view.focus()
        self._say()

    def _say(self) -> None:
        job = self._jobs.now
        if job is not None:
            self._state.say((StyledSpan(f" ○ {job.told}", "accent"),))
        elif self._failure:
            self._state.say((StyledSpan(" ✗ it failed", "error"),))
        else:
            self._state.say((StyledSpan(f" ✓ it ended · {len(self._answer):,} characters", "dim"),))

    def _lines(self, width: int) -> list[StyledLine]:
        told = self._failure or self._answer or ("" if self._jobs.now else "It answered nothing.")
        style = "error" if self._failure else ""
        rows = (wrap([StyledSpan(shown(part), style)], width - 1) for part in told.split("\n"))
        return [StyledLine(row) for found in rows for row in found]

    def action_leave(self) -> None:
        """End it, or close what it answered."""
        if self._jobs.now is not None:
            self.app.notify("The command was ended.", markup=False, timeout=4)
        self.dismiss(None)


def pipe(app: App[Any], run: PipeCommand, text: str, palette: Palette, shared: Shared) -> None:
    """Ask for a command, and run it with `text`; its line is kept in `shared`."""

    def typed(filled: Filled | None) -> None:
        if filled is None:
            return
        shared.line = filled.values[_FIELD]
        if filled.confirmed:
            app.push_screen(PipedScreen(run, words_of(shared.line), text, palette))

    app.push_screen(LineForm(shared.line, palette), typed)
