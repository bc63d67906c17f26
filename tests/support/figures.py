"""How much a test tries: little every day, much in a soak.

A test that repeats something asks here how often. `make soak` answers with its large figures,
through the environment.
"""

from __future__ import annotations

import os


def figure(name: str, everyday: int) -> int:
    """Return the figure `name` of this run: that of the soak, else `everyday`."""
    return int(os.environ.get(variable(name), everyday))


def variable(name: str) -> str:
    """Return the environment variable that carries the figure `name`."""
    return f"RICORDO_SOAK_{name.upper()}"
