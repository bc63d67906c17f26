"""A problem as lines: one or two rows in the list, and all that is known of it above the diff."""

from __future__ import annotations

from collections.abc import Sequence

from ricordo.lint.finding import Severity
from ricordo.services.doctor.hooks import HookCost
from ricordo.services.doctor.problem import Problem
from ricordo.text import make_one_line
from ricordo.tui.render.empty import render_labelled, render_paragraph
from ricordo.tui.render.line import BLANK, StyledLine, StyledSpan, align_right, fit
from ricordo.tui.render.mask import mask_text

_CHECKED = (
    "Memories that no session loads, settings, hooks and what they cost, MCP servers, instruction "
    "files, indexes, and Ricordo's own directory."
)
NO_PROBLEMS = (("No problems", "heading"), (f"These were checked: {_CHECKED}", ""))
CHECKING = (
    ("Checking all memories of this machine …", "heading"),
    (_CHECKED, ""),
    ("Nothing is changed.", "dim"),
)
_GLYPHS = {
    Severity.ERROR: ("✗", "error"),
    Severity.WARNING: ("!", "warning"),
    Severity.INFO: ("·", "dim"),
}


def render_problem_row(problem: Problem, width: int, *, in_one: bool) -> tuple[StyledLine, ...]:
    """Return the row of a problem in the list."""
    glyph, color = _GLYPHS[problem.severity]
    name = [StyledSpan(f" {glyph} ", color), StyledSpan(problem.check, "bold")]
    style = "" if problem.severity > Severity.INFO else "dim"
    what = StyledSpan(make_one_line(mask_text(problem.what)), style)
    right = (StyledSpan(" repair " if problem.repair else " ", "success"),)
    if in_one:
        return (align_right([*name, StyledSpan("  "), what], right, width),)
    return align_right(name, right, width), StyledLine(fit((StyledSpan("   "), what), width))


def render_problem(
    problem: Problem, warnings: Sequence[str], refusal: str, width: int
) -> list[StyledLine]:
    """Return all that is known of a problem, and a blank line. `warnings` are those of its repair,
    and `refusal` is why that cannot be made.
    """
    style = f"{_GLYPHS[problem.severity][1]} bold"
    parts: list[tuple[str, Sequence[str], str]] = [
        ("evidence", problem.evidence, ""),
        ("next", [problem.advice] if problem.advice else [], ""),
        ("repair", [problem.repair.label] if problem.repair else [], "success"),
        ("no repair", [refusal] if refusal else [], "warning"),
        ("note", warnings, "warning"),
        ("left alone", problem.other_places, "dim"),
    ]
    masked = [(label, list(map(mask_text, texts)), style) for label, texts, style in parts]
    what = render_paragraph(mask_text(problem.what), style, width)
    return [*what, BLANK, *render_labelled(masked, width), BLANK]


def describe_cost(costs: Sequence[HookCost]) -> str:
    """Return what the hooks together cost a prompt; "" where that is unknown."""
    of_prompts = [cost.each_time for cost in costs if cost.unit == "prompt"]
    hooks = "1 hook costs" if len(of_prompts) == 1 else f"{len(of_prompts)} hooks cost"
    return f"{hooks} {sum(of_prompts):,} ms a prompt" if of_prompts else ""
