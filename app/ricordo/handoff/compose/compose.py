"""Composing: from facts to statements, by extraction.

Nothing is reworded. What the user or the agent said is quoted; what a tool reported is given with
its result; what is unknown is left out. An agent's own words are quoted as its claim, never stated
as a fact. Each statement names its facts and a proof that the transcript gives; `prove.py` decides
whether that proof is valid.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from ricordo.handoff.compose import talk
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
from ricordo.handoff.compose.words import CHECK, has, headed
from ricordo.handoff.document import HandoffStatement, QuoteMark, StatementSection
from ricordo.handoff.facts import MEMORY, ErrorFact, Facts, FileUse, MessageFact
from ricordo.llm.question import estimate

_SUMMARY_LABEL = "The agent's summary of earlier messages"


def summarized(facts: Facts, room: Room) -> Iterator[HandoffStatement]:
    """Yield what the last summary says, by section: it replaces earlier ones. A summary without a
    known heading is quoted as what was done.
    """
    summaries = [summary for summary in facts.summaries if summary.text.strip()]
    if not summaries:
        return
    last = summaries[-1]
    passages = [passage for passage in headed(last.text) if any(map(str.isalnum, passage.text))]
    for about, words in passages:
        section = StatementSection.NEXT if about == CHECK else StatementSection(about)
        yield quoting(section, _SUMMARY_LABEL, words, last.ref, (last.id,), room.answer)
    if not passages:
        yield quoting(
            StatementSection.DONE, _SUMMARY_LABEL, last.text, last.ref, (last.id,), room.report
        )


_MAX_LATER = 12
"""Later requests that are quoted."""


def objective(
    conversation: Talk, quoted: Collection[str], room: Room
) -> Iterator[HandoffStatement]:
    """Yield the first request, the last one, and those between that are not `quoted` elsewhere, by
    the ids of the messages. Where not all fit, the first ones of later sessions and changes of
    direction go first, then later before earlier.
    """
    requests = conversation.wishes
    if not requests:
        return
    first, *later = requests
    first_ids = {message.id for message in _list_first_requests(requests)}
    yield quoting(
        StatementSection.OBJECTIVE, "Asked first", first.text, first.ref, (first.id,), room.first
    )
    chosen = _choose_later(
        [message for message in later if message.id not in quoted], first_ids, room
    )
    for message in sorted(chosen, key=lambda message: message is not requests[-1]):
        label = "Asked last" if message is requests[-1] else "In between"
        label = "Asked first in this session" if message.id in first_ids else label
        yield quoting(
            StatementSection.OBJECTIVE, label, message.text, message.ref, (message.id,), room.wish
        )


def _list_first_requests(requests: Sequence[MessageFact]) -> Collection[MessageFact]:
    """Return the first request of every session."""
    return {message.ref.session: message for message in reversed(requests)}.values()


def _choose_later(
    later: Sequence[MessageFact], first_ids: Collection[str], room: Room
) -> list[MessageFact]:
    """Return the requests that fit, in the order of time."""
    remaining, chosen = room.wishes, set[str]()

    def weighs_less(message: MessageFact) -> bool:
        return not (message is later[-1] or message.id in first_ids or has("turn", message.text))

    by_weight = list(reversed(later))
    by_weight.sort(key=weighs_less)
    for message in by_weight:
        size = min(len(message.text), room.wish)
        if len(chosen) < _MAX_LATER and size <= remaining:
            chosen.add(message.id)
            remaining -= size
    return [message for message in later if message.id in chosen]


_MAX_CHANGED = 20
_MAX_READ = 8
_MAX_PARTS = 8
_MAX_ERRORS = 8
_MAX_ERROR = 300
_MAX_COMMAND = 160
_MAX_COMMENT = 240


def files(facts: Facts) -> Iterator[HandoffStatement]:
    """Yield the files that were changed, those of the last changes first, then those of the project
    that were read and exist. Where none was changed a statement says so: an agent may claim
    otherwise.
    """
    latest_first = sorted(facts.files, key=_find_last_place, reverse=True)
    changed = [use for use in latest_first if use.is_changed]
    read = [use for use in latest_first if not use.is_changed and use.sha and _is_in_project(use)]
    if not changed and any(not message.is_person for message in facts.said):
        yield HandoffStatement(StatementSection.FILES, "No file change was found in the sessions")
    for change in changed[:_MAX_CHANGED]:
        yield _describe_file(change, _describe_actions(change))
    for use in read[:_MAX_READ]:
        yield _describe_file(use, "only read")


def errors(
    facts: Facts, conversation: Talk, blocking: Collection[str]
) -> Iterator[HandoffStatement]:
    """Yield the errors, each with the agent's comment and its fix; unfixed ones come first, later
    ones before earlier. Comments on the `blocking` commands are left out: they are quoted with
    these.
    """
    latest_first = sorted(facts.mishaps, key=lambda error: place(error.ref), reverse=True)
    for error in sorted(latest_first, key=lambda error: error.mended is not None)[:_MAX_ERRORS]:
        comment = "" if error.what in blocking else _quote_comment(error, conversation)
        text = f"{code(error.what, _MAX_COMMAND)} failed; {_describe_fix(error)}{comment}"
        yield quoting(
            StatementSection.ERRORS, text, error.error, error.ref, (error.id,), _MAX_ERROR
        )


def memory(facts: Facts) -> Iterator[HandoffStatement]:
    """Yield the directory of the memory and its relevant notes."""
    if not facts.memory:
        return
    yield HandoffStatement(
        StatementSection.MEMORY, f"The memory is at {code(facts.memory)}", stands_on=(MEMORY,)
    )
    for note in facts.notes:
        description = f": {note.description}" if note.description else ""
        why = f" ({note.why})" if note.why else ""
        yield HandoffStatement(
            StatementSection.MEMORY, f"{code(note.path)}{description}{why}", stands_on=(note.id,)
        )


def messages(facts: Facts) -> Iterator[HandoffStatement]:
    """Yield every message of the user, word for word."""
    for message in facts.said:
        if message.is_person and message.text.strip():
            yield HandoffStatement(
                StatementSection.MESSAGES,
                "The user",
                QuoteMark(message.ref),
                (message.id,),
                message.text,
            )


def _find_last_place(use: FileUse) -> Place:
    return place(use.last)


def _is_in_project(use: FileUse) -> bool:
    return not use.path.startswith(("/", "~"))


def _describe_file(use: FileUse, actions: str) -> HandoffStatement:
    """Return the statement on a file: the mark is of what it is now, and not of what was done."""
    text = f"{code(use.path)}{_describe_presence(use)} (transcript: {actions})"
    return HandoffStatement(StatementSection.FILES, text, stands_on=(use.id,))


def _describe_actions(use: FileUse) -> str:
    actions = " and ".join(deed.value for deed in use.deeds if deed.changes)
    times = f" {use.times} times" if use.times > 1 else ""
    parts = ", ".join(code(part) for part in use.parts[-_MAX_PARTS:])
    names = f"; the changes name {parts}" if parts else ""
    return f"{actions}{times}, last at turn {use.last.turn}{names}"


def _describe_presence(use: FileUse) -> str:
    if not _is_in_project(use):
        return ", outside the project"
    if use.is_gone:
        return " does not exist now"
    return "" if use.sha else " cannot be read now"


def _quote_comment(error: ErrorFact, conversation: Talk) -> str:
    """Return what the agent said about an error before it was fixed."""
    message = conversation.after(error.ref)
    if message is None or (error.mended is not None and place(message.ref) > place(error.mended)):
        return ""
    words = short(message.text, _MAX_COMMENT)
    # the mark names the message of the error
    return f"; the agent then, at turn {message.ref.turn}: “{words}”"


def _describe_fix(error: ErrorFact) -> str:
    if error.mended is None:
        return "no fix is known"
    # what was changed in between need not be the reason
    changed = f", after a change of {error.by}" if error.by else ""
    return f"no longer failed at turn {error.mended.turn}{changed}"


_STATEMENT_SHARE = 0.75
"""Share of the tokens that statements are fitted into; the header and the headings take the
rest.
"""
_MARK_PLACEHOLDER = " " * 100
"""What a statement costs besides its words: its mark, the fences of its quotation."""


def compose(
    facts: Facts, *, tokens: int = 4_000, with_messages: bool = False
) -> tuple[HandoffStatement, ...]:
    """Return the statements of a handoff of `facts`, by section, the most important first within
    each. Quotations are shortened to fit into `tokens`, but not below a useful length: `budget.py`
    drops the rest. With `with_messages` every message of the user is added, beyond that limit.
    """
    conversation, refusals = talk.talk(facts), Refusals(facts)
    last_runs = runs(facts, refusals)
    limits = constraints(conversation)
    statements: tuple[HandoffStatement, ...] = ()
    for share in SHARES:
        statements = tuple(
            _list_statements(facts, conversation, last_runs, limits, refusals, room(share))
        )
        if (
            sum(estimate(f"{item.text}{item.quote}{_MARK_PLACEHOLDER}") for item in statements)
            <= tokens * _STATEMENT_SHARE
        ):
            break
    return (*_sort_by_section(statements), *(messages(facts) if with_messages else ()))


def _list_statements(
    facts: Facts,
    conversation: Talk,
    last_runs: LastRuns,
    limits: tuple[Constraint, ...],
    refusals: Refusals,
    room: Room,
) -> Iterator[HandoffStatement]:
    user_answers = answers(conversation)
    quoted = {limit.said.id for limit in limits if limit.is_whole} | {
        reply.reply.id for reply in user_answers
    }
    from_summary = list(summarized(facts, room))
    yield from objective(conversation, quoted, room)
    limits_and_answers = [*stated(limits, room), *answered(user_answers, room)]
    yield from refusals.stated(room)
    yield from limits_and_answers
    yield from done(facts, conversation, last_runs, room)
    yield from active(facts, conversation, last_runs, room)
    yield from blocked(conversation, last_runs, room)
    decision_statements = list(decisions(facts, conversation, limits_and_answers, room))
    yield from decision_statements
    yield from ruled_out(facts, conversation, decision_statements, room)
    yield from files(facts)
    yield from errors(facts, conversation, {run.command for run in last_runs.failed})
    yield from (item for item in from_summary if item.section is not StatementSection.NEXT)
    of_summary = [item for item in from_summary if item.section is StatementSection.NEXT]
    yield from next_steps(facts, conversation, last_runs, of_summary, room, refusals)
    yield from open_questions(conversation, room)
    yield from memory(facts)


def _sort_by_section(statements: Iterable[HandoffStatement]) -> list[HandoffStatement]:
    order = list(StatementSection)
    return sorted(statements, key=lambda statement: order.index(statement.section))
