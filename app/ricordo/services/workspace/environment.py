"""What surrounds a call: clock, homes, current directory. Tests replace each of them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from ricordo import resources as homes

_FIRST_YEAR, _LAST_YEAR = 1970, 8999
"""Of a clock that is fixed: a century before and after it are days that Python can name."""


class Environment(NamedTuple):
    """Everything that Ricordo takes from the machine instead of from its arguments."""

    cwd: str
    environ: Mapping[str, str]
    agent_home: str
    """The home directory in which agents' folders are looked for."""
    state: str
    """The directory of our own state: decisions, what was seen last, widths of panes."""
    config: str
    """The directory of the person's settings."""
    fixed_now: str = ""
    """The clock as the caller fixed it, ISO 8601; "" for the real one."""
    project: str = ""
    """The project that the caller named for the memory; "" for the one that it belongs to."""

    @property
    def now(self) -> datetime:
        """The present moment, with time zone."""
        if not self.fixed_now:
            return datetime.now().astimezone()
        moment = datetime.fromisoformat(self.fixed_now)
        return moment if moment.tzinfo else moment.astimezone()


def load_environment(
    environ: Mapping[str, str], *, state: str = "", now: str = "", agent_home: str = ""
) -> Environment:
    """Return the surroundings of this process; the named options win over the environment.

    Raises ValueError where `now` or `RICORDO_NOW` is no ISO 8601 time, or one from which days
    cannot be counted back and forth.
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
