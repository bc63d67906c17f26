"""An edit conflict: the text before, theirs, and yours. Nothing was written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.events import Resize
from textual.screen import ModalScreen

from ricordo.memory.diff import compute_hunks
from ricordo.memory.lines import split_lines, strip_line_end
from ricordo.storage.writer import EditConflict
from ricordo.text import make_one_line
from ricordo.tui.actions.bindings import dialog_bindings, format_first_keys
from ricordo.tui.actions.dialogs import Dialog
from ricordo.tui.render.bars import render_keys
from ricordo.tui.render.line import BLANK, StyledLine, StyledSpan, span_text, wrap
from ricordo.tui.render.mask import mask_text
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.text_view import TextView

if TYPE_CHECKING:
    from ricordo.tui.color_palette import Palette

_WIDE = 100
"""Columns from which on the three versions are side by side."""
_NUMBER = 4


class _Version(TextView):
    """One of the three versions, scrolled to its first difference."""

    def __init__(
        self, palette: Palette, draw: Callable[[int], tuple[list[StyledLine], int]], *, id: str
    ) -> None:
        """`draw` returns the lines for a width, and the first line to be in sight."""
        super().__init__(palette, self._draw_lines, id=id)
        self._draw_version = draw
        self._first = 0

    def _draw_lines(self, width: int) -> list[StyledLine]:
        lines, self._first = self._draw_version(width)
        return lines

    def on_resize(self) -> None:
        super().on_resize()
        # and the line before it
        self.jump_to(self._first - 1)


class EditConflictScreen(ModalScreen[bool]):
    """Shows an edit conflict; returns whether the user wants to edit again."""

    CSS_PATH = "overlay.tcss"
    BINDINGS: ClassVar[list[BindingType]] = dialog_bindings(
        Dialog.TEXT,
        {
            "leave": "dismiss(False)",
            "close": "dismiss(False)",
            "edit": "edit_again",
            "help": "app.show_keys",
        },
    )

    def __init__(
        self, conflicts: Sequence[EditConflict], palette: Palette, words: str, *, can_edit: bool
    ) -> None:
        """`words` say where the user's text is, or what to do; they may contain paths."""
        super().__init__()
        self._conflicts = conflicts
        self._palette = palette
        self._words = words
        self._can_edit = can_edit

    def compose(self) -> ComposeResult:
        with Vertical(id="overlay") as overlay:
            overlay.border_title = Content(_describe_conflicts(self._conflicts))
            yield TextView(self._palette, self._render_words, id="words")
            with Container(id="versions"):
                for name, title in (("before", "before"), ("now", "theirs"), ("after", "yours")):
                    view = _Version(self._palette, partial(self._render_version, name), id=name)
                    view.border_title = Content(title)
                    yield view
        keys = [(format_first_keys(self.app, "edit"), "edit again")] if self._can_edit else []
        keys += [
            ("Tab", "next text"),
            (format_first_keys(self.app, "leave"), "back, nothing was written"),
        ]
        yield Bar(self._palette, id="keys").with_left(*render_keys(keys))

    def on_mount(self) -> None:
        self.query_one("#now", TextView).focus()

    def on_resize(self, event: Resize) -> None:
        self.query_one("#versions").set_class(event.size.width >= _WIDE, "-wide")
        words = self.query_one("#words", TextView)
        words.styles.height = min(
            6, len(self._render_words(max(20, event.size.width * 94 // 100 - 5)))
        )

    def action_edit_again(self) -> None:
        """Close, and edit again."""
        if self._can_edit:
            self.dismiss(True)

    def _render_words(self, width: int) -> list[StyledLine]:
        return [
            StyledLine(row) for row in wrap([StyledSpan(make_one_line(self._words))], width - 1)
        ]

    def _render_version(self, name: str, width: int) -> tuple[list[StyledLine], int]:
        """Return the lines of a version, and the first of them that differs in the first file."""
        lines: list[StyledLine] = []
        first = 0
        for conflict in self._conflicts:
            texts = {
                "before": conflict.edit.before,
                "after": conflict.edit.after,
                "now": conflict.current,
            }
            if lines:
                lines.append(BLANK)
            if len(self._conflicts) > 1:
                lines.append(
                    StyledLine((StyledSpan(make_one_line(conflict.edit.path), "heading"),))
                )
            others = [texts["after"], texts["now"]] if name == "before" else [texts["before"]]
            style = "removed" if name == "before" else "added"
            drawn, differs = _render_text(texts[name], others, style, width)
            if conflict is self._conflicts[0]:
                first = len(lines) + differs
            lines += drawn
        return lines, first


def _describe_conflicts(conflicts: Sequence[EditConflict]) -> str:
    deleted = [conflict.current is None for conflict in conflicts]
    if all(deleted):
        return f"Another program deleted {'the file' if len(deleted) == 1 else 'the files'}"
    changed = "Another program changed the same lines"
    return f"{changed}, and deleted files" if any(deleted) else changed


def _render_text(
    raw: bytes | None, others: Sequence[bytes | None], style: str, width: int
) -> tuple[list[StyledLine], int]:
    """Return the lines of a text, those that one of the `others` lacks in `style`; and the first
    line that differs, or before which one of the others has more.
    """
    if raw is None:
        return [StyledLine((StyledSpan("the file does not exist", "dim"),))], 0
    text = _decode(raw)
    marked: set[int] = set()
    differs: list[int] = []
    for other in others:
        for hunk in compute_hunks(_decode(other or b""), text):
            marked.update(range(hunk.new_start, hunk.new_start + len(hunk.new)))
            if other is not None:
                differs.append(hunk.new_start)
    drawn: list[StyledLine] = []
    first = 0
    for number, line in enumerate(split_lines(mask_text(text))):
        if number <= min(differs, default=0):
            first = len(drawn)
        head = (StyledSpan(f"{number + 1:>{_NUMBER}} ", "dim"),)
        spans = [StyledSpan(span_text(strip_line_end(line)), style if number in marked else "")]
        drawn += [
            StyledLine(row) for row in wrap(spans, width, head, (StyledSpan(" " * (_NUMBER + 1)),))
        ]
    return drawn, first


def _decode(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
