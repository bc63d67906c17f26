"""The review as lines: the reasons to doubt a note, and the summary at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta

from ricordo.lint.finding import Finding
from ricordo.lint.retention import Retention
from ricordo.services.review import ReviewNote, ReviewQueue, ReviewReason
from ricordo.services.workspace.notebook import Snapshot
from ricordo.storage.decisions import ReviewVerdict
from ricordo.text import make_one_line
from ricordo.tui.render.freshness_rows import render_retention
from ricordo.tui.render.index_rows import GLYPHS
from ricordo.tui.render.line import BLANK, StyledLine, StyledSpan, wrap

_BEFORE, _AHEAD = 6, 8
"""Weeks of the calendar beside the present one."""
_CELL = 3
_MARGIN = 5
"""Cells before the calendar and the chart."""
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MANY = 5
"""Notes from which on a day counts as busy."""
_CELLS_A_NOTE = 4
"""The most cells for one note, in the chart."""
_STEPS = 10
"""Rows of the chart, a tenth each."""

Outcome = ReviewVerdict | str
"""The verdict on a note, or what was done with it."""
EDITED, RETIRED = "edited", "retired"


def findings_still_there(item: ReviewNote, snapshot: Snapshot) -> list[Finding]:
    """Return the findings of an item that are in `snapshot` too, worst first."""
    ids = {finding.id for finding in item.findings}
    return [finding for finding in snapshot.by_path.get(item.note.path, ()) if finding.id in ids]


def render_findings(item: ReviewNote, snapshot: Snapshot, width: int) -> list[StyledLine]:
    """Return the findings on a note in `snapshot` with their evidence, then its retention."""
    path = item.note.path
    lines: list[StyledLine] = []
    for finding in findings_still_there(item, snapshot):
        glyph, style = GLYPHS[finding.severity]
        place = f" line {finding.line}:" if finding.line else ""
        first = (StyledSpan(f"{glyph} ", style),)
        message = [
            StyledSpan(finding.rule, style),
            StyledSpan(f"{place} {make_one_line(finding.message)}"),
        ]
        lines += [StyledLine(row) for row in wrap(message, width, first, (StyledSpan("  "),))]
        for text in finding.evidence:
            evidence = [StyledSpan(make_one_line(text), "dim")]
            lines += [
                StyledLine(row)
                for row in wrap(evidence, width, (StyledSpan("  "),), (StyledSpan("  "),))
            ]
    if item.reason is ReviewReason.NEW:
        lines.append(
            StyledLine((StyledSpan("● ", "changed"), StyledSpan("somebody else wrote it")))
        )
    retention = snapshot.retention.get(path)
    return lines + (render_retention(retention, width) if retention is not None else [])


def render_progress(done: int, of: int, width: int) -> StyledSpan:
    """Return a progress bar."""
    filled = round(done / of * width) if of else width
    return StyledSpan("▰" * filled + "▱" * (width - filled), "accent")


def render_summary(
    snapshot: Snapshot, queue: ReviewQueue, outcomes: Mapping[str, Outcome], left: int, width: int
) -> list[StyledLine]:
    """Return the summary: what was done, when the next note is due, the calendar and the chart.
    `left` is the number of skipped notes, `queue` what is due after them.
    """
    lines = [StyledLine(row) for row in wrap(_summarize(outcomes, left), width)]
    lines += [StyledLine(row) for row in wrap(_describe_next(queue, left), width)]
    lines += [
        BLANK,
        *render_calendar(count_reviews_by_day(snapshot), queue.forecast, snapshot.at.date(), width),
    ]
    return [*lines, BLANK, *render_chart(tuple(snapshot.retention.values()), width)]


def count_reviews_by_day(snapshot: Snapshot) -> Mapping[date, int]:
    """Return the number of notes reviewed on each day, without undone verdicts."""
    moments = (verdict.at for verdicts in snapshot.verdicts.values() for verdict in verdicts)
    zone = snapshot.at.tzinfo
    return Counter(datetime.fromisoformat(at).astimezone(zone).date() for at in moments)


def render_calendar(
    done: Mapping[date, int], ahead: Mapping[date, int], today: date, width: int
) -> list[StyledLine]:
    """Return a calendar with weeks as columns: reviews up to `today`, due notes after it."""
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
        StyledSpan("reviewed, few or many   ", "dim"),
        StyledSpan("▫ □ ", "warning"),
        StyledSpan("due again   ", "dim"),
        StyledSpan("◆ ", "bold"),
        StyledSpan("today", "dim"),
    )
    return [*lines, *(StyledLine(row) for row in wrap(legend, width))]


def render_chart(retention: Sequence[Retention], width: int) -> list[StyledLine]:
    """Return a chart of the notes by retention, a row for each tenth."""
    counts = Counter(_step(one) for one in retention)
    stale = Counter(_step(one) for one in retention if one.is_stale)
    legend = (StyledSpan(f"   █ {stale.total():,} stale", "warning"),) if stale else ()
    lines = [StyledLine((StyledSpan("Retention of the memory", "heading"), *legend))]
    if not counts:
        return [*lines, StyledLine((StyledSpan("No note has a retention yet.", "dim"),))]
    scale = max(counts.values())
    longest = min(max(4, width - _MARGIN - len(" 99,999 notes") - 1), scale * _CELLS_A_NOTE)
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
                    StyledSpan(f" {count:,} {'note' if count == 1 else 'notes'}", "dim"),
                )
            )
        )
    return lines


def _step(retention: Retention) -> int:
    return min(int(retention.share * _STEPS), _STEPS - 1)


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


def _summarize(outcomes: Mapping[str, Outcome], left: int) -> list[StyledSpan]:
    """Return what was done, in one sentence."""
    counts = Counter(str(outcome) for outcome in outcomes.values())
    parts = [f"{count} {outcome}" for outcome, count in counts.items()]
    if left:
        parts.append(f"{left} skipped")
    if not parts:
        return [StyledSpan("✓ Nothing to review today.", "fine")]
    return [
        StyledSpan("✓ " if not left else "· ", "accent"),
        StyledSpan(", ".join(parts), "bold"),
        StyledSpan("."),
    ]


def _describe_next(queue: ReviewQueue, left: int) -> list[StyledSpan]:
    sentences: list[str] = []
    if left:
        sentences.append("Skipped notes are still due.")
    elif queue.items:
        more = len(queue.items) + queue.more
        sentences.append(f"{more:,} more are due: R shows the next ones.")
    day = queue.next_due
    sentences.append(f"Next note due on {day:%-d %B %Y}." if day else "No other note will be due.")
    return [StyledSpan(" ".join(sentences), "dim")]
