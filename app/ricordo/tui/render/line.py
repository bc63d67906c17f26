"""Styled lines, and wrapping them to a width in terminal cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ricordo.patterns import compile_lazily
from ricordo.text import count_cells, make_visible


class StyledSpan(NamedTuple):
    """A run of text in one style."""

    text: str
    """Visible text without newlines or tabs."""
    style: str = ""
    """Names of styles in the palette, separated by blanks."""
    link: int = -1
    """Position in the document's list of links; -1 for no link."""
    source_line: int = 0
    """1-based line of the file that it shows; 0 for the line of its row, or none."""


class StyledLine(NamedTuple):
    """One row of a view."""

    spans: tuple[StyledSpan, ...] = ()
    source_line: int = 0
    """1-based line of the file that it shows; 0 for none."""

    @property
    def text(self) -> str:
        """Return the text without styles."""
        return "".join(span.text for span in self.spans)

    def has_source_line(self, source: int) -> bool:
        """Return whether a part of the row shows line `source` of the file."""
        return self.source_line == source or any(span.source_line == source for span in self.spans)


BLANK = StyledLine()
_CLOSING = ".,;:!?)]}»”’"
_OPENING = compile_lazily("(?:[(\\[{«“‘`]|[→←] )+$")
"""Brackets and quotes that are opened, and arrows to what follows."""
_JOINTS = "/_-"
"""Characters behind which a path or a name is broken."""

# Wide characters can be broken anywhere; everything else only at blanks.
_WIDE = (
    "\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6"
)
_LEAST_PART = 8
"""Cells of the first part of a word that is broken."""
# A word is at most 200 characters, so that a line of a megabyte stays cheap.
_ATOM = compile_lazily(
    f"[{_WIDE}\U0001f000-\U0001faff\U00020000-\U0003fffd]|[^\\s{_WIDE}]{{1,200}}|\\s{{1,200}}"
)


MEASURE = 100
"""The most cells of a line of prose: longer lines are hard to read. Diffs, tables and code may be
wider.
"""


def span_text(text: str) -> str:
    """Return `text` for a span: control characters made visible, tabs and newlines as blanks."""
    return make_visible(text.expandtabs(4) if "\t" in text else text).replace("\n", " ")


def measure(spans: Iterable[StyledSpan]) -> int:
    """Return the width of `spans` in cells."""
    return sum(count_cells(span.text) for span in spans)


def wrap(
    spans: Iterable[StyledSpan],
    width: int,
    first: tuple[StyledSpan, ...] = (),
    rest: tuple[StyledSpan, ...] = (),
) -> list[tuple[StyledSpan, ...]]:
    """Wrap `spans` into rows of at most `width` cells.

    `first` is put before the first row, `rest` before the others. Punctuation stays with the word
    that it closes or opens, even in another style.
    """
    rows: list[tuple[StyledSpan, ...]] = []
    row: list[StyledSpan] = list(first)
    margin = room = max(8, width - measure(first))
    later_room = max(8, width - measure(rest))

    def finish() -> None:
        nonlocal row, margin, room
        rows.append(tuple(row))
        row = list(rest)
        margin = room = later_room

    given = tuple(spans)
    for number, span in enumerate(given):
        size, closing = count_cells(span.text), _count_closing(given, number + 1)
        if size + closing <= room:
            row.append(span)
            room -= size
            continue
        words, chars_left = "", len(span.text)
        for atom in _ATOM.findall(span.text):
            size, chars_left = count_cells(atom), chars_left - len(atom)
            if _LEAST_PART <= room < size and size > later_room:
                # it fits no row: broken here, it leaves no gap
                beginning = _cut_word(atom, room)
                row.append(span._replace(text=words + beginning))
                words, atom = "", atom[len(beginning) :]
                size = count_cells(atom)
                finish()
            if size + (0 if chars_left else closing) > room and room < margin:
                carried: list[StyledSpan] = []
                if words:
                    row.append(span._replace(text=words))
                    words = ""
                elif not atom.isspace():
                    carried = _take_opening(row, min(later_room - size, margin - room - 1))
                finish()
                row += carried
                room -= measure(carried)
            if room == margin and atom.isspace():
                continue
            while size > margin:
                beginning = _cut_word(atom, margin)
                row.append(span._replace(text=words + beginning))
                words, atom = "", atom[len(beginning) :]
                size = count_cells(atom)
                finish()
            words += atom
            room -= size
        if words:
            row.append(span._replace(text=words))
    if len(row) > len(rest if rows else first) or not rows:
        rows.append(tuple(row))
    return rows


def _count_closing(spans: Sequence[StyledSpan], number: int) -> int:
    """Return the number of closing characters at the beginning of span `number`."""
    if number >= len(spans):
        return 0
    text = spans[number].text
    return len(text) - len(text.lstrip(_CLOSING)) if text[:1] in _CLOSING else 0


def _take_opening(row: list[StyledSpan], most: int) -> list[StyledSpan]:
    """Remove the opening characters from the end of a `row` and return them as spans; none if they
    take more than `most` cells.
    """
    opens = _OPENING.search(row[-1].text)
    if opens is None or count_cells(opens[0]) > most:
        return []
    last = row.pop()
    if before := last.text[: opens.start()]:
        row.append(last._replace(text=before))
    return [last._replace(text=opens[0])]


def _cut_word(word: str, width: int) -> str:
    """Return the beginning of a long word for a row of `width` cells: up to the last of its joints,
    unless that leaves more than half of the row empty.
    """
    beginning = cut(word, width)
    joint = max(map(beginning.rfind, _JOINTS)) + 1
    return beginning[:joint] if 2 * joint > len(beginning) else beginning


def cut(text: str, width: int) -> str:
    """Return the beginning of `text` that fits into `width` cells; at least one character."""
    if text.isascii():
        return text[: max(1, width)]
    for position, char in enumerate(text):
        width -= count_cells(char)
        if width < 0:
            return text[: max(1, position)]
    return text


def fit_keys(spans: Iterable[StyledSpan], width: int) -> tuple[StyledSpan, ...]:
    """Return `spans` cut to `width` cells like `fit`; but a key behind the first one, in the style
    `key`, is shown with its whole label or not at all.
    """
    given = tuple(spans)
    if measure(given) <= width or not any(span.style == "key" for span in given):
        return fit(given, width)
    starts = [number for number, span in enumerate(given) if span.style == "key"]
    # one cell for the ellipsis
    whole = [start for start in starts if measure(given[:start]) < width]
    at = whole[-1] if whole else 0
    return (*given[:at], StyledSpan("…", "dim")) if at > starts[0] else fit(given, width)


def fit(spans: Iterable[StyledSpan], width: int) -> tuple[StyledSpan, ...]:
    """Return `spans` cut to `width` cells, ending in `…` if they were cut."""
    fitted: list[StyledSpan] = []
    room = width
    for span in spans:
        size = count_cells(span.text)
        if size > room:
            if room > 1:
                fitted.append(span._replace(text=cut(span.text, room - 1).rstrip() + "…"))
            elif room == 1:
                fitted.append(span._replace(text="…"))
            return tuple(fitted)
        fitted.append(span)
        room -= size
    return tuple(fitted)


def align_right(
    left: Iterable[StyledSpan], right: tuple[StyledSpan, ...], width: int
) -> StyledLine:
    """Return a row of `width` cells with `left`, cut to fit, and `right` at its end."""
    fitted = fit(left, width - measure(right))
    gap = StyledSpan(" " * max(0, width - measure(fitted) - measure(right)))
    return StyledLine((*fitted, gap, *right))


def render_divider(words: str, width: int, *, in_one: bool) -> tuple[StyledLine, ...]:
    """Return a line with `words` above others."""
    title = f" ── {words} "
    line = StyledLine((StyledSpan(title + "─" * max(0, width - len(title) - 1), "dim"),))
    return (line,) if in_one else (line, BLANK)
