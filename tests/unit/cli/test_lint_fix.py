"""`ricordo lint --fix`, called as a person calls it, on the sample memory and on real defects."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ricordo.cli.main import run
from ricordo.resources import sample_memory_directory
from tests.builders import SHARED, note_text, write_memory

SAMPLE = Path(sample_memory_directory())
DEFECTS = SHARED / "data/wiki/labelled-defects"
STORE = SHARED / "data/memory/labelled-defects"
WIKIS = sorted(DEFECTS.glob("defects/*")) if DEFECTS.is_dir() else []
ROOTS = [SAMPLE / "memory", SAMPLE / "wiki", SAMPLE / "home/.claude/agent-memory/code-reviewer"]

Printed = pytest.CaptureFixture[str]


def contents(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def settle(root: Path) -> None:
    """Let every file be old, so that nobody waits for its writer."""
    for path in root.rglob("*"):
        if not path.is_symlink():
            os.utime(path, (1_700_000_000, 1_700_000_000))


def copied(root: Path, tmp_path: Path) -> Path:
    target = tmp_path / "copy" / root.name
    shutil.copytree(root, target, symlinks=True)
    for path in target.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() else 0o644)
    settle(target)
    return target


def lint(root: Path, capsys: Printed, *words: str) -> tuple[dict[str, Any], str]:
    """Return the one JSON document on stdout, and what stands on stderr."""
    settle(root)
    assert run(["lint", "-m", str(root), "--json", "--fail-on", "never", *words]) == 0
    printed = capsys.readouterr()
    return json.loads(printed.out), printed.err


def kinds(document: dict[str, Any]) -> Counter[tuple[str, str]]:
    budget = {"index-near-budget": "index-over-budget"}
    return Counter((budget.get(it["rule"], it["rule"]), it["path"]) for it in document["findings"])


def to_mend(document: dict[str, Any], *, unsafe: bool) -> Iterator[dict[str, Any]]:
    for it in document["findings"]:
        if it["fix"] and (it["safe"] or unsafe) and it["rule"] != "secret":
            yield it


def mended_and_left(told: str) -> tuple[int, int]:
    line = next(line for line in told.split("\n") if line.endswith(" left"))
    mended, left = (int(part.split()[0]) for part in line.split(", "))
    return mended, left


@pytest.mark.parametrize("unsafe", [False, True])
@pytest.mark.parametrize(
    "root", [*ROOTS, *WIKIS], ids=lambda root: f"{root.parent.name}/{root.name}"
)
def test_fix_clears_what_it_may_brings_nothing_and_is_undone(
    root: Path, unsafe: bool, tmp_path: Path, capsys: Printed
) -> None:
    memory = copied(root, tmp_path)
    original = contents(memory)
    words = ["--fix", *["--unsafe"] * unsafe]
    before, _ = lint(memory, capsys)
    after, told = lint(memory, capsys, *words)

    assert not kinds(after) - kinds(before)
    for left in to_mend(after, unsafe=unsafe):
        place = f"{left['path']}:{left['line']}" if left["line"] else left["path"]
        reason = next(line for line in told.split("\n") if line.startswith(f"left: {place}: "))
        assert "it would bring: " in reason
    mended, left_over = mended_and_left(told)
    assert left_over == len(after["findings"])
    assert mended == len(before["findings"]) - len(after["findings"])

    changed = contents(memory)
    again, _ = lint(memory, capsys, *words)
    assert contents(memory) == changed
    assert again["findings"] == after["findings"]

    if changed != original:
        settle(memory)
        assert run(["undo", "-m", str(memory)]) == 0
    assert contents(memory) == original


def test_on_the_sample_memory_all_is_mended_that_has_a_fix(tmp_path: Path, capsys: Printed) -> None:
    memory = copied(SAMPLE / "memory", tmp_path)
    before, _ = lint(memory, capsys)
    asked_for = {it["id"] for it in to_mend(before, unsafe=True)}
    after, told = lint(memory, capsys, "--fix", "--unsafe")
    assert not asked_for & {it["id"] for it in after["findings"]}
    assert {it["rule"] for it in after["findings"] if it["fix"]} == {"secret"}
    assert mended_and_left(told) == (27, 17)


def test_on_the_labelled_store_nothing_new_comes(tmp_path: Path, capsys: Printed) -> None:
    if not STORE.is_dir():
        pytest.skip("the labelled store is not beside the repository")
    copy = copied(STORE, tmp_path)
    found = 0
    for index in sorted(copy.rglob("MEMORY.md")):
        memory = index.parent
        original = contents(memory)
        before, _ = lint(memory, capsys)
        after, _ = lint(memory, capsys, "--fix", "--unsafe")
        found += len(before["findings"])
        assert not kinds(after) - kinds(before)
        if contents(memory) != original:
            settle(memory)
            assert run(["undo", "-m", str(memory)]) == 0
            capsys.readouterr()
        assert contents(memory) == original
    assert found


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    files = {
        "MEMORY.md": "- [T](t.md) — t\n- [T](t.md)\n- [G](gone.md) — away\n",
        "t.md": note_text("t", "See [it](gone.md).\n\npassword: Zr8kLm2qqP9xW4tV\n"),
        "u.md": note_text("u"),
    }
    return write_memory(tmp_path / "memory", files)


def test_stdout_stays_the_contract_and_stderr_tells(memory: Path, capsys: Printed) -> None:
    document, told = lint(memory, capsys, "--fix")
    assert {it["rule"] for it in document["findings"]} == {
        "index-missing-file",
        "dead-link",
        "secret",
    }
    lines = told.split("\n")
    assert "  changed MEMORY.md" in lines
    assert sum(line.startswith("mended: ") for line in lines) == mended_and_left(told)[0]
    assert sum(line.startswith("left: ") for line in lines) == 3
    assert "Zr8kLm2qqP9xW4tV" not in told + json.dumps(document)


@pytest.mark.parametrize(("fail_on", "code"), [("error", 1), ("never", 0)])
def test_the_exit_code_is_that_of_what_is_left(
    memory: Path, fail_on: str, code: int, capsys: Printed
) -> None:
    settle(memory)
    assert run(["lint", "-m", str(memory), "--fix", "--fail-on", fail_on]) == code
    assert "3 left" in capsys.readouterr().err


def test_only_the_rule_that_is_named_is_mended(memory: Path, capsys: Printed) -> None:
    lint(memory, capsys, "--fix", "--unsafe", "--rule", "dead-link")
    assert "- [T](t.md)\n- [G](gone.md)" in (memory / "MEMORY.md").read_text()
    assert "\nSee it.\n" in (memory / "t.md").read_text()


def test_the_history_tells_why(memory: Path, capsys: Printed) -> None:
    lint(memory, capsys, "--fix")
    assert run(["history", "MEMORY.md", "-m", str(memory), "--json"]) == 0
    newest = json.loads(capsys.readouterr().out)["versions"][0]
    assert newest["by"] == "rule"
    assert newest["reason"] == "drop the entry on line 2; add an entry to MEMORY.md"


def test_undo_of_many_fixes_is_a_short_line_and_one_for_each_file(
    tmp_path: Path, capsys: Printed
) -> None:
    root = copied(SAMPLE / "memory", tmp_path)
    _, told = lint(root, capsys, "--fix", "--unsafe")
    files = sorted(line for line in told.split("\n") if line.startswith("  changed "))
    for command, word in (("undo", "undone"), ("redo", "done again")):
        settle(root)
        assert run([command, "-m", str(root)]) == 0
        headline, *lines = capsys.readouterr().out.splitlines()
        assert headline.startswith(f"{word}: change of MEMORY.md, ")
        assert len(headline) < 200
        assert sorted(line for line in lines if line.startswith("  changed ")) == files
        assert all(line.startswith(("  changed ", "  created ", "  removed ")) for line in lines)
    assert run(["history", "-m", str(root)]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) < 200
    assert run(["history", "-m", str(root), "--json"]) == 0
    reasons = [it["reason"] for it in json.loads(capsys.readouterr().out)["versions"]]
    assert max(map(len, reasons)) > 200


def test_unsafe_alone_is_wrong_usage(memory: Path, capsys: Printed) -> None:
    assert run(["lint", "-m", str(memory), "--unsafe"]) == 2
    assert "--fix" in capsys.readouterr().err
