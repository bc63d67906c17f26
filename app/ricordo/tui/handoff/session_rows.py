"""The sessions that can be handed off, and earlier handoffs, as lines."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ricordo.agents.transcripts.session import Session
from ricordo.handoff.document import ANY_AGENT, Status
from ricordo.handoff.resume import RecheckedStatement
from ricordo.handoff.since import FileChange, ProjectChanges
from ricordo.services.handoff.resume import Resumption
from ricordo.services.sessions.activity_text import day_in_words, local_time
from ricordo.text import clip, clip_start, one_line
from ricordo.tui.handoff.rows import counts
from ricordo.tui.handoff.values import Ask, Earlier, HandoffStatus, Made
from ricordo.tui.render.handoff_marks import GLYPHS
from ricordo.tui.render.line import BLANK, StyledLine, StyledSpan, fit, shown, with_right, wrap

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
    Status.STALE: "outdated",
    Status.UNVERIFIED: "no longer provable",
}

Text = tuple[str, str]


def session_rows(
    session: Session, width: int, *, in_one: bool, is_marked: bool, is_latest: bool
) -> tuple[StyledLine, ...]:
    """Return a session as a row of the list, in one or two lines."""
    mark = StyledSpan(" ◆ " if is_marked else "   ", "accent")
    name = StyledSpan(one_line(session.shown), "bold")
    latest = "latest · " if is_latest else ""
    about = f"{latest}{session.agent.shown} · {_describe_time(session)} "
    if in_one:
        return (with_right((mark, name), (StyledSpan(f"  {about}", "dim"),), width),)
    return StyledLine(fit((mark, name), width)), StyledLine(
        fit((StyledSpan(f"   {about}", "dim"),), width)
    )


def earlier_rows(
    earlier: Earlier, status: HandoffStatus | None, width: int, *, in_one: bool
) -> tuple[StyledLine, ...]:
    """Return an earlier handoff as a row of the list, in one or two lines; `status` is None while
    it is being checked.
    """
    (words, style), written = standing_words(status), _describe_written(status)
    name = (StyledSpan(" → "), StyledSpan(clip_start(earlier.name, max(20, width // 2)), "bold"))
    right = (StyledSpan(f" {words} ", style),)
    if in_one:
        return (with_right((*name, StyledSpan(f"  {written}", "dim")), right, width),)
    written = f" · {written}" if written else ""
    second = (StyledSpan("   "), StyledSpan(words, style), StyledSpan(written, "dim"))
    return StyledLine(fit(name, width)), StyledLine(fit(second, width))


def standing_words(status: HandoffStatus | None) -> Text:
    """Return how much of a handoff is still valid, in a few words, with their style."""
    if status is None:
        return "○ checking", "dim"
    resumed = status.resumed
    if resumed is None:
        return "⊘ not a handoff", "dim"
    invalid = sum(not statement.holds for statement in resumed.statements)
    if invalid:
        return f"✗ {invalid} of {len(resumed.statements)} no longer valid", "error"
    if resumed.has_expired:
        return "! all valid, but expired", "warning"
    return "✓ all valid", "success"


def _describe_written(status: HandoffStatus | None) -> str:
    if status is None or status.resumed is None:
        return ""
    head = status.resumed.handoff.head
    return f"for {head.target.shown}, {day_in_words(head.written.isoformat())}"


def _describe_time(session: Session) -> str:
    began, ended = local_time(session.started), local_time(session.ended)
    if ended is None:
        return "at an unknown time"
    if began is None or began.date() != ended.date():
        return f"{ended:%-d %b %Y %H:%M}"
    return f"{began:%-d %b %Y %H:%M}–{ended:%H:%M}"


# One of them in full


def session_lines(session: Session, width: int) -> list[StyledLine]:
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


def standing_lines(earlier: Earlier, status: HandoffStatus | None, width: int) -> list[StyledLine]:
    """Return what of a handoff is still valid, and what changed in the project since."""
    words, style = standing_words(status)
    lines = [*_render_labelled("file", earlier.path, width), *_wrap(words, style, width)]
    if status is None:
        return lines
    lines += _wrap(status.why, "warning", width) if status.why else []
    if status.found is not None:
        lines += _render_resumed(status.found, width)
    return lines


def _render_resumed(resumption: Resumption, width: int) -> list[StyledLine]:
    resumed = resumption.resumed
    head = resumed.handoff.head
    lines = _render_labelled(
        "written", f"{head.written:%-d %b %Y %H:%M} for {head.target.shown}", width
    )
    valid = "expired" if resumed.has_expired else f"valid until {head.expires:%-d %b %Y}"
    lines += _wrap(valid, "warning" if resumed.has_expired else "dim", width)
    for remark in resumption.remarks:
        lines += _wrap(remark, "warning", width)
    lines += _render_changes(resumed.changed, width)
    groups = {
        "No longer valid": [statement for statement in resumed.statements if not statement.holds],
        "Still valid": [statement for statement in resumed.statements if statement.holds],
    }
    for title, checked in groups.items():
        lines += (
            [BLANK, StyledLine((StyledSpan(f"{title} · {len(checked)}", "heading"),))]
            if checked
            else []
        )
        lines += [line for statement in checked for line in _render_checked(statement, width)]
    return lines


def _render_checked(checked: RecheckedStatement, width: int) -> list[StyledLine]:
    glyph, style = GLYPHS[checked.was if checked.holds else checked.now]
    words = [StyledSpan(shown(checked.statement.text), "dim" if checked.holds else "")]
    if not checked.holds:
        words.append(
            StyledSpan(
                f"  was {checked.was.value}, {_WORSE.get(checked.now, checked.now.value)}", style
            )
        )
        words.append(StyledSpan(f": {one_line(checked.why)}" if checked.why else "", "dim"))
    rows = wrap(words, width - 1, (StyledSpan(f"{glyph} ", style),), (StyledSpan("  "),))
    return [StyledLine(row) for row in rows]


def _render_changes(changed: ProjectChanges, width: int) -> list[StyledLine]:
    lines: list[StyledLine] = []
    if changed.commits:
        count = len(changed.commits)
        title = f"{count} commit since" if count == 1 else f"{count} commits since"
        lines += [BLANK, StyledLine((StyledSpan(title, "heading"),))]
        for commit in changed.commits[:_MOST_COMMITS]:
            spans = (StyledSpan(f"{commit.id[:12]} ", "dim"), StyledSpan(one_line(commit.subject)))
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
    to = f" → {one_line(change.to)}" if change.to else ""
    return (
        StyledSpan(f"{change.kind.value:<8} ", "changed"),
        StyledSpan(f"{one_line(change.path)}{to}"),
    )


def title_of(sessions: Sequence[Session]) -> str:
    """Return the sessions of a handoff in words, visible text."""
    last = max(sessions, key=lambda session: session.ended)
    more = f" and {len(sessions) - 1} more" if len(sessions) > 1 else ""
    return f"“{clip(last.shown, 40)}” · {last.agent.shown} · {_describe_time(last)}{more}"


def _render_labelled(name: str, text: str, width: int) -> list[StyledLine]:
    first = (StyledSpan(f"{name:<9}", "dim"),)
    return [
        StyledLine(row)
        for row in wrap([StyledSpan(shown(text))], width - 1, first, (StyledSpan(" " * 9),))
    ]


def _wrap(text: str, style: str, width: int) -> list[StyledLine]:
    return [StyledLine(row) for row in wrap([StyledSpan(one_line(text), style)], width - 1)]


Spans = tuple[StyledSpan, ...]

_METER = 12
"""Cells of the meter."""
_NAME = 40
"""Cells of a name."""


def title_spans(
    sessions: Sequence[Session], ask: Ask, made: Made | None
) -> tuple[Spans, Spans, Spans]:
    """Return the sessions of a handoff; then its target and engine, in full and briefly."""
    left = (StyledSpan(" Handoff ", "accent bold"), StyledSpan(f" {title_of(sessions)}", "bold"))
    how = (StyledSpan(" for ", "dim"), StyledSpan(ask.target.shown, "bold"))
    engine = (StyledSpan(f" · {clip(made.handoff.head.engine, 40) if made else '…'} ", "dim"),)
    return left, (*how, *engine), (*how, StyledSpan(" "))


def meter_spans(made: Made | None, budget: int) -> tuple[Spans, ...]:
    """Return the used part of the budget; then the number of statements by mark, with words and
    without.
    """
    if made is None:
        return ((StyledSpan(f" {'▱' * _METER} {budget:,} tokens", "dim"),), ())
    head, statements = made.handoff.head, made.handoff.statements
    budget = head.budget
    filled = min(_METER, round(made.done.tokens / budget * _METER)) if budget else _METER
    style = "accent" if made.done.tokens <= budget else "error"
    bar = StyledSpan(f" {'▰' * filled}{'▱' * (_METER - filled)} ", style)
    left = [bar, StyledSpan(f"{made.done.tokens:,} of {budget:,} tokens")]
    if head.redactions:
        word = "secret" if head.redactions == 1 else "secrets"
        left.append(StyledSpan(f" · {head.redactions} {word} redacted", "warning"))
    if made.handoff.left_out:
        left.append(StyledSpan(f" · {made.handoff.left_out} over budget", "warning"))
    return (
        tuple(left),
        counts(statements, in_words=True),
        counts(statements, in_words=False),
    )


def where_spans(made: Made | None, written: str) -> Spans:
    """Return the path of the handoff, and whether it was `written` there."""
    if written:
        done_span = StyledSpan(f" ✓ written: {_name_file(written)}", "success")
        return (done_span, StyledSpan(" · u undoes it", "dim"))
    if made is None:
        return (StyledSpan(" drafting writes nothing", "dim"),)
    remark = (StyledSpan(f" ! {one_line(made.remark)}", "warning"),) if made.remark else ()
    path = StyledSpan(f" → {_name_file(made.path)}")
    return (path, *remark, StyledSpan(" · nothing is written until ctrl+s", "dim"))


def _name_file(path: str) -> str:
    """Return the name of a file and of its folder, in words."""
    folder, name = os.path.split(path)
    return f"{clip(name, _NAME)} in {clip(os.path.basename(folder) or folder, _NAME)}"


def start_spans(made: Made | None) -> Spans:
    """Return the line to paste that starts the next agent with the handoff."""
    if made is None:
        return ()
    target = made.handoff.head.target
    label = "then tell any agent" if target == ANY_AGENT else f"then start {target.shown} with"
    return (StyledSpan(f" {label}  ", "dim"), StyledSpan(one_line(made.start), "code"))
