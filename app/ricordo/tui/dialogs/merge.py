"""The same lines, changed by two: the text before, theirs, and yours. Nothing was written."""

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

from ricordo.memory.diff import hunks
from ricordo.memory.lines import bare, split_lines
from ricordo.storage.writer import EditConflict
from ricordo.text import one_line
from ricordo.tui.actions.bindings import dialog_bindings, first_keys
from ricordo.tui.actions.dialogs import Dialog
from ricordo.tui.render.bars import key_spans
from ricordo.tui.render.line import BLANK, StyledLine, StyledSpan, shown, wrap
from ricordo.tui.render.mask import masked
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.text_view import TextView

if TYPE_CHECKING:
    from ricordo.tui.color_palette import Palette

_WIDE = 100
"""Columns from which on the three stand side by side."""
_NUMBER = 4


class _Version(TextView):
    """One of the three; drawn for a width, it begins where it differs."""

    def __init__(
        self, palette: Palette, draw: Callable[[int], tuple[list[StyledLine], int]], *, id: str
    ) -> None:
        """`draw` gives the lines for a width, and the first of them to be in sight."""
        super().__init__(palette, self._drawn_from, id=id)
        self._draw_version = draw
        self._first = 0

    def _drawn_from(self, width: int) -> list[StyledLine]:
        lines, self._first = self._draw_version(width)
        return lines

    def on_resize(self) -> None:
        """Draw for the new width, and bring what differs into sight."""
        super().on_resize()
        # with the line before it
        self.jump_to(self._first - 1)


class ThreeVersionsScreen(ModalScreen[bool]):
    """Ends with whether the person wants to edit again."""

    CSS_PATH = "overlay.tcss"
    BINDINGS: ClassVar[list[BindingType]] = dialog_bindings(
        Dialog.TEXT,
        {
            "leave": "dismiss(False)",
            "close": "dismiss(False)",
            "edit": "edit_again",
        },
    )

    def __init__(
        self, clashes: Sequence[EditConflict], palette: Palette, words: str, *, can_edit: bool
    ) -> None:
        """`words` say where what the person wrote lies, or what to do; they may hold paths."""
        super().__init__()
        self._clashes = clashes
        self._palette = palette
        self._words = words
        self._can_edit = can_edit

    def compose(self) -> ComposeResult:
        """What happened, the three texts, the keys."""
        with Vertical(id="overlay") as overlay:
            overlay.border_title = Content(_title(self._clashes))
            yield TextView(self._palette, self._word_lines, id="words")
            with Container(id="versions"):
                for name, title in (("before", "before"), ("now", "theirs"), ("after", "yours")):
                    view = _Version(self._palette, partial(self._version, name), id=name)
                    view.border_title = Content(title)
                    yield view
            keys = [(first_keys(self.app, "edit"), "edit again")] if self._can_edit else []
            keys += [
                ("Tab", "next text"),
                (first_keys(self.app, "leave"), "back, nothing was written"),
            ]
            yield Bar(self._palette, id="keys").with_left(*key_spans(keys))

    def on_mount(self) -> None:
        """Begin with what they wrote."""
        self.query_one("#now", TextView).focus()

    def on_resize(self, event: Resize) -> None:
        """Side by side where there is room."""
        self.query_one("#versions").set_class(event.size.width >= _WIDE, "-wide")
        words = self.query_one("#words", TextView)
        words.styles.height = min(
            6, len(self._word_lines(max(20, event.size.width * 94 // 100 - 5)))
        )

    def repaint(self, palette: Palette) -> None:
        """Take the styles of another theme; what is on the screen is drawn anew by itself."""
        self._palette = palette

    def action_edit_again(self) -> None:
        """End with the wish to edit again."""
        if self._can_edit:
            self.dismiss(True)

    def _word_lines(self, width: int) -> list[StyledLine]:
        return [StyledLine(row) for row in wrap([StyledSpan(one_line(self._words))], width - 1)]

    def _version(self, name: str, width: int) -> tuple[list[StyledLine], int]:
        """Return the lines of a version, and the first of them that is other in the first file."""
        lines: list[StyledLine] = []
        first = 0
        for clash in self._clashes:
            texts = {"before": clash.edit.before, "after": clash.edit.after, "now": clash.now}
            if lines:
                lines.append(BLANK)
            if len(self._clashes) > 1:
                lines.append(StyledLine((StyledSpan(one_line(clash.edit.path), "heading"),)))
            others = [texts["after"], texts["now"]] if name == "before" else [texts["before"]]
            style = "removed" if name == "before" else "added"
            drawn, differs = _drawn(texts[name], others, style, width)
            if clash is self._clashes[0]:
                first = len(lines) + differs
            lines += drawn
        return lines, first


def _title(clashes: Sequence[EditConflict]) -> str:
    deleted = [clash.now is None for clash in clashes]
    if all(deleted):
        return f"Somebody else deleted {'the file' if len(deleted) == 1 else 'the files'}"
    changed = "Somebody else changed the same lines"
    return f"{changed}, and deleted files" if any(deleted) else changed


def _drawn(
    raw: bytes | None, others: Sequence[bytes | None], style: str, width: int
) -> tuple[list[StyledLine], int]:
    """Return the lines of a text, those that one of the `others` does not have in `style`, and the
    first of them that differs, or before which one of the others has more.
    """
    if raw is None:
        return [StyledLine((StyledSpan("the file is not there", "dim"),))], 0
    text = _text(raw)
    own: set[int] = set()
    differs: list[int] = []
    for other in others:
        for hunk in hunks(_text(other or b""), text):
            own.update(range(hunk.new_start, hunk.new_start + len(hunk.new)))
            if other is not None:
                differs.append(hunk.new_start)
    drawn: list[StyledLine] = []
    first = 0
    for number, line in enumerate(split_lines(masked(text))):
        if number <= min(differs, default=0):
            first = len(drawn)
        head = (StyledSpan(f"{number + 1:>{_NUMBER}} ", "dim"),)
        spans = [StyledSpan(shown(bare(line)), style if number in own else "")]
        drawn += [
            StyledLine(row) for row in wrap(spans, width, head, (StyledSpan(" " * (_NUMBER + 1)),))
        ]
    return drawn, first


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
