"""Evidence on the notes of a memory: what is known besides their text.

Each kind of evidence has a source. A source is asked only if a rule that uses its evidence runs,
and caches what it needs to answer quickly the next time.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime, time
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, ClassVar, Protocol

from ricordo import git
from ricordo.agents.agent import MemoryPlace
from ricordo.agents.transcripts.store import TranscriptStore
from ricordo.lint.evidence import (
    NO_EVIDENCE,
    RULE_OF,
    CheckOutcome,
    Evidence,
    NoteCommit,
    NotePair,
    Verdict,
)
from ricordo.lint.retention import NoteEvents, Retention, get_decay_kind
from ricordo.memory.change import compute_digest
from ricordo.memory.layout import FileRole
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.services.sessions.activity import Activity
from ricordo.services.sessions.activity_text import AgeSources, find_last_change_day, parse_stamp
from ricordo.services.workspace.environment import Environment
from ricordo.storage.cache_file import load_comparison, save_comparison
from ricordo.storage.decisions import NoteVerdict, ReviewVerdict, VerdictsByPath, filter_by_content
from ricordo.text import make_one_line

if TYPE_CHECKING:
    from ricordo.lint.claims.checker import NoteClaims
    from ricordo.lint.claims.project import Project
    from ricordo.lint.claims.verdict_cache import NoteVerdicts, VerdictCache
    from ricordo.lint.contradictions.comparer import NoteComparer as Comparer
    from ricordo.lint.linter import Linter
    from ricordo.storage.project_tree import ProjectTree
    from ricordo.storage.project_words import ProjectWords


def load_cached_pairs(state: str, memory: Memory, stamp: str = "") -> tuple[NotePair, ...] | None:
    """Return the pairs of the last comparison of these notes; None where there was none. `stamp` is
    that of the memory, if it is known.
    """
    from ricordo.lint.contradictions.records import compute_stamp, unpack_pairs

    rows = load_comparison(state, memory.root, stamp or compute_stamp(memory))
    return None if rows is None else unpack_pairs(rows, memory)


class PairSource:
    """Source of note pairs. Compares only changed notes, and caches results across processes."""

    rules: ClassVar[frozenset[str]] = frozenset(RULE_OF.values())

    def __init__(self, state: str) -> None:
        """`state` is the directory for Ricordo's data; nothing is read yet."""
        self._state = state
        self._comparer: Comparer | None = None
        self._stamp = ""
        """Identifies the memory whose pairs are cached."""

    def has_news(self) -> bool:
        """Return False: pairs change only with the notes."""
        return False

    def gather(self, memory: Memory, known: Evidence, step: GatherStep) -> Evidence:
        """Return `known` with the pairs of notes that contradict or repeat each other."""
        from ricordo.lint.contradictions.records import compute_stamp

        stamp = compute_stamp(memory)
        pairs = load_cached_pairs(self._state, memory, stamp) if self._comparer is None else None
        if pairs is None:
            pairs = self._compare(memory, stamp, step)
        self._stamp = stamp
        return replace(known, pairs=pairs)

    def _compare(self, memory: Memory, stamp: str, step: GatherStep) -> tuple[NotePair, ...]:
        from ricordo.lint.contradictions.comparer import NoteComparer as Comparer
        from ricordo.lint.contradictions.records import pack_pairs, unpack_pairs

        self._comparer = self._comparer or Comparer()
        pairs = self._comparer.pairs(memory, lambda: step("comparing notes"))
        rows = pack_pairs(pairs, memory)
        if stamp != self._stamp:
            # if the state cannot be written, they are compared again the next time
            with suppress(OSError):
                save_comparison(self._state, memory.root, stamp, rows)
        # as they are when they are read from the cache
        return unpack_pairs(rows, memory) or ()


_FORMAT = "--format=%x01%at%x02%D"
_SHALLOW = "grafted"
"""Git's ref for the first commit of a shallow clone: the true date of its files is earlier."""
_Blob = tuple[str, float]
"""The id of a blob, and its commit time in seconds since the epoch."""


class CommitSource:
    """Source of commit dates. Runs git once, and again when a note's modification time changes."""

    rules: ClassVar[frozenset[str]] = frozenset(("stale", "never-read", "passed-date"))

    def __init__(self, root: str) -> None:
        """`root` is the directory of the memory; git is not run yet."""
        self._root = root
        self._blobs: Mapping[str, _Blob] | None = None
        self._commits: dict[str, NoteCommit] = {}

    def has_news(self) -> bool:
        """Return False: commit dates are read again when a file changes."""
        return False

    def gather(self, memory: Memory, known: Evidence, step: GatherStep) -> Evidence:
        """Return `known` with the last commit of each note without uncommitted changes."""
        if git.find_top_level(self._root) is None:
            return known
        touched = {note.path: note.facts.modified for note in memory.files if note.is_readable}
        if touched != {path: commit.modified for path, commit in self._commits.items()}:
            step("reading commit dates from git")
            self._blobs = _last_blobs(self._root)
            pairs = (
                (note, _commit(note, self._blobs)) for note in memory.files if note.is_readable
            )
            self._commits = {note.path: commit for note, commit in pairs if commit is not None}
        return replace(known, commits=self._commits)


def _commit(note: Note, blobs: Mapping[str, _Blob]) -> NoteCommit | None:
    """Return the last commit of a note; None if git has another text of it, or none."""
    if note.path not in blobs:
        return None
    blob, at = blobs[note.path]
    # with core.autocrlf a checkout has other line ends than git
    texts = (note.raw, note.raw.replace(b"\r\n", b"\n"))
    if blob not in (_id_of(text, len(blob)) for text in texts):
        return None
    try:
        return NoteCommit(datetime.fromtimestamp(at, UTC), note.facts.modified)
    except (OverflowError, OSError, ValueError):
        return None


def _id_of(content: bytes, length: int) -> str:
    """Return git's blob id of a content, in `length` hexadecimal digits."""
    data = b"blob %d\0" % len(content) + content
    hasher = hashlib.sha1(data, usedforsecurity=False) if length == 40 else hashlib.sha256(data)
    return hasher.hexdigest()


def _last_blobs(root: str) -> dict[str, _Blob]:
    """Return the blob of the last commit of each file below `root`, by relative path."""
    shape = ("--relative", "--raw", "-z", "--no-renames", "--no-abbrev")
    answer = git.run_git(root, "log", *shape, _FORMAT, "--", ".")
    blobs: dict[str, _Blob] = {}
    for path, blob, at in _entries(answer or b""):
        blobs.setdefault(path, (blob, at))
    return {path: blob for path, blob in blobs.items() if blob[0]}


def _entries(answer: bytes) -> Iterator[tuple[str, str, float]]:
    """Yield path, blob id and commit time of each changed file, newest commit first; the id is ""
    for the first commit of a shallow clone, whose time is not the file's.
    """
    parts = iter(answer.split(b"\0"))
    at, is_shallow = 0.0, False
    for part in map(bytes.strip, parts):
        if part.startswith(b"\x01"):
            time, _, refs = part[1:].partition(b"\x02")
            at, is_shallow = float(time), _SHALLOW in refs.decode("utf-8", "replace").split(", ")
        elif part.startswith(b":"):
            blob = part.split(b" ")[3].decode("ascii")
            yield os.fsdecode(next(parts, b"")), "" if is_shallow else blob, at


CLAIM_RULES = frozenset(
    (
        *("missing-path", "missing-symbol", "status-claim", "changed-since"),
        *("restates-instructions", "index-missing-file", "wanted-note", "dead-link"),
        "outside-memory",
    )
)
_MANY = 5
"""Unknown claims from which on the project may be the wrong one."""
_Content = tuple[str, bytes, bool]
"""Path and bytes of a note, and whether an index says that it tells of a fixed fault: the key under
which its claims and verdicts are cached.
"""
_ROLES = frozenset((FileRole.NOTE, FileRole.INDEX))


class ClaimSource:
    """Source of verdicts on claims. While the project is unchanged, only changed notes are checked
    again.
    """

    rules: ClassVar[frozenset[str]] = CLAIM_RULES

    def __init__(self, project: str, environment: Environment) -> None:
        """`project` is a directory; it is not read yet."""
        self._root = project
        self._environment = environment
        self._words: ProjectWords | None = None
        self._read_tree: ProjectTree | None = None
        """The files of which the words are known."""
        self._project: Project | None = None
        self._claims: Mapping[_Content, NoteClaims] = {}
        self._verdicts: Mapping[_Content, NoteVerdicts] = {}
        self._is_first = True

    def has_news(self) -> bool:
        """Return False: reading the project takes too long to do it unasked."""
        return False

    def gather(self, memory: Memory, known: Evidence, step: GatherStep) -> Evidence:
        """Return `known` with the verdicts on all claims."""
        project = self._list_project(memory, step)
        notes = [file for file in memory.files if file.role in _ROLES and file.is_readable]
        self._verdicts = verdicts = self._check(notes, memory, project, step)
        warnings = (*known.warnings, *_limits(project, verdicts.values()))
        by_content = {content: of_note.verdicts for content, of_note in verdicts.items()}
        if not self._environment.project and _is_another(by_content.values()):
            # the project was found by rule, not named by the user
            warning = f"claims not checked: the notes seem unrelated to {make_one_line(self._root)}"
            return replace(known, warnings=(*warnings, warning))
        by_path = {path: of_note for (path, *_), of_note in by_content.items() if of_note}
        return replace(known, verdicts=by_path, project=self._root, warnings=warnings)

    def _list_project(self, memory: Memory, step: GatherStep) -> Project:
        """Return the project as it is now; the cached value if it is unchanged."""
        from ricordo.lint.claims.history import ProjectHistory
        from ricordo.lint.claims.project import Project
        from ricordo.storage.project_tree import list_project
        from ricordo.storage.project_words import ProjectWords

        tree = list_project(self._root, lambda: step("listing the project"))
        names = frozenset(path.rpartition("/")[2] for path in memory.by_path)
        before = self._project
        if before is not None and before.tree.is_same_as(tree, before.memory_folder):
            before.memory_names = names
            return before
        if self._words is None:
            self._words = ProjectWords(self._environment.state, self._root)
        if before is not None and _get_commits(before.tree) == _get_commits(tree):
            history = before.history
        else:
            now = self._environment.now.timestamp()
            history = ProjectHistory(self._root, tree.commit, now)
        self._project = Project(
            tree, self._words, history, memory.root, names, memory.layout.page_folder
        )
        self._verdicts = {}
        return self._project

    def _read_words(self, project: Project, step: GatherStep) -> None:
        """Read the words of the project, of files that changed."""
        tree = project.tree
        if self._read_tree is tree:
            return
        done = 0

        def read_one() -> None:
            nonlocal done
            done += 1
            step(f"reading the project {done}/{len(tree.files)}")

        project.words.update(tree, read_one)
        self._read_tree = tree

    def _check(
        self, notes: Sequence[Note], memory: Memory, project: Project, step: GatherStep
    ) -> Mapping[_Content, NoteVerdicts]:
        """Return the verdicts on the claims of each note, as they are known or cached; only for
        the others the words of the project are read.
        """
        from ricordo.lint.claims.note_status import find_fixed_notes
        from ricordo.lint.claims.verdict_cache import VerdictCache

        step("checking claims")
        fixed = find_fixed_notes(memory)
        contents = {(note.path, note.raw, note.path in fixed): note for note in notes}
        verdicts = {it: self._verdicts[it] for it in contents if it in self._verdicts}
        cached: VerdictCache | None = None
        if self._is_first:
            # later checks of this process are of few notes
            self._is_first = False
            now = self._environment.now.timestamp()
            cached = VerdictCache(self._environment.state, memory, project, now)
            found = ((content, cached.find(note)) for content, note in contents.items())
            verdicts.update((content, known) for content, known in found if known is not None)
        left = {it: note for it, note in contents.items() if it not in verdicts}
        if left:
            self._claims = {it: self._claims[it] for it in contents if it in self._claims}
            verdicts.update(self._check_again(left, project, cached, step))
        return verdicts

    def _check_again(
        self,
        notes: Mapping[_Content, Note],
        project: Project,
        cached: VerdictCache | None,
        step: GatherStep,
    ) -> Mapping[_Content, NoteVerdicts]:
        from ricordo.lint.claims.checker import check_claims, search_words
        from ricordo.lint.claims.project import AskedFacts
        from ricordo.lint.claims.verdict_cache import NoteVerdicts

        self._read_words(project, step)
        claims = self._read_claims(notes, step)
        self._claims = {**self._claims, **claims}
        of_notes = [(note, claims[content]) for content, note in notes.items()]
        search_words(of_notes, project, lambda: step("searching the history"))
        verdicts: dict[_Content, NoteVerdicts] = {}
        for number, (content, note) in enumerate(notes.items()):
            of_note = claims[content]
            step(f"checking claims {number}/{len(notes)}")
            project.asked = AskedFacts()
            checked = NoteVerdicts(check_claims(note, of_note, project), of_note.dropped)
            verdicts[content] = checked
            if cached is not None:
                cached.record(note, checked, project.asked)
        if cached is not None:
            cached.save()
        return verdicts

    def _read_claims(
        self, notes: Mapping[_Content, Note], step: GatherStep
    ) -> Mapping[_Content, NoteClaims]:
        from ricordo.lint.claims.checker import find_claims

        claims: dict[_Content, NoteClaims] = {}
        for number, (content, note) in enumerate(notes.items()):
            of_note = self._claims.get(content)
            if of_note is None:
                step(f"reading claims {number}/{len(notes)}")
                of_note = find_claims(note, is_fixed=content[2])
            claims[content] = of_note
        return claims


def _get_commits(tree: ProjectTree) -> tuple[str, ...]:
    return (tree.commit, *tree.refs)


def _limits(project: Project, verdicts: Iterable[NoteVerdicts]) -> list[str]:
    """Return what was not checked, a line each."""
    left_out = sum(each.dropped for each in verdicts)
    too_many = f"{left_out:,} claims not checked: over the limit per note" if left_out else ""
    return [line for line in (project.tree.warning, project.words.warning, too_many) if line]


def _is_another(verdicts: Iterable[Iterable[Verdict]]) -> bool:
    """Return whether most of what the notes name never existed in the project, so that they are
    about another one. What existed once counts as known.
    """
    checked = [verdict for of_note in verdicts for verdict in of_note if verdict.is_checked]
    known = sum(it.outcome is CheckOutcome.VALID or it.existed for it in checked)
    unknown = len(checked) - known
    return unknown >= _MANY and unknown > known


def compute_retention(
    memory: Memory,
    evidence: Evidence,
    judged: VerdictsByPath,
    thresholds: Mapping[str, float],
    now: datetime,
    written: Mapping[str, date],
) -> dict[str, Retention]:
    """Return the retention of each note, by path. Left out are unreadable notes and the sources of
    a wiki, which do not age. `written` has the day of the last change of the files that Ricordo
    wrote.
    """
    ages = AgeSources(evidence, written)
    retention: dict[str, Retention] = {}
    for note in memory.notes:
        if note.role is not FileRole.NOTE or not note.is_readable:
            continue
        kind = memory.layout.retention or get_decay_kind(note.type)
        of_path = judged.get(note.path)
        reads = evidence.reads.get(note.path)
        verdicts = filter_by_content(of_path, compute_digest(note.raw)) if of_path else ()
        events = _events(kind, note, verdicts, reads.days if reads else (), now, ages)
        retention[note.path] = _retention(events, thresholds[f"stale.{kind}"], now.date())
    return retention


def drop_confirmed(evidence: Evidence, retention: Mapping[str, Retention]) -> Evidence:
    """Return `evidence` without what happened before the user last confirmed the present text of a
    note. The day of the confirmation counts to its end, as a note's own day does.
    """
    seen = {path: it.events.confirmed[-1] for path, it in retention.items() if it.events.confirmed}
    verdicts = {
        path: tuple(it for it in of_note if not 0 < it.changed_at <= _end_of(seen[path]))
        for path, of_note in evidence.verdicts.items()
        if path in seen
    }
    return replace(evidence, verdicts={**evidence.verdicts, **verdicts}) if verdicts else evidence


def _end_of(day: date) -> float:
    return datetime.combine(day, time.max).timestamp()


@lru_cache(maxsize=20_000)
def _retention(events: NoteEvents, threshold: float, today: date) -> Retention:
    # one object as long as nothing changes: it caches its results
    return Retention(events, threshold, today)


def _events(
    kind: str,
    note: Note,
    verdicts: tuple[NoteVerdict, ...],
    read: tuple[date, ...],
    now: datetime,
    ages: AgeSources,
) -> NoteEvents:
    """Return the events of the present text of a note."""
    # a proposed note has no modification time
    is_there = bool(note.facts.modified) or parse_stamp(note) is not None
    written = find_last_change_day(note, ages) if is_there else now.date()
    confirmed: list[date] = []
    is_wrong = False
    for verdict in verdicts:
        if verdict.verdict is ReviewVerdict.LATER:
            continue
        is_wrong = verdict.verdict is ReviewVerdict.WRONG
        # “wrong” cancels the confirmations before it
        confirmed = [] if is_wrong else [*confirmed, _day(verdict.at, now)]
    if confirmed:
        # the file may have been touched since without a change of its text
        written = min(written, confirmed[0])
    since = tuple(day for day in read if day >= written)
    return NoteEvents(kind, written, tuple(confirmed), since, is_wrong)


def _day(at: str, now: datetime) -> date:
    """Return the day of an ISO 8601 time in the time zone of `now`."""
    return datetime.fromisoformat(at).astimezone(now.tzinfo).date()


GatherStep = Callable[[str], None]
"""Called by long work every few milliseconds with what it is doing, in a few words. It may sleep to
let the screen go first, and raises GatheringCancelled when the result is no longer needed.
"""


class GatheringCancelled(Exception):
    """Gathering was cancelled: the evidence is no longer needed."""


class EvidenceSource(Protocol):
    """One kind of slow evidence of one memory."""

    @property
    def rules(self) -> frozenset[str]:
        """The rules that use its evidence."""

    def has_news(self) -> bool:
        """Return whether its evidence may have changed for the same memory; takes milliseconds."""

    def gather(self, memory: Memory, known: Evidence, step: GatherStep) -> Evidence:
        """Return `known` with this source's part updated."""


def do_not_wait(_: str) -> None:
    """Do nothing: the `GatherStep` of callers that only wait for the evidence."""


def create_sources(
    place: MemoryPlace, environment: Environment, store: TranscriptStore
) -> tuple[EvidenceSource, ...]:
    """Return the sources of evidence on the memory at `place`; none has started. `store` holds the
    activity of agents.
    """
    activity, pairs = Activity(place, environment, store), PairSource(environment.state)
    of_notes = (activity, CommitSource(place.root), pairs)
    project = environment.project or _project_of(place, environment)
    return (*of_notes, ClaimSource(project, environment)) if os.path.isdir(project) else of_notes


def _project_of(place: MemoryPlace, environment: Environment) -> str:
    """Return the project of a memory; "" for the home directory, which is no project."""
    home = os.path.realpath(environment.agent_home)
    above = os.path.join(os.path.realpath(place.project), "") if place.project else ""
    return "" if os.path.join(home, "").startswith(above) else place.project


EVIDENCE_RULES = Activity.rules | PairSource.rules | ClaimSource.rules
"""The rules that find nothing before evidence was gathered."""


class EvidenceGatherer:
    """Gathers the evidence on one memory; not thread-safe."""

    def __init__(self, sources: Sequence[EvidenceSource], linter: Linter) -> None:
        """Sources that no rule of `linter` uses are skipped."""
        self._every_source = sources
        self._linter = linter

    @cached_property
    def _sources(self) -> Sequence[EvidenceSource]:
        rules = self._linter.rules
        return [it for it in self._every_source if not it.rules.isdisjoint(rules)]

    @property
    def has_sources(self) -> bool:
        """Whether there is any source to gather from."""
        return bool(self._sources)

    def gather(self, memory: Memory, step: GatherStep = do_not_wait) -> Evidence:
        """Return the evidence on `memory` as it is now. Raises what `step` raises."""
        known = NO_EVIDENCE
        for source in self._sources:
            known = source.gather(memory, known, step)
        return known

    @property
    def has_news(self) -> bool:
        """Whether the evidence on the same memory may have changed."""
        return any(source.has_news() for source in self._sources)

    def gather_news(
        self, memory: Memory, known: Evidence, step: GatherStep = do_not_wait
    ) -> Evidence:
        """Return `known` updated by the sources that have news. Raises what `step` raises."""
        for source in self._sources:
            if source.has_news():
                known = source.gather(memory, known, step)
        return known
