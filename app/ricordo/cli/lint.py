"""`ricordo lint`: what is wrong with a memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ricordo.cli.command import Command
from ricordo.cli.output import tell
from ricordo.cli.parser import add_memory, add_project, with_project
from ricordo.cli.workspace import look_reported, open_notebook
from ricordo.errors import WrongUsage

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator

    from ricordo.services.edits.fix import FixPlan
    from ricordo.services.workspace.environment import Environment
    from ricordo.services.workspace.notebook import Notebook, Snapshot

LINT_SUMMARY = "What is wrong with a memory. Ends with 1 where something is at or over --fail-on."


def add_lint_arguments(parser: ArgumentParser) -> None:
    """Declare the words of `lint`."""
    add_memory(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON document")
    form.add_argument("--sarif", action="store_true", help="print one SARIF 2.1.0 document")
    parser.add_argument(
        "--rule", metavar="R", action="append", default=[], help="only this rule; may be repeated"
    )
    parser.add_argument(
        "--fail-on",
        choices=("error", "warning", "info", "never"),
        default="error",
        help="the severity from which the exit code is 1 (default: error)",
    )
    add_project(parser)
    parser.add_argument("--fix", action="store_true", help="make the safe fixes")
    parser.add_argument(
        "--diff", action="store_true", help="show what --fix would change, and change nothing"
    )
    parser.add_argument(
        "--unsafe",
        action="store_true",
        help="with --fix or --diff: also the fixes that you should see first",
    )
    parser.add_argument("--dismiss", metavar="ID", help="say of this finding that it is fine")
    parser.add_argument("--reason", default="", help="why it is fine")
    parser.add_argument(
        "--dismissed", action="store_true", help="list the dismissed findings as well"
    )


def run_lint(options: Namespace, environment: Environment) -> int:
    """Print the findings; return 1 where one is at or over the severity asked for."""
    only = _known_rules(options.rule)
    environment = with_project(options, environment)
    if options.unsafe and not (options.fix or options.diff):
        raise WrongUsage("--unsafe goes with --fix or --diff.")
    if options.diff and options.sarif:
        raise WrongUsage("--diff goes with --json or with neither, not with --sarif.")
    fixes = _fix(options, environment, only) if options.fix or options.diff else None
    notebook = open_notebook(options, environment, only)
    snapshot = look_reported(notebook)
    if options.dismiss:
        return _dismiss(notebook, snapshot, options.dismiss, options.reason)
    _print(options, snapshot, fixes)
    return _exit_code(options.fail_on, snapshot)


def _known_rules(names: list[str]) -> frozenset[str]:
    from difflib import get_close_matches

    from ricordo.lint.rule import all_rules

    for name in names:
        if name not in all_rules():
            near = get_close_matches(name, all_rules(), n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise WrongUsage(f"There is no rule “{name}”.{hint}")
    return frozenset(names)


class _Fixes(NamedTuple):
    """What was fixed, or would be."""

    plan: FixPlan
    applied: bool
    merged: tuple[str, ...] = ()
    """Paths of files to which somebody else wrote meanwhile."""


def _fix(options: Namespace, environment: Environment, only: frozenset[str]) -> _Fixes:
    """Fix what the rules `only` find; with `--diff` find out what that would change, no more."""
    from ricordo.cli.edit import begin_reported
    from ricordo.cli.output import note_change, tell
    from ricordo.services.edits.change import apply_at_once
    from ricordo.services.edits.fix import plan_fixes

    # by all rules: what is fixed for one of them must add nothing that another one finds
    notebook = open_notebook(options, environment)
    memory = notebook.read() if options.diff else begin_reported(notebook)
    snapshot = notebook.judge_closely(memory)
    tell(notebook.take_notices())
    plan = plan_fixes(notebook, snapshot, unsafe=options.unsafe, only=only)
    if options.diff or not plan.change_set:
        return _Fixes(plan, applied=not options.diff)
    _, merged = apply_at_once(notebook, plan.change_set, by_hand=False)
    note_change(f"fixed {', '.join(edit.path for edit in plan.change_set.edits)}")
    return _Fixes(plan, applied=True, merged=merged)


def _fix_lines(fixes: _Fixes) -> Iterator[str]:
    """Yield what was fixed, or the diffs of what would be, and how much was not, and why."""
    from ricordo.cli.edit import told_edits
    from ricordo.services.edits.fix import count_lines, diff_lines, fixed_lines
    from ricordo.text import one_line

    plan = fixes.plan
    if not fixes.applied:
        yield from diff_lines(plan)
    elif plan.change_set:
        yield from fixed_lines(plan)
        yield from told_edits(plan.change_set.edits)
        for path in fixes.merged:
            yield f"  {one_line(path)}: merged with what somebody else wrote"
    yield from (f"  {remark}" for remark in plan.change_set.remarks)
    yield from count_lines(plan, applied=fixes.applied)
    if fixes.applied and plan.change_set:
        yield "`ricordo undo` reverts it."


def _dismiss(notebook: Notebook, snapshot: Snapshot, finding_id: str, reason: str) -> int:
    from ricordo.cli.output import note_change, print_lines
    from ricordo.services.report import finding_line

    known = {finding.id: finding for finding in (*snapshot.findings, *snapshot.dismissed)}
    if finding_id not in known:
        raise WrongUsage(f"No finding has the id “{finding_id}”; `lint --json` shows the ids.")
    notebook.dismiss(finding_id, reason)
    note_change(f"dismissed {finding_id}")
    print_lines([f"dismissed until its cause changes: {finding_line(known[finding_id])}"])
    return 0


def _print(options: Namespace, snapshot: Snapshot, fixes: _Fixes | None) -> None:
    from ricordo.cli.output import print_json, print_lines
    from ricordo.services.describe import describe_finding, describe_load, describe_summary
    from ricordo.services.report import finding_line, load_line, summary_line

    memory = snapshot.memory
    if options.sarif:
        from ricordo.services.describe import sarif

        print_json(sarif(snapshot))
        if fixes:
            tell(list(_fix_lines(fixes)))
        return
    shown = [(finding, False) for finding in snapshot.findings]
    if options.dismissed:
        shown += [(finding, True) for finding in snapshot.dismissed]
    if options.json:
        document = {
            "memory": {
                "path": memory.root,
                "kind": memory.layout.kind.value,
                "notes": len(memory.notes),
                "bytes": memory.size,
            },
            "load": describe_load(memory, with_text=False),
            "findings": [describe_finding(f, dismissed=gone) for f, gone in shown],
            "summary": describe_summary(snapshot.counts),
        }
        print_json(document | _described(fixes))
        return
    if fixes:
        # what is left is counted; `lint` lists it
        print_lines(list(_fix_lines(fixes)))
    else:
        print_lines(
            [finding_line(finding) + (" (dismissed)" if gone else "") for finding, gone in shown]
        )
    print_lines([f"{len(memory.notes)} notes; {summary_line(snapshot)}; load {load_line(memory)}"])


def _described(fixes: _Fixes | None) -> dict[str, Any]:
    """Return what the JSON document says of fixes: nothing where none were asked for."""
    from ricordo.services.edits.fix import describe_fixes

    return {"fixes": describe_fixes(fixes.plan, applied=fixes.applied)} if fixes else {}


def _exit_code(fail_on: str, snapshot: Snapshot) -> int:
    from ricordo.lint.finding import SEVERITY_WORDS

    if fail_on == "never":
        return 0
    threshold = SEVERITY_WORDS[fail_on]
    return int(any(finding.severity >= threshold for finding in snapshot.findings))


COMMANDS = {
    "lint": Command(LINT_SUMMARY, add_lint_arguments, run_lint),
}
