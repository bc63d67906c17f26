"""The three panes: which are shown, their widths, and which has the focus."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message

from ricordo.memory.note import Note
from ricordo.services.describe import format_finding
from ricordo.tui.actions.bindings import Handlers, moving_handlers
from ricordo.tui.color_palette import Palette
from ricordo.tui.context import ActionContext, Pane
from ricordo.tui.render.freshness_rows import FindingScope
from ricordo.tui.widgets.freshness_list import FindingBox, FreshnessList
from ricordo.tui.widgets.index_list import IndexList
from ricordo.tui.widgets.note_view import NoteView

SIDE_BY_SIDE = 120
"""Columns from which on all three panes are shown side by side."""
TWO_PANES = 80
"""Columns from which on two panes are; below, one."""
_SHARES = {Pane.INDEX: 34, Pane.NOTE: 40, Pane.FRESHNESS: 26}
"""Shares of the width, in hundredths."""
_LEAST_SHARE, _MOST_SHARE, _STEP = 12, 76, 4


class Panes(Horizontal):
    """Lays out index, note and freshness."""

    class Rearranged(Message):
        """A pane appeared, disappeared, or has another width."""

    class FocusMoved(Message):
        """Another pane has the focus."""

    def __init__(
        self,
        palette: Palette,
        shares: dict[str, int],
        cursor_moved: Callable[[Pane], None],
        *,
        id: str,
    ) -> None:
        """`shares` are the last widths by pane; `cursor_moved` is called with the pane whose
        cursor moved.
        """
        super().__init__(id=id)
        self.index = IndexList(palette, partial(cursor_moved, Pane.INDEX), id="pane-index")
        self.note = NoteView(palette, id="pane-note")
        self.freshness = FreshnessList(
            palette, partial(cursor_moved, Pane.FRESHNESS), id="freshness"
        )
        self.finding = FindingBox(palette, id="finding")
        self._shares = {pane: shares.get(pane.value, share) for pane, share in _SHARES.items()}
        self._titles: dict[Pane, str] = {}
        self._is_zoomed = False
        self._is_freshness_shown = False
        self.active = Pane.INDEX
        """The pane that has or last had the focus."""

    def compose(self) -> ComposeResult:
        yield self.index.add_class("pane")
        yield self.note.add_class("pane")
        with Vertical(id="pane-freshness", classes="pane"):
            yield self.freshness
            yield self.finding

    def on_mount(self) -> None:
        self.set_title(Pane.FRESHNESS, "Freshness")
        self._arrange()
        self._focus(Pane.INDEX)

    @property
    def shares(self) -> dict[str, int]:
        """Return the widths by pane."""
        return {pane.value: share for pane, share in self._shares.items()}

    @property
    def has_room(self) -> bool:
        """Return whether the terminal is wide enough for several panes."""
        return self.screen.size.width >= TWO_PANES

    @property
    def visible_panes(self) -> tuple[Pane, ...]:
        """Return the panes that are on the screen."""
        if self._is_zoomed or not self.has_room:
            return (self.active,)
        if self.screen.size.width >= SIDE_BY_SIDE:
            return tuple(Pane)
        return (Pane.INDEX, Pane.FRESHNESS if self._is_freshness_shown else Pane.NOTE)

    def set_title(self, pane: Pane, title: str) -> None:
        """Set the title of a pane, visible text."""
        if self._titles.get(pane) != title:
            self._titles[pane] = title
            self.query_one(f"#pane-{pane.value}").border_title = Content(title)

    def focus_pane(self, pane: Pane) -> None:
        """Show a pane and focus it."""
        self.active = pane
        if pane is not Pane.INDEX:
            self._is_freshness_shown = pane is Pane.FRESHNESS
        self._arrange()
        self._focus(pane)

    def _focus(self, pane: Pane) -> None:
        # at once: keys that were already pressed go to the new pane
        self.screen.set_focus(self._widget(pane))

    @property
    def context(self) -> ActionContext:
        """Return the state of the panes for the action registry."""
        among_findings = self.active is Pane.FRESHNESS
        return ActionContext(
            pane=self.active,
            finding=among_findings and self.freshness.finding is not None,
            dismissed=among_findings and self.freshness.scope is FindingScope.DISMISSED,
            rule=among_findings and bool(self.freshness.rule),
            links=self.note.has_links,
            link=self.note.chosen_link is not None,
            searching=self.note.is_searching,
            several_panes=len(self.visible_panes) > 1,
            room=self.has_room,
        )

    def get_copy_text(self, note: Note | None) -> str:
        """Return the text to copy without a selection; `note` is the open note."""
        if self.active is Pane.FRESHNESS and self.freshness.finding is not None:
            return format_finding(self.freshness.finding)
        if self.active is Pane.NOTE:
            chosen = self.note.chosen_link
            page = self.note.page
            return chosen.path if chosen else page.body.strip() if page else ""
        return note.path if note else ""

    @property
    def focused_list(self) -> IndexList | NoteView | FreshnessList:
        """Return the widget for the moving keys."""
        return self._widget(self.active)

    def on_descendant_focus(self) -> None:
        """Remember the pane that got the focus, by key or mouse."""
        for pane in Pane:
            if self._widget(pane) is self.screen.focused:
                self.active = pane
        self.post_message(self.FocusMoved())

    def on_resize(self) -> None:
        self._arrange()

    def _arrange(self) -> None:
        shown = self.visible_panes
        total = sum(self._shares[pane] for pane in shown)
        for pane in Pane:
            frame = self.query_one(f"#pane-{pane.value}")
            frame.display = pane in shown
            frame.styles.width = f"{100 * self._shares[pane] / total:.2f}%"
        self.post_message(self.Rearranged())

    def _widget(self, pane: Pane) -> IndexList | NoteView | FreshnessList:
        match pane:
            case Pane.INDEX:
                return self.index
            case Pane.NOTE:
                return self.note
            case Pane.FRESHNESS:
                return self.freshness

    # Keys

    @property
    def handlers(self) -> Handlers:
        return {
            **moving_handlers(self.focused_list),
            "next": partial(self._move_sideways, 1),
            "previous": partial(self._move_sideways, -1),
            "next-pane": partial(self._focus_next, 1),
            "previous-pane": partial(self._focus_next, -1),
            "index": partial(self.focus_pane, Pane.INDEX),
            "note": partial(self.focus_pane, Pane.NOTE),
            "freshness": partial(self.focus_pane, Pane.FRESHNESS),
            "zoom": self.toggle_zoom,
            "narrower": partial(self._resize, -_STEP),
            "wider": partial(self._resize, _STEP),
            "next-match": partial(self.note.next_match, 1),
            "previous-match": partial(self.note.next_match, -1),
        }

    def _move_sideways(self, step: int) -> None:
        if self.active is Pane.NOTE:
            self.note.choose_link(step)
        elif self.active is Pane.FRESHNESS:
            self.freshness.change_scope(step)
        elif step > 0:
            self.focus_pane(Pane.NOTE)

    def _focus_next(self, step: int) -> None:
        panes = tuple(Pane) if len(self.visible_panes) == 1 else self.visible_panes
        self.focus_pane(panes[(panes.index(self.active) + step) % len(panes)])

    def toggle_zoom(self) -> None:
        """Give the active pane the whole screen, or show all panes again."""
        self._is_zoomed = not self._is_zoomed
        self._arrange()

    def _resize(self, by: int) -> None:
        share = self._shares[self.active] + by
        self._shares[self.active] = min(max(share, _LEAST_SHARE), _MOST_SHARE)
        self._arrange()
