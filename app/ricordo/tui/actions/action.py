"""An action: something a user can do on screen, with its keys and its conditions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ricordo.tui.context import (
    NOTEBOOK,
    ActionContext,
    DisabledReason,
    Pane,
    ScreenId,
    never_disabled,
)


class Group(StrEnum):
    """The groups of actions in help and on the page of keys."""

    MOVE = "Move"
    SEE = "See"
    GO = "Go"
    CHANGE = "Change"
    JUDGE = "Judge"
    APP = "Ricordo"
    DIALOG = "In dialogs"


LabelFunction = Callable[[ActionContext], str]
"""Returns the label of an action in a context; "" for its usual label there."""


def no_label(context: ActionContext) -> str:
    """Return "": the label depends on the place alone."""
    return ""


@dataclass(frozen=True, slots=True)
class Action:
    """Something a user can do on screen."""

    id: str
    """The name in the keymap of the settings."""
    keys: str
    """Textual's key names, separated by commas; "" for an action of the palette alone."""
    label: str
    """One or two words for the bottom line."""
    help: str
    """One sentence for help, palette and the page of keys."""
    group: Group
    screens: frozenset[ScreenId] = NOTEBOOK
    """The screens on which the keys work."""
    offered_in: frozenset[Pane | ScreenId] = frozenset()
    """The panes of the notebook and the other screens whose bottom line offers it."""
    labels: Mapping[Pane | ScreenId, str] = field(default_factory=dict)
    """Labels for panes and screens where another word is clearer."""
    label_function: LabelFunction = no_label
    """The label where it depends on more than the place."""
    disabled_reason: DisabledReason = never_disabled
    """Why it is disabled in the notebook; other screens give their own reasons."""
    only_while_searching: bool = False
    """Whether its keys work only while a search in the note is on."""
    not_while_searching: bool = False
    """Whether its keys do not work then, because they go from match to match."""
    is_delayed: bool = False
    """Whether its keys do nothing in the first moments of a screen: they may have been meant for
    the previous screen.
    """

    def is_live(self, context: ActionContext) -> bool:
        """Return whether its keys work in `context`."""
        finding = context.pane is Pane.NOTE and context.searching
        if self.only_while_searching:
            return finding
        return not (finding and self.not_while_searching)

    def find_disabled_reason(self, context: ActionContext) -> str:
        """Return why it is disabled in `context`; "" where it is not."""
        if context.screen_id is ScreenId.NOTEBOOK:
            return self.disabled_reason(context)
        return context.disabled_reasons.get(self.id, "")

    def find_label(self, context: ActionContext) -> str:
        """Return its label in `context`: one or two words."""
        place, screen_id = context.place, context.screen_id
        label = self.labels.get(place) or self.labels.get(screen_id) or self.label
        return self.label_function(context) or label

    @property
    def contexts(self) -> frozenset[str]:
        """The contexts in which its keys work, to find keys that are used twice."""
        if self.only_while_searching:
            return frozenset((_FINDING,))
        screen_ids = frozenset(screen_id.value for screen_id in self.screens)
        in_note = ScreenId.NOTEBOOK in self.screens and not self.not_while_searching
        return screen_ids | {_FINDING} if in_note else screen_ids


_FINDING = "note while finding"
"""The context of the note pane while a search is on."""
