"""Two notes that cannot both hold, as lines: their texts with the claims marked, and what is known
of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ricordo.lint.contradictions.records import span_of
from ricordo.lint.evidence import UNKNOWN, CheckOutcome, Verdict
from ricordo.services.conflicts.conflicts import Conflict, Keep, Side
from ricordo.services.sessions.activity_text import NO_TURN_FOUND, NOBODY_SAID_IT, stamped_day
from ricordo.text import clip, one_line
from ricordo.tui.render.line import BLANK, StyledLine, StyledSpan, fit, shown, wrap
from ricordo.tui.render.mask import masked
from ricordo.tui.render.uncertain_lines import opinion_spans

NO_CONFLICTS = (
    ("No two notes contradict each other", "heading"),
    (
        "Pairs of notes that cannot both hold will stand here side by side, each with its date, "
        "the turn that caused it, what the project says of it, and which of the two to keep.",
        "",
    ),
)
_LABEL = 9
_MOST_NAMED = 3
_MARKS = {
    CheckOutcome.HOLDS: ("✓", "there"),
    CheckOutcome.MISSING: ("✗", "missing"),
    CheckOutcome.MOVED: ("✗", "moved"),
    CheckOutcome.CHANGED: ("~", "changed since"),
    CheckOutcome.UNCHECKED: ("?", "not checked"),
}


def note_lines(side: Side, width: int, *, revealed: bool) -> tuple[list[StyledLine], range]:
    """Return the text of a note in `width` cells with its claim marked, and the rows of the claim;
    none where the claim is the whole note. Secrets are masked, if not `revealed`.
    """
    note = side.note
    span = span_of(note, side.quote) or (-1, -1)
    lines: list[StyledLine] = []
    claim, at = range(0), 0
    part = note.text.__getitem__ if revealed else partial(_masked_part, note.text)
    for number, text in enumerate(note.text.split("\n"), 1):
        start, end = at, at + len(text)
        at = end + 1
        is_claim = start <= span[1] and span[0] <= end
        if end < note.head.end and not is_claim:
            continue
        base = "frontmatter" if start < note.head.end else "heading" if text[:1] == "#" else ""
        left, right = (max(start, min(edge, end)) for edge in span)
        cuts = ((start, left, base), (left, right, "match"), (right, end, base))
        spans = [StyledSpan(shown(part(slice(a, b))), style) for a, b, style in cuts if a < b]
        rows = [StyledLine(row, number) for row in wrap(spans, width)] or [BLANK]
        if is_claim:
            first = claim.start if claim else len(lines) + _first_match(rows)
            claim = range(first, len(lines) + len(rows))
        lines += rows
    return lines, claim


def _first_match(rows: Sequence[StyledLine]) -> int:
    """Return the number of the first row with a part of the claim."""
    matching = (n for n, row in enumerate(rows) if any(it.style == "match" for it in row.spans))
    return next(matching, 0)


def _masked_part(text: str, part: slice) -> str:
    return masked(text, part.start, part.stop)


def fact_lines(side: Side, width: int) -> list[StyledLine]:
    """Return what is known of a note, a few short lines."""
    facts = [("origin", _origin(side)), ("probes", _probes(side)), ("linked", _linked(side))]
    return [
        StyledLine(fit((StyledSpan(f"{label:<{_LABEL}}", "dim"), *spans), width))
        for label, spans in facts
    ]


def side_title(side: Side) -> str:
    """Return which note it is, of when, and how often it was read."""
    day = stamped_day(side.note)
    stamped = f"{day:%-d %b %Y}" if day else "undated"
    parts = (clip(side.quote.path, 40), stamped, side.read)
    return " · ".join(part for part in parts if part)


def suggestion_lines(conflict: Conflict, width: int) -> list[StyledLine]:
    """Return which side to keep, and why; of a doubt what was thought of it, too."""
    told = [opinion_spans(conflict.opinion)] if conflict.opinion else []
    if conflict.opinion is None or conflict.suggestion.keep is not Keep.NONE:
        told.append(
            [
                StyledSpan("suggestion: ", "accent"),
                StyledSpan(one_line(masked(conflict.suggestion.told))),
            ]
        )
    blank = (StyledSpan(" "),)
    return [StyledLine(row) for spans in told for row in wrap(spans, width, blank, blank)]


def title_spans(conflict: Conflict, number: int, count: int) -> tuple[StyledSpan, StyledSpan]:
    """Return which conflict or doubt it is, and why it is one."""
    what = "Conflict" if conflict.relation.is_certain else "In doubt:"
    why = StyledSpan(f"· {one_line(masked(conflict.reason))}")
    return StyledSpan(f" {what} {number} of {count} ", "accent bold"), why


def _origin(side: Side) -> tuple[StyledSpan, ...]:
    origin = side.origin
    if origin is None:
        return (StyledSpan("no transcript tells", "dim"),)
    if origin.speaker == UNKNOWN:
        return (StyledSpan(NO_TURN_FOUND, "dim"),)
    if origin.speaker == "agent" or not origin.text:
        return (StyledSpan(NOBODY_SAID_IT, "warning"),)
    return (
        StyledSpan(f"“{one_line(origin.text)}”"),
        StyledSpan(f"  {clip(origin.session, 30)}", "dim"),
    )


def _probes(side: Side) -> tuple[StyledSpan, ...]:
    checked = sorted(
        (it for it in side.verdicts if it.is_checked),
        key=lambda it: it.outcome is CheckOutcome.HOLDS,
    )
    if not checked:
        return (StyledSpan("nothing was checked", "dim"),)
    spans = [span for it in checked[:_MOST_NAMED] for span in _verdict(it)]
    more = len(checked) - _MOST_NAMED
    return (*spans, StyledSpan(f"+{more} more", "dim")) if more > 0 else tuple(spans)


def _verdict(verdict: Verdict) -> tuple[StyledSpan, StyledSpan]:
    mark, word = _MARKS[verdict.outcome]
    style = "fine" if verdict.outcome is CheckOutcome.HOLDS else "warning"
    return StyledSpan(f"{mark} {clip(verdict.claim, 40)} ", style), StyledSpan(f"{word}  ", "dim")


def _linked(side: Side) -> tuple[StyledSpan, ...]:
    if not side.linked_from:
        return (StyledSpan("nothing leads to it", "dim"),)
    return (StyledSpan("from ", "dim"), StyledSpan(one_line(", ".join(side.linked_from))))
