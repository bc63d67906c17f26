"""The one registry of actions.

Keys, bottom lines, help, palette, the page of keys and the user's keymap all come from here. A
disabled action says why it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from string import punctuation

from ricordo.settings.keymap import ActionKeys
from ricordo.tui.actions.action import Action, Group
from ricordo.tui.actions.catalogue import (
    APP_ACTIONS,
    CHANGE_ACTIONS,
    CONFLICT_ACTIONS,
    DECISION_ACTIONS,
    GO_ACTIONS,
    HANDOFF_ACTIONS,
    MOVE_ACTIONS,
    VIEW_ACTIONS,
)
from ricordo.tui.actions.dialogs import DIALOG_ACTIONS, DIALOG_KEYS
from ricordo.tui.context import NOTEBOOK, ActionContext, ScreenId

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


def format_keys(keys: str) -> str:
    """Return Textual's `keys` as a user reads them: `?` for `question_mark`."""
    return " ".join(map(_label, keys.split(",")))


def _label(key: str) -> str:
    if key in _NAMES:
        return _NAMES[key]
    held, plus, last = key.rpartition("+")
    return f"{held}{plus}{_NAMES.get(last) or _signs().get(last, last)}"


@cache
def _signs() -> Mapping[str, str]:
    """Return the punctuation of keys by Textual's names for it."""
    # imported late: commands use the registry too, and start without Textual
    from textual.keys import _character_to_key

    return {_character_to_key(sign): sign for sign in punctuation}


ACTIONS: tuple[Action, ...] = (
    *MOVE_ACTIONS,
    *VIEW_ACTIONS,
    *GO_ACTIONS,
    *CHANGE_ACTIONS,
    *DECISION_ACTIONS,
    *CONFLICT_ACTIONS,
    *HANDOFF_ACTIONS,
    *APP_ACTIONS,
)

BY_ID: Mapping[str, Action] = {action.id: action for action in (*ACTIONS, *DIALOG_ACTIONS)}


def find_actions(screen_id: ScreenId) -> list[Action]:
    """Return the actions of a screen."""
    return [action for action in ACTIONS if screen_id in action.screens]


def format_action_keys(action: Action, keymap: Mapping[str, tuple[str, ...]]) -> str:
    """Return the keys of `action` as a user reads them, with the user's own from `keymap`; ""
    where it has none.
    """
    return format_keys(",".join(keymap[action.id]) if action.id in keymap else action.keys)


def find_offered_actions(context: ActionContext) -> list[Action]:
    """Return the actions that the bottom line offers in `context`: decisions first, and in the
    notebook the screens with pending work.
    """
    actions = [
        action
        for action in find_actions(context.screen_id)
        if context.place in action.offered_in and not action.find_disabled_reason(context)
    ]
    first = (Group.JUDGE, Group.GO) if context.screen_id in NOTEBOOK else (Group.JUDGE,)
    return sorted(
        actions,
        key=lambda action: first.index(action.group) if action.group in first else len(first),
    )


def list_known_actions() -> tuple[ActionKeys, ...]:
    """Return the actions as the settings need them, to check a keymap."""
    return tuple(
        ActionKeys(action.id, tuple(filter(None, action.keys.split(","))), _contexts(action))
        for action in BY_ID.values()
    )


def _contexts(action: Action) -> frozenset[str]:
    """Return the screens and kinds of dialogs in which the keys of `action` are live."""
    return action.contexts | {kind for kind, ids in DIALOG_KEYS.items() if action.id in ids}
