"""Lines in colour: segments of text with the name of a style, wrapped to the width of the terminal.

Text is made visible here, before colour is added, so no text of others reaches the terminal as a
control sequence.
"""

from __future__ import annotations

import os
import re
import sys
from itertools import groupby

from ricordo.cli.streams import is_dumb_terminal, write_out
from ricordo.text import count_cells, make_visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import TextIO

    Segment = tuple[str, str]
    """A text and the name of its style; "" for none."""
    Line = Sequence[Segment]

COLOR_CHOICES = ("auto", "always", "never")
"""Values of `--color`."""

_CODES = {
    "error": "1;31",
    "warning": "1;33",
    "info": "1;36",
    "fixable": "1;36",
    "gutter": "1;34",
    "bold": "1",
    "dim": "2",
    "added": "32",
    "removed": "31",
    "hunk": "36",
}
"""Parameters of the escape sequence for each style."""
_DIFF_STYLES = {"+": "added", "-": "removed", "@": "hunk"}
_WIDTH = 100
"""Cells of a line where neither a terminal nor COLUMNS says how many there are."""
_NARROWEST = 40
_WORD = re.compile(r"[ ]*[^ ]+|[ ]+$")

_choice = "auto"


def choose_color(choice: str) -> None:
    """Set the value of `--color` for this run."""
    global _choice
    _choice = choice


def has_color(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Return whether lines on `stream` are coloured: by `--color`, else by the variables that
    no-color.org, force-color.org and bixense.com/clicolors describe, else on a terminal.
    """
    if _choice != "auto":
        return _choice == "always"
    if environ.get("NO_COLOR"):
        return False
    if any(environ.get(name, "0") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    return stream.isatty() and not is_dumb_terminal() and environ.get("CLICOLOR") != "0"


def get_width() -> int:
    """Return the width of stdout in cells: COLUMNS, that of the terminal, else a common one."""
    from shutil import get_terminal_size

    return max(get_terminal_size((_WIDTH, 0)).columns, _NARROWEST)


def print_styled(lines: Iterable[Line], indent: int = 0, *, wraps: bool = True) -> None:
    """Print lines in colour where stdout takes it; on a terminal wrapped between words, with
    `indent` cells before each further row, unless `wraps` is false. Raises OutputFailed.
    """
    paints = has_color(sys.stdout, os.environ)
    if wraps and sys.stdout.isatty():
        width = get_width()
        lines = [row for line in lines for row in wrap(line, width, indent)]
    write_out("".join(f"{_paint(line, paints)}\n" for line in lines))


def print_diffs(lines: Iterable[str], margin: int = 0) -> None:
    """Print lines of which those of diffs have `margin` spaces before their sign, with added and
    removed lines in colour where stdout takes it. Raises OutputFailed.
    """
    print_styled(([(line, _get_diff_style(line, margin))] for line in lines), wraps=False)


def _get_diff_style(line: str, margin: int) -> str:
    if line[:margin].strip():
        return ""
    if line.startswith(("--- ", "+++ "), margin):
        return "bold"
    return _DIFF_STYLES.get(line[margin : margin + 1], "")


def wrap(line: Line, width: int, indent: int) -> Iterator[Line]:
    """Yield `line` as rows of at most `width` cells, broken between words; a longer word stays
    whole.
    """
    row: list[Segment] = []
    room = width
    for word in _split_words(line):
        cells = sum(count_cells(text) for text, _ in word)
        if row and cells > room:
            yield row
            (text, style), *rest = word
            word = [(text.lstrip(" "), style), *rest]
            row, room = [(" " * indent, "")], width - indent
            cells = sum(count_cells(text) for text, _ in word)
        row += word
        room -= cells
    yield row


def _split_words(line: Line) -> list[list[Segment]]:
    """Return the words of `line`, each with the spaces before it, in segments by style."""
    words: list[list[Segment]] = []
    for text, style in line:
        for part in _WORD.findall(_show(text)):
            if words and not part.startswith(" "):
                words[-1].append((part, style))
            else:
                words.append([(part, style)])
    return words


def _show(text: str) -> str:
    """Return `text` visible in one line; tabs stay, for the sake of diffs."""
    return make_visible(text).replace("\n", "␊")


def _paint(line: Line, paints: bool) -> str:
    parts: list[str] = []
    for style, segments in groupby(line, key=lambda segment: segment[1]):
        shown = "".join(_show(text) for text, _ in segments)
        code = _CODES[style] if style and paints else ""
        parts.append(f"\x1b[{code}m{shown}\x1b[0m" if code and shown.strip() else shown)
    return "".join(parts)
