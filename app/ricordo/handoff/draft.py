"""Drafting: a model puts into words what the facts come to, and rules keep what can be proved.

The rules compose first. What they tell of the repository, of files, notes and results, and every
word of the person that they quote, stays as it is, whatever a model says: that is what probes and
transcripts prove. The model speaks of the rest, section by section; where it has nothing to say of
one, that of the rules stays. `prove.py` sees to the marks of both, and a model's own words are
never more than unverified.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ricordo.handoff.composing.refusals import Refusals
from ricordo.handoff.drafting.reading import Refused, read_draft
from ricordo.handoff.drafting.telling import Told
from ricordo.handoff.facts import (
    GIT,
    MEMORY,
    Decided,
    Fact,
    Facts,
    FileUse,
    GivenUp,
    NoteFound,
    Said,
)
from ricordo.handoff.prove import all_facts
from ricordo.handoff.statement import Quote, Result, Section, Statement


@dataclass(frozen=True, slots=True)
class Drafted:
    """A draft, to be proved."""

    statements: tuple[Statement, ...]
    by_model: int
    """How many of them the model drafted."""
    refused: tuple[Refused, ...]


def draft(composed: Iterable[Statement], facts: Facts, told: Told, given: object) -> Drafted:
    """Return the handoff that comes of what rules `composed` and of what a model, which was `told`
    of the facts, has `given`: the value of its filled form.
    """
    by_id: Mapping[str, Fact] = {it.id: it for it in all_facts(facts)}
    read = read_draft(given, told, by_id)
    refusals = Refusals(facts)
    given_steps = [it for it in read.statements if not _is_refused(it, refusals, by_id)]
    left_out = [
        Refused(it.section.value, "It names as a next step what was refused.")
        for it in read.statements
        if it not in given_steps
    ]
    spoken_of = {it.section for it in given_steps}
    kept = [it for it in composed if it.section not in spoken_of or _stays(it, by_id)]
    quoted = {(it.section, it.quote) for it in kept if it.quote}
    fresh = [it for it in given_steps if (it.section, it.quote) not in quoted]
    order = list(Section)
    both = sorted((*fresh, *kept), key=lambda it: order.index(it.section))
    return Drafted(tuple(both), len(fresh), (*read.refused, *left_out))


def _is_refused(it: Statement, refusals: Refusals, by_id: Mapping[str, Fact]) -> bool:
    """Whether a next step is something that was refused; the user may name it all the same."""
    is_named = refusals.names(it.text) or refusals.names(it.quote)
    is_of_user = it.quote and any(_is_of_person(by_id.get(id)) for id in it.stands_on)
    return it.section is Section.NEXT and is_named and not is_of_user


def _stays(it: Statement, by_id: Mapping[str, Fact]) -> bool:
    """Whether what rules composed is not for a model to say otherwise."""
    stood_on = [by_id.get(id) for id in it.stands_on]
    match it.proof:
        case Result():
            return True
        case Quote():
            return any(_is_of_person(fact) or _is_refusal(fact) for fact in stood_on)
        case _:
            is_pointer = any(isinstance(fact, FileUse | NoteFound) for fact in stood_on)
            return is_pointer or not {GIT, MEMORY}.isdisjoint(it.stands_on)


def _is_refusal(fact: Fact | None) -> bool:
    return isinstance(fact, GivenUp) and fact.refusal is not None


def _is_of_person(fact: Fact | None) -> bool:
    return isinstance(fact, Said | Decided) and fact.is_person
