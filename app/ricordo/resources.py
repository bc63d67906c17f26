"""Where things are: what ships with the code (themes, the sample memory, data files), and the
directories of the user.

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
    """Return the directory of the sample memory; it is never opened itself, only copies of it."""
    return _find("sample_memory")


def data_text(name: str) -> str:
    """Return the text of the data file `name` of the package."""
    # imported here, for it costs the prompt hook more than all of this
    from pkgutil import get_data

    data = get_data("ricordo", name)
    assert data is not None
    return data.decode()


def data_file(name: str) -> str:
    """Return where the data file `name` of the package lies, for a person who wants to look."""
    return os.path.join(_PACKAGE, *name.split("/"))


def _find(name: str) -> str:
    shipped = os.path.join(_PACKAGE, name)
    return shipped if os.path.isdir(shipped) else os.path.join(_CHECKOUT, name)


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
