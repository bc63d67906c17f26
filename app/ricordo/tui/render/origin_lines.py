"""What caused a note, as lines: the turns of a session around it."""

from __future__ import annotations

from collections.abc import Sequence

from ricordo.activity.session import Deed, Who
from ricordo.notebook.activity_words import day_in_words, local_time, nobody_in_words
from ricordo.notebook.origin import Cause, Said
from ricordo.text import clip
from ricordo.tui.render.line import BLANK, Line, Span, shown, wrap
from ricordo.tui.render.mask import masked

NOTHING_KNOWN = "No transcript tells any more where this note came from."
_MARGIN = "  "
_BAR = Span(" ┃ ", "accent")
_BESIDE = Span("   ")
_ACTS = {
    Deed.WROTE: "wrote the note",
    Deed.EDITED: "changed the note",
    Deed.DELETED: "deleted the note",
    Deed.READ: "read the note",
}
_DONE = {
    Deed.WROTE: "written",
    Deed.EDITED: "changed",
    Deed.DELETED: "deleted",
    Deed.READ: "read",
}


def origin_lines(cause: Cause, width: int) -> tuple[list[Line], range]:
    """Return the turns around what caused a note, from the first to the last, under a line that
    says whose words the note rests on; and the rows of the turn that is the cause.
    """
    lines = [*_verdict(cause, width), BLANK]
    rows = range(0)
    for turn in cause.turns:
        if turn.skipped:
            lines += [Line((Span(f"{_MARGIN} … {_turns(turn.skipped)} left out", "dim"),)), BLANK]
        drawn = _turn(turn, cause, width)
        if turn.is_cause:
            rows = range(len(lines), len(lines) + len(drawn))
        lines += [*drawn, BLANK]
    return lines, rows


def step_title(causes: Sequence[Cause], at: int) -> str:
    """Return which of the writings of a note is shown, in a few words."""
    if not causes:
        return ""
    cause = causes[at]
    done = _DONE[cause.deed] if cause.deed else "named by the note" if cause.note else "said"
    return f"{at + 1} of {len(causes)} · {done} {day_in_words(cause.at)}"


def session_title(cause: Cause, width: int) -> str:
    """Return which session it was, in one row."""
    return clip(f"{cause.agent.shown} · {cause.shown_session} · {day_in_words(cause.at)}", width)


def _verdict(cause: Cause, width: int) -> list[Line]:
    if cause.quote and (cause.deed or not cause.note):
        text, style = "❝ You said it:", "heading"
    elif cause.quote:
        text, style = (
            "❝ No writing of the note is in the transcript; you said this there:",
            "heading",
        )
    else:
        said = nobody_in_words(cause)
        text, style = f"! {said[0].upper()}{said[1:]}.", "warning"
    return [Line(row) for row in wrap([Span(text, style)], width, (Span(" "),))]


def _turn(turn: Said, cause: Cause, width: int) -> list[Line]:
    name = "you" if turn.who is Who.PERSON else cause.agent.shown
    style = "accent bold" if turn.is_cause else "bold"
    head = [Span("▸ " if turn.is_cause else _MARGIN, style), Span(name, style)]
    head.append(Span(f"  {_time(turn.at)}", "dim"))
    if turn.is_act and cause.deed:
        head.append(Span(f"  ✎ {_ACTS[cause.deed]} {clip(cause.note, 60)}", "changed"))
    lines = [Line(row) for row in wrap(head, width, (), (_BESIDE,))]
    beside = _BAR if turn.is_cause else _BESIDE
    for text in masked(turn.text).split("\n"):
        spans = [Span(shown(text), "" if turn.is_cause else "dim")]
        lines += [Line(row) for row in wrap(spans, width - 1, (beside,), (beside,))]
    return lines if turn.text else lines[:1]


def _turns(count: int) -> str:
    return "1 turn is" if count == 1 else f"{count} turns are"


def _time(at: str) -> str:
    moment = local_time(at)
    return f"{moment:%H:%M}" if moment else ""
