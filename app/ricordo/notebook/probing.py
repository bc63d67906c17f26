"""Probing: the claims of a memory's notes, checked against its project."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ricordo.health.evidence import Evidence, Outcome, Verdict
from ricordo.memory.layout import Role
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.notebook.surroundings import Surroundings
from ricordo.text import one_line

if TYPE_CHECKING:
    from ricordo.disk.project_words import ProjectWords
    from ricordo.health.probes.prober import Claims
    from ricordo.health.probes.project import Project
    from ricordo.notebook.evidence import Step

RULES = frozenset(("missing-path", "missing-symbol", "changed-since", "restates-instructions"))
_MANY = 5
"""Claims that fail, before it is asked whether the project is the right one."""
_ROLES = frozenset((Role.NOTE, Role.INDEX))


class Probing:
    """The source of the verdicts. Notes that are as they were are not probed again while the
    project is as it was.
    """

    rules = RULES

    def __init__(self, project: str, surroundings: Surroundings) -> None:
        """`project` is a directory; nothing is looked at yet."""
        self._root = project
        self._surroundings = surroundings
        self._words: ProjectWords | None = None
        self._project: Project | None = None
        self._claims: dict[Note, Claims] = {}
        self._verdicts: Mapping[Note, tuple[Verdict, ...]] = {}

    def gather(self, memory: Memory, known: Evidence, step: Step) -> Evidence:
        """Return `known` with the verdicts on all claims."""
        project = self._look(memory, step)
        notes = [file for file in memory.files if file.role in _ROLES and file.readable]
        claims = self._read_claims(notes, step)
        unsettled = [note for note in notes if note not in self._verdicts]
        step("probing the project")
        project.look_for(word for note in unsettled for word in claims[note].words)
        verdicts: dict[Note, tuple[Verdict, ...]] = {}
        for number, note in enumerate(notes):
            kept = self._verdicts.get(note)
            verdicts[note] = self._probed(note, project) if kept is None else kept
            if kept is None:
                step(f"probing {number}/{len(notes)}")
        self._verdicts = verdicts
        remarks = (*known.remarks, *_limits(project, claims))
        if not self._surroundings.project and _is_another(verdicts.values()):
            # found by rule, not named by the person
            told = f"the notes do not seem to be about {one_line(self._root)}: nothing is told"
            return replace(known, remarks=(*remarks, told))
        by_path = {note.path: found for note, found in verdicts.items() if found}
        return replace(known, verdicts=by_path, project=self._root, remarks=remarks)

    def _look(self, memory: Memory, step: Step) -> Project:
        """The project as it is now; the same value where nothing in it is other."""
        from ricordo.disk.project_tree import list_project
        from ricordo.disk.project_words import ProjectWords
        from ricordo.health.probes.history import ProjectHistory
        from ricordo.health.probes.project import Project

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

    def _read_claims(self, notes: list[Note], step: Step) -> dict[Note, Claims]:
        from ricordo.health.probes.prober import claims_of

        claims: dict[Note, Claims] = {}
        for number, note in enumerate(notes):
            kept = self._claims.get(note)
            if kept is None:
                step(f"reading claims {number}/{len(notes)}")
                kept = claims_of(note)
            claims[note] = kept
        self._claims = claims
        return claims

    def _probed(self, note: Note, project: Project) -> tuple[Verdict, ...]:
        from ricordo.health.probes.prober import verdicts_of

        return verdicts_of(note, self._claims[note], project)


def _limits(project: Project, claims: Mapping[Note, Claims]) -> list[str]:
    """What was not looked at, a line each."""
    left_out = sum(each.left_out for each in claims.values())
    too_many = f"{left_out:,} claims were too many to be checked" if left_out else ""
    return [it for it in (project.tree.remark, project.words.remark, too_many) if it]


def _is_another(verdicts: Iterable[Iterable[Verdict]]) -> bool:
    """Whether so much of what notes name is not there that they speak of another project."""
    outcomes = [it.outcome for of_note in verdicts for it in of_note if it.is_checked]
    held = outcomes.count(Outcome.HOLDS)
    return len(outcomes) - held >= _MANY and len(outcomes) - held > held
