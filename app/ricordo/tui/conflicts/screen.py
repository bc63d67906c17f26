"""The conflict workbench: two notes that cannot both hold, or of which a model thinks so, side by
side, to be settled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Protocol

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.content import Content

from ricordo.services.conflicts.conflicts import Conflict, Keep, Side
from ricordo.settings.keymap import Keymap
from ricordo.text import one_line
from ricordo.tui.actions.handlers import Handlers, moving_handlers
from ricordo.tui.actions.registry import BY_ID, label_of
from ricordo.tui.base.acting_screen import ActingScreen, bindings_on
from ricordo.tui.conflicts.rows import (
    NO_CONFLICTS,
    fact_lines,
    note_lines,
    side_title,
    suggestion_lines,
    title_spans,
)
from ricordo.tui.context import NO_SECRETS, Scene, Situation, needs_redo, needs_undo
from ricordo.tui.dialogs.form import LABEL, Field, FormScreen
from ricordo.tui.render.bars import key_line
from ricordo.tui.render.empty import paragraphs
from ricordo.tui.render.line import StyledLine, StyledSpan
from ricordo.tui.render.mask import secrets_in
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.text_view import AboutView, ReadView

if TYPE_CHECKING:
    from ricordo.tui.color_palette import Palette

WIDE = 100
"""Columns from which on the two stand side by side."""
_SETTLING = ("keep-left", "keep-right", "merge", "both", "no-conflict")
_SIDES = (Keep.LEFT, Keep.RIGHT)
_WHOLE = "They may say the same: keep one, merge them, or say that both may stay."
_NOT_KNOWN = "The notes are being compared."


class ConflictActions(Protocol):
    """What is done to the memory for the workbench; what cannot be done is told by it."""

    @property
    def can_undo(self) -> bool:
        """Whether there is an act to take back."""

    @property
    def can_redo(self) -> bool:
        """Whether there is one to do again."""

    def keep(self, conflict: Conflict, keep: Keep) -> None:
        """Propose what keeps one side."""

    def keep_both(self, conflict: Conflict) -> None:
        """Ask for what or when each holds, and propose it."""

    def merge(self, conflict: Conflict) -> None:
        """Let the person make one note of the two, and propose it."""

    def dismiss(self, conflict: Conflict) -> None:
        """Propose to remember that it is no conflict."""

    def judge_doubts(self) -> None:
        """Have what is in doubt judged."""

    def origin(self, path: str) -> None:
        """Show what caused one of the notes."""

    def undo(self) -> None:
        """Take the last act back."""

    def redo(self) -> None:
        """Do again what was undone last."""


class _NoteView(ReadView):
    """One note, its claim in sight."""

    def __init__(self, palette: Palette, screen: ConflictsScreen, keep: Keep) -> None:
        self._of = screen
        self._keep = keep
        self._claim = range(0)
        super().__init__(palette, self._drawn, id=f"text-{keep}", main_rows=lambda: self._claim)

    def _drawn(self, width: int) -> list[StyledLine]:
        side = self._of.side(self._keep)
        lines: list[StyledLine] = []
        self._claim = range(0)
        if side:
            lines, self._claim = note_lines(side, width - 1, revealed=self._of.is_revealed)
        return lines


class ConflictsScreen(ActingScreen[None]):
    """One conflict after the other, until none is left."""

    SCENE = Scene.CONFLICTS
    CSS_PATH = "style.tcss"
    BINDINGS: ClassVar[list[BindingType]] = bindings_on(SCENE)

    def __init__(
        self,
        found: Sequence[Conflict],
        palette: Palette,
        keymap: Keymap,
        hands: ConflictActions,
        read_only: str = "",
        *,
        is_known: bool = True,
    ) -> None:
        """`read_only` is why nothing of the memory can be changed; `is_known` says whether the
        notes have been compared.
        """
        super().__init__(palette, keymap)
        self._conflicts = tuple(found)
        self._hands = hands
        self._read_only = read_only
        self._is_known = is_known
        self._in_doubt = 0
        """How many pairs are in doubt that nobody has judged."""
        self._at = 0
        self._revealed = ""
        """Id of the conflict whose notes are shown with their secrets."""
        self._undone: frozenset[str] = frozenset()
        """What the last undo was about, until the conflict that it brings back is shown."""
        self._before_undo: frozenset[str] = frozenset()
        """The ids of the conflicts that there were before it."""
        self._title = Bar(palette, id="title")
        self._keys = Bar(palette, id="keys")
        self._texts = {keep: _NoteView(palette, self, keep).add_class("text") for keep in _SIDES}
        self._facts = {
            keep: AboutView(palette, partial(self._fact_lines, keep), id=f"facts-{keep}")
            for keep in _SIDES
        }
        # held here: a worker may tell what is left while the screen is left and has no parts
        self._sides = {
            keep: Vertical(self._texts[keep], self._facts[keep], id=keep.value, classes="side")
            for keep in _SIDES
        }
        self._suggestion = AboutView(palette, self._suggestion_lines, id="suggestion")
        self._nothing = ReadView(palette, self._nothing_lines, id="nothing")

    def compose(self) -> ComposeResult:
        """A title, the two notes, what is suggested, the keys."""
        yield self._title
        yield Container(*self._sides.values(), id="sides")
        yield self._nothing
        yield self._suggestion
        yield self._keys

    def on_mount(self) -> None:
        """Begin with the first."""
        self._texts[Keep.LEFT].focus()
        self._tell()

    def on_resize(self) -> None:
        """Side by side where there is room."""
        self.set_class(self.size.width >= WIDE, "-wide")

    # What is shown

    @property
    def conflict(self) -> Conflict | None:
        """The conflict that is on the screen."""
        return self._conflicts[self._at] if self._conflicts else None

    def side(self, keep: Keep) -> Side | None:
        """Return one of the two notes; None where no conflict is left."""
        return self.conflict.side(keep) if self.conflict else None

    @property
    def is_revealed(self) -> bool:
        """Whether the secrets of the two notes are shown."""
        return self.conflict is not None and self.conflict.id == self._revealed

    @property
    def _has_secrets(self) -> bool:
        sides = [side for keep in _SIDES if (side := self.side(keep))]
        return any(secrets_in(side.note.text) for side in sides)

    def show(self, found: Sequence[Conflict], in_doubt: int = 0, *, is_known: bool) -> None:
        """Show what is left: the same conflict where it still stands, else the next one; and how
        many pairs are `in_doubt` besides.
        """
        before = self.conflict
        self._conflicts, self._in_doubt, self._is_known = tuple(found), in_doubt, is_known
        ids = [it.id for it in self._conflicts]
        if before is not None and before.id in ids:
            self._at = ids.index(before.id)
        self._at = max(0, min(self._at, len(ids) - 1))
        self._go_to_undone()
        if self.conflict != before or before is None:
            self._tell()
        self.say()

    def go_to(self, conflict_id: str) -> None:
        """Go to a conflict, where it is among them."""
        ids = [it.id for it in self._conflicts]
        if conflict_id in ids:
            self._at = ids.index(conflict_id)
            self._tell()

    def return_to(self, about: frozenset[str]) -> None:
        """Go to the conflict that comes back by an undo, now or when the notes are compared: one
        whose id, or a note of which, the undo was `about`.
        """
        self._undone = about
        if self._go_to_undone():
            self._tell()

    def _go_to_undone(self) -> bool:
        for at, it in enumerate(self._conflicts if self._undone else ()):
            of = {it.id, it.left.quote.path, it.right.quote.path}
            if it.id not in self._before_undo and of & self._undone:
                self._at, self._undone = at, frozenset()
                return True
        return False

    def _tell(self) -> None:
        if not self.is_revealed:
            self._revealed = ""
        self.set_class(self.conflict is None, "-empty")
        for keep in _SIDES:
            side = self.side(keep)
            key = label_of(BY_ID[f"keep-{keep}"], self.keymap)
            self._sides[keep].border_title = Content(
                f"{key} {keep} · {side_title(side)}" if side else ""
            )
            self._texts[keep].tell()
            self._facts[keep].tell()
        self._suggestion.tell()
        self._nothing.tell()
        self.say()

    def _fact_lines(self, keep: Keep, width: int) -> list[StyledLine]:
        side = self.side(keep)
        return fact_lines(side, width) if side else []

    def _suggestion_lines(self, width: int) -> list[StyledLine]:
        return suggestion_lines(self.conflict, width) if self.conflict else []

    def _nothing_lines(self, width: int) -> list[StyledLine]:
        told = NO_CONFLICTS if self._is_known else (("The notes are being compared …", "dim"),)
        return paragraphs(told, width)

    def say(self) -> None:
        """Tell which conflict it is and why it is one, and the keys."""
        conflict = self.conflict
        if conflict is None:
            said = [StyledSpan(" Conflicts ", "accent bold")]
        else:
            said = [*title_spans(conflict, self._at + 1, len(self._conflicts))]
        doubts = (StyledSpan(f" {self._in_doubt} in doubt ", "dim"),) if self._in_doubt else ()
        self._title.say(tuple(said), doubts)
        self._keys.say(*key_line(self.situation, self.keymap))

    # What the keys do

    def action_do(self, action_id: str) -> None:
        """Do what the registry names, or say why not. Whoever goes on waits for no undo."""
        self._undone = frozenset()
        super().action_do(action_id)

    @property
    def situation(self) -> Situation:
        """What can be settled here, and why not."""
        known = Situation(undo=self._hands.can_undo, redo=self._hands.can_redo)
        nothing = "" if self.conflict else "No conflict is left."
        is_whole = self.conflict is not None and self.conflict.is_of_whole
        refusals: Mapping[str, str] = {
            **dict.fromkeys(_SETTLING[:-1], nothing or self._read_only),
            _SETTLING[-1]: nothing,
            **({"both": nothing or self._read_only or _WHOLE} if is_whole else {}),
            "judge-doubts": "" if self._is_known else _NOT_KNOWN,
            "back": nothing or ("" if self._at else "This is the first conflict."),
            "origin": nothing or self._no_origin,
            "forward": nothing
            or ("" if self._at + 1 < len(self._conflicts) else "This is the last conflict."),
            "reveal": "" if self._has_secrets else NO_SECRETS,
            "undo": needs_undo(known),
            "redo": needs_redo(known),
        }
        return replace(super().situation, refusals=refusals, revealed=self.is_revealed)

    @property
    def _focused(self) -> Keep:
        """The side with the focus."""
        return Keep.RIGHT if self._texts[Keep.RIGHT].has_focus else Keep.LEFT

    @property
    def _no_origin(self) -> str:
        side = self.side(self._focused)
        is_known = side is not None and side.origin is not None
        return "" if is_known else "No transcript tells what caused this note."

    @property
    def handlers(self) -> Handlers:
        """What the keys do, by action id."""
        focused = next((it for it in self._texts.values() if it.has_focus), self._nothing)
        return {
            **super().handlers,
            **moving_handlers(focused),
            "merge": self.merge,
            "both": self.keep_both,
            "no-conflict": self.dismiss_conflict,
            "next-pane": self.go_to_other_note,
            "origin": self.show_origin,
            "reveal": self.toggle_secrets,
            "judge-doubts": self.judge_uncertain,
            "undo": self.undo,
            "redo": self.redo,
            "conflicts": self.close,
            "keep-left": partial(self._settle, Keep.LEFT),
            "keep-right": partial(self._settle, Keep.RIGHT),
            "back": partial(self._go, -1),
            "forward": partial(self._go, 1),
            "previous-pane": self.go_to_other_note,
            "leave": self.close,
        }

    def _settle(self, keep: Keep) -> None:
        if self.conflict is not None:
            self._hands.keep(self.conflict, keep)

    def merge(self) -> None:
        """One note of the two."""
        if self.conflict is not None:
            self._hands.merge(self.conflict)

    def keep_both(self) -> None:
        """Each holds for something else."""
        if self.conflict is not None:
            self._hands.keep_both(self.conflict)

    def dismiss_conflict(self) -> None:
        """Both may stay."""
        if self.conflict is not None:
            self._hands.dismiss(self.conflict)

    def _go(self, direction: int) -> None:
        self._at += direction
        self._tell()

    def go_to_other_note(self) -> None:
        """To the other note."""
        left, right = (self._texts[keep] for keep in _SIDES)
        (right if left.has_focus else left).focus()

    def show_origin(self) -> None:
        """What caused the note with the focus."""
        side = self.side(self._focused)
        if side is not None:
            self._hands.origin(side.quote.path)

    def toggle_secrets(self) -> None:
        """The secrets of the two notes, until others are shown; or masked again."""
        if self.conflict is not None:
            self._revealed = "" if self._revealed else self.conflict.id
            self._tell()

    def judge_uncertain(self) -> None:
        """Have what is in doubt judged."""
        self._hands.judge_doubts()

    def undo(self) -> None:
        """Take the last act back."""
        self._before_undo = frozenset(it.id for it in self._conflicts)
        self._hands.undo()

    def redo(self) -> None:
        """Do again what was undone last."""
        self._hands.redo()

    def close(self) -> None:
        """The key that led here leads back."""
        self.dismiss(None)


_HINT = "until a day, since a day, on laptops, in tests …"
_WORDS = "When, or for what, each claim holds; it is written behind it."


class BothScreen(FormScreen):
    """Ends with what was typed of the `left` and the `right` claim."""

    def __init__(self, conflict: Conflict, left: str, right: str, palette: Palette) -> None:
        """`left` and `right` are what was typed before."""
        fields = [Field("left", left, _HINT), Field("right", right, _HINT)]
        super().__init__("Both are true", fields, palette, "show it", _WORDS)
        self._conflict = conflict

    def compose_below(self) -> ComposeResult:
        """The two claims."""
        for name, side in (("left", self._conflict.left), ("right", self._conflict.right)):
            label = StyledSpan(f" {name + ' says':<{LABEL}}", "dim")
            bar = Bar(self._palette, id=f"{name}-claim", base="")
            yield bar.with_left(label, StyledSpan(f"“{one_line(side.quote.text)}”"))
