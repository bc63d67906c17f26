"""`python -m tests.benchmarks.commands [MEMORY]`: whole commands on a memory with its project.

Without MEMORY, 121 synthetic notes lie in a git repository with a copy of Ricordo's code, and half
of them name files of it. References are P, `python -c pass`, and C, its processor time; it and
every command take turns, so that whatever else the machine does slows all of them.
"""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks.generate import generate
from tests.benchmarks.measure import (
    CHECKOUT,
    REPEATS,
    Reference,
    Row,
    median,
    print_row,
    process_time,
)
from tests.benchmarks.stage import RICORDO, clean_environ

NOTES = 121
P = "P"
CHANGED = "  after one note changed"
FIRST = "  for the first time"
TARGETS: Mapping[str, float | None] = {
    "ricordo lint, again": 50,
    CHANGED: None,
    FIRST: None,
    "ricordo load": 8,
    "ricordo search": 12,
    "ricordo list": None,
    "ricordo list --short": 3,
}
"""In P, by command."""


class Duration(NamedTuple):
    """How long a process took, in seconds."""

    seconds: float
    processor: float
    """Of its processor time."""


def make_memory(folder: Path) -> Path:
    """Return a new memory inside a project in `folder`."""
    project = folder / "project"
    shutil.copytree(CHECKOUT / "app", project / "app", ignore=shutil.ignore_patterns("__pycache__"))
    memory = project / ".claude" / "memory"
    generate(memory, NOTES)
    code = sorted(path.relative_to(project).as_posix() for path in project.rglob("*.py"))
    notes = sorted(path for path in memory.iterdir() if path.name != "MEMORY.md")
    for number, note in enumerate(notes[::2]):
        path = code[number * 7 % len(code)]
        gone = path.replace(".py", "_old.py")
        with note.open("a", encoding="utf-8") as file:
            file.write(f"\nIt is in `{path}`, no longer in `{gone}`; `{gone}` was it.\n")
    git = ["git", "-c", "user.name=Ana", "-c", "user.email=ana@example.org"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "begin"]):
        subprocess.run([*git, *words], cwd=project, check=True)
    return memory


def commands(memory: Path, home: Path) -> Mapping[str, Callable[[], Duration]]:
    """Return what is measured, by name; each returns how long it took."""
    environ = clean_environ(home, "state")
    note = next(path for path in sorted(memory.iterdir()) if path.name != "MEMORY.md")
    word = note.stem.replace("-", "_").split("_")[0]
    lint = [RICORDO, "lint", "--fail-on", "never", str(memory)]
    search = [RICORDO, "search", word, str(memory)]
    counted = 0

    def lint_changed() -> Duration:
        nonlocal counted
        counted += 1
        with note.open("a", encoding="utf-8") as file:
            file.write(f"\nThis is line {counted}.\n")
        took = measured(lint, environ)
        for words in (lint, search):
            # for what is measured next, nothing has changed
            measured(words, environ)
        return took

    def lint_first() -> Duration:
        nonlocal counted
        counted += 1
        return measured(lint, clean_environ(home, f"state-{counted}"))

    return {
        P: lambda: measured([sys.executable, "-c", "pass"], environ),
        "ricordo lint, again": lambda: measured(lint, environ),
        CHANGED: lint_changed,
        FIRST: lint_first,
        "ricordo load": lambda: measured([RICORDO, "load", str(memory)], environ),
        "ricordo search": lambda: measured(search, environ),
        "ricordo list": lambda: measured([RICORDO, "list"], environ),
        "ricordo list --short": lambda: measured([RICORDO, "list", "--short"], environ),
    }


def measured(words: Sequence[str], environ: Mapping[str, str]) -> Duration:
    """Run a program and return how long it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = process_time(words, environ)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Duration(seconds, _processor(after) - _processor(before))


def _processor(usage: resource.struct_rusage) -> float:
    return usage.ru_utime + usage.ru_stime


def measure(memory: Path, home: Path) -> Mapping[str, Duration]:
    """Return the medians of each command."""
    acts = commands(memory, home)
    for act in acts.values():
        act()
    times: dict[str, list[Duration]] = defaultdict(list)
    for _ in range(REPEATS):
        for name, act in acts.items():
            times[name].append(act())
    return {
        name: Duration(median(it.seconds for it in them), median(it.processor for it in them))
        for name, them in times.items()
    }


def main(words: Sequence[str]) -> int:
    """Measure on a synthetic memory, or on the one that is named: a note of it gets more lines."""
    with tempfile.TemporaryDirectory(prefix="ricordo-bench-") as temporary:
        folder = Path(temporary).resolve()
        (folder / "home").mkdir()
        memory = Path(words[0]).resolve() if words else make_memory(folder)
        print(f"whole commands, {len(list(memory.glob('*.md'))) - 1} notes with their project")
        took = measure(memory, folder / "home")
        p, c = Reference("P", took[P].seconds), Reference("C", took[P].processor)
        for name, target in TARGETS.items():
            print_row(Row(name, took[name].seconds, p, target))
            print_row(Row("  processor", took[name].processor, c))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
