"""The program as a whole."""

from __future__ import annotations

from ricordo.tui.actions.action import Action, Group
from ricordo.tui.situation import EVERYWHERE

LEAVING: tuple[Action, ...] = (
    Action("quit", "ctrl+q", "quit", "Leave Ricordo", Group.APP, EVERYWHERE),
)
