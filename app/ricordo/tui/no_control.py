"""The second wall against terminal escapes: nothing that is drawn holds a control character.

Text is made visible when it enters a view; this filter looks at every line once more on its way
to the terminal, whatever widget it came from.
"""

from __future__ import annotations

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from ricordo.text import one_line


class NoControl(LineFilter):
    """Makes controls in drawn text visible."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return `segments` with every control character made visible."""
        if all(segment.text.isprintable() for segment in segments):
            return segments
        return [
            segment
            if segment.text.isprintable()
            else Segment(one_line(segment.text), segment.style, segment.control)
            for segment in segments
        ]
