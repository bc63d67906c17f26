"""A change set, shown as a diff before it is written: only ctrl+s writes it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from ricordo.memory.change import ChangeSet, Edit, effective
from ricordo.memory.diff import without_hunks
from ricordo.settings.keymap import Keymap
from ricordo.text import one_line
from ricordo.tui.actions.handlers import Handlers, moving_handlers
from ricordo.tui.base.acting_screen import ActingScreen, bindings_on
from ricordo.tui.context import NO_SECRETS, Scene, Situation
from ricordo.tui.render.bars import key_line
from ricordo.tui.render.line import StyledLine, StyledSpan, wrap
from ricordo.tui.render.mask import masked
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.diff_view import DiffView
from ricordo.tui.widgets.text_view import TextView

if TYPE_CHECKING:
    from ricordo.tui.color_palette import Palette

_MOST_WORDS = 8
"""Rows of what to know that stand above the diff; the rest is scrolled to."""


class Extra(NamedTuple):
    """What can be done in one kind of proposal only."""

    action: str
    """Its id in the registry."""
    run: Callable[[ProposalScreen], None]


_EXTRA = {
    "successor": "Only where notes are retired another one can take their place.",
    "retire-whole": "Only where the claim of a note is replaced the note can be retired instead.",
    "purge": "Only where a credential is masked the history can be purged of it.",
}
"""The actions that may be extra, and why the others cannot be done."""


class ProposalScreen(ModalScreen[ChangeSet | None], ActingScreen[ChangeSet | None]):
    """Ends with what the person approved, or with None."""

    SCENE = Scene.PROPOSAL

    CSS_PATH = "overlay.tcss"
    BINDINGS: ClassVar[list[BindingType]] = bindings_on(SCENE)

    def __init__(
        self,
        title: str,
        change_set: ChangeSet,
        palette: Palette,
        keymap: Keymap,
        words: Sequence[str] = (),
        extra: Extra | None = None,
    ) -> None:
        """`title` says what would be done, `words` what the person should know, a line each; both
        may be text of strangers. `change_set` may be empty, where only something is decided.
        `extra` is what only this proposal can do.
        """
        ActingScreen.__init__(self, palette, keymap)
        self.also = ""
        """What ctrl+s does besides, in words of our own."""
        self._extra = extra
        self._title = title
        self._change_set = change_set
        self._words = (*words, *change_set.remarks)
        self._state = Bar(palette, id="state")
        self._keys = Bar(palette, id="keys")
        self._diff = DiffView(palette, self.say, id="diff")

    def compose(self) -> ComposeResult:
        """What would be done, what to know, the diff, the keys."""
        with Vertical(id="overlay") as overlay:
            overlay.border_title = Content(one_line(masked(self._title)))
            yield TextView(self._palette, self._word_lines, id="words")
            yield self._diff
            yield self._state
            yield self._keys

    def on_mount(self) -> None:
        """Show the diff, and wait for a decision."""
        self._show()

    def on_resize(self) -> None:
        """Give what to know the rows that it needs."""
        view = self.query_one("#words", TextView)
        inside = self.query_one("#overlay").size.width or self.size.width
        view.styles.height = min(len(self._word_lines(inside - 3)), _MOST_WORDS)
        view.display = bool(self._words)
        view.can_focus = len(self._word_lines(inside - 3)) > _MOST_WORDS

    def replace(self, change_set: ChangeSet, words: Sequence[str] = ()) -> None:
        """Propose something else: it has to be looked at anew."""
        self._change_set = change_set
        self._words = (*words, *change_set.remarks)
        self.opened = time.monotonic()
        self.query_one("#words", TextView).on_resize()
        self.on_resize()
        self._show()

    def say_also(self, words: str) -> None:
        """Say what ctrl+s does besides."""
        self.also = words
        self.say()

    def _show(self) -> None:
        self._diff.show(self._change_set.edits)
        self._diff.focus()
        self.say()

    @property
    def approved(self) -> ChangeSet:
        """The change set without the hunks that are left out."""
        edits = [
            _without(edit, {hunk for n, hunk in self._diff.left_out if n == number})
            for number, edit in enumerate(self._change_set.edits)
        ]
        return replace(self._change_set, edits=effective(edits))

    def _word_lines(self, width: int) -> list[StyledLine]:
        return [
            StyledLine(row)
            for word in self._words
            for row in wrap([StyledSpan(one_line(masked(word)))], width - 1)
        ]

    @property
    def situation(self) -> Situation:
        """Nothing is written where every hunk is left out."""
        is_empty = not self._change_set
        nothing = "" if self.approved or is_empty else "Every hunk is left out; Esc goes back."
        unchanged = "No file is changed." if is_empty else ""
        own = self._extra.action if self._extra else ""
        others = {action: why for action, why in _EXTRA.items() if action != own}
        reveal = "" if self._diff.has_secrets else NO_SECRETS
        refusals = {"write": nothing, "hunk": unchanged, "columns": unchanged, "reveal": reveal}
        return replace(super().situation, refusals=refusals | others, revealed=self._diff.revealed)

    def say(self) -> None:
        """Tell what would be written, and the keys."""
        edits = self.approved.edits
        counts = [
            (sum(edit.before is None for edit in edits), "created"),
            (sum(None not in (edit.before, edit.after) for edit in edits), "changed"),
            (sum(edit.after is None for edit in edits), "removed"),
        ]
        nothing = "nothing is left" if self._change_set else "no file is changed"
        told = ", ".join(f"{count} {word}" for count, word in counts if count) or nothing
        spans = [StyledSpan(f" {told}"), StyledSpan(" · nothing is written until ctrl+s", "dim")]
        if self.also:
            spans.insert(1, StyledSpan(f" · {self.also}", "warning"))
        self._state.say(tuple(spans))
        self._keys.say(*key_line(self.situation, self.keymap))

    def approve(self) -> None:
        """End with what is approved."""
        self.dismiss(self.approved)

    def _run_extra(self) -> None:
        if self._extra is not None:
            self._extra.run(self)

    def toggle_hunk(self) -> None:
        """Leave the hunk under the cursor out, or take it in again; from a title, go to one."""
        if not self._diff.leave_out():
            self._diff.go_to_hunk()

    def toggle_secrets(self) -> None:
        """The secrets of what is changed, or masked again."""
        self._diff.reveal()

    def toggle_columns(self) -> None:
        """Side by side, or one column."""
        self._diff.turn()

    def reject(self) -> None:
        """End without approval."""
        self.dismiss(None)

    @property
    def handlers(self) -> Handlers:
        """What the keys do, by action id."""
        return {
            **super().handlers,
            **moving_handlers(self._diff),
            "write": self.approve,
            "hunk": self.toggle_hunk,
            "reveal": self.toggle_secrets,
            "columns": self.toggle_columns,
            "leave": self.reject,
            "successor": self._run_extra,
            "retire-whole": self._run_extra,
            "purge": self._run_extra,
        }


def _without(edit: Edit, left_out: set[int]) -> Edit:
    """Return `edit` without some of its hunks."""
    if not left_out:
        return edit
    old, new = ((raw or b"").decode("utf-8") for raw in (edit.before, edit.after))
    text = without_hunks(old, new, left_out)
    if edit.after is None or edit.before is None:
        # a file that comes or goes does so whole
        return replace(edit, after=edit.before)
    return replace(edit, after=text.encode("utf-8"))
