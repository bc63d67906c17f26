"""Curation: a separate session proposes changes to a memory, and the user decides on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from ricordo.curation.brief import Brief
from ricordo.curation.edits import compose_retry_brief, limit_to_one_edit
from ricordo.curation.engine import EngineAnswer, Step
from ricordo.curation.note_check import MOST_CORRECTIONS
from ricordo.curation.pending import PendingProposal, make_pending, with_new_id
from ricordo.curation.proposal import RULES, Alarm, Proposal, RejectedChange, find_retired_path
from ricordo.curation.routine import is_routine
from ricordo.curation.user_decisions import NO_DECISIONS, UserDecisions
from ricordo.curation.validation import ValidationContext, count_retirable, validate
from ricordo.errors import ChangeRefused, EditRefused, StateUnusable, WrongUsage
from ricordo.llm.redaction import Redaction
from ricordo.memory.change import (
    AddEntry,
    Author,
    Change,
    ChangeSet,
    Create,
    Edit,
    Insert,
    compute_digest,
)
from ricordo.memory.compose import compose
from ricordo.memory.draft import apply_edits
from ricordo.memory.lines import split_lines
from ricordo.memory.memory import Memory
from ricordo.services.curation.pending import (
    CheckedNote,
    CurationState,
    load_curation_state,
    save_curation_state,
)
from ricordo.services.curation.preparation import (
    CurationScope,
    PreparedCuration,
    SkippedInput,
    drop_missing,
    list_skipped,
    prepare,
)
from ricordo.services.curation.user_decisions import load_user_decisions, parse_moment
from ricordo.services.edits.change import MergedEdits, apply_or_merge, protected_paths
from ricordo.services.engines.engines import EngineFactory, EngineTarget, make_rules_engine
from ricordo.services.engines.preview import Egress, find_disabled_reason, preview_egress
from ricordo.services.ledger.ledger import (
    DecisionCount,
    LedgerRun,
    count_created_lately,
    count_retired_lately,
    new_run,
    record_decisions,
    record_run,
)
from ricordo.services.workspace.notebook import Notebook
from ricordo.storage.lock import state_lock
from ricordo.storage.writer import Applied
from ricordo.text import clip

_LONGEST_TOLD = 200
"""Cells of the list of refused proposals in the history."""

ChangeOf = Callable[[PendingProposal, Callable[[], Memory]], Change]
"""Returns the change for a proposal; its second argument returns the memory after the proposals
before it. Raises ChangeRefused.
"""


@dataclass(frozen=True, slots=True)
class Curation:
    """The result of a curation; nothing is saved or applied yet."""

    proposals: tuple[PendingProposal, ...]
    """The pending proposals that still apply, and the new ones."""
    rejected: tuple[RejectedChange, ...]
    brief: Brief
    redaction: Redaction
    """The redaction of this run: seals the brief and restores the answer."""
    state: CurationState
    """The state to save once the user has seen the result."""
    sessions: int
    """Sessions with new messages."""
    run: LedgerRun
    """The run with the cost of all its questions."""
    recorded: LedgerRun
    """The run for the ledger, without questions that are recorded separately."""
    skipped: tuple[SkippedInput, ...] = ()
    """Input that was not read."""


@dataclass(frozen=True, slots=True)
class ApplyPlan:
    """The change set of chosen proposals; nothing is applied yet."""

    change_set: ChangeSet
    chosen: tuple[PendingProposal, ...]
    skipped: tuple[tuple[PendingProposal, str], ...]
    """The other proposals, each with the reason."""


@dataclass(frozen=True, slots=True)
class ApplyResult:
    """The result of applying proposals."""

    applied: tuple[PendingProposal, ...]
    skipped: tuple[tuple[PendingProposal, str], ...]
    """Proposals that were not applied, each with the reason."""
    edits: tuple[Edit, ...] = ()
    """The edits that were made."""
    refused: tuple[PendingProposal, ...] = ()
    """Proposals that were refused at the same time."""


# Proposing


def propose(
    notebook: Notebook,
    memory: Memory,
    scope: CurationScope,
    step: Step = lambda _: None,
    make: EngineFactory = make_rules_engine,
) -> Curation:
    """Return what an engine proposes for `memory`, by the messages in the `scope`. Changes nothing.
    Raises WrongUsage, StateUnusable, CuratorFailed, and what `step` raises.
    """
    return propose_prepared(notebook, prepare(notebook, memory, scope, step), step, make)


def propose_prepared(
    notebook: Notebook,
    prepared: PreparedCuration,
    step: Step = lambda _: None,
    make: EngineFactory = make_rules_engine,
) -> Curation:
    """Return what an engine proposes for a prepared curation. Changes nothing. Raises
    StateUnusable, CuratorFailed, and what `step` raises.
    """
    engine = make(notebook, prepared, step)
    answer = engine.answer(prepared.memory, prepared.brief, step)
    return validate_answer(notebook, prepared, engine.author, answer)


def validate_answer(
    notebook: Notebook, prepared: PreparedCuration, author: Author, answer: EngineAnswer
) -> Curation:
    """Return the validated answer of an engine. Raises StateUnusable."""
    memory, scope, activity = prepared.memory, prepared.scope, prepared.activity
    at = notebook.environment.now.isoformat()
    # read again: pending proposals may have been decided while the user viewed the brief
    state = load_curation_state(notebook.environment.state, memory.root)
    decisions = load_user_decisions(notebook, memory)
    old = [
        it
        for it in state.pending
        if not explain_change(memory, it) and not _find_objection(notebook, memory, decisions, it)
    ]
    context = ValidationContext(
        memory,
        {**{it.source: it.text for it in activity.messages}, **answer.shown},
        author,
        protected_paths(notebook),
        count_retired_lately(notebook),
        [path for it in old if (path := find_retired_path(it.change.operation))],
        count_created_lately(notebook),
        [it.path for it in old if isinstance(it.change.operation, Create)],
        decisions,
        {it.source: moment for it in activity.messages if (moment := parse_moment(it.at))},
    )
    result = validate(context, answer.changes)
    # a check of one note may correct what others say of it
    about = "" if scope.is_check else scope.note
    fresh = [make_pending(it, memory, at=at) for it in result.proposals if _is_about(about, it)]
    # a proposal that was applied and then reverted by others gets a new id
    fresh = [with_new_id(it) if it.id in state.applied else it for it in fresh]
    new = {it.id: it for it in fresh if it.id not in {*state.dropped, *state.refused}}
    recorded = new_run(at, author, answer.usage, activity.tokens, len(new), answer.extra_usage)
    # a repeated proposal belongs to this run; outdated and decided ones are dropped
    outdated = {it.id for it in state.pending} - {it.id for it in old}
    by_id = {it.id: it for it in state.proposals if it.id not in outdated}
    by_id |= {it.id: replace(it, run=recorded.id) for it in new.values()}
    proposals = tuple(by_id.values())
    pending = tuple(it for it in proposals if not state.is_decided(it.id))
    # the rules propose the same each time: do not report what was decided before
    is_silent = author.name == RULES
    checks = (it for it in result.rejected if not (is_silent and it.is_decided))
    rejected = (*answer.rejected, *checks)
    passed_over = list_skipped(answer.unread, memory, activity.messages)
    # input that the engine was not asked about is read again next time
    stays = scope.is_named or any(it.is_deferred for it in passed_over)
    moving = state.next_cursors if stays else {**state.next_cursors, **activity.cursors}
    unread = {it.source for it in answer.unread}
    # a model that had to choose among its corrections is asked about the same notes again
    is_cut = len(answer.changes) >= MOST_CORRECTIONS
    checked = {
        path: CheckedNote(at, compute_digest(memory.by_path[path].raw) or "")
        for path in prepared.checked_notes
        if path not in unread and not is_cut
    }
    return Curation(
        pending,
        rejected,
        prepared.brief,
        prepared.redaction,
        replace(
            state,
            proposals=proposals,
            next_cursors=moving,
            checked={**state.checked, **checked},
        ),
        activity.sessions,
        recorded.with_cost(answer.usage + answer.extra_usage),
        recorded,
        passed_over,
    )


def _is_about(note: str, it: Proposal) -> bool:
    """Return whether a proposal is about `note`; "" for any."""
    return not note or note in (
        *(edit.path for edit in it.edits),
        getattr(it.change.operation, "note", ""),
    )


def pending_proposals(notebook: Notebook, memory: Memory) -> tuple[PendingProposal, ...]:
    """Return the pending proposals on `memory`. One that contradicts a later decision of the user
    has a warning. Raises StateUnusable.
    """
    stored = load_curation_state(notebook.environment.state, memory.root).pending
    marked = protected_paths(notebook) if any(it.is_after_others for it in stored) else ()
    pending = tuple(_refresh_diff(memory, it, marked) for it in stored)
    decisions = load_user_decisions(notebook, memory) if pending else NO_DECISIONS
    if decisions == NO_DECISIONS:
        return pending
    found: list[PendingProposal] = []
    for it in pending:
        why = _find_objection(notebook, memory, decisions, it)
        found.append(replace(it, warnings=(why, *it.warnings)) if why else it)
    return tuple(found)


def _refresh_diff(memory: Memory, it: PendingProposal, marked: Collection[str]) -> PendingProposal:
    """Return a proposal with the diff that it makes now, after others that were applied to its
    note; as it is where it makes none.
    """
    if not it.is_after_others or explain_change(memory, it):
        return it
    try:
        return it.with_diff(compose(memory, [it.change], protected=marked).edits)
    except ChangeRefused:
        return it


def _find_objection(
    notebook: Notebook, memory: Memory, decisions: UserDecisions, it: PendingProposal
) -> str:
    """Return the later decision of the user that a proposal contradicts; "" for none."""
    try:
        edits = compose(memory, [it.change], protected=protected_paths(notebook)).edits
    except ChangeRefused:
        return ""
    return decisions.find_objection(memory, it.change.operation, edits, parse_moment(it.at))


def explain_change(memory: Memory, it: PendingProposal) -> str:
    """Return why a proposal no longer applies as shown; "" where it does."""
    for path, digests in it.made_against.items():
        file = memory.by_path.get(path)
        digest = compute_digest(file.raw) if file is not None else None
        if digest not in (digests.split() if digests else (digests,)):
            return f"{path} has changed since this was proposed"
    act = it.change.operation
    if isinstance(act, AddEntry) and act.note in memory.entries:
        return f"{act.note} already has an entry"
    return ""


# Saving


def save_curation(notebook: Notebook, curation: Curation) -> CurationState:
    """Save the proposals of a curation as pending, record the run, and return the saved state.
    Where nothing was proposed or rejected, the cursors move. Raises StateUnusable and Busy.
    """
    directory, root = notebook.environment.state, notebook.place.root
    record_run(directory, root, curation.recorded)
    with state_lock(directory):
        state = _add_submitted(curation.state, load_curation_state(directory, root))
        if not curation.rejected:
            state = state.move_cursors()
        save_state(notebook, state)
    return state


def _add_submitted(state: CurationState, stored: CurationState) -> CurationState:
    """Return `state` with the proposals that sessions of agents submitted since it was loaded."""
    known = {it.id for it in state.proposals}
    new = tuple(it for it in stored.pending if it.session and it.id not in known)
    return replace(state, proposals=(*state.proposals, *new))


def record_trial(notebook: Notebook, curation: Curation) -> None:
    """Record the cost of a curation whose proposals are not saved. Raises StateUnusable."""
    run = replace(curation.recorded, proposed=0, activity_tokens=0)
    if run.input_tokens or run.output_tokens:
        record_run(notebook.environment.state, notebook.place.root, run)


def save_state(notebook: Notebook, state: CurationState) -> None:
    """Save the curation state. Raises StateUnusable."""
    there = replace(
        state, cursors=drop_missing(state.cursors), next_cursors=drop_missing(state.next_cursors)
    )
    save_curation_state(notebook.environment.state, notebook.place.root, there)


# Deciding


def apply_proposals(
    notebook: Notebook,
    memory: Memory,
    pending: Sequence[PendingProposal],
    why_skipped: Callable[[PendingProposal], str],
    *,
    by_hand: bool,
    confirmed: Collection[str] = (),
    refused: Sequence[PendingProposal] = (),
) -> ApplyResult:
    """Apply pending proposals as one change set: those for which `why_skipped` gives no reason to
    skip them, and whose notes are as shown. A proposal with an alarm is applied only where its id
    is in `confirmed`. Those that are `refused` are refused by the same act.

    Raises Conflict where somebody writes meanwhile, ChangeRefused, WriteFailed, StateUnusable and
    Busy; nothing was applied then.
    """
    why = {it.id: why_skipped(it) for it in pending}
    alarming = find_alarms(notebook, memory, [it for it in pending if not why[it.id]])

    def why_not(it: PendingProposal) -> str:
        unconfirmed = "; ".join(alarming.get(it.id, ()) if it.id not in confirmed else ())
        return why[it.id] or (f"{unconfirmed}: needs confirmation" if unconfirmed else "")

    plan = make_plan(notebook, memory, pending, why_not)
    if not plan.change_set.edits:
        result = record_applied(notebook, plan, _apply(notebook, plan, by_hand=by_hand))
        refuse(notebook, refused)
        return replace(result, refused=tuple(refused))
    with_refusals = replace(
        plan.change_set,
        refuses=tuple(it.id for it in refused),
        refuses_fixes=_list_findings(refused),
    )
    plan = replace(plan, change_set=with_refusals)
    return record_applied(notebook, plan, _apply(notebook, plan, by_hand=by_hand), refused)


def format_warnings(it: PendingProposal) -> str:
    """Return the warnings and alarms of a proposal in one line; "" for none."""
    return "; ".join(it.all_warnings)


def find_routine_ids(
    notebook: Notebook, memory: Memory, pending: Iterable[PendingProposal]
) -> frozenset[str]:
    """Return the ids of the pending proposals that are routine and have no warning, each applied
    after the ones before it. Raises StateUnusable.
    """
    marked, renamed = protected_paths(notebook), notebook.find_moved(memory)
    found: set[str] = set()
    draft = memory
    for it in pending:
        if it.all_warnings or explain_change(memory, it):
            continue
        try:
            edits = compose(draft, [it.change], protected=marked).edits
        except ChangeRefused:
            continue
        if is_routine(draft, edits, renamed):
            found.add(it.id)
            draft = apply_edits(draft, edits)
    return frozenset(found)


def _apply(notebook: Notebook, plan: ApplyPlan, *, by_hand: bool) -> Applied | None:
    """Apply a plan; return None where it is empty."""
    if not plan.chosen:
        return None
    outcome = apply_or_merge(notebook, plan.change_set, by_hand=by_hand)
    if isinstance(outcome, MergedEdits):
        raise EditRefused(outcome.summary)
    if not isinstance(outcome, Applied):
        raise outcome.to_error()
    return outcome


def find_alarms(
    notebook: Notebook, memory: Memory, chosen: Iterable[PendingProposal]
) -> Mapping[str, tuple[Alarm, ...]]:
    """Return the alarms of applying the `chosen` proposals together, by id. Notes that curations
    retired within the last day count. Raises StateUnusable.
    """
    earlier = count = count_retired_lately(notebook)
    found: dict[str, tuple[Alarm, ...]] = {}
    for it in chosen:
        alarms: list[Alarm] = [alarm for alarm in it.alarms if alarm is not Alarm.MANY]
        if find_retired_path(it.change.operation):
            count += 1
            if count > count_retirable(memory, earlier):
                alarms.append(Alarm.MANY)
        if alarms:
            found[it.id] = tuple(alarms)
    return found


def make_plan(
    notebook: Notebook,
    memory: Memory,
    pending: Iterable[PendingProposal],
    wanted: Callable[[PendingProposal], str],
    change_of: ChangeOf = lambda it, _: it.change,
) -> ApplyPlan:
    """Return the plan for the pending proposals for which `wanted` returns no reason against them
    and which still apply, each after the ones before it. `change_of` returns the change for one.
    """
    fitting: list[PendingProposal] = []
    left: list[tuple[PendingProposal, str]] = []
    for it in pending:
        why = wanted(it) or explain_change(memory, it)
        if why:
            left.append((it, why))
        else:
            fitting.append(it)
    marked = protected_paths(notebook)

    def composed(chosen: Sequence[PendingProposal]) -> ChangeSet:
        changes = _changes(memory, chosen, change_of, marked)
        lines = _log_line(notebook, memory, chosen)
        whole = compose(memory, [*changes, *lines], protected=marked)
        return replace(whole, accepts=tuple(it.id for it in chosen))

    try:
        return ApplyPlan(composed(fitting), tuple(fitting), tuple(left))
    except ChangeRefused:
        chosen: list[PendingProposal] = []
        for it in fitting:
            try:
                composed([*chosen, it])
            except ChangeRefused as refused:
                left.append((it, refused.message))
            else:
                chosen.append(it)
        return ApplyPlan(composed(chosen), tuple(chosen), tuple(left))


def _changes(
    memory: Memory, chosen: Iterable[PendingProposal], change_of: ChangeOf, marked: Collection[str]
) -> list[Change]:
    """Return the changes for the proposals that are `chosen`. Raises ChangeRefused."""
    changes: list[Change] = []

    def drafted() -> Memory:
        return apply_edits(memory, compose(memory, changes, protected=marked).edits)

    for it in chosen:
        changes.append(change_of(it, drafted))
    return changes


def record_applied(
    notebook: Notebook,
    plan: ApplyPlan,
    applied: Applied | None,
    refused: Sequence[PendingProposal] = (),
) -> ApplyResult:
    """Record in the ledger what was `applied`, if anything, and `refused` with it; the history has
    it already. Raises StateUnusable.
    """
    edits = plan.change_set.edits if applied is not None else ()
    try:
        _follow_edits(notebook, edits)
        _move_cursors(notebook)
        act = applied.token if applied is not None else ""
        accepted, rejected = _by_run(plan.chosen), _by_run(refused)
        runs = dict.fromkeys((*accepted, *rejected))
        counts = [DecisionCount(run, accepted[run], rejected[run], act) for run in runs]
        _record(notebook, counts)
    except StateUnusable as error:
        count = len(plan.chosen)
        done = f"{count} proposals were applied" if count else "No proposal was applied"
        done = "1 proposal was applied" if count == 1 else done
        raise StateUnusable(
            error.message, changed=f"{done}; the ledger does not record it."
        ) from None
    return ApplyResult(plan.chosen, plan.skipped, edits, tuple(refused))


def refuse(notebook: Notebook, refused: Iterable[PendingProposal], reason: str = "") -> int:
    """Refuse the given proposals that are pending, as one act of the history with the user's
    `reason`, and return their number. Raises StateUnusable and MemoryUnreadable.
    """
    environment, root = notebook.environment, notebook.place.root
    pending = {it.id for it in load_curation_state(environment.state, root).pending}
    still_pending = [it for it in refused if it.id in pending]
    if not still_pending:
        _move_cursors(notebook)
        return 0
    summary = clip(", ".join(f"{it.op} {it.path}" for it in still_pending), _LONGEST_TOLD)
    why = f"{summary}: {reason}" if reason else summary
    ids, now = [it.id for it in still_pending], environment.now.isoformat()
    token = notebook.decisions.refuse(ids, list(_list_findings(still_pending)), now, why)
    _move_cursors(notebook)
    counts = _by_run(still_pending).items()
    _record(notebook, [DecisionCount(run, rejected=count, act=token) for run, count in counts])
    return len(still_pending)


def _list_findings(proposals: Iterable[PendingProposal]) -> tuple[str, ...]:
    """Return the ids of the findings that `proposals` fix."""
    return tuple(sorted({it.finding for it in proposals if it.finding}))


def _follow_edits(notebook: Notebook, edits: Iterable[Edit]) -> None:
    """Let pending proposals that replace a passage apply also after `edits` of their note that the
    user has just accepted: their own passage is still what was shown.
    """
    changed = {
        edit.path: (compute_digest(edit.before), compute_digest(edit.after))
        for edit in edits
        if edit.before is not None and edit.after is not None
    }
    if not changed:
        return
    # the edits are made and have to be recorded; without this, other proposals are only outdated
    with suppress(StateUnusable), state_lock(notebook.environment.state):
        state = load_curation_state(notebook.environment.state, notebook.place.root)
        proposals = tuple(
            it if state.is_decided(it.id) else it.after_edits(changed) for it in state.proposals
        )
        if proposals != state.proposals:
            save_state(notebook, replace(state, proposals=proposals))


def _move_cursors(notebook: Notebook) -> None:
    """Save how far activity was curated, where nothing is pending any more."""
    # read again: another command may have saved proposals meanwhile
    state = load_curation_state(notebook.environment.state, notebook.place.root)
    if state.next_cursors and not state.pending:
        save_state(notebook, state.move_cursors())


def _record(notebook: Notebook, decided: Iterable[DecisionCount]) -> None:
    record_decisions(notebook.environment.state, notebook.place.root, decided)


def _by_run(proposals: Iterable[PendingProposal]) -> Counter[str]:
    return Counter(it.run for it in proposals if it.run)


def _log_line(
    notebook: Notebook, memory: Memory, chosen: Sequence[PendingProposal]
) -> list[Change]:
    """Return the change that adds a curation to a wiki's log; none where there is no log."""
    logs = [file for file in memory.files if file.path.rpartition("/")[2] == memory.layout.log_name]
    if not chosen or not logs:
        return []
    log = min(logs, key=lambda it: it.path.count("/"))
    day = notebook.environment.now.date().isoformat()
    summary = ", ".join(f"{it.op} {it.path}" for it in chosen)
    lines = split_lines(log.text)
    text = f"\n## [{day}] curate | {len(chosen)} changes\n\n{summary}\n"
    return [Change(Insert(log.path, len(lines), text), "what was curated", chosen[0].change.author)]


@dataclass(frozen=True, slots=True)
class RetryRequest:
    """The engine of a curation and its input."""

    prepared: PreparedCuration
    target: EngineTarget


@dataclass(frozen=True, slots=True)
class RetryPreview:
    """Preview of sending a rejected change back; nothing is sent."""

    brief: Brief
    egress: Egress
    disabled_reason: str
    """Why it cannot be sent, and what to do; "" where it can."""


def preview_retry(
    notebook: Notebook, asked: RetryRequest, rejected: RejectedChange
) -> RetryPreview:
    """Return the preview of sending a change back. Raises StateUnusable."""
    brief, redaction = compose_retry_brief(asked.prepared.brief, rejected), asked.prepared.redaction
    leaving = preview_egress(notebook, asked.target, brief, redaction, brief.stable, brief.changing)
    return RetryPreview(brief, leaving, find_disabled_reason(leaving))


def send_back(
    notebook: Notebook, asked: RetryRequest, rejected: RejectedChange, step: Step = lambda _: None
) -> Curation:
    """Send a rejected change back and return the result: the pending proposals, and the corrected
    change where it is valid now. Nothing is saved. Raises WrongUsage where it was sent back before
    or is not from an external engine, CuratorFailed, StateUnusable, and what `step` raises.
    """
    if not rejected.original:
        raise WrongUsage("Only what a model or a program proposed can be sent back, and only once.")
    # the activity and the cursors were counted by the first curation
    activity = replace(asked.prepared.activity, tokens=0, cursors={})
    prepared = replace(asked.prepared, activity=activity)
    engine = asked.target.make_engine(notebook, prepared)
    brief = compose_retry_brief(prepared.brief, rejected)
    answer = limit_to_one_edit(engine.answer(prepared.memory, brief, step))
    return validate_answer(notebook, prepared, engine.author, answer)
