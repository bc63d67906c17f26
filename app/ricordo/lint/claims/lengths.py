"""Claims on how long a code file is: how many lines it has, or one of a file's lines by its number.

A file that has less than half of these lines now was split or written again, so that the note knows
another one. That a file grew proves nothing. A line that the file has no more was certainly moved.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from ricordo.dates import has_year
from ricordo.lexicon import build_alternation, list_expressions, lower_text
from ricordo.lint.claims.commits import FileCommit
from ricordo.lint.claims.history import CODE_ENDINGS
from ricordo.lint.claims.passages import Passage, split_passages
from ricordo.lint.claims.paths import find_present_file
from ricordo.lint.claims.project import Project
from ricordo.lint.evidence import CheckOutcome, ClaimKind, Verdict
from ricordo.lint.prose import HEADING
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily

_CODE = "|".join(map(re.escape, (*CODE_ENDINGS, ".html")))
_ANY = r"\.[a-z][a-z\d]{0,7}"
_NUMBER = r"(?P<number>\d{1,3}(?:[,.’']\d{3})+|\d{2,6})(?![.,]?\d)"
_BESIDE = r"[ \t`*_:：,，(（|~≈—–=-]{0,8}"
"""What may be between a file and its number of lines, besides a word."""
_ABOUT = r"[ \t~≈]*(?:[^\W\d]{1,7}[ \t]){0,2}[ \t~≈约約]*"
"""Up to two words such as “has about”, or a sign."""
_DIGIT = compile_lazily(r"\d{2}")
_FEWEST = 200
"""Lines that a file has to have lost."""
_LIKE = 0.6
"""The share of the claimed lines that it had to have when the note was last changed."""


class _LineNumber(NamedTuple):
    """The number of a line, or of lines, of a file, as a passage has it."""

    path: str
    """The file of the project."""
    number: int
    start: int
    end: int
    is_place: bool
    """Whether it is the number of a line."""


def find_shortened(note: Note, project: Project) -> Iterator[Verdict]:
    """Yield the verdicts on the code files that have less than half of the lines of which `note`
    speaks, and on the lines that a file no longer has, where they had them when it was last
    changed.
    """
    then = project.history.graph.find_at(project.find_times(note).changed)
    if then is None or not _DIGIT.search(note.text):
        return
    named: set[str] = set()
    # most notes give no line without its file
    is_tracked = _lines().search(lower_text(note.text)) is not None
    for passage in split_passages(note):
        if HEADING.match(passage.statement.text):
            named = set()
        named |= _find_files(passage, project) if is_tracked else set()
        if not passage.is_excluded and _DIGIT.search(passage.text):
            for found in _list_line_numbers(passage, named, project):
                yield from _judge(passage, found, then, project)


def _find_files(passage: Passage, project: Project) -> set[str]:
    """Return the files of the project that a passage names."""
    if "." not in passage.text:
        return set()
    names = (match["path"] for match in _file().finditer(passage.text))
    return {path for name in names if (path := find_present_file(name, project))}


def _list_line_numbers(
    passage: Passage, named: set[str], project: Project
) -> Iterator[_LineNumber]:
    """Yield the numbers of lines in a passage, each with its file: beside it, or else the only one
    that is `named` in its section so far. The year of a day is none.
    """
    spoken = lower_text(passage.text)
    taken: set[int] = set()
    of_file = ((_counts(), False), (_places(), True), (_places_of(), True), (_lines(), True))
    for pattern, is_place in of_file:
        for match in pattern.finditer(spoken):
            start, end = match.span("number")
            if start in taken or has_year(passage.text[:start] + passage.text[end:]):
                continue
            taken.add(start)
            if "path" in pattern.groupindex:
                path = find_present_file(passage.text[slice(*match.span("path"))], project)
            else:
                path = next(iter(named)) if len(named) == 1 else ""
            if path and not project.is_of_memory(path):
                number = int(re.sub(r"\D", "", match["number"]))
                yield _LineNumber(path, number, *match.span(), is_place)


def _judge(
    passage: Passage, found: _LineNumber, then: tuple[str, FileCommit], project: Project
) -> Iterator[Verdict]:
    path, claimed, start, end, is_place = found
    now = project.count_lines(path)
    most = claimed - 1 if is_place else min(claimed // 2, claimed - _FEWEST)
    if not now or now > most:
        return
    name = passage.text[start:end]
    hash_, commit = then
    was = project.history.load_text_at(hash_, path).count("\n")
    is_of_it = was >= claimed if is_place else _LIKE * was <= claimed <= was / _LIKE
    if not is_of_it or passage.is_unsure(name, existed=True):
        return
    has = f"{path} has {now:,} line{'' if now == 1 else 's'}"
    problem = f"Line {claimed:,} does not exist: {has}" if is_place else f"{has}, not {claimed:,}"
    yield Verdict(
        name,
        ClaimKind.VALUE,
        passage.line_at(start),
        CheckOutcome.CHANGED,
        (has, f"it had {was:,} in {commit.summary}"),
        problem=problem,
        existed=True,
    )


def _name_file(endings: str) -> str:
    return rf"(?<![\w/.@-])(?P<path>(?:[\w.@\-\[\]]+/)*[\w.\-\[\]]+(?:{endings}))(?![\w/-])"


@cache
def _file() -> re.Pattern[str]:
    """Return the pattern of a file with an ending."""
    return re.compile(_name_file(_ANY), re.IGNORECASE)


@cache
def _counts() -> re.Pattern[str]:
    """Return the pattern of a code file with how many lines it has, for texts in lower case."""
    lines = build_alternation(list_expressions("probes", "lines"))
    return re.compile(rf"{_name_file(_CODE)}{_BESIDE}{_ABOUT}{_NUMBER}\+?[ \t]?(?:{lines})")


@cache
def _places() -> re.Pattern[str]:
    """Return the pattern of a file with the number of one of its lines behind it."""
    return re.compile(rf"{_name_file(_ANY)}{_BESIDE}{_ABOUT}{_line()}")


@cache
def _places_of() -> re.Pattern[str]:
    """Return the pattern of the number of a line with its file behind it."""
    line, of = (build_alternation(list_expressions("probes", it)) for it in ("line", "line_of"))
    last = r"(?:[-–]\d+)?"
    return re.compile(rf"(?:{line})[ \t~≈]*{_NUMBER}{last}[ \t](?:{of})[ \t]`?{_name_file(_ANY)}")


@cache
def _lines() -> re.Pattern[str]:
    """Return the pattern of the number of a line in brackets, without its file."""
    return re.compile(rf"[(（][ \t~≈]*{_line()}")


def _line() -> str:
    words = build_alternation(list_expressions("probes", "line"))
    return rf"(?:(?:{words})[ \t~≈]*|l){_NUMBER}(?![a-z])"
