"""What `lint` shows of many findings: their number by rule, and those to look at first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.diagnostic import is_fixed_by_safe_fixes
from ricordo.lint.causes import rank_urgency
from ricordo.lint.finding import Severity
from ricordo.services.describe import count_noun

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ricordo.cli.diagnostic import FoundIn
    from ricordo.cli.style import Line, Segment
    from ricordo.lint.causes import Urgency
    from ricordo.lint.finding import Finding

MOST_SHOWN = 5
"""Findings that are shown unless all are asked for: about a screen."""
_MOST_ERRORS = 2
"""Errors of one rule that are shown while another rule has findings too."""
_COUNT_GAPS = 11
"""Cells between the number of findings of a severity and the first rule."""
_STATISTICS_GAPS = 16
"""Cells of a line of statistics that are neither the number nor the name of a rule."""


def choose_first(findings: Sequence[FoundIn]) -> list[FoundIn]:
    """Return at most MOST_SHOWN of `findings`, the most urgent rules first: up to two errors and
    one warning of each rule, then more of them, and information last.
    """
    by_rule: dict[str, list[FoundIn]] = {}
    for found in sorted(findings, key=lambda found: found.finding.rank):
        by_rule.setdefault(found.finding.rule, []).append(found)
    rules = sorted(by_rule.values(), key=_urgency)
    share = {Severity.ERROR: _MOST_ERRORS, Severity.WARNING: 1, Severity.INFO: 0}
    first = [found for of_rule in rules for found in of_rule[: share[_severity(of_rule)]]]
    more = [found for of_rule in rules for found in of_rule[share[_severity(of_rule)] :]]
    chosen = {id(found) for found in [*first, *more][:MOST_SHOWN]}
    return [found for of_rule in rules for found in of_rule if id(found) in chosen]


def _urgency(of_rule: Sequence[FoundIn]) -> tuple[Urgency, int, str]:
    """Return the sort key of the findings of one rule: what is rare before what may be a habit."""
    finding = of_rule[0].finding
    return rank_urgency(finding), len(of_rule), finding.rule


def _severity(of_rule: Sequence[FoundIn]) -> Severity:
    return of_rule[0].finding.severity


def render_counts(findings: Iterable[Finding]) -> tuple[list[Line], int]:
    """Return a line for each severity that `findings` have: their number, and that of each rule;
    and the cells before the rules.
    """
    by_severity: dict[Severity, dict[str, list[Finding]]] = {}
    for finding in findings:
        of_severity = by_severity.setdefault(finding.severity, {})
        of_severity.setdefault(finding.rule, []).append(finding)
    totals = {it: sum(map(len, by_rule.values())) for it, by_rule in by_severity.items()}
    width = max((len(f"{total:,}") for total in totals.values()), default=0)
    lines: list[Line] = []
    for severity, by_rule in sorted(by_severity.items(), reverse=True):
        count = totals[severity]
        number = f"{count:>{width},} {count_noun(severity, count):<8} "
        line: list[Segment] = [(number, severity.word)]
        for rule, of_rule in sorted(by_rule.items(), key=lambda item: (-len(item[1]), item[0])):
            line += [(" " if len(line) == 1 else ", ", ""), (_count(rule, of_rule), "")]
            line.append((" [*]" if any(map(is_fixed_by_safe_fixes, of_rule)) else "", "fixable"))
        lines.append(line)
    return lines, width + _COUNT_GAPS


def _count(rule: str, causes: Sequence[Finding]) -> str:
    """Return a rule with the number of its findings, and whether they count as one."""
    members = sum(len(it.members) for it in causes)
    return f"{rule} {members:,} as one" if members else f"{rule} {len(causes):,}"


def render_statistics(
    findings: Sequence[Finding], summaries: dict[str, str]
) -> tuple[list[Line], int]:
    """Return a line for each rule and severity that has findings: their number, severity, whether
    `--fix` fixes any, name, and the summary of the rule; and the cells before the summaries.
    """
    by_rule: dict[tuple[Severity, str], list[Finding]] = {}
    for finding in findings:
        by_rule.setdefault((finding.severity, finding.rule), []).append(finding)
    order = sorted(by_rule.values(), key=lambda one: (-one[0].severity, -len(one), one[0].rule))
    names = max((len(rule) for _, rule in by_rule), default=0)
    numbers = max((len(f"{len(one):,}") for one in order), default=0)
    lines: list[Line] = [
        [
            (f"{len(of_rule):>{numbers},}  ", "bold"),
            (f"{of_rule[0].severity.word:<8}", of_rule[0].severity.word),
            ("[*] " if any(map(is_fixed_by_safe_fixes, of_rule)) else "[ ] ", "fixable"),
            (f"{of_rule[0].rule:<{names}}  ", ""),
            (summaries[of_rule[0].rule], "dim"),
        ]
        for of_rule in order
    ]
    return lines, numbers + names + _STATISTICS_GAPS
