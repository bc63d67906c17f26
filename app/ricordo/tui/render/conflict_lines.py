"""Two notes that cannot both hold, as lines: their texts with the claims marked, and what is known
of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ricordo.health.conflicts.standing import span_of
from ricordo.health.evidence import UNKNOWN, Outcome, Verdict
from ricordo.notebook.activity_words import NO_TURN_FOUND, NOBODY_SAID_IT
from ricordo.notebook.age import stamped_day
from ricordo.notebook.conflicts import Conflict, Keep, Side
from ricordo.text import clip, one_line
from ricordo.tui.render.doubt_lines import opinion_spans
from ricordo.tui.render.line import BLANK, Line, Span, fit, shown, wrap
from ricordo.tui.render.mask import masked

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
    Outcome.HOLDS: ("✓", "there"),
    Outcome.MISSING: ("✗", "missing"),
    Outcome.MOVED: ("✗", "moved"),
    Outcome.CHANGED: ("~", "changed since"),
    Outcome.UNCHECKED: ("?", "not checked"),
}


def note_lines(side: Side, width: int, *, revealed: bool) -> tuple[list[Line], range]:
    """Return the text of a note in `width` cells with its claim marked, and the rows of the claim;
    none where the claim is the whole note. Secrets are masked, if not `revealed`.
    """
    note = side.note
    span = span_of(note, side.quote) or (-1, -1)
    lines: list[Line] = []
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
        spans = [Span(shown(part(slice(a, b))), style) for a, b, style in cuts if a < b]
        rows = [Line(row, number) for row in wrap(spans, width)] or [BLANK]
        if is_claim:
            first = claim.start if claim else len(lines) + _first_match(rows)
            claim = range(first, len(lines) + len(rows))
        lines += rows
    return lines, claim


def _first_match(rows: Sequence[Line]) -> int:
    """Return the number of the first row with a part of the claim."""
    matching = (n for n, row in enumerate(rows) if any(it.style == "match" for it in row.spans))
    return next(matching, 0)


def _masked_part(text: str, part: slice) -> str:
    return masked(text, part.start, part.stop)


def fact_lines(side: Side, width: int) -> list[Line]:
    """Return what is known of a note, a few short lines."""
    facts = [("origin", _origin(side)), ("probes", _probes(side)), ("linked", _linked(side))]
    return [Line(fit((Span(f"{label:<{_LABEL}}", "dim"), *spans), width)) for label, spans in facts]


def side_title(side: Side) -> str:
    """Return which note it is, of when, and how often it was read."""
    day = stamped_day(side.note)
    stamped = f"{day:%-d %b %Y}" if day else "undated"
    parts = (clip(side.quote.path, 40), stamped, side.read)
    return " · ".join(part for part in parts if part)


def suggestion_lines(conflict: Conflict, width: int) -> list[Line]:
    """Return which side to keep, and why; of a doubt what was thought of it, too."""
    told = [opinion_spans(conflict.opinion)] if conflict.opinion else []
    if conflict.opinion is None or conflict.suggestion.keep is not Keep.NONE:
        told.append(
            [Span("suggestion: ", "accent"), Span(one_line(masked(conflict.suggestion.told)))]
        )
    blank = (Span(" "),)
    return [Line(row) for spans in told for row in wrap(spans, width, blank, blank)]


def title_spans(conflict: Conflict, number: int, count: int) -> tuple[Span, Span]:
    """Return which conflict or doubt it is, and why it is one."""
    what = "Conflict" if conflict.relation.is_certain else "In doubt:"
    why = Span(f"· {one_line(masked(conflict.reason))}")
    return Span(f" {what} {number} of {count} ", "accent bold"), why


def _origin(side: Side) -> tuple[Span, ...]:
    origin = side.origin
    if origin is None:
        return (Span("no transcript tells", "dim"),)
    if origin.speaker == UNKNOWN:
        return (Span(NO_TURN_FOUND, "dim"),)
    if origin.speaker == "agent" or not origin.text:
        return (Span(NOBODY_SAID_IT, "warning"),)
    return (Span(f"“{one_line(origin.text)}”"), Span(f"  {clip(origin.session, 30)}", "dim"))


def _probes(side: Side) -> tuple[Span, ...]:
    checked = sorted(
        (it for it in side.verdicts if it.is_checked),
        key=lambda it: it.outcome is Outcome.HOLDS,
    )
    if not checked:
        return (Span("nothing was checked", "dim"),)
    spans = [span for it in checked[:_MOST_NAMED] for span in _verdict(it)]
    more = len(checked) - _MOST_NAMED
    return (*spans, Span(f"+{more} more", "dim")) if more > 0 else tuple(spans)


def _verdict(verdict: Verdict) -> tuple[Span, Span]:
    mark, word = _MARKS[verdict.outcome]
    style = "fine" if verdict.outcome is Outcome.HOLDS else "warning"
    return Span(f"{mark} {clip(verdict.claim, 40)} ", style), Span(f"{word}  ", "dim")


def _linked(side: Side) -> tuple[Span, ...]:
    if not side.linked_from:
        return (Span("nothing leads to it", "dim"),)
    return (Span("from ", "dim"), Span(one_line(", ".join(side.linked_from))))
