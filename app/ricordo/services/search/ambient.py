"""Ambient recall: notes that are relevant to the current environment, without a message."""

from __future__ import annotations

import os
from collections.abc import Collection

from ricordo import git
from ricordo.agents.agent import MemoryPlace
from ricordo.agents.workplace import find_workplace
from ricordo.memory.memory import Memory
from ricordo.search.association import LINKS, Association, Associations
from ricordo.search.index import SearchIndex
from ricordo.search.question import RecallQuestion
from ricordo.search.rank import rank
from ricordo.search.select import MAX_SELECTED, list_reasons
from ricordo.search.snippet import extract_passage
from ricordo.services.search.recall import RecallResult
from ricordo.services.search.usage import list_given_together, list_uses
from ricordo.services.workspace.environment import Environment

__all__ = ["LINKS", "Association", "Associations", "load_associations"]


def load_associations(memory: Memory, environment: Environment | None = None) -> Associations:
    """Return the associations between the notes of `memory`.

    With `environment`, notes that agents were given together are associated too.
    """
    together = list_given_together(environment, memory) if environment else ()
    notes = memory.by_path
    return Associations(
        memory, [pair for pair in together if pair[0] in notes and pair[1] in notes]
    )


MAX_CHANGED_FILES = 30
"""Number of recently changed files that are considered."""
_SECONDS = 2.0
_MOVED = (b"R", b"C")
"""Marks of renamed and copied files in `git status`, which gives two names for them."""


def recall_ambient(
    index: SearchIndex,
    memory: Memory,
    place: MemoryPlace,
    environment: Environment,
    most: int = MAX_SELECTED,
) -> list[RecallResult]:
    """Return the notes of `memory` that are relevant to the environment: the current directory, its
    branch, recently changed files, day and hour, and recently used notes.
    """
    today = environment.now.date()
    question = RecallQuestion(describe_environment(place, environment), today)
    ranking, withheld = index.query(
        memory, lambda reader: (rank(reader, question, today), reader.list_withheld())
    )
    results: dict[str, RecallResult] = {}
    for candidate in ranking.candidates:
        row = candidate.row
        note = memory.by_path.get(os.fsdecode(row.path))
        # None if another process updated the index meanwhile
        if note and len(results) < most and row.recalled and row.path not in withheld:
            text, marks = extract_passage(note, question.stems)
            why = (*list_reasons(candidate, ranking), "matches the environment")
            results[note.path] = RecallResult(note, candidate.score, why, text, marks)
    hidden = frozenset(map(os.fsdecode, withheld))
    for result in _associated(memory, environment, hidden):
        if len(results) < most:
            results.setdefault(result.note.path, result)
    return list(results.values())


def describe_environment(place: MemoryPlace, environment: Environment) -> str:
    """Return the environment as a text: directory, branch, changed files, weekday, part of day."""
    parts = _work_context(environment.cwd, place.project)
    hour = environment.now.hour
    part_of_day = "morning" if hour < 12 else "afternoon" if hour < 18 else "evening"
    return " ".join([*parts, environment.now.strftime("%A"), part_of_day]).replace("/", " ")


def _work_context(here: str, project: str) -> list[str]:
    """Return relative directory, branch and changed files of `here`; empty if `here` is not in
    `project`.
    """
    if not project:
        return [os.path.basename(here), _branch(here), *_changed_files(here)]
    here, project = os.path.realpath(here), os.path.realpath(project)
    top = project
    if os.path.commonpath((here, project)) != project:
        # a worktree may be anywhere
        work = find_workplace(here)
        if work.root != project:
            return []
        top = work.top
    below = os.path.relpath(here, top)
    return [below if below != "." else "", _branch(here), *_changed_files(here)]


def _branch(directory: str) -> str:
    answer = git.run_git(directory, "rev-parse", "--abbrev-ref", "HEAD", seconds=_SECONDS) or b""
    name = os.fsdecode(answer).strip()
    return "" if name in ("HEAD", "main", "master") else name


def _changed_files(directory: str) -> list[str]:
    answer = git.run_git(directory, "status", "--porcelain", "-z", seconds=_SECONDS) or b""
    names = []
    entries = iter(answer.split(b"\0"))
    for entry in entries:
        names.append(os.fsdecode(entry[3:]))
        if entry[:1] in _MOVED or entry[1:2] in _MOVED:
            # the old name follows, without a status before it
            names.append(os.fsdecode(next(entries, b"")))
    recent = git.run_git(directory, "log", "-3", "--name-only", "--format=", "-z", seconds=_SECONDS)
    names += [os.fsdecode(name).strip() for name in (recent or b"").split(b"\0") if name.strip()]
    return list(dict.fromkeys(os.path.splitext(name)[0] for name in names if name))[
        :MAX_CHANGED_FILES
    ]


def _associated(
    memory: Memory, environment: Environment, withheld: Collection[str]
) -> list[RecallResult]:
    """Return the notes associated with those used last, without `withheld` ones on either side."""
    paths = memory.by_path.keys() - withheld
    last = [use for use in list_uses(environment, memory) if use.path in paths][:3]
    associated = load_associations(memory, environment)
    return [
        RecallResult(
            memory.by_path[each.path],
            each.strength,
            (f"{each.steps[-1].relation} {memory.by_path[use.path].name}, {use.kind} last",),
            extract_passage(memory.by_path[each.path], ())[0],
        )
        for use in last
        for each in associated.find_related(use.path, 2)
        if each.path in paths
    ]
