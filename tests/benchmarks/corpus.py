"""Public memories on which the rules are judged: which ones, and what is found in them.

`corpus.toml` lists them by repository and commit; nothing of them is kept here. A checkout of each
lies in a folder outside the project, as `OWNER+NAME`. The stores of use `sealed` are judged by
readers who do not know the rules, and no rule is ever changed for what is seen in them.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
_NOW = "2026-11-20T12:00:00+00:00"
SPEAKING = frozenset(("error", "warning"))
"""The severities that ask for attention: goals are for these."""


@dataclass(frozen=True)
class Store:
    """One public memory at one commit."""

    name: str
    """What labels call it; unique."""
    repository: str
    """OWNER/NAME on GitHub."""
    commit: str
    folder: str
    """The memory in the checkout."""
    use: str
    """`tune` or `sealed`."""
    languages: tuple[str, ...]
    """ISO 639-1, the main one first."""
    licence: str
    """SPDX; "none" where the repository states none: it is read, never copied."""

    def find_checkout(self, stores: Path) -> Path | None:
        """Return the checkout below `stores`; None where there is none."""
        return find_checkout(self.repository, stores)


def find_checkout(repository: str, stores: Path) -> Path | None:
    """Return the checkout of OWNER/NAME below `stores`; None where there is none."""
    name = repository.replace("/", "+")
    for path, folders, _ in os.walk(stores):
        if name in folders:
            return Path(path, name)
        folders[:] = sorted(it for it in folders if "+" not in it)
    return None


@dataclass(frozen=True)
class Found:
    """One finding in one store."""

    store: str
    rule: str
    severity: str
    path: str
    line: int
    digest: str
    """The id of the finding: the same as long as its cause is."""
    message: str
    evidence: tuple[str, ...]

    @property
    def asks(self) -> bool:
        """Does it ask for attention?"""
        return self.severity in SPEAKING

    def names_line(self, path: str, line: int) -> bool:
        """Is it said of this line of a note or of its neighbours, or does its evidence name one?"""
        if self.path == path and abs(self.line - line) <= 1:
            return True
        around = "|".join(str(it) for it in range(max(0, line - 1), line + 2))
        place = re.compile(rf"(?<![\w./-]){re.escape(path)}:(?:{around})(?!\d)")
        return any(place.search(text) for text in self.evidence)


def load_corpus() -> list[Store]:
    """Return the stores of `corpus.toml`."""
    table = tomllib.loads((HERE / "corpus.toml").read_text(encoding="utf-8"))
    return [Store(**{**it, "languages": tuple(it["languages"])}) for it in table["store"]]


def check_commit(store: Store, checkout: Path) -> None:
    """Raise SystemExit unless the checkout is at the commit of the `store`, unchanged. Files that
    are only absent do not count: copies of repositories often lack big ones. Nor do ends of lines,
    which attributes may change in what was checked out.
    """
    head = _git(checkout, "rev-parse", "HEAD")
    if not head.startswith(store.commit):
        raise SystemExit(f"{checkout} is at {head[:12]}, not at {store.commit}: check that out")
    changed = _git(checkout, "diff", "--ignore-cr-at-eol", "--diff-filter=d", "HEAD")
    if changed or _git(checkout, "ls-files", "--others", "--exclude-standard"):
        raise SystemExit(f"{checkout} has changes: `git -C {checkout} stash -u` puts them away")


def _git(checkout: Path, *words: str) -> str:
    command = ["git", "-C", str(checkout), *words]
    answer = subprocess.run(command, capture_output=True, check=True)
    return answer.stdout.decode("utf-8", "replace").strip()


def lint(memory: Path, now: str = _NOW) -> tuple[dict[str, Any], float]:
    """Return the JSON document of `ricordo lint` on a `memory` outside any user's home, and the
    seconds of processor time that it took. Raises SystemExit where it fails.
    """
    document, seconds = _run(memory, now, "lint", "--fail-on", "never")
    if "memories" in document:  # a folder that is none itself stands for those beside it
        several = document["memories"]
        own = [it for it in several if memory.samefile(it["memory"]["path"])]
        if not own:
            raise SystemExit(f"{memory} is no memory")
        document = own[0]
    return document, seconds


def _run(memory: Path, now: str, *words: str) -> tuple[dict[str, Any], float]:
    with tempfile.TemporaryDirectory() as base:
        variables = {
            "HOME": base,
            "RICORDO_STATE": os.path.join(base, "state"),
            "RICORDO_AGENT_HOME": os.path.join(base, "agents"),
            "RICORDO_NOW": now,
        }
        before = os.times()
        answer = subprocess.run(
            [sys.executable, "-m", "ricordo", *words, "-m", str(memory), "--json"],
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            check=False,
        )
        after = os.times()
    if answer.returncode:
        raise SystemExit(f"{memory}: {answer.stderr.strip()[-500:]}")
    return json.loads(answer.stdout), sum(after[2:4]) - sum(before[2:4])


def read_said(memory: Path, name: str, now: str = _NOW) -> Iterator[Found]:
    """Yield what is said of a `memory` that labels call `name`: the findings of lint, and as
    warnings those of the daily review that lint has as less.
    """
    document, _ = lint(memory, now)
    queue = _run(memory, now, "review")[0]["queue"]
    doubted = {doubt["id"] for note in queue for doubt in note["doubts"]}
    for it in list_each(document):
        quiet = it["severity"] not in SPEAKING
        severity = "warning" if quiet and it["id"] in doubted else it["severity"]
        yield _to_found(name, {**it, "severity": severity})


def read_findings(store: Store, stores: Path) -> Iterator[Found]:
    """Yield the findings in a `store`, whose checkout is below `stores`; none where it is not."""
    checkout = store.find_checkout(stores)
    if checkout is None:
        print(f"{store.name}: no checkout of {store.repository} below {stores}", file=sys.stderr)
        return
    document, _ = lint(checkout / store.folder)
    for it in list_each(document):
        yield _to_found(store.name, it)


def list_each(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return all findings of a document of `lint`, those of a habit one by one."""
    return [one for cause in document["findings"] for one in cause.get("members", [cause])]


def _to_found(store: str, it: dict[str, Any]) -> Found:
    return Found(
        store,
        it["rule"],
        it["severity"],
        it["path"],
        it["line"],
        it["id"],
        it["message"],
        tuple(it["evidence"]),
    )
