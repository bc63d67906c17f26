"""The measure of precision: sheets are written to be judged, and labels find their findings."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from ricordo.lint.rule_page import compute_interval
from tests.benchmarks import precision
from tests.benchmarks.corpus import (
    Found,
    Store,
    check_commit,
    load_corpus,
)
from tests.benchmarks.precision import (
    Defect,
    Label,
    Verdict,
    choose_sample,
    digest_line,
    find_line,
    join_labels,
    load_defects,
    load_labels,
    main,
)
from tests.support.builders import note_text, write_memory

FOUND = Found("tide", "dead-link", "error", "a.md", 3, "d1", "b.md is not there.", ())
LABEL = Label("tide", "dead-link", "a.md", 3, "d1", Verdict.TRUE, "it was deleted")
FILES = {
    "memory/MEMORY.md": "# Memory\n\n- [Tides](tides.md) — port\n- [Gone](gone.md) — no more\n",
    "memory/tides.md": note_text("tides", "See [the cache](cache.md).\n"),
}


@pytest.fixture
def stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    checkout = write_memory(tmp_path / "stores" / "owner+name", FILES)
    for words in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "all"],
    ):
        subprocess.run(["git", "-C", str(checkout), *words], check=True)
    head = subprocess.run(
        ["git", "-C", str(checkout), "rev-parse", "HEAD"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    store = Store("tide", "owner/name", head, "memory", "tune", ("en",), "MIT")
    monkeypatch.setattr(precision, "load_corpus", lambda: [store])
    return tmp_path / "stores"


def test_a_judged_sheet_becomes_a_table(
    stores: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sheets, labels = tmp_path / "sheets", tmp_path / "labels.tsv"
    words = ["precision", str(stores), "--labels", str(labels)]
    monkeypatch.setattr(sys, "argv", [*words, "--sheet", str(sheets)])
    assert main() == 0
    page = (sheets / "tide.md").read_text()
    assert "index-missing-file (error) MEMORY.md:4" in page
    assert "    4 - [Gone](gone.md) — no more" in page
    rows = (sheets / "tide.tsv").read_text().splitlines()
    judged = [row.replace("\t\t", "\ttrue\tright") for row in rows[1:] if "dead-link" in row]
    judged += [row.replace("\t\t", "\tfalse\twrong") for row in rows[1:] if "missing-file" in row]
    labels.write_text("\n".join([rows[0], *judged]) + "\n")

    monkeypatch.setattr(sys, "argv", words)
    assert main() == 0
    table = capsys.readouterr().out
    assert "| dead-link | 1 | 1 | 1 | 0 | 0 | 1.00 | 0.21–1.00 | 1.00 |" in table
    assert "| index-missing-file | 1 | 1 | 0 | 0 | 1 | 0.00 | 0.00–0.79 | 0.00 |" in table

    # what is judged is not asked again
    monkeypatch.setattr(sys, "argv", [*words, "--sheet", str(tmp_path / "rest")])
    assert main() == 0
    assert not (tmp_path / "rest").exists()


def test_a_list_of_defects_becomes_a_table_without_their_words(
    stores: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mine, kept = tmp_path / "defects-a.tsv", tmp_path / "defects.tsv"
    rows = [
        ("tide", "memory/MEMORY.md", "4", "link", "gone.md was never there", "no such file"),
        ("tide", "tides.md", "1", "status", "the port is closed", "closed.md"),
    ]
    mine.write_text("".join("\t".join(row) + "\n" for row in rows))
    words = ["precision", str(stores), "--known", str(kept)]
    monkeypatch.setattr(sys, "argv", [*words, "--defects", str(mine)])
    assert main() == 0
    assert main() == 0  # a defect is kept once
    assert "never there" not in kept.read_text()
    assert [(it.path, it.line) for it in load_defects(kept)] == [("MEMORY.md", 4), ("tides.md", 1)]

    monkeypatch.setattr(sys, "argv", [*words, "--recall"])
    assert main() == 0
    table = capsys.readouterr().out
    assert "| link | 1 | 1 | 1.00 |" in table
    assert "| status | 1 | 0 | 0.00 |" in table
    assert "| **all** | 2 | 1 | 0.50 |" in table

    mine.write_text("tide\ttides.md\t99\tstatus\tno such line\t\ntide\tx.md\t1\tstatus\t\t\n")
    monkeypatch.setattr(sys, "argv", [*words, "--defects", str(mine)])
    assert main() == 1
    printed = capsys.readouterr().out
    assert "tide tides.md:99: the note has 9 lines" in printed
    assert "tide x.md:1: no such note" in printed
    assert "0 of 2 taken over" in printed


def test_a_defect_is_found_again_by_its_line_and_by_what_names_it() -> None:
    lines = ["one", "The port is Sines.", "two", "The port is Sines."]
    defect = Defect("tide", "tune", "a.md", 4, "value", digest_line(lines, 4))
    assert find_line(lines, defect) == 4
    assert find_line(lines[2:], defect) == 2
    assert find_line(["one"], defect) is None
    assert find_line([], replace(defect, line=0)) == 0

    near, far = replace(FOUND, line=5), replace(FOUND, line=6)
    other = replace(FOUND, path="b.md", evidence=("a.md:40: Lisbon", "notes/a.md:4: Sines"))
    proof = replace(FOUND, path="b.md", evidence=("see a.md:4: Sines",))
    assert [it.names_line("a.md", 4) for it in (near, proof, far, other)] == [1, 1, 0, 0]


def test_a_checkout_of_another_commit_or_with_changes_is_refused(stores: Path) -> None:
    (store,) = precision.load_corpus()
    checkout = store.find_checkout(stores)
    assert checkout is not None
    check_commit(store, checkout)
    with pytest.raises(SystemExit, match="not at 0000"):
        check_commit(replace(store, commit="0000"), checkout)
    (checkout / "memory" / "tides.md").write_text("other")
    with pytest.raises(SystemExit, match="has changes"):
        check_commit(store, checkout)


def test_a_label_follows_its_finding_to_other_words_but_not_to_another_one() -> None:
    reworded = replace(FOUND, digest="d2")
    assert join_labels([FOUND], [LABEL]) == {FOUND: LABEL}
    assert join_labels([reworded], [LABEL]) == {reworded: LABEL}
    assert join_labels([replace(reworded, line=4)], [LABEL]) == {}
    # two findings on the line: which one is meant is not known
    assert join_labels([reworded, replace(FOUND, digest="d3")], [LABEL]) == {}


def test_a_sample_has_some_of_every_rule_and_is_always_the_same() -> None:
    many = [replace(FOUND, digest=f"{n * 7 % 10}") for n in range(10)]
    links = [replace(FOUND, rule="wanted-note", digest="x")]
    sample = choose_sample([*many, *links], 3)
    assert sorted(it.digest for it in sample) == ["0", "1", "2", "x"]


def test_an_interval_is_wide_for_few() -> None:
    assert compute_interval(0, 0) == (0, 1)
    low, high = compute_interval(9, 10)
    assert (round(low, 3), round(high, 3)) == (0.596, 0.982)


def test_the_corpus_and_its_labels_fit_together() -> None:
    corpus = {store.name: store for store in load_corpus()}
    assert {store.use for store in corpus.values()} == {"tune", "sealed"}
    labels = load_labels()
    assert {it.store for it in labels} <= corpus.keys()
    assert all(corpus[it.store].use == it.use for it in load_defects())
    assert len({(it.store, it.rule, it.path, it.digest) for it in labels}) == len(labels)
    assert all(it.reason for it in labels)


def test_the_numbers_for_the_rule_reference_are_those_of_the_labels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stores = [
        replace(load_corpus()[0], name=name, use=use)
        for name, use in (("tide", "sealed"), ("x", "tune"))
    ]
    monkeypatch.setattr(precision, "load_corpus", lambda: stores)
    info = replace(FOUND, severity="info", digest="d2")
    other = replace(FOUND, store="x", digest="d3")
    joined = {
        FOUND: LABEL,
        info: replace(LABEL, verdict=Verdict.NOISE),
        other: replace(LABEL, verdict=Verdict.FALSE),
    }
    assert tomllib.loads(precision.render_judged(joined)) == {
        "sealed": {"dead-link": [1, 0, 0]},
        "sealed-info": {"dead-link": [0, 1, 0]},
        "tune": {"dead-link": [0, 0, 1]},
        "tune-info": {},
    }
