"""A diagnosis of all memories of this machine and of the set-up around them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ricordo.agents.folder import has_notes
from ricordo.agents.workplace import find_workplace
from ricordo.errors import WrongUsage
from ricordo.lint.finding import Severity
from ricordo.services.doctor.hooks import (
    HookCost,
    find_failed_hooks,
    find_slow_hooks,
    measure_hooks,
    read_newest_runs,
)
from ricordo.services.doctor.problem import MoveRepair, Problem
from ricordo.services.doctor.project_map import ProjectMap, Step, map_projects
from ricordo.services.doctor.project_memories import find_memory_problems
from ricordo.services.doctor.setup import find_setup_problems
from ricordo.services.workspace.environment import Environment
from ricordo.text import make_one_line


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What a diagnosis found."""

    problems: tuple[Problem, ...]
    """Worst first, those that can be repaired before the others."""
    costs: tuple[HookCost, ...]
    """What the hooks of agents cost, the most expensive first."""
    maps: tuple[ProjectMap, ...] = ()
    """The projects of each agent."""

    @property
    def counts(self) -> Mapping[Severity, int]:
        """The number of problems of each severity."""
        counted = Counter(problem.severity for problem in self.problems)
        return {severity: counted[severity] for severity in sorted(Severity, reverse=True)}

    @property
    def needs_attention(self) -> bool:
        """Whether any problem is more than information."""
        return any(problem.severity is not Severity.INFO for problem in self.problems)


def diagnose(environment: Environment, step: Step = lambda phase: None) -> Diagnosis:
    """Return what is wrong on this machine. Nothing is changed."""
    maps = map_projects(environment, step)
    problems = [problem for each in maps for problem in find_memory_problems(each, step)]
    step("timing hooks")
    costs: list[HookCost] = []
    for each in maps:
        runs = read_newest_runs(each)
        costs += measure_hooks(each, runs)
        problems += find_failed_hooks(each, runs)
    problems += [*find_setup_problems(environment, maps, step), *find_slow_hooks(costs)]
    unique = {problem.id: problem for problem in reversed(problems)}
    worst_first = sorted(unique.values(), key=_rank)
    return Diagnosis(tuple(worst_first), tuple(costs), tuple(maps))


def _rank(problem: Problem) -> tuple[int, bool, str, tuple[str, ...]]:
    return -problem.severity, problem.repair is None, problem.check, problem.paths


def choose_project(diagnosis: Diagnosis, problem: Problem, directory: str) -> Problem:
    """Return a problem whose repair moves the notes to the memory of the project in `directory`.
    Raises WrongUsage where it has no memory to move, or no such project is there.
    """
    if not os.path.isdir(directory):
        raise WrongUsage(f"--into: {make_one_line(directory)} is not a directory.")
    source = problem.paths[0] if problem.paths else ""
    for projects in diagnosis.maps:
        folder = next((it for it in projects.folders if it.memory == source), None)
        if folder is not None and has_notes(source):
            place = find_workplace(directory)
            target = projects.find_loaded_memory(place)
            if target == os.path.realpath(source):
                raise WrongUsage(f"--into: sessions in {make_one_line(place.root)} load them.")
            if obstacle := projects.find_obstacle(place.root, target):
                raise WrongUsage(f"--into: {make_one_line(obstacle)}")
            title = f"From {os.path.basename(folder.cwds[0] if folder.cwds else folder.name)}"
            reason = f"notes of {folder.name} belong to {place.root}"
            move = MoveRepair(source, target, place.root, title, reason)
            return replace(problem, repair=move)
    raise WrongUsage(f"Problem {problem.id} has no notes to move.")


def describe_diagnosis(diagnosis: Diagnosis) -> dict[str, Any]:
    """Return a diagnosis as `doctor --json` prints it."""
    return {
        "problems": [_describe(problem) for problem in diagnosis.problems],
        "hooks": [_describe_cost(cost) for cost in diagnosis.costs],
        "summary": {severity.word: n for severity, n in diagnosis.counts.items()},
    }


def _describe(problem: Problem) -> dict[str, Any]:
    repair = problem.repair
    return {
        "id": problem.id,
        "check": problem.check,
        "severity": problem.severity.word,
        "what": problem.what,
        "evidence": list(problem.evidence),
        "advice": problem.advice,
        "repair": repair.label if repair else None,
        "paths": list(problem.paths),
        "other_places": list(problem.other_places),
    }


def _describe_cost(cost: HookCost) -> dict[str, Any]:
    return {
        "agent": cost.agent,
        "event": cost.event,
        "command": cost.command,
        "runs": cost.runs,
        "median_ms": cost.milliseconds,
        "per_prompt_ms": cost.per_prompt,
    }


def render_costs(costs: Sequence[HookCost]) -> list[str]:
    """Return a line for each hook, with what it costs a prompt, or a start of a session."""
    width = max((len(cost.unit) for cost in costs), default=0)
    return [
        f"{cost.each_time:>7,} ms a {cost.unit:<{width}}  {cost.agent} {cost.event}: "
        f"{make_one_line(cost.command)}"
        for cost in costs
    ]
