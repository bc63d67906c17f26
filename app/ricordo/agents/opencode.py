"""opencode: where it keeps its sessions (formats: opencode of autumn 2026). It keeps no memory."""

from __future__ import annotations

import os
from collections.abc import Mapping


def data_folder(home: str, environ: Mapping[str, str]) -> str:
    """Return the directory in which opencode keeps its sessions, there or not. The XDG setting of
    the shell counts for the shell's own home alone.
    """
    base = environ.get("XDG_DATA_HOME", "")
    if not os.path.isabs(base) or home != environ.get("HOME"):
        base = os.path.join(home, ".local", "share")
    return os.path.join(base, "opencode")
