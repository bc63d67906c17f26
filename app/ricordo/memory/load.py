"""The exact load: which part of the index an agent is given at session start.

Source: Claude Code documentation and reports of users for versions 2.1.211 to 2.1.240. The index is
stripped of a frontmatter head and of block HTML comments, trimmed, cut after 200 lines, and then,
where more than 25,000 UTF-16 code units are left, at the last newline that fits. A first line that
is longer than that is cut inside.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from ricordo.memory.frontmatter import parser as frontmatter
from ricordo.memory.layout import Limits

_FENCE = re.compile(r"^ {0,3}(`{3,}+(?=[^`]*$)|~{3,}+)")
_COMMENT_START = re.compile(r"^ {0,3}<!--")
_WHOLE_COMMENTS = re.compile(r"(?:\s*+<!--.*?-->)*")


@dataclass(frozen=True, slots=True)
class Load:
    """What an agent is given of an index, in the agent's own measure."""

    lines: int
    """Lines of the stripped index, cut or not."""
    units: int
    """UTF-16 code units of the stripped index, cut or not."""
    limits: Limits | None
    cut_at_line: int | None
    """1-based line of the file that the agent does not get any more; None when it gets all."""
    text: str
    """What the agent gets."""

    @property
    def share(self) -> float:
        """The fuller of the two measures, 1.0 being the limit; 0.0 without limits."""
        if self.limits is None:
            return 0.0
        return max(self.lines / self.limits.lines, self.units / self.limits.units)


def units(text: str) -> int:
    """Return the length of `text` in UTF-16 code units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def compute_load(text: str, limits: Limits | None) -> Load:
    """Return what an agent with these `limits` is given of the index `text`."""
    kept = stripped_lines(text)
    whole = "\n".join(line for _, line in kept)
    count, size = len(kept), units(whole)
    if limits is None:
        return Load(count, size, None, None, whole)
    fitting = kept[: limits.lines]
    length, room = 0, limits.units
    for position, (_, line) in enumerate(fitting):
        length += units(line) + (1 if position else 0)
        if length > room:
            fitting = fitting[:position]
            break
    if len(fitting) == len(kept):
        return Load(count, size, limits, None, whole)
    if not fitting:
        given = _first_units(kept[0][1], room)
    else:
        given = "\n".join(line for _, line in fitting)
    return Load(count, size, limits, kept[len(fitting)][0], given)


def _first_units(line: str, room: int) -> str:
    return line.encode("utf-16-le", "surrogatepass")[: 2 * room].decode("utf-16-le", "ignore")


def stripped_lines(text: str) -> list[tuple[int, str]]:
    """Return the lines of an index that are measured, each with its number in the file."""
    head = frontmatter.read(text)
    start = text.count("\n", 0, head.end)
    numbered = list(enumerate(text[head.end :].split("\n"), start + 1))
    kept = _without_comments(numbered) if "<!--" in text else numbered
    while kept and not kept[0][1].strip():
        kept.pop(0)
    while kept and not kept[-1][1].strip():
        kept.pop()
    if kept:
        kept[0] = (kept[0][0], kept[0][1].lstrip())
        kept[-1] = (kept[-1][0], kept[-1][1].rstrip())
    return kept


def _without_comments(lines: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Drop block comments. One that is never closed, or stands in a code fence, stays."""
    kept: list[tuple[int, str]] = []
    fence = ""
    position = 0
    closings = [at for at, (_, line) in enumerate(lines) if "-->" in line]
    while position < len(lines):
        number, line = lines[position]
        marks = _FENCE.match(line)
        if fence:
            if marks and marks[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif marks:
            fence = marks[1]
        elif _COMMENT_START.match(line):
            end = _comment_end(lines, closings, position)
            if end is not None:
                rest = _after_comments(lines[end][1])
                if rest.strip():
                    kept.append((lines[end][0], rest))
                position = end + 1
                continue
        kept.append((number, line))
        position += 1
    return kept


def _after_comments(line: str) -> str:
    """Return what follows in `line` on the end of a comment and on further ones beside it."""
    rest = line[_closing_at(line) + 3 :]
    further = _WHOLE_COMMENTS.match(rest)
    return rest[further.end() :] if further else rest


def _closing_at(line: str) -> int:
    opening = line.find("<!--") if _COMMENT_START.match(line) else -1
    return line.find("-->", opening + 4 if opening >= 0 else 0)


def _comment_end(lines: list[tuple[int, str]], closings: list[int], start: int) -> int | None:
    """Return the position of the line that closes the comment opened at `start`; `closings` are
    the positions of the lines that hold a `-->`.
    """
    if "-->" in lines[start][1].partition("<!--")[2]:
        return start
    at = bisect_right(closings, start)
    return closings[at] if at < len(closings) else None
