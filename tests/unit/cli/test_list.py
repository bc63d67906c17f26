from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ricordo.agents.claude import folder as claude_settings
from ricordo.cli.main import run
from ricordo.cli.short import render_line
from ricordo.storage.summary_cache import load_summaries, save_summary
from ricordo.text import count_cells
from tests.support.builders import note_text
from tests.unit.machine import Machine, fill, git

SEEN = {
    "/home/ana/tides/.wiki": {"name": "tides", "project": "/home/ana/tides", "notes": 42,
                              "errors": 1, "warnings": 5, "lines": 178, "max_lines": 200,
                              "units": 24_000, "max_units": 25_000},
    "/home/ana/.codex/memories": {"name": "Codex", "project": "", "notes": 1, "errors": 0,
                                  "warnings": 0, "lines": 9, "max_lines": None,
                                  "units": 90, "max_units": None},
}  # fmt: skip


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setattr(claude_settings, "MANAGED_SETTINGS", ())
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "CLAUDE_CODE_PROJECT_DIR_NAME"):
        monkeypatch.delenv(name, raising=False)
    machine = Machine(tmp_path)
    monkeypatch.setenv("HOME", str(machine.home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(machine.path / "config"))
    monkeypatch.setenv("RICORDO_STATE", str(machine.path / "state"))
    monkeypatch.chdir(machine.directory("elsewhere"))
    return machine


def test_the_json_document_has_every_memory(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    project = machine.repository("project")
    memory = machine.memory(project)
    machine.transcript(memory.parent, project)
    fill(machine.home / ".codex" / "memories", "memory_summary.md")
    assert run(["list", "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)["memories"]
    assert set(first) == {"path", "agent", "kind", "project", "notes", "load", "findings"}
    assert (first["path"], first["project"]) == (str(memory), str(project))
    assert (first["agent"], first["kind"], first["notes"]) == ("Claude Code", "claude", 1)
    assert (first["load"]["lines"], first["load"]["max_lines"]) == (1, 200)
    assert "text" not in first["load"]
    assert set(first["findings"]) == {"error", "warning", "info"}
    assert (second["kind"], second["project"]) == ("codex", None)
    assert second["load"]["max_lines"] is None


def test_findings_that_take_evidence_count_from_the_last_full_check(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    project = machine.repository("project")
    (project / "src").mkdir()
    (project / "src" / "a.py").write_text("x = 1\n")
    (project / "src" / "pier.py").write_text("y = 2\n")
    git(project, "add", ".")
    git(project, "commit", "--quiet", "-m", "a pier")
    git(project, "rm", "--quiet", "src/pier.py")
    git(project, "commit", "--quiet", "-m", "no pier")
    memory = machine.memory(project)
    machine.transcript(memory.parent, project)
    (memory / "pier.md").write_text(note_text("pier", "See `src/pier.py`.\n"))

    def warnings() -> int:
        assert run(["list", "--json"]) == 0
        return int(json.loads(capsys.readouterr().out)["memories"][0]["findings"]["warning"])

    assert warnings() == 0
    assert run(["list"]) == 0
    assert (
        "Findings of one memory are counted without project and transcripts"
        in capsys.readouterr().err
    )
    assert run(["lint", str(memory), "--project", str(project)]) == 0
    assert "1 warning" in capsys.readouterr().out
    assert warnings() == 1
    assert warnings() == 1, "it is not forgotten by a look at the notes alone"
    assert run(["list", "--short"]) == 0
    assert "1 warning" in capsys.readouterr().out
    assert run(["list"]) == 0
    assert not capsys.readouterr().err


def test_the_table_is_aligned_and_cannot_steer_the_terminal(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("港", "pier\x1b[2J"):
        project = machine.repository(name)
        machine.transcript(machine.memory(project).parent, project)
    assert run(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["agent", "Claude", "Claude"]
    assert all(line.isprintable() for line in lines)
    assert any("␛" in line for line in lines)


def test_a_machine_without_memories_says_so(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["list"]) == 0
    assert "No memory found on this machine" in capsys.readouterr().out
    assert run(["list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["memories"] == []


def test_what_was_opened_by_its_path_is_in_both_lists_while_it_is_there(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    def listed(*words: str) -> str:
        assert run(["list", *words]) == 0
        return capsys.readouterr().out

    folders = [fill(machine.path / name, "index.md") for name in ("one", "two", "three")]
    for folder in folders:
        assert run(["lint", str(folder), "--fail-on", "never"]) == 0
    capsys.readouterr()
    assert listed("--short").startswith("3 memories: 3 notes")
    paths = [it["path"] for it in json.loads(listed("--json"))["memories"]]
    assert paths == [str(folder) for folder in folders]
    assert len(listed().splitlines()) == 4
    shutil.rmtree(folders[0])
    assert listed("--short").startswith("2 memories: 2 notes")
    assert len(listed().splitlines()) == 3
    for folder in folders[1:]:
        shutil.rmtree(folder)
    assert "no memory" in listed("--short")
    assert listed().startswith("No memory found on this machine")


def test_list_stores_the_numbers_for_the_short_line(
    machine: Machine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    project = machine.repository("project")
    machine.transcript(machine.memory(project).parent, project)
    assert run(["list"]) == 0
    capsys.readouterr()
    (machine.directory("project/deep"))
    monkeypatch.chdir(project / "deep")
    for words in (["list", "--short"], ["--short", "list", "--now", "2026-11-20"]):
        assert run(words) == 0
        assert capsys.readouterr().out.startswith("project: 1 note, load 0%")


def test_a_state_that_cannot_be_written_does_not_spoil_the_list(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    (machine.path / "blocked").touch()
    assert run(["list", "--json", "--state", str(machine.path / "blocked" / "state")]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["memories"] == []
    assert "cannot be written" in captured.err


@pytest.mark.parametrize(
    ("directory", "expected"),
    [
        ("/home/ana/tides", "tides: 42 notes, load 96%, 1 error, 5 warnings"),
        ("/home/ana/tides/deep/er", "tides: 42 notes, load 96%, 1 error, 5 warnings"),
        ("/home/ana/.codex/memories", "Codex: 1 note"),
        ("/home/ana/tides-2", "2 memories: 43 notes, 1 error, 5 warnings"),
        ("", "2 memories: 43 notes, 1 error, 5 warnings"),
    ],
)
def test_the_short_line_is_of_the_memory_here_else_of_all(directory: str, expected: str) -> None:
    assert render_line(SEEN, directory) == expected


def test_the_nearest_project_gives_the_short_line() -> None:
    inner = {"name": "inner", "project": "/home/ana/tides/inner"}
    assert render_line({**SEEN, "/x": inner}, "/home/ana/tides/inner/a") == "inner: empty"


def test_odd_values_do_not_spoil_the_short_line() -> None:
    odd = {"name": 7, "project": [], "notes": "many", "lines": None, "max_lines": 0}
    assert render_line({"/a": odd}, "/a") == "7: empty"
    assert render_line({}, "/a") == "no memory was opened yet"


def test_the_short_line_is_one_visible_line(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    save_summary(str(machine.path / "state"), os.getcwd(), {"name": "a\n\x1b[2J\udcff"})
    assert run(["list", "--short"]) == 0
    assert capsys.readouterr().out == "a␊␛[2J\\xff: empty\n"


@pytest.mark.parametrize("words", [["--state", "DIR"], ["--state=DIR"]])
def test_the_short_line_takes_the_state_that_is_named(
    machine: Machine, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    state = str(machine.path / "other")
    save_summary(state, os.getcwd(), {"name": "here"})
    assert run([*(word.replace("DIR", state) for word in words), "list", "--short"]) == 0
    assert capsys.readouterr().out == "here: empty\n"


def test_a_state_without_a_name_is_wrong_usage(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["list", "--short", "--state"]) == 2
    assert "needs a value" in capsys.readouterr().err


def test_the_short_line_imports_nothing_heavy(machine: Machine) -> None:
    program = (
        "import sys; before = set(sys.modules);"
        "from ricordo.cli.main import run; run(['list', '--short']);"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    imported = set(done.stdout.splitlines()[-1].split())
    heavy = {"typing", "argparse", "dataclasses", "datetime", "subprocess", "unicodedata"}
    assert not imported & heavy
    assert {name for name in imported if name.startswith("ricordo")} == {
        "ricordo",
        "ricordo.cli",
        "ricordo.cli.main",
        "ricordo.cli.short",
        "ricordo.cli.streams",
        "ricordo.storage",
        "ricordo.storage.foreign_file",
        "ricordo.storage.summary_cache",
        "ricordo.storage.state_file",
        "ricordo.resources",
    }


def test_listing_changes_nothing(machine: Machine) -> None:
    project = machine.repository("project")
    memory = machine.memory(project)
    before = {path: path.stat().st_mtime_ns for path in (memory, *memory.iterdir())}
    assert run(["list"]) == 0
    assert {path: path.stat().st_mtime_ns for path in (memory, *memory.iterdir())} == before
    assert list(load_summaries(str(machine.path / "state"))) == [str(memory)]


def test_several_memories_of_a_project_are_told_apart(
    machine: Machine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    project = machine.repository("project")
    for folder in ("docs/memory", ".claude/memory"):
        fill(project / folder, "MEMORY.md")
    monkeypatch.chdir(project)
    assert run(["list"]) == 0
    table = capsys.readouterr().out
    assert f"{project}: docs/memory" in table
    assert f"{project}: .claude/memory" in table


def test_a_folder_that_the_agent_does_not_use_is_said_to_be_another(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    project = machine.repository("project")
    fill(project / "docs/memory", "MEMORY.md")
    other = "Claude Code keeps its memory elsewhere"
    assert run(["load", str(project / "docs/memory")]) == 0
    assert other in capsys.readouterr().err
    memory = machine.memory(project)
    machine.transcript(memory.parent, project)
    assert run(["load", str(memory)]) == 0
    assert other not in capsys.readouterr().err


def test_without_a_memory_the_places_and_a_sample_are_named(
    machine: Machine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(machine.repository("bare"))
    assert run(["lint"]) == 3
    said = capsys.readouterr().err
    assert "of the project (memory or memories at the top" in said
    assert "`ricordo demo` opens a sample" in said
    monkeypatch.chdir(machine.home)
    assert run(["lint"]) == 3
    assert "folders are searched only inside a project" in capsys.readouterr().err


def test_the_report_on_a_memory_has_its_notes_in_columns(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    root = machine.directory("notes")
    for name in ("the-buoys-of-the-harbour-and-of-its-approaches", "潮汐表", "ebb"):
        (root / f"{name}.md").write_text(note_text(name, "Rain.\n", "It"))
    assert run([str(root)]) == 0
    lines = capsys.readouterr().out.split("Load:")[0].splitlines()
    rows = [line for line in lines if line.endswith(".md")]
    assert len(rows) == 3
    assert len({count_cells(row) - count_cells(row.split()[-1]) for row in rows}) == 1
