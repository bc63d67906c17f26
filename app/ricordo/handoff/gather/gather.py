"""Gathering: what sessions tell, and what stands in the project now, as facts.

Offline, by reading alone: nothing is run, and no file is opened outside the project. Whatever
transcripts say is taken as text: an order in it is a fact like any other.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import TypeVar

from ricordo.agents.registry import open_transcript
from ricordo.agents.transcripts.session import Session
from ricordo.agents.transcripts.sources import TranscriptSource
from ricordo.handoff.facts import (
    DecisionFact,
    ErrorFact,
    Facts,
    FileUse,
    GivenUp,
    MessageFact,
    NoteFound,
    Ran,
    Ref,
    Summary,
    Todo,
)
from ricordo.handoff.gather.bounded import bounded
from ricordo.handoff.gather.decisions import decided, given_up
from ricordo.handoff.gather.files import FileUseCount, latest, parts_of
from ricordo.handoff.gather.listener import Hearing
from ricordo.handoff.project_git import git_state
from ricordo.storage.file_state import FileNow, Gone, look_at

MOST = 50
"""Files that are named, the ones that were changed last."""

_Change = tuple[Ref, str]


class LastChanges:
    """The last change of each file in each session."""

    def __init__(self, sessions: Sequence[Iterable[_Change]]) -> None:
        """`sessions` has for each session when it changed which file of the project last."""
        found = [list(changes) for changes in sessions]
        self._by_turn = [sorted(of_one, key=lambda it: it[0].turn) for of_one in found]
        self._by_time = [sorted(of_one, key=lambda it: it[0].at) for of_one in found]
        self._turns = [[ref.turn for ref, _ in of_one] for of_one in self._by_turn]
        self._times = [[ref.at for ref, _ in of_one] for of_one in self._by_time]

    def after(self, moment: Ref) -> tuple[str, ...]:
        """Return the files that were changed after `moment`. Within its session the order of turns
        tells, as clocks may run backwards; beside it the time; without one the order of sessions.
        """
        found: list[_Change] = []
        for session in range(len(self._by_turn)):
            found += self._of_session(session, moment)
        found.sort(key=lambda it: (it[0].at, it[0].session, it[0].turn))
        return tuple(dict.fromkeys(path for _, path in found[-MOST:]))

    def _of_session(self, session: int, moment: Ref) -> Sequence[_Change]:
        if session == moment.session:
            first = bisect_right(self._turns[session], moment.turn)
            return self._by_turn[session][max(first, len(self._by_turn[session]) - MOST) :]
        if not moment.at:
            return self._by_turn[session][-MOST:] if session > moment.session else ()
        first = bisect_right(self._times[session], moment.at)
        return self._by_time[session][max(first, len(self._by_time[session]) - MOST) :]


_MOST_ASKED = 200
"""Files that are looked for to find out where the project was."""
_HIGHEST = 4
"""Folders above the one in which a session began that may have been the project."""


class SessionPaths:
    """The project, as one session knew it."""

    def __init__(self, project: str, cwd: str, named: Collection[str]) -> None:
        """`project` is where it lies now, `cwd` where the session worked, `named` the files that it
        used. Only names are looked at.
        """
        self.project = project
        self._roots = list(dict.fromkeys((project, os.path.realpath(project))))
        if cwd and not any(_inside(cwd, root) is not None for root in self._roots):
            self._roots += _elsewhere(self._roots[-1], cwd, named)

    def path(self, named: str) -> str:
        """Return the path in the project, with `/`, of the file that the session calls `named`;
        `named` itself for one outside it.
        """
        for root in self._roots:
            inner = _inside(named, root)
            if inner:
                return inner
        return named

    def has(self, path: str) -> bool:
        """Say whether a path, as `path` returns it, is one of the project."""
        return not path.startswith(("/", "~"))


def _inside(path: str, folder: str) -> str | None:
    """The path beneath `folder`; "" for itself, None for one that does not lie in it."""
    if path == folder:
        return ""
    above = folder.rstrip("/") + "/"
    return path[len(above) :] if path.startswith(above) else None


def _elsewhere(project: str, cwd: str, named: Iterable[str]) -> list[str]:
    """Where the project lay when the session worked in a directory that is another one here, or is
    not here: the folder at or above it beneath which most of its files have the names that they
    have in the project now. None where the directory is here: it is another project.
    """
    if os.path.isdir(cwd):
        return []
    folders = [cwd]
    while len(folders) <= _HIGHEST and os.path.dirname(folders[-1]).count("/") > 1:
        folders.append(os.path.dirname(folders[-1]))
    asked = [path for path in named if path.startswith("/")][:_MOST_ASKED]

    def found(folder: str) -> int:
        inner = filter(None, (_inside(path, folder) for path in asked))
        return sum(os.path.lexists(os.path.join(project, path)) for path in inner)

    # of those with as many the lowest one, which is where it began
    return [max(folders, key=found)]


_MOST = 1_000
"""Decisions of one session, and things that it gave up, that are kept."""
_MOST_NAMED = 3
"""Files that are named of those that were changed before an error was mended."""

Step = Callable[[], None]
Fact = TypeVar(
    "Fact", MessageFact, Summary, Ran, FileUse, Todo, ErrorFact, GivenUp, DecisionFact, NoteFound
)


def gather(
    sources: Sequence[TranscriptSource],
    project: str,
    step: Step = lambda: None,
    helpers: Iterable[TranscriptSource] = (),
) -> Facts:
    """Return what the sessions in `sources`, the oldest first, tell, and what stands in the
    directory `project` now. Of their sub-agents, in `helpers`, those count that changed files of
    it: what they did is told, and nothing that they said. `step` is called every few milliseconds;
    what it raises is raised here. A transcript that cannot be read tells nothing.
    """
    told = list(_heard(sources, helpers, project, step))
    names = {name: path for it in told for name, path in it.names()}
    facts = Facts(
        project,
        tuple(it.session for it in told),
        said=tuple(said for it in told for said in it.talk),
        summaries=tuple(summary for it in told for summary in it.hearing.summaries),
        ran=tuple(_ran(told, step)),
        files=tuple(_files(told, project, step)),
        todos=tuple(_todos(told[: len(sources)])),
        mishaps=tuple(mishap for it in told for mishap in _mishaps(it)),
        given_up=tuple(left for it in told for left in _given_up(it, step)),
        decided=tuple(choice for it in told for choice in _decided(it, step)),
        git=git_state(project),
        names=names,
    )
    return _numbered(facts)


def _heard(
    sources: Sequence[TranscriptSource],
    helpers: Iterable[TranscriptSource],
    project: str,
    step: Step,
) -> Iterator[_SessionFacts]:
    heard: set[int] = set()
    for number, source in enumerate(sources):
        yield _SessionFacts(number, source, project, heard, step)
    number = len(sources)
    for source in helpers:
        told = _SessionFacts(number, source, project, heard, step)
        if any(True for _ in told.changes()):
            number += 1
            yield told


def with_notes(facts: Facts, memory: str, notes: Iterable[NoteFound]) -> Facts:
    """Return `facts` with the `notes` of the memory in the directory `memory` that bear on them."""
    return _numbered(replace(facts, memory=memory, notes=tuple(notes)))


class _SessionFacts:
    """One session, heard to its end."""

    def __init__(
        self, number: int, source: TranscriptSource, project: str, heard: set[int], step: Step
    ) -> None:
        transcript = open_transcript(source, step=step)
        self.hearing = Hearing(number, heard)
        for turn in transcript.turns():
            self.hearing.hear(turn)
        self.hearing.close()
        self.talk = self.hearing.talk
        self.session: Session = transcript.session
        self.place = SessionPaths(project, self.session.cwd, self.hearing.files.used.keys())

    def names(self) -> Iterator[tuple[str, str]]:
        """Yield how the session calls files of the project, each with its path there."""
        for name in self.hearing.files.used:
            path = self.place.path(name)
            if self.place.has(path):
                yield name, path

    def changes(self) -> Iterator[tuple[Ref, str]]:
        """Yield when the session changed each file of the project last."""
        for ref, name in self.hearing.files.changes():
            path = self.place.path(name)
            if self.place.has(path):
                yield ref, path


def _ran(told: Sequence[_SessionFacts], step: Step) -> Iterator[Ran]:
    """Yield the commands that were run, each with the files that were changed after it."""
    changes = LastChanges([it.changes() for it in told])
    for it in told:
        for run in it.hearing.runs.kept:
            step()
            if run.was_refused:
                continue
            yield Ran(
                "",
                run.ref,
                run.command,
                run.work,
                run.exit,
                run.has_failed,
                run.result,
                changes.after(run.ref),
                run.ended,
            )


def _files(told: Sequence[_SessionFacts], project: str, step: Step) -> Iterator[FileUse]:
    """Yield the files, those of all sessions together, as they are now."""
    uses: dict[str, FileUseCount] = {}
    for it in told:
        for name, use in it.hearing.files.used.items():
            path = it.place.path(name)
            uses[path] = _joined(uses[path], use) if path in uses else use
    for path, use in sorted(uses.items(), key=lambda item: item[1].last[:2]):
        step()
        # one outside of the project is not looked at
        content = bytearray() if use.parts else None
        now = look_at(project, path, step, content)
        sha, is_gone = now.sha if isinstance(now, FileNow) else None, now is Gone.GONE
        parts = use.parts
        if sha or is_gone:
            # a later change may have taken away what an earlier one made
            there = parts_of(path, (content or b"").decode("utf-8", "replace"))
            parts = [it for it in parts if it in there]
        deeds = tuple(use.deeds)
        yield FileUse("", path, deeds, use.last, use.times, sha, tuple(parts), is_gone)


def _joined(first: FileUseCount, then: FileUseCount) -> FileUseCount:
    """What was done to a file in one session and in a later one."""
    last_change = then.last_change or first.last_change
    return FileUseCount(
        last_change or then.last,
        list(dict.fromkeys((*first.deeds, *then.deeds))),
        last_change,
        first.times + then.times,
        latest([*first.parts, *then.parts]),
    )


def _mishaps(told: _SessionFacts) -> Iterator[ErrorFact]:
    """Yield the errors of a session; files are called as the project calls them."""
    for it in told.hearing.mishaps.kept:
        what = f"{it.what} {told.place.path(it.path)}" if it.path else it.what
        changed = [path for path in map(told.place.path, it.by) if told.place.has(path)]
        yield ErrorFact("", it.ref, what, it.error, it.mended, _few(changed))


def _given_up(told: _SessionFacts, step: Step) -> Iterator[GivenUp]:
    for left, path in bounded(given_up(told.talk, told.hearing.taken_back.kept, step), _MOST):
        yield replace(left, what=told.place.path(path) + left.what) if path else left


def _decided(told: _SessionFacts, step: Step) -> list[DecisionFact]:
    found = (*decided(told.talk, step), *told.hearing.answered)
    return bounded(sorted(found, key=lambda it: it.ref.turn), _MOST)


def _few(paths: Sequence[str]) -> str:
    """The first of some files, and how many more there are."""
    more = len(paths) - _MOST_NAMED
    return ", ".join(paths[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _todos(told: Iterable[_SessionFacts]) -> Iterator[Todo]:
    """Yield the tasks of the last session that kept a list."""
    for number, it in reversed(list(enumerate(told))):
        if tasks := it.hearing.tasks.tasks:
            yield from (Todo("", Ref(number, it.turn), it.text, it.status) for it in tasks)
            return


def _numbered(facts: Facts) -> Facts:
    """Give every fact a name of its own."""
    numbers = count(1)

    def named(of_kind: Iterable[Fact]) -> tuple[Fact, ...]:
        return tuple(replace(it, id=f"f{next(numbers)}") for it in of_kind)

    return replace(
        facts,
        said=named(facts.said),
        summaries=named(facts.summaries),
        ran=named(facts.ran),
        files=named(facts.files),
        todos=named(facts.todos),
        mishaps=named(facts.mishaps),
        given_up=named(facts.given_up),
        decided=named(facts.decided),
        notes=named(facts.notes),
    )
