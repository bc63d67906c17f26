"""The sessions that can be handed off, and earlier handoffs, as lines."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ricordo.agents.transcripts.session import Session
from ricordo.handoff.changes import FileChange, ProjectChanges
from ricordo.handoff.document import ANY_AGENT, ProofStatus, describe_statuses
from ricordo.handoff.resume import RecheckedStatement
from ricordo.services.handoff.resume import ResumeReport
from ricordo.services.sessions.activity_text import format_day, parse_local_time
from ricordo.text import clip, clip_start, make_one_line
from ricordo.tui.handoff.draft import DraftOptions, EarlierHandoff, FinishedHandoff, HandoffStatus
from ricordo.tui.handoff.rows import render_counts
from ricordo.tui.render.handoff_marks import GLYPHS
from ricordo.tui.render.line import (
    BLANK,
    StyledLine,
    StyledSpan,
    align_right,
    fit,
    span_text,
    wrap,
)

NO_SESSION = (
    ("No sessions found for this memory", "heading"),
    (
        "Sessions of Claude Code, Codex and opencode in this project appear here, latest first. "
        "A handoff sums one up for the next agent: what you asked for, what was done, decided "
        "and failed, and what comes next, each line with its proof.",
        "",
    ),
)
_MOST_COMMITS = 8
_MOST_FILES = 12
_WORSE = {
    ProofStatus.STALE: "outdated",
    ProofStatus.UNVERIFIED: "no longer provable",
}
_WORSE_GROUP = "No longer valid"
_GROUPS = {
    ProofStatus.VERIFIED: "Still valid",
    ProofStatus.REPORTED: "Still valid",
    ProofStatus.QUOTED: "Quoted, not checked in the project",
    ProofStatus.STALE: "Not valid when it was written",
    ProofStatus.UNVERIFIED: "Not valid when it was written",
}
"""The heading for statements whose mark is as it was, by that mark."""

StyledText = tuple[str, str]


def render_session_row(
    session: Session, width: int, *, in_one: bool, is_marked: bool, is_latest: bool
) -> tuple[StyledLine, ...]:
    """Return a session as a row of the list, in one or two lines."""
    mark = StyledSpan(" ◆ " if is_marked else "   ", "accent")
    name = StyledSpan(make_one_line(session.shown), "bold")
    latest = "latest · " if is_latest else ""
    about = f"{latest}{session.agent.shown} · {_describe_time(session)} "
    if in_one:
        return (align_right((mark, name), (StyledSpan(f"  {about}", "dim"),), width),)
    return StyledLine(fit((mark, name), width)), StyledLine(
        fit((StyledSpan(f"   {about}", "dim"),), width)
    )


def render_earlier_row(
    earlier: EarlierHandoff, status: HandoffStatus | None, width: int, *, in_one: bool
) -> tuple[StyledLine, ...]:
    """Return an earlier handoff as a row of the list, in one or two lines; `status` is None while
    it is being checked.
    """
    (words, style), written = describe_status(status), _describe_written(status)
    name = (StyledSpan(" → "), StyledSpan(clip_start(earlier.name, max(20, width // 2)), "bold"))
    right = (StyledSpan(f" {words} ", style),)
    if in_one:
        return (align_right((*name, StyledSpan(f"  {written}", "dim")), right, width),)
    written = f" · {written}" if written else ""
    second = (StyledSpan("   "), StyledSpan(words, style), StyledSpan(written, "dim"))
    return StyledLine(fit(name, width)), StyledLine(fit(second, width))


def describe_status(status: HandoffStatus | None) -> StyledText:
    """Return how much of a handoff is still valid, in a few words, with their style."""
    if status is None:
        return "○ checking", "dim"
    resumed = status.resumed
    if resumed is None:
        return "⊘ not a handoff", "dim"
    invalid = sum(not statement.is_valid for statement in resumed.statements)
    if invalid:
        return f"✗ {invalid} of {len(resumed.statements)} no longer valid", "error"
    counts = describe_statuses(statement.status_now for statement in resumed.statements)
    if resumed.has_expired:
        return f"! expired, {counts}", "warning"
    return (f"! edited, {counts}", "warning") if resumed.is_edited else (f"✓ {counts}", "success")


def _describe_written(status: HandoffStatus | None) -> str:
    if status is None or status.resumed is None:
        return ""
    head = status.resumed.handoff.header
    return f"for {head.target.shown}, {format_day(head.written.isoformat())}"


def _describe_time(session: Session) -> str:
    began, ended = parse_local_time(session.started), parse_local_time(session.ended)
    if ended is None:
        return "at an unknown time"
    if began is None or began.date() != ended.date():
        return f"{ended:%-d %b %Y %H:%M}"
    return f"{began:%-d %b %Y %H:%M}–{ended:%H:%M}"


# One of them in full


def render_session(session: Session, width: int) -> list[StyledLine]:
    """Return the metadata of a session."""
    facts = [
        ("agent", session.agent.shown),
        ("title", session.title),
        ("when", _describe_time(session)),
        ("in", session.cwd),
        ("branch", session.branch),
        ("session", session.id),
        ("file", session.path),
    ]
    lines = [line for name, text in facts if text for line in _render_labelled(name, text, width)]
    hint = "Enter reads the session and drafts a handoff. Drafting writes nothing."
    return [*lines, BLANK, *_wrap(hint, "dim", width)]


def render_earlier(
    earlier: EarlierHandoff, status: HandoffStatus | None, width: int
) -> list[StyledLine]:
    """Return what of a handoff is still valid, and what changed in the project since."""
    words, style = describe_status(status)
    lines = [*_render_labelled("file", earlier.path, width), *_wrap(words, style, width)]
    if status is None:
        return lines
    lines += _wrap(status.error, "warning", width) if status.error else []
    if status.resumption is not None:
        lines += _render_resumed(status.resumption, width)
    return lines


def _render_resumed(resumption: ResumeReport, width: int) -> list[StyledLine]:
    resumed = resumption.rechecked
    head = resumed.handoff.header
    lines = _render_labelled(
        "written", f"{head.written:%-d %b %Y %H:%M} for {head.target.shown}", width
    )
    valid = "expired" if resumed.has_expired else f"valid until {head.expires:%-d %b %Y}"
    lines += _wrap(valid, "warning" if resumed.has_expired else "dim", width)
    for remark in resumption.warnings:
        lines += _wrap(remark, "warning", width)
    lines += _render_changes(resumed.changes, width)
    groups: dict[str, list[RecheckedStatement]] = {}
    for checked in resumed.statements:
        title = _GROUPS[checked.status_then] if checked.is_valid else _WORSE_GROUP
        groups.setdefault(title, []).append(checked)
    for title in dict.fromkeys((_WORSE_GROUP, *_GROUPS.values())):
        if checked_group := groups.get(title):
            heading = StyledSpan(f"{title} · {len(checked_group)}", "heading")
            lines += [BLANK, StyledLine((heading,))]
            lines += [line for each in checked_group for line in _render_checked(each, width)]
    return lines


def _render_checked(checked: RecheckedStatement, width: int) -> list[StyledLine]:
    glyph, style = GLYPHS[checked.status_then if checked.is_valid else checked.status_now]
    words = [StyledSpan(span_text(checked.statement.text), "dim" if checked.is_valid else "")]
    if not checked.is_valid:
        words.append(
            StyledSpan(
                f"  was {checked.status_then.value}, "
                + _WORSE.get(checked.status_now, checked.status_now.value),
                style,
            )
        )
        words.append(
            StyledSpan(f": {make_one_line(checked.reason)}" if checked.reason else "", "dim")
        )
    rows = wrap(words, width - 1, (StyledSpan(f"{glyph} ", style),), (StyledSpan("  "),))
    return [StyledLine(row) for row in rows]


def _render_changes(changed: ProjectChanges, width: int) -> list[StyledLine]:
    lines: list[StyledLine] = []
    if changed.commits:
        count = len(changed.commits)
        title = f"{count} commit since" if count == 1 else f"{count} commits since"
        lines += [BLANK, StyledLine((StyledSpan(title, "heading"),))]
        for commit in changed.commits[:_MOST_COMMITS]:
            spans = (
                StyledSpan(f"{commit.id[:12]} ", "dim"),
                StyledSpan(make_one_line(commit.subject)),
            )
            lines.append(StyledLine(fit(spans, width)))
    for title, files in (("Files", changed.files), ("Notes", changed.notes)):
        if files:
            heading = f"{title} changed since · {len(files)}"
            lines += [BLANK, StyledLine((StyledSpan(heading, "heading"),))]
            lines += [
                StyledLine(fit(_render_change(change), width)) for change in files[:_MOST_FILES]
            ]
    return lines


def _render_change(change: FileChange) -> tuple[StyledSpan, ...]:
    to = f" → {make_one_line(change.new_path)}" if change.new_path else ""
    return (
        StyledSpan(f"{change.kind.value:<8} ", "changed"),
        StyledSpan(f"{make_one_line(change.path)}{to}"),
    )


def format_sessions(sessions: Sequence[Session]) -> str:
    """Return the sessions of a handoff in words, visible text."""
    last = max(sessions, key=lambda session: session.ended)
    more = f" and {len(sessions) - 1} more" if len(sessions) > 1 else ""
    return f"“{clip(last.shown, 40)}” · {last.agent.shown} · {_describe_time(last)}{more}"


def _render_labelled(name: str, text: str, width: int) -> list[StyledLine]:
    first = (StyledSpan(f"{name:<9}", "dim"),)
    return [
        StyledLine(row)
        for row in wrap([StyledSpan(span_text(text))], width - 1, first, (StyledSpan(" " * 9),))
    ]


def _wrap(text: str, style: str, width: int) -> list[StyledLine]:
    return [StyledLine(row) for row in wrap([StyledSpan(make_one_line(text), style)], width - 1)]


Spans = tuple[StyledSpan, ...]

_METER = 12
"""Cells of the meter."""
_NAME = 40
"""Cells of a name."""


def render_title(
    sessions: Sequence[Session], options: DraftOptions, finished: FinishedHandoff | None
) -> tuple[Spans, Spans, Spans]:
    """Return the sessions of a handoff; then its target and engine, in full and briefly."""
    left = (
        StyledSpan(" Handoff ", "accent bold"),
        StyledSpan(f" {format_sessions(sessions)}", "bold"),
    )
    how = (StyledSpan(" for ", "dim"), StyledSpan(options.target.shown, "bold"))
    engine = (
        StyledSpan(f" · {clip(finished.handoff.header.engine, 40) if finished else '…'} ", "dim"),
    )
    return left, (*how, *engine), (*how, StyledSpan(" "))


def render_budget(finished: FinishedHandoff | None, budget: int) -> tuple[Spans, ...]:
    """Return the used part of the budget; then the number of statements by mark, with words and
    without.
    """
    if finished is None:
        return ((StyledSpan(f" {'▱' * _METER} {budget:,} tokens", "dim"),), ())
    head, statements = finished.handoff.header, finished.handoff.statements
    budget = head.budget
    filled = min(_METER, round(finished.output.tokens / budget * _METER)) if budget else _METER
    style = "accent" if finished.output.tokens <= budget else "error"
    bar = StyledSpan(f" {'▰' * filled}{'▱' * (_METER - filled)} ", style)
    left = [bar, StyledSpan(f"{finished.output.tokens:,} of {budget:,} tokens")]
    if head.redactions:
        word = "secret" if head.redactions == 1 else "secrets"
        left.append(StyledSpan(f" · {head.redactions} {word} redacted", "warning"))
    if finished.handoff.left_out:
        left.append(StyledSpan(f" · {finished.handoff.left_out} over budget", "warning"))
    return (
        tuple(left),
        render_counts(statements, in_words=True),
        render_counts(statements, in_words=False),
    )


def render_path(finished: FinishedHandoff | None, written: str) -> Spans:
    """Return the path of the handoff, and whether it was `written` there."""
    if written:
        done_span = StyledSpan(f" ✓ written: {_name_file(written)}", "success")
        return (done_span, StyledSpan(" · u undoes it", "dim"))
    if finished is None:
        return (StyledSpan(" drafting writes nothing", "dim"),)
    remark = (
        (StyledSpan(f" ! {make_one_line(finished.warning)}", "warning"),)
        if finished.warning
        else ()
    )
    path = StyledSpan(f" → {_name_file(finished.path)}")
    return (path, StyledSpan(" · nothing is written until ctrl+s", "dim"), *remark)


def _name_file(path: str) -> str:
    """Return the name of a file and of its folder, in words."""
    folder, name = os.path.split(path)
    return f"{clip(name, _NAME)} in {clip(os.path.basename(folder) or folder, _NAME)}"


def render_start_line(finished: FinishedHandoff | None) -> Spans:
    """Return the line to paste that starts the next agent with the handoff."""
    if finished is None:
        return ()
    target = finished.handoff.header.target
    label = "then tell any agent" if target == ANY_AGENT else f"then start {target.shown} with"
    return (
        StyledSpan(f" {label}  ", "dim"),
        StyledSpan(make_one_line(finished.start_line), "code"),
    )
