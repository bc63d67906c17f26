"""The check of fixes on real memories finds memories, reads what was done, and notices harm."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from tests.benchmarks.fixes import Outcome, Sight, check, diff, find_stores, main
from tests.support.builders import note_text, write_memory

FILES = {
    "docs/memory/MEMORY.md": "# Memory\n\n- [Tides](tides.md) — port\n",
    "docs/memory/tides.md": note_text("tides"),
    "docs/memory/ports.md": note_text("ports"),
    "docs/other/page.md": "No memory.\n",
}
SIGHT = Sight(2, 90, frozenset(("a.md", "b.md")), 0, Counter(stale=1), {"a.md": b"", "b.md": b""})


def test_memories_are_found_fixed_in_a_copy_and_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout = write_memory(tmp_path / "stores" / "owner+name", FILES)
    assert list(find_stores(checkout)) == [checkout / "docs/memory"]
    outcome = check(checkout / "docs/memory", checkout, [])
    assert outcome.changed == ["MEMORY.md"]
    assert outcome.faults == []
    assert "+- [ports](ports.md) — Which port the tables are for\n" in diff(outcome)
    assert (checkout / "docs/memory/MEMORY.md").read_text() == FILES["docs/memory/MEMORY.md"]

    diffs = tmp_path / "diffs"
    monkeypatch.setattr(sys, "argv", ["fixes", str(tmp_path / "stores"), "--diffs", str(diffs)])
    assert main() == 0
    assert "| owner+name/docs/memory | claude | 2 | 3 → 4 |" in capsys.readouterr().out
    assert [it.name for it in diffs.iterdir()] == ["owner+name__docs__memory.diff"]


@pytest.mark.parametrize(
    "after",
    [
        replace(SIGHT, given=frozenset(("a.md",))),
        replace(SIGHT, cut_off=1),
        replace(SIGHT, found=Counter(stale=2)),
        replace(SIGHT, found=Counter(secret=1)),
    ],
)
def test_harm_is_noticed(after: Sight) -> None:
    assert Outcome("m", "claude", 2, SIGHT, SIGHT).faults == []
    assert Outcome("m", "claude", 2, SIGHT, after).faults
