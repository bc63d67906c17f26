"""Conflicts and uncertain pairs as lines: both notes with their claims marked, facts about each,
opinions, and what would be sent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

from ricordo.curation.opinion import Opinion, PairVerdict
from ricordo.lint.contradictions.records import find_span
from ricordo.lint.evidence import UNKNOWN_SPEAKER, CheckOutcome, Relation, Verdict
from ricordo.services.conflicts.conflicts import Conflict, Keep, Side
from ricordo.services.conflicts.judgement import (
    JudgementOutcome,
    JudgementPreview,
    describe_asked,
)
from ricordo.services.conflicts.opinions import (
    Unresolved,
    get_suggested_side,
    needs_confirmation,
)
from ricordo.services.sessions.activity_text import AGENT_ONLY_TEXT, NO_MESSAGE_TEXT, parse_stamp
from ricordo.text import clip, make_one_line
from ricordo.tui.render.egress_lines import render_about, render_sent
from ricordo.tui.render.line import BLANK, StyledLine, StyledSpan, fit, span_text, wrap
from ricordo.tui.render.mask import mask_text

_VIEW_WORDS = {
    PairVerdict.CONFLICT: "a conflict",
    PairVerdict.DUPLICATE: "a duplicate",
    PairVerdict.BOTH_VALID: "both may be true",
    PairVerdict.UNSURE: "cannot decide",
}
_ABOUT = (
    "These pairs of notes contradict or repeat each other, or may: rules cannot be sure. The "
    "answer of a model or program is stored as an opinion and shown beside the two notes. It "
    "changes no note. You pay for a pair once, and once more if it is called a conflict by a part "
    "of the notes."
)
_ONCE_MORE = (
    "What was called a conflict by a part of the notes is sent with more of them: what explains "
    "the difference may be in the rest. What is called a conflict again is listed as one."
)
_RELATED = (
    "Of {} more pairs only a model is asked: they are likely to be on one subject, and about one "
    "of 150 is a contradiction."
)
_INDENTED = (StyledSpan("  "),), (StyledSpan("  "),)
"""What the first line of a wrapped text begins with, and the others."""


def render_opinion(opinion: Opinion) -> list[StyledSpan]:
    """Return an opinion on an uncertain pair, with its author and reason."""
    keep = get_suggested_side(opinion)
    which = "" if keep is Keep.NONE else f", keep {keep}"
    by = " by excerpts alone" * opinion.needs_confirmation
    return [
        StyledSpan(f"opinion of {make_one_line(opinion.model) or 'a program'}: ", "accent"),
        StyledSpan(f"{_VIEW_WORDS[opinion.verdict]}{by}{which}", "bold"),
        StyledSpan(f" · {make_one_line(opinion.reason)}"),
    ]


def render_judgement_preview(
    before: JudgementPreview, width: int, choose_engine: str
) -> list[StyledLine]:
    """Return what would be sent, else the uncertain pairs; and the earlier opinions.
    `choose_engine` says how to get to the engines.
    """
    is_again = before.request is not None and any(map(needs_confirmation, before.request.pairs))
    about = _ONCE_MORE if is_again else _ABOUT
    lines = [*render_about(about, width), BLANK]
    pending, related = before.pairs.pending, before.pairs.related
    if before.request is not None and before.egress is not None and before.request.pairs:
        pairs = f"{describe_asked(before.request, before.pairs.asked)}: this is sent"
        lines += [StyledLine((StyledSpan(pairs, "heading"),)), BLANK]
        lines += [*render_sent(before.egress.text, width, "pair ", "bold"), BLANK]
    elif before.pairs.asked:
        lines += [*render_about(choose_engine, width), BLANK]
        if pending:
            lines += [StyledLine((StyledSpan(f"{len(pending)} uncertain", "heading"),)), BLANK]
            lines += [row for it in pending for row in _render_pair(it, width)]
        if related:
            lines += [*render_about(_RELATED.format(len(related)), width), BLANK]
    if before.pairs.judged:
        lines += [StyledLine((StyledSpan("judged before", "heading"),)), BLANK]
        lines += _render_opinions(before.pairs.judged, width)
    return lines


def _render_opinions(judged_pairs: Sequence[Conflict], width: int) -> list[StyledLine]:
    """Return uncertain pairs with the opinions on them."""
    return [row for pair in judged_pairs for row in _render_opinion(pair, width)]


def _render_pair(conflict: Conflict, width: int) -> list[StyledLine]:
    """Return an uncertain pair: its reason, and what each note says."""
    reason = make_one_line(mask_text(conflict.reason))
    rows = wrap([StyledSpan(reason, "bold")], width - 1)
    for side in (conflict.left, conflict.right):
        text = side.quote.text or side.note.description or "the whole note"
        where = StyledSpan(f"{make_one_line(side.quote.path)}:{side.line}  ", "accent")
        said = StyledSpan(make_one_line(mask_text(text)))
        rows += wrap([where, said], width - 1, *_INDENTED)
    return [*map(StyledLine, rows), BLANK]


def _render_opinion(conflict: Conflict, width: int) -> list[StyledLine]:
    paths = (make_one_line(side.quote.path) for side in (conflict.left, conflict.right))
    spans = render_opinion(conflict.opinion) if conflict.opinion else []
    rows = wrap([StyledSpan(" ↔ ".join(paths))], width - 1)
    rows += wrap(spans, width - 1, *_INDENTED)
    return [StyledLine(row) for row in rows]


def describe_outcome(outcome: JudgementOutcome) -> list[str]:
    """Return the result of having uncertain pairs judged, in a few sentences."""
    counts = Counter(opinion.verdict for _, opinion in outcome.opinions)
    views = (f"{_VIEW_WORDS[view]}: {counts[view]}" for view in PairVerdict if counts[view])
    messages = [f"{len(outcome.opinions)} judged. {'; '.join(views)}".rstrip()]
    if unconfirmed := len(outcome.unconfirmed):
        messages.append(f"Not listed yet: {unconfirmed}, until more of both notes is judged.")
    if outcome.rejected:
        first = outcome.rejected[0]
        more = f", and {len(outcome.rejected) - 1} more" if len(outcome.rejected) > 1 else ""
        messages.append(
            f"Refused: {make_one_line(first.change)}: {make_one_line(first.why).rstrip('.')}{more}."
        )
    return messages


_NO_CONFLICTS = (
    ("No two notes contradict or repeat each other", "heading"),
    (
        "Pairs of notes that do appear here side by side, each with its date, the message that "
        "caused it, what was checked in the project, and which one to keep.",
        "",
    ),
)
_KINDS = {Relation.CONTRADICTS: "Conflict", Relation.REPEATS: "Duplicate:"}
_LABEL = 9
_MOST_NAMED = 3
_MARKS = {
    CheckOutcome.VALID: ("✓", "OK"),
    CheckOutcome.MISSING: ("✗", "missing"),
    CheckOutcome.MOVED: ("✗", "moved"),
    CheckOutcome.CHANGED: ("~", "changed since"),
    CheckOutcome.UNCHECKED: ("?", "not checked"),
}


def describe_no_conflicts(unresolved: Unresolved | None, key: str) -> list[tuple[str, str]]:
    """Return the paragraphs, with their styles, of a workbench without conflicts. `key` lists the
    uncertain pairs; `unresolved` is None while they are not known.
    """
    if unresolved is None:
        return list(_NO_CONFLICTS)
    pending, judged = unresolved.pending_count, len(unresolved.judged_pairs)
    if pending:
        are = "1 pair is" if pending == 1 else f"{pending} pairs are"
        text = f"{are} uncertain: {key} lists them."
    elif judged:
        were = "1 uncertain pair was" if judged == 1 else f"{judged} uncertain pairs were"
        text = f"{were} judged: {key} shows the opinions."
    else:
        text = f"No pair of notes is uncertain. {key} lets a model look for more."
    return [*_NO_CONFLICTS, (text, "")]


def render_note(side: Side, width: int, *, revealed: bool) -> tuple[list[StyledLine], range]:
    """Return the text of a note in `width` cells with its claim marked, and the rows of the claim;
    an empty range if the claim is the whole note. Secrets are masked unless `revealed`.
    """
    note = side.note
    span = find_span(note, side.quote) or (-1, -1)
    lines: list[StyledLine] = []
    claim, at = range(0), 0
    part = note.text.__getitem__ if revealed else partial(_mask_part, note.text)
    for number, text in enumerate(note.text.split("\n"), 1):
        start, end = at, at + len(text)
        at = end + 1
        is_claim = start <= span[1] and span[0] <= end
        if end < note.frontmatter.end and not is_claim:
            continue
        base = (
            "frontmatter" if start < note.frontmatter.end else "heading" if text[:1] == "#" else ""
        )
        left, right = (max(start, min(edge, end)) for edge in span)
        cuts = ((start, left, base), (left, right, "match"), (right, end, base))
        spans = [StyledSpan(span_text(part(slice(a, b))), style) for a, b, style in cuts if a < b]
        rows = [StyledLine(row, number) for row in wrap(spans, width)] or [BLANK]
        if is_claim:
            first = claim.start if claim else len(lines) + _first_match_row(rows)
            claim = range(first, len(lines) + len(rows))
        lines += rows
    return lines, claim


def _first_match_row(rows: Sequence[StyledLine]) -> int:
    """Return the number of the first row that shows a part of the claim; 0 without one."""
    matching = (n for n, row in enumerate(rows) if any(span.style == "match" for span in row.spans))
    return next(matching, 0)


def _mask_part(text: str, part: slice) -> str:
    return mask_text(text, part.start, part.stop)


def render_facts(side: Side, width: int) -> list[StyledLine]:
    """Return the origin, the checked claims and the backlinks of a note, one line each."""
    facts = [
        ("origin", _render_origin(side)),
        ("checked", _render_checks(side)),
        ("linked", _render_backlinks(side)),
    ]
    return [
        StyledLine(fit((StyledSpan(f"{label:<{_LABEL}}", "dim"), *spans), width))
        for label, spans in facts
    ]


def format_side_title(side: Side) -> str:
    """Return the path of a note, its date, and how often agents read it."""
    day = parse_stamp(side.note)
    stamped = f"{day:%-d %b %Y}" if day else "undated"
    parts = (clip(side.quote.path, 40), stamped, side.reads)
    return " · ".join(part for part in parts if part)


def render_suggestion(conflict: Conflict, width: int) -> list[StyledLine]:
    """Return which side to keep and why; for an uncertain pair also the model's opinion."""
    parts = [render_opinion(conflict.opinion)] if conflict.opinion else []
    if conflict.opinion is None or conflict.suggestion.keep is not Keep.NONE:
        parts.append(
            [
                StyledSpan("suggestion: ", "accent"),
                StyledSpan(make_one_line(mask_text(conflict.suggestion.text))),
            ]
        )
    blank = (StyledSpan(" "),)
    return [StyledLine(row) for spans in parts for row in wrap(spans, width, blank, blank)]


def render_title(
    conflict: Conflict, conflicts: Sequence[Conflict]
) -> tuple[StyledSpan, StyledSpan]:
    """Return the number of a conflict, duplicate or uncertain pair among those of its kind in
    `conflicts`, and the reason for it.
    """
    kind = _get_kind(conflict)
    alike = [other.id for other in conflicts if _get_kind(other) == kind]
    number = f"{alike.index(conflict.id) + 1} of {len(alike)}"
    why = StyledSpan(f"· {make_one_line(mask_text(conflict.reason))}")
    return StyledSpan(f" {kind} {number} ", "accent bold"), why


def _get_kind(conflict: Conflict) -> str:
    return _KINDS.get(conflict.relation, "Uncertain:")


def _render_origin(side: Side) -> tuple[StyledSpan, ...]:
    origin = side.origin
    if origin is None:
        return (StyledSpan("not in any transcript", "dim"),)
    if origin.speaker == UNKNOWN_SPEAKER:
        return (StyledSpan(NO_MESSAGE_TEXT, "dim"),)
    if origin.speaker == "agent" or not origin.text:
        return (StyledSpan(AGENT_ONLY_TEXT, "warning"),)
    return (
        StyledSpan(f"“{make_one_line(origin.text)}”"),
        StyledSpan(f"  {clip(origin.session, 30)}", "dim"),
    )


def _render_checks(side: Side) -> tuple[StyledSpan, ...]:
    checked = sorted(
        (verdict for verdict in side.verdicts if verdict.is_checked),
        key=lambda verdict: verdict.outcome is CheckOutcome.VALID,
    )
    if not checked:
        return (StyledSpan("no claim was checked", "dim"),)
    spans = [span for verdict in checked[:_MOST_NAMED] for span in _render_verdict(verdict)]
    more = len(checked) - _MOST_NAMED
    return (*spans, StyledSpan(f"+{more} more", "dim")) if more > 0 else tuple(spans)


def _render_verdict(verdict: Verdict) -> tuple[StyledSpan, StyledSpan]:
    mark, word = _MARKS[verdict.outcome]
    style = "fine" if verdict.outcome is CheckOutcome.VALID else "warning"
    return StyledSpan(f"{mark} {clip(verdict.claim, 40)} ", style), StyledSpan(f"{word}  ", "dim")


def _render_backlinks(side: Side) -> tuple[StyledSpan, ...]:
    if not side.linked_from:
        return (StyledSpan("no note links to it", "dim"),)
    return (StyledSpan("from ", "dim"), StyledSpan(make_one_line(", ".join(side.linked_from))))
