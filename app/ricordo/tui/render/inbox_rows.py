"""Changes in the inbox as lines: one or two rows in the list, and one change in full."""

from __future__ import annotations

from collections.abc import Sequence

from ricordo.services.inbox.inbox import Arrival, Inbox
from ricordo.text import clip, one_line
from ricordo.tui.render.line import StyledLine, StyledSpan, fit, with_right, wrap
from ricordo.tui.render.mask import masked

_GLYPHS = {
    "conflict": ("!", "error"),
    "deleted": ("−", "removed"),
    "changed": ("~", "accent"),
    "renamed": ("→", "accent"),
    "created": ("+", "added"),
}
_MOST_DROPPED = 6
"""Most titles of dropped entries that are listed."""

Text = tuple[str, str]


def state_of(arrival: Arrival, hunks: int | None, *, seen: bool) -> Text:
    """Return the state of a change, with its style; `hunks` is the number of its hunks that are
    marked to be reverted, 0 for the whole change, None if it is not marked.
    """
    if arrival.reverted:
        return "↶ reverted", "dim"
    if hunks is not None:
        return (f"↶ revert {hunks} of its hunks" if hunks else "↶ revert"), "warning"
    if arrival.kept:
        return "✓ kept", "fine"
    if arrival.put_off:
        return "… later", "dim"
    return ("seen", "dim") if seen else ("● new", "changed")


def arrival_rows(
    arrival: Arrival, state: Text, width: int, *, in_one: bool
) -> tuple[StyledLine, ...]:
    """Return a change as a row of the list, in one or two lines."""
    glyph, style = _GLYPHS[arrival.kind]
    right = (StyledSpan(f" {state[0]} ", state[1]),)
    when = f"{arrival.kind} · {moment(arrival.at)} · {clip(arrival.by, 40)}"
    name = [StyledSpan(f" {glyph} ", style), StyledSpan(one_line(arrival.path), "bold")]
    if in_one:
        name.append(StyledSpan(f"  {when}", "dim"))
        return (with_right(name, right, width),)
    return with_right(name, right, width), StyledLine(
        fit((StyledSpan(f"   {when}", "dim"),), width)
    )


def about(arrival: Arrival, dropped: Sequence[str], width: int) -> list[StyledLine]:
    """Return the author, time and reason of a change, and the entries dropped from the index."""
    parts: list[Text] = []
    origin = f" from {one_line(arrival.origin)}" if arrival.origin else ""
    parts.append((f"{arrival.kind}{origin} by {one_line(arrival.by)}, {moment(arrival.at)}", ""))
    if arrival.reason:
        parts.append((f"why  {one_line(masked(arrival.reason))}", "dim"))
    if arrival.is_purged:
        parts.append(("Purged from the history: it cannot be reverted.", "warning"))
    if dropped:
        names = ", ".join(clip(masked(title), 40) for title in dropped[:_MOST_DROPPED])
        more = f" and {len(dropped) - _MOST_DROPPED} more" if len(dropped) > _MOST_DROPPED else ""
        count = "1 entry" if len(dropped) == 1 else f"{len(dropped)} entries"
        parts.append((f"✗ {count} dropped from the index: {names}{more}", "error"))
    return [
        StyledLine(row) for text, style in parts for row in wrap([StyledSpan(text, style)], width)
    ]


def empty_inbox(shown: Inbox, back: int) -> list[Text]:
    """Return paragraphs, with their styles, for an inbox without changes."""
    if back:
        return [
            ("Nothing new before this visit", "heading"),
            ("]  shows later visits", "dim"),
        ]
    since = f" since {moment(shown.since)}" if shown.since else ""
    return [
        (f"Nothing new{since}", "heading"),
        (
            "What agents and other programs create, change, rename or delete appears here, worst "
            "first, with the diff and the author. One key keeps a change, another reverts it.",
            "",
        ),
        ("[  shows earlier visits    Esc  goes back", "dim"),
    ]


def moment(at: str) -> str:
    """Return an ISO 8601 time to the minute, as shown to the user."""
    return one_line(at[:16].replace("T", " "))
