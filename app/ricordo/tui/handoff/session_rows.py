"""The sessions that can be handed off, and the handoffs that were written, as lines."""

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
    ("No session of an agent was found for this memory", "heading"),
    (
        "What Claude Code, Codex and opencode keep of the sessions here will stand in this list, "
        "the latest first. A handoff is made of one of them: what the person asked for, what was "
        "done and decided, what failed, and what comes next, each line with what proves it.",
        "",
    ),
)
_MOST_COMMITS = 8
_MOST_FILES = 12
_WORSE = {
    Status.STALE: "no longer so",
    Status.UNVERIFIED: "cannot be proved any more",
}

Text = tuple[str, str]


def session_rows(
    it: Session, width: int, *, in_one: bool, is_marked: bool, is_latest: bool
) -> tuple[StyledLine, ...]:
    """Return the rows of a session in the list, in one or two."""
    mark = StyledSpan(" ◆ " if is_marked else "   ", "accent")
    name = StyledSpan(one_line(it.shown), "bold")
    latest = "latest · " if is_latest else ""
    about = f"{latest}{it.agent.shown} · {_when(it)} "
    if in_one:
        return (with_right((mark, name), (StyledSpan(f"  {about}", "dim"),), width),)
    return StyledLine(fit((mark, name), width)), StyledLine(
        fit((StyledSpan(f"   {about}", "dim"),), width)
    )


def earlier_rows(
    it: Earlier, standing: HandoffStatus | None, width: int, *, in_one: bool
) -> tuple[StyledLine, ...]:
    """Return the rows of a handoff in the list, in one or two; `standing` is None as long as it is
    not known how true it still is.
    """
    words, style = standing_words(standing)
    name = (StyledSpan(" → "), StyledSpan(clip_start(it.name, max(20, width // 2)), "bold"))
    right = (StyledSpan(f" {words} ", style),)
    if in_one:
        return (with_right((*name, StyledSpan(f"  {_written(standing)}", "dim")), right, width),)
    written = f" · {_written(standing)}" if _written(standing) else ""
    second = (StyledSpan("   "), StyledSpan(words, style), StyledSpan(written, "dim"))
    return StyledLine(fit(name, width)), StyledLine(fit(second, width))


def standing_words(standing: HandoffStatus | None) -> Text:
    """Return in a few words how true a handoff still is, with their style."""
    if standing is None:
        return "○ looking", "dim"
    resumed = standing.resumed
    if resumed is None:
        return "⊘ not ours", "dim"
    gone = sum(not it.holds for it in resumed.statements)
    if gone:
        return f"✗ {gone} of {len(resumed.statements)} no longer hold", "error"
    if resumed.has_expired:
        return "! all holds, but it has expired", "warning"
    return "✓ all holds", "success"


def _written(standing: HandoffStatus | None) -> str:
    if standing is None or standing.resumed is None:
        return ""
    head = standing.resumed.handoff.head
    return f"for {head.target.shown}, {day_in_words(head.written.isoformat())}"


def _when(it: Session) -> str:
    began, ended = local_time(it.started), local_time(it.ended)
    if ended is None:
        return "at an unknown time"
    if began is None or began.date() != ended.date():
        return f"{ended:%-d %b %Y %H:%M}"
    return f"{began:%-d %b %Y %H:%M}–{ended:%H:%M}"


# What is known of one of them


def session_lines(it: Session, width: int) -> list[StyledLine]:
    """Return what is known of a session before it is read."""
    told = [
        ("agent", it.agent.shown),
        ("title", it.title),
        ("when", _when(it)),
        ("in", it.cwd),
        ("branch", it.branch),
        ("session", it.id),
        ("file", it.path),
    ]
    lines = [line for name, text in told if text for line in _labelled(name, text, width)]
    said = "Enter gathers what happened in it, and drafts the handoff. Nothing is written by that."
    return [*lines, BLANK, *_wrapped(said, "dim", width)]


def standing_lines(it: Earlier, standing: HandoffStatus | None, width: int) -> list[StyledLine]:
    """Return how true a handoff still is: what holds no longer, and what was changed since."""
    words, style = standing_words(standing)
    lines = [*_labelled("file", it.path, width), *_wrapped(words, style, width)]
    if standing is None:
        return lines
    lines += _wrapped(standing.why, "warning", width) if standing.why else []
    if standing.found is not None:
        lines += _resumed_lines(standing.found, width)
    return lines


def _resumed_lines(found: Resumption, width: int) -> list[StyledLine]:
    resumed = found.resumed
    head = resumed.handoff.head
    lines = _labelled("written", f"{head.written:%-d %b %Y %H:%M} for {head.target.shown}", width)
    valid = "it has expired" if resumed.has_expired else f"valid until {head.expires:%-d %b %Y}"
    lines += _wrapped(valid, "warning" if resumed.has_expired else "dim", width)
    for remark in found.remarks:
        lines += _wrapped(remark, "warning", width)
    lines += _changed_lines(resumed.changed, width)
    groups = {
        "No longer so": [it for it in resumed.statements if not it.holds],
        "Still so": [it for it in resumed.statements if it.holds],
    }
    for title, checked in groups.items():
        lines += (
            [BLANK, StyledLine((StyledSpan(f"{title} · {len(checked)}", "heading"),))]
            if checked
            else []
        )
        lines += [line for it in checked for line in _checked_lines(it, width)]
    return lines


def _checked_lines(it: RecheckedStatement, width: int) -> list[StyledLine]:
    glyph, style = GLYPHS[it.was if it.holds else it.now]
    words = [StyledSpan(shown(it.statement.text), "dim" if it.holds else "")]
    if not it.holds:
        words.append(StyledSpan(f"  was {it.was.value}, {_WORSE.get(it.now, it.now.value)}", style))
        words.append(StyledSpan(f": {one_line(it.why)}" if it.why else "", "dim"))
    rows = wrap(words, width - 1, (StyledSpan(f"{glyph} ", style),), (StyledSpan("  "),))
    return [StyledLine(row) for row in rows]


def _changed_lines(changed: ProjectChanges, width: int) -> list[StyledLine]:
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
            told = f"{title} that are others now · {len(files)}"
            lines += [BLANK, StyledLine((StyledSpan(told, "heading"),))]
            lines += [StyledLine(fit(_change(it), width)) for it in files[:_MOST_FILES]]
    return lines


def _change(it: FileChange) -> tuple[StyledSpan, ...]:
    to = f" → {one_line(it.to)}" if it.to else ""
    return (StyledSpan(f"{it.kind.value:<8} ", "changed"), StyledSpan(f"{one_line(it.path)}{to}"))


def title_of(sessions: Sequence[Session]) -> str:
    """Return which sessions are handed off, visible text."""
    last = max(sessions, key=lambda it: it.ended)
    more = f" and {len(sessions) - 1} more" if len(sessions) > 1 else ""
    return f"“{clip(last.shown, 40)}” · {last.agent.shown} · {_when(last)}{more}"


def _labelled(name: str, text: str, width: int) -> list[StyledLine]:
    first = (StyledSpan(f"{name:<9}", "dim"),)
    return [
        StyledLine(row)
        for row in wrap([StyledSpan(shown(text))], width - 1, first, (StyledSpan(" " * 9),))
    ]


def _wrapped(text: str, style: str, width: int) -> list[StyledLine]:
    return [StyledLine(row) for row in wrap([StyledSpan(one_line(text), style)], width - 1)]


Spans = tuple[StyledSpan, ...]

_METER = 12
"""Cells of the bar that fills."""
_NAME = 40
"""Cells of a name."""


def title_spans(
    sessions: Sequence[Session], ask: Ask, made: Made | None
) -> tuple[Spans, Spans, Spans]:
    """Return which sessions are handed off; for whom and by whom it was drafted, in full and
    briefly.
    """
    left = (StyledSpan(" Handoff ", "accent bold"), StyledSpan(f" {title_of(sessions)}", "bold"))
    how = (StyledSpan(" for ", "dim"), StyledSpan(ask.target.shown, "bold"))
    engine = (StyledSpan(f" · {clip(made.handoff.head.engine, 40) if made else '…'} ", "dim"),)
    return left, (*how, *engine), (*how, StyledSpan(" "))


def meter_spans(made: Made | None, budget: int) -> tuple[Spans, ...]:
    """Return how much of the budget is taken, then how many statements carry which mark, with words
    and without them.
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
        left.append(StyledSpan(f" · {head.redactions} {word} kept back", "warning"))
    if made.handoff.left_out:
        left.append(StyledSpan(f" · {made.handoff.left_out} without room", "warning"))
    return (
        tuple(left),
        counts(statements, in_words=True),
        counts(statements, in_words=False),
    )


def where_spans(made: Made | None, written: str) -> Spans:
    """Return where it is to be written, or was `written`."""
    if written:
        done = StyledSpan(f" ✓ written: {_named(written)}", "success")
        return (done, StyledSpan(" · u takes it back", "dim"))
    if made is None:
        return (StyledSpan(" nothing is written by drafting", "dim"),)
    remark = (StyledSpan(f" ! {one_line(made.remark)}", "warning"),) if made.remark else ()
    path = StyledSpan(f" → {_named(made.path)}")
    return (path, *remark, StyledSpan(" · nothing is written until ctrl+s", "dim"))


def _named(path: str) -> str:
    """Return a file by its name and the name of its folder."""
    folder, name = os.path.split(path)
    return f"{clip(name, _NAME)} in {clip(os.path.basename(folder) or folder, _NAME)}"


def start_spans(made: Made | None) -> Spans:
    """Return the line to copy that lets the next agent begin with it."""
    if made is None:
        return ()
    target = made.handoff.head.target
    label = "then tell any agent" if target == ANY_AGENT else f"then start {target.shown} with"
    return (StyledSpan(f" {label}  ", "dim"), StyledSpan(one_line(made.start), "code"))
