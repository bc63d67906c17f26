"""The faults that are planted in the sample memory: how many each rule finds, what else it says.

Run with `python -m tests.benchmarks.planted`. What is planted, and what looks like a fault and is
none, is read from `docs/sample.md`. The project gets a git history of its own, whose one commit
after the notes touches the file that `docs/sample.md` names for `changed-since`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from shutil import copytree
from typing import NamedTuple

from ricordo.lint.finding import Finding
from ricordo.lint.rule import load_rules
from ricordo.services.workspace.environment import load_environment
from ricordo.services.workspace.notebook import Notebook
from ricordo.services.workspace.places import find_memory
from ricordo.services.workspace.settings import load_settings

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = REPOSITORY / "docs" / "sample.md"
SAMPLE = REPOSITORY / "sample_memory"
NOW = "2026-11-20T12:00:00+00:00"
MEMORIES = ("memory", "wiki", "home/.claude/agent-memory/code-reviewer")
PLANTED, SILENT = "## What is planted", "## What looks like a fault and is none"
PAIRS = frozenset(("duplicate", "contradiction", "duplicate-name"))
"""Rules on two notes: a finding at either note counts."""
SAID_TWICE = frozenset((("contradiction", "lost-correction"),))
"""Rules of which the first may also name what the second is planted for."""
_PATH = re.compile(r"`([^`]+\.md)`")
_FORMER = "predict_height"
"""The name that a function had when the notes were written."""
_LATE = "tests/test_report.py"
"""The file of which `docs/sample.md` says that it came after the note that misses it."""


class Row(NamedTuple):
    """One row of a table of `docs/sample.md`."""

    rule: str
    path: str
    """Relative to `sample_memory/`."""
    line: int
    text: str

    @property
    def places(self) -> frozenset[str]:
        """The files that the row names."""
        others = (_in_sample(path) for path in _PATH.findall(self.text))
        return frozenset((self.path, *others))


class Score(NamedTuple):
    """How a rule did."""

    planted: int
    found: int
    """How many of the planted faults were found."""
    told: int
    """How many findings there are in all."""
    true: int

    @property
    def precision(self) -> float:
        """The share of findings that are true; 1 where nothing was told."""
        return self.true / self.told if self.told else 1.0

    @property
    def recall(self) -> float:
        """The share of the planted faults that were found; 1 where none is planted."""
        return self.found / self.planted if self.planted else 1.0


def _in_sample(path: str) -> str:
    return path if (SAMPLE / path).exists() else f"memory/{path}"


def rows_below(heading: str) -> list[Row]:
    """Return the rows of the table below a heading of `docs/sample.md`."""
    _, _, behind = PAGE.read_text("utf-8").partition(f"{heading}\n")
    table = behind.partition("\n## ")[0]
    cells = [line.strip("|").split("|") for line in table.split("\n") if line.startswith("|")]
    return [
        Row(rule.strip(), path.strip(), int(line), text)
        for rule, path, line, text in ((*row[:3], "|".join(row[3:])) for row in cells[2:])
    ]


def findings_of(folder: Path, home: Path) -> Iterator[tuple[str, Finding]]:
    """Yield the findings of the memories of the sample in `folder`, each with the path of its file
    in the sample.
    """
    environment = load_environment(
        {"HOME": str(home), "PATH": os.environ["PATH"]},
        state=str(home / "state"),
        now=NOW,
        agent_home=str(folder / "home"),
    )._replace(project=str(folder / "project"))
    settings, _ = load_settings(environment)
    for name in MEMORIES:
        place = find_memory(str(folder / name), environment)
        root = os.path.relpath(place.root, os.path.realpath(folder))
        for finding in (
            Notebook(place, environment, settings).read_snapshot_with_evidence().findings
        ):
            yield f"{root}/{finding.path}", finding


def is_found(row: Row, told: Iterable[tuple[str, Finding]]) -> bool:
    """Say whether one of the findings of the row's rule is the planted fault."""
    return any(_is_it(row, path, finding) for path, finding in told)


def _is_it(row: Row, path: str, finding: Finding) -> bool:
    if finding.rule != row.rule:
        return False
    if row.rule in PAIRS:
        return path in row.places
    return path == row.path and row.line in (0, finding.line)


def scores(told: list[tuple[str, Finding]]) -> Mapping[str, Score]:
    """Return how each rule did that `docs/sample.md` lists or that found anything."""
    rows = rows_below(PLANTED)
    by_rule: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_rule[row.rule].append(row)
    found: dict[str, Score] = {}
    for rule in sorted({*by_rule, *(finding.rule for _, finding in told)}):
        own = [item for item in told if item[1].rule == rule]
        planted = by_rule[rule]
        true = [item for item in own if _is_true(item, rows)]
        hit = sum(1 for row in planted if is_found(row, own))
        found[rule] = Score(len(planted), hit, len(own), len(true))
    return found


def _is_true(item: tuple[str, Finding], rows: list[Row]) -> bool:
    path, finding = item
    if any(_is_it(row, path, finding) for row in rows):
        return True
    if finding.rule == "changed-since":
        # the commits are of our making: whoever names their files was written before them
        touched = next(row.text for row in rows if row.rule == "changed-since") + _LATE
        return any(text.partition(":")[0] in touched for text in finding.evidence)
    others = {second for first, second in SAID_TWICE if first == finding.rule}
    return any(row.rule in others and path in row.places for row in rows)


def false_alarms(told: list[tuple[str, Finding]]) -> list[str]:
    """Return the look-alikes of `docs/sample.md` at which a rule spoke up."""
    return [
        f"{row.rule} {row.path}:{row.line}"
        for row in rows_below(SILENT)
        for path, finding in told
        if finding.rule == row.rule and path == row.path and row.line in (0, finding.line)
        if not any(_is_it(each, path, finding) for each in rows_below(PLANTED))
    ]


def with_history(folder: Path) -> None:
    """Make the project in `folder` a git repository, as `docs/sample.md` describes it."""
    touched = folder / "tidepool" / "harmonics.py"
    text = touched.read_text("utf-8")
    touched.write_text(text.replace("height_at", _FORMER), "utf-8")
    _git(folder, "2026-07-01T09:00:00+0000", "init", "--quiet")
    _git(folder, "2026-07-01T09:00:00+0000", "add", "--all")
    _git(folder, "2026-07-01T09:00:00+0000", "reset", "--quiet", "--", _LATE)
    _git(folder, "2026-07-01T09:00:00+0000", "commit", "--quiet", "-m", "Tides and berths")
    touched.write_text(text + "\n# Checked against the almanac.\n", "utf-8")
    _git(
        folder, "2026-09-20T09:00:00+0000", "commit", "--quiet", "-am", "Note where it was checked"
    )
    _git(folder, "2026-11-02T09:00:00+0000", "add", "--all")
    _git(folder, "2026-11-02T09:00:00+0000", "commit", "--quiet", "-m", "Test the report")


def _git(folder: Path, at: str, *words: str) -> None:
    who = {
        f"GIT_{role}_{what}": "ana"
        for role in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    when = {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at}
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), **who, **when}
    subprocess.run(("git", *words), cwd=folder, env=environment, check=True)


def told_of_sample() -> list[tuple[str, Finding]]:
    """Return all findings of a throwaway copy of the sample memory."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "sample")
        copytree(SAMPLE, folder)
        with_history(folder / "project")
        return list(findings_of(folder, Path(scratch)))


def main() -> int:
    """Print precision and recall by rule, then what was told wrongly and what was not found."""
    told = told_of_sample()
    print(f"{'rule':<24} {'planted':>7} {'found':>6} {'told':>5} {'precision':>10} {'recall':>7}")
    for rule, score in scores(told).items():
        print(
            f"{rule:<24} {score.planted:>7} {score.found:>6} {score.told:>5}"
            f" {score.precision:>10.2f} {score.recall:>7.2f}"
        )
    rows = rows_below(PLANTED)
    known = load_rules()
    for row in rows:
        if not is_found(row, told):
            why = "" if row.rule in known else " (no such rule)"
            print(f"not found: {row.rule} {row.path}:{row.line}{why}")
    for path, finding in told:
        if not _is_true((path, finding), rows):
            print(f"not planted: {finding.rule} {path}:{finding.line} {finding.message}")
    for alarm in false_alarms(told):
        print(f"false alarm: {alarm}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
