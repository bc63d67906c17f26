"""Changes in the inbox as lines: one or two rows in the list, and one change in full."""

from __future__ import annotations

from collections.abc import Sequence

from ricordo.services.inbox.inbox import Inbox, InboxChange
from ricordo.text import clip, make_one_line
from ricordo.tui.render.line import StyledLine, StyledSpan, align_right, fit, wrap
from ricordo.tui.render.mask import mask_text

_GLYPHS = {
    "conflict": ("!", "error"),
    "deleted": ("−", "removed"),
    "changed": ("~", "accent"),
    "renamed": ("→", "accent"),
    "created": ("+", "added"),
}
_MOST_DROPPED = 6
"""Most titles of dropped entries that are listed."""

StyledText = tuple[str, str]


def describe_state(arrival: InboxChange, hunks: int | None, *, is_seen: bool) -> StyledText:
    """Return the state of a change, with its style; `hunks` is the number of its hunks that are
    marked to be reverted, 0 for the whole change, None if it is not marked.
    """
    if arrival.is_reverted:
        return "↶ reverted", "dim"
    if hunks is not None:
        return (f"↶ revert {hunks} of its hunks" if hunks else "↶ revert"), "warning"
    if arrival.is_kept:
        return "✓ kept", "fine"
    if arrival.is_snoozed:
        return "… later", "dim"
    return ("seen", "dim") if is_seen else ("● new", "changed")


def render_arrival_row(
    arrival: InboxChange, state: StyledText, width: int, *, in_one: bool
) -> tuple[StyledLine, ...]:
    """Return a change as a row of the list, in one or two lines."""
    glyph, style = _GLYPHS[arrival.kind]
    right = (StyledSpan(f" {state[0]} ", state[1]),)
    when = f"{arrival.kind} · {format_moment(arrival.at)} · {clip(arrival.by, 40)}"
    name = [StyledSpan(f" {glyph} ", style), StyledSpan(make_one_line(arrival.path), "bold")]
    if in_one:
        name.append(StyledSpan(f"  {when}", "dim"))
        return (align_right(name, right, width),)
    return align_right(name, right, width), StyledLine(
        fit((StyledSpan(f"   {when}", "dim"),), width)
    )


def render_arrival(arrival: InboxChange, dropped: Sequence[str], width: int) -> list[StyledLine]:
    """Return the author, time and reason of a change, and the entries dropped from the index."""
    parts: list[StyledText] = []
    origin = f" from {make_one_line(arrival.old_path)}" if arrival.old_path else ""
    parts.append(
        (f"{arrival.kind}{origin} by {make_one_line(arrival.by)}, {format_moment(arrival.at)}", "")
    )
    if arrival.reason:
        parts.append((f"why  {make_one_line(mask_text(arrival.reason))}", "dim"))
    if arrival.is_purged:
        parts.append(("Purged from the history: it cannot be reverted.", "warning"))
    if dropped:
        names = ", ".join(clip(mask_text(title), 40) for title in dropped[:_MOST_DROPPED])
        more = f" and {len(dropped) - _MOST_DROPPED} more" if len(dropped) > _MOST_DROPPED else ""
        count = "1 entry" if len(dropped) == 1 else f"{len(dropped)} entries"
        parts.append((f"✗ {count} dropped from the index: {names}{more}", "error"))
    return [
        StyledLine(row) for text, style in parts for row in wrap([StyledSpan(text, style)], width)
    ]


def describe_empty_inbox(inbox: Inbox, visits_back: int) -> list[StyledText]:
    """Return paragraphs, with their styles, for an inbox without changes."""
    if visits_back:
        return [
            ("Nothing new before this visit", "heading"),
            ("]  shows later visits", "dim"),
        ]
    since = f" since {format_moment(inbox.since)}" if inbox.since else ""
    return [
        (f"Nothing new{since}", "heading"),
        (
            "What agents and other programs create, change, rename or delete appears here, worst "
            "first, with the diff and the author. One key keeps a change, another reverts it.",
            "",
        ),
        ("[  shows earlier visits    Esc  goes back", "dim"),
    ]


def format_moment(at: str) -> str:
    """Return an ISO 8601 time to the minute, as shown to the user."""
    return make_one_line(at[:16].replace("T", " "))
