"""Where our own files lie. Apart from `surroundings`, so that a quick answer imports only this."""

from __future__ import annotations

import os
from collections.abc import Mapping


def state_directory(environ: Mapping[str, str], given: str = "") -> str:
    """Return the directory of our own state: `given`, else `RICORDO_STATE`, else that of XDG."""
    home = environ.get("HOME") or os.path.expanduser("~")
    base = environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(home, ".local/state")
    return os.path.abspath(given or environ.get("RICORDO_STATE") or os.path.join(base, "ricordo"))
