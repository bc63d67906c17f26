"""Paths of shipped files (themes, the sample memory, data files) and of the user's directories.

Themes and sample memory are inside the wheel, or at the top of a checkout.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_PACKAGE = os.path.dirname(os.path.abspath(__file__))
_CHECKOUT = os.path.dirname(os.path.dirname(_PACKAGE))


def themes_directory() -> str:
    """Return the directory of the themes that ship with Ricordo."""
    return _find("themes")


def sample_memory_directory() -> str:
    """Return the directory of the sample memory; only copies of it are opened."""
    return _find("sample_memory")


def read_data_text(name: str) -> str:
    """Return the text of the data file `name` of the package."""
    # imported here: it would take the prompt hook longer than the rest of this module
    from pkgutil import get_data

    data = get_data("ricordo", name)
    assert data is not None
    return data.decode()


def find_data_file(name: str) -> str:
    """Return the path of the data file `name` of the package, to show to the user."""
    return os.path.join(_PACKAGE, *name.split("/"))


def _find(name: str) -> str:
    shipped = os.path.join(_PACKAGE, name)
    return shipped if os.path.isdir(shipped) else os.path.join(_CHECKOUT, name)


_DELETED = "/(deleted directory)"


def state_directory(environ: Mapping[str, str], given: str = "") -> str:
    """Return the state directory: `given`, else `RICORDO_STATE`, else that of XDG."""
    default = _xdg(environ, "XDG_STATE_HOME", ".local/state")
    return make_absolute(given or environ.get("RICORDO_STATE") or default)


def agent_home(environ: Mapping[str, str], given: str = "") -> str:
    """Return the home directory of the agents' folders: `given`, else `RICORDO_AGENT_HOME`, else
    the user's.
    """
    home = given or environ.get("RICORDO_AGENT_HOME") or home_directory(environ)
    return make_absolute(home)


def config_directory(environ: Mapping[str, str]) -> str:
    """Return the directory of the user's settings."""
    return _xdg(environ, "XDG_CONFIG_HOME", ".config")


def _xdg(environ: Mapping[str, str], name: str, default: str) -> str:
    """Return Ricordo's folder in an XDG base directory; the standard ignores relative values."""
    base = environ.get(name, "")
    if not os.path.isabs(base):
        base = os.path.join(home_directory(environ), default)
    return os.path.join(base, "ricordo")


def home_directory(environ: Mapping[str, str]) -> str:
    """Return the user's home from the environment, else from the account. A relative one would
    depend on the current directory, and is ignored.
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
    """Return the current directory; if it was deleted, its path from the shell, else a path that
    does not exist.
    """
    try:
        return os.getcwd()
    except FileNotFoundError:
        path = environ.get("PWD", "")
        return path if os.path.isabs(path) else _DELETED


def make_absolute(path: str) -> str:
    """Return `path`, which may be relative to the current directory, as an absolute one. Raises
    WrongUsage if that directory was deleted: writing to it would create it again.
    """
    try:
        return os.path.abspath(path)
    except FileNotFoundError:
        from ricordo.errors import WrongUsage

        raise WrongUsage(
            f"Cannot resolve {path!r}: the current directory was deleted. Use an absolute path."
        ) from None


def shorten_home(text: str, home: str) -> str:
    """Return a text to show, with `~` for the home directory in its paths. In a path that is quoted
    for a shell it is outside of the quotes, where a shell expands it.
    """
    for start in (os.path.realpath(home), home):
        if len(start) > 1:
            if f"'{start}/" in text:
                import re
                from shlex import quote

                quoted = re.compile(rf"'{re.escape(start)}/([^']*)'")
                text = quoted.sub(lambda match: f"~/{quote(match[1])}", text)
            text = text.replace(f"{start}/", "~/")
    return text
