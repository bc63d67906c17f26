"""The conflict workbench: two notes that contradict or repeat each other, by a rule or in a model's
opinion, side by side, to be resolved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Protocol

from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content

from ricordo.services.conflicts.conflicts import Conflict, Keep, Side
from ricordo.services.conflicts.opinions import Unresolved
from ricordo.settings.keymap import Keymap
from ricordo.text import make_one_line
from ricordo.tui.actions.bindings import Handlers, moving_handlers
from ricordo.tui.actions.registry import BY_ID, format_action_keys
from ricordo.tui.base.action_screen import ActionScreen
from ricordo.tui.conflicts.rows import (
    describe_no_conflicts,
    format_side_title,
    render_facts,
    render_note,
    render_suggestion,
    render_title,
)
from ricordo.tui.context import (
    NO_ORIGIN,
    NO_SECRETS,
    ActionContext,
    ScreenId,
    needs_redo,
    needs_undo,
)
from ricordo.tui.dialogs.form import LABEL_WIDTH, Field, FormScreen
from ricordo.tui.render.bars import render_key_line
from ricordo.tui.render.empty import render_paragraphs
from ricordo.tui.render.line import StyledLine, StyledSpan
from ricordo.tui.render.mask import find_cached_secrets
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.text_view import AboutView, ReadView

if TYPE_CHECKING:
    from ricordo.tui.color_palette import Palette

SIDE_BY_SIDE_WIDTH = 100
"""Columns from which on the two notes are shown side by side."""
_RESOLVING = ("keep-left", "keep-right", "merge", "both", "no-conflict")
_SIDES = (Keep.LEFT, Keep.RIGHT)
_WHOLE = "These notes may repeat each other: keep one, merge them, or choose “no conflict”."
_NOT_KNOWN = "The notes are still being compared."


class ConflictActions(Protocol):
    """What the workbench can do to the memory; failures are shown to the user there."""

    @property
    def can_undo(self) -> bool:
        """Whether there is a change to undo."""

    @property
    def can_redo(self) -> bool:
        """Whether there is a change to redo."""

    def resolve(self, action_id: str, conflict: Conflict) -> None:
        """Resolve a conflict as the key of that action does, and propose the change set."""

    def judge_uncertain_pairs(self) -> None:
        """Let the user have a model judge the uncertain pairs, or show the opinions on them."""

    def show_origin(self, path: str) -> None:
        """Show the message that caused one of the notes."""

    def undo(self) -> None:
        """Undo the last change."""

    def redo(self) -> None:
        """Do again what was undone last."""


class _NoteView(ReadView):
    """One note, its claim in sight."""

    def __init__(self, palette: Palette, screen: ConflictsScreen, keep: Keep) -> None:
        self._screen = screen
        self._keep = keep
        self._claim = range(0)
        super().__init__(
            palette, self._render_note, id=f"text-{keep}", main_rows=lambda: self._claim
        )

    def _render_note(self, width: int) -> list[StyledLine]:
        side = self._screen.side(self._keep)
        lines: list[StyledLine] = []
        self._claim = range(0)
        if side:
            lines, self._claim = render_note(side, width - 1, revealed=self._screen.is_revealed)
        return lines


class ConflictsScreen(ActionScreen[None]):
    """One conflict after the other, until none is left."""

    SCREEN_ID = ScreenId.CONFLICTS
    CSS_PATH = "style.tcss"

    def __init__(
        self,
        conflicts: Sequence[Conflict],
        palette: Palette,
        keymap: Keymap,
        actions: ConflictActions,
        read_only: str = "",
        *,
        is_compared: bool = True,
    ) -> None:
        """`read_only` is why nothing of the memory can be changed; `is_compared` says whether the
        notes have been compared.
        """
        super().__init__(palette, keymap)
        self._conflicts = tuple(conflicts)
        self._actions = actions
        self._read_only = read_only
        self._is_known = is_compared
        self._unresolved: Unresolved | None = None
        """What was shown last; None while the opinions on uncertain pairs are not read."""
        self._position = 0
        self._revealed = ""
        """Id of the conflict whose notes are shown with their secrets."""
        self._undone: frozenset[str] = frozenset()
        """Ids and paths of the last undo, until the conflict that it brings back is shown."""
        self._before_undo: frozenset[str] = frozenset()
        """Ids of the conflicts before that undo."""
        self._title = Bar(palette, id="title")
        self._keys = Bar(palette, id="keys")
        self._texts = {keep: _NoteView(palette, self, keep).add_class("text") for keep in _SIDES}
        self._facts = {
            keep: AboutView(palette, partial(self._render_facts, keep), id=f"facts-{keep}")
            for keep in _SIDES
        }
        # held here: a worker may update the screen while it closes and has no widgets
        self._sides = {
            keep: Vertical(self._texts[keep], self._facts[keep], id=keep.value, classes="side")
            for keep in _SIDES
        }
        self._suggestion = AboutView(palette, self._render_suggestion, id="suggestion")
        self._empty_view = ReadView(palette, self._render_empty, id="nothing")

    def compose(self) -> ComposeResult:
        yield self._title
        yield Container(*self._sides.values(), id="sides")
        yield self._empty_view
        yield self._suggestion
        yield self._keys

    def on_mount(self) -> None:
        self._texts[Keep.LEFT].focus()
        self._update()

    def on_resize(self) -> None:
        self.set_class(self.size.width >= SIDE_BY_SIDE_WIDTH, "-wide")

    # What is shown

    @property
    def conflict(self) -> Conflict | None:
        """The conflict that is on the screen."""
        return self._conflicts[self._position] if self._conflicts else None

    def side(self, keep: Keep) -> Side | None:
        """Return one of the two notes; None if there is no conflict."""
        return self.conflict.get_side(keep) if self.conflict else None

    @property
    def is_revealed(self) -> bool:
        """Whether the secrets of the two notes are shown."""
        return self.conflict is not None and self.conflict.id == self._revealed

    @property
    def _has_secrets(self) -> bool:
        sides = [side for keep in _SIDES if (side := self.side(keep))]
        return any(find_cached_secrets(side.note.text) for side in sides)

    def show_unresolved(self, unresolved: Unresolved, *, is_compared: bool) -> None:
        """Show the remaining conflicts: the same one if it still exists, else the next one; and the
        number of uncertain pairs that nobody judged.
        """
        before = self.conflict
        self._conflicts, self._unresolved = unresolved.conflicts, unresolved
        self._is_known = is_compared
        ids = [conflict.id for conflict in self._conflicts]
        if before is not None and before.id in ids:
            self._position = ids.index(before.id)
        self._position = max(0, min(self._position, len(ids) - 1))
        self._go_to_undone()
        if self.conflict != before or before is None:
            self._update()
        self.update_bars()

    def go_to(self, conflict_id: str) -> None:
        """Go to a conflict, if it is listed."""
        ids = [conflict.id for conflict in self._conflicts]
        if conflict_id in ids:
            self._position = ids.index(conflict_id)
            self._update()

    def return_to(self, about: frozenset[str]) -> None:
        """Go to the conflict that an undo brings back, now or once the notes are compared: the one
        whose id, or one of whose paths, is in `about`.
        """
        self._undone = about
        if self._go_to_undone():
            self._update()

    def _go_to_undone(self) -> bool:
        for at, conflict in enumerate(self._conflicts if self._undone else ()):
            ids = {conflict.id, conflict.left.quote.path, conflict.right.quote.path}
            if conflict.id not in self._before_undo and ids & self._undone:
                self._position, self._undone = at, frozenset()
                return True
        return False

    def _update(self) -> None:
        if not self.is_revealed:
            self._revealed = ""
        self.set_class(self.conflict is None, "-empty")
        for keep in _SIDES:
            side = self.side(keep)
            key = format_action_keys(BY_ID[f"keep-{keep}"], self.keymap)
            self._sides[keep].border_title = Content(
                f"{key} {keep} · {format_side_title(side)}" if side else ""
            )
            self._texts[keep].redraw()
            self._facts[keep].redraw()
        self._suggestion.redraw()
        self._empty_view.redraw()
        self.update_bars()

    def _render_facts(self, keep: Keep, width: int) -> list[StyledLine]:
        side = self.side(keep)
        return render_facts(side, width) if side else []

    def _render_suggestion(self, width: int) -> list[StyledLine]:
        return render_suggestion(self.conflict, width) if self.conflict else []

    def _render_empty(self, width: int) -> list[StyledLine]:
        if not self._is_known:
            return render_paragraphs([("The notes are being compared …", "dim")], width)
        key = format_action_keys(BY_ID["judge-doubts"], self.keymap)
        return render_paragraphs(describe_no_conflicts(self._unresolved, key), width)

    def update_bars(self) -> None:
        conflict = self.conflict
        if conflict is None:
            title = [StyledSpan(" Conflicts ", "accent bold")]
        else:
            title = [*render_title(conflict, self._conflicts)]
        pending = self._unresolved.pending_count if self._unresolved else 0
        uncertain = (StyledSpan(f" {pending} uncertain ", "dim"),) if pending else ()
        self._title.set_content(tuple(title), uncertain)
        self._keys.set_content(*render_key_line(self.action_context, self.keymap))

    # Keys

    def action_do(self, action_id: str) -> None:
        """Run an action of the registry, or show why it is disabled; stop awaiting an undo."""
        self._undone = frozenset()
        super().action_do(action_id)

    @property
    def action_context(self) -> ActionContext:
        known = ActionContext(undo=self._actions.can_undo, redo=self._actions.can_redo)
        nothing = "" if self.conflict else "There are no conflicts."
        is_whole = self.conflict is not None and self.conflict.is_of_whole
        refusals: Mapping[str, str] = {
            **dict.fromkeys(_RESOLVING[:-1], nothing or self._read_only),
            _RESOLVING[-1]: nothing,
            **({"both": nothing or self._read_only or _WHOLE} if is_whole else {}),
            "judge-doubts": self._no_uncertain_pairs,
            "back": nothing or ("" if self._position else "This is the first conflict."),
            "origin": nothing or self._no_origin,
            "forward": nothing
            or ("" if self._position + 1 < len(self._conflicts) else "This is the last conflict."),
            "reveal": "" if self._has_secrets else NO_SECRETS,
            "undo": needs_undo(known),
            "redo": needs_redo(known),
        }
        return replace(super().action_context, disabled_reasons=refusals, revealed=self.is_revealed)

    @property
    def _no_uncertain_pairs(self) -> str:
        return _NOT_KNOWN if self._unresolved is None or not self._is_known else ""

    @property
    def _focused_side(self) -> Keep:
        """Return the side that has the focus."""
        return Keep.RIGHT if self._texts[Keep.RIGHT].has_focus else Keep.LEFT

    @property
    def _no_origin(self) -> str:
        side = self.side(self._focused_side)
        is_known = side is not None and side.origin is not None
        return "" if is_known else NO_ORIGIN

    @property
    def handlers(self) -> Handlers:
        focused = next((it for it in self._texts.values() if it.has_focus), self._empty_view)
        return {
            **super().handlers,
            **moving_handlers(focused),
            **{action_id: partial(self._resolve, action_id) for action_id in _RESOLVING},
            "next-pane": self.go_to_other_note,
            "origin": self.show_origin,
            "reveal": self.toggle_secrets,
            "judge-doubts": self._actions.judge_uncertain_pairs,
            "undo": self.undo,
            "redo": self._actions.redo,
            "conflicts": self.close,
            "back": partial(self._go, -1),
            "forward": partial(self._go, 1),
            "previous-pane": self.go_to_other_note,
        }

    def _resolve(self, action_id: str) -> None:
        if self.conflict is not None:
            self._actions.resolve(action_id, self.conflict)

    def _go(self, direction: int) -> None:
        self._position += direction
        self._update()

    def go_to_other_note(self) -> None:
        """Focus the other note."""
        left, right = (self._texts[keep] for keep in _SIDES)
        (right if left.has_focus else left).focus()

    def show_origin(self) -> None:
        """Show the origin of the note with the focus."""
        side = self.side(self._focused_side)
        if side is not None:
            self._actions.show_origin(side.quote.path)

    def toggle_secrets(self) -> None:
        """Reveal the secrets of the two notes until another conflict is shown, or mask them."""
        if self.conflict is not None:
            self._revealed = "" if self._revealed else self.conflict.id
            self._update()

    def undo(self) -> None:
        """Undo the last change."""
        self._before_undo = frozenset(it.id for it in self._conflicts)
        self._actions.undo()


_HINT = "until a day, since a day, on laptops, in tests …"
_WORDS = "When or for what is each claim true? The text is added to the claim."


class BothTrueScreen(FormScreen):
    """Asks when or for what each claim is true; returns the texts `left` and `right`."""

    def __init__(self, conflict: Conflict, left: str, right: str, palette: Palette) -> None:
        """`left` and `right` are the texts typed before."""
        fields = [Field("left", left, _HINT), Field("right", right, _HINT)]
        super().__init__("Both are true", fields, palette, "show it", _WORDS)
        self._conflict = conflict

    def compose_below(self) -> ComposeResult:
        for name, side in (("left", self._conflict.left), ("right", self._conflict.right)):
            label = StyledSpan(f" {name + ' claim':<{LABEL_WIDTH}}", "dim")
            bar = Bar(self._palette, id=f"{name}-claim", base="")
            yield bar.with_left(label, StyledSpan(f"“{make_one_line(side.quote.text)}”"))
