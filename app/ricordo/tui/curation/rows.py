"""Proposals as lines: a row or two in the list, and what is known of one above its diff."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ricordo.curation.pending import Waiting
from ricordo.curation.proposal import Alarm, Quoted, Rejected
from ricordo.memory.layout import FileRole, Layout
from ricordo.services.curation.decision import Shown
from ricordo.services.curation.preparation import SkippedInput
from ricordo.services.engines.preview import cost_of
from ricordo.services.ledger.ledger import LedgerRun
from ricordo.services.sessions.quotes import session_name, turn_of
from ricordo.text import clip, one_line
from ricordo.tui.curation.decisions import Deciding, Mark, Thing
from ricordo.tui.render.line import (
    BLANK,
    StyledLine,
    StyledSpan,
    dividing_rows,
    fit,
    with_right,
    wrap,
)
from ricordo.tui.render.mask import masked

NOTHING_WAITS = (
    ("Nothing waits to be decided", "heading"),
    (
        "A curator reads what you and your agents said since the last time, and proposes what the "
        "notes should say; its proposals will stand here, each with the words on which it rests. "
        "You take or leave each, and nothing is written before.",
        "",
    ),
)
_LONGEST_QUOTE = 600
_LABEL = 6
"""Cells before a line of what is known."""

Text = tuple[str, str]
Aside = Rejected | SkippedInput
"""What stands below that which waits."""


def thing_rows(
    it: Thing, deciding: Deciding, width: int, *, in_one: bool
) -> tuple[StyledLine, ...]:
    """Return the rows of whatever stands in the list of a review, in one or two."""
    if isinstance(it, str):
        return dividing_rows(it, width, in_one=in_one)
    if isinstance(it, Aside):
        return _aside_rows(it, width, in_one=in_one)
    return _proposal_rows(it, _state_of(it, deciding), width, in_one=in_one)


def _state_of(it: Shown, deciding: Deciding) -> tuple[str, str, str]:
    """Return a glyph, words and their style."""
    mark = deciding.of(it)
    if mark is Mark.WRITTEN:
        return "✓", "written", "dim"
    if mark is Mark.REFUSED:
        return "✗", "no", "dim"
    if it.why_not:
        return "⊘", "fits no longer", "dim"
    if mark is Mark.TAKEN:
        if deciding.is_nothing(it):
            return "·", "nothing left", "warning"
        return "✓", "yes, in part" if deciding.left_out(it) else "yes", "success"
    if it.waiting.told:
        return "!", "warned", "warning"
    return "·", "undecided" if deciding.is_shown(it) else "unread", ""


def _proposal_rows(
    it: Shown, state: tuple[str, str, str], width: int, *, in_one: bool
) -> tuple[StyledLine, ...]:
    glyph, word, style = state
    name = [
        StyledSpan(f" {glyph} ", style),
        StyledSpan(f"{it.waiting.op:<8}"),
        StyledSpan(one_line(it.waiting.path.removesuffix(".md")), "bold"),
    ]
    about, about_style = _brief(it)
    right = (StyledSpan(f" {word} ", style),)
    if in_one:
        return (with_right([*name, StyledSpan(f"  {about}", about_style)], right, width),)
    return with_right(name, right, width), StyledLine(
        fit((StyledSpan(f"   {about}", about_style),), width)
    )


def _brief(it: Shown) -> Text:
    if it.why_not:
        return one_line(masked(it.why_not)), "dim"
    if it.waiting.told:
        return one_line(masked(", ".join(it.waiting.told))), "warning"
    return one_line(masked(it.waiting.change.reason)), "dim"


def _aside_rows(it: Aside, width: int, *, in_one: bool) -> tuple[StyledLine, ...]:
    name = (StyledSpan(" ⊘ ", "dim"), StyledSpan(_what(it), "dim"))
    why = StyledSpan(one_line(masked(it.why)), "dim")
    if in_one:
        return (StyledLine(fit((*name, StyledSpan("  "), why), width)),)
    return StyledLine(fit(name, width)), StyledLine(fit((StyledSpan("   "), why), width))


def aside_lines(it: Aside, width: int) -> list[StyledLine]:
    """Return what was rejected or not read, and why, in full."""
    told = [("what", _what(it), ""), ("why", one_line(masked(it.why)), "")]
    return [*_labelled(told, width), BLANK, StyledLine((StyledSpan(nothing_to_decide(it), "dim"),))]


def nothing_to_decide(it: Aside) -> str:
    """Return why there is nothing to decide on it."""
    what = "The checks rejected it" if isinstance(it, Rejected) else "It was not read"
    return f"{what}, so there is nothing to decide."


def _what(it: Aside) -> str:
    return one_line(masked(it.change)) if isinstance(it, Rejected) else it.name


def head_lines(it: Shown, titles: Mapping[str, str], width: int) -> list[StyledLine]:
    """Return why something is proposed, on which words it rests, and what to know before it is
    taken. `titles` are what sessions are called, by their transcripts.
    """
    told = [("why", one_line(masked(it.waiting.change.reason)), "")]
    if it.why_not:
        told.append(("⊘", f"fits no longer: {one_line(masked(it.why_not))}", "warning"))
    if it.needs_others:
        told.append(("!", "it fits only behind proposals that stand before it", "warning"))
    if it.waiting.is_edited:
        told.append(("✎", "edited by you", "accent"))
    told += [("!", one_line(masked(text)), "warning") for text in it.waiting.told]
    lines = _labelled(told, width)
    for quoted in it.waiting.evidence:
        lines += _quote_lines(quoted, titles, width)
    return [*lines, BLANK]


def _quote_lines(quoted: Quoted, titles: Mapping[str, str], width: int) -> list[StyledLine]:
    quote = StyledSpan(f"“{clip(masked(quoted.quote), _LONGEST_QUOTE)}”", "quote")
    found = (
        StyledSpan("  ✓ found in ", "dim")
        if quoted.found
        else StyledSpan("  ✗ not found in ", "warning")
    )
    where = StyledSpan(_where(quoted.source, titles), "dim" if quoted.found else "warning")
    first = StyledSpan(f"{'says':<{_LABEL}}", "dim")
    rows = wrap([quote, found, where], width, (first,), (StyledSpan(" " * _LABEL),))
    return [StyledLine(row) for row in rows]


def _where(source: str, titles: Mapping[str, str]) -> str:
    path, key = turn_of(source)
    if not key:
        return clip(source, 60)
    return f"“{clip(titles.get(path) or session_name(path), 40)}”"


def _labelled(told: Sequence[tuple[str, str, str]], width: int) -> list[StyledLine]:
    rest = (StyledSpan(" " * _LABEL),)
    return [
        StyledLine(row)
        for label, text, style in told
        for row in wrap(
            [StyledSpan(text, style)], width, (StyledSpan(f"{label:<{_LABEL}}", style),), rest
        )
    ]


def told_of_waiting(shown: Sequence[Shown], runs: Sequence[LedgerRun]) -> str:
    """Return how much waits, who proposed it, what that cost, from how many sessions, and when the
    last of the `runs` was that did.
    """
    if not shown:
        return "nothing waits"
    authors = dict.fromkeys(it.waiting.change.author for it in shown)
    quoted = (turn_of(it.source) for each in shown for it in each.waiting.evidence)
    sessions = len({path for path, key in quoted if key})
    told = [f"{len(shown)} {'proposal waits' if len(shown) == 1 else 'proposals wait'}"]
    told += [one_line(" ".join(filter(None, (it.name, it.model)))) for it in authors]
    if runs:
        told.append(cost_of(*(it.whole_usd for it in runs)))
    if sessions:
        told.append(f"from {'1 session' if sessions == 1 else f'{sessions} sessions'}")
    if runs:
        told.append(f"proposed {one_line(runs[0].at[:16].replace('T', ' '))}")
    return " · ".join(told)


def decided_spans(
    taken: Sequence[Shown], refused: int, layout: Layout
) -> tuple[tuple[StyledSpan, ...], tuple[StyledSpan, ...]]:
    """Return what would be written and kept away, and that nothing is yet: the left and the right
    part of a line.
    """
    no = f" · {refused} refused" if refused else ""
    if not taken:
        told = f" nothing is accepted yet{no}; what is not decided waits"
        return (StyledSpan(told, "dim"),), ()
    told = f" {len(taken)} accepted · {told_of_taken(taken, layout)}{no}"
    return (StyledSpan(told, "success"),), (StyledSpan(" nothing is written until ctrl+s ", "dim"),)


def told_of_alarms(waits: Sequence[Waiting], found: Mapping[str, Sequence[Alarm]]) -> list[str]:
    """Return what alarms of proposals, a line each; `found` is that, by their ids."""
    told = ((it, found[it.id]) for it in waits if it.id in found)
    return [f"{it.op} {clip(it.path, 60)}: {'; '.join(alarms)}" for it, alarms in told]


def told_of_taken(taken: Sequence[Shown], layout: Layout) -> str:
    """Return what would become of files if these proposals were written, in a few words."""
    created, changed, retired = set[str](), set[str](), set[str]()
    is_index_touched = False
    for edit in (edit for it in taken for edit in it.edits):
        if layout.role(edit.path) is FileRole.INDEX:
            is_index_touched = True
        elif edit.before is None:
            created.add(edit.path)
        elif edit.after is None:
            retired.add(edit.path)
        else:
            changed.add(edit.path)
    notes = [(created, "created"), (changed - retired, "changed"), (retired, "retired")]
    told = [f"{len(paths)} {word}" for paths, word in notes if paths]
    if told:
        count, _, word = told[0].partition(" ")
        told[0] = f"{count} {'note' if count == '1' else 'notes'} {word}"
    return ", ".join([*told, *(["the index with them"] if is_index_touched else [])])
