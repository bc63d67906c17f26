"""What a command of a shell is run for, and whether another one does the same again; by a table of
programs (`commands.toml`).
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from ricordo.activity.shell_line import Simple, simple_commands
from ricordo.handoff.facts import Work
from ricordo.resources import data_text

_VARIABLE = re.compile(r"\w+=.*", re.DOTALL)
_VERSION = re.compile(r"(?<=[a-z])[\d.]+\Z")
_NUMBER = re.compile(r"\d+[smh]?\Z")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
"""testDebug"""
_WORD = re.compile(r"[a-z]+\d*[a-z]*")
_SCRIPT = re.compile(r"\.(?:py|sh|bash|js|mjs|ts|rb|pl|php)\Z")
_SHELLS = frozenset(("bash", "sh", "zsh", "fish"))
_DEEPEST = 3
"""Shells within shells that are looked into."""
_LONGEST_PHRASE = 3
"""Words by which a program is known."""


@dataclass(frozen=True, slots=True)
class Deed:
    """One program that a line runs."""

    program: str
    """Without its directory, its version and what only runs it."""
    words: tuple[str, ...]
    """All that it is given."""
    work: Work
    is_masked: bool = False
    """Whether the exit code of the line is that of another program."""
    narrowed: frozenset[str] = frozenset()
    """The words that bound what it does."""

    def covers(self, other: Deed) -> bool:
        """Say whether it does at least all that `other` did: a test of everything covers the test
        of one file.
        """
        return self.program == other.program and self.narrowed <= other.narrowed

    @property
    def is_question(self) -> bool:
        """Whether its failing is an answer, and no error."""
        return _matches((self.program, *self.words), _listed("questions", "commands"))


@lru_cache(maxsize=256)
def deeds(line: str) -> tuple[Deed, ...]:
    """Return what a line for a shell runs; changing the directory does not count."""
    has_pipefail = "pipefail" in line
    return tuple(_deeds(line, has_pipefail, 0))


def work_of(done: Sequence[Deed]) -> Work:
    """Return what a line is run for: tests before checks before all else."""
    works = {deed.work for deed in done}
    return next((work for work in (Work.TEST, Work.CHECK) if work in works), Work.OTHER)


def decisive(done: Sequence[Deed]) -> Deed | None:
    """Return the last program of a line that does what the line is run for."""
    work = work_of(done)
    return next((deed for deed in reversed(done) if deed.work is work), None)


def _deeds(line: str, has_pipefail: bool, depth: int) -> Iterator[Deed]:
    simples = [it for it in simple_commands(line) if it.words]
    for number, simple in enumerate(simples):
        words = _unwrapped(simple.words)
        if not words or words[0] == "cd":
            continue
        inner = _inner(words) if depth < _DEEPEST else ""
        if inner:
            yield from _deeds(inner, has_pipefail, depth + 1)
            continue
        is_masked = _is_masked(simples[number:], has_pipefail)
        given = tuple(words[1:])
        yield Deed(words[0], given, _work(words), is_masked, _narrowing(given))


def _narrowing(words: Sequence[str]) -> frozenset[str]:
    loud = _listed("loudness", "options")
    return frozenset(word for word in words if word.partition("=")[0] not in loud and word != "--")


def _is_masked(rest: Sequence[Simple], has_pipefail: bool) -> bool:
    """Say whether the line goes on behind its first command so that this one's code is lost."""
    kept = ("&&", "|", "|&") if has_pipefail else ("&&",)
    return any(it.end not in kept for it in rest[:-1]) or rest[-1].end == "&"


def _inner(words: Sequence[str]) -> str:
    """The line that a shell is given as an argument; "" where none is called."""
    if words[0] in _SHELLS and len(words) > 2 and re.fullmatch(r"-[a-z]*c", words[1]):
        return words[2]
    return ""


def _unwrapped(words: Sequence[str]) -> list[str]:
    """Return the words without variables and programs that only run another one."""
    left = list(words)
    while left:
        if _VARIABLE.fullmatch(left[0]):
            left = left[1:]
            continue
        left[0] = _program(left[0])
        size = next((n for n in (3, 2, 1) if " ".join(left[:n]) in _wrappers()), 0)
        if not size or len(left) == size:
            return left
        own = _wrappers()[" ".join(left[:size])]
        left = left[size:]
        while left and (left[0].startswith("-") or own):
            own -= not left[0].startswith("-")
            left = left[1:]
    return left


def _program(word: str) -> str:
    name = os.path.basename(word) or word
    return _VERSION.sub("", name.removesuffix(".exe")) or name


def _work(words: Sequence[str]) -> Work:
    for work in (Work.TEST, Work.CHECK):
        if _matches(words, _listed(work, "commands")):
            return work
    return _work_of_names(_names(words))


def _names(words: Sequence[str]) -> Iterator[str]:
    """Yield the names of the tasks or of the script that a program runs."""
    plain = [word for word in words if not word.startswith("-") and not _VARIABLE.fullmatch(word)]
    for size in range(min(_LONGEST_PHRASE, len(plain)), 0, -1):
        if " ".join(plain[:size]) in _listed("runners", "commands"):
            yield from plain[size:]
            return
    if plain and plain[0] in _listed("interpreters", "names"):
        yield from (os.path.basename(word) for word in plain[1:2])
    elif plain and _SCRIPT.search(plain[0]):
        yield plain[0]


def _work_of_names(names: Iterator[str]) -> Work:
    parts = {part for name in names for part in _WORD.findall(_HUMP.sub(" ", name).lower())}
    for work in (Work.TEST, Work.CHECK):
        if not parts.isdisjoint(_listed("tasks", work)):
            return work
    return Work.OTHER


def _matches(words: Sequence[str], phrases: frozenset[str]) -> bool:
    """Say whether the first words, with or without their options, are one of the phrases."""
    plain = [words[0], *(word for word in words[1:] if not word.startswith(("-", "+")))]
    return any(
        " ".join(said[:size]) in phrases
        for said in (words, plain)
        for size in range(1, _LONGEST_PHRASE + 1)
    )


def _wrappers() -> dict[str, int]:
    wrappers: dict[str, int] = _table()["wrappers"]
    return wrappers


@cache
def _listed(part: str, name: str) -> frozenset[str]:
    return frozenset(_table()[part][name])


@cache
def _table() -> dict[str, dict[str, Any]]:
    return tomllib.loads(data_text("handoff/gathering/commands.toml"))
