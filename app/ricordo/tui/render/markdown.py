"""Markdown as styled lines.

markdown-it parses; its tokens become lines that know which line of the file they show and which
links they have. Addresses and HTML are shown as text only: nothing is opened or run.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import zip_longest
from typing import TYPE_CHECKING

from ricordo.tui.render.line import (
    BLANK,
    MEASURE,
    StyledLine,
    StyledSpan,
    cut,
    measure,
    span_text,
    wrap,
)

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LinkResolver = Callable[[str, bool, str], tuple[int, str]]
"""Takes a target, whether it is a wikilink, and its anchor; returns the link's number (-1 for none)
and its style."""

_WIKILINK = re.compile(r"\[\[([^\[\]\n|#]*)(?:#([^\[\]\n|]*))?(?:\|([^\[\]\n]*))?\]\]")
_CHUNK = 6_000
"""Characters that are rendered at once: a few milliseconds."""


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": True, "maxNesting": 20}).enable(
        ["table", "strikethrough"]
    )


def split_markdown(text: str, first_line: int = 1) -> Iterator[tuple[int, str]]:
    """Split markdown at blank lines outside code fences into pieces that can be rendered one by
    one; yield each with the line of the file at which it begins.
    """
    if len(text) <= _CHUNK:
        yield first_line, text
        return
    lines = text.split("\n")
    piece: list[str] = []
    size, start, fence = 0, first_line, ""
    for number, line in enumerate(lines, first_line):
        mark = line.lstrip(" ")[:3]
        if mark in ("```", "~~~"):
            fence = "" if fence == mark else fence or mark
        piece.append(line)
        size += len(line) + 1
        if (size > _CHUNK and not fence and not line.strip()) or size > 4 * _CHUNK:
            yield start, "\n".join(piece)
            piece, size, start = [], 0, number + 1
    if piece:
        yield start, "\n".join(piece)


def render_markdown(
    text: str, width: int, first_line: int, resolve: LinkResolver
) -> list[StyledLine]:
    """Return `text` as lines of at most `width` cells, prose of at most MEASURE; it begins at
    `first_line` of the file.
    """
    tokens = _parser().parse(text.replace("\r\n", "\n"))
    writer = _Writer(width, first_line, resolve)
    writer.blocks(tokens)
    lines = writer.lines
    while lines and not lines[-1].spans:
        lines.pop()
    return lines


@dataclass
class _List:
    """A list that is being rendered."""

    number: int | None
    """Number of the next item; None for bullets."""


@dataclass
class _Writer:
    width: int
    first_line: int
    resolve: LinkResolver
    lines: list[StyledLine] = field(default_factory=list)
    margin: list[StyledSpan] = field(default_factory=list)
    """Spans before every row: bars of quotes, indentation of lists."""
    bullet: StyledSpan | None = None
    """Span before the first row of a list item."""
    lists: list[_List] = field(default_factory=list)
    tight: bool = False

    def blocks(self, tokens: Sequence[Token]) -> None:
        position = 0
        while position < len(tokens):
            token = tokens[position]
            if token.type == "table_open":
                end = _closing(tokens, position, "table_close")
                self._table(tokens[position : end + 1])
                position = end
            elif token.type == "inline":
                self._inline(token, _block_style(tokens[position - 1]))
            else:
                self._block(token)
            position += 1

    def _block(self, token: Token) -> None:
        kind = token.type
        if kind in ("bullet_list_open", "ordered_list_open"):
            start = token.attrGet("start")
            ordered = kind == "ordered_list_open"
            self.lists.append(
                _List(int(start) if start is not None else 1) if ordered else _List(None)
            )
        elif kind in ("bullet_list_close", "ordered_list_close"):
            self.lists.pop()
            if not self.lists:
                self._gap()
        elif kind == "list_item_open":
            self._open_item()
        elif kind == "list_item_close":
            self._flush_bullet(0)
            self.margin.pop()
        elif kind == "blockquote_open":
            self.margin.append(StyledSpan("▎ ", "quote"))
        elif kind == "blockquote_close":
            self.margin.pop()
            self._gap()
        elif kind in ("fence", "code_block"):
            self._code(token)
        elif kind == "hr":
            self._put((StyledSpan("─" * max(3, self._room(MEASURE)), "dim"),), self._source(token))
            self._gap()
        elif kind == "html_block":
            for offset, line in enumerate(token.content.rstrip("\n").split("\n")):
                self._write([StyledSpan(span_text(line), "comment")], self._source(token) + offset)
            self._gap()
        elif (kind in ("paragraph_close", "heading_close") and not self.lists) or (
            kind == "paragraph_close" and not token.hidden
        ):
            self._gap()

    def _open_item(self) -> None:
        current = self.lists[-1]
        if current.number is None:
            mark = "• "
        else:
            mark = f"{current.number}. "
            current.number += 1
        self.bullet = StyledSpan(mark, "bullet")
        self.margin.append(StyledSpan(" " * len(mark)))

    def _inline(self, token: Token, style: str) -> None:
        spans: list[StyledSpan] = []
        source = self._source(token)
        for span, line in _inline_spans(token, style, source, self.resolve):
            if span is None:
                self._write(spans, source)
                spans, source = [], line
            else:
                spans.append(span)
        self._write(spans, source)

    def _write(self, spans: list[StyledSpan], source: int) -> None:
        first, rest = self._margins()
        # soft breaks join lines: a row belongs to the line at which it begins
        for row in wrap(spans, min(self.width, MEASURE), first, rest):
            source = next((span.source_line for span in row if span.source_line), source)
            self.lines.append(StyledLine(row, source))

    def _margins(self) -> tuple[tuple[StyledSpan, ...], tuple[StyledSpan, ...]]:
        rest = tuple(self.margin)
        if self.bullet is None:
            return rest, rest
        first = (*rest[:-1], self.bullet)
        self.bullet = None
        return first, rest

    def _code(self, token: Token) -> None:
        offset = 1 if token.type == "fence" else 0
        texts = [span_text(line) for line in token.content.rstrip("\n").split("\n")]
        longest = max(measure((StyledSpan(text),)) for text in texts)
        # as wide as the prose around it, and wider where its lines are
        room = min(self._room(), max(self._room(MEASURE), longest + 2))
        for number, rest in enumerate(texts):
            while True:
                part = cut(rest, room - 2) if rest else ""
                fill = " " * max(0, room - 2 - measure((StyledSpan(part),)))
                self._put(
                    (StyledSpan(f" {part}{fill} ", "code-block"),),
                    self._source(token) + number + offset,
                )
                rest = rest[len(part) :]
                if not rest:
                    break
        self._gap()

    def _table(self, tokens: Sequence[Token]) -> None:
        rows: list[list[tuple[StyledSpan, ...]]] = []
        sources: list[int] = []
        for token in tokens:
            if token.type == "tr_open":
                rows.append([])
                sources.append(self._source(token))
            elif token.type == "inline":
                style = "bold" if len(rows) == 1 else ""
                pairs = _inline_spans(token, style, sources[-1], self.resolve)
                rows[-1].append(tuple(span for span, _ in pairs if span is not None))
        widths = _column_widths(rows, self._room())
        if widths:
            self._columns(rows, sources, widths)
        else:
            self._records(rows, sources)
        self._gap()

    def _columns(self, rows: Sequence[_Row], sources: Sequence[int], widths: list[int]) -> None:
        """Write a table in columns; with wrapped cells its rows are divided by lines."""
        wrapped = [_wrap_row(row, widths) for row in rows]
        is_divided = any(len(lines) > 1 for lines in wrapped[1:])
        rule = (StyledSpan("─┼─".join("─" * width for width in widths), "dim"),)
        for number, (lines, source) in enumerate(zip(wrapped, sources, strict=True)):
            for line in lines:
                self._put(line, source)
            if number == 0 or (is_divided and number + 1 < len(rows)):
                self._put(rule, source)

    def _records(self, rows: Sequence[_Row], sources: Sequence[int]) -> None:
        """Write a table with more columns than there is room for: each cell with its title."""
        titles, records = rows[0], rows[1:] or [()]
        for number, (row, source) in enumerate(zip(records, sources[1:] or sources, strict=True)):
            if number:
                self._put((StyledSpan("─" * self._room(MEASURE), "dim"),), source)
            for title, cell in zip_longest(titles, row, fillvalue=()):
                name = [span._replace(source_line=source) for span in title]
                self._write([*name, StyledSpan("  "), *cell], source)

    def _put(self, spans: tuple[StyledSpan, ...], source: int) -> None:
        first, _ = self._margins()
        self.lines.append(StyledLine((*first, *spans), source))

    def _flush_bullet(self, source: int) -> None:
        if self.bullet is not None:
            self._put((), source)

    def _gap(self) -> None:
        if self.lines and self.lines[-1].spans:
            self.lines.append(BLANK)

    def _room(self, most: int = sys.maxsize) -> int:
        """Return the cells beside the margin, of at most `most` with it."""
        return max(8, min(self.width, most) - measure(self.margin))

    def _source(self, token: Token) -> int:
        return self.first_line + (token.map[0] if token.map else 0)


def _block_style(before: Token) -> str:
    if before.type == "heading_open":
        return "heading" if before.tag in ("h1", "h2") else "subheading"
    return ""


def _inline_spans(
    inline: Token, base: str, first: int, resolve: LinkResolver
) -> Iterator[tuple[StyledSpan | None, int]]:
    """Yield the spans of a paragraph that begins at line `first`, each with its line; None with the
    next line at a hard break.
    """
    raw = inline.content.replace("\n", " ")
    at, line = 0, first
    styles = [base] if base else []
    link, link_style = -1, ""
    for token in inline.children or ():
        kind = token.type
        style = " ".join([*styles, link_style]).strip()
        if token.content:
            # code and HTML may span lines of the file, which their text no longer shows
            behind = raw.find(token.content.replace("\n", " "), at)
            at = behind + len(token.content) if behind >= 0 else at
        if kind == "text":
            if link_style:
                yield StyledSpan(span_text(token.content), style, link, line), line
            else:
                for span in _text_spans(token.content, style, resolve):
                    yield span._replace(source_line=line), line
        elif kind in ("softbreak", "hardbreak"):
            at = inline.content.find("\n", at) + 1 or at
            line = first + inline.content.count("\n", 0, at)
            yield (StyledSpan(" ", style) if kind == "softbreak" else None), line
        elif kind == "code_inline":
            text, code = span_text(token.content), f"{style} code".strip()
            yield StyledSpan(text, code, link, line), line
        elif kind == "link_open":
            href = str(token.attrGet("href") or "")
            link, link_style = resolve(href, False, "")
        elif kind == "link_close":
            link, link_style = -1, ""
        elif kind == "image":
            href = str(token.attrGet("src") or "")
            number, image_style = resolve(href, False, "")
            yield (
                StyledSpan(f"▣ {span_text(token.content or href)}", image_style, number, line),
                line,
            )
        elif kind == "html_inline":
            yield StyledSpan(span_text(token.content), "comment", source_line=line), line
        elif kind.endswith("_open"):
            styles.append(
                {"strong_open": "bold", "em_open": "italic", "s_open": "strike"}.get(kind, "")
            )
        elif kind.endswith("_close") and styles:
            styles.pop()


def _text_spans(text: str, style: str, resolve: LinkResolver) -> Iterator[StyledSpan]:
    end = 0
    for match in _WIKILINK.finditer(text) if "[[" in text else ():
        if match.start() > end:
            yield StyledSpan(span_text(text[end : match.start()]), style)
        target, heading, alias = match[1].strip(), match[2] or "", match[3]
        number, link_style = resolve(target, True, heading)
        yield StyledSpan(
            span_text(alias or target or heading), f"{style} {link_style}".strip(), number
        )
        end = match.end()
    if end < len(text):
        yield StyledSpan(span_text(text[end:]), style)


def _closing(tokens: Sequence[Token], start: int, kind: str) -> int:
    for position in range(start, len(tokens)):
        if tokens[position].type == kind:
            return position
    return len(tokens) - 1


_Row = Sequence[tuple[StyledSpan, ...]]
"""The cells of a row of a table."""
_LEAST_COLUMN = 8
"""Cells to which a column is shrunk: words still fit in."""


def _column_widths(rows: Sequence[_Row], room: int) -> list[int]:
    """Return the widths of columns: what each needs, the widest shrunk until the table fits; none
    where even then it does not.
    """
    count = max((len(row) for row in rows), default=0)
    widths = [
        max((measure(row[column]) for row in rows if column < len(row)), default=1) or 1
        for column in range(count)
    ]
    spare = room - 3 * (count - 1) - sum(widths)
    while spare < 0 and widths and max(widths) > _LEAST_COLUMN:
        widest = widths.index(max(widths))
        others = sorted(widths)[-2] if count > 1 else _LEAST_COLUMN
        step = min(-spare, max(1, widths[widest] - others), widths[widest] - _LEAST_COLUMN)
        widths[widest] -= step
        spare += step
    return widths if spare >= 0 else []


def _wrap_row(cells: _Row, widths: Sequence[int]) -> list[tuple[StyledSpan, ...]]:
    """Return a row of a table as lines, its cells wrapped to the columns."""
    columns = [wrap(cell, width) for cell, width in zip(cells, widths, strict=False)]
    columns += [[()]] * (len(widths) - len(columns))
    lines: list[tuple[StyledSpan, ...]] = []
    for number in range(max(map(len, columns))):
        spans: list[StyledSpan] = []
        for column, width in zip(columns, widths, strict=True):
            part = column[number] if number < len(column) else ()
            divider = (StyledSpan(" │ ", "dim"),) if spans else ()
            spans += [*divider, *part, StyledSpan(" " * max(0, width - measure(part)))]
        lines.append(tuple(spans))
    return lines
