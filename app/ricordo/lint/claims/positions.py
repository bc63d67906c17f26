"""Claims on where in a file a name of the code is: `read_tide` (`tide/read.py:120`).

What is added above a name moves it, and the agent that opens the line finds something else. That is
certain where the line that had it when the claim came to the note is elsewhere now; where it never
was there, the place may be that of something beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from ricordo.lint.claims.history import CODE_ENDINGS
from ricordo.lint.claims.passages import Passage, split_passages
from ricordo.lint.claims.paths import find_present_file
from ricordo.lint.claims.project import Project
from ricordo.lint.claims.symbols import build_definition
from ricordo.lint.evidence import CheckOutcome, ClaimKind, Verdict
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily

_ENDINGS = "|".join(map(re.escape, CODE_ENDINGS))
_PATH = rf"(?:[\w.@][\w.@\-\[\]]{{0,99}}/){{0,20}}[\w.@][\w.@\-\[\]]{{0,99}}(?:{_ENDINGS})"
_POSITION = compile_lazily(
    rf"(?<![\w/.@-])(?P<path>{_PATH}):L?(?P<line>\d{{1,6}})"
    r"(?:[-–]L?(?P<last>\d{1,6}))?(?![\w:]|,\d)"
)
_NAME = r"(?P<name>[A-Za-z_$][\w$]{0,99}(?:\.[A-Za-z_$][\w$]{0,99}){0,4})(?:\([^()`\n]{0,40}\))?"
_LINK = r"[\s*(（,:：–—@]{0,4}(?:(?:(?:is|lives|sits|defined)\s)?(?:in|at|on|see)\s)?"
"""What may be between a name and its place: signs, and words such as “is at”."""
_BEFORE = compile_lazily(rf"`{_NAME}`{_LINK}[`\[(]{{0,2}}\Z")
_BEHIND = compile_lazily(rf"`?[\s*)]{{0,2}}[(（:：–—]?\s?`{_NAME}`")
_WITHIN = compile_lazily(rf"\s\(?{_NAME}[)`]")
"""A name behind its place in the same quotation of code."""
_AROUND = 160
"""Characters beside a place in which its name is."""
_NEAR = 2
"""Lines around a place in which its name had to be."""
_FAR = 20
"""Lines from which on who opens the place does not see the name."""
_MOST = 200
"""Places of a note that are looked up."""


class _Position(NamedTuple):
    """A place in a file that a passage gives for a name."""

    path: str
    """The file of the project."""
    first: int
    """The 1-based lines."""
    last: int
    name: str
    """The name that is right before it, else right behind it."""
    text: str
    """As written."""
    start: int
    """Offset in the passage."""


def find_moved_names(note: Note, project: Project) -> Iterator[Verdict]:
    """Yield the verdicts on the places of names in `note` that are elsewhere in their files now."""
    if not project.tree.commit or not _POSITION.search(note.text):
        return
    passages = (it for it in split_passages(note) if ":" in it.text)
    found = ((passage, it) for passage in passages for it in _list_positions(passage, project))
    lines: dict[str, Sequence[str]] = {}
    for passage, position in islice(found, _MOST):
        if position.path not in lines:
            lines[position.path] = project.load_text(position.path).split("\n")
        now = lines[position.path]
        if not _is_near(position, now):
            yield from _judge(passage, position, now, note, project)


def _list_positions(passage: Passage, project: Project) -> Iterator[_Position]:
    """Yield the places that a passage gives for a name, right before or behind it."""
    for match in _POSITION.finditer(passage.text):
        start, end = match.span()
        before = _BEFORE.search(passage.text, max(0, start - _AROUND), start)
        behind = _WITHIN.match(passage.text, end) or _BEHIND.match(passage.text, end)
        beside = before or behind
        path = find_present_file(match["path"], project) if beside else ""
        first, last = int(match["line"]), int(match["last"] or match["line"])
        # an import may name a file by another ending
        is_it = f"/{path}".endswith(f"/{match['path'].removeprefix('./')}")
        if beside and path and is_it and 0 < first <= last and not project.is_of_memory(path):
            name = beside["name"].rpartition(".")[2]
            yield _Position(path, first, last, name, match[0], start)


def _is_near(position: _Position, lines: Sequence[str]) -> bool:
    """Return whether the lines around a place have its name."""
    word = _build_word(position.name)
    return any(map(word.search, lines[max(0, position.first - _FAR - 1) : position.last + _FAR]))


def _judge(
    passage: Passage, position: _Position, now: Sequence[str], note: Note, project: Project
) -> Iterator[Verdict]:
    path, first, last, name, written, start = position
    moment = project.find_claim_time(note, written)
    then = project.history.graph.find_at(moment) if moment else None
    was = project.history.load_text_at(then[0], path).split("\n") if then else []
    place = _find_line(was, name, first, last)
    moved = _find_again(now, was[place - 1] if place else "", name)
    if not moved or passage.is_unsure(name, existed=True):
        return
    file, _, lines = written.rpartition(":")
    evidence = [f"{path}:{moved} has {name}"]
    if then and place:
        evidence.append(f"it was on line {place:,} in {then[1].summary}")
    # what else the note says of these lines nobody has checked
    is_fixed = bool(place) and note.text.count(written) == 1
    by = moved - place
    yield Verdict(
        written,
        ClaimKind.POSITION,
        passage.line_at(start),
        CheckOutcome.MOVED,
        tuple(evidence),
        suggestion=f"{file}:{_shift(lines, by)}" if is_fixed else "",
        problem=f"{name} is on line {moved:,} of {path}{' now' * bool(place)}, not {lines}",
        existed=bool(place),
        is_guess=not place,
    )


def _shift(lines: str, by: int) -> str:
    """Return numbers of lines as they are written, each with `by` added."""
    return re.sub(r"\d+", lambda number: str(int(number[0]) + by), lines)


def _find_line(lines: Sequence[str], name: str, first: int, last: int) -> int:
    """Return the 1-based line at `first` to `last`, or right beside them, that has a name, by
    preference that of its definition; 0 for none.
    """
    word, definition = _build_word(name), build_definition(name)
    near = range(max(1, first - _NEAR), min(len(lines), last + _NEAR) + 1)
    having = [it for it in near if word.search(lines[it - 1])]
    defining = [it for it in having if definition.match(lines[it - 1])]
    return next(iter(defining or having), 0)


def _find_again(lines: Sequence[str], was: str, name: str) -> int:
    """Return the only 1-based line that is as one `was`, else, unless that was no definition of the
    name, the only one that defines it; 0 for none.
    """
    plain, definition = was.strip(), build_definition(name)
    same = [number for number, line in enumerate(lines, 1) if plain and line.strip() == plain]
    if not same and (not was or definition.match(was)):
        same = [number for number, line in enumerate(lines, 1) if definition.match(line)]
    return same[0] if len(same) == 1 else 0


@lru_cache(maxsize=1 << 10)
def _build_word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")
