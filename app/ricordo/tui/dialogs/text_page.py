"""Pages of text over a screen: the base of all; the keys; the rule of a finding or the conventions
of a memory; the load of an agent.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
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
from ricordo.settings.keymap import Keymap
from ricordo.text import make_one_line, make_visible
from ricordo.tui.actions.action import Action, Group
from ricordo.tui.actions.bindings import dialog_bindings, format_first_keys
from ricordo.tui.actions.dialogs import Dialog
from ricordo.tui.actions.registry import format_action_keys
from ricordo.tui.context import NOTEBOOK, ScreenId
from ricordo.tui.render.bars import render_keys
from ricordo.tui.render.line import BLANK, StyledLine, StyledSpan, wrap
from ricordo.tui.render.mask import mask_text
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.text_view import TextView

if TYPE_CHECKING:
    from ricordo.services.workspace.notebook import Snapshot
    from ricordo.tui.color_palette import Palette


class TextPage(ModalScreen[None]):
    """A page of text."""

    KEYS_SHOWN: ClassVar[int] = 3
    """How many of its keys the bottom line names."""
    # absolute: Textual resolves a relative path beside the module of the subclass
    CSS_PATH = Path(__file__).with_name("overlay.tcss")
    BINDINGS: ClassVar[list[BindingType]] = dialog_bindings(
        Dialog.TEXT, {"leave": "dismiss", "close": "dismiss", "help": "app.show_keys"}
    )

    def __init__(self, title: str, palette: Palette, summary: str = "") -> None:
        """`summary` is a line above the text; "" for none."""
        super().__init__()
        self._title = title
        self._summary = summary
        self._palette = palette

    def compose(self) -> ComposeResult:
        with Vertical(id="overlay") as overlay:
            overlay.border_title = Content(self._title)
            if self._summary:
                summary = StyledSpan(f" {self._summary}", "bold")
                yield Bar(self._palette, id="title").with_left(summary)
            yield TextView(self._palette, self.render_text, id="text")
        keys = (
            (format_first_keys(self.app, "leave"), "close"),
            ("↑ ↓ PgUp PgDn", "move"),
            (format_first_keys(self.app, "help"), "keys"),
        )
        yield Bar(self._palette, id="keys").with_left(*render_keys(keys[: self.KEYS_SHOWN]))

    @abstractmethod
    def render_text(self, width: int) -> list[StyledLine]:
        """Return the text as lines for a number of cells."""


class TextScreen(TextPage):
    """Shows lines with titles."""

    def __init__(
        self, title: str, make_text: Callable[[int], Iterable[str]], palette: Palette
    ) -> None:
        """`make_text` returns the visible lines for a number of cells. A title is the first of
        them, and every one after an empty line that is not indented.
        """
        super().__init__(title, palette)
        self._make_text = make_text

    def render_text(self, width: int) -> list[StyledLine]:
        lines: list[StyledLine] = []
        is_title = True
        for text in self._make_text(width):
            is_title &= not text.startswith(" ")
            style = "heading" if is_title else "dim" if text.startswith("  │") else ""
            lines += [StyledLine(row) for row in wrap([StyledSpan(text, style)], width)]
            is_title = not text
        return lines


class LoadScreen(TextPage):
    """Shows the exact text that an agent gets at session start, and what is cut off."""

    BINDINGS: ClassVar[list[BindingType]] = dialog_bindings(Dialog.TEXT, {"load": "dismiss"})

    def __init__(
        self, snapshot: Snapshot, palette: Palette, *, is_other_folder: bool = False
    ) -> None:
        """`snapshot` gives the memory; `is_other_folder` says that the agent has another one."""
        agent = snapshot.memory.layout.agent or "an agent"
        gets = "would get" if is_other_folder else "gets"
        summary = format_load(snapshot.memory)
        super().__init__(f"What {agent} {gets} at session start", palette, summary)
        self._memory = snapshot.memory
        self._is_other_folder = is_other_folder

    def render_text(self, width: int) -> list[StyledLine]:
        load = self._memory.load
        lines: list[StyledLine] = []
        if self._is_other_folder:
            about = [StyledSpan(format_other_folder(self._memory.layout.agent), "warning")]
            lines += [*map(StyledLine, wrap(about, width)), BLANK]
        for text in mask_text(load.text).split("\n"):
            style = "heading" if text.startswith("#") else ""
            spans = [StyledSpan(make_visible(text.rstrip("\r").expandtabs(4)), style)]
            lines += [StyledLine(row) for row in wrap(spans, width)]
        if load.cut_at_line is None:
            return lines
        cut = f"──── agents stop reading here: line {load.cut_at_line} of the index ────"
        lines += [BLANK, StyledLine((StyledSpan(cut, "cut"),))]
        for line, title, path in find_unloaded_entries(self._memory):
            row = [
                StyledSpan(f"{line:>5}  ", "dim"),
                StyledSpan(make_one_line(mask_text(title))),
                StyledSpan(f"  {make_one_line(path)}", "dim"),
            ]
            lines += [StyledLine(spans) for spans in wrap(row, width)]
        return lines


_KEY_COLUMN = 18
_OF_HANDOFFS = (ScreenId.SESSIONS, ScreenId.HANDOFF)


class HelpScreen(TextPage):
    """Lists the actions of a screen with their keys."""

    KEYS_SHOWN = 2
    BINDINGS: ClassVar[list[BindingType]] = dialog_bindings(Dialog.TEXT, {"help": "dismiss"})

    def __init__(
        self,
        palette: Palette,
        keymap: Keymap,
        actions: Sequence[Action],
        screen_id: ScreenId | None = None,
    ) -> None:
        """`keymap` are the user's own keys by action id, `actions` those to list, of the screen
        `screen_id`; None for a dialog without actions of its own.
        """
        super().__init__("Keys", palette)
        self._keymap = keymap
        self._actions = actions
        # a screen with Judge keys is for judging: they come first; the notebook is for reading
        first = Group.MOVE if screen_id in NOTEBOOK else Group.JUDGE
        self._groups = sorted(Group, key=lambda group: group is not first)
        self._marks: tuple[StyledLine, ...] = ()
        if screen_id is not None:
            of_handoff = screen_id in _OF_HANDOFFS
            self._marks = _explain_handoff_marks() if of_handoff else _GLYPHS_EXPLAINED

    def render_text(self, width: int) -> list[StyledLine]:
        lines: list[StyledLine] = []
        for group in self._groups:
            actions = [action for action in self._actions if action.group is group]
            if actions:
                lines.append(StyledLine((StyledSpan(group.value, "heading"),)))
                lines += (line for action in actions for line in self._render_action(action, width))
                lines.append(BLANK)
        return [*lines, *self._marks]

    def _render_action(self, action: Action, width: int) -> list[StyledLine]:
        keys = format_action_keys(action, self._keymap) or "palette"
        key = StyledSpan(f"  {keys:<{_KEY_COLUMN - 3}} ", "key")
        indent = StyledSpan(" " * _KEY_COLUMN)
        return [
            StyledLine(row) for row in wrap([StyledSpan(action.help)], width, (key,), (indent,))
        ]


_GLYPHS_EXPLAINED = (
    StyledLine((StyledSpan("Marks", "heading"),)),
    StyledLine(
        (
            StyledSpan("  ✗ ", "error"),
            StyledSpan("an error"),
            StyledSpan("   ! ", "warning"),
            StyledSpan("a warning"),
        )
    ),
    StyledLine(
        (
            StyledSpan("  · ", "info"),
            StyledSpan("worth knowing"),
            StyledSpan("   ✓ ", "fine"),
            StyledSpan("OK, no findings"),
        )
    ),
    StyledLine(
        (
            StyledSpan("  ● ", "changed"),
            StyledSpan("changed by another program since you opened it"),
        )
    ),
    StyledLine((StyledSpan("  ◆ ", "accent"), StyledSpan("marked by you"))),
    StyledLine(
        (
            StyledSpan("  § ", "dim"),
            StyledSpan("protected: neither the curator nor a fix may change it"),
        )
    ),
)


def _explain_handoff_marks() -> tuple[StyledLine, ...]:
    """Return the legend of the marks of statements."""
    from ricordo.tui.render.handoff_marks import GLYPHS, MEANINGS

    rows = (
        StyledLine(
            (
                StyledSpan(f"  {GLYPHS[status][0]} ", GLYPHS[status][1]),
                StyledSpan(f"{status.value:<11}{meaning}"),
            )
        )
        for status, meaning in MEANINGS.items()
    )
    return (StyledLine((StyledSpan("Marks", "heading"),)), *rows)
