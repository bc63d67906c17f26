"""Choose one note by typing words of its name or path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input

from ricordo.text import clip, count_cells
from ricordo.tui.actions.bindings import dialog_bindings, format_first_keys
from ricordo.tui.actions.dialogs import Dialog
from ricordo.tui.color_palette import Palette
from ricordo.tui.dialogs.form import Field, FormInput
from ricordo.tui.render.bars import render_keys
from ricordo.tui.render.line import StyledLine, StyledSpan
from ricordo.tui.render.mask import mask_text
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.line_view import CursorView

if TYPE_CHECKING:
    from ricordo.memory.note import Note

_NAME = 34
"""Cells of a note's name."""


class PickedNote(NamedTuple):
    """The choice of the user."""

    path: str
    """Path of the note; "" for none of them."""


class NoteList(CursorView):
    """Lists the notes that match the words, below a row for “none”."""

    def __init__(self, notes: Sequence[Note], none: str, palette: Palette) -> None:
        """`none` is the label for choosing no note."""
        super().__init__(palette, lambda: None, id="notes")
        self._all = notes
        self._matching = tuple(notes)
        self._none_label = none

    def narrow(self, words: str) -> None:
        """Show only the notes with all `words`, the cursor on the first of them."""
        wanted = words.casefold().split()
        self._matching = tuple(
            note
            for note in self._all
            if all(word in f"{note.name} {note.path}".casefold() for word in wanted)
        )
        self.lines_changed()
        self.move_to(1 if wanted and self._matching else 0)

    @property
    def picked_path(self) -> str:
        """Return the path of the note under the cursor; "" for none."""
        return self._matching[self.cursor - 1].path if self.cursor > 0 else ""

    def on_resize(self) -> None:
        self.lines_changed()
        self.move_to(max(self.cursor, 0))

    @property
    def line_count(self) -> int:
        return len(self._matching) + 1

    def line_at(self, number: int) -> tuple[StyledLine, str]:
        base = "cursor" if number == self.cursor else ""
        if not number:
            return StyledLine((StyledSpan(f"  {self._none_label}", "dim"),)), base
        note = self._matching[number - 1]
        name = clip(mask_text(note.name), _NAME)
        path = clip(note.path, max(8, self.content_width - _NAME - 4))
        return StyledLine(
            (
                StyledSpan(f"  {name}{' ' * (_NAME + 2 - count_cells(name))}"),
                StyledSpan(path, "dim"),
            )
        ), base


class PickNoteScreen(ModalScreen[PickedNote | None]):
    """Returns the choice, or None."""

    CSS_PATH = "overlay.tcss"
    BINDINGS: ClassVar[list[BindingType]] = dialog_bindings(
        Dialog.FINDER,
        {
            "cancel": "dismiss(None)",
            "next-hit": "move(1)",
            "previous-hit": "move(-1)",
        },
    )

    def __init__(self, title: str, notes: Sequence[Note], none: str, palette: Palette) -> None:
        """`title` is Ricordo's own text; `none` is the label for choosing no note."""
        super().__init__()
        self._title = title
        self._palette = palette
        self._list = NoteList(notes, none, palette)

    def compose(self) -> ComposeResult:
        with Vertical(id="overlay", classes="form") as overlay:
            overlay.border_title = Content(self._title)
            yield FormInput(Field("words", hint="words of the name or path"))
            yield self._list
        keys = (
            (format_first_keys(self.app, "previous-hit", "next-hit"), "move"),
            ("Enter", "choose"),
            (format_first_keys(self.app, "cancel"), "back"),
        )
        yield Bar(self._palette, id="keys").with_left(*render_keys(keys))

    def on_mount(self) -> None:
        self._list.styles.height = min(self._list.line_count, 12)
        self.query_one(FormInput).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._list.narrow(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.dismiss(PickedNote(self._list.picked_path))

    def action_move(self, step: int) -> None:
        self._list.move(step)
