"""Curation: a separate session proposes changes to a memory, and the person decides on them."""

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
"""Cells in which the history tells what was refused."""

ChangeOf = Callable[[Waiting, Callable[[], Memory]], Change]
"""Gives the change to be made for a proposal; what is called gives the memory as the proposals
before it would leave it. Raises ChangeRefused.
"""


@dataclass(frozen=True, slots=True)
class Curation:
    """What a curation came to; nothing of it is kept or done yet."""

    proposals: tuple[Waiting, ...]
    """Those that were kept from before, as far as they still fit, and the new ones."""
    rejected: tuple[Rejected, ...]
    brief: Brief
    redaction: Redaction
    """That of this run: it seals the brief, and brings back what is answered to it."""
    kept: CurationState
    """What will be kept, once the person was told."""
    sessions: int
    """In how many something was said since the last time."""
    run: LedgerRun
    """With what all its questions cost."""
    recorded: LedgerRun
    """As it stands in the ledger: without those questions that stand there by themselves."""
    skipped: tuple[SkippedInput, ...] = ()
    """What was not read."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What comes of the proposals that are to be applied; nothing was applied yet."""

    change_set: ChangeSet
    chosen: tuple[Waiting, ...]
    left: tuple[tuple[Waiting, str], ...]
    """Those that are not among them, each with why."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of proposals that were to be applied."""

    applied: tuple[Waiting, ...]
    left: tuple[tuple[Waiting, str], ...]
    """Those that were not, each with why."""


# Proposing


def propose(
    notebook: Notebook,
    memory: Memory,
    scope: CurationScope,
    step: Step = lambda _: None,
    make: MakeEngine = rules,
) -> Curation:
    """Return what an engine would change in `memory`, by what was said in the `scope`. Changes
    nothing. Raises WrongUsage, StateUnusable, CuratorFailed, and what `step` raises.
    """
    return propose_prepared(notebook, prepare(notebook, memory, scope, step), step, make)


def propose_prepared(
    notebook: Notebook,
    prepared: Prepared,
    step: Step = lambda _: None,
    make: MakeEngine = rules,
) -> Curation:
    """Return what an engine would change by what was `prepared`. Changes nothing. Raises
    StateUnusable, CuratorFailed, and what `step` raises.
    """
    engine = make(notebook, prepared, step)
    answer = engine.answer(prepared.memory, prepared.brief, step)
    return checked(notebook, prepared, engine.author, answer)


def checked(
    notebook: Notebook, prepared: Prepared, author: Author, answer: EngineAnswer
) -> Curation:
    """Return what comes of an engine's answer: an engine may be waited for in its own way. Raises
    StateUnusable.
    """
    memory, scope, told = prepared.memory, prepared.scope, prepared.told
    at = notebook.surroundings.now.isoformat()
    # read again: what waits may have been decided while the brief was looked at
    kept = recall_curation(notebook.surroundings.state, memory.root)
    decisions = user_decisions(notebook, memory)
    old = [
        it
        for it in kept.waiting
        if not why_changed(memory, it) and not _objection(notebook, memory, decisions, it)
    ]
    desk = ValidationContext(
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
    found = check(desk, answer.wishes)
    fresh = [waiting(it, memory, at=at) for it in found.proposals if _is_about(scope.note, it)]
    # one that was applied, and what it did reverted by others, is another one by now
    fresh = [renewed(it) if it.id in kept.applied else it for it in fresh]
    new = {it.id: it for it in fresh if it.id not in {*kept.dropped, *kept.refused}}
    recorded = new_run(at, author, answer.usage, told.tokens, len(new), answer.besides)
    # what is proposed again is this run's; what no longer fits, or was decided otherwise since it
    # was proposed, is not kept
    outdated = {it.id for it in kept.waiting} - {it.id for it in old}
    by_id = {it.id: it for it in kept.proposals if it.id not in outdated}
    by_id |= {it.id: replace(it, run=recorded.id) for it in new.values()}
    proposals = tuple(by_id.values())
    waits = tuple(it for it in proposals if not kept.is_decided(it.id))
    # rules find the same each time: what was decided of it is no news
    is_silent = author.name == RULES
    checks = (it for it in found.rejected if not (is_silent and it.is_decided))
    rejected = (*answer.rejected, *checks)
    passed_over = skipped(answer.unread, memory, told.said)
    # what was not asked about is heard again
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
    """Whether a proposal is about the note that was asked for; "" asks for all."""
    return not note or note in (
        *(edit.path for edit in it.edits),
        getattr(it.change.act, "note", ""),
    )


def pending_proposals(notebook: Notebook, memory: Memory) -> tuple[Waiting, ...]:
    """Return the proposals on `memory` that are pending. One that goes against what the user
    decided since it was proposed has a warning. Raises StateUnusable.
    """
    pending = recall_curation(notebook.surroundings.state, memory.root).waiting
    decisions = user_decisions(notebook, memory) if pending else NOTHING_DECIDED
    if decisions == NOTHING_DECIDED:
        return pending
    found: list[Waiting] = []
    for it in pending:
        why = _objection(notebook, memory, decisions, it)
        found.append(replace(it, warnings=(why, *it.warnings)) if why else it)
    return tuple(found)


def _objection(notebook: Notebook, memory: Memory, decisions: UserDecisions, it: Waiting) -> str:
    """Return what the user decided since a proposal was made, and it goes against; "" for
    nothing.
    """
    try:
        edits = compose(memory, [it.change], marked=protected_paths(notebook)).edits
    except ChangeRefused:
        return ""
    return decisions.objection(memory, it.change.act, edits, moment_of(it.at))


def why_changed(memory: Memory, it: Waiting) -> str:
    """Return why a proposal is no longer what was shown; "" where it is."""
    for path, sha in it.made_against.items():
        file = memory.by_path.get(path)
        if (digest(file.raw) if file is not None else None) != sha:
            return f"{path} is not what it was when this was proposed"
    act = it.change.act
    if isinstance(act, AddEntry) and act.note in memory.entries:
        return f"{act.note} has an entry by now"
    return ""


# Keeping


def begin(notebook: Notebook, curation: Curation) -> CurationState:
    """Let the proposals of a curation wait, and record it; return what is kept. Where it proposed
    nothing, and nothing of it was rejected, there is nothing to decide. Raises StateUnusable.
    """
    record(notebook.surroundings.state, notebook.place.root, curation.recorded)
    kept = curation.kept if curation.rejected else curation.kept.settled()
    keep(notebook, kept)
    return kept


def record_trial(notebook: Notebook, curation: Curation) -> None:
    """Record what a curation cost of which nothing is to be kept: no activity was curated by it.
    Raises StateUnusable.
    """
    run = replace(curation.recorded, proposed=0, activity_tokens=0)
    if run.input_tokens or run.output_tokens:
        record(notebook.surroundings.state, notebook.place.root, run)


def keep(notebook: Notebook, kept: CurationState) -> None:
    """Keep the state of curation. Raises StateUnusable."""
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
    """Apply those of the proposals that `wait`, as one change set, of which `why_left` gives no
    reason to leave them, and whose notes are as they were shown. What alarms is applied only where
    its id is among those that the user has `confirmed`.

    Raises Conflict where somebody writes meanwhile, ChangeRefused, WriteFailed, StateUnusable and
    Busy; nothing was applied then.
    """
    why = {it.id: why_left(it) for it in waits}
    alarming = alarms(notebook, memory, [it for it in waits if not why[it.id]])

    def why_not(it: Waiting) -> str:
        told = "; ".join(alarming.get(it.id, ()) if it.id not in confirmed else ())
        return why[it.id] or (f"{told}: this has to be confirmed" if told else "")

    plan = plan_of(notebook, memory, waits, why_not)
    return settle(notebook, plan, _applied(notebook, plan, by_hand=by_hand))


def warnings_of(it: Waiting) -> str:
    """Return what speaks against a proposal, in one line; "" where nothing does."""
    return "; ".join(it.told)


def routine_ids(notebook: Notebook, memory: Memory, waits: Iterable[Waiting]) -> frozenset[str]:
    """Return the ids of those of the proposals that `wait` which nothing speaks against and which
    are routine, each behind the ones before it. Raises StateUnusable.
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


def _applied(notebook: Notebook, plan: Plan, *, by_hand: bool) -> Applied | None:
    """Apply what was planned; return None where that is nothing."""
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
    """Return what alarms if the proposals that were `chosen` are applied together, by their ids.
    Notes that curations have retired within the last day count. Raises StateUnusable.
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
    """Return what comes of those of the proposals that `wait` of which `wanted` says no reason
    against it, and which still fit, each seeing the ones before it. `change_of` gives the change
    that is to be made for one.
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
    """Record what was `applied` as planned, if anything was: the history knows that already. Raises
    StateUnusable.
    """
    try:
        _move_cursors(notebook)
        act = applied.token if applied is not None else ""
        counts = _by_run(plan.chosen).items()
        _record(notebook, [DecisionCount(run, accepted=count, act=act) for run, count in counts])
    except StateUnusable as error:
        count = len(plan.chosen)
        done = f"{count} proposals were applied" if count else "Nothing was applied"
        done = "1 proposal was applied" if count == 1 else done
        raise StateUnusable(
            error.message, changed=f"{done}; the ledger does not tell of it."
        ) from None
    return Taken(plan.chosen, plan.left)


def refuse(notebook: Notebook, refused: Iterable[Waiting]) -> int:
    """Refuse those of the proposals that are pending, as one act of the history; return how many
    those were. Raises StateUnusable and MemoryUnreadable.
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
    """Keep how far activity was curated, where nothing is pending any more."""
    # read again: a command may have kept something meanwhile
    kept = recall_curation(notebook.surroundings.state, notebook.place.root)
    if kept.moving and not kept.waiting:
        keep(notebook, kept.settled())


def _record(notebook: Notebook, decided: Iterable[DecisionCount]) -> None:
    record_decided(notebook.surroundings.state, notebook.place.root, decided)


def _by_run(them: Iterable[Waiting]) -> Mapping[str, int]:
    return Counter(it.run for it in them if it.run)


def _log_line(notebook: Notebook, memory: Memory, chosen: Sequence[Waiting]) -> list[Change]:
    """Return the change that tells of a curation in a wiki's log, where it keeps one."""
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
    """Whom a curation asked, and what was given to it."""

    prepared: Prepared
    outside: Outside


@dataclass(frozen=True, slots=True)
class BeforeSendingBack:
    """What is known before a change is sent back; nothing was sent."""

    brief: Brief
    leaving: Egress
    why_not: str
    """Why it cannot be sent, and what to do; "" where nothing speaks against it."""


def look_before_sending_back(
    notebook: Notebook, asked: RetryRequest, rejected: Rejected
) -> BeforeSendingBack:
    """Return what is known before a change is sent back. Raises StateUnusable."""
    brief, redaction = brief_of(asked.prepared.brief, rejected), asked.prepared.redaction
    leaving = leaving_of(notebook, asked.outside, brief, redaction, brief.stable, brief.changing)
    return BeforeSendingBack(brief, leaving, why_not(leaving))


def send_back(
    notebook: Notebook, asked: RetryRequest, rejected: Rejected, step: Step = lambda _: None
) -> Curation:
    """Return what comes of sending a change back: what waits, and it in its place where the answer
    to it fits now. Nothing is kept or done. Raises WrongUsage where it was sent back before or is
    not of an engine outside our code, CuratorFailed, StateUnusable, and what `step` raises.
    """
    if not rejected.said:
        raise WrongUsage("Only what a model or a program proposed can be sent back, and only once.")
    # what was said was counted when it was curated, and so was how far it was heard
    told = replace(asked.prepared.told, tokens=0, cursors={})
    prepared = replace(asked.prepared, told=told)
    engine = asked.outside.asking(notebook, prepared)
    brief = brief_of(prepared.brief, rejected)
    answer = only_once(engine.answer(prepared.memory, brief, step))
    return checked(notebook, prepared, engine.author, answer)
