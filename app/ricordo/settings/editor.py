"""Opening a file in the person's editor."""

from __future__ import annotations

from collections.abc import Mapping

from ricordo.errors import WrongUsage
from ricordo.settings.command_line import split_command


def editor_command(editor: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the words of the command, without the file: the setting `editor` if there is one,
    else `$VISUAL`, `$EDITOR` or `vi`.

    Raises WrongUsage where the command cannot be split into words.
    """
    command = editor or environ.get("VISUAL") or environ.get("EDITOR") or "vi"
    try:
        return split_command(command) or ("vi",)
    except ValueError:
        raise WrongUsage(f"The editor “{command}” has a quote that is left open.") from None


def edit(file: str, command: tuple[str, ...]) -> int:
    """Open `file` with `command`, wait for its end, and return its exit code.

    Raises WrongUsage where the command cannot be started.
    """
    import subprocess

    try:
        return subprocess.run([*command, file], check=False).returncode
    except OSError as error:
        raise WrongUsage(
            f"The editor “{command[0]}” cannot be started: {error.strerror}."
        ) from None
