"""What stands in a pane for which there is nothing to show: what will, and what brings it."""

from __future__ import annotations

from collections.abc import Iterable

from ricordo.agents.place import MemoryPlace
from ricordo.services.workspace.follower import FollowedSnapshot, Lost
from ricordo.text import one_line
from ricordo.tui.render.line import BLANK, StyledLine, StyledSpan, wrap

NO_NOTE = "The note under the cursor will stand here."
READING = "reading …"
NO_FINDINGS = "What is wrong with the notes will stand here, worst first."


def empty_index(
    place: MemoryPlace,
    seen: FollowedSnapshot | Lost | None,
    narrowed: str,
    memories: str,
    reread: str,
) -> list[tuple[str, str]]:
    """Return paragraphs, with their styles, for an index pane without rows.

    `narrowed` says which notes were asked for; `memories` and `reread` are the keys that open
    another memory and read this one again.
    """
    if seen is None or (isinstance(seen, FollowedSnapshot) and not seen.look.read):
        return [(READING, "dim")]
    if isinstance(seen, Lost):
        return [
            ("This memory cannot be read", "error"),
            (str(seen.error), ""),
            ("Nothing was changed. It is shown as soon as it can be read.", "dim"),
            (f"{reread}  tries now    {memories}  opens another memory", "dim"),
        ]
    if narrowed:
        return [
            (f"No note fits {narrowed}", "heading"),
            ("Esc in the index shows all notes again.", "dim"),
        ]
    return [
        ("No note has been written yet", "heading"),
        (_who_writes(place), ""),
        ("The notes will stand here as the index lists them, with a mark for what is wrong.", ""),
        (f"{memories}  opens another memory of this machine", "dim"),
    ]


def paragraphs(texts: Iterable[tuple[str, str]], width: int) -> list[StyledLine]:
    """Return texts with their styles as lines, a blank one after each."""
    lines: list[StyledLine] = []
    for text, style in texts:
        lines += [StyledLine(row) for row in wrap([StyledSpan(one_line(text), style)], width)] + [
            BLANK
        ]
    return lines[:-1]


def _who_writes(place: MemoryPlace) -> str:
    if not place.layout.agent:
        return f"Every markdown file that is put into {place.root} appears here by itself."
    return f"{place.layout.agent} writes notes while you work; they appear here by themselves."
