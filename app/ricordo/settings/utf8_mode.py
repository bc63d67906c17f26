"""Python's UTF-8 mode, for locales of another encoding."""

from __future__ import annotations

import os
import sys


def restart_in_utf8_mode() -> None:
    """Start this program again in UTF-8 mode, in the place of this process: notes link to one
    another by names in UTF-8, and Python reads file names in the locale's encoding for as long as
    it runs. What is printed stays in the locale's encoding. Nothing is done where that is not to
    be, or cannot be.
    """
    if sys.flags.utf8_mode or "utf8" in sys._xoptions or not sys.executable:
        return
    environ = dict(os.environ)
    if sys.stdout is not None:
        environ.setdefault("PYTHONIOENCODING", sys.stdout.encoding)
    try:
        os.execve(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]], environ)
    except OSError:
        return
