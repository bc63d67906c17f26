"""One thing that a person can do, and what it is for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ricordo.tui.context import NOTEBOOK, Pane, Scene, Situation, WhyNot, always


class Group(StrEnum):
    """What an action is for, as help groups it."""

    MOVE = "Move"
    SEE = "See"
    GO = "Go"
    CHANGE = "Change"
    JUDGE = "Judge"
    APP = "Ricordo"
    DIALOG = "In dialogs"


LabelNow = Callable[[Situation], str]
"""Gives what an action does now, in one or two words; "" where its other labels say that."""


def unchanging(situation: Situation) -> str:
    """Return nothing: the place says what is done."""
    return ""


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
    scenes: frozenset[Scene] = NOTEBOOK
    """The screens on which the key works."""
    shown: frozenset[Pane | Scene] = frozenset()
    """Where the bottom line offers it: in which panes of the notebook, on which other screens."""
    labels: Mapping[Pane | Scene, str] = field(default_factory=dict)
    """The label where a pane or a screen has a better word for what it does there."""
    label_now: LabelNow = unchanging
    """The label where what it does depends on more than the place; "" for that of the place."""
    why_not: WhyNot = always
    """The condition in the notebook; other screens hand in what they refuse."""
    only_while_finding: bool = False
    """Whether its keys are live in the note only while something is searched for there."""
    yields_to_finding: bool = False
    """Whether they are not, because then they lead from match to match."""
    waits: bool = False
    """Whether its keys do nothing in the first moments of a screen: they may have been meant for
    the one before.
    """

    def is_live(self, situation: Situation) -> bool:
        """Say whether its keys mean it in `situation`."""
        finding = situation.pane is Pane.NOTE and situation.searching
        if self.only_while_finding:
            return finding
        return not (finding and self.yields_to_finding)

    def refused(self, situation: Situation) -> str:
        """Return why it cannot be done in `situation`; "" where it can."""
        if situation.scene is Scene.NOTEBOOK:
            return self.why_not(situation)
        return situation.refusals.get(self.id, "")

    def label_in(self, situation: Situation) -> str:
        """Return in one or two words what it does in `situation`."""
        place, scene = situation.place, situation.scene
        of_place = self.labels.get(place) or self.labels.get(scene) or self.label
        return self.label_now(situation) or of_place

    @property
    def contexts(self) -> frozenset[str]:
        """Where its keys are live."""
        if self.only_while_finding:
            return frozenset((_FINDING,))
        scenes = frozenset(scene.value for scene in self.scenes)
        in_note = Scene.NOTEBOOK in self.scenes and not self.yields_to_finding
        return scenes | {_FINDING} if in_note else scenes


_FINDING = "note while finding"
"""What the note pane is while something is searched for."""
