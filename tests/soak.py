"""`python -m tests.soak`: the tests at large figures, group after group.

A soak takes hours. A group that has passed is kept in `.soak/results.json` and is not run again
until the program changes, so an interrupted soak goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

from tests.figures import variable

CHECKOUT = Path(__file__).resolve().parent.parent
KEPT = CHECKOUT / ".soak"

Result = dict[str, Any]


class Group(NamedTuple):
    """Tests that are run together, and the figures at which they are run."""

    name: str
    paths: tuple[str, ...]
    """Files and folders; those that do not exist are left out."""
    figures: Mapping[str, int]


DOOR = (
    "case",
    "crash",
    "errors",
    "files",
    "held",
    "history",
    "places",
    "power",
    "race",
    "stateful",
)
GROUPS = (
    Group("memory", ("tests/unit/memory", "tests/unit/test_garbage.py"), {"examples": 100_000}),
    Group(
        "text",
        ("tests/unit/test_text.py", "tests/unit/test_git.py", "tests/unit/test_courtesy.py"),
        {"examples": 1_000_000},
    ),
    Group("settings", ("tests/unit/settings",), {"examples": 100_000}),
    Group("secrets", ("tests/unit/test_secrets.py",), {"examples": 100_000}),
    Group(
        "model",
        ("tests/unit/model",),
        {"examples": 100_000, "stateful": 2_000, "stateful_steps": 60},
    ),
    Group("disk", ("tests/unit/disk", "tests/faults/test_bad_files.py"), {"examples": 10_000}),
    Group(
        "door",
        tuple(f"tests/faults/test_door_{name}.py" for name in DOOR),
        {
            "random_kills": 500,
            "fallback_stride": 1,
            "agent_stride": 1,
            "errors": 5,
            "error_stride": 7,
            "strace_rounds": 20,
            "disk_sizes": 40,
            "power_stride": 1,
            "own_edits": 100,
            "race_seconds": 300,
            "held_open": 500,
            "held_open_seconds": 60,
            "held_stride": 1,
            "two_seconds": 60,
            "stateful": 2_000,
            "stateful_steps": 50,
        },
    ),
    Group(
        "curator",
        ("tests/unit/curator", "tests/unit/speech", "tests/faults/test_curation_crash.py"),
        {"examples": 10_000, "curation_stride": 1},
    ),
    Group(
        "handoff",
        ("tests/unit/handoff", "tests/faults/test_handing_off.py"),
        {"examples": 10_000},
    ),
    Group("health", ("tests/unit/health",), {"examples": 10_000, "hostile_bytes": 1_000_000}),
    Group(
        "recall",
        ("tests/unit/recall", "tests/faults/test_hook.py"),
        {"examples": 10_000, "damages": 500},
    ),
    Group("agents", ("tests/unit/agents", "tests/unit/activity"), {"examples": 10_000}),
    Group(
        "notebook",
        ("tests/unit/notebook", "tests/unit/cli"),
        {"examples": 1_000, "history_days": 365, "fault_seeds": 25},
    ),
    Group("tui", ("tests/unit/tui", "tests/tui"), {"examples": 1_000}),
    Group("late", ("tests/tui",), {"late_ms": 600}),
)


def fingerprint() -> str:
    """Return what tells two states of program and tests apart."""
    digest = hashlib.sha256()
    for folder in ("app", "tests", "themes", "sample_memory"):
        for path in sorted((CHECKOUT / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(str(path.relative_to(CHECKOUT)).encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def read_results() -> dict[str, Result]:
    """Return what earlier runs kept, by group."""
    try:
        kept: dict[str, Result] = json.loads((KEPT / "results.json").read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return kept


def keep_results(results: Mapping[str, Result]) -> None:
    """Keep `results`, so that a stop in the middle loses at most the group that is running."""
    KEPT.mkdir(exist_ok=True)
    new = KEPT / "results.json.new"
    new.write_text(json.dumps(results, indent=2) + "\n", "utf-8")
    new.replace(KEPT / "results.json")


def run_group(group: Group, scale: float) -> Result:
    """Run one group and return its figures."""
    figures = {name: max(1, int(value * scale)) for name, value in group.figures.items()}
    report = KEPT / f"{group.name}.xml"
    KEPT.mkdir(exist_ok=True)
    report.unlink(missing_ok=True)
    words = [sys.executable, "-m", "pytest", "-n", "auto", f"--junitxml={report}"]
    done = subprocess.run(
        [*words, *existing(group)],
        cwd=CHECKOUT,
        env=os.environ | {variable(name): str(value) for name, value in figures.items()},
        check=False,
    )
    return {"exit": done.returncode, "figures": figures, **counted(report)}


def existing(group: Group) -> list[str]:
    """Return the paths of a group under which there are tests."""
    return [path for path in group.paths if _has_tests(CHECKOUT / path)]


def _has_tests(path: Path) -> bool:
    return path.is_file() or any(path.rglob("test_*.py"))


def counted(report: Path) -> Result:
    """Return what pytest's report counted, and the figures that tests recorded in it."""
    try:
        suite = ElementTree.parse(report).getroot().find("testsuite")
    except (OSError, ElementTree.ParseError):
        suite = None
    if suite is None:
        return {"tests": 0, "failed": 0, "skipped": 0, "seconds": 0.0, "recorded": {}}
    return {
        "tests": int(suite.get("tests", 0)),
        "failed": int(suite.get("failures", 0)) + int(suite.get("errors", 0)),
        "skipped": int(suite.get("skipped", 0)),
        "seconds": float(suite.get("time", 0)),
        "recorded": {p.get("name"): p.get("value") for p in suite.iter("property")},
    }


def print_table(results: Mapping[str, Result]) -> None:
    """Print one row a group."""
    print(f"\n{'group':<10} {'tests':>6} {'failed':>6} {'skipped':>7} {'seconds':>8}  figures")
    for group in GROUPS:
        result = results.get(group.name)
        if result is None:
            print(f"{group.name:<10} {'no tests' if not existing(group) else 'not run'}")
            continue
        figures = {**result["figures"], **result["recorded"]}
        shown = ", ".join(f"{name} {value}" for name, value in figures.items())
        print(
            f"{group.name:<10} {result['tests']:>6} {result['failed']:>6} "
            f"{result['skipped']:>7} {result['seconds']:>8.0f}  {shown}"
        )


def main(words: Sequence[str] | None = None) -> int:
    """Run what has not passed yet; return 1 where a group fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("groups", nargs="*", help="only these groups", metavar="GROUP")
    parser.add_argument("--scale", type=float, default=1.0, help="multiply every figure")
    parser.add_argument("--again", action="store_true", help="forget what has passed")
    options = parser.parse_args(words)
    unknown = set(options.groups) - {group.name for group in GROUPS}
    if unknown:
        parser.error(f"no such group: {', '.join(sorted(unknown))}")
    chosen = [group for group in GROUPS if not options.groups or group.name in options.groups]
    state = {"of": fingerprint(), "scale": options.scale}
    results = {} if options.again else read_results()
    results = {name: result for name, result in results.items() if state.items() <= result.items()}
    for group in chosen:
        if existing(group) and results.get(group.name, {}).get("exit") != 0:
            results[group.name] = {**state, **run_group(group, options.scale)}
            keep_results(results)
    print_table(results)
    return int(any(results[g.name]["exit"] != 0 for g in chosen if g.name in results))


if __name__ == "__main__":
    sys.exit(main())
