"""Leading to another screen."""

from __future__ import annotations

from ricordo.tui.actions.action import Action, Group
from ricordo.tui.situation import ANY_PANE, NOTEBOOK, Scene, needs_known, needs_memory

_SCOPE = frozenset((Scene.SCOPE,))

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
    Action(
        "review",
        "R",
        "review",
        "Look through the few notes that are to be reviewed today",
        Group.GO,
        NOTEBOOK | {Scene.REVIEW},
        ANY_PANE,
        why_not=needs_known,
    ),
    Action(
        "curate",
        "c",
        "curate",
        "Have changes proposed by what was said to agents, or decide on those that wait",
        Group.GO,
        NOTEBOOK | {Scene.CURATION},
        ANY_PANE,
        {Scene.CURATION: "curate anew"},
        why_not=needs_memory,
    ),
    Action(
        "hand-off",
        "w",
        "hand off",
        "Write down what the next agent needs to go on; see how true earlier handoffs still are",
        Group.GO,
        NOTEBOOK | {Scene.SESSIONS},
        ANY_PANE,
        why_not=needs_memory,
    ),
    Action(
        "ledger",
        "dollar_sign",
        "cost",
        "Show what curation cost and what it bought: reads, drift, every run",
        Group.GO,
        why_not=needs_memory,
    ),
    Action(
        "model",
        "M",
        "model",
        "Choose the model that is asked",
        Group.GO,
        _SCOPE | {Scene.ENGINE},
        _SCOPE | {Scene.ENGINE},
    ),
    Action(
        "kept-back",
        "r",
        "secrets",
        "Show what is kept back of a brief, and let a value leave or keep it back again",
        Group.GO,
        _SCOPE,
        _SCOPE,
    ),
    Action("memories", "p", "memories", "Open another memory of this machine", Group.GO),
)
