"""An agent, the tables in its package, and a directory that is its memory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from ricordo.memory.layout import Layout
from ricordo.resources import read_data_text


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent as a value: equal to another one of the same name."""

    name: str
    """In state files, JSON output and options; also the name of its package."""
    shown: str
    """The name as people write it."""
    keeps_database: bool = False
    """Whether one file holds many sessions."""


@cache
def read_table(agent: Agent, name: str) -> dict[str, Any]:
    """Return the table `name`.toml in the package of `agent`."""
    import tomli

    return tomli.loads(read_data_text(f"agents/{agent.name}/{name}.toml"))


@dataclass(frozen=True, slots=True)
class MemoryPlace:
    """One memory directory on this machine."""

    root: str
    """Absolute path."""
    layout: Layout
    project: str = ""
    """The project's directory; "" if it is unknown."""
    reason: str = ""
    """Why it was found, as users read it."""
    is_in_project: bool = False
    """Whether it was found in the folders of a project. Of several such memories none is likelier
    than another.
    """
