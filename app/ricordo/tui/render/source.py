"""The text of a note as it stands on disk, line by line, lightly coloured."""

from __future__ import annotations

from ricordo.memory.links import Link
from ricordo.tui.render.line import Line, Span, shown, wrap
from ricordo.tui.render.markdown import Resolver


def render_source(
    lines: list[str],
    first: int,
    width: int,
    head_lines: int,
    links: dict[int, list[Link]],
    resolve: Resolver,
) -> list[Line]:
    """Return `lines`, of which the first is line `first` of the file, with their numbers.

    `head_lines` is the number of lines that the head takes; `links` are the note's by line.
    """
    gutter = 5
    rows: list[Line] = []
    rest = (Span(" " * gutter),)
    for number, line in enumerate(lines, first):
        before = (Span(f"{number:>{gutter - 1}} ", "dim"),)
        base = "frontmatter" if number <= head_lines else _style(line)
        spans = _spans(line.rstrip("\r"), base, links.get(number, []), resolve)
        rows.extend(Line(row, number) for row in wrap(spans, width, before, rest))
    return rows


def _style(line: str) -> str:
    if line.startswith("#"):
        return "heading"
    return "quote" if line.startswith(">") else ""


def _spans(line: str, base: str, links: list[Link], resolve: Resolver) -> list[Span]:
    spans: list[Span] = []
    end = 0
    for link in links:
        written = f"[[{link.target}" if link.is_wikilink else f"[{link.label}]("
        start = line.find(written, end)
        if start < 0:
            continue
        stop = start + (link.end - link.start)
        number, style = resolve(link.target, link.is_wikilink, link.anchor)
        spans.append(Span(shown(line[end:start]), base))
        spans.append(Span(shown(line[start:stop]), style, number))
        end = stop
    spans.append(Span(shown(line[end:]), base))
    return [span for span in spans if span.text]
