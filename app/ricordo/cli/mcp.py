"""`ricordo mcp`: the server that agents start."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ricordo.cli.output import print_messages
from ricordo.cli.parser import Command, add_memory, get_memory_path
from ricordo.errors import WrongUsage

if TYPE_CHECKING:
    from argparse import Namespace

    from ricordo.services.workspace.environment import Environment

MCP_SUMMARY = """Serve notes to agents by the Model Context Protocol, on stdin and stdout.

Agents start it; its tools search, recall and read notes, list findings and read the handoff. What
agents submit is pending until you decide (`ricordo pending`). Notes with a possible secret, or with
text that may be an order to agents, are never given. Without PATH the memory is that of the agent's
project: by the roots of the client, else by what the agent says in the environment, else by the
current directory. It needs the extra `ricordo[mcp]`."""


def run_mcp(options: Namespace, environment: Environment) -> int:
    """Serve until the agent closes the connection."""
    try:
        from ricordo.mcp.server import serve
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("ricordo"):
            raise
        raise WrongUsage(
            "The MCP server is not installed.",
            hint="Install it, for example with `pip install 'ricordo[mcp]'`.",
        ) from None
    path = get_memory_path(options)
    if sys.stdin.isatty():
        # a user who tries it; an agent's server waits for a memory that is still to come
        from ricordo.services.workspace.places import find_memories

        if path is not None:
            find_memories(path, environment)
        print_messages(["An agent starts this and talks to its standard input; ctrl+d ends it."])
    serve(environment, path)
    return 0


COMMANDS = {"mcp": Command(MCP_SUMMARY, add_memory, run_mcp)}
