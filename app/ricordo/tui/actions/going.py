"""Leading to another screen."""

from __future__ import annotations

from ricordo.tui.actions.action import Action, Group
from ricordo.tui.situation import ANY_PANE, NOTEBOOK, Scene, needs_memory

GOING: tuple[Action, ...] = (
    Action(
        "inbox",
        "i",
        "inbox",
        "Show what others changed since the last visit, each to keep or to revert",
        Group.GO,
        NOTEBOOK | {Scene.INBOX},
        ANY_PANE,
        why_not=needs_memory,
    ),
    Action(
        "conflicts",
        "x",
        "conflicts",
        "Settle the pairs of notes that cannot both hold, one after the other",
        Group.GO,
        NOTEBOOK | {Scene.CONFLICTS},
        ANY_PANE,
        why_not=needs_memory,
    ),
    Action("memories", "p", "memories", "Open another memory of this machine", Group.GO),
)
