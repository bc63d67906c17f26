"""Unprompted recall: notes that the surroundings call for."""

from __future__ import annotations

import os
from collections.abc import Collection

from ricordo import git
from ricordo.agents.place import MemoryPlace
from ricordo.agents.workplace import workplace
from ricordo.memory.memory import Memory
from ricordo.search.association import LINKS, Association, Associations
from ricordo.search.index import SearchIndex
from ricordo.search.question import RecallQuestion
from ricordo.search.rank import rank
from ricordo.search.select import MOST, reasons
from ricordo.search.snippet import passage
from ricordo.services.search.recall import RecallResult
from ricordo.services.search.usage import given_together, use_report
from ricordo.services.workspace.environment import Environment

__all__ = ["LINKS", "Association", "Associations", "associations"]


def associations(memory: Memory, environment: Environment | None = None) -> Associations:
    """Return what the notes of `memory` remind of; one value for as long as the memory stands.

    With `surroundings`, notes that agents were given at once, as far as they are still there,
    remind of one another too.
    """
    together = given_together(environment, memory) if environment else ()
    here = memory.by_path
    return Associations(memory, [it for it in together if it[0] in here and it[1] in here])


CHANGED = 30
"""Files changed lately that are looked at."""
_SECONDS = 2.0
_MOVED = (b"R", b"C")
"""In a status of git: renamed and copied files, of which two names are given."""


def ambient(
    index: SearchIndex,
    memory: Memory,
    place: MemoryPlace,
    environment: Environment,
    most: int = MOST,
) -> list[RecallResult]:
    """Return the notes of `memory` that the surroundings call for: the current directory and its
    branch, files changed lately, day and hour, and what was used last.
    """
    today = environment.now.date()
    question = RecallQuestion(surroundings_as_words(place, environment), today)
    ranking, withheld = index.ask(
        memory, lambda reader: (rank(reader, question, today), reader.withheld())
    )
    found: dict[str, RecallResult] = {}
    for it in ranking.candidates:
        note = memory.by_path.get(os.fsdecode(it.row.path))
        # none where another process brought the index further meanwhile
        if note and len(found) < most and it.row.recalled and it.row.path not in withheld:
            text, marks = passage(note, question.stems)
            why = (*reasons(it, ranking), "the surroundings name it")
            found[note.path] = RecallResult(note, it.score, why, text, marks)
    hidden = frozenset(map(os.fsdecode, withheld))
    for result in _reminded(memory, environment, hidden):
        if len(found) < most:
            found.setdefault(result.note.path, result)
    return list(found.values())


def surroundings_as_words(place: MemoryPlace, environment: Environment) -> str:
    """Return what surrounds the person as a text: directory, branch, changed files, weekday."""
    parts = _work(environment.cwd, place.project)
    hour = environment.now.hour
    part_of_day = "morning" if hour < 12 else "afternoon" if hour < 18 else "evening"
    return " ".join([*parts, environment.now.strftime("%A"), part_of_day]).replace("/", " ")


def _work(here: str, project: str) -> list[str]:
    """What the work in the directory `here` is about; nothing where it is of another project."""
    if not project:
        return [os.path.basename(here), _branch(here), *_changed_files(here)]
    here, project = os.path.realpath(here), os.path.realpath(project)
    around = project
    if os.path.commonpath((here, project)) != project:
        # a worktree may lie anywhere
        work = workplace(here)
        if work.root != project:
            return []
        around = work.top
    below = os.path.relpath(here, around)
    return [below if below != "." else "", _branch(here), *_changed_files(here)]


def _branch(directory: str) -> str:
    answer = git.ask(directory, "rev-parse", "--abbrev-ref", "HEAD", seconds=_SECONDS) or b""
    name = os.fsdecode(answer).strip()
    return "" if name in ("HEAD", "main", "master") else name


def _changed_files(directory: str) -> list[str]:
    answer = git.ask(directory, "status", "--porcelain", "-z", seconds=_SECONDS) or b""
    names = []
    entries = iter(answer.split(b"\0"))
    for entry in entries:
        names.append(os.fsdecode(entry[3:]))
        if entry[:1] in _MOVED or entry[1:2] in _MOVED:
            # the old name follows, with nothing before it
            names.append(os.fsdecode(next(entries, b"")))
    recent = git.ask(directory, "log", "-3", "--name-only", "--format=", "-z", seconds=_SECONDS)
    names += [os.fsdecode(name).strip() for name in (recent or b"").split(b"\0") if name.strip()]
    return list(dict.fromkeys(os.path.splitext(name)[0] for name in names if name))[:CHANGED]


def _reminded(
    memory: Memory, environment: Environment, withheld: Collection[str]
) -> list[RecallResult]:
    """What the notes that were used last remind of; none that is `withheld`, nor by such a one."""
    known = memory.by_path.keys() - withheld
    last = [use for use in use_report(environment, memory) if use.path in known][:3]
    reminding = associations(memory, environment)
    return [
        RecallResult(
            memory.by_path[it.path],
            it.strength,
            (f"{it.steps[-1].how} {memory.by_path[use.path].name}, {use.kind} last",),
            passage(memory.by_path[it.path], ())[0],
        )
        for use in last
        for it in reminding.of(use.path, 2)
        if it.path in known
    ]
