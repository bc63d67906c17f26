"""Where our own files lie. Apart from `surroundings`, so that a quick answer imports only this."""

from __future__ import annotations

import os
from collections.abc import Mapping

_DELETED = "/(deleted directory)"


def state_directory(environ: Mapping[str, str], given: str = "") -> str:
    """Return the directory of our own state: `given`, else `RICORDO_STATE`, else that of XDG."""
    default = _xdg(environ, "XDG_STATE_HOME", ".local/state")
    return absolute(given or environ.get("RICORDO_STATE") or default)


def agent_home(environ: Mapping[str, str], given: str = "") -> str:
    """Return the home directory in which agents' folders are looked for: `given`, else
    `RICORDO_AGENT_HOME`, else the user's.
    """
    home = given or environ.get("RICORDO_AGENT_HOME") or home_directory(environ)
    return absolute(home)


def config_directory(environ: Mapping[str, str]) -> str:
    """Return the directory of the person's settings."""
    return _xdg(environ, "XDG_CONFIG_HOME", ".config")


def _xdg(environ: Mapping[str, str], name: str, default: str) -> str:
    """Our folder in an XDG base directory; relative values are to be ignored, says the standard."""
    base = environ.get(name, "")
    if not os.path.isabs(base):
        base = os.path.join(home_directory(environ), default)
    return os.path.join(base, "ricordo")


def home_directory(environ: Mapping[str, str]) -> str:
    """Return the user's home: that of the environment, else that of the user's account. A relative
    one would lie in whatever directory we are called in, and is ignored.
    """
    home = environ.get("HOME", "")
    if os.path.isabs(home):
        return home
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        # a user without an account, as in a container
        return "/"


def current_directory(environ: Mapping[str, str]) -> str:
    """Return the current directory; where it was deleted, what the shell says that its path was,
    else one at which nothing is.
    """
    try:
        return os.getcwd()
    except FileNotFoundError:
        path = environ.get("PWD", "")
        return path if os.path.isabs(path) else _DELETED


def absolute(path: str) -> str:
    """Return `path`, which may be relative to the current directory, as an absolute one. Raises
    WrongUsage where that directory was deleted: what is written to it would make it again.
    """
    try:
        return os.path.abspath(path)
    except FileNotFoundError:
        from ricordo.errors import WrongUsage

        raise WrongUsage(
            f"The current directory was deleted, so {path!r} leads nowhere. Name an absolute path."
        ) from None
