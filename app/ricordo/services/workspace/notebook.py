"""Opening a memory: read it, judge it, and look again when something changed."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Container, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from enum import IntEnum, auto
from functools import cached_property

from ricordo import git
from ricordo.agents.place import MemoryPlace
from ricordo.agents.transcripts.store import TranscriptStore
from ricordo.errors import StateUnusable
from ricordo.lint.evidence import NOTHING_KNOWN, Evidence
from ricordo.lint.finding import Finding, Severity
from ricordo.lint.linter import Linter
from ricordo.lint.retention import Retention
from ricordo.lint.rule import RuleContext
from ricordo.memory.change import digest
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.memory.protection import is_protected
from ricordo.services.history.recorder import Recorded, Recorder, at_once
from ricordo.services.history.whereabouts import Whereabouts
from ricordo.services.sessions.activity_text import Ages, written_here
from ricordo.services.workspace.environment import Environment
from ricordo.services.workspace.evidence import (
    EVIDENCE_RULES,
    Gatherer,
    Step,
    not_seen_yet,
    retained,
    sources,
    without_rest,
)
from ricordo.services.workspace.settings import severities, thresholds
from ricordo.settings.settings import Settings
from ricordo.storage.database import Database
from ricordo.storage.decisions import (
    Decision,
    Decisions,
    JudgedNotes,
    NoteVerdict,
    ReviewVerdict,
    ReviewVerdicts,
    ValidDecision,
    on_content,
)
from ricordo.storage.last_seen import Summary, remember
from ricordo.storage.reader import list_memory, read_memory
from ricordo.storage.writer import Writer

_AT_ONCE = 1_000
"""Paths in one question: a command line has no room for any number of them."""
_SILENT = frozenset((b"unspecified", b"unset", b""))


class EncryptedFiles(Container[str]):
    """The paths of the files of `memory` that git leads through a filter, as programs that encrypt
    do, or takes for binary, by its attributes. Their text must not get to other files.

    Git is asked when the first path is looked up; all files count where it does not answer.
    """

    def __init__(self, memory: Memory) -> None:
        self._root = memory.root
        self._files = tuple(file.path for file in memory.files)

    def is_of(self, memory: Memory) -> bool:
        """Say whether `memory` has the same files, whatever stands in them."""
        files = tuple(file.path for file in memory.files)
        return self._root == memory.root and self._files == files

    def __contains__(self, path: object) -> bool:
        """Say whether the file at `path`, relative to the memory, is one of them."""
        return self._paths is None or path in self._paths

    @cached_property
    def _paths(self) -> frozenset[str] | None:
        if git.top_level(self._root) is None:
            return frozenset()
        found: set[str] = set()
        for start in range(0, len(self._files), _AT_ONCE):
            some = self._files[start : start + _AT_ONCE]
            answer = git.ask(self._root, "check-attr", "-z", "filter", "binary", "--", *some)
            if answer is None:
                return None
            fields = answer.split(b"\0")
            told = zip(fields[::3], fields[2::3], strict=False)
            found.update(os.fsdecode(path) for path, value in told if value not in _SILENT)
        return frozenset(found)


def summary(place: MemoryPlace, look: Snapshot) -> Summary:
    """Return the numbers of a look, in the form in which `disk.last_seen` keeps them; those of what
    takes evidence only where there is any.
    """
    load = look.memory.load
    by_evidence = _by_evidence(look)
    known = {_known(it): by_evidence[it] for it in Severity} if look.known else {}
    return {
        **known,
        "name": short_name(place),
        "project": place.project,
        "at": look.at.isoformat(),
        "notes": len(look.memory.notes),
        "errors": look.counts[Severity.ERROR] - by_evidence[Severity.ERROR],
        "warnings": look.counts[Severity.WARNING] - by_evidence[Severity.WARNING],
        "lines": load.lines,
        "units": load.units,
        "max_lines": load.limits.lines if load.limits else None,
        "max_units": load.limits.units if load.limits else None,
    }


def counted(look: Snapshot, before: Summary) -> Mapping[Severity, int]:
    """Return how many findings of each severity there are by a look, and where it is one at the
    notes alone, by the last one with evidence too; `before` is what was kept of that.
    """
    if look.known:
        return look.counts
    kept = {it: before.get(_known(it)) for it in look.counts}
    more = {it: n if isinstance(n, int) else 0 for it, n in kept.items()}
    return {it: look.counts[it] + more[it] for it in look.counts}


def has_evidence(before: Summary) -> bool:
    """Say whether a memory of which `before` is kept was ever looked at with evidence."""
    return _known(Severity.ERROR) in before


def _by_evidence(look: Snapshot) -> Counter[Severity]:
    return Counter(it.severity for it in look.findings if it.rule in EVIDENCE_RULES)


def _known(severity: Severity) -> str:
    return f"known_{severity.word}s"


def short_name(place: MemoryPlace) -> str:
    """Return what a person calls a memory: the project or sub-agent whose it is, else the agent."""
    if place.layout.is_shared:
        return place.layout.agent
    if not place.layout.is_of_sub_agent and place.project:
        return os.path.basename(place.project)
    folder, name = os.path.split(place.root)
    return os.path.basename(folder) if name == "memory" else name


class Depth(IntEnum):
    """How far a memory has been looked into."""

    LISTED = auto()
    """Its indexes are read; of the notes no more than the names is known."""
    READ = auto()
    JUDGED = auto()
    """The rules have run, on the notes alone."""
    KNOWN = auto()
    """They have run with all that can be known besides the notes."""


# without a repr of all its findings: Textual takes one of whatever a worker is given
@dataclass(frozen=True, eq=False, repr=False)
class Snapshot:
    """A memory at one moment, and what is wrong with it."""

    memory: Memory
    findings: tuple[Finding, ...]
    """Worst first, without the dismissed ones."""
    dismissed: tuple[Finding, ...]
    at: datetime
    depth: Depth = Depth.KNOWN
    """Less only for the first sights of a memory, and where no evidence was asked for."""
    remark: str = ""
    """What could not be done meanwhile; "" where all went well."""
    marked: frozenset[str] = frozenset()
    """Paths of the notes that the person has protected."""
    evidence: Evidence = NOTHING_KNOWN
    """What was known besides the text."""
    retention: Mapping[str, Retention] = field(default_factory=dict)
    """How far each note can be trusted on that day, by path; empty before all is known."""
    said: JudgedNotes = field(default_factory=dict)
    """What the person said of notes, by path."""
    written: Mapping[str, date] = field(default_factory=dict)
    """When Ricordo wrote the present text of notes that have a stamp, by path."""
    fine: frozenset[str] = frozenset()
    """The ids of all that the person has dismissed, whether it is found now or not."""

    @property
    def ages(self) -> Ages:
        """What tells how old the notes are."""
        return Ages(self.evidence, self.written)

    @property
    def read(self) -> bool:
        """Whether the notes were read."""
        return self.depth >= Depth.READ

    @property
    def judged(self) -> bool:
        """Whether the rules have run."""
        return self.depth >= Depth.JUDGED

    @property
    def known(self) -> bool:
        """Whether the evidence was gathered."""
        return self.depth >= Depth.KNOWN

    @cached_property
    def by_path(self) -> Mapping[str, tuple[Finding, ...]]:
        """The findings of every file, worst first."""
        found: dict[str, list[Finding]] = {}
        for finding in self.findings:
            found.setdefault(finding.path, []).append(finding)
        return {path: tuple(findings) for path, findings in found.items()}

    def of_note(self, path: str) -> tuple[Finding, ...]:
        """Return the findings of a file, worst first, then those that stand at another file and
        are of both.
        """
        return (*self.by_path.get(path, ()), *self._by_other.get(path, ()))

    @cached_property
    def _by_other(self) -> Mapping[str, tuple[Finding, ...]]:
        found: dict[str, list[Finding]] = {}
        for finding in self.findings:
            if finding.other:
                found.setdefault(finding.other, []).append(finding)
        return {path: tuple(findings) for path, findings in found.items()}

    @cached_property
    def counts(self) -> Mapping[Severity, int]:
        """How many findings there are of each severity."""
        counted = dict.fromkeys(sorted(Severity, reverse=True), 0)
        for finding in self.findings:
            counted[finding.severity] += 1
        return counted

    @cached_property
    def wanting(self) -> int:
        """How many notes have findings."""
        return sum(1 for note in self.memory.notes if self.worst(note.path) is not None)

    @cached_property
    def by_rule(self) -> Mapping[tuple[Severity, str], int]:
        """How many findings there are of each severity and rule, worst and commonest first."""
        counts = Counter((finding.severity, finding.rule) for finding in self.findings)
        return dict(sorted(counts.items(), key=lambda item: (-item[0][0], -item[1], item[0][1])))

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """How many findings there are of each rule."""
        return Counter(finding.rule for finding in self.findings)

    def is_protected(self, note: Note) -> bool:
        """Say whether neither the curator nor a fix may change `note`."""
        return is_protected(note, self.marked)

    def worst(self, path: str) -> Severity | None:
        """Return the severity of the worst finding of a file; None where nothing is wrong."""
        sides = (self.by_path, self._by_other)
        return max((side[path][0].severity for side in sides if path in side), default=None)


class Notebook:
    """One opened memory. Every look at it reads and judges only what changed since the last."""

    def __init__(
        self,
        place: MemoryPlace,
        surroundings: Environment,
        settings: Settings,
        only: frozenset[str] = frozenset(),
        activity: TranscriptStore | None = None,
    ) -> None:
        """`only` are the rules to judge by; all, where it is empty. `activity` is what is known of
        transcripts; its own, where none is given.
        """
        self.place = place
        self.surroundings = surroundings
        self.settings = settings
        self.database = Database(surroundings.state)
        self.decisions = Decisions(self.database, place.root)
        self.judgements = ReviewVerdicts(self.database, place.root)
        self.door = Writer(self.database)
        self.activity = activity or TranscriptStore(surroundings.state)
        self._linter = Linter(severities(settings, place.root), only)
        self._judges_all = not only
        self._memory: Memory | None = None
        self._encrypted: EncryptedFiles | None = None
        self._found_last: tuple[Finding, ...] = ()
        self._gatherer = Gatherer(sources(place, surroundings, self.activity), self._linter.rules)
        self._evidence = None if self._gatherer.has_sources else NOTHING_KNOWN
        """None before any was gathered."""
        self._recorder = Recorder(self.database)

    def another(self) -> Notebook:
        """Return another one of the same memory, for use in another thread."""
        return Notebook(self.place, self.surroundings, self.settings, activity=self.activity)

    def take_notices(self) -> list[str]:
        """Return what the person has to be told of our own files, each time only once."""
        told: list[str] = []
        for notices in (self.database.notices, self.activity.notices):
            told += notices
            notices.clear()
        return told

    @property
    def evidence(self) -> Evidence:
        """What was gathered up to now."""
        return self._evidence or NOTHING_KNOWN

    def list(self) -> Memory:
        """Return the memory as its indexes and the names of its notes show it, long before
        everything is read. Raises MemoryNotFound and MemoryUnreadable.
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
        step: Callable[[], None] = at_once,
    ) -> Recorded:
        """Keep in the history what others did to a memory that was read, but for files that are
        `waiting` until nobody writes to them; `step` is called after each file. Raises
        StateUnusable.
        """
        return self._recorder.record(memory, self.surroundings.now, waiting, step)

    def look(self) -> Snapshot:
        """Read the memory and judge it by its notes alone, unless evidence was gathered before.
        Raises MemoryNotFound and MemoryUnreadable.
        """
        return self.judge(self.read())

    def look_closely(self) -> Snapshot:
        """Read the memory, gather the evidence, and judge it by both. Raises MemoryNotFound and
        MemoryUnreadable.
        """
        return self.judge_closely(self.read())

    def judge_closely(self, memory: Memory) -> Snapshot:
        """Gather the evidence on a memory that was read, and judge it by both."""
        self.gather(memory)
        return self.judge(memory)

    def gather(self, memory: Memory, step: Step = without_rest) -> bool:
        """Gather what can be known of `memory` besides its text, by which it is judged from then
        on; return whether that is other than what was known before. Raises what `step` raises.

        May run in one thread while the memory is judged in another.
        """
        return self._knows(self._gatherer.gather(memory, step))

    @property
    def has_news(self) -> bool:
        """Whether there may be more to know of a memory that is as it was when it was gathered."""
        return self._gatherer.has_news

    def gather_news(self, memory: Memory, step: Step = without_rest) -> bool:
        """Do what `gather` does, for a memory for which that was done, where there is news."""
        return self._knows(self._gatherer.gather_news(memory, self.evidence, step))

    def _knows(self, now: Evidence) -> bool:
        before = self._evidence
        if before != now:
            self._evidence = now
        return before != now

    def judge(self, memory: Memory) -> Snapshot:
        """Judge a memory that was read, by what was gathered up to now."""
        evidence = self._evidence
        remark = ""
        dismissed: frozenset[str] = frozenset()
        closed: frozenset[str] = frozenset()
        marked: frozenset[str] = frozenset()
        said: JudgedNotes = {}
        written: Mapping[str, date] = {}
        try:
            decided = self.decisions.standing(Decision.DISMISS, Decision.STAND)
            marked = self.decisions.protected()
            said = self.judgements.standing()
            written = self._written(memory)
            dismissed = frozenset(
                id for id, it in decided.items() if it.decision is Decision.DISMISS
            )
            closed = _closed(memory, said, decided)
        except StateUnusable as error:
            remark = error.message
        retention = self._retained(memory, evidence, said, written)
        found = self._found_last = self._found(memory, evidence or NOTHING_KNOWN, retention)

        def is_fine(finding: Finding) -> bool:
            return finding.id in dismissed or (finding.id in closed and finding.rule in _CLOSED)

        look = Snapshot(
            memory,
            tuple(finding for finding in found if not is_fine(finding)),
            tuple(finding for finding in found if is_fine(finding)),
            self.surroundings.now,
            Depth.JUDGED if evidence is None else Depth.KNOWN,
            remark,
            marked,
            evidence or NOTHING_KNOWN,
            retention,
            said,
            written,
            dismissed,
        )
        self._remember(look)
        return look

    def findings(self, memory: Memory) -> tuple[Finding, ...]:
        """Return what the rules find in `memory`, which need not be on disk, worst first."""
        evidence = self._evidence
        said: JudgedNotes = {}
        written: Mapping[str, date] = {}
        with suppress(StateUnusable):
            said = self.judgements.standing()
            written = self._written(memory)
        retention = self._retained(memory, evidence, said, written)
        return self._found(memory, evidence or NOTHING_KNOWN, retention)

    def renamed(self, memory: Memory) -> Whereabouts:
        """Return the present paths of files of `memory` by paths that they had."""
        return Whereabouts(self.database, memory)

    def _written(self, memory: Memory) -> Mapping[str, date]:
        return written_here(self.database, memory, self.surroundings.now.tzinfo)

    def _retained(
        self,
        memory: Memory,
        evidence: Evidence | None,
        said: JudgedNotes,
        written: Mapping[str, date],
    ) -> Mapping[str, Retention]:
        """Return how far the notes can be trusted; nothing before it is known who read them."""
        if evidence is None:
            return {}
        set_ = thresholds(self.settings, self.place.root)
        return retained(memory, evidence, said, set_, self.surroundings.now, written)

    def _found(
        self, memory: Memory, evidence: Evidence, retention: Mapping[str, Retention]
    ) -> tuple[Finding, ...]:
        root = self.place.root
        now = self.surroundings.now
        renamed = self.renamed(memory)
        set_ = thresholds(self.settings, root)
        unseen = not_seen_yet(evidence, retention)
        if self._encrypted is None or not self._encrypted.is_of(memory):
            self._encrypted = EncryptedFiles(memory)
        context = RuleContext(
            now, memory.layout, set_, renamed, unseen, retention, encrypted=self._encrypted
        )
        return self._without_refused(self._linter.run(memory, context))

    def _without_refused(self, found: tuple[Finding, ...]) -> tuple[Finding, ...]:
        """Return findings of which no fix is safe that the user refused as a proposal."""
        refused: Collection[str] = ()
        with suppress(StateUnusable):
            refused = self.decisions.standing(Decision.LEAVE)
        if not refused:
            return found
        return tuple(
            replace(it, fix=replace(it.fix, safe=False)) if it.id in refused and it.fix else it
            for it in found
        )

    def _remember(self, look: Snapshot) -> None:
        """Keep the numbers for answers that may not take the time to look."""
        if self._judges_all:
            # a state that cannot be written is told where it matters: when something is decided
            with suppress(StateUnusable):
                remember(self.surroundings.state, look.memory.root, summary(self.place, look))

    def judge_note(
        self, look: Snapshot, path: str, judgement: ReviewVerdict, until: str = ""
    ) -> None:
        """Keep what the person says of the note at `path` as it stands in `look`; `until` is the
        day from which on it is asked again, ISO 8601. Raises StateUnusable.
        """
        found = frozenset(finding.id for finding in look.by_path.get(path, ()))
        content = digest(look.memory.by_path[path].raw)
        at = self.surroundings.now.isoformat()
        assert content is not None
        self.judgements.judge(NoteVerdict(judgement, path, content, at, until, found))

    def dismiss(self, finding_id: str, reason: str = "") -> None:
        """Say of a finding that it is fine, until the text of its cause changes."""
        self._decide(Decision.DISMISS, finding_id, reason)

    def take_back(self, finding_id: str) -> None:
        """Let a dismissed finding stand again."""
        self._decide(Decision.STAND, finding_id)

    def _decide(self, decision: Decision, subject: str, reason: str = "") -> None:
        now = self.surroundings.now.isoformat()
        # an id says nothing to whoever is told later what was decided
        named = (
            f"{it.rule} in {it.path or 'the memory'}" for it in self._found_last if it.id == subject
        )
        why = ": ".join(it for it in (next(named, ""), reason) if it)
        self.decisions.decide(decision, [subject], now, why)


_CLOSED = frozenset(("status-claim", "passed-date", "missing-path", "missing-symbol"))
"""The rules whose findings ask whether what a note says is still true, and nothing else. `stale`
and `changed-since` ask it too, but count from the last confirmation by themselves: what has become
old or was committed after it is reported again.
"""


def _closed(
    memory: Memory, said: JudgedNotes, decided: Mapping[str, ValidDecision]
) -> frozenset[str]:
    """Return the ids of the findings that a note had when the user said of it, as it is now, that
    it is still true; without those of which the user `decided` since that they stand.
    """
    found: set[str] = set()
    for path, judged in said.items():
        note = memory.by_path.get(path)
        closed: dict[str, str] = {}
        for it in on_content(judged, digest(note.raw)) if note is not None else ():
            if it.judgement is ReviewVerdict.WRONG:
                closed.clear()
            elif it.judgement is ReviewVerdict.TRUE:
                closed |= dict.fromkeys(it.findings, it.at)
        found |= {id for id, at in closed.items() if id not in decided or decided[id].at < at}
    return frozenset(found)
