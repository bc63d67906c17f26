"""Run git read-only; the only module that starts git.

Hooks, file system monitors, pagers, filters and external diffs of a repository are off, the
caller's environment variables are ignored, git asks for no password and fetches nothing, and time
and bytes are limited. If git or a repository is missing, results are None.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from subprocess import Popen

MAX_SECONDS = 10.0
MAX_BYTES = 16 * 1024 * 1024
_PATHS_PER_CALL = 1_000
"""The length of a command line is limited."""

_NO_DRIVERS = ("--no-ext-diff", "--no-textconv")
_COMMANDS: Mapping[str, tuple[str, ...]] = {
    "rev-parse": (),
    "log": _NO_DRIVERS,
    "grep": ("--no-textconv",),
    "diff-tree": _NO_DRIVERS,
    "ls-files": (),
    "ls-tree": (),
    # a submodule has its own settings
    "status": ("--ignore-submodules=all",),
    "check-attr": (),
    "check-ignore": (),
    "config": ("--null", "--get-regexp"),
}
"""The allowed commands, each with the flags that are always added."""
_SETTINGS = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.quotePath=false",
    "log.showSignature=false",
    "protocol.allow=never",
)


_FILTERS = "^filter\\..*\\.(clean|smudge|process|required)$"
"""Settings that name programs that filter contents before git compares them."""
_COMPARING_COMMANDS = frozenset(("status",))
"""The commands that compare contents."""
_NOTHING_FOUND: Mapping[str, int] = {"grep": 1, "check-ignore": 1}
"""The exit codes with which commands say that they found nothing."""


def run_git(
    directory: str,
    command: str,
    *arguments: str,
    seconds: float = MAX_SECONDS,
    max_bytes: int = MAX_BYTES,
) -> bytes | None:
    """Return the output of `git command arguments` in `directory`, empty where a search finds
    nothing; None if it fails, takes longer than `seconds` or prints more than `max_bytes`. Raises
    KeyError for a command that is not allowed.
    """
    words = [command, *_COMMANDS[command], *arguments]
    filters = _find_filters(directory) if command in _COMPARING_COMMANDS else ()
    return _run(directory, words, _disable(filters), seconds, max_bytes)


def _find_filters(directory: str) -> tuple[str, ...]:
    """Return the names of the filter settings in `directory`."""
    words = ["config", "--null", "--name-only", "--get-regexp", _FILTERS]
    output = _run(directory, words, {}, MAX_SECONDS, MAX_BYTES)
    return tuple(map(os.fsdecode, filter(None, (output or b"").split(b"\0"))))


def _disable(settings: tuple[str, ...]) -> dict[str, str]:
    """Return variables that empty `settings`; unlike with `-c`, names may have any character."""
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
            ["git", "--no-optional-locks", *_settings_options(), *words],
            cwd=directory,
            env={**_environment(os.environ), **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except (OSError, ValueError):
        return None
    return _read_bounded(process, seconds, max_bytes, (0, _NOTHING_FOUND.get(words[0], 0)))


def _settings_options() -> list[str]:
    return [word for setting in _SETTINGS for word in ("-c", setting)]


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    others = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
    return others | {"GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}


def _read_bounded(
    process: Popen[bytes], seconds: float, max_bytes: int, successes: tuple[int, ...]
) -> bytes | None:
    from threading import Timer

    timer = Timer(seconds, process.kill)
    timer.start()
    try:
        # the timer runs until the end of the block: a program may close its output and keep running
        with process:
            assert process.stdout is not None
            output = process.stdout.read(max_bytes + 1)
            if len(output) > max_bytes:
                process.kill()
    finally:
        timer.cancel()
    is_whole = process.returncode in successes and len(output) <= max_bytes
    return output if is_whole else None


def find_ignored(
    directory: str, paths: Sequence[str], seconds: float = MAX_SECONDS
) -> frozenset[str] | None:
    """Return those of `paths` that the rules of the repository at `directory` ignore, tracked or
    not; None if git fails, as where one of them is behind a link or outside.
    """
    found: set[str] = set()
    for start in range(0, len(paths), _PATHS_PER_CALL):
        batch = paths[start : start + _PATHS_PER_CALL]
        words = ("--no-index", "--verbose", "--non-matching", "--", *batch)
        answer = run_git(directory, "check-ignore", *words, seconds=seconds)
        if answer is None:
            return None
        # a line for each, in their order: file, line and pattern, then a tab and the path
        rules = (line.rpartition(b"\t")[0] for line in answer.split(b"\n"))
        found.update(
            path
            for path, rule in zip(batch, rules, strict=False)
            if rule != b"::" and not rule.split(b":", 2)[-1].startswith(b"!")
        )
    return frozenset(found)


def find_left_out(top: str, paths: Sequence[str]) -> frozenset[str]:
    """Return those of the absolute `paths` that the repository with the root `top` has and its
    worktree leaves out, as a sparse checkout does; none if git fails.
    """
    found: set[str] = set()
    for start in range(0, len(paths), _PATHS_PER_CALL):
        batch = (f":(literal){path}" for path in paths[start : start + _PATHS_PER_CALL])
        answer = run_git(top, "ls-files", "-t", "-z", "--", *batch) or b""
        rows = map(os.fsdecode, answer.split(b"\0"))
        found.update(os.path.join(top, row[2:]) for row in rows if row.startswith("S "))
    return frozenset(found)


def find_top_level(directory: str) -> str | None:
    """Return the root of the worktree that contains `directory`; None if there is none.

    Found by its `.git`, without starting a process.
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
