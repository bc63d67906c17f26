"""All keys, by purpose."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType

from ricordo.settings.keymap import Keymap
from ricordo.tui.actions.action import Action, Group
from ricordo.tui.actions.bindings import dialog_bindings
from ricordo.tui.actions.dialogs import Dialog
from ricordo.tui.actions.registry import find_actions, format_action_keys
from ricordo.tui.context import ScreenId
from ricordo.tui.dialogs.text_page import TextPage
from ricordo.tui.render.line import BLANK, StyledLine, StyledSpan, wrap

if TYPE_CHECKING:
    from ricordo.tui.color_palette import Palette

_KEY_COLUMN = 18
_OF_HANDOFFS = (ScreenId.SESSIONS, ScreenId.HANDOFF)


class HelpScreen(TextPage):
    """Lists the actions of a screen with their keys."""

    BINDINGS: ClassVar[list[BindingType]] = dialog_bindings(Dialog.TEXT, {"help": "dismiss"})

    def __init__(self, palette: Palette, keymap: Keymap, scene: ScreenId) -> None:
        """`keymap` are the user's own keys by action id; `scene` is the screen to list."""
        super().__init__("Keys", palette)
        self._keymap = keymap
        self._actions = find_actions(scene)
        self._marks = _explain_handoff_marks() if scene in _OF_HANDOFFS else _GLYPHS_EXPLAINED

    def render_text(self, width: int) -> list[StyledLine]:
        """Return the keys by purpose, and what the marks mean."""
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
