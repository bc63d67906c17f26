"""`ricordo lint`: report and fix findings of a memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ricordo.cli.ids import pick_ids, refuse_no_ids, split_off_path
from ricordo.cli.output import print_messages
from ricordo.cli.parser import Command, add_project, with_project
from ricordo.cli.progress import set_phase
from ricordo.cli.workspace import (
    judge_with_evidence,
    load_settings_reported,
    read_snapshot_reported,
)
from ricordo.errors import MemoryNotFound, MemoryUnreadable, RicordoError, WrongUsage

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator, Sequence

    from ricordo.agents.agent import MemoryPlace
    from ricordo.services.edits.fix import FixPlan
    from ricordo.services.workspace.environment import Environment
    from ricordo.services.workspace.notebook import Notebook, Snapshot
    from ricordo.settings.settings import Settings

LINT_SUMMARY = """Report the findings of a memory, those to look at first with the line of the note.

Exits with 1 if one is at or over --fail-on. In parentheses each finding has its id; [*] marks what
--fix fixes. RULE is the name of a rule or the beginning of several, such as `index`."""


def _add_lint_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        metavar="PATH",
        nargs="*",
        help="memory directories, index files or projects (default: the current directory)",
    )
    parser.add_argument("-m", "--memory", metavar="PATH", help="the same as one PATH")
    parser.add_argument("--all", action="store_true", help="lint every memory on this machine")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON document")
    form.add_argument("--sarif", action="store_true", help="print one SARIF 2.1.0 document")
    form.add_argument("--statistics", action="store_true", help="only count the findings by rule")
    parser.add_argument("--full", action="store_true", help="print all findings")
    parser.add_argument(
        "--select",
        "--rule",
        dest="select",
        metavar="RULE",
        action="append",
        default=[],
        help="only these rules; may be repeated, or several with commas",
    )
    parser.add_argument(
        "--ignore", metavar="RULE", action="append", default=[], help="all rules but these"
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
    parser.add_argument(
        "--dismiss", nargs="+", action="extend", metavar="ID", help="dismiss these findings"
    )
    parser.add_argument("--reason", default="", help="with --dismiss: why, for the history")
    parser.add_argument("--dismissed", action="store_true", help="also list dismissed findings")


class _Run(NamedTuple):
    """What lints each memory: the command line, and what was read of the machine."""

    options: Namespace
    environment: Environment
    settings: Settings
    only: frozenset[str]
    """The rules to run; empty for all."""

    def open(self, place: MemoryPlace, only: frozenset[str] = frozenset()) -> Notebook:
        """Return the memory at `place`, with the rules `only` if there are any."""
        from ricordo.services.workspace.notebook import Notebook

        return Notebook(place, self.environment, self.settings, only)


class _Result(NamedTuple):
    """What was found in one memory, and fixed in it before."""

    snapshot: Snapshot
    fixes: _Fixes | None


def run_lint(options: Namespace, environment: Environment) -> int:
    """Print the findings; return 1 if one is at or over the severity of --fail-on, 3 if one of
    several memories cannot be read.
    """
    only = select_rules(options.select, options.ignore)
    environment = with_project(options, environment)
    if options.unsafe and not (options.fix or options.diff):
        raise WrongUsage("--unsafe needs --fix or --diff.")
    if options.diff and options.sarif:
        raise WrongUsage("--diff cannot be used with --sarif.")
    if options.reason and not options.dismiss:
        raise WrongUsage("--reason needs --dismiss.")
    if options.dismiss:
        options.dismiss, path = split_off_path(options.dismiss, options, environment)
        options.paths = options.paths or ([path] if path else [])
        refuse_no_ids(options.dismiss, "--dismiss")
    places = _find_places(options, environment)
    run = _Run(options, environment, load_settings_reported(environment), only)
    if options.dismiss:
        return _dismiss_in(places, run)
    results: list[_Result] = []
    errors: list[RicordoError] = []
    for place in places:
        try:
            results.append(_lint(run, place))
        except (MemoryNotFound, MemoryUnreadable) as error:
            if len(places) == 1:
                raise
            print_messages([error.message])
            errors.append(error)
    is_for_several = _is_for_several(options, places)
    _print(options, environment, results, errors, is_for_several=is_for_several)
    return errors[0].exit_code if errors else _exit_code(options.fail_on, results)


def select_rules(names: Sequence[str], ignored: Sequence[str]) -> frozenset[str]:
    """Return the rules to run, empty for all: those that `names` select but not those `ignored`.
    Each is a rule, the beginning of several, or some of these with commas. Raises WrongUsage.
    """
    from ricordo.lint.rule import load_rules

    chosen = _find_rules(names) or frozenset(load_rules())
    remaining = chosen - _find_rules(ignored)
    if not remaining:
        raise WrongUsage("--ignore leaves no rule to run.")
    return remaining if names or ignored else frozenset()


def _find_rules(names: Sequence[str]) -> frozenset[str]:
    from ricordo.lint.rule import load_rules
    from ricordo.suggestions import suggest
    from ricordo.text import make_one_line

    rules: set[str] = set()
    for name in (part.strip() for text in names for part in text.split(",")):
        # `duplicate` is a rule, and the beginning of `duplicate-name`
        found = [name] if name in load_rules() else [it for it in load_rules() if _begins(it, name)]
        if not found:
            hint = suggest(name, load_rules()) or "`ricordo rule` lists all rules."
            raise WrongUsage(f"Unknown rule “{make_one_line(name)}”.", hint=hint)
        rules.update(found)
    return frozenset(rules)


def _begins(rule: str, prefix: str) -> bool:
    return bool(prefix) and rule.startswith(prefix)


def _find_places(options: Namespace, environment: Environment) -> list[MemoryPlace]:
    """Return the memories to lint: those of the PATHs, each once, or with --all every one. Of a
    project with several memories they are all linted, but none is changed unless it is named.
    """
    from ricordo.services.workspace.places import (
        find_all_memories,
        find_each_memory,
        find_memory,
    )

    paths = [*options.paths, *([options.memory] if options.memory else [])]
    if options.all:
        if paths:
            raise WrongUsage("--all lints every memory; it takes no PATH.")
        return find_all_memories(environment)
    if options.fix or options.dismiss:
        places = [find_memory(path, environment) for path in paths or [None]]
    else:
        places = [it for path in paths or [None] for it in find_each_memory(path, environment)]
    return list({place.root: place for place in places}.values())


def _is_for_several(options: Namespace, places: Sequence[MemoryPlace]) -> bool:
    """Return whether the output is in the form for several memories, however many there are."""
    are_named = options.all or len(options.paths) + bool(options.memory) > 1
    return bool(are_named or len(places) > 1)


def _lint(run: _Run, place: MemoryPlace) -> _Result:
    fixes = _fix(run, place) if run.options.fix or run.options.diff else None
    return _Result(read_snapshot_reported(run.open(place, run.only)), fixes)


class _Fixes(NamedTuple):
    """The fixes that were applied, or would be."""

    plan: FixPlan
    applied: bool
    merged: tuple[str, ...] = ()
    """Paths of files that were merged with changes by others."""


def _fix(run: _Run, place: MemoryPlace) -> _Fixes:
    """Fix the findings of the selected rules; with `--diff` only plan the fixes."""
    from ricordo.cli.edit import begin_change
    from ricordo.cli.output import note_change, print_messages
    from ricordo.services.edits.change import apply_merging
    from ricordo.services.edits.fix import plan_fixes

    # with all rules: a fix for one rule must not cause findings of another one
    options, notebook = run.options, run.open(place)
    set_phase("reading notes")
    memory = notebook.read() if options.diff else begin_change(notebook)
    snapshot = judge_with_evidence(notebook, memory)
    print_messages(notebook.take_messages())
    set_phase("planning fixes")
    plan = plan_fixes(notebook, snapshot, unsafe=options.unsafe, only=run.only)
    if options.diff or not plan.change_set:
        return _Fixes(plan, applied=not options.diff)
    _, merged = apply_merging(notebook, plan.change_set, by_hand=False)
    note_change(f"fixed {', '.join(edit.path for edit in plan.change_set.edits)}")
    return _Fixes(plan, applied=True, merged=merged)


def _fix_lines(fixes: _Fixes, directory: str = "") -> Iterator[str]:
    """Yield what was fixed, or diffs of the planned fixes to apply in `directory`; then what was
    not fixed.
    """
    from ricordo.cli.change import render_edits, render_merged
    from ricordo.services.edits.fix import format_counts, format_diffs, format_fixed

    plan = fixes.plan
    if not fixes.applied:
        yield from format_diffs(plan, directory)
    elif plan.change_set:
        yield from format_fixed(plan)
        yield from render_edits(plan.change_set.edits)
        yield from render_merged(fixes.merged)
    yield from (f"  {warning}" for warning in plan.change_set.warnings)
    yield from format_counts(plan, applied=fixes.applied)
    if fixes.applied and plan.change_set:
        yield "`ricordo undo` reverts this."


def _dismiss_in(places: Sequence[MemoryPlace], run: _Run) -> int:
    """Dismiss findings in the one memory that was named."""
    if len(places) != 1:
        raise WrongUsage("--dismiss needs one memory.")
    notebook = run.open(places[0], run.only)
    return _dismiss(run.options, notebook, read_snapshot_reported(notebook))


def _dismiss(options: Namespace, notebook: Notebook, snapshot: Snapshot) -> int:
    from ricordo.cli.change import Changed, print_change
    from ricordo.cli.output import note_change
    from ricordo.services.describe import format_finding

    listed = (*snapshot.causes, *snapshot.dismissed_causes)
    known = {one.id: one for finding in listed for one in (*finding.members, finding)}
    ids = pick_ids(options.dismiss, known, "finding", "`lint --full` shows the ids.")
    for id in ids:
        notebook.dismiss(id, options.reason)
        note_change(f"dismissed {id}")
    findings = [known[id] for id in ids]
    shown = [f"dismissed until its cause changes: {format_finding(each)}" for each in findings]
    changed = [Changed("dismissed", each.path or None, id=each.id) for each in findings]
    print_change(options, shown[0], changed, details=shown[1:])
    return 0


def _print(
    options: Namespace,
    environment: Environment,
    results: Sequence[_Result],
    errors: Sequence[RicordoError],
    *,
    is_for_several: bool,
) -> None:
    if options.sarif:
        _print_sarif(results)
    elif options.json:
        from ricordo.cli.output import describe_error, print_json

        documents = [_describe(options, result) for result in results]
        unread = [describe_error(error)["error"] for error in errors]
        several = {"memories": documents, "errors": unread}
        print_json(several if is_for_several else documents[0], "lint")
    else:
        _print_text(options, environment, results)


def _print_sarif(results: Sequence[_Result]) -> None:
    """Print one log, with one run for each memory; what was fixed goes to stderr."""
    from ricordo.cli.output import print_document
    from ricordo.services.sarif import build_sarif

    logs = [build_sarif(result.snapshot) for result in results]
    runs = [run for log in logs for run in log["runs"]]
    head = logs[0] if logs else {"version": "2.1.0"}
    print_document({**head, "runs": runs})
    for result in results:
        if result.fixes:
            print_messages(list(_fix_lines(result.fixes)))


def _describe(options: Namespace, result: _Result) -> dict[str, Any]:
    """Return the JSON document of one memory, always with all findings."""
    from ricordo.lint.excerpt import find_span
    from ricordo.services.describe import describe_finding, describe_summary
    from ricordo.services.load_description import describe_load

    snapshot, fixes = result
    memory = snapshot.memory
    listed = [(finding, False) for finding in snapshot.causes]
    if options.dismissed:
        listed += [(finding, True) for finding in snapshot.dismissed_causes]
    document = {
        "schema": "ricordo.lint/1",
        "memory": {
            "path": memory.root,
            "kind": memory.layout.kind,
            "notes": len(memory.notes),
            "bytes": memory.size,
        },
        "load": describe_load(memory),
        "findings": [
            describe_finding(finding, dismissed=dismissed) | {"column": span[0] + 1 if span else 0}
            for finding, dismissed in listed
            for span in [find_span(finding, memory.by_path.get(finding.path))]
        ],
        "summary": describe_summary(snapshot.counts),
        "attention": snapshot.needs_attention,
    }
    return document | _describe_fixes(fixes, memory.root)


def _describe_fixes(fixes: _Fixes | None, root: str) -> dict[str, Any]:
    """Return the part of the JSON document on fixes; empty without --fix and --diff."""
    from ricordo.cli.change import describe_change, list_changed
    from ricordo.services.edits.fix import describe_fixes

    if not fixes:
        return {}
    described = {"fixes": describe_fixes(fixes.plan, applied=fixes.applied)}
    if not fixes.applied:
        return described
    plan = fixes.plan
    done = f"fixed {len(plan.fixed)} findings" if plan.fixed else ""
    changed = list_changed(plan.change_set.edits, root)
    warnings = plan.change_set.warnings
    return described | describe_change(done, changed, merged=fixes.merged, warnings=warnings)


def _print_text(options: Namespace, environment: Environment, results: Sequence[_Result]) -> None:
    from ricordo.cli.lint_report import LintReport
    from ricordo.cli.output import is_quiet

    snapshots = [result.snapshot for result in results]
    report = LintReport(options, snapshots, environment.cwd)
    for result in results:
        if result.fixes:
            lines = list(_fix_lines(result.fixes, environment.cwd))
            report.print_fixes(result.snapshot, lines)
    if not any(result.fixes for result in results):
        report.print_findings()
    if not is_quiet():
        report.print_end()


def _exit_code(fail_on: str, results: Sequence[_Result]) -> int:
    from ricordo.lint.finding import SEVERITY_WORDS

    if fail_on == "never":
        return 0
    threshold = SEVERITY_WORDS[fail_on]
    findings = (finding for result in results for finding in result.snapshot.findings)
    return int(any(finding.severity >= threshold for finding in findings))


COMMANDS = {
    "lint": Command(LINT_SUMMARY, _add_lint_arguments, run_lint, ("--fix", "--dismiss")),
}
