"""Arrivals of the inbox as lines: a row or two in the list, and what is known of one."""

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
"""Titles of dropped entries that are named."""

Text = tuple[str, str]


def state_of(arrival: Arrival, hunks: int | None, *, seen: bool) -> Text:
    """Return in which state an arrival is, with its style; `hunks` are how many of its hunks are
    marked to be reverted, 0 for all of it, None where it is not marked.
    """
    if arrival.reverted:
        return "↶ reverted", "dim"
    if hunks is not None:
        return (f"↶ revert {hunks} of it" if hunks else "↶ revert"), "warning"
    if arrival.kept:
        return "✓ kept", "fine"
    if arrival.put_off:
        return "… later", "dim"
    return ("seen", "dim") if seen else ("● new", "changed")


def arrival_rows(
    arrival: Arrival, state: Text, width: int, *, in_one: bool
) -> tuple[StyledLine, ...]:
    """Return the rows of an arrival in the list, in one or two."""
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
    """Return who did it, when and why, and which entries of an index went."""
    told: list[Text] = []
    origin = f" from {one_line(arrival.origin)}" if arrival.origin else ""
    told.append((f"{arrival.kind}{origin} by {one_line(arrival.by)}, {moment(arrival.at)}", ""))
    if arrival.reason:
        told.append((f"why  {one_line(masked(arrival.reason))}", "dim"))
    if arrival.is_purged:
        told.append(("Its text was purged from the history: it can be kept only.", "warning"))
    if dropped:
        names = ", ".join(clip(masked(title), 40) for title in dropped[:_MOST_DROPPED])
        more = f" and {len(dropped) - _MOST_DROPPED} more" if len(dropped) > _MOST_DROPPED else ""
        count = "1 entry" if len(dropped) == 1 else f"{len(dropped)} entries"
        told.append((f"✗ {count} dropped from the index: {names}{more}", "error"))
    return [
        StyledLine(row) for text, style in told for row in wrap([StyledSpan(text, style)], width)
    ]


def empty_inbox(shown: Inbox, back: int) -> list[Text]:
    """Return paragraphs for an inbox without arrivals: what will stand there."""
    if back:
        return [
            ("Nothing had come by this visit", "heading"),
            ("]  goes on to later visits", "dim"),
        ]
    since = f" since {moment(shown.since)}" if shown.since else ""
    return [
        (f"Nothing new{since}", "heading"),
        (
            "What agents and other programs create, change, rename or delete will stand here, "
            "worst first, with what became other and who did it. One key keeps it, another "
            "takes it back.",
            "",
        ),
        ("[  shows what came before earlier visits    Esc  goes back", "dim"),
    ]


def moment(at: str) -> str:
    """Return an ISO 8601 time as a person reads it, to the minute."""
    return one_line(at[:16].replace("T", " "))
