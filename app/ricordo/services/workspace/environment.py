"""The environment of a run: what it knows of the machine, the user and the time; and that of the
throwaway copy of the sample memory.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import NamedTuple

from ricordo import resources as homes
from ricordo.resources import sample_memory_directory

_FIRST_YEAR, _LAST_YEAR = 1970, 8999
"""Of a fixed clock: Python can represent the days a century before and after."""


class Environment(NamedTuple):
    """Everything that Ricordo takes from the machine instead of from its arguments."""

    cwd: str
    environ: Mapping[str, str]
    agent_home: str
    """The home directory in which agents' folders are searched."""
    state: str
    """Directory for Ricordo's data: decisions, last seen numbers, pane widths."""
    config: str
    """The directory of the user's settings."""
    fixed_now: str = ""
    """The time that the caller fixed, ISO 8601; "" for the system clock."""
    project: str = ""
    """The project that the caller named for the memory; "" for the memory's own."""

    @property
    def now(self) -> datetime:
        """The current time, with time zone."""
        if not self.fixed_now:
            return datetime.now().astimezone()
        moment = datetime.fromisoformat(self.fixed_now)
        return moment if moment.tzinfo else moment.astimezone()


def load_environment(
    environ: Mapping[str, str], *, state: str = "", now: str = "", agent_home: str = ""
) -> Environment:
    """Return the environment of this process; options win over environment variables.

    Raises ValueError if `now` or `RICORDO_NOW` is not an ISO 8601 time of the supported years.
    """
    fixed = now or environ.get("RICORDO_NOW", "")
    if fixed and not _FIRST_YEAR <= datetime.fromisoformat(fixed).year <= _LAST_YEAR:
        raise ValueError(fixed)
    return Environment(
        cwd=homes.current_directory(environ),
        environ=environ,
        agent_home=homes.agent_home(environ, agent_home),
        state=homes.state_directory(environ, state),
        config=homes.config_directory(environ),
        fixed_now=fixed,
    )


class Sample(NamedTuple):
    """The paths of the copy."""

    memory: str
    """The directory of its memory."""
    environment: Environment
    """The caller's environment with the home, state and project of the copy."""


@contextmanager
def copy_sample(environment: Environment) -> Iterator[Sample]:
    """Copy the sample memory to a temporary folder; delete the copy on exit."""
    from ricordo.storage.private_copy import temporary_copy

    with temporary_copy(sample_memory_directory()) as folder:
        yield Sample(
            os.path.join(folder, "memory"),
            environment._replace(
                cwd=os.path.join(folder, "project"),
                agent_home=os.path.join(folder, "home"),
                state=os.path.join(folder, "state"),
                project=os.path.join(folder, "project"),
            ),
        )
