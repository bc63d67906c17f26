"""Collect the user's decisions on a memory from its history, for a curator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from ricordo.curation.user_decisions import Confirmed, Dismissed, Refused, UserDecisions
from ricordo.lint.contradictions.records import build_cause_of_texts, group_duplicates
from ricordo.lint.evidence import RULE_OF, Relation
from ricordo.lint.finding import finding_id
from ricordo.memory.change import compute_digest
from ricordo.memory.memory import Memory
from ricordo.services.curation.pending import load_curation_state
from ricordo.services.workspace.evidence import load_cached_pairs
from ricordo.services.workspace.notebook import Notebook
from ricordo.storage.decisions import ActiveDecision, Decision, ReviewVerdict, filter_by_content
from ricordo.storage.history import History
from ricordo.storage.operation import FileOperation

_STILL_TRUE, _KEPT, _CHOSEN = "still true", "kept in the inbox", "kept when a conflict was settled"


def load_user_decisions(notebook: Notebook, memory: Memory) -> UserDecisions:
    """Return the user's decisions on `memory` that were not undone. Raises StateUnusable."""
    decided = notebook.decisions.find_active(Decision.DISMISS, Decision.KEEP, Decision.CONFIRM)
    confirmed: dict[str, Confirmed] = {}
    wrong: dict[str, datetime] = {}
    deleted: dict[str, datetime] = {}
    shas = {note.path: compute_digest(note.raw) for note in memory.notes} if decided else {}
    by_sha = {it.subject: it for it in decided.values() if it.decision is Decision.CONFIRM}
    for path, sha in shas.items():
        if sha in by_sha:
            _confirm(confirmed, path, by_sha[sha].at, _CHOSEN)
    for op, at in _kept(notebook, decided):
        if op.post is None and op.path not in memory.by_path and (moment := parse_moment(at)):
            deleted[op.path] = moment
        elif op.post is not None and shas.get(op.path) == op.post:
            _confirm(confirmed, op.path, at, _KEPT)
    for path, judged in notebook.verdicts.find_active().items():
        note = memory.by_path.get(path)
        said = filter_by_content(judged, compute_digest(note.raw)) if note is not None else ()
        if said and said[-1].verdict is ReviewVerdict.TRUE:
            _confirm(confirmed, path, said[-1].at, _STILL_TRUE)
        elif said and said[-1].verdict is ReviewVerdict.WRONG:
            confirmed.pop(path, None)
            if moment := parse_moment(said[-1].at):
                wrong[path] = moment
    dismissed = [it for it in decided.values() if it.decision is Decision.DISMISS]
    dismissed_at = {it.subject: moment for it in dismissed if (moment := parse_moment(it.at))}
    return UserDecisions(
        confirmed,
        wrong,
        deleted,
        tuple(_refused(notebook)),
        tuple(_list_dismissed(memory, dismissed)),
        dismissed_at,
        dict(_find_dismissed_groups(notebook, memory, dismissed_at)) if dismissed_at else {},
    )


def _find_dismissed_groups(
    notebook: Notebook, memory: Memory, dismissed_at: Mapping[str, datetime]
) -> Iterator[tuple[frozenset[str], datetime]]:
    """Yield the paths of the notes that repeat each other by the last comparison and were dismissed
    together, with the time.
    """
    pairs = load_cached_pairs(notebook.environment.state, memory) or ()
    for notes in group_duplicates(memory, pairs):
        cause = build_cause_of_texts(*(note.body for note in notes))
        at = dismissed_at.get(finding_id(RULE_OF[Relation.REPEATS], "", cause))
        if at is not None:
            yield frozenset(note.path for note in notes), at


def _confirm(confirmed: dict[str, Confirmed], path: str, at: str, how: str) -> None:
    """Record that the text of a note was confirmed, unless a later time is known."""
    moment, known = parse_moment(at), confirmed.get(path)
    if moment is not None and (known is None or known.at <= moment):
        confirmed[path] = Confirmed(moment, how)


def _kept(
    notebook: Notebook, decided: Mapping[str, ActiveDecision]
) -> Iterator[tuple[FileOperation, str]]:
    """Yield changes of others that the user kept, each with the time."""
    decisions = [it for it in decided.values() if it.decision is Decision.KEEP]
    if not decisions:
        return
    with notebook.database.connect() as connection:
        history = History(connection)
        for it in decisions:
            act, _, number = it.subject.partition(".")
            ops = history.list_operations(int(act)) if act.isdigit() and number.isdigit() else []
            if int(number or 0) < len(ops):
                yield ops[int(number)], it.at


def _refused(notebook: Notebook) -> Iterator[Refused]:
    state = load_curation_state(notebook.environment.state, notebook.place.root)
    for it in state.proposals:
        if it.id in state.refused and (at := parse_moment(state.refused[it.id])):
            yield Refused(it.change.operation, at, it.change.reason)


def _list_dismissed(memory: Memory, dismissed: list[ActiveDecision]) -> Iterator[Dismissed]:
    """Yield the dismissals whose note is known."""
    for it in dismissed:
        named, _, reason = it.reason.partition(": ")
        rule, _, path = named.partition(" in ")
        if path in memory.by_path and (at := parse_moment(it.at)):
            yield Dismissed(path, f"{rule}: {reason}" if reason else rule, at)


def parse_moment(at: str) -> datetime | None:
    """Return a time in ISO 8601, as UTC where it has no time zone; None where it is invalid."""
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
