"""All keys, by purpose."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from ricordo.settings.keymap import Keymap
from ricordo.tui.actions.action import Action, Group
from ricordo.tui.actions.registry import actions_on, label_of
from ricordo.tui.render.line import BLANK, Line, Span, wrap
from ricordo.tui.situation import Scene
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.text_view import TextView

if TYPE_CHECKING:
    from ricordo.tui.palette import Palette

_KEY_COLUMN = 18
_OF_HANDOFFS = (Scene.SESSIONS, Scene.HANDOFF)


class HelpScreen(ModalScreen[None]):
    """What can be done, and with which key."""

    CSS_PATH = "overlay.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,q", "dismiss", "close", show=False)
    ]

    def __init__(self, palette: Palette, keymap: Keymap, scene: Scene) -> None:
        """`keymap` are the person's own keys by action id, `scene` is the screen they are for."""
        super().__init__()
        self._palette = palette
        self._keymap = keymap
        self._actions = actions_on(scene)
        self._marks = _marks_of_handoffs() if scene in _OF_HANDOFFS else _GLYPHS_EXPLAINED

    def compose(self) -> ComposeResult:
        """A title, the keys by purpose."""
        with Vertical(id="overlay") as overlay:
            overlay.border_title = Content("Keys")
            yield TextView(self._palette, self._lines, id="text")
            yield Bar(self._palette, id="keys").with_left(
                Span(" Esc ", "key"), Span("close", "dim")
            )

    def _lines(self, width: int) -> list[Line]:
        lines: list[Line] = []
        # on a screen where something is judged, that is what it is for
        for group in sorted(Group, key=lambda group: group is not Group.JUDGE):
            actions = [action for action in self._actions if action.group is group]
            if actions:
                lines.append(Line((Span(group.value, "heading"),)))
                lines += (line for it in actions for line in self._action_lines(it, width))
                lines.append(BLANK)
        return [*lines, *self._marks]

    def _action_lines(self, action: Action, width: int) -> list[Line]:
        keys = label_of(action, self._keymap) or "palette"
        key = Span(f"  {keys:<{_KEY_COLUMN - 3}} ", "key")
        indent = Span(" " * _KEY_COLUMN)
        return [Line(row) for row in wrap([Span(action.help)], width, (key,), (indent,))]


_GLYPHS_EXPLAINED = (
    Line((Span("Marks", "heading"),)),
    Line((Span("  ✗ ", "error"), Span("an error"), Span("   ! ", "warning"), Span("a warning"))),
    Line(
        (
            Span("  · ", "info"),
            Span("worth knowing"),
            Span("   ✓ ", "fine"),
            Span("nothing is wrong"),
        )
    ),
    Line((Span("  ● ", "changed"), Span("changed by somebody else while you looked"))),
    Line((Span("  ◆ ", "accent"), Span("marked by you"))),
    Line((Span("  § ", "dim"), Span("protected: neither the curator nor a fix may change it"))),
)


def _marks_of_handoffs() -> tuple[Line, ...]:
    """Return what the marks of statements mean."""
    from ricordo.tui.render.handoff_lines import EXPLAINED, GLYPHS

    rows = (
        Line(
            (Span(f"  {GLYPHS[status][0]} ", GLYPHS[status][1]), Span(f"{status.value:<11}{told}"))
        )
        for status, told in EXPLAINED.items()
    )
    return (Line((Span("Marks", "heading"),)), *rows)
