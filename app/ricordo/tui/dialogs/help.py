"""All keys, by purpose."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from ricordo.settings.keymap import Keymap
from ricordo.tui.actions.action import Action, Group
from ricordo.tui.actions.bindings import dialog_bindings, format_first_keys
from ricordo.tui.actions.dialogs import Dialog
from ricordo.tui.actions.registry import find_actions, format_action_keys
from ricordo.tui.context import ScreenId
from ricordo.tui.render.bars import render_keys
from ricordo.tui.render.line import BLANK, StyledLine, StyledSpan, wrap
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.text_view import TextView

if TYPE_CHECKING:
    from ricordo.tui.color_palette import Palette

_KEY_COLUMN = 18
_OF_HANDOFFS = (ScreenId.SESSIONS, ScreenId.HANDOFF)


class HelpScreen(ModalScreen[None]):
    """Lists the actions of a screen with their keys."""

    CSS_PATH = "overlay.tcss"
    BINDINGS: ClassVar[list[BindingType]] = dialog_bindings(
        Dialog.TEXT,
        {
            "leave": "dismiss",
            "help": "dismiss",
            "close": "dismiss",
        },
    )

    def __init__(self, palette: Palette, keymap: Keymap, scene: ScreenId) -> None:
        """`keymap` are the user's own keys by action id; `scene` is the screen to list."""
        super().__init__()
        self._palette = palette
        self._keymap = keymap
        self._actions = find_actions(scene)
        self._marks = _explain_handoff_marks() if scene in _OF_HANDOFFS else _GLYPHS_EXPLAINED

    def compose(self) -> ComposeResult:
        """Lay out the keys by purpose."""
        with Vertical(id="overlay") as overlay:
            overlay.border_title = Content("Keys")
            yield TextView(self._palette, self._render_text, id="text")
            yield Bar(self._palette, id="keys").with_left(
                *render_keys([(format_first_keys(self.app, "leave"), "close")])
            )

    def _render_text(self, width: int) -> list[StyledLine]:
        lines: list[StyledLine] = []
        # a screen with Judge keys is for judging: they come first
        for group in sorted(Group, key=lambda group: group is not Group.JUDGE):
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
