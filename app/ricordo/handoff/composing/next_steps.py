"""What is to be done next, and the command that it begins with."""

from __future__ import annotations

from collections.abc import Iterator

from ricordo.handoff.composing.headed import headed
from ricordo.handoff.composing.lines import can_be_run, code
from ricordo.handoff.composing.quoting import quoting
from ricordo.handoff.composing.runs import Runs, result_of
from ricordo.handoff.composing.talk import Talk
from ricordo.handoff.composing.words import has
from ricordo.handoff.facts import Facts, Said
from ricordo.handoff.statement import Section, Statement
from ricordo.speech.sentence import sentences

_LONGEST = 600
_MOST_TODOS = 12
_MOST_LEFT = 3
_SHORT = 300


def next_steps(facts: Facts, talk: Talk, known: Runs) -> Iterator[Statement]:
    """Yield what is to be done next, the most urgent first: what the person asked without getting
    a closing answer, the list of the agent, what it said is left, and the command that tells how
    the work stands: the test that fails, where one does.
    """
    found = [*_unanswered(talk), *_list(facts), *_left(talk)]
    yield from found
    yield from _command(known)
    if not found and not known.failed:
        yield Statement(Section.NEXT, "Nothing was found in the sessions that is left to do")


def _unanswered(talk: Talk) -> Iterator[Statement]:
    last = talk.last
    if last is None or last.is_over or not talk.wishes:
        return
    wish = talk.wishes[-1]
    label = "Asked last, and the session has no closing answer to it"
    yield quoting(Section.NEXT, label, wish.text, wish.ref, (wish.id,), _LONGEST)


def _list(facts: Facts) -> Iterator[Statement]:
    open_ = [it for it in facts.todos if it.status in ("in_progress", "pending")]
    open_.sort(key=lambda it: it.status != "in_progress")
    for it in open_[:_MOST_TODOS]:
        begun = "begun" if it.status == "in_progress" else "pending"
        yield quoting(
            Section.NEXT, f"On the agent's list as {begun}", it.text, it.ref, (it.id,), _SHORT
        )


def _left(talk: Talk) -> Iterator[Statement]:
    """Yield what the agent said at the end that is left, or that it would do next."""
    last = talk.last
    if last is None or not last.answers:
        return
    said = last.answers[-1]
    for quote in _told_left(said)[:_MOST_LEFT]:
        label = "The agent said what is left"
        yield quoting(Section.NEXT, label, quote, said.ref, (said.id,), _SHORT)


def _told_left(said: Said) -> list[str]:
    under_heading = [it.text for it in headed(said.text) if it.section is Section.NEXT]
    if under_heading:
        return under_heading
    spoken = sentences(said.text, len(said.text))
    return [it.text for it in spoken if has("left", it.text) and not it.is_question]


def _command(known: Runs) -> Iterator[Statement]:
    ran = known.to_run
    if ran is None or not can_be_run(ran.command):
        return
    if ran.has_failed:
        text = f"Mend what fails, then run it again: {code(ran.command)}"
    elif ran.changed_since:
        text = f"Run it again, files were changed since: {code(ran.command)}"
    else:
        text = f"To see how the work stands: {code(ran.command)}"
    yield Statement(Section.NEXT, text, result_of(ran), (ran.id,))
