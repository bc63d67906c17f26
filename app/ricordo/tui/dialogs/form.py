"""A form of fields, and one that asks for a word before something drastic is done."""

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

from ricordo.text import make_one_line
from ricordo.tui.actions.bindings import dialog_bindings, format_first_keys
from ricordo.tui.actions.dialogs import Dialog
from ricordo.tui.base.action_screen import is_early
from ricordo.tui.render.bars import render_keys
from ricordo.tui.render.line import StyledLine, StyledSpan, wrap
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.text_view import TextView

if TYPE_CHECKING:
    from ricordo.tui.color_palette import Palette

LABEL_WIDTH = 13
"""Cells of a label."""


class Field(NamedTuple):
    """One field."""

    name: str
    value: str = ""
    """The first text, visible and of one line."""
    hint: str = ""
    """The placeholder; Ricordo's own text."""
    choices: tuple[str, ...] = ()
    """The texts that ← and → put into it."""


class FormResult(NamedTuple):
    """The result of a form."""

    values: Mapping[str, str]
    """Texts by field name."""
    confirmed: bool
    """False if the form was closed with Esc."""


class FormInput(Input):
    """The input of a field."""

    BINDINGS: ClassVar[list[BindingType]] = dialog_bindings(
        Dialog.FORM,
        {
            "previous-choice": "choose(-1)",
            "next-choice": "choose(1)",
        },
    )

    def __init__(self, field: Field) -> None:
        """`field` gives text, placeholder and choices."""
        super().__init__(
            field.value, placeholder=field.hint, id=f"field-{field.name}", select_on_focus=False
        )
        self._choices = field.choices

    def action_choose(self, step: int) -> None:
        """Put in the next (1) or previous (-1) choice; without choices, move the cursor."""
        choices = self._choices
        if not choices:
            (self.action_cursor_right if step > 0 else self.action_cursor_left)()
            return
        at = choices.index(self.value) if self.value in choices else -1 if step > 0 else 0
        self.value = choices[(at + step) % len(choices)]
        self.action_end()


Result = TypeVar("Result")


class FieldForm(ModalScreen[Result], Generic[Result]):
    """Fields below each other, the first with the focus."""

    # absolute: Textual resolves a relative path beside the module of the subclass
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
        """`verb` is the label of ctrl+s; `title` and `words` may be text of strangers."""
        super().__init__()
        self._title = title
        self._fields = fields
        self._palette = palette
        self._verb = verb
        self._words = words
        self.mounted_at = 0.0

    def compose(self) -> ComposeResult:
        with Vertical(id="overlay", classes="form") as overlay:
            overlay.border_title = Content(make_one_line(self._title))
            if self._words:
                yield Bar(self._palette, id="words", base="").with_left(
                    StyledSpan(f" {make_one_line(self._words)}", "dim")
                )
            for field in self._fields:
                with Horizontal(classes="field"):
                    label = Bar(self._palette, id=f"label-{field.name}", base="")
                    yield label.with_left(StyledSpan(f" {field.name:<{LABEL_WIDTH - 1}}", "dim"))
                    yield FormInput(field)
                if field.choices:
                    yield self._create_choices_bar(field)
            yield from self.compose_below()
        keys = (
            (format_first_keys(self.app, "confirm"), self._verb),
            ("Tab", "next"),
            (format_first_keys(self.app, "cancel"), "close, nothing is written"),
        )
        yield Bar(self._palette, id="keys").with_left(*render_keys(keys))

    def _create_choices_bar(self, field: Field) -> Bar:
        names = " · ".join(make_one_line(choice) for choice in field.choices)
        spans = (
            StyledSpan(" " * (LABEL_WIDTH + 1)),
            StyledSpan("← → ", "key"),
            StyledSpan(names, "dim"),
        )
        return Bar(self._palette, id=f"choices-{field.name}", base="").with_left(*spans)

    def compose_below(self) -> ComposeResult:
        yield from ()

    def on_mount(self) -> None:
        self.mounted_at = time.monotonic()
        for field in self.query(FormInput).results():
            field.focus()
            break

    @property
    def values(self) -> dict[str, str]:
        """Return the texts by field name."""
        inputs = self.query(FormInput)
        return {
            field.name: field_input.value
            for field, field_input in zip(self._fields, inputs, strict=True)
        }

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go to the next field on Enter; in the last one confirm."""
        event.stop()
        if event.input is self.query(FormInput).last():
            self.action_confirm()
        else:
            self.focus_next()

    def action_confirm(self) -> None:
        """Close the form as confirmed."""
        if not is_early(self.app, self.mounted_at):
            self.close_form(confirmed=True)

    def action_leave(self) -> None:
        """Close the form as not confirmed."""
        self.close_form(confirmed=False)

    @abstractmethod
    def close_form(self, *, confirmed: bool) -> None:
        """Close with the result of the form."""


class FormScreen(FieldForm[FormResult]):
    """Returns what was typed."""

    def close_form(self, *, confirmed: bool) -> None:
        self.dismiss(FormResult(self.values, confirmed))


CONFIRMATION_WORD = "apply"
"""The word to type, as on the command line."""
_MOST_ROWS = 10
_WIDEST = 90
"""Most cells of a form."""


class ConfirmScreen(FieldForm[bool]):
    """Returns whether the word was typed."""

    def __init__(
        self, title: str, alarming: Sequence[str], palette: Palette, word: str = CONFIRMATION_WORD
    ) -> None:
        """`alarming` is what would be done, visible text, a line each; `word` is to be typed."""
        fields = [Field("type", "", f"“{word}” to confirm")]
        super().__init__(title, fields, palette, "confirm")
        self._alarming = alarming
        self._word = word
        self._list = TextView(palette, self._render_text, id="alarming")

    def compose_below(self) -> ComposeResult:
        yield self._list

    def on_mount(self) -> None:
        width = min(self.size.width, _WIDEST) - 8
        self._list.styles.height = min(len(self._render_text(width)), _MOST_ROWS)

    def _render_text(self, width: int) -> list[StyledLine]:
        first, rest = (StyledSpan(" ! ", "warning"),), (StyledSpan("   "),)
        return [
            StyledLine(row)
            for text in self._alarming
            for row in wrap([StyledSpan(text)], width - 1, first, rest)
        ]

    def close_form(self, *, confirmed: bool) -> None:
        """Return the confirmation; stay open after another word."""
        if confirmed and self.values["type"].strip() != self._word:
            message = f"Nothing was done. Type “{self._word}” to confirm, or press Esc."
            self.notify(message, severity="warning", markup=False)
            return
        self.dismiss(confirmed)
