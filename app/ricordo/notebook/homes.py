"""Where our own files lie. Apart from `surroundings`, so that a quick answer imports only this."""

from __future__ import annotations

import os
from collections.abc import Mapping


def state_directory(environ: Mapping[str, str], given: str = "") -> str:
    """Return the directory of our own state: `given`, else `RICORDO_STATE`, else that of XDG."""
    default = _xdg(environ, "XDG_STATE_HOME", ".local/state")
    return os.path.abspath(given or environ.get("RICORDO_STATE") or default)


def agent_home(environ: Mapping[str, str], given: str = "") -> str:
    """Return the home directory in which agents' folders are looked for: `given`, else
    `RICORDO_AGENT_HOME`, else the user's.
    """
    home = environ.get("HOME") or os.path.expanduser("~")
    return os.path.abspath(given or environ.get("RICORDO_AGENT_HOME") or home)


def config_directory(environ: Mapping[str, str]) -> str:
    """Return the directory of the person's settings."""
    return _xdg(environ, "XDG_CONFIG_HOME", ".config")


def _xdg(environ: Mapping[str, str], name: str, default: str) -> str:
    """Our folder in an XDG base directory; relative values are to be ignored, says the standard."""
    base = environ.get(name, "")
    if not os.path.isabs(base):
        base = os.path.join(environ.get("HOME") or os.path.expanduser("~"), default)
    return os.path.join(base, "ricordo")
