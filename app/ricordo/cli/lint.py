"""`ricordo lint`: what is wrong with a memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ricordo.cli.arguments import add_memory, add_project, with_project
from ricordo.cli.opening import look_reported, open_notebook
from ricordo.errors import WrongUsage

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from ricordo.notebook.open import Look, Notebook
    from ricordo.notebook.surroundings import Surroundings

SUMMARY = "What is wrong with a memory. Ends with 1 where something is at or over --fail-on."


def add_arguments(parser: ArgumentParser) -> None:
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
    parser.add_argument("--fix", action="store_true", help="mend what can be mended safely")
    parser.add_argument(
        "--unsafe", action="store_true", help="with --fix: also what a person should see first"
    )
    parser.add_argument("--dismiss", metavar="ID", help="say of this finding that it is fine")
    parser.add_argument("--reason", default="", help="why it is fine")
    parser.add_argument(
        "--dismissed", action="store_true", help="list the dismissed findings as well"
    )


def run(options: Namespace, surroundings: Surroundings) -> int:
    """Print the findings; return 1 where one is at or over the severity asked for."""
    only = _known_rules(options.rule)
    surroundings = with_project(options, surroundings)
    if options.fix:
        _mend(options, surroundings, only)
    elif options.unsafe:
        raise WrongUsage("--unsafe goes with --fix.")
    notebook = open_notebook(options, surroundings, only)
    look = look_reported(notebook)
    if options.dismiss:
        return _dismiss(notebook, look, options.dismiss, options.reason)
    _print(options, look)
    return _exit_code(options.fail_on, look)


def _known_rules(names: list[str]) -> frozenset[str]:
    from difflib import get_close_matches

    from ricordo.health.rule import all_rules

    for name in names:
        if name not in all_rules():
            near = get_close_matches(name, all_rules(), n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise WrongUsage(f"There is no rule “{name}”.{hint}")
    return frozenset(names)


def _mend(options: Namespace, surroundings: Surroundings, only: frozenset[str]) -> None:
    """Mend what the rules `only` find and can be mended, and say on stderr what was done."""
    from ricordo.cli.changing import begin_reported, told_edits
    from ricordo.cli.output import note_change, print_errors, tell
    from ricordo.notebook.change import apply_at_once
    from ricordo.notebook.fix import plan_fixes
    from ricordo.notebook.report import finding_line
    from ricordo.text import one_line, visible

    # by all rules: what is mended for one of them must bring nothing that another one finds
    notebook = open_notebook(options, surroundings)
    look = notebook.judge_closely(begin_reported(notebook))
    tell(notebook.take_notices())
    plan = plan_fixes(notebook, look, unsafe=options.unsafe, only=only)
    lines: list[str] = []
    if plan.change_set:
        _, merged = apply_at_once(notebook, plan.change_set, by_hand=False)
        note_change(f"fixed {', '.join(edit.path for edit in plan.change_set.edits)}")
        lines += [f"mended: {finding_line(finding)}" for finding in plan.mended]
        lines += told_edits(plan.change_set.edits)
        lines += [f"  {one_line(path)}: merged with what somebody else wrote" for path in merged]
        lines += [f"  {remark}" for remark in plan.change_set.remarks]
    lines += [f"left: {finding_line(left.finding)}: {visible(left.why)}" for left in plan.left]
    lines.append(f"{len(plan.mended)} mended, {len(plan.left)} left")
    if plan.change_set:
        lines.append("`ricordo undo` takes it back.")
    print_errors(lines)


def _dismiss(notebook: Notebook, look: Look, finding_id: str, reason: str) -> int:
    from ricordo.cli.output import note_change, print_lines
    from ricordo.notebook.report import finding_line

    known = {finding.id: finding for finding in (*look.findings, *look.dismissed)}
    if finding_id not in known:
        raise WrongUsage(f"No finding has the id “{finding_id}”; `lint --json` shows the ids.")
    notebook.dismiss(finding_id, reason)
    note_change(f"dismissed {finding_id}")
    print_lines([f"dismissed until its cause changes: {finding_line(known[finding_id])}"])
    return 0


def _print(options: Namespace, look: Look) -> None:
    from ricordo.cli.output import print_json, print_lines
    from ricordo.notebook.describe import describe_finding, describe_load, describe_summary
    from ricordo.notebook.report import finding_line, load_line, summary_line

    memory = look.memory
    if options.sarif:
        from ricordo.notebook.sarif import sarif

        print_json(sarif(look))
        return
    shown = [(finding, False) for finding in look.findings]
    if options.dismissed:
        shown += [(finding, True) for finding in look.dismissed]
    if options.json:
        print_json(
            {
                "memory": {
                    "path": memory.root,
                    "kind": memory.layout.kind.value,
                    "notes": len(memory.notes),
                    "bytes": memory.size,
                },
                "load": describe_load(memory, with_text=False),
                "findings": [describe_finding(f, dismissed=gone) for f, gone in shown],
                "summary": describe_summary(look.counts),
            }
        )
        return
    print_lines(
        [finding_line(finding) + (" (dismissed)" if gone else "") for finding, gone in shown]
    )
    print_lines([f"{len(memory.notes)} notes; {summary_line(look)}; load {load_line(memory)}"])


def _exit_code(fail_on: str, look: Look) -> int:
    from ricordo.health.finding import SEVERITY_WORDS

    if fail_on == "never":
        return 0
    threshold = SEVERITY_WORDS[fail_on]
    return int(any(finding.severity >= threshold for finding in look.findings))
