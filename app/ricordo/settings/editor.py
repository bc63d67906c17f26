"""Open a file in the user's editor."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ricordo.errors import StateUnusable, WrongUsage
from ricordo.settings.values import split_command

_STDERR = 2
"""The number of its descriptor."""


def editor_command(editor: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the words of the command, without the file: the setting `editor` if there is one,
    else `$VISUAL`, `$EDITOR` or `vi`.

    Raises WrongUsage if the command cannot be split into words.
    """
    command = editor or environ.get("VISUAL") or environ.get("EDITOR") or "vi"
    try:
        return split_command(command) or ("vi",)
    except ValueError:
        raise WrongUsage(f"Unclosed quote in the editor command “{command}”.") from None


def edit(file: str, command: tuple[str, ...], *, to_stderr: bool = False) -> int:
    """Open `file` with `command`, wait for its end, and return its exit code; with `to_stderr` it
    writes to stderr instead of stdout.

    Raises WrongUsage if the command cannot be started.
    """
    import subprocess

    try:
        output = _STDERR if to_stderr else None
        return subprocess.run([*command, file], stdout=output, check=False).returncode
    except OSError as error:
        raise WrongUsage(f"Cannot start the editor “{command[0]}”: {error.strerror}.") from None


def read_stamp(file: str) -> tuple[int, int, int] | None:
    """Return what changes when `file` is written; None where there is no such file."""
    try:
        stat = os.stat(file)
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino


def create_file(file: str, text: str) -> bool:
    """Write `text` to `file`, for its owner only, unless there is such a file already. Return
    whether it was created.

    Raises StateUnusable if it cannot be written.
    """
    if os.path.lexists(file):
        return False
    try:
        os.makedirs(os.path.dirname(file), mode=0o700, exist_ok=True)
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise _unwritable(file, error) from None
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
            opened.write(text)
    except OSError as error:
        # a part would pass for the whole file
        os.unlink(file)
        raise _unwritable(file, error) from None
    return True


def _unwritable(file: str, error: OSError) -> StateUnusable:
    return StateUnusable(f"Cannot write {file}: {error.strerror}.")
