"""How agents are connected: the agents above, below what connecting the chosen one writes, or what
disconnecting it removes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from textual.app import ComposeResult
from textual.content import Content

from ricordo.errors import ChangeRefused, RicordoError
from ricordo.resources import shorten_home
from ricordo.services.connect.connection import (
    ConnectionResult,
    ConnectionState,
    ConnectionStatus,
    FileMatch,
    connect,
    disconnect,
    list_connections,
    read_status,
    refuse_foreign,
)
from ricordo.services.workspace.environment import Environment
from ricordo.settings.keymap import Keymap
from ricordo.text import make_one_line
from ricordo.tui.actions.bindings import Handlers, moving_handlers
from ricordo.tui.base.action_screen import ActionScreen
from ricordo.tui.color_palette import Palette
from ricordo.tui.context import ActionContext, ScreenId
from ricordo.tui.render.bars import render_key_line
from ricordo.tui.render.empty import render_labelled, render_paragraph
from ricordo.tui.render.line import BLANK, StyledLine, StyledSpan, fit, span_text, wrap
from ricordo.tui.widgets.bar import Bar
from ricordo.tui.widgets.line_view import CursorView
from ricordo.tui.widgets.text_view import TextView
from ricordo.tui.workers import start_worker

_NAME, _STATE = 14, 16
"""Cells of the columns."""
_MARKS = {
    ConnectionState.CONNECTED: ("✓", "success"),
    ConnectionState.NOT_CONNECTED: ("·", "dim"),
}
_READING = "Reading how agents are connected …"
_REMOVAL = "What disconnecting removes"
_BENEFIT = "Messages bring the notes that are relevant to them; what the agent writes is indexed."
_WORKING = "Files are being written or removed; wait for the result."
_IS_OFF = "This agent is not connected."
_IS_SHOWN = "What is removed is shown here; nothing is removed yet."
_IS_ON = "This agent is connected: there is nothing to write."
_REMOVED = (FileMatch.SAME, FileMatch.OLD)
"""The files that disconnecting removes."""


class AgentList(CursorView):
    """Lists the agents and how they are connected."""

    def __init__(self, palette: Palette, on_move: Callable[[], None], home: str) -> None:
        """`on_move` is called when the cursor moved."""
        super().__init__(palette, on_move, id="agents")
        self.statuses: Sequence[ConnectionStatus] = ()
        self._home = home

    def show(self, statuses: Sequence[ConnectionStatus]) -> None:
        """Show other states; the cursor stays."""
        self.statuses = statuses
        self.lines_changed()
        self.set_cursor(max(self.cursor, 0))

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
        mark, style = _MARKS.get(status.state, ("!", "warning"))
        where = make_one_line(shorten_home(status.connection.root, self._home))
        note = where if status.is_installed else "not found on this machine"
        problems = (*(f"not run yet: {line}" for line in status.pending), *status.warnings)
        if problems:
            mark, style, note = "!", "warning", make_one_line(shorten_home(problems[0], self._home))
        spans = (
            StyledSpan(f" {mark} ", style),
            StyledSpan(f"{status.connection.agent.shown:{_NAME}}", "bold"),
            StyledSpan(f"{status.state:{_STATE}}", style),
            StyledSpan(note, "dim"),
        )
        return StyledLine(fit(spans, self.content_width)), "cursor" if number == self.cursor else ""

    def can_stop(self, number: int) -> bool:
        """Return True: every agent can be chosen."""
        return True


class ConnectScreen(ActionScreen[None]):
    """Shows how agents are connected, and connects or disconnects one."""

    SCREEN_ID = ScreenId.CONNECT

    CSS_PATH = "style.tcss"

    def __init__(
        self, environment: Environment, palette: Palette, keymap: Keymap, agent: str = ""
    ) -> None:
        """Nothing is read before the screen is mounted. `agent` is the one to choose first."""
        super().__init__(palette, keymap)
        self._environment = environment
        self._first = agent
        self._agents = AgentList(palette, self._move_on, environment.agent_home)
        self._plan = TextView(palette, self._render_plan, id="plan")
        self._title = Bar(palette, id="title")
        self._state = Bar(palette, id="state")
        self._keys = Bar(palette, id="keys")
        self.is_idle = False
        """Whether the states are shown, and nothing is being read or written."""
        self.is_removing = False
        """Whether it is shown what disconnecting removes."""

    def compose(self) -> ComposeResult:
        """Lay out the agents, the plan and the keys."""
        yield self._title
        yield self._agents
        yield self._plan
        yield self._state
        yield self._keys

    def on_mount(self) -> None:
        """Focus the list and begin to read."""
        super().on_mount()
        self._agents.border_title = Content("Agents")
        self._plan.border_subtitle = Content("PgUp PgDn scroll")
        self._agents.focus()
        self._reread()
        self.update_bars()

    @property
    def action_context(self) -> ActionContext:
        """The context of the actions."""
        return ActionContext(
            screen_id=self.SCREEN_ID,
            disabled_reasons=self._find_refusals(self._agents.status),
            removing=self.is_removing,
        )

    def _find_refusals(self, status: ConnectionStatus | None) -> Mapping[str, str]:
        """Return why actions are disabled, by action id."""
        if status is None or not self.is_idle:
            return dict.fromkeys(("write", "no", "reread"), _WORKING if status else _READING)
        reasons = {"no": _IS_OFF if status.state is ConnectionState.NOT_CONNECTED else ""}
        if self.is_removing:
            reasons["no"] = _IS_SHOWN
        else:
            reasons["write"] = _IS_ON if status.is_working else _find_obstacle(status)
        return reasons

    @property
    def handlers(self) -> Handlers:
        """Return the handlers of the keys by action id."""
        return {
            **super().handlers,
            **moving_handlers(self._agents),
            "page-down": partial(self._plan.move_page, 1),
            "page-up": partial(self._plan.move_page, -1),
            "write": self._write,
            "no": self._show_removal,
            "reread": self._reread,
            "leave": self._leave,
        }

    def update_bars(self) -> None:
        """Show what is connected, and the keys that work now."""
        statuses = self._agents.statuses
        connected = sum(status.is_working for status in statuses)
        count = f" {connected} of {len(statuses)} agents connected" if statuses else ""
        title = (StyledSpan(" Connect ", "accent bold"), StyledSpan(count, "dim"))
        self._title.set_content(title, (StyledSpan("hooks and MCP server ", "dim"),))
        is_open = self.is_idle and not self._find_refusals(self._agents.status).get("write")
        verb = "removed" if self.is_removing else "written"
        state = f" nothing is {verb} until ctrl+s" if is_open else ""
        self._state.set_content((StyledSpan(state, "dim"),))
        status = self._agents.status
        about = "What connecting writes" if status and status.is_to_do else "Connection"
        self._plan.border_title = Content(_REMOVAL if self.is_removing else about)
        self._keys.set_content(*render_key_line(self.action_context, self.keymap))

    # What the keys do

    def _leave(self) -> None:
        """Go back from the removal, else close the screen."""
        if self.is_removing:
            self._move_on()
        else:
            self.dismiss(None)

    def _move_on(self) -> None:
        """Show what connecting the agent under the cursor writes."""
        self.is_removing = False
        self._show_plan()

    def _show_removal(self) -> None:
        self.is_removing = True
        self._show_plan()

    def _show_plan(self) -> None:
        if self.is_mounted:
            self._plan.on_resize()
            self._plan.jump_to(0)
            self.update_bars()

    def _write(self) -> None:
        """Do what is shown."""
        status = self._agents.status
        if status is not None:
            change = disconnect if self.is_removing else connect
            self._run(lambda: _describe(change(self._environment, status)))

    def _reread(self) -> None:
        self._run(lambda: ())

    def _run(self, work: Callable[[], Sequence[str]]) -> None:
        """Do `work` in a thread, then show the states and what it returns."""
        self.is_idle = False
        start_worker(self, partial(self._do, work), group="connect", exclusive=True)

    async def _do(self, work: Callable[[], Sequence[str]]) -> None:
        try:
            messages = await asyncio.to_thread(work)
        except RicordoError as error:
            messages = ()
            self.notify(str(error), severity="error", markup=False, timeout=10)
        for message in messages:
            self.notify(message, markup=False, timeout=8)
        statuses = await asyncio.to_thread(self._read_statuses)
        self._agents.show(statuses)
        names = [status.name for status in statuses]
        if self._first in names:
            self._agents.set_cursor(names.index(self._first))
        self._first = ""
        self.is_idle = True
        self._move_on()
        start_worker(self, self._ask_agents, group="asking", exclusive=True)

    def _read_statuses(self) -> list[ConnectionStatus]:
        environment = self._environment
        return [read_status(environment, it) for it in list_connections(environment)]

    async def _ask_agents(self) -> None:
        """Ask the agents that can say so which hooks they trust; that may take seconds."""
        for number, status in enumerate(self._agents.statuses):
            if status.connection.server_command is not None:
                ask = partial(read_status, self._environment, status.connection, asks_agent=True)
                asked = await asyncio.to_thread(ask)
                if self._agents.statuses[number] is status and asked != status:
                    statuses = list(self._agents.statuses)
                    statuses[number] = asked
                    self._agents.show(statuses)
                    self._show_plan()

    # What is shown

    def _render_plan(self, width: int) -> list[StyledLine]:
        status = self._agents.status
        if status is None:
            return [StyledLine((StyledSpan(_READING, "heading"),))]
        home = self._environment.agent_home
        render = _render_removal if self.is_removing else _render_plan
        return list(render(status, partial(shorten_home, home=home), width))


def _find_obstacle(status: ConnectionStatus) -> str:
    """Return why the agent cannot be connected; "" if it can."""
    try:
        refuse_foreign(status)
    except ChangeRefused as refusal:
        return str(refusal)
    return ""


def _render_plan(
    status: ConnectionStatus, shorten: Callable[[str], str], width: int
) -> Iterator[StyledLine]:
    """Yield what connecting writes, with the text of each file."""
    connection, obstacle = status.connection, shorten(_find_obstacle(status))
    differ = [it for it in connection.files if status.files[it.path] is not FileMatch.SAME]
    written = [] if obstacle else differ
    root = shorten(connection.root)
    title = f"{connection.agent.shown} is {status.state}."
    if status.state is ConnectionState.CONNECTED and status.warnings:
        title = f"{connection.agent.shown} is connected, but does not use all of it yet."
    if obstacle:
        title += " It cannot be connected: something else is in the way."
    elif status.pending and not written:
        title += " Connecting runs the commands below, which did not run yet."
    elif written:
        files = "1 file" if len(written) == 1 else f"{len(written)} files"
        title += f" Connecting writes {files} to {root}. Ricordo edits no settings."
    yield from render_paragraph(title, "heading", width)
    yield BLANK
    if not status.warnings:
        yield from render_paragraph(_BENEFIT, "", width)
        yield BLANK
    rows = [
        ("in the way", [obstacle] if obstacle else [], "warning"),
        ("not run yet", [shorten(it) for it in status.pending], "warning"),
        ("warning", status.warnings, "warning"),
        ("folder", [] if written else [root], ""),
        ("hooks", [shorten(it) for it in _join_hooks(connection.list_hook_commands())], ""),
        ("then runs", [shorten(" ".join(it.words)) for it in connection.commands], ""),
        ("afterwards", connection.advice, ""),
    ]
    yield from render_labelled(rows, width)
    for file in written:
        verb = "create" if status.files[file.path] is FileMatch.MISSING else "replace"
        path = shorten(file.path)
        yield BLANK
        yield from render_paragraph(f"{verb} {path}", "accent", width)
        for line in file.content.decode("utf-8", "replace").rstrip("\n").split("\n"):
            text = span_text(line)
            indent = StyledSpan("  " + " " * (len(text) - len(text.lstrip())))
            rest = (indent._replace(text=f"{indent.text}    "),)
            yield from map(
                StyledLine, wrap([StyledSpan(text.lstrip(), "dim")], width, (indent,), rest)
            )


def _render_removal(
    status: ConnectionStatus, shorten: Callable[[str], str], width: int
) -> Iterator[StyledLine]:
    """Yield what disconnecting removes and what it leaves."""
    removed = [shorten(path) for path, match in status.files.items() if match in _REMOVED]
    left = [shorten(path) for path, match in status.files.items() if match is FileMatch.FOREIGN]
    files = "1 file" if len(removed) == 1 else f"{len(removed)} files"
    title = f"Disconnecting {status.connection.agent.shown} removes {files}."
    yield from render_paragraph(title, "heading", width)
    yield BLANK
    commands = [shorten(" ".join(it.words)) for it in status.connection.undo_commands]
    rows = [
        ("first runs", commands, ""),
        ("removes", removed, "removed"),
        ("leaves", left, "warning"),
        ("", ["Files that somebody changed stay."] if left else [], "dim"),
        ("keeps", ["Ricordo's own data, such as history and index."], "dim"),
    ]
    yield from render_labelled(rows, width)


def _join_hooks(commands: Iterator[str]) -> Iterator[str]:
    """Yield the command lines of hooks, those that differ in the last word as one."""
    events: dict[str, list[str]] = {}
    for command in commands:
        program, _, event = command.rpartition(" ")
        events.setdefault(program, []).append(event)
    for program, names in events.items():
        yield f"{program} {' | '.join(names)}"


def _describe(result: ConnectionResult) -> list[str]:
    """Return what was done, a sentence each."""
    written, removed = len(result.created) + len(result.replaced), len(result.removed)
    done = [
        f"{result.shown}: {written} files written." if written else "",
        f"{result.shown}: {removed} files removed." if removed else "",
        *(f"Not removed, as it was changed: {make_one_line(path)}." for path in result.kept),
        *result.warnings,
        result.describe_pending() or f"{result.shown} is connected." * bool(result.ran),
        *(result.advice if written and not result.pending else ()),
    ]
    return [sentence for sentence in done if sentence] or ["No changes."]
