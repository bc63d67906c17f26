"""Judging what others did or propose."""

from __future__ import annotations

from ricordo.tui.actions.action import Action, Group
from ricordo.tui.situation import NOTEBOOK, Pane, Scene, needs_freshness

_INBOX = frozenset((Scene.INBOX,))
_CURATION = frozenset((Scene.CURATION,))
_NOTES = frozenset((Scene.INBOX, Scene.REVIEW, Scene.CURATION))
_KEPT_BACK = frozenset((Scene.KEPT_BACK,))
_PROPOSAL = frozenset((Scene.PROPOSAL,))
_HANDOFF = frozenset((Scene.HANDOFF,))
_SETS = frozenset((Scene.INBOX, Scene.PROPOSAL, Scene.CURATION))

JUDGING: tuple[Action, ...] = (
    Action(
        "yes",
        "a",
        "yes",
        "It is right: in the inbox keep what came; of a note, it is still true; a proposal is to "
        "be written; what looks like a credential may leave",
        Group.JUDGE,
        _NOTES | NOTEBOOK | _KEPT_BACK,
        _NOTES | _KEPT_BACK | {Pane.FRESHNESS},
        {
            Scene.INBOX: "keep",
            Scene.REVIEW: "still true",
            Scene.NOTEBOOK: "still true",
            Scene.KEPT_BACK: "let it leave",
        },
        why_not=needs_freshness,
        waits=True,
    ),
    Action(
        "no",
        "d",
        "no",
        "It is wrong: in the inbox, mark it to be reverted, or take the mark away; in the review, "
        "edit it, retire it, or leave it to the curator; of a proposal, keep it away; of a value, "
        "keep it back; from a handoff, drop the statement, or take it in again",
        Group.JUDGE,
        _NOTES | _KEPT_BACK | _HANDOFF,
        _NOTES | _KEPT_BACK | _HANDOFF,
        {
            Scene.INBOX: "revert",
            Scene.REVIEW: "wrong",
            Scene.KEPT_BACK: "keep it back",
            Scene.HANDOFF: "drop",
        },
        waits=True,
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
        "retire-whole",
        "d",
        "retire whole",
        "Where a conflict is settled, retire the whole note, or only replace its claim again",
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
        "Write what is proposed or marked, or the handoff: nothing is written before",
        Group.JUDGE,
        _SETS | _HANDOFF,
        _SETS | _HANDOFF,
        {Scene.INBOX: "write reverts", Scene.CURATION: "write"},
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
        {
            Scene.INBOX: "revert hunk",
            Scene.PROPOSAL: "skip hunk",
            Scene.CURATION: "skip hunk",
        },
    ),
    Action(
        "later",
        "l",
        "later",
        "Put it off: in the inbox to the next visit, in the review to a day; a proposal waits on",
        Group.JUDGE,
        _NOTES,
        _NOTES,
        waits=True,
    ),
    Action(
        "all",
        "A",
        "all",
        "Say yes to all that is not marked; of proposals, to all without a warning whose diff was "
        "shown to its end",
        Group.JUDGE,
        _INBOX | _CURATION,
        _INBOX | _CURATION,
        {Scene.INBOX: "keep all", Scene.CURATION: "all without a warning"},
        waits=True,
    ),
    Action(
        "send-back",
        "b",
        "send back",
        "Give a rejected change back to the model with the reason, once, after it was told what "
        "that costs",
        Group.JUDGE,
        _CURATION,
        _CURATION,
        waits=True,
    ),
)
