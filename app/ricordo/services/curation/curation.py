"""Curation: a separate session proposes changes to a memory, and the user decides on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ricordo.curation.brief import Brief
from ricordo.curation.edits import brief_of, only_once
from ricordo.curation.engine import EngineAnswer, Step
from ricordo.curation.pending import Waiting, renewed, waiting
from ricordo.curation.proposal import RULES, Alarm, Proposal, Rejected, retired
from ricordo.curation.routine import is_routine
from ricordo.curation.user_decisions import NOTHING_DECIDED, UserDecisions
from ricordo.curation.validation import ValidationContext, check, most_retired
from ricordo.errors import ChangeRefused, EditRefused, StateUnusable, WrongUsage
from ricordo.llm.redaction import Redaction
from ricordo.memory.change import AddEntry, Author, Change, ChangeSet, Create, Insert, digest
from ricordo.memory.compose import compose
from ricordo.memory.draft import with_edits
from ricordo.memory.lines import split_lines
from ricordo.memory.memory import Memory
from ricordo.services.curation.pending import CurationState, recall_curation, remember_curation
from ricordo.services.curation.preparation import (
    CurationScope,
    Prepared,
    SkippedInput,
    prepare,
    skipped,
    still_there,
)
from ricordo.services.curation.user_decisions import moment_of, user_decisions
from ricordo.services.edits.change import Merged, apply_or_merge, protected_paths
from ricordo.services.engines.engines import MakeEngine, Outside, rules
from ricordo.services.engines.preview import Egress, leaving_of, why_not
from ricordo.services.ledger.ledger import (
    DecisionCount,
    LedgerRun,
    created_lately,
    new_run,
    record,
    record_decided,
    retired_lately,
)
from ricordo.services.workspace.notebook import Notebook
from ricordo.storage.writer import Applied
from ricordo.text import clip

_LONGEST_TOLD = 200
"""Cells of the list of refused proposals in the history."""

ChangeOf = Callable[[Waiting, Callable[[], Memory]], Change]
"""Returns the change for a proposal; its second argument returns the memory after the proposals
before it. Raises ChangeRefused.
"""


@dataclass(frozen=True, slots=True)
class Curation:
    """The result of a curation; nothing is saved or applied yet."""

    proposals: tuple[Waiting, ...]
    """The pending proposals that still apply, and the new ones."""
    rejected: tuple[Rejected, ...]
    brief: Brief
    redaction: Redaction
    """The redaction of this run: seals the brief and restores the answer."""
    kept: CurationState
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
class Plan:
    """The change set of chosen proposals; nothing is applied yet."""

    change_set: ChangeSet
    chosen: tuple[Waiting, ...]
    left: tuple[tuple[Waiting, str], ...]
    """The other proposals, each with the reason."""


@dataclass(frozen=True, slots=True)
class Taken:
    """The result of applying proposals."""

    applied: tuple[Waiting, ...]
    left: tuple[tuple[Waiting, str], ...]
    """Proposals that were not applied, each with the reason."""


# Proposing


def propose(
    notebook: Notebook,
    memory: Memory,
    scope: CurationScope,
    step: Step = lambda _: None,
    make: MakeEngine = rules,
) -> Curation:
    """Return what an engine proposes for `memory`, by the messages in the `scope`. Changes nothing.
    Raises WrongUsage, StateUnusable, CuratorFailed, and what `step` raises.
    """
    return propose_prepared(notebook, prepare(notebook, memory, scope, step), step, make)


def propose_prepared(
    notebook: Notebook,
    prepared: Prepared,
    step: Step = lambda _: None,
    make: MakeEngine = rules,
) -> Curation:
    """Return what an engine proposes for a prepared curation. Changes nothing. Raises
    StateUnusable, CuratorFailed, and what `step` raises.
    """
    engine = make(notebook, prepared, step)
    answer = engine.answer(prepared.memory, prepared.brief, step)
    return checked(notebook, prepared, engine.author, answer)


def checked(
    notebook: Notebook, prepared: Prepared, author: Author, answer: EngineAnswer
) -> Curation:
    """Return the validated answer of an engine. Raises StateUnusable."""
    memory, scope, told = prepared.memory, prepared.scope, prepared.told
    at = notebook.surroundings.now.isoformat()
    # read again: pending proposals may have been decided while the user viewed the brief
    kept = recall_curation(notebook.surroundings.state, memory.root)
    decisions = user_decisions(notebook, memory)
    old = [
        it
        for it in kept.waiting
        if not why_changed(memory, it) and not _find_objection(notebook, memory, decisions, it)
    ]
    context = ValidationContext(
        memory,
        {**{it.source: it.text for it in told.said}, **answer.shown},
        author,
        protected_paths(notebook),
        retired_lately(notebook),
        [gone for it in old if (gone := retired(it.change.act))],
        created_lately(notebook),
        [it.path for it in old if isinstance(it.change.act, Create)],
        decisions,
        {it.source: moment for it in told.said if (moment := moment_of(it.at))},
    )
    result = check(context, answer.wishes)
    fresh = [waiting(it, memory, at=at) for it in result.proposals if _is_about(scope.note, it)]
    # a proposal that was applied and then reverted by others gets a new id
    fresh = [renewed(it) if it.id in kept.applied else it for it in fresh]
    new = {it.id: it for it in fresh if it.id not in {*kept.dropped, *kept.refused}}
    recorded = new_run(at, author, answer.usage, told.tokens, len(new), answer.besides)
    # a repeated proposal belongs to this run; outdated and decided ones are dropped
    outdated = {it.id for it in kept.waiting} - {it.id for it in old}
    by_id = {it.id: it for it in kept.proposals if it.id not in outdated}
    by_id |= {it.id: replace(it, run=recorded.id) for it in new.values()}
    proposals = tuple(by_id.values())
    waits = tuple(it for it in proposals if not kept.is_decided(it.id))
    # the rules propose the same each time: do not report what was decided before
    is_silent = author.name == RULES
    checks = (it for it in result.rejected if not (is_silent and it.is_decided))
    rejected = (*answer.rejected, *checks)
    passed_over = skipped(answer.unread, memory, told.said)
    # input that the engine was not asked about is read again next time
    stays = scope.is_named or any(it.is_left for it in passed_over)
    moving = kept.moving if stays else {**kept.moving, **told.cursors}
    return Curation(
        waits,
        rejected,
        prepared.brief,
        prepared.redaction,
        replace(kept, proposals=proposals, moving=moving),
        told.sessions,
        recorded.costing(answer.usage + answer.besides),
        recorded,
        passed_over,
    )


def _is_about(note: str, it: Proposal) -> bool:
    """Return whether a proposal is about `note`; "" for any."""
    return not note or note in (
        *(edit.path for edit in it.edits),
        getattr(it.change.act, "note", ""),
    )


def pending_proposals(notebook: Notebook, memory: Memory) -> tuple[Waiting, ...]:
    """Return the pending proposals on `memory`. One that contradicts a later decision of the user
    has a warning. Raises StateUnusable.
    """
    pending = recall_curation(notebook.surroundings.state, memory.root).waiting
    decisions = user_decisions(notebook, memory) if pending else NOTHING_DECIDED
    if decisions == NOTHING_DECIDED:
        return pending
    found: list[Waiting] = []
    for it in pending:
        why = _find_objection(notebook, memory, decisions, it)
        found.append(replace(it, warnings=(why, *it.warnings)) if why else it)
    return tuple(found)


def _find_objection(
    notebook: Notebook, memory: Memory, decisions: UserDecisions, it: Waiting
) -> str:
    """Return the later decision of the user that a proposal contradicts; "" for none."""
    try:
        edits = compose(memory, [it.change], marked=protected_paths(notebook)).edits
    except ChangeRefused:
        return ""
    return decisions.objection(memory, it.change.act, edits, moment_of(it.at))


def why_changed(memory: Memory, it: Waiting) -> str:
    """Return why a proposal no longer applies as shown; "" where it does."""
    for path, sha in it.made_against.items():
        file = memory.by_path.get(path)
        if (digest(file.raw) if file is not None else None) != sha:
            return f"{path} has changed since this was proposed"
    act = it.change.act
    if isinstance(act, AddEntry) and act.note in memory.entries:
        return f"{act.note} already has an entry"
    return ""


# Saving


def begin(notebook: Notebook, curation: Curation) -> CurationState:
    """Save the proposals of a curation as pending, record the run, and return the saved state.
    Where nothing was proposed or rejected, the cursors move. Raises StateUnusable.
    """
    record(notebook.surroundings.state, notebook.place.root, curation.recorded)
    kept = curation.kept if curation.rejected else curation.kept.settled()
    keep(notebook, kept)
    return kept


def record_trial(notebook: Notebook, curation: Curation) -> None:
    """Record the cost of a curation whose proposals are not saved. Raises StateUnusable."""
    run = replace(curation.recorded, proposed=0, activity_tokens=0)
    if run.input_tokens or run.output_tokens:
        record(notebook.surroundings.state, notebook.place.root, run)


def keep(notebook: Notebook, kept: CurationState) -> None:
    """Save the curation state. Raises StateUnusable."""
    there = replace(kept, cursors=still_there(kept.cursors), moving=still_there(kept.moving))
    remember_curation(notebook.surroundings.state, notebook.place.root, there)


# Deciding


def take(
    notebook: Notebook,
    memory: Memory,
    waits: Sequence[Waiting],
    why_left: Callable[[Waiting], str],
    *,
    by_hand: bool,
    confirmed: Collection[str] = (),
) -> Taken:
    """Apply pending proposals as one change set: those for which `why_left` gives no reason to skip
    them, and whose notes are as shown. A proposal with an alarm is applied only where its id is in
    `confirmed`.

    Raises Conflict where somebody writes meanwhile, ChangeRefused, WriteFailed, StateUnusable and
    Busy; nothing was applied then.
    """
    why = {it.id: why_left(it) for it in waits}
    alarming = alarms(notebook, memory, [it for it in waits if not why[it.id]])

    def why_not(it: Waiting) -> str:
        unconfirmed = "; ".join(alarming.get(it.id, ()) if it.id not in confirmed else ())
        return why[it.id] or (f"{unconfirmed}: needs confirmation" if unconfirmed else "")

    plan = plan_of(notebook, memory, waits, why_not)
    return settle(notebook, plan, _apply(notebook, plan, by_hand=by_hand))


def warnings_of(it: Waiting) -> str:
    """Return the warnings and alarms of a proposal in one line; "" for none."""
    return "; ".join(it.told)


def routine_ids(notebook: Notebook, memory: Memory, waits: Iterable[Waiting]) -> frozenset[str]:
    """Return the ids of the pending proposals that are routine and have no warning, each applied
    after the ones before it. Raises StateUnusable.
    """
    marked, renamed = protected_paths(notebook), notebook.renamed(memory)
    found: set[str] = set()
    draft = memory
    for it in waits:
        if it.told or why_changed(memory, it):
            continue
        try:
            edits = compose(draft, [it.change], marked=marked).edits
        except ChangeRefused:
            continue
        if is_routine(draft, edits, renamed):
            found.add(it.id)
            draft = with_edits(draft, edits)
    return frozenset(found)


def _apply(notebook: Notebook, plan: Plan, *, by_hand: bool) -> Applied | None:
    """Apply a plan; return None where it is empty."""
    if not plan.chosen:
        return None
    outcome = apply_or_merge(notebook, plan.change_set, by_hand=by_hand)
    if isinstance(outcome, Merged):
        raise EditRefused(outcome.told)
    if not isinstance(outcome, Applied):
        raise outcome.error()
    return outcome


def alarms(
    notebook: Notebook, memory: Memory, chosen: Iterable[Waiting]
) -> Mapping[str, tuple[Alarm, ...]]:
    """Return the alarms of applying the `chosen` proposals together, by id. Notes that curations
    retired within the last day count. Raises StateUnusable.
    """
    earlier = count = retired_lately(notebook)
    found: dict[str, tuple[Alarm, ...]] = {}
    for it in chosen:
        told: list[Alarm] = [alarm for alarm in it.alarms if alarm is not Alarm.MANY]
        if retired(it.change.act):
            count += 1
            if count > most_retired(memory, earlier):
                told.append(Alarm.MANY)
        if told:
            found[it.id] = tuple(told)
    return found


def plan_of(
    notebook: Notebook,
    memory: Memory,
    waits: Iterable[Waiting],
    wanted: Callable[[Waiting], str],
    change_of: ChangeOf = lambda it, _: it.change,
) -> Plan:
    """Return the plan for the pending proposals for which `wanted` returns no reason against them
    and which still apply, each after the ones before it. `change_of` returns the change for one.
    """
    fitting: list[Waiting] = []
    left: list[tuple[Waiting, str]] = []
    for it in waits:
        why = wanted(it) or why_changed(memory, it)
        if why:
            left.append((it, why))
        else:
            fitting.append(it)
    marked = protected_paths(notebook)

    def composed(chosen: Sequence[Waiting]) -> ChangeSet:
        changes = _changes(memory, chosen, change_of, marked)
        lines = _log_line(notebook, memory, chosen)
        whole = compose(memory, [*changes, *lines], marked=marked)
        return replace(whole, accepts=tuple(it.id for it in chosen))

    try:
        return Plan(composed(fitting), tuple(fitting), tuple(left))
    except ChangeRefused:
        chosen: list[Waiting] = []
        for it in fitting:
            try:
                composed([*chosen, it])
            except ChangeRefused as refused:
                left.append((it, refused.message))
            else:
                chosen.append(it)
        return Plan(composed(chosen), tuple(chosen), tuple(left))


def _changes(
    memory: Memory, chosen: Iterable[Waiting], change_of: ChangeOf, marked: Collection[str]
) -> list[Change]:
    """Return the changes for the proposals that are `chosen`. Raises ChangeRefused."""
    changes: list[Change] = []

    def drafted() -> Memory:
        return with_edits(memory, compose(memory, changes, marked=marked).edits)

    for it in chosen:
        changes.append(change_of(it, drafted))
    return changes


def settle(notebook: Notebook, plan: Plan, applied: Applied | None) -> Taken:
    """Record in the ledger what was `applied`, if anything; the history has it already. Raises
    StateUnusable.
    """
    try:
        _move_cursors(notebook)
        act = applied.token if applied is not None else ""
        counts = _by_run(plan.chosen).items()
        _record(notebook, [DecisionCount(run, accepted=count, act=act) for run, count in counts])
    except StateUnusable as error:
        count = len(plan.chosen)
        done = f"{count} proposals were applied" if count else "No proposal was applied"
        done = "1 proposal was applied" if count == 1 else done
        raise StateUnusable(
            error.message, changed=f"{done}; the ledger does not record it."
        ) from None
    return Taken(plan.chosen, plan.left)


def refuse(notebook: Notebook, refused: Iterable[Waiting]) -> int:
    """Refuse the given proposals that are pending, as one act of the history, and return their
    number. Raises StateUnusable and MemoryUnreadable.
    """
    surroundings, root = notebook.surroundings, notebook.place.root
    pending = {it.id for it in recall_curation(surroundings.state, root).waiting}
    them = [it for it in refused if it.id in pending]
    if not them:
        _move_cursors(notebook)
        return 0
    told = clip(", ".join(f"{it.op} {it.path}" for it in them), _LONGEST_TOLD)
    ids, now = [it.id for it in them], surroundings.now.isoformat()
    findings = sorted({it.finding for it in them if it.finding})
    token = notebook.decisions.refuse(ids, findings, now, told)
    _move_cursors(notebook)
    counts = _by_run(them).items()
    _record(notebook, [DecisionCount(run, rejected=count, act=token) for run, count in counts])
    return len(them)


def _move_cursors(notebook: Notebook) -> None:
    """Save how far activity was curated, where nothing is pending any more."""
    # read again: another command may have saved proposals meanwhile
    kept = recall_curation(notebook.surroundings.state, notebook.place.root)
    if kept.moving and not kept.waiting:
        keep(notebook, kept.settled())


def _record(notebook: Notebook, decided: Iterable[DecisionCount]) -> None:
    record_decided(notebook.surroundings.state, notebook.place.root, decided)


def _by_run(them: Iterable[Waiting]) -> Mapping[str, int]:
    return Counter(it.run for it in them if it.run)


def _log_line(notebook: Notebook, memory: Memory, chosen: Sequence[Waiting]) -> list[Change]:
    """Return the change that adds a curation to a wiki's log; none where there is no log."""
    logs = [file for file in memory.files if file.path.rpartition("/")[2] == memory.layout.log_name]
    if not chosen or not logs:
        return []
    log = min(logs, key=lambda it: it.path.count("/"))
    day = notebook.surroundings.now.date().isoformat()
    told = ", ".join(f"{it.op} {it.path}" for it in chosen)
    lines = split_lines(log.text)
    text = f"\n## [{day}] curate | {len(chosen)} changes\n\n{told}\n"
    return [Change(Insert(log.path, len(lines), text), "what was curated", chosen[0].change.author)]


@dataclass(frozen=True, slots=True)
class RetryRequest:
    """The engine of a curation and its input."""

    prepared: Prepared
    outside: Outside


@dataclass(frozen=True, slots=True)
class BeforeSendingBack:
    """Preview of sending a rejected change back; nothing is sent."""

    brief: Brief
    leaving: Egress
    why_not: str
    """Why it cannot be sent, and what to do; "" where it can."""


def look_before_sending_back(
    notebook: Notebook, asked: RetryRequest, rejected: Rejected
) -> BeforeSendingBack:
    """Return the preview of sending a change back. Raises StateUnusable."""
    brief, redaction = brief_of(asked.prepared.brief, rejected), asked.prepared.redaction
    leaving = leaving_of(notebook, asked.outside, brief, redaction, brief.stable, brief.changing)
    return BeforeSendingBack(brief, leaving, why_not(leaving))


def send_back(
    notebook: Notebook, asked: RetryRequest, rejected: Rejected, step: Step = lambda _: None
) -> Curation:
    """Send a rejected change back and return the result: the pending proposals, and the corrected
    change where it is valid now. Nothing is saved. Raises WrongUsage where it was sent back before
    or is not from an external engine, CuratorFailed, StateUnusable, and what `step` raises.
    """
    if not rejected.said:
        raise WrongUsage("Only what a model or a program proposed can be sent back, and only once.")
    # the activity and the cursors were counted by the first curation
    told = replace(asked.prepared.told, tokens=0, cursors={})
    prepared = replace(asked.prepared, told=told)
    engine = asked.outside.asking(notebook, prepared)
    brief = brief_of(prepared.brief, rejected)
    answer = only_once(engine.answer(prepared.memory, brief, step))
    return checked(notebook, prepared, engine.author, answer)
