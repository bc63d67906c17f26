"""Settling two notes that cannot both hold."""

from __future__ import annotations

from ricordo.tui.actions.action import Action, Group
from ricordo.tui.situation import Scene

_CONFLICTS = frozenset((Scene.CONFLICTS,))

SETTLING: tuple[Action, ...] = (
    Action(
        "keep-left",
        "1",
        "left",
        "Keep the left claim: it replaces the right one; a note that says nothing else is retired",
        Group.JUDGE,
        _CONFLICTS,
        _CONFLICTS,
        waits=True,
    ),
    Action(
        "keep-right",
        "2",
        "right",
        "Keep the right claim: it replaces the left one; a note that says nothing else is retired",
        Group.JUDGE,
        _CONFLICTS,
        _CONFLICTS,
        waits=True,
    ),
    Action(
        "merge",
        "3",
        "merge",
        "Make one note of the two, in your editor",
        Group.JUDGE,
        _CONFLICTS,
        _CONFLICTS,
        waits=True,
    ),
    Action(
        "both",
        "4",
        "both true",
        "Say for what or when each of the two holds",
        Group.JUDGE,
        _CONFLICTS,
        _CONFLICTS,
        waits=True,
    ),
    Action(
        "no-conflict",
        "0",
        "no conflict",
        "Both may stay as they are, until one of the two claims is changed",
        Group.JUDGE,
        _CONFLICTS,
        _CONFLICTS,
        waits=True,
    ),
    Action(
        "judge-doubts",
        "c",
        "doubts",
        "Show what is in doubt and what was thought of it, and have a model or a program judge it",
        Group.GO,
        _CONFLICTS,
        _CONFLICTS,
    ),
)
