"""The freshness pane as rows: findings worst first, of a note or of the memory, or by rule."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from ricordo.lint.evidence import CheckOutcome, Evidence, Verdict
from ricordo.lint.finding import Finding, Severity
from ricordo.lint.retention import Retention
from ricordo.memory.index import Load
from ricordo.memory.note import get_stem
from ricordo.services.workspace.notebook import Snapshot
from ricordo.text import clip, count_cells, make_one_line
from ricordo.tui.render.empty import NO_FINDINGS, render_paragraphs
from ricordo.tui.render.index_rows import GLYPHS
from ricordo.tui.render.line import BLANK, StyledLine, StyledSpan, fit, wrap

_BARS = "▁▂▃▄▅▆▇█"
_POINTS = 7
"""Points of the curve."""
_LEAST = 0.5
"""The retention at the lowest bar: it falls steeply at first, and hardly at all below one half."""
_INDENT = (StyledSpan("  "),)


def render_curve(retention: Retention) -> str:
    """Return the retention as bars, from the day the note was written or confirmed until today."""
    days = max(0, (retention.today - retention.since).days)
    shares = (retention.share_after(round(days * n / (_POINTS - 1))) for n in range(_POINTS))
    return "".join(_bar_of(share) for share in shares)


def render_retention_line(retention: Retention) -> StyledLine:
    """Return the curve and the value of the retention in one row."""
    style = "warning" if retention.is_stale else ""
    figure = StyledSpan(f" {retention.share:.2f}", f"{style} bold".strip())
    return StyledLine(
        (
            StyledSpan("retention ", "dim"),
            StyledSpan(render_curve(retention), style or "accent"),
            figure,
        )
    )


def render_retention(retention: Retention, width: int) -> list[StyledLine]:
    """Return the curve, the value and the reasons in `width` cells."""
    texts = [*retention.reasons, _describe_forecast(retention)]
    rows = (
        row
        for text in texts
        if text
        for row in wrap([StyledSpan(text, "dim")], width, *[_INDENT] * 2)
    )
    return [render_retention_line(retention), *map(StyledLine, rows)]


def _describe_forecast(retention: Retention) -> str:
    if retention.events.is_wrong:
        return ""
    verb = "stale since" if retention.is_stale else "stale on"
    return f"{verb} {retention.stale_on:%-d %b %Y}"


def _bar_of(share: float) -> str:
    height = (share - _LEAST) / (1 - _LEAST) * (len(_BARS) - 1)
    return _BARS[min(max(round(height), 0), len(_BARS) - 1)]


_MORE = "curate can have a model check what they say"
"""What is said where no finding needs attention."""
_MOST_OTHERS = 40
"""Most findings of other notes that are listed below those of the note."""


class FindingScope(StrEnum):
    """Which findings the pane shows."""

    NOTE = "note"
    MEMORY = "all"
    RULES = "rules"
    DISMISSED = "dismissed"


class FreshnessRow(NamedTuple):
    """One row of the pane; its line is made when it is drawn."""

    line: StyledLine | None = None
    """The line of a fixed row; None for a finding or rule."""
    finding: Finding | None = None
    with_file: bool = True
    """Whether the finding is shown with its file."""
    rule: str = ""
    """The rule whose findings the row counts."""
    finding_count: int = 0
    """The number of findings of that rule."""
    is_one: bool = False
    """Whether they are counted as one."""
    severity: Severity = Severity.INFO
    is_first: bool = False
    """Whether it is the first row of its finding or rule: the cursor stops there."""


def list_scopes(snapshot: Snapshot) -> tuple[FindingScope, ...]:
    """Return the scopes to choose from: dismissed findings only if there are some."""
    always = (FindingScope.NOTE, FindingScope.MEMORY, FindingScope.RULES)
    return (*always, FindingScope.DISMISSED) if snapshot.dismissed else always


def build_freshness_rows(
    snapshot: Snapshot, path: str, scope: FindingScope, rule: str, width: int
) -> list[FreshnessRow]:
    """Return the rows of the pane at `width` cells.

    `path` is the note under the cursor of the index; `rule` narrows the findings to one rule.
    """
    rows = [FreshnessRow(line) for line in _render_head(snapshot, path, scope, width)]
    if not snapshot.is_judged:
        return [*rows, FreshnessRow(StyledLine((StyledSpan("checking …", "dim"),)))]
    if rule:
        of_rule = (finding for finding in snapshot.findings if finding.rule == rule)
        return rows + _finding_rows(of_rule, with_file=True)
    if scope is FindingScope.RULES:
        return rows + _rows_by_rule(snapshot)
    if scope is FindingScope.NOTE:
        return rows + _note_rows(snapshot, path, width)
    if scope is FindingScope.MEMORY:
        rows += [FreshnessRow(StyledLine(row)) for row in wrap(_check_memory(snapshot), width)]
    is_dismissed = scope is FindingScope.DISMISSED
    findings = snapshot.dismissed_causes if is_dismissed else snapshot.causes
    return rows + (_finding_rows(findings, with_file=True) or _render_clean("here", width))


def draw_freshness_row(row: FreshnessRow, width: int) -> StyledLine:
    """Return one row in `width` cells."""
    if row.line is not None:
        return row.line
    if row.finding is None:
        glyph, style = GLYPHS[row.severity]
        count = StyledSpan(f"{row.finding_count:>4}  ", "bold")
        as_one = "  as one" if row.is_one else ""
        name = StyledSpan(clip(row.rule, width - 8 - len(as_one)))
        return StyledLine((StyledSpan(f"{glyph} ", style), count, name, StyledSpan(as_one, "dim")))
    if not row.is_first:
        return StyledLine((StyledSpan("  "), StyledSpan(clip(row.finding.message, width - 2))))
    glyph, style = GLYPHS[row.finding.severity]
    room = max(6, width - len(row.finding.rule) - 4)
    place = clip(_format_place(row.finding, row.with_file), room)
    return StyledLine(
        (
            StyledSpan(f"{glyph} ", style),
            StyledSpan(row.finding.rule, style),
            StyledSpan(f"  {place}", "dim"),
        )
    )


def render_finding(
    finding: Finding, width: int, height: int, keys: Sequence[StyledSpan] = ()
) -> list[StyledLine]:
    """Return message and evidence of a finding, at most `height` lines, the last of which shows
    that there are more, and the `keys` that settle it where they fit.
    """
    glyph, style = GLYPHS[finding.severity]
    title = f"{glyph} {finding.severity.word}  {finding.rule}"
    room = width - sum(count_cells(span.text) for span in keys)
    if count_cells(title) >= room:
        title = f"{glyph} {finding.rule}"
    shown = tuple(keys) if count_cells(title) < room else ()
    gap = " " * (room - count_cells(title)) if shown else ""
    head = StyledSpan(clip(title, width), f"{style} bold")
    lines = [StyledLine((head, StyledSpan(gap), *shown))]
    lines += [StyledLine(row) for row in wrap([StyledSpan(make_one_line(finding.message))], width)]
    for text in finding.evidence:
        quoted = [StyledSpan(make_one_line(text[:1_000]), "dim")]
        lines += [
            StyledLine(row) for row in wrap(quoted, width, (StyledSpan("  "),), (StyledSpan("  "),))
        ]
    if len(lines) > height > 0:
        last = lines[height - 1].spans
        shown = fit(last, width - 2)
        lines[height - 1] = StyledLine((*last, StyledSpan(" …", "dim")) if shown == last else shown)
    return lines[:height]


def render_meter(share: float, width: int) -> StyledSpan:
    """Return a bar of `width` cells for `share`, 1 being the limit, coloured by its nearness."""
    filled = min(width, round(share * width))
    style = "error" if share > 1 else "warning" if share > 0.75 else "accent"
    return StyledSpan("▰" * filled + "▱" * (width - filled), style)


def _render_head(
    snapshot: Snapshot, path: str, scope: FindingScope, width: int
) -> list[StyledLine]:
    lines = [*_render_summary(snapshot, width), *_render_load(snapshot.memory.load, width), BLANK]
    tabs: list[StyledSpan] = []
    for each in list_scopes(snapshot):
        style = "accent bold" if each is scope else "dim"
        count = _count_findings(snapshot, path, each)
        tabs += [StyledSpan(f"{each.value} {count}", style), StyledSpan("  ")]
    return [*lines, *(StyledLine(row) for row in wrap(tabs, width)), BLANK]


def _render_summary(snapshot: Snapshot, width: int) -> list[StyledLine]:
    """Return the number of findings and that of notes, below each other where they are too wide."""
    notes = f"{len(snapshot.memory.notes):,} notes"
    if not snapshot.is_judged:
        return [StyledLine((StyledSpan(notes, "bold"),))]
    number = snapshot.needs_attention
    attention = "1 finding needs" if number == 1 else f"{number:,} findings need"
    findings = StyledSpan(f"{attention} attention", "bold" if number else "fine")
    in_order = StyledSpan(f"{snapshot.notes_in_order:,}/{notes} OK", "dim")
    if count_cells(findings.text) + 2 + count_cells(in_order.text) > width:
        lines = [StyledLine((findings,)), StyledLine((in_order,))]
    else:
        lines = [StyledLine((findings, StyledSpan("  "), in_order))]
    # silence of the rules is no proof that the notes are right
    if snapshot.has_evidence and not number and snapshot.memory.notes:
        lines += [StyledLine(row) for row in wrap([StyledSpan(_MORE, "dim")], width)]
    return lines


def _render_load(load: Load, width: int) -> list[StyledLine]:
    limits = load.limits
    if limits is None:
        return [StyledLine((StyledSpan(f"{load.lines} lines in the index", "dim"),))]
    bar = max(6, min(12, width - 22))
    shares = (
        (load.lines / limits.lines, f" {load.lines}/{limits.lines} lines"),
        (load.units / limits.units, f" {load.units / 1000:.1f}/{limits.units / 1000:.1f} k units"),
    )
    return [
        StyledLine((render_meter(share, bar), StyledSpan(text, "dim"))) for share, text in shares
    ]


def _count_findings(snapshot: Snapshot, path: str, scope: FindingScope) -> int:
    match scope:
        case FindingScope.NOTE:
            return len(snapshot.findings_of(path))
        case FindingScope.MEMORY:
            return len(snapshot.causes)
        case FindingScope.RULES:
            return len({of_rule[0].rule for of_rule in snapshot.causes_by_rule})
        case FindingScope.DISMISSED:
            return len(snapshot.dismissed_causes)


def _note_rows(snapshot: Snapshot, path: str, width: int) -> list[FreshnessRow]:
    of_note = snapshot.by_path.get(path, ())
    shared = snapshot.findings_of(path)[len(of_note) :]
    retention = snapshot.retention.get(path)
    if not snapshot.memory.files:
        return [FreshnessRow(line) for line in render_paragraphs([(NO_FINDINGS, "dim")], width)]
    where = "in this note" if path in snapshot.memory.by_path else "here"
    rows = _finding_rows(of_note, with_file=False) + _finding_rows(shared, with_file=True)
    rows = rows or _render_clean(where, width)
    if checked := _check_note(snapshot, path):
        rows += [FreshnessRow(StyledLine(row)) for row in wrap(checked, width)]
    if retention is not None:
        rows += [FreshnessRow(line) for line in (BLANK, *render_retention(retention, width))]
    others = [each for each in snapshot.causes[:_MOST_OTHERS] if not each.is_only_of(path)]
    if not others:
        return rows
    rows += [
        FreshnessRow(BLANK),
        FreshnessRow(StyledLine((StyledSpan("other notes, worst first", "heading"),))),
    ]
    rows += _finding_rows(others, with_file=True)
    here = sum(1 for it in snapshot.causes if it.is_only_of(path))
    more = len(snapshot.causes) - here - len(others)
    if more > 0:
        rows.append(FreshnessRow(StyledLine((StyledSpan(f"… {more} more: →", "dim"),))))
    return rows


def _check_note(snapshot: Snapshot, path: str) -> list[StyledSpan]:
    """Return the results of the claim checks of the note at `path`; [] if it has none."""
    verdicts = [each for each in snapshot.evidence.verdicts.get(path, ()) if each.is_checked]
    return [_render_checks(snapshot.evidence, verdicts)] if verdicts else []


def _check_memory(snapshot: Snapshot) -> list[StyledSpan]:
    """Return the results of the claim checks of all notes, and what was not checked."""
    evidence = snapshot.evidence
    if not snapshot.has_evidence:
        return [StyledSpan("checking claims …", "dim")]
    if not evidence.project:
        return [StyledSpan("no project found: claims are not checked", "dim")]
    every = (verdict for verdicts in evidence.verdicts.values() for verdict in verdicts)
    checked = [verdict for verdict in every if verdict.is_checked]
    notices = (StyledSpan(f"; {remark}", "dim") for remark in evidence.warnings)
    return [_render_checks(evidence, checked), *notices]


def _render_checks(evidence: Evidence, verdicts: Sequence[Verdict]) -> StyledSpan:
    project = clip(os.path.basename(evidence.project), 24)
    if not verdicts:
        return StyledSpan(f"no claim to check in {project}", "dim")
    valid = sum(1 for verdict in verdicts if verdict.outcome is CheckOutcome.VALID)
    claims = "1 claim" if len(verdicts) == 1 else f"{len(verdicts)} claims"
    style = "fine" if valid == len(verdicts) else "dim"
    return StyledSpan(f"{claims} checked in {project}, {valid} OK", style)


def _finding_rows(findings: Iterable[Finding], *, with_file: bool) -> list[FreshnessRow]:
    return [
        FreshnessRow(finding=finding, with_file=with_file, is_first=first)
        for finding in findings
        for first in (True, False)
    ]


def _rows_by_rule(snapshot: Snapshot) -> list[FreshnessRow]:
    return [
        FreshnessRow(
            rule=of_rule[0].rule,
            finding_count=len(of_rule[0].each) if len(of_rule) == 1 else len(of_rule),
            is_one=len(of_rule) == 1 and bool(of_rule[0].members),
            severity=of_rule[0].severity,
            is_first=True,
        )
        for of_rule in snapshot.causes_by_rule
    ]


def _render_clean(where: str, width: int) -> list[FreshnessRow]:
    text = [StyledSpan(f"✓ no findings {where}", "fine")]
    return [FreshnessRow(StyledLine(row)) for row in wrap(text, width)]


def _format_place(finding: Finding, with_file: bool) -> str:
    if not with_file:
        return f"line {finding.line}" if finding.line else ""
    if finding.members:
        return f"{len(finding.members):,} as one"
    name = get_stem(finding.path) or "the memory"
    return f"{name}:{finding.line}" if finding.line else name
