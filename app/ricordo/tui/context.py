"""The context of actions: the screen, its state, and why an action is disabled in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class ScreenId(StrEnum):
    """The screens with actions."""

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
    REDACTION = "kept-back"
    SESSIONS = "sessions"
    HANDOFF = "handoff"
    ENGINE = "engine"
    QUESTION = "question"
    CONNECT = "connect"
    DOCTOR = "doctor"


NOTEBOOK = frozenset((ScreenId.NOTEBOOK,))
LIST_DIFF_SCREENS = frozenset(
    (ScreenId.INBOX, ScreenId.HISTORY, ScreenId.CURATION, ScreenId.DOCTOR)
)
"""Screens with a list and a diff beside it."""
EVERYWHERE = frozenset(ScreenId)


class Pane(StrEnum):
    """The three panes of the notebook."""

    INDEX = "index"
    NOTE = "note"
    FRESHNESS = "freshness"


ANY_PANE: frozenset[Pane | ScreenId] = frozenset(Pane)


@dataclass(frozen=True, slots=True)
class ActionContext:
    """What decides whether an action can be done now, and what its label is."""

    screen_id: ScreenId = ScreenId.NOTEBOOK
    disabled_reasons: Mapping[str, str] = field(default_factory=dict)
    """Why actions are disabled on other screens than the notebook, by action id."""
    pane: Pane = Pane.INDEX
    read: bool = False
    """Whether the memory was read."""
    note: bool = False
    """Whether a note is open."""
    as_source: bool = False
    """Whether the note is shown as it is on disk."""
    secrets: bool = False
    """Whether the note has secrets."""
    revealed: bool = False
    """Whether they are shown."""
    finding: bool = False
    """Whether a finding is under the cursor."""
    dismissed: bool = False
    """Whether that finding is dismissed."""
    rule: bool = False
    """Whether a rule with the number of its findings is under the cursor."""
    links: bool = False
    """Whether the note has links."""
    origin: bool = False
    """Whether the messages that caused the note are known."""
    link: bool = False
    """Whether a link of the note is chosen."""
    types: bool = False
    """Whether some note has a type."""
    searching: bool = False
    """Whether a search in the note is on."""
    back: bool = False
    forward: bool = False
    read_only: str = ""
    """Why the memory cannot be changed; "" where it can."""
    in_order: bool = False
    """Whether the whole index is shown in its own order."""
    entry: bool = False
    """Whether an entry of the index is under the cursor."""
    marks: int = 0
    """Number of marked notes."""
    fix: bool = False
    """Whether the finding under the cursor, or one of the note, has an automatic fix."""
    undo: bool = False
    redo: bool = False
    new: int = 0
    """Number of pending arrivals in the inbox."""
    conflicts: int = 0
    """Number of pairs of notes that contradict each other."""
    due: int = 0
    """Number of notes to review today."""
    pending: int = 0
    """Number of pending proposals."""
    accepted: int = 0
    """Number of accepted proposals."""
    removing: bool = False
    """Whether what is shown would be removed when it is written."""
    asked: str = ""
    """The model or program that a question is for."""
    is_complete: bool = False
    """Whether all evidence on the memory is gathered."""
    has_retention: bool = False
    """Whether the retention of the open note is known."""
    several_panes: bool = True
    room: bool = True
    """Whether the terminal is wide enough for several panes."""

    @property
    def place(self) -> Pane | ScreenId:
        """The pane of the notebook, or the other screen, in which keys are pressed."""
        return self.pane if self.screen_id is ScreenId.NOTEBOOK else self.screen_id


DisabledReason = Callable[[ActionContext], str]
"""Returns why an action is disabled; "" where it is not."""


def never_disabled(context: ActionContext) -> str:
    """Return "": never disabled."""
    return ""


def _unless(is_met: Callable[[ActionContext], object], reason: str) -> DisabledReason:
    """Return what gives `reason` unless a condition is met."""
    return lambda context: "" if is_met(context) else reason


def _first_of(*reasons: DisabledReason) -> DisabledReason:
    """Return what gives the first of several reasons that holds."""
    return lambda context: next(filter(None, (reason(context) for reason in reasons)), "")


NO_SECRETS = "No secret is masked here."
NO_ORIGIN = "No transcript shows what caused this note."

needs_memory = _unless(lambda it: it.read, "The memory has not been read yet.")
needs_note = _unless(lambda it: it.note, "No note is open.")
needs_secrets = _first_of(needs_note, _unless(lambda it: it.secrets, NO_SECRETS))
needs_origin = _first_of(needs_note, _unless(lambda it: it.origin, NO_ORIGIN))
needs_types = _unless(lambda it: it.types, "No note of this memory has a type.")
needs_finding = _unless(
    lambda it: it.finding, "No finding is under the cursor; 3 goes to the findings."
)
needs_evidence = _unless(lambda it: it.is_complete, "The review is still being prepared.")
needs_search = _unless(lambda it: it.searching, "No search in the note; / starts one.")
needs_back = _unless(lambda it: it.back, "This is the first note you opened.")
needs_forward = _unless(lambda it: it.forward, "This is the last note you opened.")
needs_panes = _unless(lambda it: it.several_panes, "Only one pane is shown.")
needs_wide_terminal = _unless(lambda it: it.room, "Terminal too narrow for more than one pane.")
needs_changeable = _first_of(needs_memory, lambda it: it.read_only)
needs_one_note = _first_of(needs_changeable, needs_note)
needs_undo = _unless(lambda it: it.undo, "There is nothing to undo in this memory.")
needs_redo = _unless(lambda it: it.redo, "There is nothing to redo in this memory.")
needs_freshness = _first_of(
    _unless(
        lambda it: it.pane is Pane.FRESHNESS,
        "Confirm notes in the freshness pane; 3 goes there.",
    ),
    _unless(lambda it: it.has_retention, "The retention of this note is not known."),
)
needs_index = _first_of(
    _unless(lambda it: it.pane is Pane.INDEX, "Mark notes in the index; 1 goes there."),
    needs_note,
)
needs_entry = _first_of(
    needs_changeable,
    _unless(lambda it: it.pane is Pane.INDEX, "Move entries in the index; 1 goes there."),
    _unless(
        lambda it: it.in_order,
        "Move entries where the whole index is shown in its order: press Esc, then o.",
    ),
    _unless(lambda it: it.entry, "No entry of the index is under the cursor."),
)


def needs_fix(context: ActionContext) -> str:
    """Return the reason where neither the finding under the cursor nor the note has a fix."""
    reason = needs_changeable(context)
    if reason or context.fix:
        return reason
    if context.pane is Pane.FRESHNESS:
        return "No automatic fix for this finding; e edits the note."
    return "No automatic fix for this note; 3 goes to the findings of all notes."


def needs_rule(context: ActionContext) -> str:
    """Return the reason while neither a finding nor a rule is under the cursor."""
    return "" if context.rule else needs_finding(context)


def needs_something_to_open(context: ActionContext) -> str:
    """Return the reason where nothing is under the cursor that could be opened."""
    match context.pane:
        case Pane.INDEX:
            return needs_note(context)
        case Pane.NOTE:
            return needs_link(context)
        case Pane.FRESHNESS:
            return "" if context.finding or context.rule else "Nothing is under the cursor."


def needs_link(context: ActionContext) -> str:
    """Return the reason while no link of the note is chosen."""
    if context.link:
        return ""
    return needs_neighbour(context) or "No link is chosen; ← → choose one."


def needs_neighbour(context: ActionContext) -> str:
    """Return the reason in the note pane where the note has no links."""
    alone = context.pane is Pane.NOTE and not context.links
    return "This note has no links." if alone else ""


def needs_pane_before(context: ActionContext) -> str:
    """Return the reason in the leftmost pane, and in a note without links."""
    if context.pane is Pane.INDEX:
        return "The index is the leftmost pane."
    return needs_neighbour(context)


def needs_changeable_note(context: ActionContext) -> str:
    """Return the reason where there is no note that could be changed."""
    return needs_changeable(context) or ("" if context.marks else needs_note(context))
