"""The next steps, and the command to begin with."""

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

_MAX_REMAINING = 3
_MAX_REMINDER = 160
"""Characters: the message is quoted as the objective."""


def next_steps(
    facts: Facts,
    conversation: Talk,
    last_runs: LastRuns,
    from_summary: Collection[HandoffStatement],
    room: Room,
    refusals: Refusals,
) -> Iterator[HandoffStatement]:
    """Yield the next steps, the most urgent first: the user's request without a closing answer, the
    tasks on the agent's list, what the agent said remains, what its summary (`from_summary`) says
    of that, the command that shows the state of the work, a failing one first, and how the user
    said to check it. A refused action that the agent names is left out.
    """
    allowed = [task for task in facts.todos if not refusals.names(task.text)]
    of_agent = [
        *tasks(replace(facts, todos=tuple(allowed)), "pending"),
        *_list_remaining(conversation, room),
        *from_summary,
    ]
    steps = [
        *_quote_unanswered(conversation),
        *(statement for statement in of_agent if not refusals.names(statement.quote)),
    ]
    yield from steps
    yield from _describe_command(last_runs)
    yield from _quote_checks(conversation, room)
    is_stale = last_runs.to_run is not None and bool(last_runs.to_run.changed_since)
    if not (steps or last_runs.failed or is_stale):
        yield HandoffStatement(StatementSection.NEXT, "No remaining work was found in the sessions")


def _quote_unanswered(conversation: Talk) -> Iterator[HandoffStatement]:
    last = conversation.last
    if last is None or last.is_over or not conversation.wishes:
        return
    request = conversation.wishes[-1]
    label = "Asked last, without a closing answer so far"
    yield quoting(
        StatementSection.NEXT, label, request.text, request.ref, (request.id,), _MAX_REMINDER
    )


def _list_remaining(conversation: Talk, room: Room) -> Iterator[HandoffStatement]:
    """Yield what the agent said at the end about remaining or next work."""
    last = conversation.last
    if last is None or not last.answers:
        return
    message = last.answers[-1]
    for words in _find_remaining(message)[:_MAX_REMAINING]:
        label = "The agent on remaining work"
        yield quoting(StatementSection.NEXT, label, words, message.ref, (message.id,), room.words)


def _find_remaining(message: MessageFact) -> list[str]:
    under_heading = [
        passage.text for passage in headed(message.text) if passage.about == StatementSection.NEXT
    ]
    if under_heading:
        return under_heading
    sentences = [sentence for sentence in last_sentences(message) if not sentence.is_question]
    return [
        sentence.text
        for sentence in sentences
        if has("left", sentence.text) and not has("nothing_left", sentence.text)
    ]


def _quote_checks(conversation: Talk, room: Room) -> Iterator[HandoffStatement]:
    """Yield how to check the work, in the words of the last request that says so."""
    for request in reversed(conversation.wishes):
        passages = [passage.text for passage in headed(request.text) if passage.about == CHECK]
        if passages:
            label = "The user on how to check it"
            ids = (request.id,)
            yield quoting(StatementSection.NEXT, label, passages[-1], request.ref, ids, room.words)
            return


def _describe_command(last_runs: LastRuns) -> Iterator[HandoffStatement]:
    ran = last_runs.to_run
    if ran is None or not can_be_run(ran.command):
        return
    if ran.changed_since:
        how = "failed" if ran.has_failed else "went well"
        what = f"It {how} before files were changed again; run it"
    elif ran.has_failed:
        what = "Fix what fails, then run it again"
    else:
        what = "To see the state of the work"
    yield HandoffStatement(
        StatementSection.NEXT, f"{what}: {code(ran.command)}", result_of(ran), (ran.id,)
    )
