"""The one registry of what a person can do on screen.

Keys, the bottom lines, help, palette, the documentation of keys and the person's keymap all come
from here. An action that cannot be done at the moment says why.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from string import punctuation

from ricordo.settings.known import KnownAction
from ricordo.tui.actions.action import Action, Group
from ricordo.tui.actions.catalogue import (
    CHANGING,
    GOING,
    HANDING,
    JUDGING,
    LEAVING,
    MOVING,
    SEEING,
    SETTLING,
)
from ricordo.tui.actions.dialogs import DIALOG_ACTIONS, DIALOG_KEYS
from ricordo.tui.context import NOTEBOOK, Scene, Situation

_NAMES = {
    "space": "Space",
    "escape": "Esc",
    "enter": "Enter",
    "tab": "Tab",
    "shift+tab": "Shift+Tab",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "home": "Home",
    "end": "End",
}


def key_label(keys: str) -> str:
    """Return Textual's `keys` as a person reads them: `question_mark` as `?`."""
    return " ".join(map(_label, keys.split(",")))


def _label(key: str) -> str:
    if key in _NAMES:
        return _NAMES[key]
    held, plus, last = key.rpartition("+")
    return f"{held}{plus}{_NAMES.get(last) or _signs().get(last, last)}"


@cache
def _signs() -> Mapping[str, str]:
    """The signs that stand on keys, by Textual's names for them."""
    # commands know the actions too, and start without the screen
    from textual.keys import _character_to_key

    return {_character_to_key(sign): sign for sign in punctuation}


ACTIONS: tuple[Action, ...] = (
    *MOVING,
    *SEEING,
    *GOING,
    *CHANGING,
    *JUDGING,
    *SETTLING,
    *HANDING,
    *LEAVING,
)

BY_ID: Mapping[str, Action] = {action.id: action for action in (*ACTIONS, *DIALOG_ACTIONS)}


def actions_on(scene: Scene) -> list[Action]:
    """Return what can be done on a screen."""
    return [action for action in ACTIONS if scene in action.scenes]


def label_of(action: Action, keymap: Mapping[str, tuple[str, ...]]) -> str:
    """Return the keys of `action` as a person reads them, their own where `keymap` has some; ""
    where only the palette reaches it.
    """
    return key_label(",".join(keymap[action.id]) if action.id in keymap else action.keys)


def offered(situation: Situation) -> list[Action]:
    """Return the actions that the bottom line offers in `situation`: what is to be judged first; in
    the notebook, where work waits.
    """
    found = [
        action
        for action in actions_on(situation.scene)
        if situation.place in action.shown and not action.refused(situation)
    ]
    first = (Group.JUDGE, Group.GO) if situation.scene in NOTEBOOK else (Group.JUDGE,)
    return sorted(found, key=lambda it: first.index(it.group) if it.group in first else len(first))


def known_actions() -> tuple[KnownAction, ...]:
    """Return the actions as the settings need them to check a keymap."""
    return tuple(
        KnownAction(action.id, tuple(action.keys.split(",")), _contexts(action))
        for action in BY_ID.values()
    )


def _contexts(action: Action) -> frozenset[str]:
    """Return the screens and kinds of dialogs in which the keys of `action` are live."""
    return action.contexts | {kind for kind, ids in DIALOG_KEYS.items() if action.id in ids}
