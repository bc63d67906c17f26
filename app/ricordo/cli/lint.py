"""`ricordo lint`: report and fix findings of a memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ricordo.cli.output import print_messages
from ricordo.cli.parser import Command, add_memory, add_project, with_project
from ricordo.cli.workspace import open_notebook, read_snapshot_reported
from ricordo.errors import WrongUsage

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator

    from ricordo.services.edits.fix import FixPlan
    from ricordo.services.workspace.environment import Environment
    from ricordo.services.workspace.notebook import Notebook, Snapshot

LINT_SUMMARY = "Report the findings of a memory. Exits with 1 if one is at or over --fail-on."


def add_lint_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of `lint`."""
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
    parser.add_argument("--fix", action="store_true", help="apply the safe fixes")
    parser.add_argument(
        "--diff", action="store_true", help="show what --fix would change, without changing it"
    )
    parser.add_argument(
        "--unsafe", action="store_true", help="with --fix or --diff: include fixes to review first"
    )
    parser.add_argument("--dismiss", metavar="ID", help="dismiss this finding")
    parser.add_argument("--reason", default="", help="with --dismiss: why, for the history")
    parser.add_argument("--dismissed", action="store_true", help="also list dismissed findings")


def run_lint(options: Namespace, environment: Environment) -> int:
    """Print the findings; return 1 if one is at or over the severity of --fail-on."""
    only = _known_rules(options.rule)
    environment = with_project(options, environment)
    if options.unsafe and not (options.fix or options.diff):
        raise WrongUsage("--unsafe needs --fix or --diff.")
    if options.diff and options.sarif:
        raise WrongUsage("--diff cannot be used with --sarif.")
    fixes = _fix(options, environment, only) if options.fix or options.diff else None
    notebook = open_notebook(options, environment, only)
    snapshot = read_snapshot_reported(notebook)
    if options.dismiss:
        return _dismiss(notebook, snapshot, options.dismiss, options.reason)
    _print(options, snapshot, fixes)
    return _exit_code(options.fail_on, snapshot)


def _known_rules(names: list[str]) -> frozenset[str]:
    from difflib import get_close_matches

    from ricordo.lint.rule import load_rules

    for name in names:
        if name not in load_rules():
            near = get_close_matches(name, load_rules(), n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise WrongUsage(f"Unknown rule “{name}”.{hint}")
    return frozenset(names)


class _Fixes(NamedTuple):
    """The fixes that were applied, or would be."""

    plan: FixPlan
    applied: bool
    merged: tuple[str, ...] = ()
    """Paths of files that were merged with changes by others."""


def _fix(options: Namespace, environment: Environment, only: frozenset[str]) -> _Fixes:
    """Fix the findings of the rules `only`; with `--diff` only plan the fixes."""
    from ricordo.cli.edit import begin_change
    from ricordo.cli.output import note_change, print_messages
    from ricordo.services.edits.change import apply_merging
    from ricordo.services.edits.fix import plan_fixes

    # with all rules: a fix for one rule must not cause findings of another one
    notebook = open_notebook(options, environment)
    memory = notebook.read() if options.diff else begin_change(notebook)
    snapshot = notebook.judge_with_evidence(memory)
    print_messages(notebook.take_messages())
    plan = plan_fixes(notebook, snapshot, unsafe=options.unsafe, only=only)
    if options.diff or not plan.change_set:
        return _Fixes(plan, applied=not options.diff)
    _, merged = apply_merging(notebook, plan.change_set, by_hand=False)
    note_change(f"fixed {', '.join(edit.path for edit in plan.change_set.edits)}")
    return _Fixes(plan, applied=True, merged=merged)


def _fix_lines(fixes: _Fixes) -> Iterator[str]:
    """Yield what was fixed, or diffs of the planned fixes; then what was not fixed."""
    from ricordo.cli.edit import render_edits, render_merged
    from ricordo.services.edits.fix import format_counts, format_diffs, format_fixed

    plan = fixes.plan
    if not fixes.applied:
        yield from format_diffs(plan)
    elif plan.change_set:
        yield from format_fixed(plan)
        yield from render_edits(plan.change_set.edits)
        yield from render_merged(fixes.merged)
    yield from (f"  {warning}" for warning in plan.change_set.warnings)
    yield from format_counts(plan, applied=fixes.applied)
    if fixes.applied and plan.change_set:
        yield "`ricordo undo` reverts this."


def _dismiss(notebook: Notebook, snapshot: Snapshot, finding_id: str, reason: str) -> int:
    from ricordo.cli.output import note_change, print_lines
    from ricordo.services.describe import format_finding

    known = {finding.id: finding for finding in (*snapshot.findings, *snapshot.dismissed)}
    if finding_id not in known:
        raise WrongUsage(f"No finding has the id “{finding_id}”; `lint --json` shows the ids.")
    notebook.dismiss(finding_id, reason)
    note_change(f"dismissed {finding_id}")
    print_lines([f"dismissed until its cause changes: {format_finding(known[finding_id])}"])
    return 0


def _print(options: Namespace, snapshot: Snapshot, fixes: _Fixes | None) -> None:
    from ricordo.cli.output import print_json, print_lines
    from ricordo.services.describe import (
        describe_finding,
        describe_summary,
        format_finding,
        format_summary,
    )
    from ricordo.services.load_description import describe_load, format_load

    memory = snapshot.memory
    if options.sarif:
        from ricordo.services.describe import build_sarif

        print_json(build_sarif(snapshot))
        if fixes:
            print_messages(list(_fix_lines(fixes)))
        return
    shown = [(finding, False) for finding in snapshot.findings]
    if options.dismissed:
        shown += [(finding, True) for finding in snapshot.dismissed]
    if options.json:
        document = {
            "memory": {
                "path": memory.root,
                "kind": memory.layout.kind,
                "notes": len(memory.notes),
                "bytes": memory.size,
            },
            "load": describe_load(memory, with_text=False),
            "findings": [describe_finding(f, dismissed=dismissed) for f, dismissed in shown],
            "summary": describe_summary(snapshot.counts),
        }
        print_json(document | _describe_fixes(fixes))
        return
    if fixes:
        # remaining findings are only counted; `lint` lists them
        print_lines(list(_fix_lines(fixes)))
    else:
        print_lines(
            [
                format_finding(f) + (" (dismissed)" if is_dismissed else "")
                for f, is_dismissed in shown
            ]
        )
    print_lines(
        [f"{len(memory.notes)} notes; {format_summary(snapshot)}; load {format_load(memory)}"]
    )


def _describe_fixes(fixes: _Fixes | None) -> dict[str, Any]:
    """Return the part of the JSON document on fixes; empty without --fix and --diff."""
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
