"""The findings of `lint` as text: by default a triage, with --full all of them."""

from __future__ import annotations

import sys
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
from ricordo.cli.triage import MOST_SHOWN, choose_first, render_counts, render_statistics
from ricordo.services.describe import format_summary
from ricordo.services.edits.fix import INTERACTIVE_RULES
from ricordo.services.load_description import format_load

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable, Sequence

    from ricordo.cli.style import Line, Segment
    from ricordo.lint.finding import Finding
    from ricordo.services.workspace.notebook import Snapshot

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
