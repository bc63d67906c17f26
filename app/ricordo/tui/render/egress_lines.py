"""What a request to a model or program would send and cost, and its incoming answer, as lines."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence

from ricordo.curation.engines.command import COMMAND
from ricordo.curation.engines.external import Estimate
from ricordo.curation.engines.llm import ANTHROPIC, ModelClient
from ricordo.llm.prices import Price, format_cost
from ricordo.llm.redaction import RedactedValue, mask_address
from ricordo.services.curation.preparation import NewActivity, PreparedCuration
from ricordo.services.engines.engines import EngineTarget
from ricordo.services.engines.preview import CurationPreview, Egress, describe_parts_cost
from ricordo.settings.settings import EngineSettings
from ricordo.text import make_one_line, make_visible
from ricordo.tui.render.line import BLANK, StyledLine, StyledSpan, align_right, wrap

_NO_MESSAGES = (
    "This scope has no messages that were not curated yet. Enter checks which notes to merge, "
    "list in the index or retire."
)


_CHECK = (
    "The model or program reads these notes and says what it wants to look up in the project, up "
    "to twice. What is found is sent with the next question, without credentials: lines of files "
    "that git does not ignore, names of files and folders, commits. Its corrections are proposals, "
    "each with the words that refute the note."
)


def render_curation(before: CurationPreview, width: int) -> list[StyledLine]:
    """Return the cost of asking in parts, the warnings about a curation, then the brief: the sent
    text, or without one Ricordo's brief if there are messages.
    """
    egress, prepared = before.egress, before.prepared
    parts = describe_parts_cost(egress.target) if egress and not before.disabled_reason else ""
    lines = [*render_about(parts, width), BLANK] if parts else []
    texts = list(prepared.warnings)
    if egress and egress.remaining.paused_for:
        minutes = max(1, round(egress.remaining.paused_for / 60))
        texts.append(
            f"Automatic curations failed repeatedly and are paused for {minutes} more minutes. "
            "You can still run one here."
        )
    warnings = [StyledSpan(f"! {make_one_line(text)}", "warning") for text in texts]
    rows = [StyledLine(row) for warning in warnings for row in wrap([warning], width - 1)]
    lines += [*rows, BLANK] if rows else []
    sent = egress.text if egress else ""
    if prepared.check is not None:
        about = render_about(_CHECK, width)
        return [*lines, *about, BLANK, *render_sent(sent or prepared.brief.text, width)]
    if prepared.activity.messages:
        return lines + render_sent(sent or prepared.brief.text, width)
    lines += render_about(_NO_MESSAGES, width)
    return [*lines, BLANK, *render_sent(sent, width)] if sent else lines


def render_about(text: str, width: int) -> list[StyledLine]:
    """Return an explanation of Ricordo's."""
    return [StyledLine(row) for row in wrap([StyledSpan(text, "dim")], width - 1)]


def render_sent(
    text: str, width: int, heading: str = "== ", style: str = "heading"
) -> list[StyledLine]:
    """Return a text as it is sent; lines that begin with `heading` are Ricordo's."""
    lines: list[StyledLine] = []
    for line in text.rstrip("\n").split("\n"):
        span = StyledSpan(line, style if line.startswith(heading) else "")
        lines += [StyledLine(row) for row in wrap([span], width - 1, (), (StyledSpan("  "),))]
    return lines


def describe_brief(prepared: PreparedCuration, budget: int) -> tuple[StyledSpan, ...]:
    """Return the number of messages, or of notes to check, the size of the brief and its budget,
    and what is left out.
    """
    spoken, brief = prepared.activity, prepared.brief
    sessions = "1 session" if spoken.sessions == 1 else f"{spoken.sessions} sessions"
    count = len(prepared.checked_notes)
    what = (
        f"{_count_checked(count)} to check"
        if prepared.check
        else f"{len(spoken.messages):,} messages of yours from {sessions}"
    )
    spans = [
        StyledSpan(f" brief   {what}"),
        StyledSpan(f" · ≈{prepared.tokens:,} of {budget:,} tokens", "dim"),
    ]
    if brief.omitted:
        parts = ", ".join(f"{count:,} of {part}" for part, count in brief.omitted.items())
        spans.append(StyledSpan(f" · left out: {parts}", "warning"))
    return tuple(spans)


def _count_checked(count: int) -> str:
    """Return how many notes are checked, in words; without any it is the index."""
    return f"{count:,} {'note' if count == 1 else 'notes'}" if count else "the index"


Spans = tuple[StyledSpan, ...]

_LABEL = 8
_MOST_KINDS = 4
_AROUND = 32
"""Characters of the line that are shown before and after a value."""
_LF = "\n"
_WIDE = 90
"""Least cells to show a fingerprint, which only commands need."""
_INCOMING = "The answer as it arrives: not checked yet, nothing is applied"


def render_engine(engine: EngineSettings, number: int, count: int) -> tuple[Spans, Spans]:
    """Return the chosen engine, and its number of how many: two parts of a line."""
    if engine.use == ANTHROPIC:
        spans = _render_model(engine.model, engine.server)
    elif engine.use == COMMAND:
        spans = _render_program(shlex.join(engine.command))
    else:
        spans = StyledSpan("rules", "bold"), StyledSpan(" · offline · cost $0.00", "dim")
    return (_render_label("engine"), *spans), (StyledSpan(f" {number + 1} of {count} ", "dim"),)


def render_asked(target: EngineTarget) -> Spans:
    """Return the model or program that is asked, and where the text is sent."""
    request = target.ask
    if isinstance(request, ModelClient):
        return (_render_label("engine"), *_render_model(request.model, request.server.base_url))
    return (_render_label("engine"), *_render_program(request.program.line))


def _render_model(model: str, server: str) -> Spans:
    about = f" · at {mask_address(server)}" if server else " · a model · paid by the token"
    return StyledSpan(make_one_line(model), "bold"), StyledSpan(about, "dim")


def _render_program(line: str) -> Spans:
    about = " · cost unknown" if line else " · none set"
    return StyledSpan(make_one_line(line) or "your own program", "bold"), StyledSpan(about, "dim")


def render_egress_summary(
    egress: Egress | None, counted: Estimate | None = None
) -> Mapping[str, Spans]:
    """Return three lines by name: the cost, the tokens left of the caps, the redacted secrets; only
    their names while `egress` is None. `counted` is the estimate by the server's token count.
    """
    if egress is None:
        return {name: (_render_label(name),) for name in ("cost", "left", "secrets")}
    return {
        "cost": _render_cost(counted or egress.estimate, is_counted=counted is not None),
        "left": _render_caps(egress),
        "secrets": _render_redacted(egress.redacted),
    }


def _render_cost(cost: Estimate, *, is_counted: bool = False) -> Spans:
    """Return how many tokens are sent and may be written, and what that costs; `is_counted` if the
    server counted the sent tokens.
    """
    sent = (
        f"{cost.input_tokens:,} tokens counted"
        if is_counted
        else f"≈{cost.input_tokens:,} tokens sent"
    )
    most = format_cost(cost.usd) if cost.usd is None else f"at most {format_cost(cost.usd)}"
    words = f"{sent}, at most {cost.output_tokens:,} written: {most}"
    return (_render_label("cost"), StyledSpan(words))


def _render_caps(egress: Egress) -> Spans:
    """Return the tokens left of the caps."""
    caps, left = egress.target.ask.gate.caps, egress.remaining
    words = f"{caps.run_in:,} in this run, {left.day:,} in 24 hours, {left.month:,} in 30 days"
    return (_render_label("left"), StyledSpan(words))


def _render_redacted(redacted: Sequence[RedactedValue]) -> Spans:
    """Return the number of redacted values by kind, in one line."""
    if not redacted:
        return (_render_label("secrets"), StyledSpan("none found", "dim"))
    kinds = Counter(value.kind for value in redacted)
    named = [f"{kind} {count}" for kind, count in kinds.items()]
    more = ", …" if len(named) > _MOST_KINDS else ""
    words = f"{len(redacted)} redacted: {', '.join(named[:_MOST_KINDS])}{more}"
    return (_render_label("secrets"), StyledSpan(words, "warning"))


def render_problems(
    egress: Egress | None, failure: str, disabled_reason: str, width: int
) -> list[StyledLine]:
    """Return the `failure` of what was sent, why nothing can be sent, and the warnings about what
    would be sent. Where nothing would be, no engine is chosen: that is no error.
    """
    errors = [failure, disabled_reason if egress else ""]
    spans = [StyledSpan(f"✗ {make_one_line(text)}", "error") for text in errors if text]
    if disabled_reason and egress is None:
        spans.append(StyledSpan(f"· {make_one_line(disabled_reason)}", "info"))
    spans += [StyledSpan(f"! {make_one_line(text)}", "warning") for text in _find_warnings(egress)]
    lines = [
        StyledLine(row)
        for span in spans
        for row in wrap([span], width - 1, (), (StyledSpan("  "),))
    ]
    return [*lines, BLANK] if lines else []


def _find_warnings(egress: Egress | None) -> list[str]:
    if egress is None:
        return []
    warnings = [egress.target.warning]
    if egress.program is not None:
        warnings.append("New program: Enter shows its command line and asks before it runs.")
    return [warning for warning in warnings if warning]


def render_incoming(text: str, width: int) -> list[StyledLine]:
    """Return the answer as far as it has arrived."""
    lines = [*render_about(_INCOMING, width), BLANK]
    for part in make_visible(text.expandtabs(4)).split("\n"):
        lines += [StyledLine(row) for row in wrap([StyledSpan(part)], width - 1)]
    return lines


def describe_price(price: Price | None) -> str:
    """Return the price of a model, in a few words."""
    if price is None:
        return format_cost(None)
    return f"${price.input:g} in, ${price.output:g} out per million tokens"


def render_redacted(
    value: RedactedValue, egress: Egress, spoken: NewActivity, width: int, *, is_allowed: bool
) -> tuple[StyledLine, StyledLine]:
    """Return a redacted value as two rows, without the value itself: whether it is sent, its kind,
    where it is and how often, and its fingerprint; and the words around it.
    """
    glyph, word, style = _SENT if is_allowed else _REDACTED
    times = f", {value.count} times" if value.count > 1 else ""
    name = (StyledSpan(f" {glyph} ", style), StyledSpan(make_one_line(value.kind), "bold"))
    where = StyledSpan(f"  {_describe_places(value, spoken)}{times}", "dim")
    right = (StyledSpan(f" {word} ", style),)
    context = StyledSpan(f"   {_context_of(value, egress.text)}", "quote")
    by = (StyledSpan(f"  {value.fingerprint} ", "dim"),) if width >= _WIDE else ()
    return align_right((*name, where), right, width), align_right((context,), by, width)


_SENT, _REDACTED = ("✓", "sent", "warning"), ("⊘", "redacted", "success")


def _describe_places(value: RedactedValue, spoken: NewActivity) -> str:
    days = {message.source: f"your message of {message.day:%-d %b}" for message in spoken.messages}
    places = list(dict.fromkeys(days.get(place) or make_one_line(place) for place in value.places))
    more = f" and {len(places) - 1} more" if len(places) > 1 else ""
    return f"in {places[0]}{more}" if places else ""


def _context_of(value: RedactedValue, brief: str) -> str:
    """Return the words of the brief around the first placeholder of a value."""
    at = brief.find(value.name) if value.name else -1
    if at < 0:
        return ""
    before, after = brief[max(0, at - _AROUND) : at], brief[at : at + len(value.name) + _AROUND]
    return make_one_line(f"{before.rpartition(_LF)[2]}{after.partition(_LF)[0]}").strip()


def _render_label(text: str) -> StyledSpan:
    return StyledSpan(f" {text:<{_LABEL}}", "dim")
