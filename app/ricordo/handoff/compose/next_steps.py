"""What is to be done next, and the command that it begins with."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from ricordo.handoff.compose.quotes import Room, can_be_run, code, quoting
from ricordo.handoff.compose.refusals import Refusals
from ricordo.handoff.compose.runs import LastRuns, result_of, tasks
from ricordo.handoff.compose.talk import Talk, last_sentences
from ricordo.handoff.compose.words import CHECK, has, headed
from ricordo.handoff.document import HandoffStatement, StatementSection
from ricordo.handoff.facts import Facts, MessageFact

_MOST_LEFT = 3
_REMINDER = 160
"""Characters: the message is quoted as the objective."""


def next_steps(
    facts: Facts,
    talk: Talk,
    known: LastRuns,
    kept: Collection[HandoffStatement],
    room: Room,
    refusals: Refusals,
) -> Iterator[HandoffStatement]:
    """Yield what is to be done next, the most urgent first: what the person asked without getting
    a closing answer, the list of the agent, what it said is left, what its summary `kept` of that,
    the command that tells how the work stands, which is the one that fails, where one does, and how
    the person said that it is to be checked. What the agent names and was refused is left out.
    """
    allowed = [it for it in facts.todos if not refusals.names(it.text)]
    of_agent = [*tasks(replace(facts, todos=tuple(allowed)), "pending"), *_left(talk, room), *kept]
    found = [*_unanswered(talk), *(it for it in of_agent if not refusals.names(it.quote))]
    yield from found
    yield from _command(known)
    yield from _checks(talk, room)
    is_stale = known.to_run is not None and bool(known.to_run.changed_since)
    if not (found or known.failed or is_stale):
        yield HandoffStatement(
            StatementSection.NEXT, "Nothing was found in the sessions that is left to do"
        )


def _unanswered(talk: Talk) -> Iterator[HandoffStatement]:
    last = talk.last
    if last is None or last.is_over or not talk.wishes:
        return
    wish = talk.wishes[-1]
    label = "Asked last, without a closing answer so far"
    yield quoting(StatementSection.NEXT, label, wish.text, wish.ref, (wish.id,), _REMINDER)


def _left(talk: Talk, room: Room) -> Iterator[HandoffStatement]:
    """Yield what the agent said at the end that is left, or that it would do next."""
    last = talk.last
    if last is None or not last.answers:
        return
    said = last.answers[-1]
    for words in _told_left(said)[:_MOST_LEFT]:
        label = "The agent on what is left"
        yield quoting(StatementSection.NEXT, label, words, said.ref, (said.id,), room.words)


def _told_left(said: MessageFact) -> list[str]:
    under_heading = [it.text for it in headed(said.text) if it.about == StatementSection.NEXT]
    if under_heading:
        return under_heading
    spoken = [it for it in last_sentences(said) if not it.is_question]
    return [it.text for it in spoken if has("left", it.text) and not has("nothing_left", it.text)]


def _checks(talk: Talk, room: Room) -> Iterator[HandoffStatement]:
    """Yield what the last wish that says so says of how the work is to be checked."""
    for wish in reversed(talk.wishes):
        found = [it.text for it in headed(wish.text) if it.about == CHECK]
        if found:
            label = "The person on how to check it"
            ids = (wish.id,)
            yield quoting(StatementSection.NEXT, label, found[-1], wish.ref, ids, room.words)
            return


def _command(known: LastRuns) -> Iterator[HandoffStatement]:
    ran = known.to_run
    if ran is None or not can_be_run(ran.command):
        return
    if ran.changed_since:
        how = "failed" if ran.has_failed else "went well"
        what = f"It {how} before files were changed again; run it"
    elif ran.has_failed:
        what = "Mend what fails, then run it again"
    else:
        what = "To see how the work stands"
    yield HandoffStatement(
        StatementSection.NEXT, f"{what}: {code(ran.command)}", result_of(ran), (ran.id,)
    )
