"""Where the work stands: what is done, what goes on, what keeps it from going on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ricordo.handoff.composing.lines import code, result
from ricordo.handoff.composing.quoting import quoting
from ricordo.handoff.composing.runs import Runs, result_of
from ricordo.handoff.composing.talk import Talk
from ricordo.handoff.composing.words import has
from ricordo.handoff.facts import GIT, Facts, GitState, Ran, Said, Todo
from ricordo.handoff.statement import Quote, Section, Statement
from ricordo.speech.sentence import sentences

_LAST_REPORT = 1_400
"""Characters of what the agent reported last that are quoted."""
_EARLIER_REPORT = 500
_MOST_REPORTS = 4
_MOST_RESULTS = 6
_MOST_TODOS = 12
_MOST_FILES_NAMED = 8
_LONGEST = 400
_LEAST_REPORT = 80
"""Characters: a shorter answer of the agent reports nothing."""


def done(facts: Facts, talk: Talk, known: Runs) -> Iterator[Statement]:
    """Yield the results of tests and checks, what the agent's list has as completed, and what the
    agent reported, which is its own claim.
    """
    for ran in known.succeeded[-_MOST_RESULTS:]:
        yield _ran(Section.DONE, ran)
    yield from _todos(Section.DONE, "On the agent's list as completed", facts.todos, "completed")
    reports = _reports(talk)
    for number, it in enumerate(reports, 1):
        most = _LAST_REPORT if number == len(reports) else _EARLIER_REPORT
        yield quoting(Section.DONE, "The agent's report", it.text, it.ref, (it.id,), most)


def active(facts: Facts, talk: Talk, known: Runs) -> Iterator[Statement]:
    """Yield the state of the repository, what the agent had in hand, and what it said last where
    the session breaks off.
    """
    if facts.git is not None:
        yield Statement(Section.ACTIVE, _git(facts.git), stands_on=(GIT,))
    yield from _todos(Section.ACTIVE, "On the agent's list as begun", facts.todos, "in_progress")
    for ran in known.untold[-_MOST_RESULTS:]:
        text = f"{code(ran.command)} was run; the transcript does not tell how it ended"
        yield Statement(Section.ACTIVE, text, stands_on=(ran.id,))
    last = talk.last
    if last and last.answers and not last.is_over:
        said = last.answers[-1]
        label = "The session breaks off; the agent's last words"
        yield quoting(Section.ACTIVE, label, said.text, said.ref, (said.id,), _LONGEST)


def blocked(talk: Talk, known: Runs) -> Iterator[Statement]:
    """Yield the tests and checks that fail still, with what the agent said of them, and what else
    it said that kept it from going on.
    """
    for ran in known.failed[-_MOST_RESULTS:]:
        yield _ran(Section.BLOCKED, ran)
        said = talk.after(ran.ref)
        if said is not None:
            label = "The agent on that failure"
            yield quoting(Section.BLOCKED, label, said.text, said.ref, (said.id,), _LONGEST)
    closing = talk.last.closing if talk.last else None
    if closing is not None:
        for it in sentences(closing.text, len(closing.text)):
            if has("blocked", it.text):
                label = "The agent was kept from going on"
                words, ids = it.text, (closing.id,)
                yield quoting(Section.BLOCKED, label, words, closing.ref, ids, _LONGEST)


def _ran(section: Section, ran: Ran) -> Statement:
    how = "failed" if ran.has_failed else "succeeded"
    text = f"{code(ran.command)} {how}{result(ran.result)}"
    return Statement(section, text, result_of(ran), (ran.id,))


def _todos(section: Section, label: str, todos: Iterable[Todo], status: str) -> Iterator[Statement]:
    """Yield what stands on the agent's list with this status, once for every turn that wrote it."""
    of_status = [it for it in todos if it.status == status][-_MOST_TODOS:]
    by_turn: dict[tuple[int, int], list[Todo]] = {}
    for it in of_status:
        by_turn.setdefault(it.ref[:2], []).append(it)
    for together in by_turn.values():
        quote = "\n".join(it.text for it in together)
        ids = tuple(it.id for it in together)
        yield Statement(section, label, Quote(together[0].ref), ids, quote)


def _reports(talk: Talk) -> Sequence[Said]:
    closings = [it.closing for it in talk.exchanges]
    long = [it for it in closings if it is not None and len(it.text) >= _LEAST_REPORT]
    return long[-_MOST_REPORTS:]


def _git(state: GitState) -> str:
    branch = f"Branch {code(state.branch)}" if state.branch else "No branch is checked out;"
    commit = f"at {state.commit[:12]}" if state.commit else "without a commit"
    subject = f" ({code(state.subject, 100)})" if state.subject else ""
    dirty = state.dirty[:_MOST_FILES_NAMED]
    more = len(state.dirty) - len(dirty)
    names = ", ".join(code(it) for it in dirty) + (f" and {more} more" if more else "")
    parts = [f"{branch} {commit}{subject}"]
    parts.append(f"not committed: {names}" if dirty else "everything is committed")
    if state.unpushed:
        commits = "commit" if state.unpushed == 1 else "commits"
        parts.append(f"{state.unpushed} {commits} not pushed")
    return "; ".join(parts)
