"""The measure of corrections: a claim counts where something was said of it before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.corpus import load_corpus
from tests.benchmarks.corrections import load_corrections, main, open_parent
from tests.support.builders import note_text, write_memory

WRONG = {
    "memory/MEMORY.md": "# Memory\n\n- [Tides](tides.md) — port\n- [Gone](gone.md) — no more\n",
    "memory/tides.md": note_text("tides", "The port is Sines.\n"),
}
RIGHT = {
    "memory/MEMORY.md": "# Memory\n\n- [Tides](tides.md) — port\n",
    "memory/tides.md": note_text("tides", "The port is Setúbal.\n"),
}


def git(checkout: Path, *words: str) -> str:
    return subprocess.run(
        ["git", "-C", str(checkout), "-c", "user.name=a", "-c", "user.email=a@b.c", *words],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A memory whose second commit corrects the first, and whose third is of later."""
    checkout = tmp_path / "stores" / "owner+name"
    for files in (WRONG, RIGHT, {"later.txt": "later"}):
        write_memory(checkout, files)
        if not (checkout / ".git").exists():
            git(checkout, "init", "-q")
        git(checkout, "add", ".")
        git(checkout, "commit", "-qm", "more")
    git(checkout, "tag", "v1")
    return checkout


def test_a_claim_counts_where_something_was_said_of_it_before(
    checkout: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = git(checkout, "rev-parse", "HEAD~1")
    table = checkout.parent.parent / "corrections.tsv"
    rows = [
        "repository\tuse\tcommit\tpath\tline\tdecidable\tkind",
        f"owner/name\ttune\t{commit}\tmemory/MEMORY.md\t4\tyes\tpath",
        f"owner/name\ttune\t{commit}\tmemory/tides.md\t9\tno\tvalue",
        f"not/there\ttune\t{commit}\tmemory/tides.md\t9\tno\tvalue",
    ]
    table.write_text("\n".join(rows) + "\n")
    words = ["corrections", str(checkout.parent), "--list", "--corrections", str(table)]
    monkeypatch.setattr(sys, "argv", words)
    assert main() == 0
    printed = capsys.readouterr()
    assert "MEMORY.md:4 (path, decidable): index-missing-file: " in printed.out
    assert "tides.md:9 (value, not decidable): nothing" in printed.out
    assert "| tune, decidable | 1 | 1 | 1.00 |" in printed.out
    assert "| tune, not decidable | 1 | 0 | 0.00 |" in printed.out
    assert "no checkout of not/there" in printed.err


def test_a_parent_knows_nothing_of_later(checkout: Path) -> None:
    commit = git(checkout, "rev-parse", "HEAD~1")
    with open_parent(checkout, commit) as (root, now):
        assert now == git(checkout, "log", "-1", "--format=%cI", commit)
        assert (root / "memory" / "tides.md").read_text() == WRONG["memory/tides.md"]
        assert git(root, "log", "--all", "--format=%H") == git(checkout, "rev-parse", "HEAD~2")
        assert git(root, "tag") == ""
        assert git(root, "status", "--porcelain") == ""


def test_what_a_snapshot_left_out_is_as_if_not_wanted(checkout: Path) -> None:
    commit = git(checkout, "rev-parse", "HEAD~1")
    blob = git(checkout, "rev-parse", "HEAD~2:memory/tides.md")
    (checkout / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with open_parent(checkout, commit) as (root, _):
        assert not (root / "memory" / "tides.md").exists()
        assert (root / "memory" / "MEMORY.md").exists()
        assert git(root, "status", "--porcelain") == ""


def test_the_corrections_fit_the_corpus() -> None:
    corrections = load_corrections()
    uses = {store.repository: store.use for store in load_corpus()}
    assert {it.use for it in corrections} == {"tune", "sealed"}
    assert all(uses.get(it.repository, it.use) == it.use for it in corrections)
    assert {it.kind for it in corrections} <= {"status", "value", "path", "contradiction", "other"}
    assert len({(it.commit, it.path, it.line) for it in corrections}) == len(corrections)
