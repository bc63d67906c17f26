"""The one door to the git program: it looks, and changes nothing.

Hooks, file system monitors, pagers, filters and external diffs of a repository stay off, no
variable of the caller's environment steers it, it asks for no password and fetches nothing, and
time and bytes are bounded. Where git or a repository is missing, answers are None.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from subprocess import Popen

MAX_SECONDS = 10.0
MAX_BYTES = 16 * 1024 * 1024

_NO_DRIVERS = ("--no-ext-diff", "--no-textconv")
_COMMANDS: Mapping[str, tuple[str, ...]] = {
    "rev-parse": (),
    "log": _NO_DRIVERS,
    "diff-tree": _NO_DRIVERS,
    "ls-files": (),
    "ls-tree": (),
    # a submodule has settings of its own
    "status": ("--ignore-submodules=all",),
    "check-attr": (),
}
"""The commands that may be run, each with the flags that it always gets."""
_SETTINGS = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "log.showSignature=false",
    "protocol.allow=never",
)


_FILTERS = "^filter\\..*\\.(clean|smudge|process|required)$"
"""Settings that name programs through which contents pass before they are compared."""
_COMPARES = frozenset(("status",))
"""The commands that compare contents."""


def ask(
    directory: str,
    command: str,
    *arguments: str,
    seconds: float = MAX_SECONDS,
    max_bytes: int = MAX_BYTES,
) -> bytes | None:
    """Return what `git command arguments` prints in `directory`; None where it fails, takes longer
    than `seconds` or prints more than `max_bytes`. Raises KeyError for a command that may change
    something.
    """
    words = [command, *_COMMANDS[command], *arguments]
    filters = _filters(directory) if command in _COMPARES else ()
    return _run(directory, words, _switched_off(filters), seconds, max_bytes)


def _filters(directory: str) -> tuple[str, ...]:
    """The names of the settings of filters that hold for `directory`."""
    words = ["config", "--null", "--name-only", "--get-regexp", _FILTERS]
    answer = _run(directory, words, {}, MAX_SECONDS, MAX_BYTES)
    return tuple(map(os.fsdecode, filter(None, (answer or b"").split(b"\0"))))


def _switched_off(settings: tuple[str, ...]) -> dict[str, str]:
    """The variables by which git takes `settings` for empty; their names may hold any character."""
    variables = {"GIT_CONFIG_COUNT": str(len(settings))} if settings else {}
    for number, name in enumerate(settings):
        variables[f"GIT_CONFIG_KEY_{number}"] = name
        variables[f"GIT_CONFIG_VALUE_{number}"] = "" if not name.endswith("required") else "false"
    return variables


def _run(
    directory: str,
    words: list[str],
    variables: Mapping[str, str],
    seconds: float,
    max_bytes: int,
) -> bytes | None:
    import subprocess

    try:
        process = subprocess.Popen(
            ["git", "--no-optional-locks", *_with_settings(), *words],
            cwd=directory,
            env={**_environment(os.environ), **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except (OSError, ValueError):
        return None
    return _bounded(process, seconds, max_bytes)


def _with_settings() -> list[str]:
    return [word for setting in _SETTINGS for word in ("-c", setting)]


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
    return kept | {"GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}


def _bounded(process: Popen[bytes], seconds: float, max_bytes: int) -> bytes | None:
    from threading import Timer

    timer = Timer(seconds, process.kill)
    timer.start()
    try:
        # the timer runs until the end of the block: a program may close its output and stay
        with process:
            assert process.stdout is not None
            answer = process.stdout.read(max_bytes + 1)
            if len(answer) > max_bytes:
                process.kill()
    finally:
        timer.cancel()
    return answer if process.returncode == 0 and len(answer) <= max_bytes else None


def top_level(directory: str) -> str | None:
    """Return the root of the worktree that holds `directory`; None where there is none.

    Found by the `.git` that stands in it, without starting a process.
    """
    folder = os.path.realpath(directory)
    while not _is_top(folder):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder


def _is_top(folder: str) -> bool:
    mark = os.path.join(folder, ".git")
    return os.path.isfile(mark) or os.path.isfile(os.path.join(mark, "HEAD"))
