"""Claims on how long a code file is: how many lines it has, or one of them by its number.

A file that has less than half of these lines now was split or written again, so that the note knows
another one. That a file grew proves nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from ricordo.dates import has_year
from ricordo.lexicon import build_alternation, list_expressions, lower_text
from ricordo.lint.claims.commits import FileCommit
from ricordo.lint.claims.history import CODE_ENDINGS
from ricordo.lint.claims.passages import Passage, split_passages
from ricordo.lint.claims.paths import find_present_file
from ricordo.lint.claims.project import Project
from ricordo.lint.evidence import CheckOutcome, ClaimKind, Verdict
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily

_ENDINGS = "|".join(map(re.escape, (*CODE_ENDINGS, ".html")))
_FILE = rf"(?<![\w/.@-])(?P<path>(?:[\w.@\-\[\]]+/)*[\w.\-\[\]]+(?:{_ENDINGS}))(?![\w/-])"
_NUMBER = r"(?P<number>\d{1,3}(?:[,.’']\d{3})+|\d{3,6})(?![.,]?\d)"
_BESIDE = r"[ \t`*_:：,，(（|~≈—–=-]{0,8}"
"""What may be between a file and its number of lines, besides a word."""
_ABOUT = r"[ \t~≈]*(?:[^\W\d]{1,7}[ \t]){0,2}[ \t~≈约約]*"
"""Up to two words such as “has about”, or a sign."""
_DIGIT = compile_lazily(r"\d{3}")
_FEWEST = 200
"""Lines that a file has to have lost."""
_LIKE = 0.6
"""The share of the claimed lines that it had to have when the note was last changed."""


def find_shortened(note: Note, project: Project) -> Iterator[Verdict]:
    """Yield the verdicts on the code files that have less than half of the lines of which `note`
    speaks, and had them when it was last changed.
    """
    then = project.history.graph.find_at(project.find_times(note).changed)
    if then is None or not _DIGIT.search(note.text):
        return
    for passage in split_passages(note):
        if passage.is_excluded or not _DIGIT.search(passage.text) or has_year(passage.text):
            continue
        spoken = lower_text(passage.text)
        for pattern, is_place in ((_counts(), False), (_places(), True), (_places_of(), True)):
            for match in pattern.finditer(spoken):
                path = find_present_file(passage.text[slice(*match.span("path"))], project)
                if path and not project.is_of_memory(path):
                    yield from _judge(passage, match, path, then, project, is_place=is_place)


def _judge(
    passage: Passage,
    match: re.Match[str],
    path: str,
    then: tuple[str, FileCommit],
    project: Project,
    *,
    is_place: bool,
) -> Iterator[Verdict]:
    claimed, now = int(re.sub(r"\D", "", match["number"])), project.count_lines(path)
    if not now or 2 * now > claimed or claimed - now < _FEWEST:
        return
    name = passage.text[slice(*match.span("path"))]
    hash_, commit = then
    was = project.history.load_text_at(hash_, path).count("\n")
    is_of_it = was >= claimed if is_place else _LIKE * was <= claimed <= was / _LIKE
    if not is_of_it or passage.is_unsure(name, existed=True):
        return
    has = f"{path} has {now:,} line{'' if now == 1 else 's'}"
    problem = f"Line {claimed:,} does not exist: {has}" if is_place else f"{has}, not {claimed:,}"
    yield Verdict(
        passage.text[slice(*match.span())],
        ClaimKind.VALUE,
        passage.line_at(match.start()),
        CheckOutcome.CHANGED,
        (has, f"it had {was:,} in {commit.summary}"),
        problem=problem,
        existed=True,
    )


@cache
def _counts() -> re.Pattern[str]:
    """Return the pattern of a file with how many lines it has, for texts in lower case."""
    lines = build_alternation(list_expressions("probes", "lines"))
    return re.compile(rf"{_FILE}{_BESIDE}{_ABOUT}{_NUMBER}\+?[ \t]?(?:{lines})")


@cache
def _places() -> re.Pattern[str]:
    """Return the pattern of a file with the number of one of its lines behind it."""
    line = build_alternation(list_expressions("probes", "line"))
    return re.compile(rf"{_FILE}{_BESIDE}{_ABOUT}(?:(?:{line})[ \t~≈]*|l){_NUMBER}")


@cache
def _places_of() -> re.Pattern[str]:
    """Return the pattern of the number of a line with its file behind it."""
    line, of = (build_alternation(list_expressions("probes", it)) for it in ("line", "line_of"))
    last = r"(?:[-–]\d+)?"
    return re.compile(rf"(?:{line})[ \t~≈]*{_NUMBER}{last}[ \t](?:{of})[ \t]`?{_FILE}")
