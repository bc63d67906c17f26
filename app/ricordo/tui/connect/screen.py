"""How agents are connected: the agents above, below what connecting the chosen one writes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from ricordo.errors import RicordoError
from ricordo.services.connect.connection import (
    ConnectionResult,
    ConnectionState,
    ConnectionStatus,
    connect,
    describe_plan,
    disconnect,
    list_connections,
    read_status,
)
from ricordo.services.workspace.environment import Environment
from ricordo.settings.keymap import Keymap
from ricordo.text import make_one_line
from ricordo.tui.actions.bindings import Handlers, moving_handlers
from ricordo.tui.base.action_screen import ActionScreen, make_bindings
from ricordo.tui.color_palette import Palette
from ricordo.tui.context import ActionContext, ScreenId
from ricordo.tui.render.bars import render_key_line
from ricordo.tui.render.line import StyledLine, StyledSpan, wrap
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.line_view import CursorView
from ricordo.tui.widgets.text_view import TextView

_NAME, _STATE = 14, 16
"""Cells of the columns."""
_MARKS = {
    ConnectionState.CONNECTED: "✓",
    ConnectionState.NOT_CONNECTED: "·",
}
_WORKING = "Working …"


class AgentList(CursorView):
    """Lists the agents and how they are connected."""

    def __init__(self, palette: Palette, on_move: Callable[[], None]) -> None:
        """`on_move` is called when the cursor moved."""
        super().__init__(palette, on_move, id="agents")
        self.statuses: Sequence[ConnectionStatus] = ()

    def show(self, statuses: Sequence[ConnectionStatus]) -> None:
        """Show other states; the cursor stays."""
        self.statuses = statuses
        self.lines_changed()
        self.move_to(max(self.cursor, 0))

    @property
    def status(self) -> ConnectionStatus | None:
        """The agent under the cursor; None before they were read."""
        is_there = 0 <= self.cursor < len(self.statuses)
        return self.statuses[self.cursor] if is_there else None

    @property
    def line_count(self) -> int:
        """Return the number of agents."""
        return len(self.statuses)

    def line_at(self, number: int) -> tuple[StyledLine, str]:
        """Draw one agent."""
        status = self.statuses[number]
        mark = _MARKS.get(status.state, "!")
        where = make_one_line(status.connection.root)
        note = "" if status.is_installed else "not found on this machine  "
        spans = (
            StyledSpan(f" {mark} {status.connection.agent.shown:{_NAME}}", "bold"),
            StyledSpan(f"{status.state:{_STATE}}"),
            StyledSpan(f"{note}{where}", "dim"),
        )
        return StyledLine(spans), "cursor" if number == self.cursor else ""

    def can_stop(self, number: int) -> bool:
        """Return True: every agent can be chosen."""
        return True


class ConnectScreen(ActionScreen[None]):
    """Shows how agents are connected, and connects or disconnects one."""

    SCREEN_ID = ScreenId.CONNECT

    CSS_PATH = "style.tcss"
    BINDINGS: ClassVar[list[BindingType]] = make_bindings(SCREEN_ID)

    def __init__(self, environment: Environment, palette: Palette, keymap: Keymap) -> None:
        """Nothing is read before the screen is mounted."""
        super().__init__(palette, keymap)
        self._environment = environment
        self._agents = AgentList(palette, self._show_plan)
        self._plan = TextView(palette, self._render_plan, id="plan")
        self.is_idle = False
        """Whether the states are shown, and nothing is being read or written."""

    def compose(self) -> ComposeResult:
        """Lay out the agents, the plan and the keys."""
        title = StyledSpan(" Connect · hooks and MCP server of agents", "bold")
        yield Bar(self._palette, id="title").with_left(title)
        yield self._agents
        yield self._plan
        yield Bar(self._palette, id="keys")

    def on_mount(self) -> None:
        """Focus the list and begin to read."""
        super().on_mount()
        self._agents.focus()
        self._run(self._read)
        self.update_bars()

    @property
    def action_context(self) -> ActionContext:
        """The context of the actions."""
        reasons = {"write": _WORKING, "no": _WORKING} if not self.is_idle else {}
        status = self._agents.status
        if self.is_idle and status is not None:
            is_off = status.state is ConnectionState.NOT_CONNECTED
            reasons = {"no": "This agent is not connected."} if is_off else {}
        return ActionContext(screen_id=self.SCREEN_ID, disabled_reasons=reasons)

    @property
    def handlers(self) -> Handlers:
        """Return the handlers of the keys by action id."""
        return {
            **super().handlers,
            **moving_handlers(self._agents),
            "write": lambda: self._change(connect),
            "no": lambda: self._change(disconnect),
            "leave": self._close,
        }

    def update_bars(self) -> None:
        """Show the keys that work now."""
        bar = self.query_one("#keys", Bar)
        bar.set_content(*render_key_line(self.action_context, self.keymap))

    def _close(self) -> None:
        self.dismiss(None)

    def _show_plan(self) -> None:
        if self.is_mounted:
            self._plan.on_resize()
            self.update_bars()

    def _render_plan(self, width: int) -> list[StyledLine]:
        status = self._agents.status
        lines = list(describe_plan(status, shows_text=True)) if status else []
        return [StyledLine(row) for line in lines for row in wrap([StyledSpan(line)], width)]

    def _run(self, work: Callable[[], Sequence[str]]) -> None:
        """Do `work` in a thread, then show the states and what it returns."""
        self.is_idle = False
        self.run_worker(self._do(work), group="connect", exclusive=True)

    async def _do(self, work: Callable[[], Sequence[str]]) -> None:
        try:
            messages, severity = await asyncio.to_thread(work), "information"
        except RicordoError as error:
            messages, severity = [str(error)], "error"
        statuses = await asyncio.to_thread(self._read_statuses)
        self.is_idle = True
        self._agents.show(statuses)
        self._show_plan()
        for message in messages:
            if severity == "error":
                self.notify(message, severity="error", markup=False, timeout=10)
            else:
                self.notify(message, markup=False, timeout=8)

    def _change(self, change: Callable[[Environment, ConnectionStatus], ConnectionResult]) -> None:
        status = self._agents.status
        if status is not None:
            self._run(lambda: _describe(change(self._environment, status)))

    # In a thread

    def _read(self) -> Sequence[str]:
        return ()

    def _read_statuses(self) -> list[ConnectionStatus]:
        environment = self._environment
        return [read_status(environment, it) for it in list_connections(environment)]


def _describe(result: ConnectionResult) -> list[str]:
    """Return what was done, a sentence each."""
    written, removed = len(result.created) + len(result.replaced), len(result.removed)
    done = [
        f"{result.shown}: {written} files written." if written else "",
        f"{result.shown}: {removed} files removed." if removed else "",
        *(f"Not removed, as it was changed: {make_one_line(path)}." for path in result.kept),
        *result.warnings,
        *(result.advice if written else ()),
    ]
    return [sentence for sentence in done if sentence] or ["No changes."]
