"""What `lint --fix` does to real memories: `python -m tests.benchmarks.fixes FOLDER…`.

Every memory below each FOLDER, a folder of checkouts or one in a checkout, is copied with the
checkout that it lies in, and fixed there. A table shows what its agent loads and what is found in
it, before and after; `--diffs` keeps every diff, to be read. Ends with 1 where an agent gets less
than before, or where more is found by any rule. The originals are only read.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ricordo import git
from ricordo.agents.registry import INDEX_NAMES, recognise
from ricordo.memory.memory import Memory
from ricordo.memory.names import TargetKind
from ricordo.storage.reader import read_memory
from tests.benchmarks.corpus import list_each

_USUAL_NAMES = frozenset(("memory", "memories", "memory-bank", "notes", "knowledge", "wiki"))
"""Names of folders of notes that nothing else marks as a memory."""
_NO_MEMORIES = frozenset((".git", "node_modules", ".venv", "_project"))
_STAMP = 1_795_000_000
"""18 November 2026: no file is so new that its writer is waited for."""
_NOW = "2026-11-20T12:00:00+00:00"


@dataclass(frozen=True)
class Sight:
    """What an agent is given of a memory, and what is found in it."""

    lines: int
    units: int
    given: frozenset[str]
    """The notes whose entries the agent loads."""
    cut_off: int
    """Entries that it does not load."""
    found: Counter[str]
    """Findings by rule."""
    files: Mapping[str, bytes]


@dataclass(frozen=True)
class Outcome:
    """What the fixes did to one memory."""

    name: str
    kind: str
    notes: int
    before: Sight
    after: Sight
    error: str = ""

    @property
    def changed(self) -> list[str]:
        """The files that are others, in order."""
        old, new = self.before.files, self.after.files
        return sorted(path for path in {*old, *new} if old.get(path) != new.get(path))

    @property
    def faults(self) -> list[str]:
        """What must not be: less is given, or more is found."""
        faults = [f"no longer loaded: {path}" for path in sorted(self.lost)]
        if self.after.cut_off > self.before.cut_off:
            faults.append(f"entries cut off: {self.before.cut_off} → {self.after.cut_off}")
        for rule, more in sorted((self.after.found - self.before.found).items()):
            faults.append(f"{more} more of {rule}")
        return [*faults, self.error] if self.error else faults

    @property
    def lost(self) -> frozenset[str]:
        """Notes that were loaded and are there, but are loaded no more."""
        return frozenset(it for it in self.before.given if it in self.after.files) - (
            self.after.given
        )


def find_stores(folder: Path) -> Iterator[Path]:
    """Yield the directories of memories below `folder`, the outermost of each: what is marked as
    one, and folders of notes that have an index or a usual name.
    """
    for path, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders) - _NO_MEMORIES)
        here = Path(path)
        notes = {name.lower() for name in names if name.endswith(".md")}
        is_folder_of_notes = not notes.isdisjoint(INDEX_NAMES) or here.name in _USUAL_NAMES
        if recognise(path).kind != "folder" or (notes and is_folder_of_notes):
            folders.clear()
            yield here


def check(store: Path, checkout: Path, options: Sequence[str]) -> Outcome:
    """Fix a copy of the `store`, which lies in a `checkout`, and return what came of it."""
    with tempfile.TemporaryDirectory() as base:
        copy = Path(base) / checkout.name
        shutil.copytree(checkout, copy, symlinks=True)
        memory = copy / store.relative_to(checkout)
        _settle(memory)
        before = _sight(memory, base)
        fixed = _run(base, "lint", "-m", str(memory), "--fix", "--fail-on", "never", *options)
        _settle(memory)
        after = _sight(memory, base)
        error = "" if fixed.returncode == 0 else fixed.stderr.strip()[-300:]
        layout = recognise(str(memory))
        name = f"{checkout.name}/{store.relative_to(checkout)}".removesuffix("/.")
        notes = len(read_memory(str(memory), layout).notes)
        return Outcome(name, layout.kind, notes, before, after, error)


def _settle(memory: Path) -> None:
    """Let every file be writable, and none so new that its writer is waited for."""
    memory.chmod(0o755)
    for path in memory.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() else 0o644)
            os.utime(path, (_STAMP, _STAMP))


def _run(base: str, *words: str) -> subprocess.CompletedProcess[str]:
    variables = {
        "HOME": base,
        "RICORDO_STATE": os.path.join(base, ".state"),
        "RICORDO_NOW": _NOW,
        "RICORDO_AGENT_HOME": os.path.join(base, ".agents"),
    }
    return subprocess.run(
        [sys.executable, "-m", "ricordo", *words],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def _sight(root: Path, base: str) -> Sight:
    answer = _run(base, "lint", "-m", str(root), "--json", "--fail-on", "never")
    if answer.returncode:
        raise SystemExit(f"{root}: {answer.stderr.strip()}")
    document: dict[str, Any] = json.loads(answer.stdout)
    memory = read_memory(str(root), recognise(str(root)))
    load = document["load"]
    return Sight(
        load["lines"],
        load["units"],
        _given(memory),
        len(load["dropped"]),
        Counter(it["rule"] for it in list_each(document)),
        {file.path: file.raw for file in memory.files},
    )


def _given(memory: Memory) -> frozenset[str]:
    index, cut = memory.index, memory.load.cut_at_line
    if index is None:
        return frozenset()
    targets = [
        memory.resolve_entry(index, it) for it in index.entries if cut is None or it.line < cut
    ]
    return frozenset(it.path for it in targets if it.target_kind is TargetKind.NOTE)


def diff(outcome: Outcome) -> str:
    """Return what was changed, as one text of unified diffs."""
    parts: list[str] = []
    for path in outcome.changed:
        old, new = (
            sight.files.get(path, b"").decode("utf-8", "replace").splitlines(keepends=True)
            for sight in (outcome.before, outcome.after)
        )
        lines = difflib.unified_diff(old, new, f"a/{path}", f"b/{path}")
        parts += [line if line.endswith("\n") else f"{line}\n" for line in lines]
    return "".join(parts)


def row(outcome: Outcome) -> str:
    """Return one line of the table."""
    old, new = outcome.before, outcome.after
    cells = [
        outcome.name,
        outcome.kind,
        str(outcome.notes),
        _change(old.lines, new.lines),
        _change(old.units, new.units),
        _change(len(old.given), len(new.given)),
        _change(old.cut_off, new.cut_off),
        _change(old.found.total(), new.found.total()),
        str(len(outcome.changed)),
        "; ".join(outcome.faults) or "good",
    ]
    return f"| {' | '.join(cells)} |"


_HEADINGS = (
    "| memory | kind | notes | lines | units | loaded | cut off | findings | files | outcome |",
    "|---|---|---|---|---|---|---|---|---|---|",
)


def _change(old: int, new: int) -> str:
    return f"{old:,}" if old == new else f"{old:,} → {new:,}"


def main() -> int:
    """Print the table; return 1 where a fix did harm."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    parser.add_argument("--diffs", type=Path, metavar="DIR", help="keep the diffs here")
    parser.add_argument("--unsafe", action="store_true", help="make the unsafe fixes too")
    given = parser.parse_args()
    options = ["--unsafe"] if given.unsafe else []
    outcomes: list[Outcome] = []
    print("\n".join(_HEADINGS), flush=True)
    for checkout, part in (it for folder in given.folders for it in _parts(folder.resolve())):
        for store in find_stores(part):
            outcome = check(store, checkout, options)
            outcomes.append(outcome)
            print(row(outcome), flush=True)
            if given.diffs and outcome.changed:
                given.diffs.mkdir(parents=True, exist_ok=True)
                name = outcome.name.replace("/", "__")
                (given.diffs / f"{name}.diff").write_text(diff(outcome))
    _print_rules(outcomes)
    harmed = sum(bool(it.faults) for it in outcomes)
    print(f"{len(outcomes)} memories, {harmed} with a fault")
    return int(bool(harmed))


def _parts(folder: Path) -> list[tuple[Path, Path]]:
    """Return the checkouts of `folder`, each with the part of it in which memories are looked for:
    the one in which `folder` lies, else the folders in it.
    """
    top = git.find_top_level(str(folder))
    if top:
        return [(Path(top), folder)]
    if recognise(str(folder)).kind != "folder":
        return [(folder, folder)]
    folders = (it for it in folder.iterdir() if it.is_dir() and it.name not in _NO_MEMORIES)
    return [(it, it) for it in sorted(folders)]


def _print_rules(outcomes: Sequence[Outcome]) -> None:
    before, after = Counter[str](), Counter[str]()
    for outcome in outcomes:
        before += outcome.before.found
        after += outcome.after.found
    print("\n| rule | before | after |\n|---|---|---|")
    for rule in sorted(before | after):
        print(f"| {rule} | {before[rule]:,} | {after[rule]:,} |")


if __name__ == "__main__":
    sys.exit(main())
