"""Composing: from facts to statements, by extraction.

Nothing is reworded. What the user or the agent said is quoted; what a tool reported is given with
its result; what is unknown is left out. An agent's own words are quoted as its claim, never stated
as a fact. Each statement names its facts and a proof that the transcript gives; `prove.py` decides
whether that proof is valid.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from ricordo.handoff.compose import conversation as talk
from ricordo.handoff.compose.conversation import Conversation, ConversationPlace, find_place
from ricordo.handoff.compose.decisions import (
    Constraint,
    compose_answers,
    compose_constraints,
    compose_decisions,
    compose_ruled_out,
    find_answers,
    find_constraints,
)
from ricordo.handoff.compose.next_steps import compose_next_steps
from ricordo.handoff.compose.phrases import CHECK_KIND, find_headed_texts, has_phrase
from ricordo.handoff.compose.quotes import (
    SHARES,
    QuoteLimits,
    build_quote,
    format_code,
    scale_limits,
    shorten,
)
from ricordo.handoff.compose.refusals import Refusals
from ricordo.handoff.compose.runs import LastRuns, find_last_runs
from ricordo.handoff.compose.state import (
    compose_active,
    compose_blocked,
    compose_done,
    compose_questions,
)
from ricordo.handoff.document import HandoffStatement, QuoteProof, StatementSection
from ricordo.handoff.facts import MEMORY_ID, ErrorFact, Facts, FileUse, MessageFact
from ricordo.llm.question import estimate_tokens

_SUMMARY_LABEL = "The agent's summary of earlier messages"


def compose_summary(facts: Facts, room: QuoteLimits) -> Iterator[HandoffStatement]:
    """Yield what the last summary says, by section: it replaces earlier ones. A summary without a
    known heading is quoted as what was done.
    """
    summaries = [summary for summary in facts.summaries if summary.text.strip()]
    if not summaries:
        return
    last = summaries[-1]
    passages = [
        passage for passage in find_headed_texts(last.text) if any(map(str.isalnum, passage.text))
    ]
    for about, words in passages:
        section = StatementSection.NEXT if about == CHECK_KIND else StatementSection(about)
        yield build_quote(section, _SUMMARY_LABEL, words, last.ref, (last.id,), room.answer)
    if not passages:
        yield build_quote(
            StatementSection.DONE, _SUMMARY_LABEL, last.text, last.ref, (last.id,), room.report
        )


_MAX_LATER = 12
"""Later requests that are quoted."""


def compose_objective(
    conversation: Conversation, quoted: Collection[str], room: QuoteLimits
) -> Iterator[HandoffStatement]:
    """Yield the first request, the last one, and those between that are not `quoted` elsewhere, by
    the ids of the messages. Where not all fit, the first ones of later sessions and changes of
    direction go first, then later before earlier.
    """
    requests = conversation.requests
    if not requests:
        return
    first, *later = requests
    first_ids = {message.id for message in _list_first_requests(requests)}
    yield build_quote(
        StatementSection.OBJECTIVE,
        "Asked first",
        first.text,
        first.ref,
        (first.id,),
        room.first_request,
    )
    chosen = _choose_later(
        [message for message in later if message.id not in quoted], first_ids, room
    )
    for message in sorted(chosen, key=lambda message: message is not requests[-1]):
        label = "Asked last" if message is requests[-1] else "In between"
        label = "Asked first in this session" if message.id in first_ids else label
        yield build_quote(
            StatementSection.OBJECTIVE,
            label,
            message.text,
            message.ref,
            (message.id,),
            room.later_request,
        )


def _list_first_requests(requests: Sequence[MessageFact]) -> Collection[MessageFact]:
    """Return the first request of every session."""
    return {message.ref.session: message for message in reversed(requests)}.values()


def _choose_later(
    later: Sequence[MessageFact], first_ids: Collection[str], room: QuoteLimits
) -> list[MessageFact]:
    """Return the requests that fit, in the order of time."""
    remaining, chosen = room.all_requests, set[str]()

    def weighs_less(message: MessageFact) -> bool:
        return not (
            message is later[-1] or message.id in first_ids or has_phrase("turn", message.text)
        )

    by_weight = list(reversed(later))
    by_weight.sort(key=weighs_less)
    for message in by_weight:
        size = min(len(message.text), room.later_request)
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


def compose_files(facts: Facts) -> Iterator[HandoffStatement]:
    """Yield the files that were changed, those of the last changes first, then those of the project
    that were read and exist. Where none was changed a statement says so: an agent may claim
    otherwise.
    """
    latest_first = sorted(facts.files, key=_find_last_place, reverse=True)
    changed = [use for use in latest_first if use.is_changed]
    read = [use for use in latest_first if not use.is_changed and use.sha and _is_in_project(use)]
    if not changed and any(not message.is_user for message in facts.messages):
        yield HandoffStatement(StatementSection.FILES, "No file change was found in the sessions")
    for change in changed[:_MAX_CHANGED]:
        yield _describe_file(change, _describe_actions(change))
    for use in read[:_MAX_READ]:
        yield _describe_file(use, "only read")


def compose_errors(
    facts: Facts, conversation: Conversation, blocking: Collection[str]
) -> Iterator[HandoffStatement]:
    """Yield the errors, each with the agent's comment and its fix; unfixed ones come first, later
    ones before earlier. Comments on the `blocking` commands are left out: they are quoted with
    these.
    """
    latest_first = sorted(facts.errors, key=lambda error: find_place(error.ref), reverse=True)
    for error in sorted(latest_first, key=lambda error: error.fixed is not None)[:_MAX_ERRORS]:
        comment = "" if error.what in blocking else _quote_comment(error, conversation)
        text = f"{format_code(error.what, _MAX_COMMAND)} failed; {_describe_fix(error)}{comment}"
        yield build_quote(
            StatementSection.ERRORS, text, error.error, error.ref, (error.id,), _MAX_ERROR
        )


def compose_memory(facts: Facts) -> Iterator[HandoffStatement]:
    """Yield the directory of the memory and its relevant notes."""
    if not facts.memory:
        return
    yield HandoffStatement(
        StatementSection.MEMORY,
        f"The memory is at {format_code(facts.memory)}",
        fact_ids=(MEMORY_ID,),
    )
    for note in facts.notes:
        description = f": {note.description}" if note.description else ""
        why = f" ({note.reason})" if note.reason else ""
        yield HandoffStatement(
            StatementSection.MEMORY,
            f"{format_code(note.path)}{description}{why}",
            fact_ids=(note.id,),
        )


def compose_messages(facts: Facts) -> Iterator[HandoffStatement]:
    """Yield every message of the user, word for word."""
    for message in facts.messages:
        if message.is_user and message.text.strip():
            yield HandoffStatement(
                StatementSection.MESSAGES,
                "The user",
                QuoteProof(message.ref),
                (message.id,),
                message.text,
            )


def _find_last_place(use: FileUse) -> ConversationPlace:
    return find_place(use.last_use)


def _is_in_project(use: FileUse) -> bool:
    return not use.path.startswith(("/", "~"))


def _describe_file(use: FileUse, actions: str) -> HandoffStatement:
    """Return the statement on a file: the mark is of what it is now, and not of what was done."""
    text = f"{format_code(use.path)}{_describe_presence(use)} (transcript: {actions})"
    return HandoffStatement(StatementSection.FILES, text, fact_ids=(use.id,))


def _describe_actions(use: FileUse) -> str:
    actions = " and ".join(deed.value for deed in use.actions if deed.changes)
    times = f" {use.change_count} times" if use.change_count > 1 else ""
    parts = ", ".join(format_code(part) for part in use.parts[-_MAX_PARTS:])
    names = f"; the changes name {parts}" if parts else ""
    return f"{actions}{times}, last at turn {use.last_use.number}{names}"


def _describe_presence(use: FileUse) -> str:
    if not _is_in_project(use):
        return ", outside the project"
    if use.is_missing:
        return " does not exist now"
    return "" if use.sha else " cannot be read now"


def _quote_comment(error: ErrorFact, conversation: Conversation) -> str:
    """Return what the agent said about an error before it was fixed."""
    message = conversation.find_agent_message(error.ref)
    if message is None or (
        error.fixed is not None and find_place(message.ref) > find_place(error.fixed)
    ):
        return ""
    words = shorten(message.text, _MAX_COMMENT)
    # the mark names the message of the error
    return f"; the agent then, at turn {message.ref.number}: “{words}”"


def _describe_fix(error: ErrorFact) -> str:
    if error.fixed is None:
        return "no fix is known"
    # what was changed in between need not be the reason
    changed = f", after a change of {error.changed_files}" if error.changed_files else ""
    return f"no longer failed at turn {error.fixed.number}{changed}"


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
    conversation, refusals = talk.build_conversation(facts), Refusals(facts)
    last_runs = find_last_runs(facts, refusals)
    limits = find_constraints(conversation)
    statements: tuple[HandoffStatement, ...] = ()
    for share in SHARES:
        statements = tuple(
            _list_statements(facts, conversation, last_runs, limits, refusals, scale_limits(share))
        )
        if (
            sum(
                estimate_tokens(f"{item.text}{item.quote}{_MARK_PLACEHOLDER}")
                for item in statements
            )
            <= tokens * _STATEMENT_SHARE
        ):
            break
    return (*_sort_by_section(statements), *(compose_messages(facts) if with_messages else ()))


def _list_statements(
    facts: Facts,
    conversation: Conversation,
    last_runs: LastRuns,
    limits: tuple[Constraint, ...],
    refusals: Refusals,
    room: QuoteLimits,
) -> Iterator[HandoffStatement]:
    user_answers = find_answers(conversation)
    quoted = {limit.message.id for limit in limits if limit.is_whole} | {
        reply.reply.id for reply in user_answers
    }
    from_summary = list(compose_summary(facts, room))
    yield from compose_objective(conversation, quoted, room)
    limits_and_answers = [*compose_constraints(limits, room), *compose_answers(user_answers, room)]
    yield from refusals.compose(room)
    yield from limits_and_answers
    yield from compose_done(facts, conversation, last_runs, room)
    yield from compose_active(facts, conversation, last_runs, room)
    yield from compose_blocked(conversation, last_runs, room)
    decision_statements = list(compose_decisions(facts, conversation, limits_and_answers, room))
    yield from decision_statements
    yield from compose_ruled_out(facts, conversation, decision_statements, room)
    yield from compose_files(facts)
    yield from compose_errors(facts, conversation, {run.command for run in last_runs.failed})
    yield from (item for item in from_summary if item.section is not StatementSection.NEXT)
    of_summary = [item for item in from_summary if item.section is StatementSection.NEXT]
    yield from compose_next_steps(facts, conversation, last_runs, of_summary, room, refusals)
    yield from compose_questions(conversation, room)
    yield from compose_memory(facts)


def _sort_by_section(statements: Iterable[HandoffStatement]) -> list[HandoffStatement]:
    order = list(StatementSection)
    return sorted(statements, key=lambda statement: order.index(statement.section))
