"""The load: the text that an agent gets at session start, and what is cut off."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from ricordo.services.load_description import (
    find_unloaded_entries,
    format_load,
    format_other_folder,
)
from ricordo.text import make_one_line, make_visible
from ricordo.tui.actions.bindings import dialog_bindings, format_first_keys
from ricordo.tui.actions.dialogs import Dialog
from ricordo.tui.render.bars import render_keys
from ricordo.tui.render.line import BLANK, StyledLine, StyledSpan, wrap
from ricordo.tui.render.mask import mask_text
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.text_view import TextView

if TYPE_CHECKING:
    from ricordo.services.workspace.notebook import Snapshot
    from ricordo.tui.color_palette import Palette


class LoadScreen(ModalScreen[None]):
    """Shows the exact text that an agent gets at session start."""

    CSS_PATH = "overlay.tcss"
    BINDINGS: ClassVar[list[BindingType]] = dialog_bindings(
        Dialog.TEXT,
        {
            "leave": "dismiss",
            "load": "dismiss",
            "close": "dismiss",
        },
    )

    def __init__(
        self, snapshot: Snapshot, palette: Palette, *, is_other_folder: bool = False
    ) -> None:
        """`snapshot` gives the memory; `is_other_folder` says that the agent has another one."""
        super().__init__()
        self._snapshot = snapshot
        self._palette = palette
        self._is_other_folder = is_other_folder

    def compose(self) -> ComposeResult:
        """Lay out the title, the text and the keys."""
        agent = self._snapshot.memory.layout.agent or "an agent"
        with Vertical(id="overlay") as overlay:
            gets = "would get" if self._is_other_folder else "gets"
            overlay.border_title = Content(f"What {agent} {gets} at session start")
            title = StyledSpan(format_load(self._snapshot.memory), "bold")
            yield Bar(self._palette, id="title").with_left(title)
            yield TextView(self._palette, self._render_text, id="text")
            keys = ((format_first_keys(self.app, "leave"), "close"), ("↑ ↓ PgUp PgDn", "move"))
            yield Bar(self._palette, id="keys").with_left(*render_keys(keys))

    def _render_text(self, width: int) -> list[StyledLine]:
        memory = self._snapshot.memory
        lines: list[StyledLine] = []
        if self._is_other_folder:
            about = [StyledSpan(format_other_folder(memory.layout.agent), "warning")]
            lines += [*map(StyledLine, wrap(about, width)), BLANK]
        for text in mask_text(memory.load.text).split("\n"):
            style = "heading" if text.startswith("#") else ""
            spans = [StyledSpan(make_visible(text.rstrip("\r").expandtabs(4)), style)]
            lines += [StyledLine(row) for row in wrap(spans, width)]
        not_loaded = find_unloaded_entries(memory)
        if memory.load.cut_at_line is None:
            return lines
        cut = f"──── agents stop reading here: line {memory.load.cut_at_line} of the index ────"
        lines += [BLANK, StyledLine((StyledSpan(cut, "cut"),))]
        for line, title, path in not_loaded:
            row = [
                StyledSpan(f"{line:>5}  ", "dim"),
                StyledSpan(make_one_line(mask_text(title))),
                StyledSpan(f"  {make_one_line(path)}", "dim"),
            ]
            lines += [StyledLine(spans) for spans in wrap(row, width)]
        return lines
