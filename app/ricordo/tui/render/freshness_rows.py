"""The freshness pane: findings worst first, of the note or of the whole memory, or by rule."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from ricordo.health.finding import Finding, Severity
from ricordo.memory.load import Load
from ricordo.notebook.open import Look
from ricordo.text import clip, one_line
from ricordo.tui.render.index_rows import GLYPHS
from ricordo.tui.render.line import BLANK, Line, Span, wrap


class Scope(StrEnum):
    """Which findings the pane shows."""

    NOTE = "this note"
    MEMORY = "all"
    RULES = "by rule"
    DISMISSED = "dismissed"


@dataclass(frozen=True, slots=True)
class FreshnessRow:
    """One row of the pane."""

    line: Line
    finding: Finding | None = None
    """The finding that the row shows."""
    rule: str = ""
    """The rule that the row counts."""
    first: bool = False
    """Whether it is the first row of its finding or rule: there the cursor rests."""


def scopes(look: Look) -> tuple[Scope, ...]:
    """Return the scopes that there is something to show for."""
    always = (Scope.NOTE, Scope.MEMORY, Scope.RULES)
    return (*always, Scope.DISMISSED) if look.dismissed else always


def freshness_rows(
    look: Look, path: str, scope: Scope, rule: str, width: int
) -> list[FreshnessRow]:
    """Return the rows of the pane at `width` cells.

    `path` is the note under the cursor of the index; `rule` narrows the findings to one rule.
    """
    rows = [FreshnessRow(line) for line in _head(look, path, scope, width)]
    if scope is Scope.RULES and not rule:
        return rows + _by_rule(look, width)
    findings = _findings(look, path, scope)
    if rule:
        findings = tuple(finding for finding in findings if finding.rule == rule)
    if not findings:
        rows.append(FreshnessRow(Line((Span(_all_well(scope), "fine"),))))
    for finding in findings:
        rows.extend(_finding_rows(finding, width, with_file=scope is not Scope.NOTE))
    return rows


def finding_detail(finding: Finding, width: int, height: int) -> list[Line]:
    """Return a finding in full, at most `height` lines: message, evidence."""
    glyph, style = GLYPHS[finding.severity]
    title = f"{glyph} {finding.severity.word}  {finding.rule}"
    lines = [Line((Span(clip(title, width), f"{style} bold"),))]
    lines += [Line(row) for row in wrap([Span(one_line(finding.message))], width)]
    for text in finding.evidence:
        quoted = [Span(one_line(text[:1_000]), "dim")]
        lines += [Line(row) for row in wrap(quoted, width, (Span("  "),), (Span("  "),))]
    return lines[:height]


def meter(share: float, width: int) -> Span:
    """Return a bar of `width` cells for a share of 1, coloured by how near the limit it is."""
    filled = min(width, round(share * width))
    style = "error" if share > 1 else "warning" if share > 0.75 else "accent"
    return Span("▰" * filled + "▱" * (width - filled), style)


def _head(look: Look, path: str, scope: Scope, width: int) -> list[Line]:
    wanting = sum(1 for note in look.memory.notes if note.path in look.by_path)
    fine = len(look.memory.notes) - wanting
    lines = [Line((Span(f"{wanting} want you", "bold"), Span(f"   {fine} fine", "dim")))]
    lines += _load(look.memory.load, width)
    tabs: list[Span] = []
    for each in scopes(look):
        count = _count(look, path, each)
        style = "accent bold" if each is scope else "dim"
        tabs += [Span(f"{each.value} {count}", style), Span("  ")]
    return [*lines, BLANK, *(Line(row) for row in wrap(tabs, width)), BLANK]


def _load(load: Load, width: int) -> list[Line]:
    limits = load.limits
    if limits is None:
        return [Line((Span(f"{load.lines} lines in the index", "dim"),))]
    bar = max(6, min(12, width - 22))
    shares = (
        (load.lines / limits.lines, f" {load.lines}/{limits.lines} lines"),
        (load.units / limits.units, f" {load.units / 1000:.1f}/{limits.units / 1000:.1f} k units"),
    )
    return [Line((meter(share, bar), Span(text, "dim"))) for share, text in shares]


def _count(look: Look, path: str, scope: Scope) -> int:
    if scope is Scope.RULES:
        return len({finding.rule for finding in look.findings})
    return len(_findings(look, path, scope))


def _findings(look: Look, path: str, scope: Scope) -> tuple[Finding, ...]:
    if scope is Scope.NOTE:
        return look.by_path.get(path, ())
    return look.dismissed if scope is Scope.DISMISSED else look.findings


def _all_well(scope: Scope) -> str:
    if scope is Scope.NOTE:
        return "✓ nothing is wrong with this note"
    return "✓ nothing is wrong here"


def _finding_rows(finding: Finding, width: int, with_file: bool) -> list[FreshnessRow]:
    glyph, style = GLYPHS[finding.severity]
    place = finding.path if with_file else ""
    if finding.line:
        place = f"{place}:{finding.line}" if place else f"line {finding.line}"
    title = Line(
        (
            Span(f"{glyph} ", style),
            Span(finding.rule, style),
            Span(f"  {clip(place, max(6, width - len(finding.rule) - 4))}", "dim"),
        )
    )
    message = Line((Span("  "), Span(clip(finding.message, width - 2))))
    return [
        FreshnessRow(title, finding, first=True),
        FreshnessRow(message, finding),
    ]


def _by_rule(look: Look, width: int) -> list[FreshnessRow]:
    counts: Counter[tuple[Severity, str]] = Counter(
        (finding.severity, finding.rule) for finding in look.findings
    )
    ordered = sorted(counts.items(), key=lambda item: (-item[0][0], -item[1], item[0][1]))
    rows: list[FreshnessRow] = []
    for (severity, rule), count in ordered:
        glyph, style = GLYPHS[severity]
        line = Line(
            (Span(f"{glyph} ", style), Span(f"{count:>4}  ", "bold"), Span(clip(rule, width - 8)))
        )
        rows.append(FreshnessRow(line, rule=rule, first=True))
    return rows or [FreshnessRow(Line((Span(_all_well(Scope.RULES), "fine"),)))]
