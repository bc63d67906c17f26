"""What `lint --fix` did, or would do: as lines, and as the JSON of `lint`."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from ricordo.memory.change_set import Edit
from ricordo.memory.diff import unified
from ricordo.notebook.describe import describe_finding
from ricordo.notebook.fix import FixPlan
from ricordo.notebook.report import finding_line
from ricordo.secrets import mask
from ricordo.text import visible

_MOST_RULES = 6
"""Rules that are named behind a reason, those with most findings."""
_MOST_REASONS = 10
"""Reasons that are printed: some name a file, so that there may be any number."""


def describe_fixes(plan: FixPlan, *, applied: bool) -> dict[str, Any]:
    """Return what `lint --json` prints as `fixes`; `applied` says whether they were made."""
    return {
        "applied": applied,
        "fixed": [describe_finding(finding, dismissed=False) for finding in plan.mended],
        "not_fixed": [
            {"id": it.finding.id, "rule": it.finding.rule, "path": it.finding.path, "why": it.why}
            for it in plan.left
        ],
        "changes": [{"path": it.path, "diff": diff_of(it)} for it in plan.change_set.edits],
    }


def diff_of(edit: Edit) -> str:
    """Return what becomes of one file as a unified diff, with every credential masked."""
    old, new = (
        "" if raw is None else raw.decode("utf-8-sig", "replace")
        for raw in (edit.before, edit.after)
    )
    old_name = f"a/{edit.path}" if edit.before is not None else "/dev/null"
    new_name = f"b/{edit.path}" if edit.after is not None else "/dev/null"
    return mask(unified(old, new, old_name, new_name))


def diff_lines(plan: FixPlan) -> list[str]:
    """Return all that would be changed as lines of unified diffs."""
    diffs = (diff_of(edit).removesuffix("\n") for edit in plan.change_set.edits)
    return [line for diff in diffs for line in visible(diff).split("\n")]


def fixed_lines(plan: FixPlan) -> list[str]:
    """Return the findings that were fixed, a line each."""
    return [f"fixed: {finding_line(finding)}" for finding in plan.mended]


def count_lines(plan: FixPlan, *, applied: bool) -> Iterator[str]:
    """Yield how many findings were fixed, or would be, how many were not, and why."""
    verb = "fixed" if applied else "would be fixed"
    yield f"{len(plan.mended):,} {verb}, {len(plan.left):,} not{':' if plan.left else '.'}"
    rules: dict[str, Counter[str]] = defaultdict(Counter)
    for it in plan.left:
        rules[it.why][it.finding.rule] += 1
    commonest = sorted(rules.items(), key=lambda it: (-it[1].total(), it[0]))
    for why, counts in commonest[:_MOST_REASONS]:
        common = sorted(counts.items(), key=lambda it: (-it[1], it[0]))
        named = ", ".join(f"{rule} {count:,}" for rule, count in common[:_MOST_RULES])
        more = ", …" if len(common) > _MOST_RULES else ""
        yield f"  {counts.total():,} {visible(why).rstrip('.')}: {named}{more}"
    if others := sum(counts.total() for _, counts in commonest[_MOST_REASONS:]):
        yield f"  {others:,} for other reasons; --json has them"
