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
from typing import Any, NamedTuple

from ricordo.agents.transcripts.session import LEFT_OUT
from ricordo.agents.transcripts.shell import Simple, simple_commands
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
class ProgramRun:
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

    def covers(self, other: ProgramRun) -> bool:
        """Say whether it does at least all that `other` did: a test of everything covers the test
        of one file.
        """
        return self.program == other.program and self.narrowed <= other.narrowed

    @property
    def is_question(self) -> bool:
        """Whether its failing is an answer, and no error."""
        return _matches((self.program, *self.words), _listed("questions", "commands"))


@lru_cache(maxsize=256)
def deeds(line: str) -> tuple[ProgramRun, ...]:
    """Return what a line for a shell runs; changing the directory does not count."""
    has_pipefail = "pipefail" in line
    return tuple(_deeds(line, has_pipefail, 0))


def work_of(done: Sequence[ProgramRun]) -> Work:
    """Return what a line is run for: tests before checks before all else."""
    works = {deed.work for deed in done}
    return next((work for work in (Work.TEST, Work.CHECK) if work in works), Work.OTHER)


def decisive(done: Sequence[ProgramRun]) -> ProgramRun | None:
    """Return the last program of a line that does what the line is run for."""
    work = work_of(done)
    return next((deed for deed in reversed(done) if deed.work is work), None)


def _deeds(line: str, has_pipefail: bool, depth: int) -> Iterator[ProgramRun]:
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
        yield ProgramRun(words[0], given, _work(words), is_masked, _narrowing(given))


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
    return tomllib.loads(data_text("handoff/gather/commands.toml"))


_LONGEST_LINE = 300
"""Characters; longer lines tell no result."""
_MOST_LINES = 1_000
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b.")
_LABEL = re.compile(r"^\[[\w:./-]{1,40}\] ")
"""Names the task of which the line tells, where several run side by side."""
_FRAME = re.compile(r"^[=\-*#─━ ]{2,}|[=\-*#─━ ]{2,}$")


class CommandOutcome(NamedTuple):
    """How a test or a check went."""

    line: str
    """"" where no line tells."""
    has_passed: bool | None
    """None where no line tells."""


def outcome(output: str) -> CommandOutcome:
    """Return the line of `output` that says how a test or a check went: the last one that tells of
    a failure, else the last one that tells of success.
    """
    lines = list(_lines(output))
    if line := _last(lines, "failed"):
        return CommandOutcome(line, False)
    if line := _last(lines, "passed"):
        return CommandOutcome(line, True)
    return CommandOutcome("", None)


def told(output: str) -> str:
    """Return the last line that says what came of a command that tests and checks nothing; ""
    without one.
    """
    return _last(list(_lines(output)), "told")


def success(output: str) -> str:
    """Return the last line that tells of success; "" without one."""
    return _last(list(_lines(output)), "passed")


def error_line(output: str) -> str:
    """Return the line of `output` that tells the error best: the first that fits the surest
    expression, else the last line; "" where it is empty.
    """
    lines = list(_lines(output))
    for expression in _patterns("errors"):
        for line in lines:
            if expression.search(_LABEL.sub("", line)):
                return line
    return lines[-1] if lines else ""


def plain(output: str) -> str:
    """Return `output` without what steers a terminal."""
    return _ESCAPES.sub("", output).replace("\r", "\n")


def _lines(output: str) -> Iterator[str]:
    for line in plain(output).split("\n")[-_MOST_LINES:]:
        bare = _FRAME.sub("", line).strip()
        if bare and bare != LEFT_OUT and len(bare) <= _LONGEST_LINE:
            yield bare


def _last(lines: Sequence[str], part: str) -> str:
    """The last line that fits an expression; one that fits nowhere in all of them is looked for in
    none, for there are many lines.
    """
    whole = "\n".join(lines)
    fitting = [it for it in _patterns(part) if it.search(whole)]
    return next((line for line in reversed(lines) if any(it.search(line) for it in fitting)), "")


@cache
def _patterns(part: str) -> tuple[re.Pattern[str], ...]:
    table = tomllib.loads(data_text("handoff/gather/outcomes.toml"))
    return tuple(re.compile(text, re.MULTILINE) for text in table[part])
