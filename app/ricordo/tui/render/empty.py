"""Texts for empty panes: what will appear there, and which key brings it."""

from __future__ import annotations

from collections.abc import Iterable

from ricordo.agents.agent import MemoryPlace
from ricordo.services.workspace.follower import FollowedSnapshot, MemoryLost
from ricordo.text import make_one_line
from ricordo.tui.render.line import BLANK, StyledLine, StyledSpan, wrap

NO_NOTE = "The note under the cursor appears here."
READING = "reading …"
_LABEL = 12
"""Cells of a label."""
NO_FINDINGS = "Findings about the notes appear here, worst first."


def describe_empty_index(
    place: MemoryPlace,
    followed: FollowedSnapshot | MemoryLost | None,
    filter_text: str,
    memories: str,
    reread: str,
) -> list[tuple[str, str]]:
    """Return paragraphs, with their styles, for an index pane without rows.

    `filter_text` describes the filter, "" for none; `memories` and `reread` are the keys that open
    another memory and read this one again.
    """
    if followed is None or (
        isinstance(followed, FollowedSnapshot) and not followed.snapshot.is_read
    ):
        return [(READING, "dim")]
    if isinstance(followed, MemoryLost):
        return [
            ("This memory cannot be read", "error"),
            (str(followed.error), ""),
            ("Nothing was changed. It appears as soon as it can be read.", "dim"),
            (f"{reread}  tries again    {memories}  opens another memory", "dim"),
        ]
    if filter_text:
        return [
            (f"No note matches {filter_text}", "heading"),
            ("Esc in the index shows all notes again.", "dim"),
        ]
    return [
        ("No notes yet", "heading"),
        (_explain_writing(place), ""),
        ("Notes appear here in the order of the index, with a mark for findings.", ""),
        (f"{memories}  opens another memory of this machine", "dim"),
    ]


def render_paragraphs(texts: Iterable[tuple[str, str]], width: int) -> list[StyledLine]:
    """Return texts with their styles as lines, a blank one after each."""
    lines: list[StyledLine] = []
    for text, style in texts:
        lines += [*render_paragraph(text, style, width), BLANK]
    return lines[:-1]


def render_paragraph(
    text: str, style: str, width: int, label: str = "", label_width: int = 0
) -> list[StyledLine]:
    """Return a text as lines, with its label before the first one."""
    first = (StyledSpan(f"{label:<{label_width}}", "dim"),) if label_width else ()
    rest = (StyledSpan(" " * label_width),) if label_width else ()
    rows = wrap([StyledSpan(make_one_line(text), style)], width, first, rest)
    return [StyledLine(row) for row in rows]


def render_labelled(
    parts: Iterable[tuple[str, Iterable[str], str]], width: int
) -> list[StyledLine]:
    """Return texts below each other, each list of them with its label and in its style."""
    lines: list[StyledLine] = []
    for label, texts, style in parts:
        for number, text in enumerate(texts):
            lines += render_paragraph(text, style, width, "" if number else label, _LABEL)
    return lines


def _explain_writing(place: MemoryPlace) -> str:
    if not place.layout.agent:
        return f"Every markdown file in {place.root} appears here automatically."
    return f"{place.layout.agent} writes notes while you work; they appear here automatically."
