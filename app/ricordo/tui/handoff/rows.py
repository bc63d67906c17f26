"""The draft of a handoff as lines: each statement with its mark in the margin, under the headings
that the next agent knows, and what is known of one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ricordo.handoff.document import HandoffStatement, Heading, StatementSection
from ricordo.handoff.marks import mark
from ricordo.tui.handoff.draft import DraftStatement, StatementChoice
from ricordo.tui.handoff.fact_rows import Known, fact_words
from ricordo.tui.render.handoff_marks import GLYPHS
from ricordo.tui.render.line import BLANK, StyledLine, StyledSpan, fit, shown, wrap

_BAR = StyledSpan("   ┃ ", "dim")
_INDENT = (StyledSpan("   "),)
_MOST_ROWS = 6
"""Of a quotation; the rest of it is counted."""
_LONGEST = 4_000
"""Characters of a text that are drawn."""
_MOST_FACTS = 6
"""That are named of one statement."""


class DraftRow(NamedTuple):
    """One row of the draft."""

    line: StyledLine
    number: int = -1
    """Of its statement; -1 for a row that is none's."""
    is_first: bool = False
    """Whether its statement begins here: there the cursor rests."""


def draft_rows(
    drafted: Sequence[DraftStatement],
    headings: Mapping[StatementSection, Heading],
    budget: int,
    width: int,
) -> list[DraftRow]:
    """Return the rows of a draft; what the `budget` has no room for stands at its end."""
    rows: list[DraftRow] = []
    above: StatementSection | None = None
    for number, it in enumerate(drafted):
        if it.place is StatementChoice.NO_ROOM:
            continue
        if it.statement.section is not above:
            above = it.statement.section
            rows += [DraftRow(BLANK)] if rows else []
            rows.append(_title(_named(headings[above]), "heading", width))
        rows += _statement(it, number, width)
    left = [
        (number, it) for number, it in enumerate(drafted) if it.place is StatementChoice.NO_ROOM
    ]
    if left:
        rows += [DraftRow(BLANK)] if rows else []
        told = f"No room in {budget:,} tokens · {len(left)} · b gives more, d makes room"
        rows.append(_title(told, "warning", width))
    for number, it in left:
        rows += _statement(it, number, width, _named(headings[it.statement.section]))
    return rows


def _title(words: str, style: str, width: int) -> DraftRow:
    return DraftRow(StyledLine(fit((StyledSpan(f" {words}", style),), width)))


def _named(heading: Heading) -> str:
    return " · ".join(heading)


def _statement(it: DraftStatement, number: int, width: int, under: str = "") -> list[DraftRow]:
    glyph, style = GLYPHS[it.statement.status]
    plain = (
        ""
        if it.place is StatementChoice.IN
        else "dim strike"
        if it.place is StatementChoice.DROPPED
        else "dim"
    )
    words = [StyledSpan(shown(it.statement.text[:_LONGEST]), plain)]
    if under:
        words.append(StyledSpan(f"  under {under}", "dim"))
    if it.is_own:
        words.append(StyledSpan("  ✎ your words", "changed"))
    if it.place is StatementChoice.DROPPED:
        glyph, style = "−", "dim"
        words.append(StyledSpan("  dropped, d takes it in again", "dim"))
    first = (StyledSpan(f" {glyph} ", style if it.place is StatementChoice.IN else "dim"),)
    lines = [StyledLine(row) for row in wrap(words, width - 1, first, _INDENT)]
    if it.place is StatementChoice.IN:
        lines += _quotation(it.statement.quote, width)
    return [DraftRow(line, number, not at) for at, line in enumerate(lines)]


def _quotation(quote: str, width: int) -> list[StyledLine]:
    rows: list[StyledLine] = []
    for part in quote[:_LONGEST].split("\n") if quote else ():
        rows += [
            StyledLine(row)
            for row in wrap([StyledSpan(shown(part), "quote")], width - 1, (_BAR,), (_BAR,))
        ]
        if len(rows) > _MOST_ROWS:
            more = f"… {len(quote):,} characters in all"
            return [*rows[: _MOST_ROWS - 1], StyledLine((_BAR, StyledSpan(more, "dim")))]
    return rows


# What is known of one statement


def about_lines(
    it: DraftStatement, facts: Mapping[str, Known], sessions: int, width: int
) -> list[StyledLine]:
    """Return the mark of a statement in full, and the facts on which it stands."""
    glyph, style = GLYPHS[it.statement.status]
    told = mark(it.statement.proof, sessions)[1:-1]
    own = ": your own words, and nothing proves them" if it.is_own else ""
    spans = [StyledSpan(shown(told), style), StyledSpan(own, "dim")]
    lines = [
        StyledLine(row)
        for row in wrap(spans, width - 1, (StyledSpan(f"{glyph} ", style),), _INDENT)
    ]
    stands_on = [facts[id] for id in it.statement.stands_on if id in facts]
    for fact in stands_on[:_MOST_FACTS]:
        lines.append(
            StyledLine(
                fit((StyledSpan("▸ ", "accent"), StyledSpan(fact_words(fact), "dim")), width)
            )
        )
    if len(stands_on) > _MOST_FACTS:
        lines.append(StyledLine((StyledSpan(f"  and {len(stands_on) - _MOST_FACTS} more", "dim"),)))
    return lines if stands_on else [*lines, StyledLine((StyledSpan(_NO_FACT, "dim"),))]


_NO_FACT = "  It stands on no fact that was gathered."


# In one line


def counts(statements: Iterable[HandoffStatement], *, in_words: bool) -> tuple[StyledSpan, ...]:
    """Return how many statements carry which mark; none of a kind is not told."""
    by_status = Counter(it.status for it in statements)
    return tuple(
        span
        for status, (glyph, style) in GLYPHS.items()
        if by_status[status]
        for span in (
            StyledSpan(f"{glyph} {by_status[status]}", style),
            StyledSpan(f" {status.value}  " if in_words else "  ", "dim"),
        )
    )
