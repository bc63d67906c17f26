"""What to know before a curation runs, and what comes in while it does, as lines."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from ricordo.curation.engines.command import COMMAND
from ricordo.curation.engines.external import Estimate
from ricordo.curation.engines.llm import ANTHROPIC, AskModel
from ricordo.llm.prices import Price
from ricordo.llm.prices import told as told_of_cost
from ricordo.llm.redaction import Redacted, shown_address
from ricordo.services.curation.preparation import Prepared, SpokenSince
from ricordo.services.engines.engines import Outside
from ricordo.services.engines.preview import CurationPreview, Egress, told_of_parts
from ricordo.settings.settings import EngineSettings
from ricordo.text import one_line, visible
from ricordo.tui.render.line import BLANK, StyledLine, StyledSpan, with_right, wrap

_NOTHING_SAID = (
    "Nobody said anything in this scope that was not curated yet. The notes can be put in order "
    "all the same: Enter looks what is to be joined, listed or retired."
)


def prepared_lines(prepared: Prepared, leaves: str, width: int) -> list[StyledLine]:
    """Return what to know before a curation runs, then the brief: as it `leaves`, where it does,
    else where somebody said something.
    """
    remarks = [StyledSpan(f"! {one_line(text)}", "warning") for text in prepared.remarks]
    lines = [StyledLine(row) for remark in remarks for row in wrap([remark], width - 1)]
    lines += [BLANK] if lines else []
    if prepared.told.said:
        return lines + brief_lines(leaves or prepared.brief.text, width)
    lines += [StyledLine(row) for row in wrap([StyledSpan(_NOTHING_SAID, "dim")], width - 1)]
    return [*lines, BLANK, *brief_lines(leaves, width)] if leaves else lines


def brief_lines(brief: str, width: int) -> list[StyledLine]:
    """Return the brief as an engine is given it."""
    lines: list[StyledLine] = []
    for text in brief.rstrip("\n").split("\n"):
        style = "heading" if text.startswith("== ") else ""
        lines += [
            StyledLine(row)
            for row in wrap([StyledSpan(text, style)], width - 1, (), (StyledSpan("  "),))
        ]
    return lines


def told_of_brief(prepared: Prepared, budget: int) -> tuple[StyledSpan, ...]:
    """Return how much was said, how much of the budget the brief takes, what it leaves out."""
    told, brief = prepared.told, prepared.brief
    sessions = "1 session" if told.sessions == 1 else f"{told.sessions} sessions"
    spans = [
        StyledSpan(f" brief   {len(told.said):,} messages of yours from {sessions}"),
        StyledSpan(f" · ≈{brief.tokens:,} of {budget:,} tokens", "dim"),
    ]
    if brief.left_out:
        gone = ", ".join(f"{count:,} of {part}" for part, count in brief.left_out.items())
        spans.append(StyledSpan(f" · left out: {gone}", "warning"))
    return tuple(spans)


Spans = tuple[StyledSpan, ...]

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
        spans = StyledSpan("rules", "bold"), StyledSpan(" · offline · cost $0.00", "dim")
    return (_label("engine"), *spans), (StyledSpan(f" {number + 1} of {count} ", "dim"),)


def asked_spans(outside: Outside) -> Spans:
    """Return who is asked, and where what is sent goes."""
    ask = outside.ask
    if isinstance(ask, AskModel):
        return (_label("engine"), *_model_spans(ask.model, ask.server.base_url))
    return (_label("engine"), *_program_spans(ask.program.line))


def _model_spans(model: str, server: str) -> Spans:
    about = f" · at {shown_address(server)}" if server else " · a model · paid by the token"
    return StyledSpan(one_line(model), "bold"), StyledSpan(about, "dim")


def _program_spans(line: str) -> Spans:
    about = " · what it charges is not known" if line else " · none is set"
    return StyledSpan(one_line(line) or "a program of yours", "bold"), StyledSpan(about, "dim")


def leaving_spans(leaving: Egress | None, counted: Estimate | None = None) -> Mapping[str, Spans]:
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
    return (_label("cost"), StyledSpan(words))


def _left_spans(leaving: Egress) -> Spans:
    """Return what the caps leave."""
    caps, left = leaving.outside.ask.gate.caps, leaving.left
    words = f"{caps.run_in:,} in this run, {left.day:,} in 24 hours, {left.month:,} in 30 days"
    return (_label("left"), StyledSpan(words))


def _kept_back_spans(kept_back: Sequence[Redacted]) -> Spans:
    """Return what does not leave, in one line."""
    if not kept_back:
        return (_label("secrets"), StyledSpan("nothing here looks like one", "dim"))
    kinds: dict[str, int] = {}
    for it in kept_back:
        kinds[it.kind] = kinds.get(it.kind, 0) + 1
    named = [f"{kind} {count}" for kind, count in kinds.items()]
    more = ", …" if len(named) > _MOST_KINDS else ""
    words = f"{len(kept_back)} kept back: {', '.join(named[:_MOST_KINDS])}{more}"
    return (_label("secrets"), StyledSpan(words, "warning"))


def before_lines(before: CurationPreview | None, failure: str, width: int) -> list[StyledLine]:
    """Return why it failed, or why it cannot be asked, what to know besides, and the brief."""
    leaving = before.leaving if before else None
    lines = _told_lines(leaving, [failure, before.why_not if before else ""], width)
    if before is None:
        return lines
    parts = told_of_parts(leaving.outside) if leaving and not before.why_not else ""
    lines += (
        [StyledLine(row) for row in wrap([StyledSpan(parts, "dim")], width - 1)] + [BLANK]
        if parts
        else []
    )
    leaves = leaving.text if leaving else ""
    return lines + prepared_lines(before.prepared, leaves, width)


def leaving_lines(leaving: Egress | None, wrong: Sequence[str], width: int) -> list[StyledLine]:
    """Return what is `wrong`, what to know besides, and what would leave."""
    lines = _told_lines(leaving, wrong, width)
    return lines + (brief_lines(leaving.text, width) if leaving else [])


def _told_lines(leaving: Egress | None, wrong: Sequence[str], width: int) -> list[StyledLine]:
    told = [StyledSpan(f"✗ {one_line(text)}", "error") for text in wrong if text]
    told += [StyledSpan(f"! {one_line(text)}", "warning") for text in _remarks(leaving)]
    lines = [
        StyledLine(row) for span in told for row in wrap([span], width - 1, (), (StyledSpan("  "),))
    ]
    return [*lines, BLANK] if lines else []


def _remarks(leaving: Egress | None) -> list[str]:
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


def incoming_lines(text: str, width: int) -> list[StyledLine]:
    """Return what is being answered."""
    lines = [StyledLine(row) for row in wrap([StyledSpan(_INCOMING, "dim")], width - 1)] + [BLANK]
    for part in visible(text.expandtabs(4)).split("\n"):
        lines += [StyledLine(row) for row in wrap([StyledSpan(part)], width - 1)]
    return lines


def told_of_price(price: Price | None) -> str:
    """Return what a model costs, in a few words."""
    if price is None:
        return told_of_cost(None)
    return f"${price.input:g} sent, ${price.output:g} written, for a million tokens"


def kept_back_rows(
    it: Redacted, leaving: Egress, told: SpokenSince, width: int, *, may_leave: bool
) -> tuple[StyledLine, StyledLine]:
    """Return a value as two rows, and never the value itself: whether it leaves, what it looks
    like, where it stands and how often, its fingerprint; and the words around it.
    """
    glyph, word, style = _LEAVES if may_leave else _STAYS
    times = f", {it.count} times" if it.count > 1 else ""
    name = (StyledSpan(f" {glyph} ", style), StyledSpan(one_line(it.kind), "bold"))
    where = StyledSpan(f"  {_places(it, told)}{times}", "dim")
    right = (StyledSpan(f" {word} ", style),)
    around = StyledSpan(f"   {_around(it, leaving.text)}", "quote")
    by = (StyledSpan(f"  {it.fingerprint} ", "dim"),) if width >= _WIDE else ()
    return with_right((*name, where), right, width), with_right((around,), by, width)


_LEAVES, _STAYS = ("✓", "leaves", "warning"), ("⊘", "kept back", "success")


def _places(it: Redacted, told: SpokenSince) -> str:
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


def _label(text: str) -> StyledSpan:
    return StyledSpan(f" {text:<{_LABEL}}", "dim")
