"""The one registry of what a person can do on screen.

Keys, the bottom lines, help, palette, the documentation of keys and the person's keymap all come
from here. An action that cannot be done at the moment says why.
"""

from __future__ import annotations

from collections.abc import Mapping

from ricordo.settings.known import KnownAction
from ricordo.tui.actions.action import Action, Group
from ricordo.tui.actions.changing import CHANGING
from ricordo.tui.actions.going import GOING
from ricordo.tui.actions.handing import HANDING
from ricordo.tui.actions.judging import JUDGING
from ricordo.tui.actions.leaving import LEAVING
from ricordo.tui.actions.moving import MOVING
from ricordo.tui.actions.seeing import SEEING
from ricordo.tui.actions.settling import SETTLING
from ricordo.tui.key_label import key_label
from ricordo.tui.situation import Scene, Situation

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

BY_ID: Mapping[str, Action] = {action.id: action for action in ACTIONS}


def actions_on(scene: Scene) -> list[Action]:
    """Return what can be done on a screen."""
    return [action for action in ACTIONS if scene in action.scenes]


def label_of(action: Action, keymap: Mapping[str, tuple[str, ...]]) -> str:
    """Return the keys of `action` as a person reads them, their own where `keymap` has some; ""
    where only the palette reaches it.
    """
    return key_label(",".join(keymap[action.id]) if action.id in keymap else action.keys)


def offered(situation: Situation) -> list[Action]:
    """Return the actions that the bottom line offers in `situation`, what is to be judged first."""
    found = [
        action
        for action in actions_on(situation.scene)
        if situation.place in action.shown and not action.refused(situation)
    ]
    return sorted(found, key=lambda action: action.group is not Group.JUDGE)


def known_actions() -> tuple[KnownAction, ...]:
    """Return the actions as the settings need them to check a keymap."""
    return tuple(
        KnownAction(action.id, tuple(action.keys.split(",")), action.contexts) for action in ACTIONS
    )
