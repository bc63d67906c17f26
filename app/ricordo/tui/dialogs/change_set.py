"""A change set, shown as a diff before it is written: only ctrl+s writes it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from ricordo.memory.change import ChangeSet, Edit, drop_empty_edits
from ricordo.memory.diff import revert_hunks
from ricordo.settings.keymap import Keymap
from ricordo.text import make_one_line
from ricordo.tui.actions.bindings import Handlers, moving_handlers
from ricordo.tui.base.action_screen import ActionScreen
from ricordo.tui.context import NO_SECRETS, ActionContext, ScreenId
from ricordo.tui.render.bars import render_key_line
from ricordo.tui.render.line import StyledLine, StyledSpan, wrap
from ricordo.tui.render.mask import mask_text
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.diff_view import DiffView
from ricordo.tui.widgets.text_view import TextView

if TYPE_CHECKING:
    from ricordo.tui.color_palette import Palette

_MOST_WORDS = 8
"""Rows of the text above the diff; the rest is scrolled to."""


class ExtraAction(NamedTuple):
    """An action that only one kind of proposal has."""

    action_id: str
    """Its id in the registry."""
    run: Callable[[ProposalScreen], None]


_EXTRA = {
    "successor": "Only a retired note can have a successor.",
    "retire-whole": "Only a note whose claim is replaced can be retired instead.",
    "purge": "Only a masked secret can be purged from the history.",
}
"""The extra actions, each with the reason why it is disabled elsewhere."""


class ProposalScreen(ModalScreen[ChangeSet | None], ActionScreen[ChangeSet | None]):
    """Shows a change set; returns what the user approved, or None."""

    SCREEN_ID = ScreenId.PROPOSAL

    CSS_PATH = "overlay.tcss"

    def __init__(
        self,
        title: str,
        change_set: ChangeSet,
        palette: Palette,
        keymap: Keymap,
        words: Sequence[str] = (),
        extra: ExtraAction | None = None,
    ) -> None:
        """`title` says what would be done, `words` what the user should know, a line each; both
        may be text of strangers. `change_set` is empty if only a decision is recorded. `extra` is
        an action that only this proposal has.
        """
        ActionScreen.__init__(self, palette, keymap)
        self.also_text = ""
        """What ctrl+s also does, in Ricordo's words."""
        self._extra = extra
        self._title = title
        self._change_set = change_set
        self._words = (*words, *change_set.warnings)
        self._state = Bar(palette, id="state")
        self._keys = Bar(palette, id="keys")
        self._diff = DiffView(palette, self.update_bars, id="diff")

    def compose(self) -> ComposeResult:
        with Vertical(id="overlay") as overlay:
            overlay.border_title = Content(make_one_line(mask_text(self._title)))
            yield TextView(self._palette, self._render_words, id="words")
            yield self._diff
            yield self._state
        yield self._keys

    def on_mount(self) -> None:
        self._show()

    def on_resize(self) -> None:
        view = self.query_one("#words", TextView)
        inside = self.query_one("#overlay").size.width or self.size.width
        view.styles.height = min(len(self._render_words(inside - 3)), _MOST_WORDS)
        view.display = bool(self._words)
        view.can_focus = len(self._render_words(inside - 3)) > _MOST_WORDS

    def show_other(self, change_set: ChangeSet, words: Sequence[str] = ()) -> None:
        """Propose another change set; ctrl+s is ignored for a moment again."""
        self._change_set = change_set
        self._words = (*words, *change_set.warnings)
        self.mounted_at = time.monotonic()
        self.query_one("#words", TextView).on_resize()
        self.on_resize()
        self._show()

    def show_also(self, words: str) -> None:
        """Show what ctrl+s also does."""
        self.also_text = words
        self.update_bars()

    def _show(self) -> None:
        self._diff.show_edits(self._change_set.edits)
        self._diff.focus()
        self.update_bars()

    @property
    def approved(self) -> ChangeSet:
        """Return the change set without the hunks that are left out."""
        edits = [
            _leave_out_hunks(edit, {hunk for n, hunk in self._diff.left_out if n == number})
            for number, edit in enumerate(self._change_set.edits)
        ]
        return replace(self._change_set, edits=drop_empty_edits(edits))

    def _render_words(self, width: int) -> list[StyledLine]:
        return [
            StyledLine(row)
            for word in self._words
            for row in wrap([StyledSpan(make_one_line(mask_text(word)))], width - 1)
        ]

    @property
    def action_context(self) -> ActionContext:
        is_empty = not self._change_set
        nothing_left = (
            "" if self.approved or is_empty else "Every hunk is left out; nothing to write."
        )
        unchanged = "This changes no file." if is_empty else ""
        own_action = self._extra.action_id if self._extra else ""
        reasons = {action: why for action, why in _EXTRA.items() if action != own_action}
        reveal = "" if self._diff.has_secrets else NO_SECRETS
        refusals = {
            "write": nothing_left,
            "hunk": unchanged,
            "columns": unchanged,
            "reveal": reveal,
        }
        return replace(
            super().action_context,
            disabled_reasons=refusals | reasons,
            revealed=self._diff.is_revealed,
        )

    def update_bars(self) -> None:
        edits = self.approved.edits
        counts = [
            (sum(edit.before is None for edit in edits), "created"),
            (sum(None not in (edit.before, edit.after) for edit in edits), "changed"),
            (sum(edit.after is None for edit in edits), "removed"),
        ]
        nothing = "all hunks left out" if self._change_set else "no files change"
        totals = ", ".join(f"{count} {word}" for count, word in counts if count) or nothing
        spans = [StyledSpan(f" {totals}"), StyledSpan(" · nothing is written until ctrl+s", "dim")]
        if self.also_text:
            spans.insert(1, StyledSpan(f" · {self.also_text}", "warning"))
        self._state.set_content(tuple(spans))
        self._keys.set_content(*render_key_line(self.action_context, self.keymap))

    def _run_extra(self) -> None:
        if self._extra is not None:
            self._extra.run(self)

    def toggle_hunk(self) -> None:
        """Leave out or include the hunk under the cursor; on a title go to the next hunk."""
        if not self._diff.toggle_hunk():
            self._diff.go_to_hunk()

    @property
    def handlers(self) -> Handlers:
        return {
            **super().handlers,
            **moving_handlers(self._diff),
            "write": lambda: self.dismiss(self.approved),
            "hunk": self.toggle_hunk,
            "reveal": self._diff.toggle_reveal,
            "columns": self._diff.toggle_columns,
            "successor": self._run_extra,
            "retire-whole": self._run_extra,
            "purge": self._run_extra,
        }


def _leave_out_hunks(edit: Edit, left_out: set[int]) -> Edit:
    """Return `edit` without some of its hunks."""
    if not left_out:
        return edit
    old, new = ((raw or b"").decode("utf-8") for raw in (edit.before, edit.after))
    text = revert_hunks(old, new, left_out)
    if edit.after is None or edit.before is None:
        # a created or deleted file has one hunk
        return replace(edit, after=edit.before)
    return replace(edit, after=text.encode("utf-8"))
