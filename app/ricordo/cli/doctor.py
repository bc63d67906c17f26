"""`ricordo doctor`: what is wrong around the memories of this machine."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from ricordo.cli.output import (
    is_at_terminal,
    is_confirmed,
    note_change,
    print_errors,
    print_messages,
)
from ricordo.cli.parser import Command, add_json
from ricordo.cli.progress import set_phase
from ricordo.errors import Unconfirmed, WrongUsage
from ricordo.resources import shorten_home
from ricordo.text import make_one_line, make_visible

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from ricordo.memory.change import ChangeSet
    from ricordo.services.doctor.doctor import Diagnosis
    from ricordo.services.doctor.problem import Problem
    from ricordo.services.workspace.environment import Environment

DOCTOR_SUMMARY = """Find what is wrong around the memories of this machine.

It finds memories that no session loads any more, as the project was renamed or moved, or a worktree
or a setting came between; memories of several projects; settings that put memories elsewhere; hooks
that are missing, doubled or slow, and what each costs a prompt; instruction files that are not
read; indexes that are not loaded as a whole; and what is wrong with Ricordo's own directory.

Each problem has an id. --fix ID shows the change that repairs it, and makes it after you confirm or
with --yes; `ricordo undo` reverts it. Other files that hold the path of a moved project are named
and left alone. Exits with 1 if there is a problem that is more than information."""

_WORD = "yes"
_WIDTH = 8


def add_doctor_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `doctor`."""
    add_json(parser)
    parser.add_argument("--fix", metavar="ID", help="repair this problem")
    parser.add_argument(
        "--into", metavar="DIR", help="with --fix: the project to which the notes belong"
    )
    parser.add_argument("--yes", action="store_true", help="with --fix: do not ask")


def run_doctor(options: Namespace, environment: Environment) -> int:
    """Print the problems, or repair one."""
    if not options.fix and (options.into or options.yes):
        raise WrongUsage("--into and --yes need --fix.")
    from ricordo.services.doctor.doctor import describe_diagnosis, diagnose

    diagnosis = diagnose(environment, set_phase)
    if options.fix:
        _fix(options, environment, diagnosis)
        return 0
    if options.json:
        from ricordo.cli.output import print_json

        print_json(describe_diagnosis(diagnosis), "doctor")
    else:
        _print(diagnosis, environment)
    return 1 if diagnosis.needs_attention else 0


def _print(diagnosis: Diagnosis, environment: Environment) -> None:
    from ricordo.cli.output import is_quiet, print_lines
    from ricordo.services.doctor.doctor import render_costs
    from ricordo.services.doctor.problem import shorten_paths

    shorten = partial(shorten_home, home=environment.agent_home)
    shown = [shorten_paths(problem, shorten) for problem in diagnosis.problems]
    lines = [line for problem in shown for line in _render(problem)]
    print_lines(lines or ["No problems."])
    if diagnosis.costs and not is_quiet():
        print_lines(["", "What hooks cost, by the newest sessions:"])
        print_lines(render_costs(diagnosis.costs))


def _render(problem: Problem) -> list[str]:
    """Return a problem as lines: what, how it is known, what to do, and its repair."""
    lines = [f"{problem.severity.word:<{_WIDTH}} {problem.what}  ({problem.id}, {problem.check})"]
    lines += [f"{' ' * _WIDTH}   {text}" for text in problem.evidence]
    lines += [f"{' ' * _WIDTH}   {problem.advice}"] if problem.advice else []
    lines += [f"{' ' * _WIDTH}   left alone: {place}" for place in problem.other_places]
    if problem.repair is not None:
        command = f"`ricordo doctor --fix {problem.id}`"
        lines.append(f"{' ' * _WIDTH}   {command}: {problem.repair.label}")
    return [make_one_line(line) for line in lines]


def _fix(options: Namespace, environment: Environment, diagnosis: Diagnosis) -> None:
    """Show the repair of a problem, and make it once it is confirmed."""
    from ricordo.cli.change import list_changed, print_change, render_edits, render_merged
    from ricordo.cli.ids import pick_ids
    from ricordo.cli.workspace import load_settings_reported
    from ricordo.services.doctor.doctor import choose_project
    from ricordo.services.doctor.repair import apply_repair, build_repair

    known = {problem.id: problem for problem in diagnosis.problems}
    (id,) = pick_ids([options.fix], known, "problem", "`ricordo doctor` lists them.")
    problem = known[id]
    if options.into:
        directory = os.path.join(environment.cwd, options.into)
        problem = choose_project(diagnosis, problem, directory)
    if problem.repair is None:
        raise WrongUsage(f"There is no repair for {id}.", hint=problem.advice)
    change_set = build_repair(problem.repair, environment)
    if not options.yes:
        lines = [problem.what, *_render_change(change_set)]
        if not is_confirmed(lines, _WORD, problem.repair.label):
            print_errors(lines if not is_at_terminal() else [])
            raise Unconfirmed(
                f"{problem.id} was not repaired.", hint="Confirm it at a terminal, or add --yes."
            )
    merged, messages = apply_repair(
        problem.repair, change_set, environment, load_settings_reported(environment)
    )
    done = problem.repair.label
    note_change(done)
    print_messages(messages)
    others = [f"  left alone: {make_one_line(place)}" for place in problem.other_places]
    warnings = [f"  {make_one_line(warning)}" for warning in change_set.warnings]
    target = make_one_line(problem.repair.target)
    print_change(
        options,
        make_one_line(done),
        list_changed(change_set.edits, problem.repair.target),
        details=[
            *render_edits(change_set.edits),
            *render_merged(merged),
            *warnings,
            *others,
            f"`ricordo undo {target}` reverts this.",
        ],
        merged=merged,
        warnings=change_set.warnings,
    )


def _render_change(change_set: ChangeSet) -> list[str]:
    """Return the change set of a repair as lines: what moves where, and diffs of what changes."""
    from ricordo.curation.validation import decode_text
    from ricordo.memory.diff import format_unified
    from ricordo.secrets import mask
    from ricordo.services.doctor.repair import list_shown_edits

    lines: list[str] = []
    for edit in list_shown_edits(change_set):
        if edit.moved_from:
            origin = os.path.join(edit.moved_from_root, edit.moved_from)
            lines.append(f"move {origin} to {os.path.join(edit.root, edit.path)}")
        elif edit.after is None:
            lines.append(f"remove {os.path.join(edit.root, edit.path)}")
            continue
        if edit.before != edit.after:
            old, new = (mask(decode_text(raw)) for raw in (edit.before, edit.after))
            diff = format_unified(old, new, f"a/{edit.path}", f"b/{edit.path}")
            lines += diff.rstrip("\n").split("\n")
    return [make_visible(line) for line in (*lines, *change_set.warnings)]


COMMANDS = {"doctor": Command(DOCTOR_SUMMARY, add_doctor_arguments, run_doctor, ("--fix",))}
