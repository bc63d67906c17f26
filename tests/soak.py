"""`python -m tests.soak`: the tests at large figures, group after group; then `make test` on fresh
clones of the last commit, each on a machine that is unusual in some way.

A soak takes hours. A group that has passed is kept in `.soak/results.json` and is not run again
until the program changes, so an interrupted soak goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import pwd
import shutil
import string
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

from tests.support.figures import variable

CHECKOUT = Path(__file__).resolve().parent.parent
KEPT = CHECKOUT / ".soak"

Result = dict[str, Any]


class Group(NamedTuple):
    """Tests that are run together, and the figures at which they are run."""

    name: str
    paths: tuple[str, ...]
    """Files and folders; those that do not exist are left out."""
    figures: Mapping[str, int]
    programs: tuple[str, ...] = ()
    """Programs without which its tests check nothing."""


class Clone(NamedTuple):
    """A fresh clone in which `make test` is run, and what is unusual about the machine."""

    name: str
    environ: Mapping[str, str | None] = {}
    """Variables of the environment that are set; those that are None are unset."""
    temporary: str = ""
    """Where temporary files are: "short", "long" (with a space), or "" for the usual place."""
    processes: int = 0
    """How many of them run tests; 0 for as many as usual."""
    user: str = ""
    """The user who runs it; "" for the one who runs the soak."""


WRITER = (
    "case",
    "crash",
    "errors",
    "files",
    "held",
    "history",
    "places",
    "power",
    "race",
    "repair",
    "stateful",
)
GROUPS = (
    Group("memory", ("tests/unit/memory", "tests/unit/test_gc_pause.py"), {"examples": 100_000}),
    Group(
        "text",
        (
            "tests/unit/test_text.py",
            "tests/unit/test_lexicon.py",
            "tests/unit/test_git.py",
            "tests/unit/test_throttle.py",
        ),
        {"examples": 1_000_000},
    ),
    Group("settings", ("tests/unit/settings",), {"examples": 100_000}),
    Group("secrets", ("tests/unit/test_secrets.py",), {"examples": 100_000}),
    Group(
        "llm",
        ("tests/unit/llm",),
        {"examples": 100_000, "stateful": 2_000, "stateful_steps": 60},
    ),
    Group(
        "storage", ("tests/unit/storage", "tests/faults/test_bad_files.py"), {"examples": 10_000}
    ),
    Group(
        "writer",
        tuple(f"tests/faults/test_writer_{name}.py" for name in WRITER),
        {
            "random_kills": 500,
            "kill_stride": 1,
            "fault_stride": 1,
            "fallback_stride": 1,
            "repair_stride": 1,
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
        "curation",
        ("tests/unit/curation", "tests/unit/extraction", "tests/faults/test_curation_crash.py"),
        {"examples": 10_000, "curation_stride": 1},
    ),
    Group(
        "handoff",
        ("tests/unit/handoff", "tests/faults/test_handing_off.py"),
        {"examples": 10_000},
    ),
    Group("lint", ("tests/unit/lint",), {"examples": 10_000, "hostile_bytes": 1_000_000}),
    Group(
        "search",
        (
            "tests/unit/search",
            "tests/unit/hook",
            "tests/faults/test_hook.py",
            "tests/faults/test_hook_events.py",
            "tests/faults/test_hook_leaks.py",
        ),
        {"examples": 10_000, "damages": 500},
    ),
    Group("agents", ("tests/unit/agents",), {"examples": 10_000}),
    Group(
        "mcp",
        ("tests/unit/mcp", "tests/faults/test_mcp.py"),
        {"hostile_requests": 1_000, "inspector": 1},
        ("npm", "node"),
    ),
    Group(
        "services",
        ("tests/unit/services", "tests/unit/cli"),
        {"examples": 1_000, "history_days": 365, "fault_seeds": 25},
    ),
    Group("shells", ("tests/shells",), {"shell_names": 100}),
    Group("packaging", ("tests/packaging",), {"pythons": 1}),
    Group("printing", ("tests/contract/test_printing.py",), {"printing": 1, "all_cases": 1}),
    Group("sarif", ("tests/contract/test_sarif.py",), {"sarif_tool": 1}, ("npm", "node")),
    Group("tui", ("tests/unit/tui", "tests/tui"), {"examples": 1_000}),
    Group("late", ("tests/tui",), {"late_ms": 600}),
    Group("cases", ("tests",), {"all_cases": 1, "expression_stride": 1}),
)
CLONES = (
    Clone("clone"),
    Clone("clone-short", temporary="short", processes=1),
    Clone("clone-long", {"TZ": "Asia/Kolkata", "LC_ALL": "C"}, temporary="long"),
    Clone("clone-home", {"HOME": None}, processes=8),
    Clone("clone-user", user="nobody"),
)
_ALL_CLONES = "clones"
_LONG = "a long path of a folder for temporary files, with spaces in it"
_USUAL = "/tmp"
"""Where temporary files are by default, and everybody may make some."""
_OF_MAKE = ("MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MFLAGS", "JOBS", "TESTS", "VIRTUAL_ENV")
"""Variables that a clone would not have if the soak had not been started by make."""


def fingerprint() -> str:
    """Return what tells two states of program and tests apart."""
    digest = hashlib.sha256()
    folders = (CHECKOUT / name for name in ("app", "tests", "themes", "sample_memory"))
    files = [path for folder in folders for path in sorted(folder.rglob("*"))]
    files += [CHECKOUT / name for name in ("Makefile", "constraints.txt", "pyproject.toml")]
    for path in files:
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(str(path.relative_to(CHECKOUT)).encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


_NOT_CHECKED = "not checked: "
"""How the reason begins for which a test is skipped that lacks a tool."""


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


def run_clone(clone: Clone) -> Result:
    """Run `make test` in a fresh clone, and return its figures."""
    with (
        tempfile.TemporaryDirectory(
            prefix="ricordo-soak-", dir=_USUAL, ignore_cleanup_errors=True
        ) as made,
        _temporary_folder(clone.temporary) as temporary,
    ):
        place, home, reports = (Path(made, name) for name in ("clone", "home", "reports"))
        subprocess.run(["git", "clone", "--quiet", str(CHECKOUT), str(place)], check=True)
        home.mkdir()
        reports.mkdir()
        changed = dict(clone.environ)
        if temporary:
            changed["TMPDIR"] = temporary
        if clone.user:
            changed = {"TMPDIR": None, "HOME": str(home), "USER": clone.user, **changed}
            _give(Path(made), clone.user)
        report = reports / "tests.xml"
        environ = {**os.environ, **dict.fromkeys(_OF_MAKE), **changed}
        environ["PYTEST_ADDOPTS"] = f"--junitxml={report}"
        done = subprocess.run(
            ["make", "test", *([f"JOBS={clone.processes}"] if clone.processes else [])],
            cwd=place,
            env={name: value for name, value in environ.items() if value is not None},
            check=False,
            **_as_user(clone.user),
        )
        figures = {
            "user": clone.user or pwd.getpwuid(os.geteuid()).pw_name,
            "processes": clone.processes or "usual",
            **{name: "unset" if value is None else value for name, value in changed.items()},
        }
        return {"exit": done.returncode, "figures": figures, **counted(report)}


@contextmanager
def _temporary_folder(length: str) -> Iterator[str]:
    """Make a folder for temporary files whose path is of that length, give its path, and remove it
    at the end; give "" where it is to be the usual one.
    """
    if not length:
        yield ""
        return
    top = _shortest_folder() if length == "short" else Path(tempfile.mkdtemp(dir=_USUAL))
    folder = top if length == "short" else top / _LONG
    folder.mkdir(exist_ok=True)
    try:
        yield str(folder)
    finally:
        shutil.rmtree(top, ignore_errors=True)


def _shortest_folder() -> Path:
    """Make a folder with as short a path as this user can make."""
    for path in (Path(top, name) for top in ("/", _USUAL) for name in string.ascii_lowercase):
        with suppress(OSError):
            path.mkdir()
            return path
    raise SystemExit(f"No folder with a short path can be made in {_USUAL}.")


def _give(top: Path, user: str) -> None:
    """Let `top` and all that is in it belong to `user`."""
    entry = pwd.getpwnam(user)
    for path in (top, *top.rglob("*")):
        os.chown(path, entry.pw_uid, entry.pw_gid, follow_symlinks=False)


def _as_user(user: str) -> dict[str, Any]:
    """Return the options by which a process is started as `user`; none for ""."""
    if not user:
        return {}
    entry = pwd.getpwnam(user)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def find_obstacle(group: Group | Clone) -> str:
    """Return why `group` cannot be run; "" where it can."""
    if isinstance(group, Group):
        missing = [program for program in group.programs if shutil.which(program) is None]
        reason = f"not checked: no {', no '.join(missing)}" if missing else ""
        return reason if existing(group) else "no tests"
    if group.user and os.geteuid() != 0:
        return "not run: needs root"
    words = ["git", "status", "--porcelain"]
    status = subprocess.run(words, cwd=CHECKOUT, capture_output=True, check=False)
    if status.returncode:
        return "not run: needs a checkout of git"
    return "not run: needs a commit, for a clone has no other changes" if status.stdout else ""


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
    skipped = [it.get("message") or "" for it in suite.iter("skipped")]
    return {
        "tests": int(suite.get("tests", 0)),
        "failed": int(suite.get("failures", 0)) + int(suite.get("errors", 0)),
        "skipped": int(suite.get("skipped", 0)),
        "seconds": float(suite.get("time", 0)),
        "recorded": {p.get("name"): p.get("value") for p in suite.iter("property")},
        "not checked": sorted({text for text in skipped if text.startswith(_NOT_CHECKED)}),
    }


def print_table(results: Mapping[str, Result]) -> None:
    """Print one row a group."""
    print(f"\n{'group':<11} {'tests':>6} {'failed':>6} {'skipped':>7} {'seconds':>8}  figures")
    for group in (*GROUPS, *CLONES):
        result = results.get(group.name)
        if result is None:
            print(f"{group.name:<11} {find_obstacle(group) or 'not run'}")
            continue
        figures = {**result["figures"], **result["recorded"]}
        if result["exit"]:
            figures = {"exit": result["exit"], **figures}
        shown = ", ".join(f"{name} {value}" for name, value in figures.items())
        print(
            f"{group.name:<11} {result['tests']:>6} {result['failed']:>6} "
            f"{result['skipped']:>7} {result['seconds']:>8.0f}  {shown}"
        )
        for text in result.get("not checked", ()):
            print(f"{'':<11} {text}")


def main(words: Sequence[str] | None = None) -> int:
    """Run what has not passed yet; return 1 where a group fails or a clone cannot be made."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    help_on_groups = f"only these groups; “{_ALL_CLONES}” for all fresh clones"
    parser.add_argument("groups", nargs="*", help=help_on_groups, metavar="GROUP")
    parser.add_argument("--scale", type=float, default=1.0, help="multiply every figure")
    parser.add_argument("--again", action="store_true", help="forget what has passed")
    options = parser.parse_args(words)
    groups: dict[str, Group | Clone] = {it.name: it for it in (*GROUPS, *CLONES)}
    names = set(options.groups or groups)
    if _ALL_CLONES in names:
        names = (names - {_ALL_CLONES}) | {clone.name for clone in CLONES}
    if unknown := names - set(groups):
        parser.error(f"no such group: {', '.join(sorted(unknown))}")
    chosen = [group for name, group in groups.items() if name in names]
    state = {"of": fingerprint(), "scale": options.scale}
    results = {} if options.again else read_results()
    results = {name: result for name, result in results.items() if state.items() <= result.items()}
    for group in chosen:
        if results.get(group.name, {}).get("exit") != 0 and not find_obstacle(group):
            if isinstance(group, Clone):
                result = run_clone(group)
            else:
                result = run_group(group, options.scale)
            results[group.name] = {**state, **result}
            keep_results(results)
    print_table(results)
    due = [group for group in chosen if isinstance(group, Clone) or existing(group)]
    return int(any(results.get(group.name, {}).get("exit") != 0 for group in due))


if __name__ == "__main__":
    sys.exit(main())
