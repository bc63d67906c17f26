"""The findings of `lint` as text: by default their number by rule and those to look at first, with
--full all of them.
"""

from __future__ import annotations

import sys
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

from ricordo.cli.diagnostic import (
    INDENT,
    FoundIn,
    View,
    is_fixed_by_safe_fixes,
    relative_path,
    render_diagnostic,
)
from ricordo.cli.style import get_width, print_diffs, print_styled
from ricordo.lint.causes import rank_urgency
from ricordo.lint.finding import Severity
from ricordo.services.describe import count_noun, format_summary
from ricordo.services.edits.fix import INTERACTIVE_RULES
from ricordo.services.load_description import format_load
from ricordo.services.workspace.notebook import group_by_rule

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable, Sequence

    from ricordo.cli.style import Line, Segment
    from ricordo.lint.causes import Urgency
    from ricordo.lint.finding import Finding
    from ricordo.services.workspace.notebook import Snapshot

MOST_SHOWN = 5
"""Findings that are shown unless all are asked for: about a screen."""
_MOST_ERRORS = 2
"""Errors of one rule that are shown while another rule has findings too."""
_COUNT_GAPS = 11
"""Cells between the number of findings of a severity and the first rule."""
_STATISTICS_GAPS = 16
"""Cells of a line of statistics that are neither the number nor the name of a rule."""
_NO_MEMORIES = "No memory found on this machine, and none was opened by its path."


class LintReport:
    """Prints the findings of one memory or several."""

    def __init__(self, options: Namespace, snapshots: Sequence[Snapshot], directory: str) -> None:
        """Paths are printed relative to `directory`."""
        self._options = options
        self._snapshots = snapshots
        self._directory = directory
        self._shown = 0
        """Findings that were printed."""
        self._explained: set[str] = set()
        """The rules whose advice was printed."""

    @cached_property
    def _findings(self) -> list[FoundIn]:
        """The findings as they are counted."""
        return [
            FoundIn(finding, snapshot.memory)
            for snapshot in self._snapshots
            for finding in (snapshot.findings if self._is_one_by_one else snapshot.causes)
        ]

    @property
    def _is_one_by_one(self) -> bool:
        """Whether findings of a habit are shown and counted one by one, not as one."""
        return bool(self._options.full or self._options.statistics)

    @property
    def _all(self) -> list[Finding]:
        return [finding for snapshot in self._snapshots for finding in snapshot.findings]

    def print_fixes(self, snapshot: Snapshot, lines: Sequence[str]) -> None:
        """Print the `lines` on what was fixed, or would be, in one memory."""
        if len(self._snapshots) > 1:
            print_styled([self._headline(snapshot)])
        print_diffs(lines)

    def print_findings(self) -> None:
        """Print all findings, the first of them, or only their numbers, as the options say."""
        if self._options.statistics:
            self._print_statistics()
        elif len(self._findings) <= MOST_SHOWN:
            self._print_diagnostics(self._findings)
        elif self._options.full:
            self._print_diagnostics(self._findings)
            self._print_summary()
        else:
            self._print_summary()
            self._print_diagnostics(choose_first(self._findings))
        if self._options.dismissed:
            self._print_diagnostics(
                FoundIn(finding, snapshot.memory, is_dismissed=True)
                for snapshot in self._snapshots
                for finding in snapshot.dismissed_causes
            )

    def _print_statistics(self) -> None:
        from ricordo.lint.rule import load_rules

        summaries = {name: rule.summary for name, rule in load_rules().items()}
        print_styled(*render_statistics(self._all, summaries))

    def _print_summary(self) -> None:
        from ricordo.cli.output import is_quiet

        if not is_quiet():
            counts, indent = render_counts(found.finding for found in self._findings)
            print_styled([*counts, []], indent)

    def _print_diagnostics(self, chosen: Iterable[FoundIn]) -> None:
        """Print diagnostics, with an empty line between them."""
        view = View(self._directory, get_width(), sys.stdout.isatty())
        for found in chosen:
            advice = self._advise(found.finding)
            print_styled([*render_diagnostic(found, view, advice), []], INDENT)
            self._shown += not found.is_dismissed

    def _advise(self, finding: Finding) -> str:
        """Return what to do about a finding that has no automatic fix; "" if that was printed for
        another finding of its rule.
        """
        from ricordo.lint.rule_page import load_rule_page

        if finding.fix_label or finding.rule in self._explained:
            return ""
        self._explained.add(finding.rule)
        return load_rule_page(finding.rule).resolve

    def print_end(self) -> None:
        """Print the totals, and what to do next."""
        if not self._snapshots:
            print_styled([[(_NO_MEMORIES, "")]])
            return
        heads = [self._headline(snapshot) for snapshot in self._snapshots]
        print_styled(heads, INDENT)
        if not (self._options.fix or self._options.diff):
            print_styled(self._render_next(), INDENT)

    def _render_next(self) -> Iterable[Line]:
        findings = self._all
        if fixes := _describe_fixable(findings):
            yield fixes
        if self._shown < len(findings):
            every = f"all {len(findings):,} findings" if self._shown else "the findings"
            more = f"`--full` shows {every} one by one, `--select RULE` those of one rule."
            yield _as_code(more)
        if findings:
            yield _as_code("`--dismiss ID` hides a wrong one, `ricordo rule RULE` explains a rule.")
        # silence of the rules is no proof that the notes are right
        is_whole = len(self._snapshots) == 1 and not self._options.select
        is_silent = all(finding.severity < Severity.WARNING for finding in findings)
        if is_whole and is_silent and self._snapshots[0].memory.notes:
            check = "`ricordo curate --check` has a model, or a program of yours, check the notes."
            yield _as_code(f"Rules find few statements that are wrong: {check}")

    def _headline(self, snapshot: Snapshot) -> Line:
        """Return a memory with the numbers of its notes and findings, and its load."""
        memory = snapshot.memory
        notes = "1 note" if len(memory.notes) == 1 else f"{len(memory.notes):,} notes"
        summary = format_summary(snapshot, one_by_one=self._is_one_by_one)
        text = f": {notes}; {summary}; load {format_load(memory)}"
        return [(relative_path(memory.root, self._directory), "bold"), (text, "")]


def _describe_fixable(findings: Sequence[Finding]) -> Line:
    """Return how many findings have a fix, and how it is made; empty if none has. Whether a fix
    fits, beside the others and into what agents load, is known once all of them were tried.
    """
    safe = sum(map(is_fixed_by_safe_fixes, findings))
    every = sum(
        finding.fix is not None and finding.rule not in INTERACTIVE_RULES for finding in findings
    )
    unsafe = every - safe
    if not every:
        return []
    if not safe:
        text = f"{_count_findings(unsafe)} may be fixed by `--fix --unsafe`; `--diff --unsafe`"
        return _as_code(f"{text} shows which.")
    more = f", {unsafe:,} more with `--unsafe`" if unsafe else ""
    text = f" {_count_findings(safe)} may be fixed by `--fix`{more}; `--diff` shows which."
    return [("[*]", "fixable"), *_as_code(text)]


def _count_findings(number: int) -> str:
    return "1 finding" if number == 1 else f"{number:,} findings"


def _as_code(text: str) -> list[Segment]:
    """Return `text` with the parts between backticks in bold."""
    parts = text.split("`")
    return [
        (f"`{part}`" if at % 2 else part, "bold" if at % 2 else "") for at, part in enumerate(parts)
    ]


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
    rules = group_by_rule(findings)
    totals: Counter[Severity] = Counter()
    for of_rule in rules:
        totals[of_rule[0].severity] += len(of_rule)
    width = max((len(f"{total:,}") for total in totals.values()), default=0)
    lines: list[Line] = []
    for severity, count in totals.items():
        number = f"{count:>{width},} {count_noun(severity, count):<8} "
        line: list[Segment] = [(number, severity.word)]
        for of_rule in (it for it in rules if it[0].severity is severity):
            line += [(" " if len(line) == 1 else ", ", ""), (_count(of_rule), "")]
            line.append((" [*]" if any(map(is_fixed_by_safe_fixes, of_rule)) else "", "fixable"))
        lines.append(line)
    return lines, width + _COUNT_GAPS


def _count(of_rule: Sequence[Finding]) -> str:
    """Return a rule with the number of its findings; of one that stands for several how many."""
    first, *others = of_rule
    if first.members and not others:
        return f"{first.rule} {len(first.members):,} as one"
    return f"{first.rule} {len(of_rule):,}"


def render_statistics(
    findings: Sequence[Finding], summaries: dict[str, str]
) -> tuple[list[Line], int]:
    """Return a line for each rule and severity that has findings: their number, severity, whether
    `--fix` fixes any, name, and the summary of the rule; and the cells before the summaries.
    """
    rules = group_by_rule(findings)
    names = max((len(of_rule[0].rule) for of_rule in rules), default=0)
    numbers = max((len(f"{len(of_rule):,}") for of_rule in rules), default=0)
    lines: list[Line] = [
        [
            (f"{len(of_rule):>{numbers},}  ", "bold"),
            (f"{of_rule[0].severity.word:<8}", of_rule[0].severity.word),
            ("[*] " if any(map(is_fixed_by_safe_fixes, of_rule)) else "[ ] ", "fixable"),
            (f"{of_rule[0].rule:<{names}}  ", ""),
            (summaries[of_rule[0].rule], "dim"),
        ]
        for of_rule in rules
    ]
    return lines, numbers + names + _STATISTICS_GAPS
