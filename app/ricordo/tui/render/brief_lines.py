"""The brief of a curation as lines, and in a few words what it comes to."""

from __future__ import annotations

from ricordo.notebook.preparing import Prepared
from ricordo.text import one_line
from ricordo.tui.render.line import BLANK, Line, Span, wrap

_NOTHING_SAID = (
    "Nobody said anything in this scope that was not curated yet. The notes can be put in order "
    "all the same: Enter looks what is to be joined, listed or retired."
)


def prepared_lines(prepared: Prepared, leaves: str, width: int) -> list[Line]:
    """Return what to know before a curation runs, then the brief: as it `leaves`, where it does,
    else where somebody said something.
    """
    remarks = [Span(f"! {one_line(text)}", "warning") for text in prepared.remarks]
    lines = [Line(row) for remark in remarks for row in wrap([remark], width - 1)]
    lines += [BLANK] if lines else []
    if prepared.told.said:
        return lines + brief_lines(leaves or prepared.brief.text, width)
    lines += [Line(row) for row in wrap([Span(_NOTHING_SAID, "dim")], width - 1)]
    return [*lines, BLANK, *brief_lines(leaves, width)] if leaves else lines


def brief_lines(brief: str, width: int) -> list[Line]:
    """Return the brief as an engine is given it."""
    lines: list[Line] = []
    for text in brief.rstrip("\n").split("\n"):
        style = "heading" if text.startswith("== ") else ""
        lines += [Line(row) for row in wrap([Span(text, style)], width - 1, (), (Span("  "),))]
    return lines


def told_of_brief(prepared: Prepared, budget: int) -> tuple[Span, ...]:
    """Return how much was said, how much of the budget the brief takes, what it leaves out."""
    told, brief = prepared.told, prepared.brief
    sessions = "1 session" if told.sessions == 1 else f"{told.sessions} sessions"
    spans = [
        Span(f" brief   {len(told.said):,} messages of yours from {sessions}"),
        Span(f" · ≈{brief.tokens:,} of {budget:,} tokens", "dim"),
    ]
    if brief.left_out:
        gone = ", ".join(f"{count:,} of {part}" for part, count in brief.left_out.items())
        spans.append(Span(f" · left out: {gone}", "warning"))
    return tuple(spans)
