"""Rows that ask for attention are judged once, and what is said of them is kept."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.benchmarks import first_sight
from tests.benchmarks.first_sight import main
from tests.benchmarks.precision import load_labels
from tests.support.builders import note_text, write_memory

FILES = {
    "memory/MEMORY.md": "# Memory\n\n- [Tides](tides.md) — port\n- [Gone](gone.md) — no more\n",
    "memory/tides.md": note_text("tides", "See [the cache](cache.md).\n"),
}


def test_rows_are_judged_and_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_memory(tmp_path / "stores" / "owner+name", FILES)
    table = tmp_path / "set.tsv"
    table.write_text("owner+name\towner/name\tabc\tmemory\tpt,en\tMIT\n")
    words = ["first_sight", str(table), str(tmp_path / "stores")]
    sheet, verdicts = tmp_path / "sheet.md", tmp_path / "verdicts.tsv"
    monkeypatch.setattr(sys, "argv", [*words, "--sheet", str(sheet)])
    assert main() == 0
    page = sheet.read_text()
    numbers = {
        line.split()[3]: line.split()[1].strip(":") for line in page.splitlines() if "##" in line
    }
    assert "    4 - [Gone](gone.md) — no more" in page

    verdicts.write_text(f"{numbers['index-missing-file']}\tfalse\tit is\there\n")
    monkeypatch.setattr(first_sight, "HERE", tmp_path)
    monkeypatch.setattr(sys, "argv", [*words, str(verdicts), "--keep", "--tune", "name"])
    assert main() == 0
    printed = capsys.readouterr().out
    assert "index-missing-file          1 rows: 0 0 1" in printed
    assert f"{numbers['dead-link']} dead-link tides.md:9" in printed
    assert "[not judged]" in printed
    assert 'use = "tune"\nlanguages = ["pt", "en"]' in (tmp_path / "corpus.toml").read_text()
    kept = (tmp_path / "labels.tsv").read_text()
    (tmp_path / "labels.tsv").write_text(
        "store\trule\tpath\tline\tdigest\tverdict\treason\n" + kept
    )
    (label,) = load_labels(tmp_path / "labels.tsv")
    assert (label.store, label.rule, label.line, label.verdict, label.reason) == (
        *("name", "index-missing-file"),
        *(4, "false", "it is"),
    )
