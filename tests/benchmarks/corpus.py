"""Public memories on which the rules are judged: which ones, and what is found in them.

`corpus.toml` lists them by repository and commit; nothing of them is kept here. A checkout of each
lies in a folder outside the project, as `OWNER+NAME`. The stores of use `sealed` are judged by
readers who do not know the rules, and no rule is ever changed for what is seen in them.
"""

from __future__ import annotations

import json
import os
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
        found = sorted(stores.glob(f"**/{self.repository.replace('/', '+')}"))
        return found[0] if found else None


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


def load_corpus() -> list[Store]:
    """Return the stores of `corpus.toml`."""
    table = tomllib.loads((HERE / "corpus.toml").read_text(encoding="utf-8"))
    return [Store(**{**it, "languages": tuple(it["languages"])}) for it in table["store"]]


def check_commit(store: Store, checkout: Path) -> None:
    """Raise SystemExit unless the checkout is at the commit of the `store`, unchanged."""
    head = _git(checkout, "rev-parse", "HEAD")
    if not head.startswith(store.commit):
        raise SystemExit(f"{checkout} is at {head[:12]}, not at {store.commit}: check that out")
    if _git(checkout, "status", "--porcelain"):
        raise SystemExit(f"{checkout} has changes: `git -C {checkout} stash -u` puts them away")


def _git(checkout: Path, *words: str) -> str:
    command = ["git", "-C", str(checkout), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def lint(memory: Path) -> tuple[dict[str, Any], float]:
    """Return the JSON document of `ricordo lint` on a `memory` outside any user's home, and the
    seconds of processor time that it took. Raises SystemExit where it fails.
    """
    with tempfile.TemporaryDirectory() as base:
        variables = {
            "HOME": base,
            "RICORDO_STATE": os.path.join(base, "state"),
            "RICORDO_AGENT_HOME": os.path.join(base, "agents"),
            "RICORDO_NOW": _NOW,
        }
        words = ["lint", "-m", str(memory), "--json", "--fail-on", "never"]
        before = os.times()
        answer = subprocess.run(
            [sys.executable, "-m", "ricordo", *words],
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            check=False,
        )
        after = os.times()
    if answer.returncode:
        raise SystemExit(f"{memory}: {answer.stderr.strip()[-500:]}")
    seconds = sum(after[2:4]) - sum(before[2:4])
    return json.loads(answer.stdout), seconds


def read_findings(store: Store, stores: Path) -> Iterator[Found]:
    """Yield the findings in a `store`, whose checkout is below `stores`; none where it is not."""
    checkout = store.find_checkout(stores)
    if checkout is None:
        print(f"{store.name}: no checkout of {store.repository} below {stores}", file=sys.stderr)
        return
    check_commit(store, checkout)
    document, _ = lint(checkout / store.folder)
    findings = [one for cause in document["findings"] for one in cause.get("members", [cause])]
    for it in findings:
        yield Found(
            store.name,
            it["rule"],
            it["severity"],
            it["path"],
            it["line"],
            it["id"],
            it["message"],
            tuple(it["evidence"]),
        )
