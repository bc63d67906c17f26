"""What a search found as lines: the name with why it was found, then the passage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ricordo.notebook.search import Hit
from ricordo.text import clip, one_line
from ricordo.tui.render.line import Line, Span, fit
from ricordo.tui.render.mask import masked_passage

NOTHING_TYPED: Sequence[tuple[str, str]] = (
    ("Notes will stand here as you type: found by name first, then by what they say.", ""),
    (
        "Conditions: type:feedback  is:protected  has:dead-link  after:2026-05  >note links to it  "
        '<note linked from it  "exact words"  -not',
        "dim",
    ),
)


def hit_rows(hit: Hit, width: int, where: str = "") -> tuple[Line, Line]:
    """Return the two rows of a hit: its name, in `where` it was found and why, then the passage."""
    note, result = hit.result.note, hit.result
    why = f"  {one_line('; '.join(result.why))}"
    called, name_marks = masked_passage(note.name, hit.name_marks, note.text)
    said, marks = masked_passage(result.snippet, result.marks, note.text)
    name = [Span(" ", ""), *marked(called, name_marks, "bold")]
    kind = Span(f"  {clip(note.type, 14)}" if note.type else "", "dim")
    memory = Span(f"  {clip(where, 28)}" if where else "", "accent")
    first = Line(fit((*name, memory, kind, Span(why, "dim")), width))
    passage = marked(said, marks, "dim")
    return first, Line(fit((Span("   "), *passage), width))


def marked(text: str, marks: Sequence[tuple[int, int]], style: str) -> Iterator[Span]:
    """Yield `text` as spans, with what stands at `marks` (start and end) made plain."""
    at = 0
    for start, end in marks:
        if start < at:
            continue
        if start > at:
            yield Span(one_line(text[at:start]), style)
        yield Span(one_line(text[start:end]), f"{style} match")
        at = end
    if at < len(text):
        yield Span(one_line(text[at:]), style)
