"""Judging what others did or propose."""

from __future__ import annotations

from ricordo.tui.actions.action import Action, Group
from ricordo.tui.situation import Scene

_INBOX = frozenset((Scene.INBOX,))
_PROPOSAL = frozenset((Scene.PROPOSAL,))
_SETS = frozenset((Scene.INBOX, Scene.PROPOSAL))

JUDGING: tuple[Action, ...] = (
    Action(
        "yes",
        "a",
        "yes",
        "It is right: in the inbox, keep what came",
        Group.JUDGE,
        _INBOX,
        _INBOX,
        {Scene.INBOX: "keep"},
    ),
    Action(
        "no",
        "d",
        "no",
        "It is wrong: in the inbox, mark it to be reverted, or take the mark away",
        Group.JUDGE,
        _INBOX,
        _INBOX,
        {Scene.INBOX: "revert"},
    ),
    Action(
        "successor",
        "s",
        "successor",
        "Before a note is retired, choose the one that takes its place",
        Group.JUDGE,
        _PROPOSAL,
        _PROPOSAL,
    ),
    Action(
        "purge",
        "p",
        "purge history",
        "Before a credential is masked, have ctrl+s purge it from the history too, or not",
        Group.JUDGE,
        _PROPOSAL,
        _PROPOSAL,
    ),
    Action(
        "write",
        "ctrl+s",
        "write",
        "Write what is proposed or marked: nothing is written before",
        Group.JUDGE,
        _SETS,
        _SETS,
        {Scene.INBOX: "write reverts"},
        waits=True,
    ),
    Action(
        "hunk",
        "space",
        "hunk",
        "Revert this hunk only; in a proposal, leave the hunk out or take it in again",
        Group.JUDGE,
        _SETS,
        _SETS,
        {Scene.PROPOSAL: "skip hunk"},
    ),
    Action("later", "l", "later", "Put it off to the next visit", Group.JUDGE, _INBOX, _INBOX),
    Action(
        "all",
        "A",
        "all",
        "Say yes to all that is not marked",
        Group.JUDGE,
        _INBOX,
        _INBOX,
        {Scene.INBOX: "keep all"},
    ),
)
