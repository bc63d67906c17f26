"""What a shell command is run for, and whether another one repeats it, by a table of programs
(`commands.toml`); and the outcome that its output reports.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, NamedTuple

import tomli

from ricordo.agents.transcripts.session import OMISSION
from ricordo.agents.transcripts.shell import SimpleCommand, parse_simple_commands
from ricordo.handoff.facts import CommandPurpose
from ricordo.resources import read_data_text

_VARIABLE = re.compile(r"\w+=.*", re.DOTALL)
_VERSION = re.compile(r"(?<=[a-z])[\d.]+\Z")
_NUMBER = re.compile(r"\d+[smh]?\Z")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
"""testDebug"""
_WORD = re.compile(r"[a-z]+\d*[a-z]*")
_SCRIPT = re.compile(r"\.(?:py|sh|bash|js|mjs|ts|rb|pl|php)\Z")
_SHELLS = frozenset(("bash", "sh", "zsh", "fish"))
_MAX_DEPTH = 3
"""Nested shells that are read."""
_LONGEST_PHRASE = 3
"""Words by which a program is known."""


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """One program that a line runs."""

    program: str
    """Its name without directory, version and wrappers."""
    arguments: tuple[str, ...]
    purpose: CommandPurpose
    is_masked: bool = False
    """Whether the exit code of the line is that of another program."""
    narrowing: frozenset[str] = frozenset()
    """The arguments that narrow what it does."""

    def covers(self, other: ProgramRun) -> bool:
        """Return whether it does at least what `other` did: a test of everything covers the test of
        one file.
        """
        return self.program == other.program and self.narrowing <= other.narrowing

    @property
    def is_question(self) -> bool:
        """Whether a failure is an answer and not an error."""
        return _starts_with((self.program, *self.arguments), _load_words("questions", "commands"))


@lru_cache(maxsize=256)
def list_programs(line: str) -> tuple[ProgramRun, ...]:
    """Return the programs that a shell line runs, without changes of the directory."""
    has_pipefail = "pipefail" in line
    return tuple(_list_programs(line, has_pipefail, 0))


def find_purpose(programs: Sequence[ProgramRun]) -> CommandPurpose:
    """Return what a line is run for: tests before checks before anything else."""
    works = {program.purpose for program in programs}
    return next(
        (work for work in (CommandPurpose.TEST, CommandPurpose.CHECK) if work in works),
        CommandPurpose.OTHER,
    )


def find_decisive(programs: Sequence[ProgramRun]) -> ProgramRun | None:
    """Return the last program of a line that does what the line is run for."""
    work = find_purpose(programs)
    return next((program for program in reversed(programs) if program.purpose is work), None)


def _list_programs(line: str, has_pipefail: bool, depth: int) -> Iterator[ProgramRun]:
    simples = [simple for simple in parse_simple_commands(line) if simple.words]
    for number, simple in enumerate(simples):
        words = _unwrap(simple.words)
        if not words or words[0] == "cd":
            continue
        inner = _find_inner_line(words) if depth < _MAX_DEPTH else ""
        if inner:
            yield from _list_programs(inner, has_pipefail, depth + 1)
            continue
        is_masked = _is_masked(simples[number:], has_pipefail)
        arguments = tuple(words[1:])
        yield ProgramRun(
            words[0], arguments, _classify(words), is_masked, _find_narrowing_words(arguments)
        )


def _find_narrowing_words(words: Sequence[str]) -> frozenset[str]:
    output_options = _load_words("loudness", "options")
    return frozenset(
        word for word in words if word.partition("=")[0] not in output_options and word != "--"
    )


def _is_masked(rest: Sequence[SimpleCommand], has_pipefail: bool) -> bool:
    """Return whether the line continues after its first command so that its exit code is lost."""
    passing_ends = ("&&", "|", "|&") if has_pipefail else ("&&",)
    return (
        any(simple.separator not in passing_ends for simple in rest[:-1])
        or rest[-1].separator == "&"
    )


def _find_inner_line(words: Sequence[str]) -> str:
    """Return the line that a shell gets as an argument; "" where none is called."""
    if words[0] in _SHELLS and len(words) > 2 and re.fullmatch(r"-[a-z]*c", words[1]):
        return words[2]
    return ""


def _unwrap(words: Sequence[str]) -> list[str]:
    """Return the words without variables and programs that only run another one."""
    rest = list(words)
    while rest:
        if _VARIABLE.fullmatch(rest[0]):
            rest = rest[1:]
            continue
        rest[0] = _program_name(rest[0])
        size = next((n for n in (3, 2, 1) if " ".join(rest[:n]) in _load_wrappers()), 0)
        if not size or len(rest) == size:
            return rest
        skipped = _load_wrappers()[" ".join(rest[:size])]
        rest = rest[size:]
        while rest and (rest[0].startswith("-") or skipped):
            skipped -= not rest[0].startswith("-")
            rest = rest[1:]
    return rest


def _program_name(word: str) -> str:
    name = os.path.basename(word) or word
    return _VERSION.sub("", name.removesuffix(".exe")) or name


def _classify(words: Sequence[str]) -> CommandPurpose:
    for work in (CommandPurpose.TEST, CommandPurpose.CHECK):
        if _starts_with(words, _load_words(work, "commands")):
            return work
    return _classify_names(_list_task_names(words))


def _list_task_names(words: Sequence[str]) -> Iterator[str]:
    """Yield the names of the tasks or of the script that a program runs."""
    plain = [word for word in words if not word.startswith("-") and not _VARIABLE.fullmatch(word)]
    for size in range(min(_LONGEST_PHRASE, len(plain)), 0, -1):
        if " ".join(plain[:size]) in _load_words("runners", "commands"):
            yield from plain[size:]
            return
    if plain and plain[0] in _load_words("interpreters", "names"):
        yield from (os.path.basename(word) for word in plain[1:2])
    elif plain and _SCRIPT.search(plain[0]):
        yield plain[0]


def _classify_names(names: Iterator[str]) -> CommandPurpose:
    parts = {part for name in names for part in _WORD.findall(_HUMP.sub(" ", name).lower())}
    for work in (CommandPurpose.TEST, CommandPurpose.CHECK):
        if not parts.isdisjoint(_load_words("tasks", work)):
            return work
    return CommandPurpose.OTHER


def _starts_with(words: Sequence[str], phrases: frozenset[str]) -> bool:
    """Return whether the first words, with or without their options, are one of the phrases."""
    plain = [words[0], *(word for word in words[1:] if not word.startswith(("-", "+")))]
    return any(
        " ".join(candidate[:size]) in phrases
        for candidate in (words, plain)
        for size in range(1, _LONGEST_PHRASE + 1)
    )


def _load_wrappers() -> dict[str, int]:
    wrappers: dict[str, int] = _load_table()["wrappers"]
    return wrappers


@cache
def _load_words(part: str, name: str) -> frozenset[str]:
    return frozenset(_load_table()[part][name])


@cache
def _load_table() -> dict[str, dict[str, Any]]:
    return tomli.loads(read_data_text("handoff/gather/commands.toml"))


_MAX_LINE = 300
"""Characters; longer lines tell no result."""
_MAX_LINES = 1_000
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


def find_outcome(output: str) -> CommandOutcome:
    """Return the line of `output` that says how a test or a check went: the last one that tells of
    a failure, else the last one that tells of success.
    """
    lines = list(_split_lines(output))
    if line := _find_last(lines, "failed"):
        return CommandOutcome(line, False)
    if line := _find_last(lines, "passed"):
        return CommandOutcome(line, True)
    return CommandOutcome("", None)


def find_result_line(output: str) -> str:
    """Return the last line that says what came of a command that tests and checks nothing; ""
    without one.
    """
    return _find_last(list(_split_lines(output)), "told")


def find_success_line(output: str) -> str:
    """Return the last line that tells of success; "" without one."""
    return _find_last(list(_split_lines(output)), "passed")


def find_error_line(output: str) -> str:
    """Return the line of `output` that tells the error best: the first that fits the surest
    expression, else the last line; "" where it is empty.
    """
    lines = list(_split_lines(output))
    for expression in _load_patterns("errors"):
        for line in lines:
            if expression.search(_LABEL.sub("", line)):
                return line
    return lines[-1] if lines else ""


def strip_escapes(output: str) -> str:
    """Return `output` without what steers a terminal."""
    return _ESCAPES.sub("", output).replace("\r", "\n")


def _split_lines(output: str) -> Iterator[str]:
    for line in strip_escapes(output).split("\n")[-_MAX_LINES:]:
        bare = _FRAME.sub("", line).strip()
        if bare and bare != OMISSION and len(bare) <= _MAX_LINE:
            yield bare


def _find_last(lines: Sequence[str], part: str) -> str:
    """The last line that fits an expression; one that fits nowhere in all of them is looked for in
    none, for there are many lines.
    """
    text = "\n".join(lines)
    matching = [pattern for pattern in _load_patterns(part) if pattern.search(text)]
    return next(
        (line for line in reversed(lines) if any(pattern.search(line) for pattern in matching)), ""
    )


@cache
def _load_patterns(part: str) -> tuple[re.Pattern[str], ...]:
    table = tomli.loads(read_data_text("handoff/gather/outcomes.toml"))
    return tuple(re.compile(text, re.MULTILINE) for text in table[part])
