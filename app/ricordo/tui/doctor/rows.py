"""A problem as lines: one or two rows in the list, and all that is known of it above the diff."""

from __future__ import annotations

from collections.abc import Sequence

from ricordo.lint.finding import Severity
from ricordo.services.doctor.problem import Problem
from ricordo.services.doctor.setup import HookCost
from ricordo.text import make_one_line
from ricordo.tui.render.line import StyledLine, StyledSpan, align_right, fit, wrap
from ricordo.tui.render.mask import mask_text

NO_PROBLEMS = (
    ("No problems", "heading"),
    (
        "Problems of all memories of this machine are listed here: memories that no session loads, "
        "settings, hooks and what they cost, instruction files, and Ricordo's own directory.",
        "",
    ),
)
READING = (("Reading sessions …", "heading"),)
_GLYPHS = {
    Severity.ERROR: ("✗", "error"),
    Severity.WARNING: ("!", "warning"),
    Severity.INFO: ("·", "dim"),
}
_LABEL = 8
"""Cells of a label."""


def render_problem_row(problem: Problem, width: int, *, in_one: bool) -> tuple[StyledLine, ...]:
    """Return the row of a problem in the list."""
    glyph, style = _GLYPHS[problem.severity]
    name = [StyledSpan(f" {glyph} ", style), StyledSpan(problem.check, "bold")]
    what = StyledSpan(_plain(problem.what), "" if problem.severity > Severity.INFO else "dim")
    right = (StyledSpan(" repair " if problem.repair else " ", "success"),)
    if in_one:
        return (align_right([*name, StyledSpan("  "), what], right, width),)
    return align_right(name, right, width), StyledLine(fit((StyledSpan("   "), what), width))


def render_problem(
    problem: Problem, warnings: Sequence[str], refusal: str, width: int
) -> list[StyledLine]:
    """Return all that is known of a problem. `warnings` are those of its repair, and `refusal` is
    why that cannot be made.
    """
    parts = [("what", problem.what, _GLYPHS[problem.severity][1])]
    parts += [("known", text, "") for text in problem.evidence]
    parts += [("do", problem.advice, "")] if problem.advice else []
    parts += [("repair", problem.repair.label, "success")] if problem.repair else []
    parts += [("!", text, "warning") for text in (*warnings, *([refusal] if refusal else []))]
    parts += [("alone", place, "dim") for place in problem.other_places]
    rest = (StyledSpan(" " * _LABEL),)
    return [
        StyledLine(row)
        for label, text, style in parts
        for row in wrap(
            [StyledSpan(_plain(text), style)],
            width,
            (StyledSpan(f"{label:<{_LABEL}}", "dim"),),
            rest,
        )
    ]


def describe_cost(costs: Sequence[HookCost]) -> str:
    """Return what all hooks together cost a prompt; "" where that is unknown."""
    total = sum(cost.per_prompt for cost in costs)
    hooks = "1 hook" if len(costs) == 1 else f"{len(costs)} hooks"
    return f"{hooks} cost {total:,} ms a prompt" if costs else ""


def _plain(text: str) -> str:
    return make_one_line(mask_text(text))
