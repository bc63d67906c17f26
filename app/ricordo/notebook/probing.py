"""Probing: the claims of a memory's notes, checked against its project."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
"""Claims of which the project never knew, before it is asked whether it is the right one."""
_Content = tuple[str, bytes]
"""The path of a note and what it holds: by these its claims and the verdicts on them are kept."""
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

    def _read_claims(self, notes: Sequence[Note], step: Step) -> Mapping[_Content, Claims]:
        from ricordo.health.probes.prober import claims_of

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
        from ricordo.health.probes.prober import verdicts_of

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
    known = sum(it.outcome is Outcome.HOLDS or it.was_there for it in checked)
    strange = len(checked) - known
    return strange >= _MANY and strange > known
