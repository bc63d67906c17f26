"""The sessions that can be handed off, and the handoffs that were written, as lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ricordo.activity.session import Session
from ricordo.handoff.document import Target
from ricordo.handoff.resume import Checked
from ricordo.handoff.since import Changes, FileChange
from ricordo.handoff.statement import Status
from ricordo.notebook.activity_words import day_in_words, local_time
from ricordo.notebook.resuming import Resumption
from ricordo.text import clip, clip_start, one_line
from ricordo.tui.handoffs import Earlier, Standing
from ricordo.tui.render.handoff_lines import GLYPHS
from ricordo.tui.render.line import BLANK, Line, Span, fit, shown, with_right, wrap

SHOWN: Mapping[Target, str] = {
    Target.CLAUDE: "Claude Code",
    Target.CODEX: "Codex",
    Target.OPENCODE: "opencode",
    Target.GEMINI: "Gemini CLI",
    Target.ANY: "any agent",
}
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
) -> tuple[Line, ...]:
    """Return the rows of a session in the list, in one or two."""
    mark = Span(" ◆ " if is_marked else "   ", "accent")
    name = Span(one_line(it.shown), "bold")
    latest = "latest · " if is_latest else ""
    about = f"{latest}{it.agent.shown} · {_when(it)} "
    if in_one:
        return (with_right((mark, name), (Span(f"  {about}", "dim"),), width),)
    return Line(fit((mark, name), width)), Line(fit((Span(f"   {about}", "dim"),), width))


def earlier_rows(
    it: Earlier, standing: Standing | None, width: int, *, in_one: bool
) -> tuple[Line, ...]:
    """Return the rows of a handoff in the list, in one or two; `standing` is None as long as it is
    not known how true it still is.
    """
    words, style = standing_words(standing)
    name = (Span(" → "), Span(clip_start(it.name, max(20, width // 2)), "bold"))
    right = (Span(f" {words} ", style),)
    if in_one:
        return (with_right((*name, Span(f"  {_written(standing)}", "dim")), right, width),)
    written = f" · {_written(standing)}" if _written(standing) else ""
    second = (Span("   "), Span(words, style), Span(written, "dim"))
    return Line(fit(name, width)), Line(fit(second, width))


def standing_words(standing: Standing | None) -> Text:
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


def _written(standing: Standing | None) -> str:
    if standing is None or standing.resumed is None:
        return ""
    head = standing.resumed.handoff.head
    return f"for {SHOWN[head.target]}, {day_in_words(head.written.isoformat())}"


def _when(it: Session) -> str:
    began, ended = local_time(it.started), local_time(it.ended)
    if ended is None:
        return "at an unknown time"
    if began is None or began.date() != ended.date():
        return f"{ended:%-d %b %Y %H:%M}"
    return f"{began:%-d %b %Y %H:%M}–{ended:%H:%M}"


# What is known of one of them


def session_lines(it: Session, width: int) -> list[Line]:
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


def standing_lines(it: Earlier, standing: Standing | None, width: int) -> list[Line]:
    """Return how true a handoff still is: what holds no longer, and what was changed since."""
    words, style = standing_words(standing)
    lines = [*_labelled("file", it.path, width), *_wrapped(words, style, width)]
    if standing is None:
        return lines
    lines += _wrapped(standing.why, "warning", width) if standing.why else []
    if standing.found is not None:
        lines += _resumed_lines(standing.found, width)
    return lines


def _resumed_lines(found: Resumption, width: int) -> list[Line]:
    resumed = found.resumed
    head = resumed.handoff.head
    lines = _labelled("written", f"{head.written:%-d %b %Y %H:%M} for {SHOWN[head.target]}", width)
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
        lines += [BLANK, Line((Span(f"{title} · {len(checked)}", "heading"),))] if checked else []
        lines += [line for it in checked for line in _checked_lines(it, width)]
    return lines


def _checked_lines(it: Checked, width: int) -> list[Line]:
    glyph, style = GLYPHS[it.was if it.holds else it.now]
    words = [Span(shown(it.statement.text), "dim" if it.holds else "")]
    if not it.holds:
        words.append(Span(f"  was {it.was.value}, {_WORSE.get(it.now, it.now.value)}", style))
        words.append(Span(f": {one_line(it.why)}" if it.why else "", "dim"))
    rows = wrap(words, width - 1, (Span(f"{glyph} ", style),), (Span("  "),))
    return [Line(row) for row in rows]


def _changed_lines(changed: Changes, width: int) -> list[Line]:
    lines: list[Line] = []
    if changed.commits:
        count = len(changed.commits)
        title = f"{count} commit since" if count == 1 else f"{count} commits since"
        lines += [BLANK, Line((Span(title, "heading"),))]
        for commit in changed.commits[:_MOST_COMMITS]:
            spans = (Span(f"{commit.id[:12]} ", "dim"), Span(one_line(commit.subject)))
            lines.append(Line(fit(spans, width)))
    for title, files in (("Files", changed.files), ("Notes", changed.notes)):
        if files:
            told = f"{title} that are others now · {len(files)}"
            lines += [BLANK, Line((Span(told, "heading"),))]
            lines += [Line(fit(_change(it), width)) for it in files[:_MOST_FILES]]
    return lines


def _change(it: FileChange) -> tuple[Span, ...]:
    to = f" → {one_line(it.to)}" if it.to else ""
    return (Span(f"{it.kind.value:<8} ", "changed"), Span(f"{one_line(it.path)}{to}"))


def title_of(sessions: Sequence[Session]) -> str:
    """Return which sessions are handed off, visible text."""
    last = max(sessions, key=lambda it: it.ended)
    more = f" and {len(sessions) - 1} more" if len(sessions) > 1 else ""
    return f"“{clip(last.shown, 40)}” · {last.agent.shown} · {_when(last)}{more}"


def _labelled(name: str, text: str, width: int) -> list[Line]:
    first = (Span(f"{name:<9}", "dim"),)
    return [Line(row) for row in wrap([Span(shown(text))], width - 1, first, (Span(" " * 9),))]


def _wrapped(text: str, style: str, width: int) -> list[Line]:
    return [Line(row) for row in wrap([Span(one_line(text), style)], width - 1)]
