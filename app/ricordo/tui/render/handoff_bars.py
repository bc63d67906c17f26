"""The lines above and below the draft of a handoff."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ricordo.activity.session import Session
from ricordo.handoff.document import Target
from ricordo.text import clip, one_line
from ricordo.tui.handoffs import Ask, Made
from ricordo.tui.render.handoff_lines import counts
from ricordo.tui.render.line import Span
from ricordo.tui.render.session_rows import SHOWN, title_of

Spans = tuple[Span, ...]

_METER = 12
"""Cells of the bar that fills."""
_NAME = 40
"""Cells of a name."""


def title_spans(
    sessions: Sequence[Session], ask: Ask, made: Made | None
) -> tuple[Spans, Spans, Spans]:
    """Return which sessions are handed off; for whom and by whom it was drafted, in full and
    briefly.
    """
    left = (Span(" Handoff ", "accent bold"), Span(f" {title_of(sessions)}", "bold"))
    how = (Span(" for ", "dim"), Span(SHOWN[ask.target], "bold"))
    engine = (Span(f" · {clip(made.handoff.head.engine, 40) if made else '…'} ", "dim"),)
    return left, (*how, *engine), (*how, Span(" "))


def meter_spans(made: Made | None, budget: int) -> tuple[Spans, ...]:
    """Return how much of the budget is taken, then how many statements carry which mark, with words
    and without them.
    """
    if made is None:
        return ((Span(f" {'▱' * _METER} {budget:,} tokens", "dim"),), ())
    head, statements = made.handoff.head, made.handoff.statements
    budget = head.budget
    filled = min(_METER, round(made.done.tokens / budget * _METER)) if budget else _METER
    style = "accent" if made.done.tokens <= budget else "error"
    bar = Span(f" {'▰' * filled}{'▱' * (_METER - filled)} ", style)
    left = [bar, Span(f"{made.done.tokens:,} of {budget:,} tokens")]
    if head.redactions:
        word = "secret" if head.redactions == 1 else "secrets"
        left.append(Span(f" · {head.redactions} {word} kept back", "warning"))
    if made.handoff.left_out:
        left.append(Span(f" · {made.handoff.left_out} without room", "warning"))
    return (
        tuple(left),
        counts(statements, in_words=True),
        counts(statements, in_words=False),
    )


def where_spans(made: Made | None, written: str) -> Spans:
    """Return where it is to be written, or was `written`."""
    if written:
        done = Span(f" ✓ written: {_named(written)}", "success")
        return (done, Span(" · u takes it back", "dim"))
    if made is None:
        return (Span(" nothing is written by drafting", "dim"),)
    remark = (Span(f" ! {one_line(made.remark)}", "warning"),) if made.remark else ()
    path = Span(f" → {_named(made.path)}")
    return (path, *remark, Span(" · nothing is written until ctrl+s", "dim"))


def _named(path: str) -> str:
    """Return a file by its name and the name of its folder."""
    folder, name = os.path.split(path)
    return f"{clip(name, _NAME)} in {clip(os.path.basename(folder) or folder, _NAME)}"


def start_spans(made: Made | None) -> Spans:
    """Return the line to copy that lets the next agent begin with it."""
    if made is None:
        return ()
    target = made.handoff.head.target
    label = "then tell any agent" if target is Target.ANY else f"then start {SHOWN[target]} with"
    return (Span(f" {label}  ", "dim"), Span(one_line(made.start), "code"))
