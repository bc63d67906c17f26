"""The ledger of curations as styled lines."""

from __future__ import annotations

from collections.abc import Sequence

from ricordo.notebook.describe_bought import Section
from ricordo.tui.render.line import BLANK, Line, Span, wrap

_INDENT = 2


def ledger_lines(sections: Sequence[Section], width: int) -> list[Line]:
    """Return the sections of a ledger, at most `width` cells wide."""
    lines: list[Line] = []
    for section in sections:
        lines += [BLANK] if lines else []
        lines.append(Line((Span(section.title, "heading"),)))
        for text in section.lines:
            rows = wrap([Span(text.strip())], width - _INDENT)
            lines += [Line((Span(" " * _INDENT), *row)) for row in rows]
    return lines
