"""Gathering evidence: what is known of the notes of a memory besides their text.

Every kind of evidence has a source. It is asked only where one of the rules that look at what it
gives is to run, and it keeps by itself what it needs to answer quickly the next time.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime, time
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from ricordo import git
from ricordo.agents.place import MemoryPlace
from ricordo.agents.transcripts.store import TranscriptStore
from ricordo.lint.evidence import NOTHING_KNOWN, CheckOutcome, Commit, Evidence, NotePair, Verdict
from ricordo.lint.retention import NoteEvents, Retention, kind_of
from ricordo.lint.rules.relations import RULE_OF
from ricordo.memory.change import digest
from ricordo.memory.layout import FileRole
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.services.sessions.activity import Activity
from ricordo.services.sessions.activity_text import Ages, day_of, stamped_day
from ricordo.services.workspace.environment import Environment
from ricordo.storage.cache_file import recall_compared, remember_compared
from ricordo.storage.decisions import JudgedNotes, NoteVerdict, ReviewVerdict, on_content
from ricordo.text import one_line

if TYPE_CHECKING:
    from ricordo.lint.claims.checker import Claims
    from ricordo.lint.claims.project import Project
    from ricordo.lint.contradictions.comparer import NoteComparer as Comparer
    from ricordo.storage.project_words import ProjectWords


class PairSource:
    """The source of the pairs. Only notes that changed are compared again; what came of it is kept
    for the next process.
    """

    rules = frozenset(RULE_OF.values())

    def __init__(self, state: str) -> None:
        """`state` is our directory; nothing is looked at yet."""
        self._state = state
        self._comparer: Comparer | None = None
        self._stamp = ""
        """Of the memory of which the pairs are kept."""

    def has_news(self) -> bool:
        """Whether there is more to know of the same memory: never."""
        return False

    def gather(self, memory: Memory, known: Evidence, step: Step) -> Evidence:
        """Return `known` with the pairs of notes of which one may have to go."""
        from ricordo.lint.contradictions.records import stamp_of

        stamp = stamp_of(memory)
        pairs = self._kept(memory, stamp) if self._comparer is None else None
        if pairs is None:
            pairs = self._compared(memory, stamp, step)
        self._stamp = stamp
        return replace(known, pairs=pairs)

    def _kept(self, memory: Memory, stamp: str) -> tuple[NotePair, ...] | None:
        from ricordo.lint.contradictions.records import unpacked

        rows = recall_compared(self._state, memory.root, stamp)
        return None if rows is None else unpacked(rows, memory)

    def _compared(self, memory: Memory, stamp: str, step: Step) -> tuple[NotePair, ...]:
        from ricordo.lint.contradictions.comparer import NoteComparer as Comparer
        from ricordo.lint.contradictions.records import packed

        self._comparer = self._comparer or Comparer()
        pairs = self._comparer.pairs(memory, lambda: step("comparing notes"))
        if stamp != self._stamp:
            # where the state cannot be written, they are compared anew the next time
            with suppress(OSError):
                remember_compared(self._state, memory.root, stamp, packed(pairs, memory))
        return pairs


_FORMAT = "--format=%x01%at%x02%D"
_SHALLOW = "grafted"
"""What git calls a commit before which nothing is known: what it shows is older."""
_Blob = tuple[str, float]
"""The id of a content, and when it was committed, in seconds since the epoch."""


class Committed:
    """The source of the commits. Git is asked once, and again where a note is other than it was."""

    rules = frozenset(("stale", "never-read"))

    def __init__(self, root: str) -> None:
        """`root` is the directory of the memory; nothing is looked at yet."""
        self._root = root
        self._blobs: Mapping[str, _Blob] | None = None
        self._commits: dict[str, Commit] = {}

    def has_news(self) -> bool:
        """Whether there is more to know of the same memory: not before a file changes."""
        return False

    def gather(self, memory: Memory, known: Evidence, step: Step) -> Evidence:
        """Return `known` with the commit of each note that is as it was committed."""
        if git.top_level(self._root) is None:
            return known
        touched = {note.path: note.facts.modified for note in memory.files if note.readable}
        if touched != {path: it.touched for path, it in self._commits.items()}:
            step("asking git how old the notes are")
            self._blobs = _last_blobs(self._root)
            found = ((note, _commit(note, self._blobs)) for note in memory.files if note.readable)
            self._commits = {note.path: commit for note, commit in found if commit is not None}
        return replace(known, commits=self._commits)


def _commit(note: Note, blobs: Mapping[str, _Blob]) -> Commit | None:
    """Return the last commit of a note; None where git has another text of it, or none."""
    if note.path not in blobs:
        return None
    blob, at = blobs[note.path]
    # with core.autocrlf a checkout has other line ends than git
    texts = (note.raw, note.raw.replace(b"\r\n", b"\n"))
    if blob not in (_id_of(text, len(blob)) for text in texts):
        return None
    try:
        return Commit(datetime.fromtimestamp(at, UTC), note.facts.modified)
    except (OverflowError, OSError, ValueError):
        return None


def _id_of(content: bytes, length: int) -> str:
    """Return the id that git gives a content, in `length` hexadecimal digits."""
    data = b"blob %d\0" % len(content) + content
    made = hashlib.sha1(data, usedforsecurity=False) if length == 40 else hashlib.sha256(data)
    return made.hexdigest()


def _last_blobs(root: str) -> dict[str, _Blob]:
    """Return what the last commit of each file below `root` left of it, by its path there."""
    shape = ("--relative", "--raw", "-z", "--no-renames", "--no-abbrev")
    answer = git.ask(root, "log", *shape, _FORMAT, "--", ".")
    blobs: dict[str, _Blob] = {}
    for path, blob, at in _entries(answer or b""):
        blobs.setdefault(path, (blob, at))
    return {path: it for path, it in blobs.items() if it[0]}


def _entries(answer: bytes) -> Iterator[tuple[str, str, float]]:
    """Yield the path of each file that a commit changed, the id of what it left, and the time of
    the commit, newest first; the id is "" where that time says nothing.
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


RULES = frozenset(("missing-path", "missing-symbol", "changed-since", "restates-instructions"))
_MANY = 5
"""Claims of which the project never knew, before it is asked whether it is the right one."""
_Content = tuple[str, bytes]
"""The path of a note and what it holds: by these its claims and the verdicts on them are kept."""
_ROLES = frozenset((FileRole.NOTE, FileRole.INDEX))


class ClaimSource:
    """The source of the verdicts. Notes that are as they were are not probed again while the
    project is as it was.
    """

    rules = RULES

    def __init__(self, project: str, surroundings: Environment) -> None:
        """`project` is a directory; nothing is looked at yet."""
        self._root = project
        self._surroundings = surroundings
        self._words: ProjectWords | None = None
        self._project: Project | None = None
        self._claims: Mapping[_Content, Claims] = {}
        self._verdicts: Mapping[_Content, tuple[Verdict, ...]] = {}

    def has_news(self) -> bool:
        """Whether the project is to be looked at again by itself: that takes too long."""
        return False

    def gather(self, memory: Memory, known: Evidence, step: Step) -> Evidence:
        """Return `known` with the verdicts on all claims."""
        project = self._look(memory, step)
        notes = [file for file in memory.files if file.role in _ROLES and file.readable]
        self._claims = claims = self._read_claims(notes, step)
        self._verdicts = verdicts = self._probe(notes, project, step)
        remarks = (*known.remarks, *_limits(project, claims.values()))
        if not self._surroundings.project and _is_another(verdicts.values()):
            # found by rule, not named by the person
            told = f"the notes do not seem to be about {one_line(self._root)}: nothing is told"
            return replace(known, remarks=(*remarks, told))
        by_path = {path: found for (path, _), found in verdicts.items() if found}
        return replace(known, verdicts=by_path, project=self._root, remarks=remarks)

    def _look(self, memory: Memory, step: Step) -> Project:
        """The project as it is now; the same value where nothing in it is other."""
        from ricordo.lint.claims.project import Project, ProjectHistory
        from ricordo.storage.project_tree import list_project
        from ricordo.storage.project_words import ProjectWords

        tree = list_project(self._root, lambda: step("listing the project"))
        names = frozenset(path.rpartition("/")[2] for path in memory.by_path)
        before = self._project
        if before is not None and before.tree.is_like(tree, before.memory):
            before.own_names = names
            return before
        if self._words is None:
            self._words = ProjectWords(self._surroundings.state, self._root)
        done = 0

        def read_one() -> None:
            nonlocal done
            done += 1
            step(f"reading the project {done}/{len(tree.files)}")

        self._words.bring_up(tree, read_one)
        if before is not None and before.tree.commit == tree.commit:
            history = before.history
        else:
            now = self._surroundings.now.timestamp()
            history = ProjectHistory(self._root, tree.commit, now)
        self._project = Project(tree, self._words, history, memory.root, names)
        self._verdicts = {}
        return self._project

    def _read_claims(self, notes: Sequence[Note], step: Step) -> Mapping[_Content, Claims]:
        from ricordo.lint.claims.checker import claims_of

        claims: dict[_Content, Claims] = {}
        for number, note in enumerate(notes):
            kept = self._claims.get((note.path, note.raw))
            if kept is None:
                step(f"reading claims {number}/{len(notes)}")
                kept = claims_of(note)
            claims[note.path, note.raw] = kept
        return claims

    def _probe(
        self, notes: Sequence[Note], project: Project, step: Step
    ) -> Mapping[_Content, tuple[Verdict, ...]]:
        from ricordo.lint.claims.checker import verdicts_of

        step("probing the project")
        new = [content for content in self._claims if content not in self._verdicts]
        project.look_for(word for content in new for word in self._claims[content].words)
        verdicts: dict[_Content, tuple[Verdict, ...]] = {}
        for number, note in enumerate(notes):
            content = (note.path, note.raw)
            kept = self._verdicts.get(content)
            if kept is None:
                step(f"probing {number}/{len(notes)}")
                kept = verdicts_of(note, self._claims[content], project)
            verdicts[content] = kept
        return verdicts


def _limits(project: Project, claims: Iterable[Claims]) -> list[str]:
    """What was not looked at, a line each."""
    left_out = sum(each.left_out for each in claims)
    too_many = f"{left_out:,} claims were too many to be checked" if left_out else ""
    return [it for it in (project.tree.remark, project.words.remark, too_many) if it]


def _is_another(verdicts: Iterable[Iterable[Verdict]]) -> bool:
    """Whether so much of what notes name was never there that they speak of another project. What
    was there once is theirs as much as what still is.
    """
    checked = [it for of_note in verdicts for it in of_note if it.is_checked]
    known = sum(it.outcome is CheckOutcome.HOLDS or it.was_there for it in checked)
    strange = len(checked) - known
    return strange >= _MANY and strange > known


def retained(
    memory: Memory,
    evidence: Evidence,
    judged: JudgedNotes,
    thresholds: Mapping[str, float],
    now: datetime,
    written: Mapping[str, date],
) -> dict[str, Retention]:
    """Return how far each note can be trusted, by path. Sources of a wiki are as they were on
    their day, so they are left out, and so is what cannot be read. `written` is what `written_here`
    gives.
    """
    ages = Ages(evidence, written)
    found: dict[str, Retention] = {}
    for note in memory.notes:
        if note.role is not FileRole.NOTE or not note.readable:
            continue
        kind = memory.layout.retention or kind_of(note.type)
        said = judged.get(note.path)
        reads = evidence.reads.get(note.path)
        held = on_content(said, digest(note.raw)) if said else ()
        life = _life(kind, note, held, reads.days if reads else (), now, ages)
        found[note.path] = _retention(life, thresholds[f"stale.{kind}"], now.date())
    return found


def not_seen_yet(evidence: Evidence, retention: Mapping[str, Retention]) -> Evidence:
    """Return `evidence` without what came about before the person last said of a note, as it is
    now, that it is still true. That day counts as seen to its end, as a note's own day does.
    """
    seen = {path: it.life.confirmed[-1] for path, it in retention.items() if it.life.confirmed}
    verdicts = {
        path: tuple(it for it in of_note if not 0 < it.at <= _end_of(seen[path]))
        for path, of_note in evidence.verdicts.items()
        if path in seen
    }
    return replace(evidence, verdicts={**evidence.verdicts, **verdicts}) if verdicts else evidence


def _end_of(day: date) -> float:
    return datetime.combine(day, time.max).timestamp()


@lru_cache(maxsize=20_000)
def _retention(life: NoteEvents, threshold: float, today: date) -> Retention:
    # one object as long as nothing changes: it keeps what was worked out
    return Retention(life, threshold, today)


def _life(
    kind: str,
    note: Note,
    said: tuple[NoteVerdict, ...],
    read: tuple[date, ...],
    now: datetime,
    ages: Ages,
) -> NoteEvents:
    """Return what happened to the present text of a note."""
    # what is only proposed has no time yet
    is_there = bool(note.facts.modified) or stamped_day(note) is not None
    written = day_of(note, ages) if is_there else now.date()
    confirmed: list[date] = []
    is_wrong = False
    for it in said:
        if it.judgement is ReviewVerdict.LATER:
            continue
        is_wrong = it.judgement is ReviewVerdict.WRONG
        # what it was trusted for before it was called wrong counts no more
        confirmed = [] if is_wrong else [*confirmed, _day(it.at, now)]
    if confirmed:
        # a file may have been touched since, with the text that it had
        written = min(written, confirmed[0])
    since = tuple(day for day in read if day >= written)
    return NoteEvents(kind, written, tuple(confirmed), since, is_wrong)


def _day(at: str, now: datetime) -> date:
    """Return the day of a moment, ISO 8601, where the clock says `now`."""
    return datetime.fromisoformat(at).astimezone(now.tzinfo).date()


Step = Callable[[str], None]
"""Called by long work every few milliseconds with what it is doing, in a few words; it rests there
where others have to go first, and raises Stopped where nobody wants the answer any more.
"""


class Stopped(Exception):
    """Nobody waits for the evidence any more."""


class EvidenceSource(Protocol):
    """One kind of slow evidence of one memory."""

    @property
    def rules(self) -> frozenset[str]:
        """The rules that look at it."""

    def has_news(self) -> bool:
        """Whether there may be more to know of the same memory, which takes milliseconds to say."""

    def gather(self, memory: Memory, known: Evidence, step: Step) -> Evidence:
        """Return `known` with its own part as it is now."""


def without_rest(_: str) -> None:
    """The step of one for whom the evidence is all that is waited for."""


def sources(
    place: MemoryPlace, surroundings: Environment, store: TranscriptStore
) -> tuple[EvidenceSource, ...]:
    """Return the sources of evidence on the memory at `place`; none of them has begun to work.
    `store` is where what agents did is kept.
    """
    activity, comparing = Activity(place, surroundings, store), PairSource(surroundings.state)
    own = (activity, Committed(place.root), comparing)
    project = surroundings.project or _project_of(place, surroundings)
    return (*own, ClaimSource(project, surroundings)) if os.path.isdir(project) else own


def _project_of(place: MemoryPlace, surroundings: Environment) -> str:
    """The project of a memory; "" for a session in the home directory, which is none."""
    home = os.path.realpath(surroundings.agent_home)
    above = os.path.join(os.path.realpath(place.project), "") if place.project else ""
    return "" if os.path.join(home, "").startswith(above) else place.project


EVIDENCE_RULES = Activity.rules | PairSource.rules | ClaimSource.rules
"""The rules that tell nothing before evidence was gathered."""


class Gatherer:
    """Gathers the evidence of one memory; not for use from two threads at once."""

    def __init__(self, sources: Sequence[EvidenceSource], rules: Collection[str]) -> None:
        """`rules` are those that will run: what none of them looks at is not gathered."""
        self._sources = [it for it in sources if not it.rules.isdisjoint(rules)]

    @property
    def has_sources(self) -> bool:
        """Whether anything is gathered at all."""
        return bool(self._sources)

    def gather(self, memory: Memory, step: Step = without_rest) -> Evidence:
        """Return what is known of `memory` now. Raises what `step` raises."""
        known = NOTHING_KNOWN
        for source in self._sources:
            known = source.gather(memory, known, step)
        return known

    @property
    def has_news(self) -> bool:
        """Whether there may be more to know of the same memory."""
        return any(source.has_news() for source in self._sources)

    def gather_news(self, memory: Memory, known: Evidence, step: Step = without_rest) -> Evidence:
        """Return what is known of `memory` now, where that may be other than was `known` of it.
        Raises what `step` raises.
        """
        for source in self._sources:
            if source.has_news():
                known = source.gather(memory, known, step)
        return known
