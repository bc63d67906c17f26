"""The program as a whole."""

from __future__ import annotations

from ricordo.tui.actions.action import Action, Group
from ricordo.tui.situation import EVERYWHERE

LEAVING: tuple[Action, ...] = (
    Action(
        "settings",
        "comma",
        "settings",
        "Edit the settings in your editor; they count from the next start on",
        Group.APP,
    ),
    Action("quit", "ctrl+q", "quit", "Leave Ricordo", Group.APP, EVERYWHERE),
)
