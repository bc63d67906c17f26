"""The keys of dialogs and of lines in which words are typed."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from ricordo.tui.actions.action import Action, Group


class Dialog(StrEnum):
    """The kinds of dialogs: two actions of one kind cannot share a key."""

    FINDER = "finder"
    """Words are typed, and a row of a list is chosen."""
    FORM = "form"
    """Fields are filled in."""
    FIND = "find"
    """The line in which a filter is typed, or what is searched for in the note."""
    CHOICE = "choice"
    """One of a few ways to go on is chosen."""
    QUESTION = "question"
    """A request is read before it is sent: one of the screens with actions."""
    TEXT = "text"
    """A text is read."""


NUMBERED_CHOICES = 9
"""How many ways of a choice have a key of their own."""
_CHOICES = tuple(f"choice-{number}" for number in range(1, NUMBERED_CHOICES + 1))


def _action(id: str, keys: str, label: str, help: str) -> Action:
    return Action(id, keys, label, help, Group.DIALOG, frozenset())


DIALOG_ACTIONS: tuple[Action, ...] = (
    _action("cancel", "escape", "back", "Leave the line or the form in which you type"),
    _action("confirm", "ctrl+s", "confirm", "Do what the form is for"),
    _action("next-field", "down", "next", "Go to the next field of a form"),
    _action("previous-field", "up", "previous", "Go to the previous field of a form"),
    _action("next-choice", "right", "next", "Put the next choice into the field"),
    _action("previous-choice", "left", "previous", "Put the previous choice into the field"),
    _action("next-hit", "down,ctrl+n", "down", "Go to the next hit while you type"),
    _action("previous-hit", "up,ctrl+p", "up", "Go to the previous hit while you type"),
    _action("next-hits", "pagedown", "page down", "Go down a page of hits while you type"),
    _action("previous-hits", "pageup", "page up", "Go up a page of hits while you type"),
    _action("widen", "ctrl+f", "widen", "Find in every memory, or only in this one again"),
    _action("close", "q", "close", "Close the text, as Esc does"),
    _action("demo", "d", "demo", "Where no memory was found, open the sample memory"),
    *(
        _action(id, str(number), id, f"Choose way {number} of those offered")
        for number, id in enumerate(_CHOICES, 1)
    ),
)

_MOVES = ("cursor-down", "cursor-up", "page-down", "page-up", "first", "last")

DIALOG_KEYS: Mapping[Dialog, frozenset[str]] = {
    Dialog.FINDER: frozenset(
        ("cancel", "widen", "next-hit", "previous-hit", "next-hits", "previous-hits")
    ),
    Dialog.FORM: frozenset(
        ("cancel", "confirm", "next-field", "previous-field", "next-choice", "previous-choice")
    ),
    Dialog.FIND: frozenset(("cancel",)),
    Dialog.CHOICE: frozenset(("leave", "help", "open", "cursor-down", "cursor-up", *_CHOICES)),
    Dialog.QUESTION: frozenset(("close",)),
    Dialog.TEXT: frozenset(
        ("leave", "close", "help", "load", "ledger", "edit", "demo", "memories", *_MOVES)
    ),
}
"""The ids of the actions that have a key in a kind of dialog."""
