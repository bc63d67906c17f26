"""Command lines that a user writes: the editor, and what a handoff is piped to."""

from __future__ import annotations

import os
import shlex


def split_command(line: str) -> tuple[str, ...]:
    """Split a command line into its words, as a POSIX shell quotes them.

    A line that as a whole is the absolute path of a file is one word, so that a program in a folder
    with a space needs no quotes. Raises ValueError for an unclosed quote.
    """
    path = line.strip()
    if os.path.isabs(path) and os.path.isfile(path):
        return (path,)
    return tuple(shlex.split(line))
