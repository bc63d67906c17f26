"""What to know before a curation runs, and what comes in while it does, as lines."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from ricordo.curator.asking import Estimate
from ricordo.curator.asking_model import ANTHROPIC, AskModel
from ricordo.curator.asking_program import COMMAND
from ricordo.model.address import shown_address
from ricordo.model.prices import Price
from ricordo.model.prices import told as told_of_cost
from ricordo.model.redaction import Redacted
from ricordo.notebook.before import Before, Leaving, told_of_parts
from ricordo.notebook.models import Outside
from ricordo.notebook.spoken import Told
from ricordo.settings.settings import EngineSettings
from ricordo.text import one_line, visible
from ricordo.tui.render.brief_lines import brief_lines, prepared_lines
from ricordo.tui.render.line import BLANK, Line, Span, with_right, wrap

Spans = tuple[Span, ...]

_LABEL = 8
_MOST_KINDS = 4
_AROUND = 32
"""Characters before and behind a value that are shown of its line."""
_LF = "\n"
_WIDE = 90
"""Cells from which on there is room for a fingerprint, which only commands need."""
_INCOMING = "As it comes in: it is not checked yet, and nothing of it is done"


def engine_spans(own: EngineSettings, number: int, count: int) -> tuple[Spans, Spans]:
    """Return which engine is chosen, and as which of how many: two parts of a line."""
    if own.use == ANTHROPIC:
        spans = _model_spans(own.model, own.server)
    elif own.use == COMMAND:
        spans = _program_spans(shlex.join(own.command))
    else:
        spans = Span("rules", "bold"), Span(" · offline · cost $0.00", "dim")
    return (_label("engine"), *spans), (Span(f" {number + 1} of {count} ", "dim"),)


def asked_spans(outside: Outside) -> Spans:
    """Return who is asked, and where what is sent goes."""
    ask = outside.ask
    if isinstance(ask, AskModel):
        return (_label("engine"), *_model_spans(ask.model, ask.server.base_url))
    return (_label("engine"), *_program_spans(ask.program.line))


def _model_spans(model: str, server: str) -> Spans:
    about = f" · at {shown_address(server)}" if server else " · a model · paid by the token"
    return Span(one_line(model), "bold"), Span(about, "dim")


def _program_spans(line: str) -> Spans:
    about = " · what it charges is not known" if line else " · none is set"
    return Span(one_line(line) or "a program of yours", "bold"), Span(about, "dim")


def leaving_spans(leaving: Leaving | None, counted: Estimate | None = None) -> Mapping[str, Spans]:
    """Return three lines by their names: what leaving costs, what the caps leave, what does not
    leave; while that is not known, their names alone. `counted` is what it costs by what the server
    counted, once it has.
    """
    if leaving is None:
        return {name: (_label(name),) for name in ("cost", "left", "secrets")}
    return {
        "cost": _cost_spans(counted or leaving.estimate, is_counted=counted is not None),
        "left": _left_spans(leaving),
        "secrets": _kept_back_spans(leaving.kept_back),
    }


def _cost_spans(it: Estimate, *, is_counted: bool = False) -> Spans:
    """Return what may be sent and written, and what that costs; `is_counted` where it is the server
    that says how many tokens are sent.
    """
    sent = (
        f"{it.input_tokens:,} tokens counted" if is_counted else f"≈{it.input_tokens:,} tokens sent"
    )
    most = told_of_cost(it.usd) if it.usd is None else f"at most {told_of_cost(it.usd)}"
    words = f"{sent}, at most {it.output_tokens:,} written: {most}"
    return (_label("cost"), Span(words))


def _left_spans(leaving: Leaving) -> Spans:
    """Return what the caps leave."""
    caps, left = leaving.outside.ask.gate.caps, leaving.left
    words = f"{caps.run_in:,} in this run, {left.day:,} in 24 hours, {left.month:,} in 30 days"
    return (_label("left"), Span(words))


def _kept_back_spans(kept_back: Sequence[Redacted]) -> Spans:
    """Return what does not leave, in one line."""
    if not kept_back:
        return (_label("secrets"), Span("nothing here looks like one", "dim"))
    kinds: dict[str, int] = {}
    for it in kept_back:
        kinds[it.kind] = kinds.get(it.kind, 0) + 1
    named = [f"{kind} {count}" for kind, count in kinds.items()]
    more = ", …" if len(named) > _MOST_KINDS else ""
    words = f"{len(kept_back)} kept back: {', '.join(named[:_MOST_KINDS])}{more}"
    return (_label("secrets"), Span(words, "warning"))


def before_lines(before: Before | None, failure: str, width: int) -> list[Line]:
    """Return why it failed, or why it cannot be asked, what to know besides, and the brief."""
    leaving = before.leaving if before else None
    lines = _told_lines(leaving, [failure, before.why_not if before else ""], width)
    if before is None:
        return lines
    parts = told_of_parts(leaving.outside) if leaving and not before.why_not else ""
    lines += [Line(row) for row in wrap([Span(parts, "dim")], width - 1)] + [BLANK] if parts else []
    leaves = leaving.text if leaving else ""
    return lines + prepared_lines(before.prepared, leaves, width)


def leaving_lines(leaving: Leaving | None, wrong: Sequence[str], width: int) -> list[Line]:
    """Return what is `wrong`, what to know besides, and what would leave."""
    lines = _told_lines(leaving, wrong, width)
    return lines + (brief_lines(leaving.text, width) if leaving else [])


def _told_lines(leaving: Leaving | None, wrong: Sequence[str], width: int) -> list[Line]:
    told = [Span(f"✗ {one_line(text)}", "error") for text in wrong if text]
    told += [Span(f"! {one_line(text)}", "warning") for text in _remarks(leaving)]
    lines = [Line(row) for span in told for row in wrap([span], width - 1, (), (Span("  "),))]
    return [*lines, BLANK] if lines else []


def _remarks(leaving: Leaving | None) -> list[str]:
    if leaving is None:
        return []
    remarks = [leaving.outside.remark]
    if leaving.program is not None:
        remarks.append("This program was not run before: Enter shows its line, and asks.")
    if leaving.left.rests_for:
        minutes = max(1, round(leaving.left.rests_for / 60))
        remarks.append(
            f"Curations without a terminal rest for {minutes} more minutes, after they failed "
            "repeatedly. You may try."
        )
    return [it for it in remarks if it]


def incoming_lines(text: str, width: int) -> list[Line]:
    """Return what is being answered."""
    lines = [Line(row) for row in wrap([Span(_INCOMING, "dim")], width - 1)] + [BLANK]
    for part in visible(text.expandtabs(4)).split("\n"):
        lines += [Line(row) for row in wrap([Span(part)], width - 1)]
    return lines


def told_of_price(price: Price | None) -> str:
    """Return what a model costs, in a few words."""
    if price is None:
        return told_of_cost(None)
    return f"${price.input:g} sent, ${price.output:g} written, for a million tokens"


def kept_back_rows(
    it: Redacted, leaving: Leaving, told: Told, width: int, *, may_leave: bool
) -> tuple[Line, Line]:
    """Return a value as two rows, and never the value itself: whether it leaves, what it looks
    like, where it stands and how often, its fingerprint; and the words around it.
    """
    glyph, word, style = _LEAVES if may_leave else _STAYS
    times = f", {it.count} times" if it.count > 1 else ""
    name = (Span(f" {glyph} ", style), Span(one_line(it.kind), "bold"))
    where = Span(f"  {_places(it, told)}{times}", "dim")
    right = (Span(f" {word} ", style),)
    around = Span(f"   {_around(it, leaving.text)}", "quote")
    by = (Span(f"  {it.fingerprint} ", "dim"),) if width >= _WIDE else ()
    return with_right((*name, where), right, width), with_right((around,), by, width)


_LEAVES, _STAYS = ("✓", "leaves", "warning"), ("⊘", "kept back", "success")


def _places(it: Redacted, told: Told) -> str:
    days = {said.source: f"what you said on {said.day:%-d %b}" for said in told.said}
    places = list(dict.fromkeys(days.get(place) or one_line(place) for place in it.places))
    more = f" and {len(places) - 1} more" if len(places) > 1 else ""
    return f"in {places[0]}{more}" if places else ""


def _around(it: Redacted, brief: str) -> str:
    """Return the words of the brief around the first placeholder of a value."""
    at = brief.find(it.name) if it.name else -1
    if at < 0:
        return ""
    before, behind = brief[max(0, at - _AROUND) : at], brief[at : at + len(it.name) + _AROUND]
    return one_line(f"{before.rpartition(_LF)[2]}{behind.partition(_LF)[0]}").strip()


def _label(text: str) -> Span:
    return Span(f" {text:<{_LABEL}}", "dim")
