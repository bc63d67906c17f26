"""The draft of a handoff as lines: statements with their marks in the margin under the headings
that the next agent knows, and one statement with its mark and facts in full.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ricordo.handoff.document import HandoffStatement, Heading, StatementSection
from ricordo.handoff.marks import render_mark
from ricordo.tui.handoff.draft import DraftStatement, StatementChoice
from ricordo.tui.handoff.fact_rows import AnyFact, describe_fact
from ricordo.tui.render.handoff_marks import GLYPHS
from ricordo.tui.render.line import BLANK, StyledLine, StyledSpan, fit, span_text, wrap

_BAR = StyledSpan("   ┃ ", "dim")
_INDENT = (StyledSpan("   "),)
_MOST_ROWS = 6
"""Rows of a quote; the rest is counted."""
_LONGEST = 4_000
"""Characters of a text that are drawn."""
_MOST_FACTS = 6
"""Facts that are listed for one statement."""


class DraftRow(NamedTuple):
    """One row of the draft."""

    line: StyledLine
    number: int = -1
    """Number of its statement; -1 for other rows."""
    is_first: bool = False
    """Whether its statement begins here: the cursor stops there."""


def render_draft(
    drafted: Sequence[DraftStatement],
    headings: Mapping[StatementSection, Heading],
    budget: int,
    width: int,
) -> list[DraftRow]:
    """Return the rows of a draft; statements that do not fit the `budget` come last."""
    rows: list[DraftRow] = []
    above: StatementSection | None = None
    for number, each in enumerate(drafted):
        if each.choice is StatementChoice.OVER_BUDGET:
            continue
        if each.statement.section is not above:
            above = each.statement.section
            rows += [DraftRow(BLANK)] if rows else []
            rows.append(_render_title(_format_heading(headings[above]), "heading", width))
        rows += _render_statement(each, number, width)
    over_budget = [
        (number, each)
        for number, each in enumerate(drafted)
        if each.choice is StatementChoice.OVER_BUDGET
    ]
    if over_budget:
        rows += [DraftRow(BLANK)] if rows else []
        count = len(over_budget)
        title = f"Over the budget of {budget:,} tokens · {count} · b raises it, d drops others"
        rows.append(_render_title(title, "warning", width))
    for number, each in over_budget:
        heading = _format_heading(headings[each.statement.section])
        rows += _render_statement(each, number, width, heading)
    return rows


def _render_title(words: str, style: str, width: int) -> DraftRow:
    return DraftRow(StyledLine(fit((StyledSpan(f" {words}", style),), width)))


def _format_heading(heading: Heading) -> str:
    return " · ".join(heading)


def _render_statement(
    drafted: DraftStatement, number: int, width: int, under: str = ""
) -> list[DraftRow]:
    glyph, style = GLYPHS[drafted.statement.status]
    plain = (
        ""
        if drafted.choice is StatementChoice.INCLUDED
        else "dim strike"
        if drafted.choice is StatementChoice.DROPPED
        else "dim"
    )
    words = [StyledSpan(span_text(drafted.statement.text[:_LONGEST]), plain)]
    if under:
        words.append(StyledSpan(f"  under {under}", "dim"))
    if drafted.is_reworded:
        words.append(StyledSpan("  ✎ your words", "changed"))
    if drafted.choice is StatementChoice.DROPPED:
        glyph, style = "−", "dim"
        words.append(StyledSpan("  dropped · d includes it again", "dim"))
    first = (
        StyledSpan(f" {glyph} ", style if drafted.choice is StatementChoice.INCLUDED else "dim"),
    )
    lines = [StyledLine(row) for row in wrap(words, width - 1, first, _INDENT)]
    if drafted.choice is StatementChoice.INCLUDED:
        lines += _render_quote(drafted.statement.quote, width)
    return [DraftRow(line, number, not at) for at, line in enumerate(lines)]


def _render_quote(quote: str, width: int) -> list[StyledLine]:
    rows: list[StyledLine] = []
    for part in quote[:_LONGEST].split("\n") if quote else ():
        rows += [
            StyledLine(row)
            for row in wrap([StyledSpan(span_text(part), "quote")], width - 1, (_BAR,), (_BAR,))
        ]
        if len(rows) > _MOST_ROWS:
            more = f"… {len(quote):,} characters in all"
            return [*rows[: _MOST_ROWS - 1], StyledLine((_BAR, StyledSpan(more, "dim")))]
    return rows


# One statement in full


def render_statement(
    drafted: DraftStatement, facts: Mapping[str, AnyFact], sessions: int, width: int
) -> list[StyledLine]:
    """Return the mark of a statement in full, and the facts on which it is based."""
    glyph, style = GLYPHS[drafted.statement.status]
    mark_words = render_mark(drafted.statement.proof, sessions)[1:-1]
    own_words = ": your own words, without proof" if drafted.is_reworded else ""
    spans = [StyledSpan(span_text(mark_words), style), StyledSpan(own_words, "dim")]
    lines = [
        StyledLine(row)
        for row in wrap(spans, width - 1, (StyledSpan(f"{glyph} ", style),), _INDENT)
    ]
    based_on = [facts[id] for id in drafted.statement.fact_ids if id in facts]
    for fact in based_on[:_MOST_FACTS]:
        lines.append(
            StyledLine(
                fit((StyledSpan("▸ ", "accent"), StyledSpan(describe_fact(fact), "dim")), width)
            )
        )
    if len(based_on) > _MOST_FACTS:
        lines.append(StyledLine((StyledSpan(f"  and {len(based_on) - _MOST_FACTS} more", "dim"),)))
    return lines if based_on else [*lines, StyledLine((StyledSpan(_NO_FACT, "dim"),))]


_NO_FACT = "  based on no listed fact"


# One line


def render_counts(
    statements: Iterable[HandoffStatement], *, in_words: bool
) -> tuple[StyledSpan, ...]:
    """Return the number of statements by mark, without zeros; `in_words` names the marks."""
    by_status = Counter(statement.status for statement in statements)
    return tuple(
        span
        for status, (glyph, style) in GLYPHS.items()
        if by_status[status]
        for span in (
            StyledSpan(f"{glyph} {by_status[status]}", style),
            StyledSpan(f" {status.value}  " if in_words else "  ", "dim"),
        )
    )
