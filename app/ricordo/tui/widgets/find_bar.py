"""The line in which the user types what to filter or to find."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType
from textual.events import Key
from textual.message import Message
from textual.widgets import Input

from ricordo.tui.actions.bindings import dialog_bindings
from ricordo.tui.actions.dialogs import Dialog


class FindBar(Input):
    """Appears to ask for words, posts every change of them, and disappears."""

    BINDINGS: ClassVar[list[BindingType]] = dialog_bindings(Dialog.FIND, {"cancel": "give_up"})

    class Typed(Message):
        """The words changed."""

        def __init__(self, words: str) -> None:
            """`words` are the present words."""
            super().__init__()
            self.words = words

    class Closed(Message):
        """The bar closed: the words are kept, or were cleared with Escape."""

    def __init__(self, *, id: str) -> None:
        """Start hidden."""
        super().__init__(id=id, select_on_focus=False)

    is_in_note = False
    """Whether to find in the note instead of filtering the index."""

    def open_for(self, words: str, *, in_note: bool) -> None:
        """Show the bar with `words` in it."""
        self.is_in_note = in_note
        self.placeholder = "find in the note" if in_note else "filter the index"
        self.value = words
        self.add_class("-on")
        self.screen.set_focus(self)

    @property
    def is_open(self) -> bool:
        """Return whether the bar is on the screen."""
        return self.has_class("-on")

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if self.is_open:
            self.post_message(self.Typed(event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._keep()

    def action_give_up(self) -> None:
        """Clear the words."""
        self._clear()

    def take_key(self, event: Key) -> bool:
        """Handle a key that was typed before the bar got the focus; return whether it was one for
        the bar.
        """
        if not self.is_open:
            return False
        if event.is_printable and event.character:
            self.insert_text_at_cursor(event.character)
        elif event.key == "enter":
            self._keep()
        elif event.key == "escape":
            self._clear()
        else:
            return False
        return True

    def _keep(self) -> None:
        self.post_message(self.Typed(self.value))
        self._hide()

    def _clear(self) -> None:
        self.post_message(self.Typed(""))
        self._hide()

    def on_blur(self) -> None:
        """Keep the words when the focus moved elsewhere, but not when the terminal lost it."""
        if self.is_open and self.app.app_focus:
            self._keep()

    def _hide(self) -> None:
        self.remove_class("-on")
        self.post_message(self.Closed())
