"""`ricordo lint --project`, called as a person calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ricordo.cli.main import run
from tests.support.builders import note_text, write_memory

BODY = "Heights come from `src/tides.py`, calls from `src/calls.py`.\n"

Printed = pytest.CaptureFixture[str]


@pytest.fixture
def project(tmp_path: Path, root: Path) -> Path:
    """A project that has one of the two files which a note of the memory `root` names."""
    write_memory(root, {"MEMORY.md": "- [x](x.md)\n", "x.md": note_text("x", BODY)})
    return write_memory(tmp_path / "project", {"src/tides.py": "x = 1\n"})


def rules(printed: Printed) -> list[str]:
    return [finding["rule"] for finding in json.loads(printed.readouterr().out)["findings"]]


def test_claims_are_checked_against_the_project_that_is_named(
    root: Path, project: Path, capsys: Printed
) -> None:
    assert run(["lint", str(root), "--json"]) == 0
    assert rules(capsys) == []
    assert run(["lint", str(root), "--project", str(project), "--json"]) == 0
    assert rules(capsys) == ["missing-path"]
    assert run(["lint", str(root), "--project", str(project), "--fail-on", "info"]) == 1
    assert "x.md:9:47: info[missing-path] src/calls.py does not" in capsys.readouterr().out


def test_show_and_review_take_the_project_that_is_named(
    root: Path, project: Path, capsys: Printed
) -> None:
    for words in (["show", "x", str(root)], ["review", str(root)]):
        assert run(words) == 0
        assert "src/calls.py does not exist" not in capsys.readouterr().out
        assert run([*words, "--project", str(project)]) == 0
        assert "src/calls.py does not exist" in capsys.readouterr().out
        assert run([*words, "--project", str(project / "nowhere")]) == 2


def test_the_project_is_the_one_in_which_the_memory_was_found(
    project: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = write_memory(project / "memory", {"MEMORY.md": "- [x](x.md)\n"})
    write_memory(kept, {"x.md": note_text("x", BODY)})
    monkeypatch.chdir(project)
    assert run(["lint", "--json"]) == 0
    assert rules(capsys) == ["missing-path"]


def test_a_project_that_is_not_there_is_wrong_usage(
    root: Path, project: Path, capsys: Printed
) -> None:
    assert run(["lint", str(root), "--project", str(project / "nowhere")]) == 2
    assert "is not a directory" in capsys.readouterr().err


def test_a_rule_on_the_text_does_not_read_the_project(
    root: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("the project was read")

    monkeypatch.setattr("ricordo.storage.project_tree.list_project", fail)
    assert run(["lint", str(root), "--project", str(project), "--rule", "empty-note"]) == 0


def test_a_fix_by_hand_alone(root: Path, project: Path, capsys: Printed) -> None:
    (project / "src" / "Calls.py").write_text("x = 1\n")
    words = ["lint", str(root), "--project", str(project), "--fix", "--rule", "missing-path"]
    assert run(words) == 0
    assert "0 fixed, 1 not:" in capsys.readouterr().out
    assert run([*words, "--unsafe"]) == 0
    assert "1 fixed, 0 not." in capsys.readouterr().out
    assert "`src/Calls.py`" in (root / "x.md").read_text()


def test_fixed_frontmatter_fixes_no_claim(root: Path, project: Path, capsys: Printed) -> None:
    """Evidence on a note stays valid if another line of it is fixed."""
    write_memory(root, {"x.md": f"{BODY}\nSee [y](Y.md).\n", "y.md": note_text("y")})
    words = ["lint", str(root), "--project", str(project), "--fix", "--unsafe"]
    assert run([*words, "--json"]) == 0
    left = json.loads(capsys.readouterr().out)["fixes"]["not_fixed"]
    assert "missing-path" in {it["rule"] for it in left if it["path"] == "x.md"}


@pytest.mark.parametrize(
    ("line", "is_offered"),
    [
        ("Heights come from `src/calls.py`.", True),
        # both names are known, and what they are to each other
        ("`src/calls.py` is a symlink to `src/Calls.py`.", False),
        ("`src/calls.py` (symlinked) holds them.", False),
        ("`src/calls.py` → the new reader.", False),
        ("Heights come from `src/calls.py`. It points to the reader.", False),
        ("`src/calls.py` ist ein Symlink; er zeigt auf den Leser.", False),
        ("`src/calls.py` 是符号链接。", False),
    ],
)
def test_no_other_name_is_offered_on_a_line_that_knows_it(
    root: Path, project: Path, line: str, is_offered: bool, capsys: Printed
) -> None:
    (project / "src" / "Calls.py").write_text("x = 1\n")
    write_memory(root, {"x.md": note_text("x", f"{line}\n")})
    assert run(["lint", str(root), "--project", str(project), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["findings"]
    fixes = [it["fix"] for it in found if it["rule"] == "missing-path"]
    assert any(fixes) is is_offered


def test_a_search_for_findings_reads_the_project(
    project: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = write_memory(project / "memory", {"MEMORY.md": "- [x](x.md)\n"})
    write_memory(kept, {"x.md": note_text("x", BODY)})
    monkeypatch.chdir(project)
    assert run(["search", "has:missing-path", "--json"]) == 0
    assert [it["path"] for it in json.loads(capsys.readouterr().out)["results"]] == ["x.md"]
