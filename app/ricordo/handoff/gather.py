"""Gathering: what sessions tell, and what stands in the project now, as facts.

Offline, by reading alone: nothing is run, and no file is opened outside the project. Whatever
transcripts say is taken as text: an order in it is a fact like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import TypeVar

from ricordo.activity.session import Session
from ricordo.activity.sources import Source
from ricordo.disk.file_now import FileNow, Gone, look_at
from ricordo.handoff.facts import (
    Decided,
    Facts,
    FileUse,
    GivenUp,
    Mishap,
    NoteFound,
    Ran,
    Ref,
    Said,
    Summary,
    Todo,
)
from ricordo.handoff.gathering.bounded import bounded
from ricordo.handoff.gathering.changes import Changes
from ricordo.handoff.gathering.decided import decided
from ricordo.handoff.gathering.file_uses import Use, latest
from ricordo.handoff.gathering.given_up import given_up
from ricordo.handoff.gathering.hearing import Hearing
from ricordo.handoff.gathering.parts import parts_of
from ricordo.handoff.gathering.place import Place
from ricordo.handoff.git_state import git_state

_MOST = 1_000
"""Decisions of one session, and things that it gave up, that are kept."""
_MOST_NAMED = 3
"""Files that are named of those that were changed before an error was mended."""

Step = Callable[[], None]
Fact = TypeVar("Fact", Said, Summary, Ran, FileUse, Todo, Mishap, GivenUp, Decided, NoteFound)


def gather(
    sources: Sequence[Source],
    project: str,
    step: Step = lambda: None,
    helpers: Iterable[Source] = (),
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
    sources: Sequence[Source], helpers: Iterable[Source], project: str, step: Step
) -> Iterator[_Told]:
    heard: set[int] = set()
    for number, source in enumerate(sources):
        yield _Told(number, source, project, heard, step)
    number = len(sources)
    for source in helpers:
        told = _Told(number, source, project, heard, step)
        if any(True for _ in told.changes()):
            number += 1
            yield told


def with_notes(facts: Facts, memory: str, notes: Iterable[NoteFound]) -> Facts:
    """Return `facts` with the `notes` of the memory in the directory `memory` that bear on them."""
    return _numbered(replace(facts, memory=memory, notes=tuple(notes)))


class _Told:
    """One session, heard to its end."""

    def __init__(
        self, number: int, source: Source, project: str, heard: set[int], step: Step
    ) -> None:
        transcript = source.transcript(step=step)
        self.hearing = Hearing(number, heard)
        for turn in transcript.turns():
            self.hearing.hear(turn)
        self.hearing.close()
        self.talk = self.hearing.talk
        self.session: Session = transcript.session
        self.place = Place(project, self.session.cwd, self.hearing.files.used.keys())

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


def _ran(told: Sequence[_Told], step: Step) -> Iterator[Ran]:
    """Yield the commands that were run, each with the files that were changed after it."""
    changes = Changes([it.changes() for it in told])
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


def _files(told: Sequence[_Told], project: str, step: Step) -> Iterator[FileUse]:
    """Yield the files, those of all sessions together, as they are now."""
    uses: dict[str, Use] = {}
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


def _joined(first: Use, then: Use) -> Use:
    """What was done to a file in one session and in a later one."""
    last_change = then.last_change or first.last_change
    return Use(
        last_change or then.last,
        list(dict.fromkeys((*first.deeds, *then.deeds))),
        last_change,
        first.times + then.times,
        latest([*first.parts, *then.parts]),
    )


def _mishaps(told: _Told) -> Iterator[Mishap]:
    """Yield the errors of a session; files are called as the project calls them."""
    for it in told.hearing.mishaps.kept:
        what = f"{it.what} {told.place.path(it.path)}" if it.path else it.what
        changed = [path for path in map(told.place.path, it.by) if told.place.has(path)]
        yield Mishap("", it.ref, what, it.error, it.mended, _few(changed))


def _given_up(told: _Told, step: Step) -> Iterator[GivenUp]:
    for left, path in bounded(given_up(told.talk, told.hearing.taken_back.kept, step), _MOST):
        yield replace(left, what=told.place.path(path) + left.what) if path else left


def _decided(told: _Told, step: Step) -> list[Decided]:
    found = (*decided(told.talk, step), *told.hearing.answered)
    return bounded(sorted(found, key=lambda it: it.ref.turn), _MOST)


def _few(paths: Sequence[str]) -> str:
    """The first of some files, and how many more there are."""
    more = len(paths) - _MOST_NAMED
    return ", ".join(paths[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _todos(told: Iterable[_Told]) -> Iterator[Todo]:
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
