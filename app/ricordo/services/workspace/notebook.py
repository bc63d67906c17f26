"""An opened memory: reading it, judging it, and judging it again after a change."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from enum import IntEnum, auto
from functools import cached_property
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING

from ricordo import git
from ricordo.agents.agent import MemoryPlace
from ricordo.agents.transcripts.store import TranscriptStore
from ricordo.errors import StateUnusable
from ricordo.lint.causes import create_habit_id, list_causes, list_settled_rules
from ricordo.lint.conventions import NO_CONVENTIONS, ConventionLearner, Conventions
from ricordo.lint.evidence import NO_EVIDENCE, Evidence
from ricordo.lint.finding import Finding, Severity
from ricordo.lint.linter import Linter
from ricordo.lint.quiet import QuietRules
from ricordo.lint.retention import Retention
from ricordo.lint.rule import RuleContext
from ricordo.memory.change import compute_digest
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note, is_protected
from ricordo.services.history.moved_files import MovedFiles
from ricordo.services.sessions.activity_text import AgeSources, list_written_days
from ricordo.services.workspace.conventions import correct_place, find_schema, get_corrections
from ricordo.services.workspace.environment import Environment
from ricordo.services.workspace.evidence import (
    EVIDENCE_RULES,
    EvidenceGatherer,
    GatherStep,
    compute_retention,
    create_sources,
    do_not_wait,
    drop_confirmed,
)
from ricordo.services.workspace.git_rules import EncryptedFiles, IgnoredTargets
from ricordo.services.workspace.settings import get_severities, get_thresholds
from ricordo.settings.settings import Settings
from ricordo.storage.database import Database
from ricordo.storage.decisions import (
    ActiveDecision,
    Decision,
    Decisions,
    NoteVerdict,
    ReviewVerdict,
    ReviewVerdicts,
    VerdictsByPath,
    filter_by_content,
)
from ricordo.storage.reader import list_memory, read_memory
from ricordo.storage.summary_cache import Summary, save_summary

if TYPE_CHECKING:
    from ricordo.services.history.recorder import Recorder, RecordResult
    from ricordo.storage.writer import Writer

NO_SESSIONS: Mapping[str, str] = MappingProxyType({})


class InstructedNotes(Container[str]):
    """Paths of files of a memory that the instructions of the repository around it name.

    These are read when the first path is looked up.
    """

    def __init__(self, root: str) -> None:
        """`root` is the directory of the memory; nothing is read yet."""
        self._root = root

    def __contains__(self, path: object) -> bool:
        """Return whether the file at `path`, relative to the memory, is one of them."""
        from ricordo.agents.instruction_files import names_path

        return bool(self._text) and names_path(self._text, f"{self._place}{path}")

    @cached_property
    def _top(self) -> str:
        return git.find_top_level(self._root) or ""

    @cached_property
    def _place(self) -> str:
        return "" if self._top == self._root else f"{os.path.relpath(self._root, self._top)}/"

    @cached_property
    def _text(self) -> str:
        from ricordo.agents.instruction_files import read_instructions

        return read_instructions(self._top) if self._top else ""


def summarize(place: MemoryPlace, snapshot: Snapshot) -> Summary:
    """Return the numbers of a snapshot in the form of `storage.summary_cache`; findings that take
    evidence are counted only if it was gathered.
    """
    load = snapshot.memory.load
    by_evidence = _by_evidence(snapshot)
    known = {_known(each): by_evidence[each] for each in Severity} if snapshot.has_evidence else {}
    return {
        **known,
        "name": get_short_name(place),
        "project": place.project,
        "at": snapshot.at.isoformat(),
        "notes": len(snapshot.memory.notes),
        "errors": snapshot.counts[Severity.ERROR] - by_evidence[Severity.ERROR],
        "warnings": snapshot.counts[Severity.WARNING] - by_evidence[Severity.WARNING],
        "lines": load.lines,
        "units": load.units,
        "max_lines": load.limits.lines if load.limits else None,
        "max_units": load.limits.units if load.limits else None,
    }


def count_findings(snapshot: Snapshot, before: Summary) -> Mapping[Severity, int]:
    """Return the number of findings per severity. For a snapshot without evidence, the findings
    that take evidence are added as they were counted in the summary `before`.
    """
    if snapshot.has_evidence:
        return snapshot.counts
    last = {severity: before.get(_known(severity)) for severity in snapshot.counts}
    more = {severity: n if isinstance(n, int) else 0 for severity, n in last.items()}
    return {severity: count + more[severity] for severity, count in snapshot.counts.items()}


def has_evidence(before: Summary) -> bool:
    """Return whether the summary `before` counts findings that take evidence."""
    return _known(Severity.ERROR) in before


def _by_evidence(snapshot: Snapshot) -> Counter[Severity]:
    return Counter(it.severity for it in snapshot.causes if it.rule in EVIDENCE_RULES)


def _known(severity: Severity) -> str:
    return f"known_{severity.word}s"


def get_short_name(place: MemoryPlace) -> str:
    """Return a short name of a memory: its project or sub-agent, else its agent."""
    if place.layout.is_shared:
        return place.layout.agent
    if not place.layout.is_of_sub_agent and place.project:
        return os.path.basename(place.project)
    folder, name = os.path.split(place.root)
    return os.path.basename(folder) if name == "memory" else name


def group_by_rule(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Return the findings of each severity and rule, worst and most frequent first."""
    by_rule: dict[tuple[Severity, str], list[Finding]] = {}
    for finding in findings:
        by_rule.setdefault((finding.severity, finding.rule), []).append(finding)
    return sorted(by_rule.values(), key=lambda of: (-of[0].severity, -len(of), of[0].rule))


class Depth(IntEnum):
    """How complete a snapshot is."""

    LISTED = auto()
    """The indexes are read; of the notes only the names are known."""
    READ = auto()
    JUDGED = auto()
    """The rules ran on the notes alone."""
    WITH_EVIDENCE = auto()
    """The rules ran with evidence."""


# repr=False: Textual takes a repr of what a worker is given, and that of all findings is slow
@dataclass(frozen=True, eq=False, repr=False)
class Snapshot:
    """A memory at one moment, with its findings."""

    memory: Memory
    findings: tuple[Finding, ...]
    """Worst first, without the dismissed ones."""
    dismissed: tuple[Finding, ...]
    at: datetime
    depth: Depth = Depth.WITH_EVIDENCE
    """Less only for the first snapshots of a memory, or if no evidence was requested."""
    warning: str = ""
    """Why decisions could not be read; "" if they were."""
    protected_paths: frozenset[str] = frozenset()
    """Paths of the notes that the user protected."""
    evidence: Evidence = NO_EVIDENCE
    """What is known besides the text."""
    retention: Mapping[str, Retention] = field(default_factory=dict)
    """Retention of each note at `at`, by path; empty below depth WITH_EVIDENCE."""
    verdicts: VerdictsByPath = field(default_factory=dict)
    """The user's review verdicts, by path."""
    written_days: Mapping[str, date] = field(default_factory=dict)
    """When Ricordo wrote the present text of notes that have a stamp, by path."""
    dismissed_ids: frozenset[str] = frozenset()
    """The ids of all dismissed findings, whether they are found now or not."""
    conventions: Conventions = NO_CONVENTIONS
    """How its notes are written; those of no memory below depth JUDGED."""

    @property
    def ages(self) -> AgeSources:
        """The ages of the notes."""
        return AgeSources(self.evidence, self.written_days)

    @property
    def is_read(self) -> bool:
        """Whether the notes were read."""
        return self.depth >= Depth.READ

    @property
    def is_judged(self) -> bool:
        """Whether the rules ran."""
        return self.depth >= Depth.JUDGED

    @property
    def has_evidence(self) -> bool:
        """Whether the evidence was gathered."""
        return self.depth >= Depth.WITH_EVIDENCE

    @cached_property
    def by_path(self) -> Mapping[str, tuple[Finding, ...]]:
        """The findings of every file, worst first."""
        by_path: dict[str, list[Finding]] = {}
        for finding in self.findings:
            by_path.setdefault(finding.path, []).append(finding)
        return {path: tuple(findings) for path, findings in by_path.items()}

    def findings_of(self, path: str) -> tuple[Finding, ...]:
        """Return the findings of a file, worst first, then those reported at another file that are
        also about this one.
        """
        return (*self.by_path.get(path, ()), *self._by_other.get(path, ()))

    @cached_property
    def _by_other(self) -> Mapping[str, tuple[Finding, ...]]:
        by_other: dict[str, list[Finding]] = {}
        for finding in self.findings:
            if finding.other_path:
                by_other.setdefault(finding.other_path, []).append(finding)
        return {path: tuple(findings) for path, findings in by_other.items()}

    @cached_property
    def counts(self) -> Mapping[Severity, int]:
        """The number of findings of each severity, each cause counted once."""
        counted = dict.fromkeys(sorted(Severity, reverse=True), 0)
        for finding in self.causes:
            counted[finding.severity] += 1
        return counted

    @cached_property
    def causes(self) -> tuple[Finding, ...]:
        """The findings, the most urgent first, with those of a habit as one: what is counted and
        listed.
        """
        return list_causes(self.findings, self.memory)

    @cached_property
    def dismissed_causes(self) -> tuple[Finding, ...]:
        """The same of the dismissed findings."""
        return list_causes(self.dismissed, self.memory, self.dismissed_ids)

    @property
    def needs_attention(self) -> int:
        """The number of errors and warnings, each cause counted once."""
        return self.counts[Severity.ERROR] + self.counts[Severity.WARNING]

    @cached_property
    def notes_in_order(self) -> int:
        """The number of notes without an error or a warning."""
        worst = (self.worst_severity(note.path) for note in self.memory.notes)
        return sum(1 for severity in worst if severity in (None, Severity.INFO))

    @cached_property
    def causes_by_rule(self) -> tuple[tuple[Finding, ...], ...]:
        """The causes of each severity and rule, worst and most frequent first."""
        return tuple(map(tuple, group_by_rule(self.causes)))

    @cached_property
    def counts_by_rule(self) -> Mapping[str, int]:
        """The number of findings of each rule."""
        return Counter(finding.rule for finding in self.findings)

    def is_protected(self, note: Note) -> bool:
        """Return whether curator and fixes must not change `note`."""
        return is_protected(note, self.protected_paths)

    def worst_severity(self, path: str) -> Severity | None:
        """Return the severity of the worst finding of a file; None if it has none."""
        sides = (self.by_path, self._by_other)
        return max((side[path][0].severity for side in sides if path in side), default=None)


class Notebook:
    """One opened memory. Reading and judging it again only handles what changed."""

    def __init__(
        self,
        place: MemoryPlace,
        environment: Environment,
        settings: Settings,
        only: frozenset[str] = frozenset(),
        activity: TranscriptStore | None = None,
    ) -> None:
        """`only` are the rules to run; empty for all. `activity` is a shared store of transcripts;
        None creates one.
        """
        self.place = place = correct_place(place, settings)
        self.environment = environment
        self.settings = settings
        self.database = Database(environment.state)
        self.decisions = Decisions(self.database, place.root)
        self.verdicts = ReviewVerdicts(self.database, place.root)
        self.activity = activity or TranscriptStore(environment.state)
        quiet = None if only else QuietRules(environment.state, place.root)
        self._judging = Lock()
        """Held while linter and learner use what they cached: fixes are tried in a thread."""
        self._learner = ConventionLearner(get_corrections(settings, place.root))
        self._linter = Linter(get_severities(settings, place.root), only, quiet)
        self._judges_all = not only
        self._memory: Memory | None = None
        self._encrypted: EncryptedFiles | None = None
        self._ignored: IgnoredTargets | None = None
        self._last_findings: tuple[Finding, ...] = ()
        self._gatherer = EvidenceGatherer(
            create_sources(place, environment, self.activity), self._linter
        )
        self._evidence: Evidence | None = None

    def copy(self) -> Notebook:
        """Return a second notebook of the same memory, for use in another thread."""
        return Notebook(self.place, self.environment, self.settings, activity=self.activity)

    def take_messages(self) -> list[str]:
        """Return messages about Ricordo's own files; each is returned once."""
        messages = [*self.database.take_notices(), *self.activity.notices]
        self.activity.notices.clear()
        return messages

    @cached_property
    def writer(self) -> Writer:
        """The writer of the memory's files. Imported here: most commands only read."""
        from ricordo.storage.writer import Writer

        return Writer(self.database)

    @cached_property
    def _recorder(self) -> Recorder:
        from ricordo.services.history.recorder import Recorder

        return Recorder(self.database)

    @property
    def evidence(self) -> Evidence:
        """What was gathered so far."""
        return self._evidence or NO_EVIDENCE

    @property
    def _gathered(self) -> Evidence | None:
        """What was gathered; None as long as there is something to gather and nothing was."""
        return self._evidence or (None if self._gatherer.has_sources else NO_EVIDENCE)

    def list(self) -> Memory:
        """Return the memory by its indexes and the names of its notes, which is much faster than
        `read`. Raises MemoryNotFound and MemoryUnreadable.
        """
        return list_memory(self.place.root, self.place.layout)

    def read(self) -> Memory:
        """Return the memory as it is on disk now. Raises MemoryNotFound and MemoryUnreadable."""
        self._memory = read_memory(self.place.root, self.place.layout, self._memory)
        return self._memory

    def record(
        self,
        memory: Memory,
        waiting: Collection[str] = frozenset(),
        step: Callable[[], None] = lambda: None,
        sessions: Mapping[str, str] = NO_SESSIONS,
    ) -> RecordResult:
        """Record in the history what others changed in `memory`, except files `waiting` until
        nobody writes to them; `step` is called after each file. `sessions` are those that are known
        to have written files, by path. Raises StateUnusable.
        """
        return self._recorder.record(memory, self.environment.now, waiting, step, sessions)

    def read_snapshot(self, *, is_stored: bool = True) -> Snapshot:
        """Read and judge the memory by its notes and the evidence gathered so far. Unless
        `is_stored`, the caller stores the numbers of the snapshot. Raises MemoryNotFound and
        MemoryUnreadable.
        """
        return self.judge(self.read(), is_stored=is_stored)

    def read_snapshot_with_evidence(self) -> Snapshot:
        """Read the memory, gather its evidence, and judge it. Raises MemoryNotFound and
        MemoryUnreadable.
        """
        return self.judge_with_evidence(self.read())

    def judge_with_evidence(self, memory: Memory) -> Snapshot:
        """Gather the evidence on `memory` and judge it."""
        self.gather(memory)
        return self.judge(memory)

    def gather(self, memory: Memory, step: GatherStep = do_not_wait) -> bool:
        """Gather the evidence on `memory` for later judging; return whether it changed. Raises what
        `step` raises.

        May run in one thread while the memory is judged in another.
        """
        return self._set_evidence(self._gatherer.gather(memory, step))

    @property
    def has_news(self) -> bool:
        """Whether the evidence on an unchanged memory may have changed."""
        return self._gatherer.has_news

    def gather_news(self, memory: Memory, step: GatherStep = do_not_wait) -> bool:
        """Do what `gather` does, from sources with news only; `gather` must have run before."""
        return self._set_evidence(self._gatherer.gather_news(memory, self.evidence, step))

    def _set_evidence(self, now: Evidence) -> bool:
        before = self._gathered
        if before != now:
            self._evidence = now
        return before != now

    def judge(self, memory: Memory, *, is_stored: bool = True) -> Snapshot:
        """Return a snapshot of `memory`, judged with the evidence gathered so far; its numbers are
        stored if `is_stored`.
        """
        evidence = self._gathered
        warning = ""
        dismissed: frozenset[str] = frozenset()
        closed: frozenset[str] = frozenset()
        marked: frozenset[str] = frozenset()
        verdicts: VerdictsByPath = {}
        written: Mapping[str, date] = {}
        try:
            decided = self.decisions.find_active(Decision.DISMISS, Decision.RESTORE)
            marked = self.decisions.find_protected()
            verdicts = self.verdicts.find_active()
            written = self._written(memory)
            dismissed = frozenset(
                id for id, valid in decided.items() if valid.decision is Decision.DISMISS
            )
            closed = _closed(memory, verdicts, decided)
        except StateUnusable as error:
            warning = error.message
        context = self._create_context(memory, evidence, verdicts, written)
        findings = self._last_findings = self._run_rules(memory, context)
        settled = list_settled_rules(dismissed) if dismissed else frozenset()

        def is_dismissed(finding: Finding) -> bool:
            is_closed = finding.id in closed and finding.rule in _CLOSED
            is_named = not dismissed.isdisjoint((finding.id, finding.group_id))
            return is_closed or is_named or finding.rule in settled

        snapshot = Snapshot(
            memory,
            tuple(finding for finding in findings if not is_dismissed(finding)),
            tuple(finding for finding in findings if is_dismissed(finding)),
            self.environment.now,
            Depth.JUDGED if evidence is None else Depth.WITH_EVIDENCE,
            warning,
            marked,
            evidence or NO_EVIDENCE,
            context.retention,
            verdicts,
            written,
            dismissed,
            context.conventions,
        )
        if is_stored:
            self._remember(snapshot)
        return snapshot

    def lint(self, memory: Memory) -> tuple[Finding, ...]:
        """Return the findings of `memory`, which need not be on disk, worst first; dismissed ones
        too.
        """
        verdicts: VerdictsByPath = {}
        written: Mapping[str, date] = {}
        with suppress(StateUnusable):
            verdicts = self.verdicts.find_active()
            written = self._written(memory)
        context = self._create_context(memory, self._gathered, verdicts, written)
        return self._run_rules(memory, context)

    def find_moved(self, memory: Memory) -> MovedFiles:
        """Return the present paths of moved files of `memory`, by their earlier paths."""
        return MovedFiles(self.database, memory)

    def _written(self, memory: Memory) -> Mapping[str, date]:
        return list_written_days(self.database, memory, self.environment.now.tzinfo)

    def _create_context(
        self,
        memory: Memory,
        evidence: Evidence | None,
        verdicts: VerdictsByPath,
        written: Mapping[str, date],
    ) -> RuleContext:
        """Return what the rules know besides `memory`; before the evidence was gathered, no note
        has a retention.
        """
        now = self.environment.now
        limits = get_thresholds(self.settings, self.place.root)
        retention: Mapping[str, Retention] = {}
        if evidence is not None:
            retention = compute_retention(memory, evidence, verdicts, limits, now, written)
        if self._encrypted is None or not self._encrypted.is_for(memory):
            self._encrypted = EncryptedFiles(memory)
        if self._ignored is None or not self._ignored.is_for(memory):
            self._ignored = IgnoredTargets(memory)
        return RuleContext(
            now,
            memory.layout,
            limits,
            self.find_moved(memory),
            drop_confirmed(evidence or NO_EVIDENCE, retention),
            retention,
            encrypted=self._encrypted,
            ignored=self._ignored,
            conventions=self.learn_conventions(memory),
            instructed=InstructedNotes(memory.root),
            around=tuple(filter(None, (git.find_top_level(self.place.root), self.place.project))),
        )

    def learn_conventions(self, memory: Memory) -> Conventions:
        """Return the conventions of `memory`, as learned, demanded and set."""
        schema = find_schema(memory, git.find_top_level(memory.root) or memory.root)
        with self._judging:
            return self._learner.learn(memory, schema)

    def _run_rules(self, memory: Memory, context: RuleContext) -> tuple[Finding, ...]:
        """Return the findings, with fixes marked unsafe that the user refused as proposals."""
        with self._judging:
            findings = self._linter.run(memory, context)
        refused: Collection[str] = ()
        with suppress(StateUnusable):
            refused = self.decisions.find_active(Decision.REFUSE_FIX)
        if not refused:
            return findings
        return tuple(
            replace(it, fix=replace(it.fix, safe=False)) if it.id in refused and it.fix else it
            for it in findings
        )

    def _remember(self, snapshot: Snapshot) -> None:
        """Store the numbers for `ricordo list --short` and the facts for the hooks, which have no
        time to read the memory.
        """
        if not self._judges_all:
            return
        # a state that cannot be written is reported where it matters: with a decision
        with suppress(StateUnusable, OSError):
            save_summary(
                self.environment.state, snapshot.memory.root, summarize(self.place, snapshot)
            )
            if snapshot.has_evidence:
                from ricordo.services.workspace.session_facts import keep_session_facts

                keep_session_facts(
                    self.environment.state, snapshot.memory, snapshot.findings, snapshot.evidence
                )

    def record_verdict(
        self, snapshot: Snapshot, path: str, judgement: ReviewVerdict, until: str = ""
    ) -> None:
        """Store the user's verdict on the note at `path`, as it is in `snapshot`; from the day
        `until` on, ISO 8601, it comes up for review again. Raises StateUnusable.
        """
        findings = frozenset(finding.id for finding in snapshot.by_path.get(path, ()))
        content = compute_digest(snapshot.memory.by_path[path].raw)
        at = self.environment.now.isoformat()
        assert content is not None
        self.verdicts.record(NoteVerdict(judgement, path, content, at, until, findings))

    def dismiss(self, finding_id: str, reason: str = "") -> None:
        """Dismiss a finding until the text of its cause changes. Raises StateUnusable."""
        self._decide(Decision.DISMISS, finding_id, reason)

    def undo_dismissal(self, finding_id: str) -> None:
        """Undo the dismissal of a finding. Raises StateUnusable."""
        self._decide(Decision.RESTORE, finding_id)

    def _decide(self, decision: Decision, subject: str, reason: str = "") -> None:
        now = self.environment.now.isoformat()
        # the history shows this: an id alone means nothing to the user
        names = (
            f"{finding.rule} in {finding.path or 'the memory'}"
            if subject in (finding.id, finding.group_id)
            else f"{finding.rule} in the memory"
            for finding in self._last_findings
            if subject in (finding.id, finding.group_id, create_habit_id(finding.rule))
        )
        why = ": ".join(part for part in (next(names, ""), reason) if part)
        self.decisions.decide(decision, [subject], now, why)


_CLOSED = frozenset(("status-claim", "passed-date", "missing-path", "missing-symbol"))
"""The rules whose findings only ask whether a note is still true. `stale` and `changed-since` ask
this too, but count from the last confirmation by themselves.
"""


def _closed(
    memory: Memory, verdicts: VerdictsByPath, decided: Mapping[str, ActiveDecision]
) -> frozenset[str]:
    """Return the ids of the findings that a note had when the user confirmed its present text,
    without those on which the user `decided` later.
    """
    ids: set[str] = set()
    for path, judged in verdicts.items():
        note = memory.by_path.get(path)
        closed: dict[str, str] = {}
        for verdict in (
            filter_by_content(judged, compute_digest(note.raw)) if note is not None else ()
        ):
            if verdict.verdict is ReviewVerdict.WRONG:
                closed.clear()
            elif verdict.verdict is ReviewVerdict.TRUE:
                closed |= dict.fromkeys(verdict.findings, verdict.at)
        ids |= {id for id, at in closed.items() if id not in decided or decided[id].at < at}
    return frozenset(ids)
