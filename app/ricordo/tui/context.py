"""What a person can do at the moment, and why not: the conditions of actions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Scene(StrEnum):
    """The screens whose keys come from the registry."""

    NOTEBOOK = "notebook"
    INBOX = "inbox"
    HISTORY = "history"
    PROPOSAL = "proposal"
    MEMORIES = "memories"
    REVIEW = "review"
    ORIGIN = "origin"
    CONFLICTS = "conflicts"
    CURATION = "curation"
    SCOPE = "scope"
    KEPT_BACK = "kept-back"
    SESSIONS = "sessions"
    HANDOFF = "handoff"
    ENGINE = "engine"


NOTEBOOK = frozenset((Scene.NOTEBOOK,))
LISTED = frozenset((Scene.INBOX, Scene.HISTORY, Scene.CURATION))
"""Screens with a list and, beside it, a diff."""
EVERYWHERE = frozenset(Scene)


class Pane(StrEnum):
    """The three panes of the notebook."""

    INDEX = "index"
    NOTE = "note"
    FRESHNESS = "freshness"


ANY_PANE: frozenset[Pane | Scene] = frozenset(Pane)


@dataclass(frozen=True, slots=True)
class Situation:
    """What the registry has to know to say whether an action can be done now."""

    scene: Scene = Scene.NOTEBOOK
    refusals: Mapping[str, str] = field(default_factory=dict)
    """On other screens than the notebook: why actions cannot be done, by their id."""
    pane: Pane = Pane.INDEX
    read: bool = False
    """The memory has been read."""
    note: bool = False
    """A note is open."""
    as_source: bool = False
    """The note is shown as it stands on disk."""
    secrets: bool = False
    """The note has secrets."""
    revealed: bool = False
    """They are shown."""
    finding: bool = False
    """A finding is under the cursor."""
    dismissed: bool = False
    """That finding is dismissed."""
    rule: bool = False
    """A rule, with the number of its findings, is under the cursor."""
    links: bool = False
    """The note has links."""
    origin: bool = False
    """It is known what caused the note."""
    link: bool = False
    """A link of the note is chosen."""
    types: bool = False
    """Some note has a type."""
    searching: bool = False
    """A find in the note is on."""
    back: bool = False
    forward: bool = False
    read_only: str = ""
    """Why nothing of the memory can be changed; "" where it can."""
    in_order: bool = False
    """The index is shown whole and in its own order."""
    entry: bool = False
    """An entry of the index is under the cursor."""
    marks: int = 0
    """How many notes are marked."""
    fix: bool = False
    """The finding under the cursor, or one of the note, can be mended mechanically."""
    undo: bool = False
    redo: bool = False
    new: int = 0
    """How many arrivals wait in the inbox."""
    conflicts: int = 0
    """How many pairs of notes cannot both hold."""
    due: int = 0
    """How many notes are to be reviewed today."""
    waiting: int = 0
    """How many proposals of a curator wait."""
    taken: int = 0
    """How many of them would be written."""
    known: bool = False
    """All that can be known of the memory is known."""
    retained: bool = False
    """It is known how far the open note can be trusted."""
    several_panes: bool = True
    room: bool = True
    """The terminal is wide enough for several panes."""

    @property
    def place(self) -> Pane | Scene:
        """Where the person is: a pane of the notebook, or another screen."""
        return self.pane if self.scene is Scene.NOTEBOOK else self.scene


WhyNot = Callable[[Situation], str]
"""Gives "" where an action can be done, else why it cannot."""


def always(situation: Situation) -> str:
    """Never refused."""
    return ""


def needs_memory(situation: Situation) -> str:
    """Refused until the memory was read."""
    return "" if situation.read else "The memory has not been read yet."


def needs_note(situation: Situation) -> str:
    """Refused while no note is open."""
    return "" if situation.note else "No note is open."


NO_SECRETS = "No secret is masked here."


def needs_secrets(situation: Situation) -> str:
    """Refused where the note has no secrets."""
    return needs_note(situation) or ("" if situation.secrets else NO_SECRETS)


NO_ORIGIN = "No transcript tells what caused this note."


def needs_origin(situation: Situation) -> str:
    """Refused where nothing tells what caused the note."""
    if reason := needs_note(situation):
        return reason
    return "" if situation.origin else NO_ORIGIN


def needs_types(situation: Situation) -> str:
    """Refused where no note has a type."""
    return "" if situation.types else "No note of this memory has a type."


def needs_something_to_open(situation: Situation) -> str:
    """Refused where nothing is under the cursor that could be opened."""
    match situation.pane:
        case Pane.INDEX:
            return needs_note(situation)
        case Pane.NOTE:
            return needs_link(situation)
        case Pane.FRESHNESS:
            return "" if situation.finding or situation.rule else "Nothing is under the cursor."


def needs_link(situation: Situation) -> str:
    """Refused while no link of the note is chosen."""
    if situation.link:
        return ""
    return needs_neighbour(situation) or "No link is chosen; ← → choose one."


def needs_neighbour(situation: Situation) -> str:
    """Refused in a note without links."""
    alone = situation.pane is Pane.NOTE and not situation.links
    return "This note has no links." if alone else ""


def needs_pane_before(situation: Situation) -> str:
    """Refused at the left edge of the screen."""
    if situation.pane is Pane.INDEX:
        return "Nothing lies left of the index."
    return needs_neighbour(situation)


def needs_finding(situation: Situation) -> str:
    """Refused while no finding is under the cursor."""
    return "" if situation.finding else "No finding is under the cursor; 3 goes to the findings."


def needs_freshness(situation: Situation) -> str:
    """Refused outside the freshness pane, and where it is not known how far a note is trusted."""
    if situation.pane is not Pane.FRESHNESS:
        return "That a note is still true is said in the freshness pane; 3 goes there."
    return "" if situation.retained else "It is not known how far this note can be trusted."


def needs_known(situation: Situation) -> str:
    """Refused until all is known that the review asks for."""
    return "" if situation.known else "It is still being found out what there is to review."


def needs_search(situation: Situation) -> str:
    """Refused while nothing is searched for."""
    return "" if situation.searching else "Nothing is searched for; / in the note starts."


def needs_back(situation: Situation) -> str:
    """Refused at the first note of the trail."""
    return "" if situation.back else "This is the first note that was opened."


def needs_forward(situation: Situation) -> str:
    """Refused at the last note of the trail."""
    return "" if situation.forward else "This is the last note that was opened."


def needs_panes(situation: Situation) -> str:
    """Refused while one pane has the whole screen."""
    return "" if situation.several_panes else "Only one pane is on the screen."


def needs_room(situation: Situation) -> str:
    """Refused on a narrow terminal."""
    return "" if situation.room else "The terminal is too narrow for more than one pane."


def needs_index(situation: Situation) -> str:
    """Refused while the index is not shown whole and in its own order."""
    if situation.pane is not Pane.INDEX:
        return "Notes are marked in the index; 1 goes there."
    return needs_note(situation)


def needs_changeable(situation: Situation) -> str:
    """Refused in a memory that is read-only."""
    return needs_memory(situation) or situation.read_only


def needs_changeable_note(situation: Situation) -> str:
    """Refused where there is no note that could be changed."""
    return needs_changeable(situation) or ("" if situation.marks else needs_note(situation))


def needs_one_note(situation: Situation) -> str:
    """Refused where no note is open that could be changed, whatever is marked."""
    return needs_changeable(situation) or needs_note(situation)


def needs_entry(situation: Situation) -> str:
    """Refused while no entry of the index is under the cursor."""
    if reason := needs_changeable(situation):
        return reason
    if situation.pane is not Pane.INDEX:
        return "Entries are moved in the index; 1 goes there."
    if not situation.in_order:
        return (
            "Entries are moved where the whole index is shown in its order; Esc and o lead there."
        )
    return "" if situation.entry else "No entry of the index is under the cursor."


def needs_fix(situation: Situation) -> str:
    """Refused where nothing can be mended mechanically."""
    if reason := needs_changeable(situation):
        return reason
    return "" if situation.fix else "Nothing here can be mended mechanically; e edits the note."


def needs_undo(situation: Situation) -> str:
    """Refused where nothing was done."""
    return "" if situation.undo else "There is nothing to undo in this memory."


def needs_redo(situation: Situation) -> str:
    """Refused where nothing was undone."""
    return "" if situation.redo else "There is nothing to redo in this memory."
