"""The freshness pane: findings worst first, of the note or of the whole memory, or by rule."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from ricordo.lint.evidence import CheckOutcome, Evidence, Verdict
from ricordo.lint.finding import Finding, Severity
from ricordo.lint.retention import Retention
from ricordo.memory.load import Load
from ricordo.memory.note import stem
from ricordo.services.workspace.notebook import Snapshot
from ricordo.text import clip, one_line
from ricordo.tui.render.empty import NO_FINDINGS, paragraphs
from ricordo.tui.render.index_rows import GLYPHS
from ricordo.tui.render.line import BLANK, StyledLine, StyledSpan, wrap

_BARS = "▁▂▃▄▅▆▇█"
_YEAR = 365
_POINTS = 7
"""Of the curve."""
_LEAST = 0.5
"""The share at the foot of the curve: it falls steeply first, and below one half hardly at all."""
_INDENT = (StyledSpan("  "),)


def curve(retention: Retention) -> str:
    """Return how it fell from the day on which the note was written or confirmed until today."""
    days = max(0, (retention.today - retention.since).days)
    shares = (retention.after(round(days * n / (_POINTS - 1))) for n in range(_POINTS))
    return "".join(_bar(share) for share in shares)


def retention_line(retention: Retention) -> StyledLine:
    """Return curve and figure in one row."""
    style = "warning" if retention.is_stale else ""
    figure = StyledSpan(f" {retention.share:.2f}", f"{style} bold".strip())
    return StyledLine(
        (StyledSpan("retention ", "dim"), StyledSpan(curve(retention), style or "accent"), figure)
    )


def retention_lines(retention: Retention, width: int) -> list[StyledLine]:
    """Return curve, figure and reasons in `width` cells."""
    told = [*retention.reasons, _forecast(retention)]
    rows = (
        row
        for text in told
        if text
        for row in wrap([StyledSpan(text, "dim")], width, *[_INDENT] * 2)
    )
    return [retention_line(retention), *map(StyledLine, rows)]


def _forecast(retention: Retention) -> str:
    if retention.life.is_wrong:
        return ""
    verb = "stale since" if retention.is_stale else "stale on"
    return f"half-life {_span(retention.half_life)}, {verb} {retention.stale_on:%-d %b %Y}"


def _span(days: int) -> str:
    return f"{days} days" if days < 2 * _YEAR else f"{days / _YEAR:.1f} years"


def _bar(share: float) -> str:
    height = (share - _LEAST) / (1 - _LEAST) * (len(_BARS) - 1)
    return _BARS[min(max(round(height), 0), len(_BARS) - 1)]


_ELSEWHERE = 40
"""Findings of other notes that stand below those of the note."""


class FindingScope(StrEnum):
    """Which findings the pane shows."""

    NOTE = "note"
    MEMORY = "all"
    RULES = "rules"
    DISMISSED = "dismissed"


class FreshnessRow(NamedTuple):
    """One row of the pane; what it looks like is made when it is drawn."""

    line: StyledLine | None = None
    """A row that is always the same."""
    finding: Finding | None = None
    with_file: bool = True
    """Whether the finding is shown with its file."""
    rule: str = ""
    """The rule that the row counts."""
    number: int = 0
    """How many findings of that rule there are."""
    severity: Severity = Severity.INFO
    first: bool = False
    """Whether it is the first row of its finding or rule: there the cursor rests."""


def scopes(look: Snapshot) -> tuple[FindingScope, ...]:
    """Return the scopes that there is something to show for."""
    always = (FindingScope.NOTE, FindingScope.MEMORY, FindingScope.RULES)
    return (*always, FindingScope.DISMISSED) if look.dismissed else always


def freshness_rows(
    look: Snapshot, path: str, scope: FindingScope, rule: str, width: int
) -> list[FreshnessRow]:
    """Return the rows of the pane at `width` cells.

    `path` is the note under the cursor of the index; `rule` narrows the findings to one rule.
    """
    rows = [FreshnessRow(line) for line in _head(look, path, scope, width)]
    if not look.judged:
        return [*rows, FreshnessRow(StyledLine((StyledSpan("looking …", "dim"),)))]
    if rule:
        of_rule = (finding for finding in look.findings if finding.rule == rule)
        return rows + _rows_of(of_rule, with_file=True)
    if scope is FindingScope.RULES:
        return rows + _by_rule(look)
    if scope is FindingScope.NOTE:
        return rows + _of_note(look, path, width)
    if scope is FindingScope.MEMORY:
        rows += [FreshnessRow(StyledLine(row)) for row in wrap(_checked_of_memory(look), width)]
    findings = look.dismissed if scope is FindingScope.DISMISSED else look.findings
    return rows + (_rows_of(findings, with_file=True) or _all_well("here", width))


def draw_freshness_row(row: FreshnessRow, width: int) -> StyledLine:
    """Return one row in `width` cells."""
    if row.line is not None:
        return row.line
    if row.finding is None:
        glyph, style = GLYPHS[row.severity]
        name = StyledSpan(clip(row.rule, width - 8))
        return StyledLine(
            (StyledSpan(f"{glyph} ", style), StyledSpan(f"{row.number:>4}  ", "bold"), name)
        )
    if not row.first:
        return StyledLine((StyledSpan("  "), StyledSpan(clip(row.finding.message, width - 2))))
    glyph, style = GLYPHS[row.finding.severity]
    place = clip(_place(row.finding, row.with_file), max(6, width - len(row.finding.rule) - 4))
    return StyledLine(
        (
            StyledSpan(f"{glyph} ", style),
            StyledSpan(row.finding.rule, style),
            StyledSpan(f"  {place}", "dim"),
        )
    )


def finding_detail(finding: Finding, width: int, height: int) -> list[StyledLine]:
    """Return a finding in full, at most `height` lines: message, evidence."""
    glyph, style = GLYPHS[finding.severity]
    title = f"{glyph} {finding.severity.word}  {finding.rule}"
    lines = [StyledLine((StyledSpan(clip(title, width), f"{style} bold"),))]
    lines += [StyledLine(row) for row in wrap([StyledSpan(one_line(finding.message))], width)]
    for text in finding.evidence:
        quoted = [StyledSpan(one_line(text[:1_000]), "dim")]
        lines += [
            StyledLine(row) for row in wrap(quoted, width, (StyledSpan("  "),), (StyledSpan("  "),))
        ]
    return lines[:height]


def meter(share: float, width: int) -> StyledSpan:
    """Return a bar of `width` cells for a share of 1, coloured by how near the limit it is."""
    filled = min(width, round(share * width))
    style = "error" if share > 1 else "warning" if share > 0.75 else "accent"
    return StyledSpan("▰" * filled + "▱" * (width - filled), style)


def _head(look: Snapshot, path: str, scope: FindingScope, width: int) -> list[StyledLine]:
    lines = [_summary(look), *_load(look.memory.load, width), BLANK]
    tabs: list[StyledSpan] = []
    for each in scopes(look):
        style = "accent bold" if each is scope else "dim"
        tabs += [StyledSpan(f"{each.value} {_count(look, path, each)}", style), StyledSpan("  ")]
    return [*lines, *(StyledLine(row) for row in wrap(tabs, width)), BLANK]


def _summary(look: Snapshot) -> StyledLine:
    if not look.judged:
        return StyledLine((StyledSpan(f"{len(look.memory.notes)} notes", "bold"),))
    fine = len(look.memory.notes) - look.wanting
    return StyledLine(
        (StyledSpan(f"{look.wanting} want you", "bold"), StyledSpan(f"   {fine} fine", "dim"))
    )


def _load(load: Load, width: int) -> list[StyledLine]:
    limits = load.limits
    if limits is None:
        return [StyledLine((StyledSpan(f"{load.lines} lines in the index", "dim"),))]
    bar = max(6, min(12, width - 22))
    shares = (
        (load.lines / limits.lines, f" {load.lines}/{limits.lines} lines"),
        (load.units / limits.units, f" {load.units / 1000:.1f}/{limits.units / 1000:.1f} k units"),
    )
    return [StyledLine((meter(share, bar), StyledSpan(text, "dim"))) for share, text in shares]


def _count(look: Snapshot, path: str, scope: FindingScope) -> int:
    match scope:
        case FindingScope.NOTE:
            return len(look.of_note(path))
        case FindingScope.MEMORY:
            return len(look.findings)
        case FindingScope.RULES:
            return len({rule for _, rule in look.by_rule})
        case FindingScope.DISMISSED:
            return len(look.dismissed)


def _of_note(look: Snapshot, path: str, width: int) -> list[FreshnessRow]:
    own = look.by_path.get(path, ())
    shared = look.of_note(path)[len(own) :]
    retention = look.retention.get(path)
    if not look.memory.files:
        return [FreshnessRow(line) for line in paragraphs([(NO_FINDINGS, "dim")], width)]
    where = "with this note" if path in look.memory.by_path else "here"
    rows = _rows_of(own, with_file=False) + _rows_of(shared, with_file=True)
    rows = rows or _all_well(where, width)
    if checked := _checked_of_note(look, path):
        rows += [FreshnessRow(StyledLine(row)) for row in wrap(checked, width)]
    if retention is not None:
        rows += [FreshnessRow(line) for line in (BLANK, *retention_lines(retention, width))]
    elsewhere = [it for it in look.findings[:_ELSEWHERE] if path not in (it.path, it.other)]
    if not elsewhere:
        return rows
    rows += [
        FreshnessRow(BLANK),
        FreshnessRow(StyledLine((StyledSpan("elsewhere, worst first", "heading"),))),
    ]
    rows += _rows_of(elsewhere, with_file=True)
    more = len(look.findings) - len(own) - len(shared) - len(elsewhere)
    if more > 0:
        rows.append(FreshnessRow(StyledLine((StyledSpan(f"… {more} more: →", "dim"),))))
    return rows


def _checked_of_note(look: Snapshot, path: str) -> list[StyledSpan]:
    """What came of checking the claims of the note at `path`; nothing where it makes none."""
    told = [it for it in look.evidence.verdicts.get(path, ()) if it.is_checked]
    return [_checked(look.evidence, told)] if told else []


def _checked_of_memory(look: Snapshot) -> list[StyledSpan]:
    """What came of checking the claims of all notes, and what was left out."""
    evidence = look.evidence
    if not look.known:
        return [StyledSpan("claims are being checked …", "dim")]
    if not evidence.project:
        return [StyledSpan("no project is known: claims are not checked", "dim")]
    told = [it for verdicts in evidence.verdicts.values() for it in verdicts if it.is_checked]
    return [_checked(evidence, told), *(StyledSpan(f"; {it}", "dim") for it in evidence.remarks)]


def _checked(evidence: Evidence, told: Sequence[Verdict]) -> StyledSpan:
    held = sum(1 for it in told if it.outcome is CheckOutcome.HOLDS)
    claims = "1 claim" if len(told) == 1 else f"{len(told)} claims"
    project = clip(os.path.basename(evidence.project), 24)
    style = "fine" if held == len(told) else "dim"
    return StyledSpan(f"{claims} checked against {project}, {held} hold", style)


def _rows_of(findings: Iterable[Finding], *, with_file: bool) -> list[FreshnessRow]:
    return [
        FreshnessRow(finding=finding, with_file=with_file, first=first)
        for finding in findings
        for first in (True, False)
    ]


def _by_rule(look: Snapshot) -> list[FreshnessRow]:
    return [
        FreshnessRow(rule=rule, number=count, severity=severity, first=True)
        for (severity, rule), count in look.by_rule.items()
    ]


def _all_well(where: str, width: int) -> list[FreshnessRow]:
    text = [StyledSpan(f"✓ nothing is wrong {where}", "fine")]
    return [FreshnessRow(StyledLine(row)) for row in wrap(text, width)]


def _place(finding: Finding, with_file: bool) -> str:
    if not with_file:
        return f"line {finding.line}" if finding.line else ""
    name = stem(finding.path) or "the memory"
    return f"{name}:{finding.line}" if finding.line else name
