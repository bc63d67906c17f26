"""Moving about: nothing here ever changes a file."""

from __future__ import annotations

from ricordo.tui.actions.action import Action, Group
from ricordo.tui.situation import (
    ANY_PANE,
    EVERYWHERE,
    LISTED,
    NOTEBOOK,
    Pane,
    Scene,
    Situation,
    needs_back,
    needs_forward,
    needs_index,
    needs_neighbour,
    needs_pane_before,
    needs_panes,
    needs_room,
    needs_something_to_open,
)

_TWO_PANES = LISTED | {Scene.SESSIONS, Scene.HANDOFF}
_WITH_PANES = NOTEBOOK | _TWO_PANES | {Scene.CONFLICTS}
_SCOPE = frozenset((Scene.SCOPE,))
_SESSIONS = frozenset((Scene.SESSIONS,))
_BACK_AND_FORTH = NOTEBOOK | {Scene.INBOX, Scene.ORIGIN, Scene.CONFLICTS}


def _opened(situation: Situation) -> str:
    """Return what is opened among the findings."""
    if situation.place is not Pane.FRESHNESS:
        return ""
    return "show these" if situation.rule else "go there"


MOVING: tuple[Action, ...] = (
    Action("cursor-down", "down,j", "down", "Move down", Group.MOVE, EVERYWHERE),
    Action("cursor-up", "up,k", "up", "Move up", Group.MOVE, EVERYWHERE),
    Action("page-down", "pagedown", "page down", "Move down a page", Group.MOVE, EVERYWHERE),
    Action("page-up", "pageup", "page up", "Move up a page", Group.MOVE, EVERYWHERE),
    Action("first", "home,g", "first", "Go to the beginning", Group.MOVE, EVERYWHERE),
    Action("last", "end,G", "last", "Go to the end", Group.MOVE, EVERYWHERE),
    Action(
        "next",
        "right",
        "next",
        "Choose the next link, view or engine; elsewhere go to the diff",
        Group.MOVE,
        NOTEBOOK | _TWO_PANES | _SCOPE,
        _SCOPE,
        {Scene.SCOPE: "engine"},
        why_not=needs_neighbour,
    ),
    Action(
        "previous",
        "left",
        "previous",
        "Choose the previous link, view or engine; elsewhere go to the list",
        Group.MOVE,
        NOTEBOOK | _TWO_PANES | _SCOPE,
        why_not=needs_pane_before,
    ),
    Action(
        "open",
        "enter",
        "open",
        "Open what is under the cursor: the note, the chosen link, where the finding is; curate or "
        "draft what is chosen; of a handoff, go to the fact, or back to the statement",
        Group.MOVE,
        EVERYWHERE - {Scene.PROPOSAL, Scene.ORIGIN, Scene.CONFLICTS, Scene.REVIEW, Scene.KEPT_BACK},
        ANY_PANE | {Scene.HISTORY, Scene.MEMORIES, Scene.SCOPE, Scene.SESSIONS, Scene.ENGINE},
        {
            Pane.INDEX: "read",
            Pane.NOTE: "follow",
            Scene.SCOPE: "start",
            Scene.SESSIONS: "draft it",
            Scene.ENGINE: "draft",
        },
        label_now=_opened,
        why_not=needs_something_to_open,
    ),
    Action(
        "leave",
        "escape",
        "back",
        "Leave the find, the filter, the pane or the screen; nothing is discarded",
        Group.MOVE,
        EVERYWHERE,
    ),
    Action(
        "mark",
        "space",
        "mark",
        "Mark the note: d m P F E act on all marked ones, other keys on one; Esc clears the marks; "
        "mark a session that is handed off with others",
        Group.MOVE,
        NOTEBOOK | _SESSIONS,
        _SESSIONS,
        why_not=needs_index,
    ),
    Action("next-pane", "tab", "next pane", "Go to the next pane", Group.MOVE, _WITH_PANES),
    Action(
        "previous-pane",
        "shift+tab",
        "previous pane",
        "Go to the previous pane",
        Group.MOVE,
        _WITH_PANES,
    ),
    Action(
        "index", "1", "index", "Go to the index, or to the list", Group.MOVE, NOTEBOOK | _TWO_PANES
    ),
    Action(
        "note", "2", "note", "Go to the note, or to the diff", Group.MOVE, NOTEBOOK | _TWO_PANES
    ),
    Action("freshness", "3", "freshness", "Go to what is wrong", Group.MOVE),
    Action(
        "back",
        "left_square_bracket",
        "back",
        "Go back to the note opened before; in the inbox, to the visit before",
        Group.MOVE,
        _BACK_AND_FORTH,
        frozenset((Scene.INBOX, Scene.ORIGIN)),
        {Scene.INBOX: "visit before", Scene.ORIGIN: "earlier", Scene.CONFLICTS: "conflict before"},
        why_not=needs_back,
    ),
    Action(
        "forward",
        "right_square_bracket",
        "forward",
        "Go forward again; in the origin, to the next change; in conflicts, to the next one",
        Group.MOVE,
        _BACK_AND_FORTH,
        frozenset((Scene.ORIGIN, Scene.CONFLICTS)),
        {Scene.ORIGIN: "later change", Scene.CONFLICTS: "next conflict"},
        why_not=needs_forward,
    ),
    Action(
        "zoom",
        "z",
        "zoom",
        "Give the pane the whole screen, or take it back",
        Group.MOVE,
        why_not=needs_room,
    ),
    Action(
        "narrower",
        "less_than_sign",
        "narrower",
        "Make the pane narrower",
        Group.MOVE,
        why_not=needs_panes,
    ),
    Action(
        "wider",
        "greater_than_sign",
        "wider",
        "Make the pane wider",
        Group.MOVE,
        why_not=needs_panes,
    ),
)
