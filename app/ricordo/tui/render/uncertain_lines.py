"""Uncertain pairs as lines: what would be sent of them, and the earlier opinions on them."""

from __future__ import annotations

from collections import Counter

from ricordo.curation.opinion import Opinion, PairVerdict
from ricordo.services.conflicts.conflicts import Conflict, Keep
from ricordo.services.conflicts.judgement import JudgementOutcome, JudgementPreview
from ricordo.services.conflicts.opinions import get_suggested_side
from ricordo.text import make_one_line
from ricordo.tui.render.egress_lines import render_about, render_sent
from ricordo.tui.render.line import BLANK, StyledLine, StyledSpan, wrap

_VIEW_WORDS = {
    PairVerdict.CONFLICT: "a conflict",
    PairVerdict.DUPLICATE: "a duplicate",
    PairVerdict.BOTH_VALID: "both may be true",
    PairVerdict.UNSURE: "cannot decide",
}
_ABOUT = (
    "These pairs of notes may contradict or repeat each other; the rules cannot decide. The answer "
    "of a model or program is stored as an opinion and shown beside the two notes. It changes no "
    "note, and you never pay twice for the same pair."
)


def render_opinion(opinion: Opinion) -> list[StyledSpan]:
    """Return an opinion on an uncertain pair, with its author and reason."""
    keep = get_suggested_side(opinion)
    which = "" if keep is Keep.NONE else f", keep {keep}"
    return [
        StyledSpan(f"opinion of {make_one_line(opinion.model) or 'a program'}: ", "accent"),
        StyledSpan(f"{_VIEW_WORDS[opinion.verdict]}{which}", "bold"),
        StyledSpan(f" · {make_one_line(opinion.reason)}"),
    ]


def render_judgement_preview(before: JudgementPreview, width: int) -> list[StyledLine]:
    """Return what would be sent, and the earlier opinions."""
    lines = [*render_about(_ABOUT, width), BLANK]
    if before.request is not None and before.egress is not None and before.request.pairs:
        count = len(before.request.pairs)
        of = "" if count == before.pending_count else f" of {before.pending_count}"
        lines += [
            StyledLine((StyledSpan(f"{count}{of} uncertain: this is sent", "heading"),)),
            BLANK,
        ]
        lines += [*render_sent(before.egress.text, width, "pair ", "bold"), BLANK]
    if before.judged_pairs:
        lines += [StyledLine((StyledSpan("judged before", "heading"),)), BLANK]
        lines += [row for it in before.judged_pairs for row in _render_opinion(it, width)]
    return lines


def _render_opinion(conflict: Conflict, width: int) -> list[StyledLine]:
    paths = (make_one_line(side.quote.path) for side in (conflict.left, conflict.right))
    spans = render_opinion(conflict.opinion) if conflict.opinion else []
    rows = wrap([StyledSpan(" ↔ ".join(paths))], width - 1)
    rows += wrap(spans, width - 1, (StyledSpan("  "),), (StyledSpan("  "),))
    return [StyledLine(row) for row in rows]


def describe_outcome(outcome: JudgementOutcome) -> list[str]:
    """Return the result of having uncertain pairs judged, in a few sentences."""
    counts = Counter(opinion.verdict for _, opinion in outcome.opinions)
    views = (f"{_VIEW_WORDS[view]}: {counts[view]}" for view in PairVerdict if counts[view])
    messages = [f"{len(outcome.opinions)} judged. {'; '.join(views)}".rstrip()]
    if outcome.rejected:
        first = outcome.rejected[0]
        more = f", and {len(outcome.rejected) - 1} more" if len(outcome.rejected) > 1 else ""
        messages.append(
            f"Refused: {make_one_line(first.change)}: {make_one_line(first.why).rstrip('.')}{more}."
        )
    return messages
