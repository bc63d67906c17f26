"""The line in which a person types what to filter or to find."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType
from textual.events import Key
from textual.message import Message
from textual.widgets import Input

from ricordo.tui.actions.bindings import dialog_bindings
from ricordo.tui.actions.dialogs import Dialog


class FindBar(Input):
    """Appears when asked for words, tells every keystroke, and goes away again."""

    BINDINGS: ClassVar[list[BindingType]] = dialog_bindings(Dialog.FIND, {"cancel": "give_up"})

    class Typed(Message):
        """The words are others now."""

        def __init__(self, words: str) -> None:
            """`words` as they stand."""
            super().__init__()
            self.words = words

    class Left(Message):
        """The person is done: the words stay, or were taken away with Escape."""

    def __init__(self, *, id: str) -> None:
        """Out of sight until `ask`."""
        super().__init__(id=id, select_on_focus=False)

    in_note = False
    """Whether the words are looked for in the note, and not in the index."""

    def ask(self, words: str, *, in_note: bool) -> None:
        """Appear, with `words` to begin with."""
        self.in_note = in_note
        self.placeholder = "find in the note" if in_note else "filter the index"
        self.value = words
        self.add_class("-on")
        self.screen.set_focus(self)

    @property
    def is_on(self) -> bool:
        """Whether it is on the screen."""
        return self.has_class("-on")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Tell what is typed."""
        event.stop()
        if self.is_on:
            self.post_message(self.Typed(event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Keep the words."""
        event.stop()
        self._keep()

    def action_give_up(self) -> None:
        """Take the words away."""
        self._give_up()

    def take(self, event: Key) -> bool:
        """Take a key that was typed so fast that it went to where the focus was before; say
        whether it was one.
        """
        if not self.is_on:
            return False
        if event.is_printable and event.character:
            self.insert_text_at_cursor(event.character)
        elif event.key == "enter":
            self._keep()
        elif event.key == "escape":
            self._give_up()
        else:
            return False
        return True

    def _keep(self) -> None:
        self.post_message(self.Typed(self.value))
        self._leave()

    def _give_up(self) -> None:
        self.post_message(self.Typed(""))
        self._leave()

    def on_blur(self) -> None:
        """Keep the words when the person went elsewhere; not when the whole terminal did."""
        if self.is_on and self.app.app_focus:
            self._keep()

    def _leave(self) -> None:
        self.remove_class("-on")
        self.post_message(self.Left())
