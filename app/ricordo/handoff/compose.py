"""Composing: from facts to statements, by extraction.

Nothing is put into other words. What the person or the agent said is quoted; what a tool reported
is told with its result; what is not known is left out. An agent's own words stand as its claim,
never as a fact. Each statement names the facts that it stands on; what it has for a proof is what
the transcript gives, and `prove.py` sees whether that holds.
"""

from __future__ import annotations

from ricordo.handoff.composing.constraints import constraints, stated
from ricordo.handoff.composing.decisions import decisions, ruled_out
from ricordo.handoff.composing.next_steps import next_steps
from ricordo.handoff.composing.objective import objective
from ricordo.handoff.composing.pointers import errors, files, memory, messages
from ricordo.handoff.composing.questions import open_questions
from ricordo.handoff.composing.runs import runs
from ricordo.handoff.composing.state import active, blocked, done
from ricordo.handoff.composing.summaries import with_summaries
from ricordo.handoff.composing.talk import talk as talk_of
from ricordo.handoff.facts import Facts
from ricordo.handoff.statement import Statement


def compose(facts: Facts, *, with_messages: bool = False) -> tuple[Statement, ...]:
    """Return the statements of a handoff of `facts`, by section, the most important first within
    each; every message of the person is among them where that is wished.
    """
    talk, known = talk_of(facts), runs(facts)
    found = constraints(talk)
    quoted = {it.said.id for it in found if it.is_whole}
    words = {it.quote.strip() for it in found}
    told = (
        *objective(talk, quoted),
        *stated(found),
        *done(facts, talk, known),
        *active(facts, talk, known),
        *blocked(talk, known),
        *decisions(facts, talk, words),
        *ruled_out(facts),
        *files(facts),
        *errors(facts),
        *next_steps(facts, talk, known),
        *open_questions(talk),
        *memory(facts),
        *(messages(facts) if with_messages else ()),
    )
    return tuple(with_summaries(told, facts))
