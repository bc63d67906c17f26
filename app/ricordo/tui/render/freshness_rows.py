"""The freshness pane: findings worst first, of the note or of the whole memory, or by rule."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from ricordo.health.evidence import Evidence, Outcome, Verdict
from ricordo.health.finding import Finding, Severity
from ricordo.memory.load import Load
from ricordo.memory.note import stem
from ricordo.notebook.open import Look
from ricordo.text import clip, one_line
from ricordo.tui.render.empty import NO_FINDINGS, paragraphs
from ricordo.tui.render.index_rows import GLYPHS
from ricordo.tui.render.line import BLANK, Line, Span, wrap
from ricordo.tui.render.retention_lines import retention_lines

_ELSEWHERE = 40
"""Findings of other notes that stand below those of the note."""


class Scope(StrEnum):
    """Which findings the pane shows."""

    NOTE = "note"
    MEMORY = "all"
    RULES = "rules"
    DISMISSED = "dismissed"


class FreshnessRow(NamedTuple):
    """One row of the pane; what it looks like is made when it is drawn."""

    line: Line | None = None
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
    if not look.judged:
        return [*rows, FreshnessRow(Line((Span("looking …", "dim"),)))]
    if rule:
        of_rule = (finding for finding in look.findings if finding.rule == rule)
        return rows + _rows_of(of_rule, with_file=True)
    if scope is Scope.RULES:
        return rows + _by_rule(look)
    if scope is Scope.NOTE:
        return rows + _of_note(look, path, width)
    if scope is Scope.MEMORY:
        rows += [FreshnessRow(Line(row)) for row in wrap(_checked_of_memory(look), width)]
    findings = look.dismissed if scope is Scope.DISMISSED else look.findings
    return rows + (_rows_of(findings, with_file=True) or _all_well("here", width))


def draw_freshness_row(row: FreshnessRow, width: int) -> Line:
    """Return one row in `width` cells."""
    if row.line is not None:
        return row.line
    if row.finding is None:
        glyph, style = GLYPHS[row.severity]
        name = Span(clip(row.rule, width - 8))
        return Line((Span(f"{glyph} ", style), Span(f"{row.number:>4}  ", "bold"), name))
    if not row.first:
        return Line((Span("  "), Span(clip(row.finding.message, width - 2))))
    glyph, style = GLYPHS[row.finding.severity]
    place = clip(_place(row.finding, row.with_file), max(6, width - len(row.finding.rule) - 4))
    return Line(
        (Span(f"{glyph} ", style), Span(row.finding.rule, style), Span(f"  {place}", "dim"))
    )


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
    lines = [_summary(look), *_load(look.memory.load, width), BLANK]
    tabs: list[Span] = []
    for each in scopes(look):
        style = "accent bold" if each is scope else "dim"
        tabs += [Span(f"{each.value} {_count(look, path, each)}", style), Span("  ")]
    return [*lines, *(Line(row) for row in wrap(tabs, width)), BLANK]


def _summary(look: Look) -> Line:
    if not look.judged:
        return Line((Span(f"{len(look.memory.notes)} notes", "bold"),))
    fine = len(look.memory.notes) - look.wanting
    return Line((Span(f"{look.wanting} want you", "bold"), Span(f"   {fine} fine", "dim")))


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
    match scope:
        case Scope.NOTE:
            return len(look.of_note(path))
        case Scope.MEMORY:
            return len(look.findings)
        case Scope.RULES:
            return len({rule for _, rule in look.by_rule})
        case Scope.DISMISSED:
            return len(look.dismissed)


def _of_note(look: Look, path: str, width: int) -> list[FreshnessRow]:
    own = look.by_path.get(path, ())
    shared = look.of_note(path)[len(own) :]
    retention = look.retention.get(path)
    if not look.memory.files:
        return [FreshnessRow(line) for line in paragraphs([(NO_FINDINGS, "dim")], width)]
    where = "with this note" if path in look.memory.by_path else "here"
    rows = _rows_of(own, with_file=False) + _rows_of(shared, with_file=True)
    rows = rows or _all_well(where, width)
    if checked := _checked_of_note(look, path):
        rows += [FreshnessRow(Line(row)) for row in wrap(checked, width)]
    if retention is not None:
        rows += [FreshnessRow(line) for line in (BLANK, *retention_lines(retention, width))]
    elsewhere = [it for it in look.findings[:_ELSEWHERE] if path not in (it.path, it.other)]
    if not elsewhere:
        return rows
    rows += [FreshnessRow(BLANK), FreshnessRow(Line((Span("elsewhere, worst first", "heading"),)))]
    rows += _rows_of(elsewhere, with_file=True)
    more = len(look.findings) - len(own) - len(shared) - len(elsewhere)
    if more > 0:
        rows.append(FreshnessRow(Line((Span(f"… {more} more: →", "dim"),))))
    return rows


def _checked_of_note(look: Look, path: str) -> list[Span]:
    """What came of checking the claims of the note at `path`; nothing where it makes none."""
    told = [it for it in look.evidence.verdicts.get(path, ()) if it.is_checked]
    return [_checked(look.evidence, told)] if told else []


def _checked_of_memory(look: Look) -> list[Span]:
    """What came of checking the claims of all notes, and what was left out."""
    evidence = look.evidence
    if not look.known:
        return [Span("claims are being checked …", "dim")]
    if not evidence.project:
        return [Span("no project is known: claims are not checked", "dim")]
    told = [it for verdicts in evidence.verdicts.values() for it in verdicts if it.is_checked]
    return [_checked(evidence, told), *(Span(f"; {it}", "dim") for it in evidence.remarks)]


def _checked(evidence: Evidence, told: Sequence[Verdict]) -> Span:
    held = sum(1 for it in told if it.outcome is Outcome.HOLDS)
    claims = "1 claim" if len(told) == 1 else f"{len(told)} claims"
    project = clip(os.path.basename(evidence.project), 24)
    style = "fine" if held == len(told) else "dim"
    return Span(f"{claims} checked against {project}, {held} hold", style)


def _rows_of(findings: Iterable[Finding], *, with_file: bool) -> list[FreshnessRow]:
    return [
        FreshnessRow(finding=finding, with_file=with_file, first=first)
        for finding in findings
        for first in (True, False)
    ]


def _by_rule(look: Look) -> list[FreshnessRow]:
    return [
        FreshnessRow(rule=rule, number=count, severity=severity, first=True)
        for (severity, rule), count in look.by_rule.items()
    ]


def _all_well(where: str, width: int) -> list[FreshnessRow]:
    text = [Span(f"✓ nothing is wrong {where}", "fine")]
    return [FreshnessRow(Line(row)) for row in wrap(text, width)]


def _place(finding: Finding, with_file: bool) -> str:
    if not with_file:
        return f"line {finding.line}" if finding.line else ""
    name = stem(finding.path) or "the memory"
    return f"{name}:{finding.line}" if finding.line else name
