"""A few fields to fill in: ctrl+s confirms, Esc leaves and gives back what was typed."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Generic, NamedTuple, TypeVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input

from ricordo.text import one_line
from ricordo.tui.actions.bindings import dialog_bindings, first_keys
from ricordo.tui.actions.dialogs import Dialog
from ricordo.tui.base.acting_screen import CALM
from ricordo.tui.render.bars import key_spans
from ricordo.tui.render.line import StyledSpan
from ricordo.tui.widgets.bar import Bar

if TYPE_CHECKING:
    from ricordo.tui.color_palette import Palette

LABEL = 13
"""Cells before a field."""


class Field(NamedTuple):
    """One field."""

    name: str
    value: str = ""
    """What stands in it at first, visible text of one line."""
    hint: str = ""
    """What is said while it is empty; words of our own."""
    choices: tuple[str, ...] = ()
    """What ← and → put into it."""


class Filled(NamedTuple):
    """What came of a form."""

    values: Mapping[str, str]
    """By the names of the fields."""
    confirmed: bool
    """Whether it is to be done, and not only kept."""


class FormInput(Input):
    """One line to be typed."""

    BINDINGS: ClassVar[list[BindingType]] = dialog_bindings(
        Dialog.FORM,
        {
            "previous-choice": "choose(-1)",
            "next-choice": "choose(1)",
        },
    )

    def __init__(self, field: Field) -> None:
        """`field` says what stands in it."""
        super().__init__(
            field.value, placeholder=field.hint, id=f"field-{field.name}", select_on_focus=False
        )
        self._choices = field.choices

    def action_choose(self, step: int) -> None:
        """Put the next (1) or the previous (-1) choice in; without choices, move the cursor."""
        choices = self._choices
        if not choices:
            (self.action_cursor_right if step > 0 else self.action_cursor_left)()
            return
        at = choices.index(self.value) if self.value in choices else -1 if step > 0 else 0
        self.value = choices[(at + step) % len(choices)]
        self.action_end()


Result = TypeVar("Result")


class FieldForm(ModalScreen[Result], Generic[Result]):
    """Fields under each other, the first with the focus."""

    # a path for itself: Textual looks for other ones beside the module of the subclass
    CSS_PATH = Path(__file__).with_name("overlay.tcss")
    BINDINGS: ClassVar[list[BindingType]] = [
        *dialog_bindings(Dialog.FORM, {"confirm": "confirm"}, priority=True),
        *dialog_bindings(
            Dialog.FORM,
            {
                "cancel": "leave",
                "next-field": "app.focus_next",
                "previous-field": "app.focus_previous",
            },
        ),
    ]

    def __init__(
        self, title: str, fields: Sequence[Field], palette: Palette, verb: str, words: str = ""
    ) -> None:
        """`verb` says what ctrl+s does; `title` and `words` may be text of strangers."""
        super().__init__()
        self._title = title
        self._fields = fields
        self._palette = palette
        self._verb = verb
        self._words = words
        self.opened = 0.0

    def compose(self) -> ComposeResult:
        """What it is about, the fields, what stands below them, the keys."""
        with Vertical(id="overlay", classes="form") as overlay:
            overlay.border_title = Content(one_line(self._title))
            if self._words:
                yield Bar(self._palette, id="words", base="").with_left(
                    StyledSpan(f" {one_line(self._words)}", "dim")
                )
            for field in self._fields:
                with Horizontal(classes="field"):
                    label = Bar(self._palette, id=f"label-{field.name}", base="")
                    yield label.with_left(StyledSpan(f" {field.name:<{LABEL - 1}}", "dim"))
                    yield FormInput(field)
                if field.choices:
                    yield self._choices_of(field)
            yield from self.compose_below()
            keys = (
                (first_keys(self.app, "confirm"), self._verb),
                ("Tab", "next"),
                (first_keys(self.app, "cancel"), "leave, nothing is written"),
            )
            yield Bar(self._palette, id="keys").with_left(*key_spans(keys))

    def _choices_of(self, field: Field) -> Bar:
        names = " · ".join(one_line(choice) for choice in field.choices)
        spans = (StyledSpan(" " * (LABEL + 1)), StyledSpan("← → ", "key"), StyledSpan(names, "dim"))
        return Bar(self._palette, id=f"choices-{field.name}", base="").with_left(*spans)

    def compose_below(self) -> ComposeResult:
        """What stands below the fields."""
        yield from ()

    def on_mount(self) -> None:
        """Begin in the first field."""
        self.opened = time.monotonic()
        for field in self.query(FormInput).results():
            field.focus()
            break

    def repaint(self, palette: Palette) -> None:
        """Take the styles of another theme; what is on the screen is drawn anew by itself."""
        self._palette = palette

    @property
    def filled(self) -> dict[str, str]:
        """What stands in the fields."""
        inputs = self.query(FormInput)
        return {field.name: it.value for field, it in zip(self._fields, inputs, strict=True)}

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter goes to the next field; in the last one it confirms."""
        event.stop()
        if event.input is self.query(FormInput).last():
            self.action_confirm()
        else:
            self.focus_next()

    def action_confirm(self) -> None:
        """End with what was typed, to be done."""
        if time.monotonic() - self.opened >= CALM:
            self.end(confirmed=True)

    def action_leave(self) -> None:
        """End with what was typed, to be kept."""
        self.end(confirmed=False)

    @abstractmethod
    def end(self, *, confirmed: bool) -> None:
        """End with what the form gives."""


class FormScreen(FieldForm[Filled]):
    """Ends with what was typed."""

    def end(self, *, confirmed: bool) -> None:
        """End with what was typed."""
        self.dismiss(Filled(self.filled, confirmed))
