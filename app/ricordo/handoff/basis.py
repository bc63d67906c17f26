"""What the result of a command rests on, and what of it was changed since.

A result rests on the files of the project that the sessions changed and on those that its command
names. One that was changed after the command ran makes it stale, and so does a commit that brought
something else: one that only records what was there already changes nothing.

What cannot be seen counts as changed: a result is never better than its proof.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterable
from datetime import UTC, datetime

from ricordo.activity.session import Deed
from ricordo.disk.file_now import FileNow, Gone, modified_at
from ricordo.handoff.facts import Facts, FileUse, Ran
from ricordo.handoff.past import committed_since
from ricordo.handoff.probe import DIGITS, World
from ricordo.handoff.statement import Result, Statement

COMMIT = "commit"
"""Stands among what was changed where a commit was."""
SLACK = 2.0
"""Seconds by which the clocks of a transcript and of a file system may differ."""
_MOST_WORDS = 200
_LONGEST = 4_000
"""Characters of a command that are looked at."""
_MOST_COMMITTED = 1_000
_BEHIND_PATH = re.compile(r"(?:::.*|(?::\d+)+)\Z", re.DOTALL)
"""What test runners take behind a file: a test in it, a line."""


def changed_since(ran: Ran, facts: Facts, world: World) -> tuple[str, ...]:
    """Return what `ran` rests on and was changed after it ran: files, and `commit`."""
    at = _ended(ran, world)
    own = {use.path: use for use in changed_files(facts, world)}
    named = [path for path in named_files(ran.command, facts, world) if path not in own]
    since = [path for path in ran.changed_since if path in own]
    since += [use.path for use in own.values() if _is_changed(use, at, world)]
    since += [path for path in named if _is_later(world, path, at)]
    since += [COMMIT] if _has_committed(at, world) else []
    return tuple(dict.fromkeys(since))


def files_now(statements: Iterable[Statement], facts: Facts, world: World) -> dict[str, str | None]:
    """Return all that the results among `statements` rest on, as `document.Head` keeps it: each
    file with the first digits of its SHA-256, None where it is not there. What cannot be seen is
    left out.
    """
    paths = [use.path for use in changed_files(facts, world)]
    stood_on = {id for it in statements if isinstance(it.proof, Result) for id in it.stands_on}
    for ran in facts.ran:
        paths += named_files(ran.command, facts, world) if ran.id in stood_on else ()
    found: dict[str, str | None] = {}
    for path in paths:
        look = world.file(path)
        if isinstance(look, FileNow):
            found[path] = look.sha[:DIGITS]
        elif look is Gone.GONE:
            found[path] = None
    return found


def changed_files(facts: Facts, world: World) -> list[FileUse]:
    """Return the files of the project that the sessions changed, without those that are ours."""
    return [
        use
        for use in facts.files
        if use.is_changed and not use.path.startswith("/") and use.path not in world.own
    ]


def named_files(command: str, facts: Facts, world: World) -> tuple[str, ...]:
    """Return the files of the project that a command names and that are there."""
    found = dict.fromkeys(
        path for word in _words(command) if (path := _path(word, facts)) and path not in world.own
    )
    return tuple(path for path in found if isinstance(world.file(path), FileNow))


def moment(at: str) -> float | None:
    """Return a time of a transcript in seconds since 1970; None where it is not known."""
    try:
        told = datetime.fromisoformat(at)
        return (told if told.tzinfo else told.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def _ended(ran: Ran, world: World) -> float | None:
    """When a command ended: what it changes itself, as one that puts files into form, it has seen.
    None where that is not known, or is still to come.
    """
    at = moment(ran.ended or ran.ref.at)
    return None if at is None or at > world.now + SLACK else at


def _words(command: str) -> list[str]:
    text = command[:_LONGEST]
    try:
        return shlex.split(text)[:_MOST_WORDS]
    except ValueError:
        return text.split()[:_MOST_WORDS]


def _path(word: str, facts: Facts) -> str:
    """The path in the project that a word of a command may be; "" for none."""
    name = _BEHIND_PATH.sub("", word.rpartition("=")[2] if word.startswith("-") else word)
    name = facts.names.get(name, name).removeprefix(f"{facts.project.rstrip('/')}/")
    if not re.search(r"[./]", name) or name.startswith(("/", "~")):
        return ""
    path = posixpath.normpath(name)
    return "" if path.startswith("..") or path == "." else path


def _is_changed(use: FileUse, at: float | None, world: World) -> bool:
    if Deed.DELETED in use.deeds and world.file(use.path) is Gone.GONE:
        return False
    return _is_later(world, use.path, at)


def _is_later(world: World, path: str, at: float | None) -> bool:
    """Whether a file may be another one than it was at that time."""
    look = world.file(path)
    if not isinstance(look, FileNow) or at is None:
        return True
    return look.modified > at + SLACK


def _has_committed(at: float | None, world: World) -> bool:
    """Whether commits since then brought something that was not there yet."""
    if world.git is None or not world.git.commit:
        return False
    paths = None if at is None else committed_since(world.project, at)
    if at is None or paths is None or len(paths) > _MOST_COMMITTED:
        return True
    return any(_brought(world, path, at) for path in paths - world.own)


def _brought(world: World, path: str, at: float) -> bool:
    """Whether a file, or that it is gone, is of later than `at`: a folder is changed by what goes
    out of it.
    """
    modified = modified_at(world.project, path)
    while modified is None and path:
        path = posixpath.dirname(path)
        modified = modified_at(world.project, path)
    return modified is None or modified > at + SLACK
