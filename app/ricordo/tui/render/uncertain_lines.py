"""Doubts as lines: what would be sent of them, and what was thought of them before."""

from __future__ import annotations

from collections import Counter

from ricordo.curation.opinion import Opinion, View
from ricordo.services.conflicts.conflicts import Conflict, Keep
from ricordo.services.conflicts.judgement import BeforeJudging, JudgementOutcome
from ricordo.services.conflicts.opinions import suggested
from ricordo.text import one_line
from ricordo.tui.render.line import BLANK, StyledLine, StyledSpan, wrap

_TOLD = {
    View.CONFLICT: "a conflict",
    View.DUPLICATE: "one would do",
    View.BOTH_HOLD: "both may hold",
    View.UNSURE: "it cannot be told",
}
_ABOUT = (
    "These pairs of notes may contradict or repeat each other; the rules cannot tell. What a model "
    "or a program says of them is kept as an opinion. It stands beside the two notes, settles "
    "nothing, and is not paid for twice."
)


def opinion_spans(opinion: Opinion) -> list[StyledSpan]:
    """Return what is thought of a doubt, who thinks so and why."""
    keep = suggested(opinion)
    which = "" if keep is Keep.NONE else f", keep {keep}"
    return [
        StyledSpan(f"{one_line(opinion.model) or 'it'} thinks: ", "accent"),
        StyledSpan(f"{_TOLD[opinion.view]}{which}", "bold"),
        StyledSpan(f" · {one_line(opinion.reason)}"),
    ]


def before_judging_lines(before: BeforeJudging, width: int) -> list[StyledLine]:
    """Return what would be sent, and what was judged before."""
    lines = [StyledLine(row) for row in wrap([StyledSpan(_ABOUT, "dim")], width - 1)] + [BLANK]
    if before.asked is not None and before.leaving is not None and before.asked.doubts:
        count = len(before.asked.doubts)
        of = "" if count == before.untold else f" of {before.untold}"
        lines += [
            StyledLine((StyledSpan(f"{count}{of} in doubt: this is sent", "heading"),)),
            BLANK,
        ]
        lines += [*sent_lines(before.leaving.text, "pair ", width), BLANK]
    if before.told:
        lines += [StyledLine((StyledSpan("judged before", "heading"),)), BLANK]
        lines += [row for it in before.told for row in _judged_lines(it, width)]
    return lines


def sent_lines(text: str, heading: str, width: int) -> list[StyledLine]:
    """Return a text as it is sent; lines that begin with a `heading` are ours."""
    lines: list[StyledLine] = []
    for line in text.rstrip("\n").split("\n"):
        style = "bold" if line.startswith(heading) else ""
        lines += [
            StyledLine(row)
            for row in wrap([StyledSpan(line, style)], width - 1, (), (StyledSpan("  "),))
        ]
    return lines


def _judged_lines(it: Conflict, width: int) -> list[StyledLine]:
    paths = (one_line(side.quote.path) for side in (it.left, it.right))
    spans = opinion_spans(it.opinion) if it.opinion else []
    rows = wrap([StyledSpan(" ↔ ".join(paths))], width - 1)
    rows += wrap(spans, width - 1, (StyledSpan("  "),), (StyledSpan("  "),))
    return [StyledLine(row) for row in rows]


def told_of(judged: JudgementOutcome) -> list[str]:
    """Return what came of having doubts judged, in a few sentences."""
    counts = Counter(opinion.view for _, opinion in judged.opinions)
    views = (f"{_TOLD[view]}: {counts[view]}" for view in View if counts[view])
    told = [f"{len(judged.opinions)} judged. {'; '.join(views)}".rstrip()]
    if judged.rejected:
        first = judged.rejected[0]
        more = f", and {len(judged.rejected) - 1} more" if len(judged.rejected) > 1 else ""
        told.append(f"Refused: {one_line(first.change)}: {one_line(first.why).rstrip('.')}{more}.")
    return told
