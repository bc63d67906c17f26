"""Composing: from facts to statements, by extraction.

Nothing is put into other words. What the person or the agent said is quoted; what a tool reported
is told with its result; what is not known is left out. An agent's own words stand as its claim,
never as a fact. Each statement names the facts that it stands on; what it has for a proof is what
the transcript gives, and `prove.py` sees whether that holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ricordo.handoff.composing.constraints import Constraint, constraints, stated
from ricordo.handoff.composing.decisions import answered, answers, decisions, ruled_out
from ricordo.handoff.composing.next_steps import next_steps
from ricordo.handoff.composing.objective import objective
from ricordo.handoff.composing.pointers import errors, files, memory, messages
from ricordo.handoff.composing.questions import open_questions
from ricordo.handoff.composing.refusals import Refusals
from ricordo.handoff.composing.room import SHARES, Room, room
from ricordo.handoff.composing.runs import Runs, runs
from ricordo.handoff.composing.state import active, blocked, done
from ricordo.handoff.composing.summaries import summarized
from ricordo.handoff.composing.talk import Talk
from ricordo.handoff.composing.talk import talk as talk_of
from ricordo.handoff.facts import Facts
from ricordo.handoff.statement import Section, Statement
from ricordo.model.question import estimate

_OURS = 0.75
"""Share of the tokens that statements are fitted into; the head and the headings take the rest."""
_MARK = " " * 100
"""What a statement costs besides its words: its mark, the fences of its quotation."""


def compose(
    facts: Facts, *, tokens: int = 4_000, with_messages: bool = False
) -> tuple[Statement, ...]:
    """Return the statements of a handoff of `facts`, by section, the most important first within
    each. Quotations are cut so that they fit into `tokens` where that can be, and not shorter than
    makes sense: what is too much then is left to `budget.py`. Every message of the person is among
    them where that is wished, on top of that.
    """
    talk, refusals = talk_of(facts), Refusals(facts)
    known = runs(facts, refusals)
    limits = constraints(talk)
    found: tuple[Statement, ...] = ()
    for share in SHARES:
        found = tuple(_statements(facts, talk, known, limits, refusals, room(share)))
        if sum(estimate(f"{it.text}{it.quote}{_MARK}") for it in found) <= tokens * _OURS:
            break
    return (*_in_order(found), *(messages(facts) if with_messages else ()))


def _statements(
    facts: Facts,
    talk: Talk,
    known: Runs,
    limits: tuple[Constraint, ...],
    refusals: Refusals,
    room: Room,
) -> Iterator[Statement]:
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
    yield from (it for it in kept if it.section is not Section.NEXT)
    of_summary = [it for it in kept if it.section is Section.NEXT]
    yield from next_steps(facts, talk, known, of_summary, room, refusals)
    yield from open_questions(talk, room)
    yield from memory(facts)


def _in_order(found: Iterable[Statement]) -> list[Statement]:
    order = list(Section)
    return sorted(found, key=lambda it: order.index(it.section))
