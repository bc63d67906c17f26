"""An action: something a user can do on screen, with its keys and its conditions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ricordo.tui.context import NOTEBOOK, Pane, Scene, Situation, WhyNot, always


class Group(StrEnum):
    """The groups of actions in help and on the page of keys."""

    MOVE = "Move"
    SEE = "See"
    GO = "Go"
    CHANGE = "Change"
    JUDGE = "Judge"
    APP = "Ricordo"
    DIALOG = "In dialogs"


LabelNow = Callable[[Situation], str]
"""Returns the label of an action in a context; "" for its usual label there."""


def unchanging(situation: Situation) -> str:
    """Return "": the label depends on the place alone."""
    return ""


@dataclass(frozen=True, slots=True)
class Action:
    """Something a user can do on screen."""

    id: str
    """The name in the keymap of the settings."""
    keys: str
    """Textual's key names, separated by commas."""
    label: str
    """One or two words for the bottom line."""
    help: str
    """One sentence for help, palette and the page of keys."""
    group: Group
    scenes: frozenset[Scene] = NOTEBOOK
    """The screens on which the keys work."""
    shown: frozenset[Pane | Scene] = frozenset()
    """The panes of the notebook and the other screens whose bottom line offers it."""
    labels: Mapping[Pane | Scene, str] = field(default_factory=dict)
    """Labels for panes and screens where another word is clearer."""
    label_now: LabelNow = unchanging
    """The label where it depends on more than the place."""
    why_not: WhyNot = always
    """Why it is disabled in the notebook; other screens give their own reasons."""
    only_while_finding: bool = False
    """Whether its keys work only while a search in the note is on."""
    yields_to_finding: bool = False
    """Whether its keys do not work then, because they go from match to match."""
    waits: bool = False
    """Whether its keys do nothing in the first moments of a screen: they may have been meant for
    the previous screen.
    """

    def is_live(self, situation: Situation) -> bool:
        """Return whether its keys work in `situation`."""
        finding = situation.pane is Pane.NOTE and situation.searching
        if self.only_while_finding:
            return finding
        return not (finding and self.yields_to_finding)

    def refused(self, situation: Situation) -> str:
        """Return why it is disabled in `situation`; "" where it is not."""
        if situation.scene is Scene.NOTEBOOK:
            return self.why_not(situation)
        return situation.refusals.get(self.id, "")

    def label_in(self, situation: Situation) -> str:
        """Return its label in `situation`: one or two words."""
        place, scene = situation.place, situation.scene
        label = self.labels.get(place) or self.labels.get(scene) or self.label
        return self.label_now(situation) or label

    @property
    def contexts(self) -> frozenset[str]:
        """The contexts in which its keys work, to find keys that are used twice."""
        if self.only_while_finding:
            return frozenset((_FINDING,))
        scenes = frozenset(scene.value for scene in self.scenes)
        in_note = Scene.NOTEBOOK in self.scenes and not self.yields_to_finding
        return scenes | {_FINDING} if in_note else scenes


_FINDING = "note while finding"
"""The context of the note pane while a search is on."""
