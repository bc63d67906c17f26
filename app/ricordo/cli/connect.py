"""`ricordo connect` and `disconnect`: hooks and MCP server of agents, in a folder of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ricordo.cli.change import Changed, print_change
from ricordo.cli.output import is_confirmed, note_change, print_json, print_lines, print_messages
from ricordo.cli.parser import Command, add_json
from ricordo.errors import Unconfirmed
from ricordo.text import make_one_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence

    from ricordo.services.connect.connection import ConnectionResult, ConnectionStatus
    from ricordo.services.workspace.environment import Environment

CONNECT_SUMMARY = """Connect agents: they are given notes, and what they write is indexed.

Writes hooks and, if this Ricordo has it, the MCP server into a folder of Ricordo's own, which the
agent loads by itself; the agent's settings are not edited. What is to be written is shown first and
has to be confirmed. Without AGENT, all agents on this machine are connected. Connecting again
updates the folder. docs/connect.md says what each hook does."""

DISCONNECT_SUMMARY = """Remove what connect wrote.

Only files that are unchanged are removed; others are listed. Ricordo's data, such as history and
index, stays where it is."""

AGENTS = ("claude", "codex", "opencode", "gemini")
"""The names of the agents that can be connected, for completions: their support is slow to load."""
_WORD = "yes"


def add_connect_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `connect`."""
    _add_agents(parser)
    parser.add_argument(
        "--status", action="store_true", help="only show how each agent is connected"
    )
    _add_common(parser, "write")


def add_disconnect_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `disconnect`."""
    _add_agents(parser)
    _add_common(parser, "remove")


def _add_agents(parser: ArgumentParser) -> None:
    parser.add_argument("agents", metavar="AGENT", nargs="*", help=f"one of {', '.join(AGENTS)}")


def _add_common(parser: ArgumentParser, verb: str) -> None:
    parser.add_argument(
        "--dry-run", action="store_true", help=f"show what it would {verb}, and change nothing"
    )
    parser.add_argument("--yes", action="store_true", help=f"{verb} without asking")
    add_json(parser)


def run_connect(options: Namespace, environment: Environment) -> int:
    """Connect agents, or show how they are connected."""
    from ricordo.services.connect.connection import (
        connect,
        describe_plan,
        list_connections,
        read_status,
        refuse_foreign,
    )

    connections = list_connections(environment, options.agents)
    statuses = [read_status(environment, it, asks_agent=options.status) for it in connections]
    if options.status:
        return _print_status(options, statuses)
    chosen = statuses if options.agents else [it for it in statuses if it.is_installed]
    if not chosen:
        names = ", ".join(status.name for status in statuses)
        print_messages([f"No agent was found on this machine: name the one to connect of {names}."])
    for status in chosen:
        refuse_foreign(status)
    planned = [
        line for status in chosen for line in describe_plan(status, shows_text=options.dry_run)
    ]
    if options.dry_run:
        return _print_plan(options, chosen, planned)
    if any(status.is_to_do for status in chosen):
        _confirm(options, planned, "write this")
    results = []
    for status in chosen:
        result = connect(environment, status)
        if result.has_changed:
            verb = "wrote the files of" if result.pending else "connected"
            note_change(f"{verb} {status.name}")
        if result.has_changed or result.pending:
            results.append(result)
        print_messages(_list_warnings(result))
    _print_results(options, results, "connected")
    return 0


def run_disconnect(options: Namespace, environment: Environment) -> int:
    """Disconnect agents."""
    from ricordo.services.connect.connection import disconnect, list_connections, read_status

    connections = list_connections(environment, options.agents)
    statuses = [read_status(environment, it) for it in connections]
    chosen = [it for it in statuses if set(it.files.values()) != {"missing"}]
    planned = [
        f"remove {make_one_line(path)}"
        for status in chosen
        for path, state in status.files.items()
        if state in ("same", "old")
    ]
    if options.dry_run:
        return _print_plan(options, chosen, planned)
    if planned:
        _confirm(options, planned, "remove this")
    results = []
    for status in statuses:
        result = disconnect(environment, status)
        if result.has_changed:
            verb = "removed files of" if result.kept else "disconnected"
            note_change(f"{verb} {status.name}")
        if result.has_changed or result.kept:
            results.append(result)
        print_messages(_list_warnings(result))
    _print_results(options, results, "disconnected")
    return 0


def _confirm(options: Namespace, lines: list[str], what: str) -> None:
    """Have the user confirm. Raises Unconfirmed."""
    if not options.yes and not is_confirmed(lines, _WORD, what):
        raise Unconfirmed(f"Nothing was confirmed: type “{_WORD}” at a terminal, or give --yes.")


def _print_plan(
    options: Namespace, statuses: Sequence[ConnectionStatus], lines: Sequence[str]
) -> int:
    if options.json:
        print_json({"agents": [_describe(status) for status in statuses]}, options.command)
    else:
        print_lines(lines or ["No changes."])
    return 0


def _print_status(options: Namespace, statuses: Sequence[ConnectionStatus]) -> int:
    if options.json:
        print_json({"agents": [_describe(status) for status in statuses]}, options.command)
        return 0
    width = max(len(status.connection.agent.shown) for status in statuses)
    for status in statuses:
        connection = status.connection
        note = "" if status.is_installed else "; not found on this machine"
        where = f"  {make_one_line(connection.root)}" if status.state != "not connected" else ""
        lines = [f"{connection.agent.shown:{width}}  {status.state}{note}{where}"]
        lines += [
            f"  {make_one_line(path)}: {state}"
            for path, state in status.files.items()
            if state == "foreign" or (state == "missing" and status.state == "incomplete")
        ]
        lines += [f"  not run yet: {line}" for line in status.pending]
        lines += [f"  {make_one_line(warning)}" for warning in status.warnings]
        print_lines(lines)
    return 0


def _describe(status: ConnectionStatus) -> dict[str, Any]:
    connection = status.connection
    return {
        "name": status.name,
        "state": status.state.value,
        "installed": status.is_installed,
        "root": connection.root,
        "files": [{"path": path, "state": state.value} for path, state in status.files.items()],
        "hooks": list(connection.list_hook_commands()),
        "commands": [" ".join(command.words) for command in connection.commands],
        "pending": list(status.pending),
        "warnings": list(status.warnings),
    }


def _print_results(options: Namespace, results: Sequence[ConnectionResult], verb: str) -> None:
    changed = [
        *(Changed("created", path) for result in results for path in result.created),
        *(Changed("changed", path) for result in results for path in result.replaced),
        *(Changed("deleted", path) for result in results for path in result.removed),
    ]
    warnings = [warning for result in results for warning in _list_warnings(result)]
    names: dict[str, list[str]] = {}
    for result in results:
        if not result.pending and not result.kept:
            names.setdefault(verb, []).append(result.name)
        elif result.has_changed:
            partly = "wrote the files of" if result.pending else "removed files of"
            names.setdefault(partly, []).append(result.name)
    done = "; ".join(f"{what} {', '.join(those)}" for what, those in names.items())
    details = [f"  {each.kind} {make_one_line(each.path or '')}" for each in changed]
    details += [
        f"{result.shown}: {sentence}"
        for result in results
        for sentence in (() if result.pending else result.advice)
    ]
    print_change(options, done or "No changes.", changed, details=details, warnings=warnings)


def _list_warnings(result: ConnectionResult) -> list[str]:
    pending = result.describe_pending()
    kept = [
        f"Not removed, as it is not what Ricordo wrote: {make_one_line(path)}."
        for path in result.kept
    ]
    still = f"{result.shown} may still use this. Remove it yourself if you do not need it."
    return [*result.warnings, *([pending] if pending else []), *kept, *([still] if kept else [])]


COMMANDS = {
    "connect": Command(CONNECT_SUMMARY, add_connect_arguments, run_connect, ("connect",)),
    "disconnect": Command(
        DISCONNECT_SUMMARY, add_disconnect_arguments, run_disconnect, ("disconnect",)
    ),
}
