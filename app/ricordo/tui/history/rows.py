"""Versions of notes as lines."""

from __future__ import annotations

from ricordo.services.history.versions import Version
from ricordo.text import clip, one_line
from ricordo.tui.render.inbox_rows import moment
from ricordo.tui.render.line import StyledLine, StyledSpan, fit, wrap
from ricordo.tui.render.mask import masked

NO_HISTORY = [
    ("No version is kept yet", "heading"),
    ("Every text that this note has had will stand here, newest first, by whom and why.", ""),
]
NOTHING_GONE = [
    ("No note is gone", "heading"),
    ("Notes that were retired or deleted will stand here; Enter brings one back.", ""),
]
_GLYPHS = {
    "deleted": ("−", "removed"),
    "renamed": ("→", "accent"),
    "created": ("+", "added"),
    "first": ("·", "dim"),
}


def version_rows(
    version: Version, width: int, *, in_one: bool, by_name: bool
) -> tuple[StyledLine, ...]:
    """Return the rows of a version: when it came, or with `by_name` which note it is of."""
    glyph, style = _GLYPHS.get(version.kind, ("~", "accent"))
    kind = "first seen" if version.kind == "first" else version.kind
    head = one_line(version.path) if by_name else moment(version.at)
    told = [kind, clip(version.by, 40)]
    if by_name:
        told.insert(1, moment(version.at))
    if version.reason and version.kind != "first":
        told.append(clip(masked(version.reason), 60))
    spans = [StyledSpan(f" {glyph} ", style), StyledSpan(head, "bold")]
    said = StyledSpan(" · ".join(told), "dim")
    if in_one:
        return (StyledLine(fit((*spans, StyledSpan("  "), said), width)),)
    return StyledLine(fit(spans, width)), StyledLine(fit((StyledSpan("   "), said), width))


def gone_rows(count: int, width: int, *, in_one: bool) -> tuple[StyledLine, ...]:
    """Return the rows that lead to the notes that are gone."""
    what = "1 note" if count == 1 else f"{count} notes"
    first = StyledLine(fit((StyledSpan(" … ", "dim"), StyledSpan(f"gone: {what}", "bold")), width))
    return (first,) if in_one else (first, StyledLine((StyledSpan("   Enter shows them", "dim"),)))


def about_version(version: Version, *, against_now: bool, width: int) -> list[StyledLine]:
    """Return who made a version, when and why, and with what it is compared."""
    compared = "compared with what is there now" if against_now else "compared with the one before"
    told = [(f"{version.kind} by {one_line(version.by)}, {moment(version.at)} · {compared}", "")]
    if version.reason:
        told.append((f"why  {one_line(masked(version.reason))}", "dim"))
    told.append((f"at   {one_line(version.path)}", "dim"))
    return [
        StyledLine(row) for text, style in told for row in wrap([StyledSpan(text, style)], width)
    ]
