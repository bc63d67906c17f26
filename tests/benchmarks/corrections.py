"""How many of the claims that owners corrected in their own notes were reported before they did.

    python -m tests.benchmarks.corrections STORES           the table
    python -m tests.benchmarks.corrections STORES --list    and what was said of each claim

STORES is a folder of checkouts with their history, named `OWNER+NAME`. `corrections.tsv` lists
claims by the commit that corrected them; path and line are those at its parent. A reader who had
not seen any finding decided which could be known to be wrong at that parent, from the project or
from another note: only those count for the goal, the others show what is said without proof.

The parent is looked at as it was on the day of the correction: no later commit, branch or tag is
there. A claim is reported where an error, a warning or the daily review names its line or one
beside it.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from ricordo.lint.rule_page import compute_interval
from tests.benchmarks.corpus import HERE, Found, find_checkout, read_said
from tests.benchmarks.fixes import find_stores

_CORRECTIONS = HERE / "corrections.tsv"


@dataclass(frozen=True)
class Correction:
    """One claim that its owner corrected."""

    repository: str
    """OWNER/NAME on GitHub."""
    use: str
    """`tune` or `sealed`."""
    commit: str
    path: str
    """The note, from the root of the repository."""
    line: int
    decidable: bool
    """Did the project or another note show at the parent that it was wrong?"""
    kind: str
    """status, value, path, contradiction or other."""


@dataclass(frozen=True)
class Outcome:
    """What was said of a claim before it was corrected."""

    correction: Correction
    found: tuple[Found, ...]


def load_corrections(path: Path = _CORRECTIONS) -> list[Correction]:
    """Return the corrections in a file."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [
        Correction(
            row["repository"],
            row["use"],
            row["commit"],
            row["path"],
            int(row["line"]),
            row["decidable"] == "yes",
            row["kind"],
        )
        for row in rows
    ]


@contextmanager
def open_parent(checkout: Path, commit: str) -> Iterator[tuple[Path, str]]:
    """Yield a repository that ends with the parent of a `commit`, and the time of the `commit`."""
    parent, now = _git(checkout, "log", "-1", "--format=%P%n%cI", commit).splitlines()
    parent = parent.split()[0]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, checkout.name)
        _git(Path(folder), "init", "-q", "--template=", "-b", "main", str(root))
        objects = _git(checkout, "rev-parse", "--path-format=absolute", "--git-path", "objects")
        info = root / ".git" / "objects" / "info"
        info.mkdir(parents=True, exist_ok=True)
        (info / "alternates").write_text(objects + "\n", encoding="utf-8")
        url = f"https://github.com/{checkout.name.replace('+', '/', 1)}.git"
        _git(root, "remote", "add", "origin", url)
        for reference in ("refs/heads/main", "refs/remotes/origin/main"):
            _git(root, "update-ref", reference, parent)
        for tag in _git(checkout, "tag", "--merged", parent).split():
            _git(root, "update-ref", f"refs/tags/{tag}", _git(checkout, "rev-parse", tag))
        _git(root, "read-tree", parent)
        # large files may be left out of a snapshot: they are as if not wanted here
        subprocess.run(
            ["git", "-C", str(root), "checkout-index", "-a", "-f", "-q"],
            capture_output=True,
            check=False,
        )
        left_out = _git(root, "ls-files", "-d", "-z")
        _git(root, "update-index", "--skip-worktree", "-z", "--stdin", given=left_out)
        _git(root, "update-index", "-q", "--refresh")
        stamp = int(_git(root, "log", "-1", "--format=%ct"))
        for path in root.rglob("*.md"):
            if path.is_file():
                os.utime(path, (stamp, stamp))
        yield root, now


def _git(folder: Path, *words: str, given: str = "") -> str:
    command = ["git", "-C", str(folder), *words]
    answer = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
    return answer.stdout.strip()


def judge(corrections: Sequence[Correction], checkout: Path) -> list[Outcome]:
    """Return what was said of the claims that one commit corrected."""
    with open_parent(checkout, corrections[0].commit) as (root, now):
        notes = {it: root / it.path for it in corrections}
        named: dict[Correction, list[Found]] = {it: [] for it in corrections}
        for memory in find_stores(root):
            mine = [it for it in corrections if notes[it].is_relative_to(memory)]
            for found in read_said(memory, "", now) if mine else ():
                for it in mine:
                    path = notes[it].relative_to(memory).as_posix()
                    if found.asks and found.names_line(path, it.line):
                        named[it].append(found)
    return [Outcome(it, tuple(each)) for it, each in named.items()]


def render_table(outcomes: Sequence[Outcome]) -> list[str]:
    """Return a table of the commits with a reported claim, for each use."""
    lines = [
        "| | commits | reported | share | 95 % | claims | reported |",
        "|---|---|---|---|---|---|---|",
    ]
    for use in ("tune", "sealed"):
        for decidable, title in ((True, "decidable"), (False, "not decidable")):
            mine = [
                it
                for it in outcomes
                if it.correction.use == use and it.correction.decidable == decidable
            ]
            commits = {it.correction.commit for it in mine}
            reported = {it.correction.commit for it in mine if it.found}
            low, high = compute_interval(len(reported), len(commits))
            share = f"{len(reported) / len(commits):.2f}" if commits else "–"
            lines.append(
                f"| {use}, {title} | {len(commits)} | {len(reported)} | {share} "
                f"| {low:.2f}–{high:.2f} | {len(mine)} | {sum(bool(it.found) for it in mine)} |"
            )
    return lines


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("stores", type=Path, metavar="STORES")
    parser.add_argument("--list", action="store_true", help="what was said of each claim")
    parser.add_argument("--use", choices=("tune", "sealed"), help="only those")
    parser.add_argument("--corrections", type=Path, default=_CORRECTIONS, help="corrections.tsv")
    given = parser.parse_args()
    chosen = [it for it in load_corrections(given.corrections) if given.use in (None, it.use)]
    outcomes: list[Outcome] = []
    for (repository, _), group in groupby(chosen, key=lambda it: (it.repository, it.commit)):
        checkout = find_checkout(repository, given.stores)
        if checkout is None:
            print(f"no checkout of {repository} below {given.stores}", file=sys.stderr)
            continue
        told = judge(list(group), checkout)
        outcomes += told
        if given.list:
            print("\n".join(_describe(it) for it in told), flush=True)
    print("\n".join(render_table(outcomes)))
    return 0


def _describe(outcome: Outcome) -> str:
    it = outcome.correction
    told = "; ".join(f"{found.rule}: {found.message}" for found in outcome.found) or "nothing"
    decidable = "decidable" if it.decidable else "not decidable"
    place = f"{it.use} {it.repository} {it.commit[:10]} {it.path}:{it.line}"
    return f"{place} ({it.kind}, {decidable}): {told}"


if __name__ == "__main__":
    sys.exit(main())
