"""Gathering the facts of sessions and the current state of the project.

Offline and read-only: nothing is run, and no file outside the project is opened. Transcripts are
text: an instruction in one is a fact like any other.
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
    CommandFact,
    DecisionFact,
    ErrorFact,
    Facts,
    FileUse,
    MessageFact,
    MessageRef,
    NoteFact,
    RuledOutFact,
    SummaryFact,
    TaskFact,
)
from ricordo.handoff.gather.collector import FactCollector
from ricordo.handoff.gather.decisions import find_decisions, find_ruled_out
from ricordo.handoff.gather.files import FileUseCount, keep_latest, list_parts
from ricordo.handoff.gather.limits import keep_first_and_last
from ricordo.handoff.project_git import read_git_state
from ricordo.storage.file_state import FileState, MissingFile, check_file

MAX_CHANGED_FILES = 50
"""Files that are named, the ones that were changed last."""

_Change = tuple[MessageRef, str]


class LastChanges:
    """The last change of each file in each session."""

    def __init__(self, sessions: Sequence[Iterable[_Change]]) -> None:
        """`sessions` are the last changes of files of the project, for each session."""
        by_session = [list(changes) for changes in sessions]
        self._by_turn = [
            sorted(of_session, key=lambda change: change[0].number) for of_session in by_session
        ]
        self._by_time = [
            sorted(of_session, key=lambda change: change[0].at) for of_session in by_session
        ]
        self._turns = [[ref.number for ref, _ in of_session] for of_session in self._by_turn]
        self._times = [[ref.at for ref, _ in of_session] for of_session in self._by_time]

    def list_after(self, ref: MessageRef) -> tuple[str, ...]:
        """Return the files that were changed after `ref`. Within its session the order of messages
        counts, as clocks may run backwards; elsewhere the time; without one the order of sessions.
        """
        changes: list[_Change] = []
        for session in range(len(self._by_turn)):
            changes += self._of_session(session, ref)
        changes.sort(key=lambda change: (change[0].at, change[0].session, change[0].number))
        return tuple(dict.fromkeys(path for _, path in changes[-MAX_CHANGED_FILES:]))

    def _of_session(self, session: int, moment: MessageRef) -> Sequence[_Change]:
        if session == moment.session:
            first = bisect_right(self._turns[session], moment.number)
            return self._by_turn[session][
                max(first, len(self._by_turn[session]) - MAX_CHANGED_FILES) :
            ]
        if not moment.at:
            return self._by_turn[session][-MAX_CHANGED_FILES:] if session > moment.session else ()
        first = bisect_right(self._times[session], moment.at)
        return self._by_time[session][max(first, len(self._by_time[session]) - MAX_CHANGED_FILES) :]


_MAX_CHECKED = 200
"""Files that are looked for to find out where the project was."""
_MAX_PARENTS = 4
"""Folders above the one in which a session began that may have been the project."""


class SessionPaths:
    """The project, as one session knew it."""

    def __init__(self, project: str, cwd: str, named: Collection[str]) -> None:
        """`project` is its directory now, `cwd` where the session worked, `named` the files that it
        used. Only names are used.
        """
        self.project = project
        self._roots = list(dict.fromkeys((project, os.path.realpath(project))))
        if cwd and not any(_find_inner_path(cwd, root) is not None for root in self._roots):
            self._roots += _find_old_roots(self._roots[-1], cwd, named)

    def find_path(self, named: str) -> str:
        """Return the path in the project, with `/`, of the file that the session calls `named`;
        `named` itself for a file outside it.
        """
        for root in self._roots:
            inner = _find_inner_path(named, root)
            if inner:
                return inner
        return named

    def is_inside(self, path: str) -> bool:
        """Return whether a path returned by `path` is in the project."""
        return not path.startswith(("/", "~"))


def _find_inner_path(path: str, folder: str) -> str | None:
    """Return the path below `folder`; "" for itself, None for a path outside it."""
    if path == folder:
        return ""
    above = folder.rstrip("/") + "/"
    return path[len(above) :] if path.startswith(above) else None


def _find_old_roots(project: str, cwd: str, named: Iterable[str]) -> list[str]:
    """Return where the project was when the session worked in a directory that does not exist here:
    the folder at or above it below which most of its files have the names that they have in the
    project now. Empty where the directory exists: it is another project.
    """
    if os.path.isdir(cwd):
        return []
    folders = [cwd]
    while len(folders) <= _MAX_PARENTS and os.path.dirname(folders[-1]).count("/") > 1:
        folders.append(os.path.dirname(folders[-1]))
    candidates = [path for path in named if path.startswith("/")][:_MAX_CHECKED]

    def found(folder: str) -> int:
        inner = filter(None, (_find_inner_path(path, folder) for path in candidates))
        return sum(os.path.lexists(os.path.join(project, path)) for path in inner)

    # of equal ones the lowest, which is where it began
    return [max(folders, key=found)]


_MAX_ITEMS = 1_000
"""Decisions, and things that were ruled out, that are kept of one session."""
_MAX_NAMED = 3
"""Files that are named of those that were changed before an error was fixed."""

Step = Callable[[], None]
Fact = TypeVar(
    "Fact",
    MessageFact,
    SummaryFact,
    CommandFact,
    FileUse,
    TaskFact,
    ErrorFact,
    RuledOutFact,
    DecisionFact,
    NoteFact,
)


def gather(
    sources: Sequence[TranscriptSource],
    project: str,
    step: Step = lambda: None,
    helpers: Iterable[TranscriptSource] = (),
) -> Facts:
    """Return the facts of the sessions in `sources`, the oldest first, and of the directory
    `project` as it is now. Sub-agents, in `helpers`, count where they changed files of it: only
    their actions are facts, not their messages. `step` is called every few milliseconds; what it
    raises is raised here. A transcript that cannot be read has no facts.
    """
    sessions = list(_read_sessions(sources, helpers, project, step))
    names = {name: path for session in sessions for name, path in session.names()}
    facts = Facts(
        project,
        tuple(session.session for session in sessions),
        messages=tuple(message for session in sessions for message in session.talk),
        summaries=tuple(summary for session in sessions for summary in session.hearing.summaries),
        commands=tuple(_list_runs(sessions, step)),
        files=tuple(_list_files(sessions, project, step)),
        tasks=tuple(_list_tasks(sessions[: len(sources)])),
        errors=tuple(error for session in sessions for error in _list_errors(session)),
        ruled_out=tuple(item for session in sessions for item in _list_ruled_out(session, step)),
        decisions=tuple(
            decision for session in sessions for decision in _list_decisions(session, step)
        ),
        git=read_git_state(project),
        names=names,
    )
    return _number(facts)


def _read_sessions(
    sources: Sequence[TranscriptSource],
    helpers: Iterable[TranscriptSource],
    project: str,
    step: Step,
) -> Iterator[_SessionFacts]:
    known_messages: set[int] = set()
    for number, source in enumerate(sources):
        yield _SessionFacts(number, source, project, known_messages, step)
    number = len(sources)
    for source in helpers:
        session = _SessionFacts(number, source, project, known_messages, step)
        if any(True for _ in session.changes()):
            number += 1
            yield session


def add_summaries(facts: Facts, kept: Iterable[SummaryFact]) -> Facts:
    """Return `facts` with the summaries that hooks `kept` and that the transcripts do not have."""
    new = [summary for summary in kept if not any(_is_same(summary, it) for it in facts.summaries)]
    if not new:
        return facts
    summaries = sorted((*facts.summaries, *new), key=lambda it: (it.ref.session, it.ref.at))
    return _number(replace(facts, summaries=tuple(summaries)))


def _is_same(kept: SummaryFact, summary: SummaryFact) -> bool:
    """Return whether a summary in a transcript, which may have more around it, is one that was
    kept, which may be cut.
    """
    one, other = kept.text.strip(), summary.text.strip()
    return (
        kept.ref.session == summary.ref.session and bool(other) and (one in other or other in one)
    )


def add_notes(facts: Facts, memory: str, notes: Iterable[NoteFact]) -> Facts:
    """Return `facts` with the relevant `notes` of the memory in the directory `memory`."""
    return _number(replace(facts, memory=memory, notes=tuple(notes)))


class _SessionFacts:
    """One session, read to its end."""

    def __init__(
        self,
        number: int,
        source: TranscriptSource,
        project: str,
        known_messages: set[int],
        step: Step,
    ) -> None:
        transcript = open_transcript(source, step=step)
        self.hearing = FactCollector(number, known_messages)
        for turn in transcript.messages():
            self.hearing.read(turn)
        self.hearing.close()
        self.talk = self.hearing.messages
        self.session: Session = transcript.session
        self.place = SessionPaths(project, self.session.cwd, self.hearing.files.by_path.keys())

    def names(self) -> Iterator[tuple[str, str]]:
        """Yield the session's names of files of the project, each with the path there."""
        for name in self.hearing.files.by_path:
            path = self.place.find_path(name)
            if self.place.is_inside(path):
                yield name, path

    def changes(self) -> Iterator[tuple[MessageRef, str]]:
        """Yield the last change of each file of the project."""
        for ref, name in self.hearing.files.list_changes():
            path = self.place.find_path(name)
            if self.place.is_inside(path):
                yield ref, path


def _list_runs(sessions: Sequence[_SessionFacts], step: Step) -> Iterator[CommandFact]:
    """Yield the commands that were run, each with the files that were changed after it."""
    changes = LastChanges([session.changes() for session in sessions])
    for session in sessions:
        for run in session.hearing.runs.runs:
            step()
            if run.was_refused:
                continue
            yield CommandFact(
                "",
                run.ref,
                run.command,
                run.purpose,
                run.exit,
                run.has_failed,
                run.result,
                changes.list_after(run.ref),
                run.ended,
            )


def _list_files(sessions: Sequence[_SessionFacts], project: str, step: Step) -> Iterator[FileUse]:
    """Yield the files, those of all sessions together, as they are now."""
    uses: dict[str, FileUseCount] = {}
    for session in sessions:
        for name, use in session.hearing.files.by_path.items():
            path = session.place.find_path(name)
            uses[path] = _join_uses(uses[path], use) if path in uses else use
    for path, use in sorted(uses.items(), key=lambda item: item[1].last_use[:2]):
        step()
        # a file outside the project is not read
        content = bytearray() if use.parts else None
        now = check_file(project, path, step, content)
        sha, is_gone = now.sha if isinstance(now, FileState) else None, now is MissingFile.GONE
        parts = use.parts
        if sha or is_gone:
            # a later change may have taken away what an earlier one made
            present_parts = list_parts(path, (content or b"").decode("utf-8", "replace"))
            parts = [part for part in parts if part in present_parts]
        deeds = tuple(use.actions)
        yield FileUse("", path, deeds, use.last_use, use.change_count, sha, tuple(parts), is_gone)


def _join_uses(first: FileUseCount, second: FileUseCount) -> FileUseCount:
    """Return the uses of a file in one session and in a later one as one."""
    last_change = second.last_change or first.last_change
    return FileUseCount(
        last_change or second.last_use,
        list(dict.fromkeys((*first.actions, *second.actions))),
        last_change,
        first.change_count + second.change_count,
        keep_latest([*first.parts, *second.parts]),
    )


def _list_errors(session: _SessionFacts) -> Iterator[ErrorFact]:
    """Yield the errors of a session, with the project's paths of files."""
    for error in session.hearing.errors.errors:
        what = f"{error.what} {session.place.find_path(error.path)}" if error.path else error.what
        changed = [
            path
            for path in map(session.place.find_path, error.changed_files)
            if session.place.is_inside(path)
        ]
        yield ErrorFact("", error.ref, what, error.error, error.fixed, _shorten(changed))


def _list_ruled_out(session: _SessionFacts, step: Step) -> Iterator[RuledOutFact]:
    for item, path in keep_first_and_last(
        find_ruled_out(session.talk, session.hearing.reverted_actions.actions, step), _MAX_ITEMS
    ):
        yield replace(item, what=session.place.find_path(path) + item.what) if path else item


def _list_decisions(session: _SessionFacts, step: Step) -> list[DecisionFact]:
    decisions = (*find_decisions(session.talk, step), *session.hearing.user_answers)
    return keep_first_and_last(
        sorted(decisions, key=lambda decision: decision.ref.number), _MAX_ITEMS
    )


def _shorten(paths: Sequence[str]) -> str:
    """Return the first of some files, and how many more there are."""
    more = len(paths) - _MAX_NAMED
    return ", ".join(paths[:_MAX_NAMED]) + (f" and {more} more" if more > 0 else "")


def _list_tasks(sessions: Iterable[_SessionFacts]) -> Iterator[TaskFact]:
    """Yield the tasks of the last session that kept a list."""
    for number, session in reversed(list(enumerate(sessions))):
        if tasks := session.hearing.tasks.tasks:
            yield from (
                TaskFact("", MessageRef(number, task.message_number), task.text, task.status)
                for task in tasks
            )
            return


def _number(facts: Facts) -> Facts:
    """Give every fact an id."""
    numbers = count(1)

    def number_all(of_kind: Iterable[Fact]) -> tuple[Fact, ...]:
        return tuple(replace(fact, id=f"f{next(numbers)}") for fact in of_kind)

    return replace(
        facts,
        messages=number_all(facts.messages),
        summaries=number_all(facts.summaries),
        commands=number_all(facts.commands),
        files=number_all(facts.files),
        tasks=number_all(facts.tasks),
        errors=number_all(facts.errors),
        ruled_out=number_all(facts.ruled_out),
        decisions=number_all(facts.decisions),
        notes=number_all(facts.notes),
    )
