"""Handing off: for whom, how long, with what, and how the next agent gets it."""

from __future__ import annotations

from ricordo.tui.actions.action import Action, Group
from ricordo.tui.situation import Scene

_HANDOFF = frozenset((Scene.HANDOFF,))

HANDING: tuple[Action, ...] = (
    Action(
        "for-whom",
        "t",
        "for",
        "Write the handoff for the next agent: Claude Code, Codex, opencode, Gemini CLI, any",
        Group.SEE,
        _HANDOFF,
        _HANDOFF,
    ),
    Action(
        "budget",
        "b",
        "budget",
        "Say how many tokens the handoff may have",
        Group.SEE,
        _HANDOFF,
        _HANDOFF,
    ),
    Action(
        "messages",
        "m",
        "messages",
        "Have every message of yours in the handoff word for word, or only what matters",
        Group.SEE,
        _HANDOFF,
    ),
    Action(
        "engine",
        "M",
        "engine",
        "Have a model, a program of yours or the rules draft the handoff",
        Group.GO,
        _HANDOFF,
        _HANDOFF,
    ),
    Action(
        "pipe",
        "vertical_line",
        "pipe",
        "Give the handoff to a command of yours, and see what it answers",
        Group.GO,
        _HANDOFF,
        _HANDOFF,
    ),
    Action(
        "pick-up",
        "p",
        "pick-up",
        "Have the next agent read HANDOFF.md by itself: shown as a change of its instructions",
        Group.GO,
        _HANDOFF,
        _HANDOFF,
    ),
)
