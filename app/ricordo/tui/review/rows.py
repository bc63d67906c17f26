"""The review of the day as lines: what speaks against a note, and what came of it all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta

from ricordo.lint.finding import Finding
from ricordo.lint.retention import Retention
from ricordo.services.review import Item, Queue, Why
from ricordo.services.workspace.notebook import Snapshot
from ricordo.storage.decisions import ReviewVerdict
from ricordo.text import one_line
from ricordo.tui.render.freshness_rows import retention_lines
from ricordo.tui.render.index_rows import GLYPHS
from ricordo.tui.render.line import BLANK, StyledLine, StyledSpan, wrap

_BEFORE, _AHEAD = 6, 8
"""Weeks of the calendar beside the present one."""
_CELL = 3
_MARGIN = 5
"""Cells before the calendar and the chart."""
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MANY = 5
"""Notes of a day from which on it counts as a busy one."""
_CELLS_A_NOTE = 4
"""At most, in the chart."""
_STEPS = 10
"""Of the chart: a tenth each."""

Outcome = ReviewVerdict | str
"""What was said of a note, or what was done with it."""
EDITED, RETIRED = "edited", "retired"


def doubts_in(item: Item, look: Snapshot) -> list[Finding]:
    """Return what of the doubts of a note is found in `look` too, worst first."""
    ids = {finding.id for finding in item.doubts}
    return [it for it in look.by_path.get(item.note.path, ()) if it.id in ids]


def doubt_lines(item: Item, look: Snapshot, width: int) -> list[StyledLine]:
    """Return what speaks against a note in `look`, with its evidence, and how far it can be
    trusted by its age.
    """
    path = item.note.path
    lines: list[StyledLine] = []
    for finding in doubts_in(item, look):
        glyph, style = GLYPHS[finding.severity]
        place = f" line {finding.line}:" if finding.line else ""
        first = (StyledSpan(f"{glyph} ", style),)
        said = [StyledSpan(finding.rule, style), StyledSpan(f"{place} {one_line(finding.message)}")]
        lines += [StyledLine(row) for row in wrap(said, width, first, (StyledSpan("  "),))]
        for text in finding.evidence:
            told = [StyledSpan(one_line(text), "dim")]
            lines += [
                StyledLine(row)
                for row in wrap(told, width, (StyledSpan("  "),), (StyledSpan("  "),))
            ]
    if item.why is Why.NEW:
        lines.append(
            StyledLine((StyledSpan("● ", "changed"), StyledSpan("somebody else wrote it")))
        )
    retention = look.retention.get(path)
    return lines + (retention_lines(retention, width) if retention is not None else [])


def meter(done: int, of: int, width: int) -> StyledSpan:
    """Return a bar that fills."""
    filled = round(done / of * width) if of else width
    return StyledSpan("▰" * filled + "▱" * (width - filled), "accent")


def end_lines(
    look: Snapshot, queue: Queue, outcomes: Mapping[str, Outcome], left: int, width: int
) -> list[StyledLine]:
    """Return what was done, when the next note is due, the calendar and the chart. `left` is how
    many notes of the queue were passed over, `queue` what is due after it.
    """
    lines = [StyledLine(row) for row in wrap(_told(outcomes, left), width)]
    lines += [StyledLine(row) for row in wrap(_next(queue, left), width)]
    lines += [BLANK, *calendar(reviews_by_day(look), queue.ahead, look.at.date(), width)]
    return [*lines, BLANK, *chart(tuple(look.retention.values()), width)]


def reviews_by_day(look: Snapshot) -> Mapping[date, int]:
    """Return how many notes were judged on each day, as far as it was not taken back."""
    moments = (it.at for judged in look.said.values() for it in judged)
    zone = look.at.tzinfo
    return Counter(datetime.fromisoformat(at).astimezone(zone).date() for at in moments)


def calendar(
    done: Mapping[date, int], ahead: Mapping[date, int], today: date, width: int
) -> list[StyledLine]:
    """Return weeks as columns and days as rows: what was judged up to `today`, what comes up
    later.
    """
    room = max(3, (width - _MARGIN) // _CELL)
    before = min(_BEFORE, room - 2)
    weeks = min(before + 1 + _AHEAD, room)
    first = today - timedelta(days=today.weekday(), weeks=before)
    mondays = [first + timedelta(weeks=week) for week in range(weeks)]
    lines = [StyledLine((StyledSpan("Reviews", "heading"),)), _months(mondays)]
    for number, name in enumerate(_DAYS):
        days = (monday + timedelta(days=number) for monday in mondays)
        cells = [_cell(day, done, ahead, today) for day in days]
        lines.append(StyledLine((StyledSpan(f"{name:<{_MARGIN}}", "dim"), *cells)))
    legend = (
        StyledSpan(" " * _MARGIN),
        StyledSpan("▪ ■ ", "accent"),
        StyledSpan("judged, few or many   ", "dim"),
        StyledSpan("▫ □ ", "warning"),
        StyledSpan("come up again   ", "dim"),
        StyledSpan("◆ ", "bold"),
        StyledSpan("today", "dim"),
    )
    return [*lines, *(StyledLine(row) for row in wrap(legend, width))]


def chart(retention: Sequence[Retention], width: int) -> list[StyledLine]:
    """Return how many notes are retained how far, a row for each tenth that is there."""
    counts = Counter(min(int(it.share * _STEPS), _STEPS - 1) for it in retention)
    stale = Counter(min(int(it.share * _STEPS), _STEPS - 1) for it in retention if it.is_stale)
    told = (StyledSpan(f"   █ {stale.total():,} stale", "warning"),) if stale else ()
    lines = [StyledLine((StyledSpan("Retention of the memory", "heading"), *told))]
    if not counts:
        return [*lines, StyledLine((StyledSpan("No note has any yet.", "dim"),))]
    scale = max(counts.values())
    longest = min(max(4, width - _MARGIN - len(" 99,999") - 1), scale * _CELLS_A_NOTE)
    for step in range(_STEPS - 1, min(counts) - 1, -1):
        count, old = counts[step], stale[step]
        bar = max(1, round(count / scale * longest)) if count else 0
        dull = min(bar, max(1, round(old / scale * longest))) if old else 0
        lines.append(
            StyledLine(
                (
                    StyledSpan(f"{step / _STEPS:.1f}  ", "dim"),
                    StyledSpan("█" * (bar - dull), "accent"),
                    StyledSpan("█" * dull, "warning"),
                    StyledSpan(f" {count:,}", "dim"),
                )
            )
        )
    return lines


def _months(mondays: Iterable[date]) -> StyledLine:
    text, month = "", 0
    for number, monday in enumerate(mondays):
        if monday.month != month and len(text) <= number * _CELL:
            text = f"{text:<{number * _CELL}}{monday:%b}"
            month = monday.month
    return StyledLine((StyledSpan(" " * _MARGIN + text, "dim"),))


def _cell(
    day: date, done: Mapping[date, int], ahead: Mapping[date, int], today: date
) -> StyledSpan:
    if day > today:
        count = ahead.get(day, 0)
        glyph, style = ("□" if count >= _MANY else "▫", "warning") if count else ("·", "dim")
    else:
        count = done.get(day, 0)
        glyph, style = ("■" if count >= _MANY else "▪", "accent") if count else ("·", "dim")
        if day == today:
            glyph, style = "◆", "accent bold" if count else "bold"
    return StyledSpan(f"{glyph:<{_CELL}}", style)


def _told(outcomes: Mapping[str, Outcome], left: int) -> list[StyledSpan]:
    """Return what was done, in one sentence."""
    counts = Counter(str(outcome) for outcome in outcomes.values())
    parts = [f"{count} {outcome}" for outcome, count in counts.items()]
    if left:
        parts.append(f"{left} left for another time")
    if not parts:
        return [StyledSpan("✓ Nothing is to be reviewed today.", "fine")]
    return [
        StyledSpan("✓ " if not left else "· ", "accent"),
        StyledSpan(", ".join(parts), "bold"),
        StyledSpan("."),
    ]


def _next(queue: Queue, left: int) -> list[StyledSpan]:
    told: list[str] = []
    if left:
        told.append("What was left is still due.")
    elif queue.items:
        more = len(queue.items) + queue.more
        told.append(f"{more:,} more could be looked at: R brings the next ones.")
    day = queue.next_due
    told.append(
        f"The next one comes up on {day:%-d %B %Y}." if day else "No other one is to come up."
    )
    return [StyledSpan(" ".join(told), "dim")]
