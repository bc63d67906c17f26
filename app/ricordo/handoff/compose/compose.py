"""Composing: from facts to statements, by extraction.

Nothing is put into other words. What the person or the agent said is quoted; what a tool reported
is told with its result; what is not known is left out. An agent's own words stand as its claim,
never as a fact. Each statement names the facts that it stands on; what it has for a proof is what
the transcript gives, and `prove.py` sees whether that holds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from ricordo.handoff.compose.decisions import (
    Constraint,
    answered,
    answers,
    constraints,
    decisions,
    ruled_out,
    stated,
)
from ricordo.handoff.compose.next_steps import next_steps
from ricordo.handoff.compose.quotes import SHARES, Room, code, quoting, room, short
from ricordo.handoff.compose.refusals import Refusals
from ricordo.handoff.compose.runs import LastRuns, runs
from ricordo.handoff.compose.state import active, blocked, done, open_questions
from ricordo.handoff.compose.talk import Place, Talk, place
from ricordo.handoff.compose.talk import talk as talk_of
from ricordo.handoff.compose.words import CHECK, has, headed
from ricordo.handoff.document import HandoffStatement, QuoteMark, StatementSection
from ricordo.handoff.facts import MEMORY, ErrorFact, Facts, FileUse, MessageFact
from ricordo.llm.question import estimate

_LABEL = "The agent's summary of earlier turns"


def summarized(facts: Facts, room: Room) -> Iterator[HandoffStatement]:
    """Yield what the last summary says, by section: it stands in the place of earlier ones. One
    without a heading that is known is quoted as what was done.
    """
    written = [it for it in facts.summaries if it.text.strip()]
    if not written:
        return
    last = written[-1]
    found = [it for it in headed(last.text) if any(map(str.isalnum, it.text))]
    for about, words in found:
        section = StatementSection.NEXT if about == CHECK else StatementSection(about)
        yield quoting(section, _LABEL, words, last.ref, (last.id,), room.answer)
    if not found:
        yield quoting(StatementSection.DONE, _LABEL, last.text, last.ref, (last.id,), room.report)


_MOST_LATER = 12
"""Later wishes that are quoted."""


def objective(talk: Talk, told: Collection[str], room: Room) -> Iterator[HandoffStatement]:
    """Yield the first wish, the last one, and those between that are not `told` elsewhere, by the
    ids of the messages. Where there is room for some alone, the first ones of later sessions and
    those that take another direction go first, then later before earlier.
    """
    wishes = talk.wishes
    if not wishes:
        return
    first, *later = wishes
    begun = {it.id for it in _first_ones(wishes)}
    yield quoting(
        StatementSection.OBJECTIVE, "Asked first", first.text, first.ref, (first.id,), room.first
    )
    chosen = _chosen([it for it in later if it.id not in told], begun, room)
    for it in sorted(chosen, key=lambda it: it is not wishes[-1]):
        label = "Asked last" if it is wishes[-1] else "In between"
        label = "Asked first in this session" if it.id in begun else label
        yield quoting(StatementSection.OBJECTIVE, label, it.text, it.ref, (it.id,), room.wish)


def _first_ones(wishes: Sequence[MessageFact]) -> Collection[MessageFact]:
    """Return the first wish of every session."""
    return {it.ref.session: it for it in reversed(wishes)}.values()


def _chosen(later: Sequence[MessageFact], begun: Collection[str], room: Room) -> list[MessageFact]:
    """Return those of the wishes for which there is room, in the order of time."""
    left, chosen = room.wishes, set[str]()

    def weighs_less(it: MessageFact) -> bool:
        return not (it is later[-1] or it.id in begun or has("turn", it.text))

    by_weight = list(reversed(later))
    by_weight.sort(key=weighs_less)
    for it in by_weight:
        size = min(len(it.text), room.wish)
        if len(chosen) < _MOST_LATER and size <= left:
            chosen.add(it.id)
            left -= size
    return [it for it in later if it.id in chosen]


_MOST_CHANGED = 20
_MOST_READ = 8
_MOST_PARTS = 8
_MOST_ERRORS = 8
_LONGEST_ERROR = 300
_LONGEST_WHAT = 160
_LONGEST_COMMENT = 240


def files(facts: Facts) -> Iterator[HandoffStatement]:
    """Yield the files that were changed, those of the last changes first, then those of the project
    that were read and are there. Where none was changed that is said: an agent may claim otherwise.
    """
    latest_first = sorted(facts.files, key=_last, reverse=True)
    changed = [it for it in latest_first if it.is_changed]
    read = [it for it in latest_first if not it.is_changed and it.sha and _is_inside(it)]
    if not changed and any(not it.is_person for it in facts.said):
        yield HandoffStatement(
            StatementSection.FILES, "No change of a file was found in the sessions"
        )
    for it in changed[:_MOST_CHANGED]:
        yield _file(it, _deeds(it))
    for it in read[:_MOST_READ]:
        yield _file(it, "only read")


def errors(facts: Facts, talk: Talk, blocking: Collection[str]) -> Iterator[HandoffStatement]:
    """Yield the errors, with what the agent said of them and what mended them; those that nothing
    mended come first, later ones before earlier. What it said of the `blocking` commands is told
    with them.
    """
    latest_first = sorted(facts.mishaps, key=lambda it: place(it.ref), reverse=True)
    for it in sorted(latest_first, key=lambda it: it.mended is not None)[:_MOST_ERRORS]:
        comment = "" if it.what in blocking else _comment(it, talk)
        text = f"{code(it.what, _LONGEST_WHAT)} failed; {_mended(it)}{comment}"
        yield quoting(StatementSection.ERRORS, text, it.error, it.ref, (it.id,), _LONGEST_ERROR)


def memory(facts: Facts) -> Iterator[HandoffStatement]:
    """Yield where the memory lies and which of its notes bear on the work."""
    if not facts.memory:
        return
    yield HandoffStatement(
        StatementSection.MEMORY, f"The memory lies at {code(facts.memory)}", stands_on=(MEMORY,)
    )
    for it in facts.notes:
        told = f": {it.description}" if it.description else ""
        why = f" ({it.why})" if it.why else ""
        yield HandoffStatement(
            StatementSection.MEMORY, f"{code(it.path)}{told}{why}", stands_on=(it.id,)
        )


def messages(facts: Facts) -> Iterator[HandoffStatement]:
    """Yield every message of the person, word for word."""
    for it in facts.said:
        if it.is_person and it.text.strip():
            yield HandoffStatement(
                StatementSection.MESSAGES, "The person", QuoteMark(it.ref), (it.id,), it.text
            )


def _last(it: FileUse) -> Place:
    return place(it.last)


def _is_inside(it: FileUse) -> bool:
    return not it.path.startswith(("/", "~"))


def _file(it: FileUse, deeds: str) -> HandoffStatement:
    """Return what is told of a file: the mark is of what it is now, and not of what was done."""
    text = f"{code(it.path)}{_whereabouts(it)} (transcript: {deeds})"
    return HandoffStatement(StatementSection.FILES, text, stands_on=(it.id,))


def _deeds(it: FileUse) -> str:
    told = " and ".join(deed.value for deed in it.deeds if deed.changes)
    times = f" {it.times} times" if it.times > 1 else ""
    parts = ", ".join(code(part) for part in it.parts[-_MOST_PARTS:])
    names = f"; the changes name {parts}" if parts else ""
    return f"{told}{times}, last at turn {it.last.turn}{names}"


def _whereabouts(it: FileUse) -> str:
    if not _is_inside(it):
        return ", outside of the project"
    if it.is_gone:
        return " is not there now"
    return "" if it.sha else " cannot be read now"


def _comment(it: ErrorFact, talk: Talk) -> str:
    """Return what the agent said of an error before it was mended."""
    said = talk.after(it.ref)
    if said is None or (it.mended is not None and place(said.ref) > place(it.mended)):
        return ""
    words = short(said.text, _LONGEST_COMMENT)
    # the mark names the turn of the error
    return f"; the agent then, at turn {said.ref.turn}: “{words}”"


def _mended(it: ErrorFact) -> str:
    if it.mended is None:
        return "nothing is known to have mended it"
    # what stands between is what was seen, and need not be the reason
    changed = f", after a change of {it.by}" if it.by else ""
    return f"no longer at turn {it.mended.turn}{changed}"


_OURS = 0.75
"""Share of the tokens that statements are fitted into; the head and the headings take the rest."""
_MARK = " " * 100
"""What a statement costs besides its words: its mark, the fences of its quotation."""


def compose(
    facts: Facts, *, tokens: int = 4_000, with_messages: bool = False
) -> tuple[HandoffStatement, ...]:
    """Return the statements of a handoff of `facts`, by section, the most important first within
    each. Quotations are cut so that they fit into `tokens` where that can be, and not shorter than
    makes sense: what is too much then is left to `budget.py`. Every message of the person is among
    them where that is wished, on top of that.
    """
    talk, refusals = talk_of(facts), Refusals(facts)
    known = runs(facts, refusals)
    limits = constraints(talk)
    found: tuple[HandoffStatement, ...] = ()
    for share in SHARES:
        found = tuple(_statements(facts, talk, known, limits, refusals, room(share)))
        if sum(estimate(f"{it.text}{it.quote}{_MARK}") for it in found) <= tokens * _OURS:
            break
    return (*_in_order(found), *(messages(facts) if with_messages else ()))


def _statements(
    facts: Facts,
    talk: Talk,
    known: LastRuns,
    limits: tuple[Constraint, ...],
    refusals: Refusals,
    room: Room,
) -> Iterator[HandoffStatement]:
    replies = answers(talk)
    quoted = {it.said.id for it in limits if it.is_whole} | {it.reply.id for it in replies}
    kept = list(summarized(facts, room))
    yield from objective(talk, quoted, room)
    told = [*stated(limits, room), *answered(replies, room)]
    yield from refusals.stated(room)
    yield from told
    yield from done(facts, talk, known, room)
    yield from active(facts, talk, known, room)
    yield from blocked(talk, known, room)
    decided = list(decisions(facts, talk, told, room))
    yield from decided
    yield from ruled_out(facts, talk, decided, room)
    yield from files(facts)
    yield from errors(facts, talk, {it.command for it in known.failed})
    yield from (it for it in kept if it.section is not StatementSection.NEXT)
    of_summary = [it for it in kept if it.section is StatementSection.NEXT]
    yield from next_steps(facts, talk, known, of_summary, room, refusals)
    yield from open_questions(talk, room)
    yield from memory(facts)


def _in_order(found: Iterable[HandoffStatement]) -> list[HandoffStatement]:
    order = list(StatementSection)
    return sorted(found, key=lambda it: order.index(it.section))
