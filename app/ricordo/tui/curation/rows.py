"""Proposals as lines: one or two rows in the list, and reason and evidence above the diff."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ricordo.curation.pending import PendingProposal
from ricordo.curation.proposal import Alarm, EvidenceQuote, RejectedChange
from ricordo.memory.layout import FileRole, Layout
from ricordo.services.curation.decision import ShownProposal
from ricordo.services.curation.preparation import SkippedInput
from ricordo.services.engines.preview import format_costs
from ricordo.services.ledger.ledger import LedgerRun
from ricordo.services.sessions.quotes import name_session, split_source
from ricordo.text import clip, make_one_line
from ricordo.tui.curation.decisions import CurationDecisions, ProposalDecision, ReviewItem
from ricordo.tui.render.line import (
    BLANK,
    StyledLine,
    StyledSpan,
    align_right,
    fit,
    render_divider,
    wrap,
)
from ricordo.tui.render.mask import mask_text

NO_PROPOSALS = (
    ("No pending proposals", "heading"),
    (
        "A curator reads what you and your agents wrote since the last time, and proposes changes "
        "to the notes. Its proposals appear here, each with the messages that it quotes. You "
        "accept or refuse each; nothing is written before that.",
        "",
    ),
)
_LONGEST_QUOTE = 600
_LABEL = 6
"""Cells of a label."""

StyledText = tuple[str, str]
UndecidableItem = RejectedChange | SkippedInput
"""Rows below the pending proposals: nothing can be decided on them."""


def render_item(
    thing: ReviewItem, decisions: CurationDecisions, width: int, *, in_one: bool
) -> tuple[StyledLine, ...]:
    """Return a row of the review list, in one or two lines."""
    if isinstance(thing, str):
        return render_divider(thing, width, in_one=in_one)
    if isinstance(thing, UndecidableItem):
        return _render_aside(thing, width, in_one=in_one)
    return _render_proposal(thing, _describe_state(thing, decisions), width, in_one=in_one)


def _describe_state(proposal: ShownProposal, decisions: CurationDecisions) -> tuple[str, str, str]:
    """Return the glyph, the words and the style for the decision on a proposal."""
    mark = decisions.decision_on(proposal)
    if mark is ProposalDecision.WRITTEN:
        return "✓", "written", "dim"
    if mark is ProposalDecision.REFUSED:
        return "✗", "no", "dim"
    if proposal.blocked_reason:
        return "⊘", "outdated", "dim"
    if mark is ProposalDecision.ACCEPTED:
        if decisions.is_emptied(proposal):
            return "·", "all left out", "warning"
        return "✓", "yes, in part" if decisions.hunks_left_out(proposal) else "yes", "success"
    if proposal.proposal.all_warnings:
        return "!", "warning", "warning"
    return "·", "undecided" if decisions.is_read(proposal) else "unread", ""


def _render_proposal(
    proposal: ShownProposal, state: tuple[str, str, str], width: int, *, in_one: bool
) -> tuple[StyledLine, ...]:
    glyph, word, style = state
    name = [
        StyledSpan(f" {glyph} ", style),
        StyledSpan(f"{proposal.proposal.op:<8}"),
        StyledSpan(make_one_line(proposal.proposal.subject.removesuffix(".md")), "bold"),
    ]
    if place := proposal.proposal.place:
        name.append(StyledSpan(f" {make_one_line(place)}", "dim"))
    about, about_style = _describe_briefly(proposal)
    right = (StyledSpan(f" {word} ", style),)
    if in_one:
        return (align_right([*name, StyledSpan(f"  {about}", about_style)], right, width),)
    return align_right(name, right, width), StyledLine(
        fit((StyledSpan(f"   {about}", about_style),), width)
    )


def _describe_briefly(proposal: ShownProposal) -> StyledText:
    if proposal.blocked_reason:
        return make_one_line(mask_text(proposal.blocked_reason)), "dim"
    if proposal.proposal.all_warnings:
        return make_one_line(mask_text(", ".join(proposal.proposal.all_warnings))), "warning"
    return make_one_line(mask_text(proposal.proposal.change.reason)), "dim"


def _render_aside(aside: UndecidableItem, width: int, *, in_one: bool) -> tuple[StyledLine, ...]:
    name = (StyledSpan(" ⊘ ", "dim"), StyledSpan(_describe_aside(aside), "dim"))
    why = StyledSpan(make_one_line(mask_text(aside.why)), "dim")
    if in_one:
        return (StyledLine(fit((*name, StyledSpan("  "), why), width)),)
    return StyledLine(fit(name, width)), StyledLine(fit((StyledSpan("   "), why), width))


def render_undecidable(aside: UndecidableItem, width: int) -> list[StyledLine]:
    """Return a rejected change or skipped input in full, with the reason."""
    parts = [("what", _describe_aside(aside), ""), ("why", make_one_line(mask_text(aside.why)), "")]
    hint = StyledLine((StyledSpan(explain_undecidable(aside), "dim"),))
    return [*_render_labelled(parts, width), BLANK, hint]


def explain_undecidable(aside: UndecidableItem) -> str:
    """Return why nothing can be decided on a rejected change or skipped input."""
    if isinstance(aside, RejectedChange):
        return "The checks rejected this change; nothing to decide."
    return "This was not read; nothing to decide."


def _describe_aside(aside: UndecidableItem) -> str:
    return (
        make_one_line(mask_text(aside.change)) if isinstance(aside, RejectedChange) else aside.name
    )


def render_reasons(
    proposal: ShownProposal, titles: Mapping[str, str], width: int
) -> list[StyledLine]:
    """Return the reason, the warnings and the quoted messages of a proposal. `titles` are the
    titles of sessions by the paths of their transcripts.
    """
    parts = [("why", make_one_line(mask_text(proposal.proposal.change.reason)), "")]
    if submitter := proposal.proposal.submitter:
        parts.append(("by", make_one_line(mask_text(submitter)), ""))
    if proposal.blocked_reason:
        parts.append(
            (
                "⊘",
                f"no longer applies: {make_one_line(mask_text(proposal.blocked_reason))}",
                "warning",
            )
        )
    if proposal.needs_others:
        parts.append(("!", "applies only together with proposals listed before it", "warning"))
    if proposal.proposal.is_edited:
        parts.append(("✎", "edited by you", "accent"))
    parts += [
        ("!", make_one_line(mask_text(text)), "warning") for text in proposal.proposal.all_warnings
    ]
    lines = _render_labelled(parts, width)
    for quoted in proposal.proposal.evidence:
        lines += _render_quote(quoted, titles, width)
    return [*lines, BLANK]


def _render_quote(quoted: EvidenceQuote, titles: Mapping[str, str], width: int) -> list[StyledLine]:
    quote = StyledSpan(f"“{clip(mask_text(quoted.quote), _LONGEST_QUOTE)}”", "quote")
    check = (
        StyledSpan("  ✓ found in ", "dim")
        if quoted.found
        else StyledSpan("  ✗ not found in ", "warning")
    )
    style = "dim" if quoted.found else "warning"
    where = StyledSpan(_describe_source(quoted.source, titles), style)
    first = StyledSpan(f"{'says':<{_LABEL}}", "dim")
    rows = wrap([quote, check, where], width, (first,), (StyledSpan(" " * _LABEL),))
    return [StyledLine(row) for row in rows]


def _describe_source(source: str, titles: Mapping[str, str]) -> str:
    path, key = split_source(source)
    if not key:
        return clip(source, 60)
    return f"“{clip(titles.get(path) or name_session(path), 40)}”"


def _render_labelled(parts: Sequence[tuple[str, str, str]], width: int) -> list[StyledLine]:
    rest = (StyledSpan(" " * _LABEL),)
    return [
        StyledLine(row)
        for label, text, style in parts
        for row in wrap(
            [StyledSpan(text, style)], width, (StyledSpan(f"{label:<{_LABEL}}", style),), rest
        )
    ]


def describe_pending(shown: Sequence[ShownProposal], runs: Sequence[LedgerRun]) -> str:
    """Return how many proposals are pending, who proposed them, what they cost, from how many
    sessions, and when the last of the `runs` was.
    """
    if not shown:
        return "no pending proposals"
    authors = dict.fromkeys(proposal.proposal.change.author for proposal in shown)
    quoted = (split_source(quote.source) for each in shown for quote in each.proposal.evidence)
    sessions = len({path for path, key in quoted if key})
    parts = [f"{len(shown)} pending {'proposal' if len(shown) == 1 else 'proposals'}"]
    parts += [make_one_line(" ".join(filter(None, (each.name, each.model)))) for each in authors]
    if runs:
        parts.append(format_costs(*(run.whole_usd for run in runs)))
    if sessions:
        parts.append(f"from {'1 session' if sessions == 1 else f'{sessions} sessions'}")
    if runs:
        parts.append(f"proposed {make_one_line(runs[0].at[:16].replace('T', ' '))}")
    return " · ".join(parts)


def render_decisions(
    accepted: Sequence[ShownProposal], refused: int, written: int, layout: Layout
) -> tuple[tuple[StyledSpan, ...], tuple[StyledSpan, ...]]:
    """Return what ctrl+s would write, how many are refused and how many `written` already: the
    left and the right part of a line.
    """
    no = f" · {refused} refused" if refused else ""
    if not accepted:
        done = f"{written} written" if written else "nothing accepted yet"
        words = f" {done}{no}; undecided proposals stay pending"
        return (StyledSpan(words, "dim"),), ()
    words = f" {len(accepted)} accepted · {describe_accepted(accepted, layout)}{no}"
    hint = StyledSpan(" nothing is written until ctrl+s ", "dim")
    return (StyledSpan(words, "success"),), (hint,)


def describe_alarms(
    proposals: Sequence[PendingProposal], found: Mapping[str, Sequence[Alarm]]
) -> list[str]:
    """Return the alarms of proposals, a line each; `found` are the alarms by proposal id."""
    alarming = ((each, found[each.id]) for each in proposals if each.id in found)
    return [f"{each.op} {clip(each.path, 60)}: {'; '.join(alarms)}" for each, alarms in alarming]


def describe_accepted(accepted: Sequence[ShownProposal], layout: Layout) -> str:
    """Return how many notes these proposals create, change and retire, in words."""
    created, changed, retired = set[str](), set[str](), set[str]()
    is_index_touched = False
    for edit in (edit for proposal in accepted for edit in proposal.edits):
        if layout.get_role(edit.path) is FileRole.INDEX:
            is_index_touched = True
        elif edit.before is None:
            created.add(edit.path)
        elif edit.after is None:
            retired.add(edit.path)
        else:
            changed.add(edit.path)
    notes = [(created, "created"), (changed - retired, "changed"), (retired, "retired")]
    counts = [f"{len(paths)} {word}" for paths, word in notes if paths]
    if counts:
        count, _, word = counts[0].partition(" ")
        counts[0] = f"{count} {'note' if count == '1' else 'notes'} {word}"
    return ", ".join([*counts, *(["index updated"] if is_index_touched else [])])
