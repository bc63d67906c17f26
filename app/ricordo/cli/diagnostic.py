"""A finding as a diagnostic: place, rule and message, the line with a marker, evidence and fix."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from ricordo.lint.excerpt import build_excerpt
from ricordo.services.edits.fix import INTERACTIVE_RULES
from ricordo.text import clip, count_cells, make_one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ricordo.cli.style import Line
    from ricordo.lint.excerpt import Excerpt
    from ricordo.lint.finding import Finding
    from ricordo.memory.memory import Memory

_MOST_EVIDENCE = 3
"""Lines of evidence of one finding."""
_MOST_CELLS = 300
"""Cells of a line of evidence."""
INDENT = 4
"""Cells before the further rows of a line that is wrapped."""


class FoundIn(NamedTuple):
    """A finding with the memory that it was found in."""

    finding: Finding
    memory: Memory
    is_dismissed: bool = False


def is_fixed_by_safe_fixes(finding: Finding) -> bool:
    """Return whether `--fix` tries to fix the finding."""
    safe = any(it.fix is not None and it.fix.safe for it in finding.each)
    return safe and finding.rule not in INTERACTIVE_RULES


def relative_path(path: str, directory: str) -> str:
    """Return the absolute `path` relative to `directory`; as it is where that is longer."""
    relative = os.path.relpath(path, os.path.realpath(directory))
    return relative if len(relative) <= len(path) else path


class View(NamedTuple):
    """How diagnostics are laid out."""

    directory: str
    """Paths are relative to this directory."""
    width: int
    """Cells to which the line of a note is cut."""
    has_place_below: bool
    """Whether the place is in a line of its own below the message, as is easy to read, instead of
    before it, as is easy to search.
    """


def render_diagnostic(found: FoundIn, view: View, advice: str = "") -> Iterator[Line]:
    """Yield the lines of a finding; `advice` says what to do where there is no automatic fix."""
    finding, memory, is_dismissed = found
    note = memory.by_path.get(finding.path)
    is_one = note is not None and not finding.members
    excerpt = build_excerpt(finding, note) if is_one and note is not None else None
    folder = relative_path(memory.root, view.directory)
    shows_line = excerpt is not None and any(map(str.isalnum, "".join(excerpt[1:])))
    gutter = " " * (len(str(finding.line)) if shows_line else 1)
    place = _render_place(finding, excerpt, folder)
    message = _render_message(found)
    if view.has_place_below:
        yield message
        yield [(f"{gutter}--> ", "gutter"), *place, *_render_id(found)]
    else:
        yield [*place, (": ", ""), *message, *_render_id(found)]
    if excerpt is not None and shows_line:
        yield from _render_excerpt(finding, excerpt, view.width)
    label = "evidence: "
    for text in _choose_evidence(finding, excerpt, folder):
        yield [(f"{gutter} = ", "gutter"), (label, "bold"), (clip(text, _MOST_CELLS), "")]
        label = " " * len(label)
    label = "help: "
    for text in () if is_dismissed else _list_help(finding, advice):
        yield [(f"{gutter} = ", "gutter"), (label, "bold"), (text, "")]
        label = " " * len(label)


def _render_place(finding: Finding, excerpt: Excerpt | None, folder: str) -> Line:
    place = f":{finding.line}" if finding.line else ""
    place += f":{excerpt.column}" if excerpt is not None else ""
    return [(os.path.normpath(os.path.join(folder, finding.path)), "bold"), (place, "")]


def _render_message(found: FoundIn) -> Line:
    finding = found.finding
    word = finding.severity.word
    return [
        (f"{word}[{finding.rule}]", word),
        (" [*]" if is_fixed_by_safe_fixes(finding) else "", "fixable"),
        (f" {finding.message}", ""),
    ]


def _render_id(found: FoundIn) -> Line:
    return [(f" ({found.finding.id})" + (" dismissed" if found.is_dismissed else ""), "dim")]


def _render_excerpt(finding: Finding, excerpt: Excerpt, width: int) -> Iterator[Line]:
    number = str(finding.line)
    before, marked, after = _fit(excerpt, width - len(number) - 3)
    yield [(f"{number} | ", "gutter"), (before + marked + after, "")]
    marker = "^" * max(1, count_cells(marked))
    yield [
        (f"{' ' * len(number)} | ", "gutter"),
        (" " * count_cells(before), ""),
        (marker, finding.severity.word),
    ]


def _fit(excerpt: Excerpt, width: int) -> tuple[str, str, str]:
    """Return the parts of the line cut to `width` cells, with the marked part as near to the middle
    as the text around it allows.
    """
    before, marked, after = excerpt.before, excerpt.marked, excerpt.after
    marked = clip(marked, width * 2 // 3) if before or after else clip(marked, width)
    room = width - count_cells(marked)
    # only the nearest characters can be shown, and lines may be long
    before_cells, after_cells = (count_cells(text) for text in (before[-width:], after[:width]))
    before = _clip_start(before, max(room // 2, room - after_cells))
    after = clip(after, room - count_cells(before)) if after_cells else ""
    return (before if before_cells else ""), marked, after


def _clip_start(text: str, width: int) -> str:
    """Return the last characters of `text` that take at most `width` cells, with `…` before them
    if there were more.
    """
    shown = text[-width:] if width > 0 else ""
    if shown == text and count_cells(shown) <= width:
        return text
    while shown and count_cells(shown) >= width:
        shown = shown[1:]
    return f"…{shown}"


def _choose_evidence(finding: Finding, excerpt: Excerpt | None, folder: str) -> list[str]:
    """Return the evidence that the line of the note does not show already; that on a second file
    begins with the path of that file.
    """
    shown = "".join(excerpt[1:]).strip() if excerpt is not None else ""
    chosen: list[str] = []
    if finding.members:
        # its examples are places in several files
        return [os.path.join(folder, make_one_line(text)) for text in finding.evidence[:-1]] + [
            make_one_line(text) for text in finding.evidence[-1:]
        ]
    for text in map(make_one_line, finding.evidence):
        is_shown = shown and (text.strip() in shown or shown in text)
        is_place = text.endswith(f", line {finding.line}")
        if not (is_shown or is_place or text.startswith(f"{finding.path}:")):
            is_of_other = finding.other_path and text.startswith(f"{finding.other_path}:")
            chosen.append(os.path.join(folder, text) if is_of_other else text.strip())
    return chosen[:_MOST_EVIDENCE]


def _list_help(finding: Finding, advice: str) -> Iterator[str]:
    """Yield what fixes the finding, else the `advice`; for several as one, how all are settled."""
    option = "--fix" if is_fixed_by_safe_fixes(finding) else "--fix --unsafe"
    how = f"{option} tries it"
    if finding.rule in INTERACTIVE_RULES:
        how = "F in the notebook does it"
    elif finding.members:
        how = f"`ricordo lint --select {finding.rule} {option}` tries them"
    if text := f"{finding.fix_label}; {how}" if finding.fix_label else advice:
        yield text
    if finding.members:
        lists = f"`ricordo lint --select {finding.rule} --full` lists them"
        yield f"{lists}, `ricordo lint --dismiss {finding.id}` dismisses them all"
