"""The one registry of what a person can do on screen.

Keys, the bottom line, help, palette, the documentation of keys and the person's keymap all come
from here. An action that cannot be done at the moment says why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from ricordo.settings.known import KnownAction
from ricordo.tui.key_label import key_label
from ricordo.tui.situation import (
    ANYWHERE,
    Pane,
    Situation,
    WhyNot,
    always,
    needs_back,
    needs_changeable,
    needs_changeable_note,
    needs_entry,
    needs_finding,
    needs_fix,
    needs_forward,
    needs_index,
    needs_memory,
    needs_neighbour,
    needs_note,
    needs_one_note,
    needs_pane_before,
    needs_panes,
    needs_redo,
    needs_room,
    needs_search,
    needs_something_to_open,
    needs_types,
    needs_undo,
)


class Group(StrEnum):
    """What an action is for, as help groups it."""

    MOVE = "Move"
    SEE = "See"
    GO = "Go"
    CHANGE = "Change"
    APP = "Ricordo"


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that a person can do."""

    id: str
    """As the keymap in the settings names it."""
    keys: str
    """Textual's key names, with commas between."""
    label: str
    """One or two words, for the bottom line."""
    help: str
    """One sentence, for help and palette."""
    group: Group
    panes: frozenset[Pane] = ANYWHERE
    """Where the key works."""
    shown: frozenset[Pane] = frozenset()
    """In which panes the bottom line offers it."""
    why_not: WhyNot = always
    only_while_finding: bool = False
    """Whether its keys are live in the note only while something is searched for there."""
    yields_to_finding: bool = False
    """Whether they are not, because then they lead from match to match."""

    def is_live(self, situation: Situation) -> bool:
        """Say whether its keys mean it in `situation`."""
        finding = situation.pane is Pane.NOTE and situation.searching
        if self.only_while_finding:
            return finding
        return not (finding and self.yields_to_finding)

    @property
    def contexts(self) -> frozenset[str]:
        """Where its keys are live."""
        if self.only_while_finding:
            return frozenset((_FINDING,))
        panes = frozenset(pane.value for pane in self.panes)
        in_note = Pane.NOTE in self.panes and not self.yields_to_finding
        return panes | {_FINDING} if in_note else panes


_FINDING = "note while finding"
"""What the note pane is while something is searched for."""

ACTIONS: tuple[Action, ...] = (
    Action("cursor-down", "down,j", "down", "Move down", Group.MOVE),
    Action("cursor-up", "up,k", "up", "Move up", Group.MOVE),
    Action("page-down", "pagedown", "page down", "Move down a page", Group.MOVE),
    Action("page-up", "pageup", "page up", "Move up a page", Group.MOVE),
    Action("first", "home,g", "first", "Go to the beginning", Group.MOVE),
    Action("last", "end,G", "last", "Go to the end", Group.MOVE),
    Action(
        "next",
        "right",
        "next",
        "Choose the next link of the note, or the next view of the findings",
        Group.MOVE,
        why_not=needs_neighbour,
    ),
    Action(
        "previous",
        "left",
        "previous",
        "Choose the previous link of the note, or the previous view of the findings",
        Group.MOVE,
        why_not=needs_pane_before,
    ),
    Action(
        "open",
        "enter",
        "open",
        "Open the note, follow the chosen link, or go where the finding is",
        Group.MOVE,
        shown=ANYWHERE,
        why_not=needs_something_to_open,
    ),
    Action("leave", "escape", "back", "Leave the find, the filter or the pane", Group.MOVE),
    Action(
        "mark",
        "space",
        "mark",
        "Mark the note, so that d m P F and E act on all marked ones; Esc clears the marks",
        Group.MOVE,
        why_not=needs_index,
    ),
    Action("next-pane", "tab", "next pane", "Go to the next pane", Group.MOVE),
    Action("previous-pane", "shift+tab", "previous pane", "Go to the previous pane", Group.MOVE),
    Action("index", "1", "index", "Go to the index", Group.MOVE),
    Action("note", "2", "note", "Go to the note", Group.MOVE),
    Action("freshness", "3", "freshness", "Go to what is wrong", Group.MOVE),
    Action(
        "back",
        "left_square_bracket",
        "back",
        "Go back to the note opened before",
        Group.MOVE,
        why_not=needs_back,
    ),
    Action(
        "forward",
        "right_square_bracket",
        "forward",
        "Go forward again",
        Group.MOVE,
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
    Action(
        "find",
        "slash",
        "filter",
        "Filter the index, or find in the text of the note",
        Group.SEE,
        shown=frozenset((Pane.INDEX, Pane.NOTE)),
        why_not=needs_memory,
    ),
    Action(
        "next-match",
        "n",
        "next match",
        "Go to the next match in the note",
        Group.SEE,
        why_not=needs_search,
        only_while_finding=True,
    ),
    Action(
        "previous-match",
        "N",
        "previous match",
        "Go to the previous match in the note",
        Group.SEE,
        why_not=needs_search,
    ),
    Action(
        "source",
        "s",
        "source",
        "Show the note as it stands on disk, or rendered",
        Group.SEE,
        shown=frozenset((Pane.NOTE,)),
        why_not=needs_note,
    ),
    Action(
        "type",
        "t",
        "type",
        "Show only the notes of one type, then of the next, then all",
        Group.SEE,
        shown=frozenset((Pane.INDEX,)),
        why_not=needs_types,
    ),
    Action(
        "order",
        "o",
        "order",
        "Order by index, by type, worst first, or as a diary by day",
        Group.SEE,
        shown=frozenset((Pane.INDEX,)),
        why_not=needs_memory,
    ),
    Action(
        "load",
        "L",
        "load",
        "Show what the agent gets at session start",
        Group.SEE,
        shown=frozenset((Pane.INDEX,)),
        why_not=needs_memory,
    ),
    Action(
        "copy",
        "y",
        "copy",
        "Copy the selected text, or what is under the cursor",
        Group.SEE,
        why_not=needs_note,
    ),
    Action(
        "history",
        "h",
        "history",
        "Show the versions of the note, and the notes that are gone",
        Group.SEE,
        shown=frozenset((Pane.NOTE,)),
        why_not=needs_memory,
    ),
    Action("help", "question_mark", "keys", "Show all keys", Group.SEE),
    Action("palette", "ctrl+p", "palette", "Search for an action or a theme", Group.SEE),
    Action(
        "inbox",
        "i",
        "inbox",
        "Show what others changed since the last visit, each to keep or to revert",
        Group.GO,
        shown=ANYWHERE,
        why_not=needs_memory,
    ),
    Action("memories", "p", "memories", "Open another memory of this machine", Group.GO),
    Action(
        "new",
        "n",
        "new",
        "Make a new note, with its entry in the index",
        Group.CHANGE,
        why_not=needs_changeable,
        yields_to_finding=True,
    ),
    Action(
        "edit",
        "e",
        "edit",
        "Edit the note in your editor",
        Group.CHANGE,
        shown=frozenset((Pane.INDEX, Pane.NOTE)),
        why_not=needs_one_note,
    ),
    Action(
        "head",
        "E",
        "head",
        "Edit name, type and description of the note; of marked notes the type",
        Group.CHANGE,
        why_not=needs_changeable_note,
    ),
    Action(
        "move",
        "m",
        "move",
        "Rename the note, or move it, to another memory too",
        Group.CHANGE,
        why_not=needs_changeable_note,
    ),
    Action(
        "retire",
        "d",
        "retire",
        "Retire the note: it leaves the memory, the history keeps it",
        Group.CHANGE,
        why_not=needs_changeable_note,
    ),
    Action(
        "entry-down",
        "J",
        "entry down",
        "Move the entry of the index one place down",
        Group.CHANGE,
        why_not=needs_entry,
    ),
    Action(
        "entry-up",
        "K",
        "entry up",
        "Move the entry of the index one place up",
        Group.CHANGE,
        why_not=needs_entry,
    ),
    Action(
        "lift",
        "circumflex_accent",
        "lift",
        "Lift the entry above the line at which agents stop reading",
        Group.CHANGE,
        why_not=needs_entry,
    ),
    Action(
        "fix",
        "F",
        "fix",
        "Mend the finding under the cursor, or the worst of the note that can be",
        Group.CHANGE,
        shown=ANYWHERE,
        why_not=needs_fix,
    ),
    Action(
        "protect",
        "P",
        "protect",
        "Protect the note from the curator and from fixes, or free it",
        Group.CHANGE,
        why_not=needs_changeable_note,
    ),
    Action(
        "dismiss",
        "minus",
        "dismiss",
        "Say that the finding is fine, until its cause changes; once more takes that back",
        Group.CHANGE,
        shown=frozenset((Pane.FRESHNESS,)),
        why_not=needs_finding,
    ),
    Action(
        "undo",
        "u",
        "undo",
        "Take back the last act, and say which",
        Group.CHANGE,
        shown=ANYWHERE,
        why_not=needs_undo,
    ),
    Action(
        "redo",
        "U",
        "redo",
        "Do again what was undone last",
        Group.CHANGE,
        why_not=needs_redo,
    ),
    Action("reread", "ctrl+r", "reread", "Read the memory again from disk", Group.CHANGE),
    Action("quit", "ctrl+q", "quit", "Leave Ricordo", Group.APP),
)

BY_ID: Mapping[str, Action] = {action.id: action for action in ACTIONS}


def label_of(action: Action, keymap: Mapping[str, tuple[str, ...]]) -> str:
    """Return the keys of `action` as a person reads them, their own where `keymap` has some; ""
    where only the palette reaches it.
    """
    return key_label(",".join(keymap[action.id]) if action.id in keymap else action.keys)


def offered(situation: Situation) -> list[Action]:
    """Return the actions that the bottom line offers in `situation`."""
    return [
        action
        for action in ACTIONS
        if situation.pane in action.shown and not action.why_not(situation)
    ]


def known_actions() -> tuple[KnownAction, ...]:
    """Return the actions as the settings need them to check a keymap."""
    return tuple(
        KnownAction(
            action.id,
            tuple(action.keys.split(",")),
            action.contexts,
        )
        for action in ACTIONS
    )
