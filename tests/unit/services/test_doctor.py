"""`ricordo doctor` on planted machines: real repositories, folders of an agent, and transcripts."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sqlite3
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest

from ricordo.agents.claude.folder import make_slug
from ricordo.cli.main import run
from ricordo.services.doctor.identity import normalize_remote
from tests.support.builders import note_text, write_memory
from tests.unit.machine import Machine, git


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine(tmp_path)
    monkeypatch.setenv("HOME", str(machine.home))
    monkeypatch.setenv("RICORDO_STATE", str(machine.path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(machine.home / ".config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(machine.home / ".local/share"))
    monkeypatch.chdir(machine.home)
    return machine


class Doctor:
    """Runs the command on this machine."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def find(self, check: str = "") -> list[dict[str, Any]]:
        """Return the problems that one check finds; all problems without one."""
        code = run(["doctor", "--json"])
        document = json.loads(self._capsys.readouterr().out)
        problems = document["problems"]
        assert code == int(any(it["severity"] != "info" for it in problems))
        return [it for it in problems if check in ("", it["check"])]

    def fix(self, problem: dict[str, Any], *words: str) -> str:
        assert run(["doctor", "--fix", problem["id"], "--yes", *words]) == 0
        return self._capsys.readouterr().out


@pytest.fixture
def doctor(machine: Machine, capsys: pytest.CaptureFixture[str]) -> Doctor:
    return Doctor(capsys)


def repository(machine: Machine, name: str) -> Path:
    """Return a repository whose first commit no other one has."""
    path = machine.directory(name)
    git(path, "init", "--quiet")
    git(path, "commit", "--quiet", "--allow-empty", "-m", f"begin {name}")
    return path


def plant(machine: Machine, project: Path | str, name: str, **notes: str) -> Path:
    """Make a memory of `project` with a session, and with a note and its entry for each of `notes`;
    return its directory.
    """
    folder = machine.project_folder(project)
    machine.transcript(folder, project, name)
    files = {f"{note}.md": note_text(note, body) for note, body in notes.items()}
    index = "".join(f"- [{note}]({note}.md) — about {note}\n" for note in notes)
    return write_memory(folder / "memory", {"MEMORY.md": f"# Memory\n\n{index}", **files})


def say(folder: Path, session: str, cwd: Path | str, **fields: Any) -> None:
    """Add a line to a transcript."""
    line = {"type": "user", "cwd": str(cwd), "sessionId": session, "uuid": f"u{len(fields)}"}
    with (folder / f"{session}.jsonl").open("a") as file:
        file.write(json.dumps({**line, **fields}) + "\n")


def notes_of(root: Path) -> set[str]:
    return {path.name for path in root.glob("*.md")} if root.is_dir() else set()


def test_a_healthy_machine_has_no_problem(machine: Machine, doctor: Doctor):
    project = repository(machine, "tidepool")
    plant(machine, project, "a", pier="In the harbour.\n")
    assert {it["check"] for it in doctor.find()} == {"hooks-missing"}


def test_the_memory_of_a_renamed_project_is_found_and_joined(machine: Machine, doctor: Doctor):
    old = repository(machine, "code/tidepool")
    for name in ("tables/tide.py", "tables/moon.py", "tables/port.py"):
        (old / name).parent.mkdir(exist_ok=True)
        (old / name).write_text("x = 1\n")
    source = plant(machine, old, "a", pier="See [[boat]].\n", boat="Sails on Mondays.\n")
    folder = machine.project_folder(old)
    for name in ("tide", "moon", "port"):
        say(folder, "a", old, tool={"file_path": f"{old}/tables/{name}.py"})
    new = machine.path / "code/harbour-tables"
    old.rename(new)
    target = plant(machine, new, "b", pier="The other pier.\n", ferry="At noon.\n")
    (machine.config / "history.jsonl").write_text(json.dumps({"project": str(old)}) + "\n")
    settings = {"projects": {f"{old}-two": {}}}
    (machine.home / ".claude.json").write_text(json.dumps(settings))
    (problem,) = doctor.find("renamed-project")
    assert problem["severity"] == "warning"
    assert any("3 of 3 files" in line for line in problem["evidence"])
    held = " ".join(problem["other_places"])
    assert "history.jsonl" in held
    # a sibling whose name only begins alike is another project
    assert ".claude.json" not in held
    said = doctor.fix(problem)
    assert "left alone" in said
    assert notes_of(source) == set()
    assert notes_of(target) == {"MEMORY.md", "pier.md", "pier-2.md", "boat.md", "ferry.md"}
    assert "The other pier." in (target / "pier.md").read_text()
    assert "[[boat]]" in (target / "pier-2.md").read_text()
    index = (target / "MEMORY.md").read_text()
    assert "## From tidepool" in index
    assert "(pier-2.md)" in index
    assert "(boat.md)" in index
    assert index.count("# Memory") == 1
    assert (machine.config / "history.jsonl").read_text().count(str(old)) == 1
    assert doctor.find("renamed-project") == []


def test_a_join_is_undone_byte_for_byte(
    machine: Machine, doctor: Doctor, capsys: pytest.CaptureFixture[str]
):
    project = repository(machine, "tidepool")
    worktree = machine.worktree(project, "tidepool-fix")
    source = plant(machine, worktree, "a", boat="Sails.\n")
    target = plant(machine, project, "b", pier="In the harbour.\n")
    before = {path: path.read_bytes() for root in (source, target) for path in root.iterdir()}
    (problem,) = doctor.find("worktree-memory")
    os.utime(source / "boat.md", (1_700_000_000, 1_700_000_000))
    doctor.fix(problem)
    assert notes_of(target) == {"MEMORY.md", "pier.md", "boat.md"}
    assert (target / "boat.md").stat().st_mtime == 1_700_000_000
    assert run(["undo", str(target)]) == 0
    assert (source / "boat.md").stat().st_mtime == 1_700_000_000
    after = {path: path.read_bytes() for root in (source, target) for path in root.iterdir()}
    assert after == before
    capsys.readouterr()
    assert [it["id"] for it in doctor.find("worktree-memory")] == [problem["id"]]


def test_the_memory_of_a_moved_project_moves_where_none_is(
    machine: Machine, doctor: Doctor, capsys: pytest.CaptureFixture[str]
):
    old = repository(machine, "old/tidepool")
    commit = git(old, "rev-parse", "--short", "HEAD").strip()
    source = plant(machine, old, "a", pier="In the harbour.\n")
    say(machine.project_folder(old), "a", old, message=f"[main {commit}] begin")
    new = machine.path / "work/tidepool"
    new.parent.mkdir()
    old.rename(new)
    machine.transcript(machine.project_folder(new), new, "b")
    (problem,) = doctor.find("moved-project")
    text = (source / "MEMORY.md").read_bytes()
    doctor.fix(problem)
    target = machine.project_folder(new) / "memory"
    assert notes_of(target) == {"MEMORY.md", "pier.md"}
    assert (target / "MEMORY.md").read_bytes() == text.removeprefix(b"# Memory\n\n")
    assert doctor.find("moved-project") == []
    # what the repair created is removed with it, and can be made again
    assert run(["undo", str(target)]) == 0
    assert not target.exists()
    assert target.parent.is_dir()
    assert (source / "MEMORY.md").read_bytes() == text
    capsys.readouterr()
    doctor.fix(problem)
    (target / "boat.md").write_text(note_text("boat", "Sails.\n"))
    assert run(["undo", str(target)]) == 0
    assert notes_of(target) == {"boat.md"}


def test_transcripts_whose_times_are_none(machine: Machine, doctor: Doctor):
    old = repository(machine, "old/tidepool")
    plant(machine, old, "a", pier="In the harbour.\n")
    folder = machine.project_folder(old)
    for session, time in (("a", "2026-99-99T99:99:99.000Z"), ("b", "0001-01-01T00:00:00.000Z")):
        machine.transcript(folder, old, session)
        say(folder, session, old, timestamp=time)
    old.rename(machine.path / "old/harbour")
    new = repository(machine, "work/tidepool")
    machine.transcript(machine.project_folder(new), new, "c")
    (problem,) = doctor.find("orphan-memory")
    assert f"{new} may be it: both are called tidepool" in problem["evidence"][1]


def test_a_project_that_only_has_the_name_is_named_and_not_chosen(machine: Machine, doctor: Doctor):
    old = repository(machine, "old/tidepool")
    plant(machine, old, "a", pier="In the harbour.\n")
    shutil.rmtree(old)
    new = repository(machine, "work/tidepool")
    machine.transcript(machine.project_folder(new), new, "b")
    (problem,) = doctor.find("orphan-memory")
    assert (problem["severity"], problem["repair"]) == ("info", None)
    assert f"{new} may be it" in problem["evidence"][1]
    assert f"--fix {problem['id']} --into DIR" in problem["advice"]


def test_a_disk_that_is_not_mounted_is_no_project_that_is_gone(machine: Machine, doctor: Doctor):
    machine.directory("mnt/disk")
    plant(machine, machine.path / "mnt/disk/photos", "a", pier="In the harbour.\n")
    (problem,) = doctor.find("orphan-memory")
    assert "cannot be reached now" in problem["what"]
    assert "is empty" in problem["evidence"][0]


def test_commits_that_sessions_only_listed_name_the_project(machine: Machine, doctor: Doctor):
    old = repository(machine, "code/tidepool")
    git(old, "commit", "--quiet", "--allow-empty", "-m", "add tables")
    listed = git(old, "log", "--oneline")
    plant(machine, old, "a", pier="In the harbour.\n")
    say(machine.project_folder(old), "a", old, content=f"550e8400-e29b-41d4-a716 {listed}")
    old.rename(machine.path / "code/harbour")
    repository(machine, "code/tidepool-docs")
    (problem,) = doctor.find("renamed-project")
    assert str(machine.path / "code/harbour") in problem["what"]


def test_a_project_of_which_nothing_is_left_is_named_by_the_user(
    machine: Machine, doctor: Doctor, capsys: pytest.CaptureFixture[str]
):
    old = repository(machine, "old/tidepool")
    source = plant(machine, old, "a", pier="In the harbour.\n")
    shutil.rmtree(old)
    new = repository(machine, "work/harbour")
    (problem,) = doctor.find("orphan-memory")
    assert problem["repair"] is None
    assert run(["doctor", "--fix", problem["id"], "--yes"]) == 2
    assert run(["doctor", "--fix", problem["id"], "--into", str(new)]) == 4
    shown = capsys.readouterr().err
    assert "move " in shown
    assert notes_of(source) == {"MEMORY.md", "pier.md"}
    doctor.fix(problem, "--into", str(new))
    assert "pier.md" in notes_of(machine.project_folder(new) / "memory")


def test_a_renamed_project_is_found_among_many(machine: Machine, doctor: Doctor):
    old = repository(machine, "code/tidepool")
    commit = git(old, "rev-parse", "--short", "HEAD").strip()
    plant(machine, old, "a", pier="In the harbour.\n")
    say(machine.project_folder(old), "a", old, message=f"[main {commit}] begin")
    for number in range(50):
        other = machine.directory(f"code/a{number}")
        machine.transcript(machine.project_folder(other), other)
    old.rename(machine.path / "code/zoo")
    (problem,) = doctor.find("renamed-project")
    assert problem["severity"] == "warning"
    assert str(machine.path / "code/zoo") in problem["what"]
    assert doctor.find("orphan-memory") == []


def test_a_project_is_not_part_of_a_folder_around_it(machine: Machine, doctor: Doctor):
    old = repository(machine, "home/old/tidepool")
    plant(machine, old, "a", pier="In the harbour.\n")
    machine.transcript(machine.project_folder(machine.home), machine.home)
    git(machine.home, "init", "--quiet")
    git(machine.home, "commit", "--quiet", "--allow-empty", "-m", "keep settings")
    shutil.rmtree(old)
    assert [it["check"] for it in doctor.find() if it["repair"]] == []
    assert len(doctor.find("orphan-memory")) == 1


def test_a_folder_of_a_repository_that_is_gone_was_part_of_it(machine: Machine, doctor: Doctor):
    project = repository(machine, "tidepool")
    inside = machine.directory("tidepool/tables")
    (inside / "tide.py").write_text("x = 1\n")
    git(project, "add", "-A")
    git(project, "commit", "--quiet", "-m", "add tables")
    plant(machine, inside, "a", boat="Sails.\n")
    machine.transcript(machine.project_folder(project), project)
    shutil.rmtree(inside)
    (problem,) = doctor.find("subfolder-memory")
    assert problem["paths"][1] == str(machine.project_folder(project) / "memory")


@pytest.mark.parametrize("place", ["tidepool/.claude/worktrees/fix", "tidepool-fix"])
def test_a_worktree_that_is_gone(machine: Machine, doctor: Doctor, place: str):
    project = repository(machine, "tidepool")
    worktree = machine.worktree(project, place)
    source = plant(machine, worktree, "a", boat="Sails.\n")
    machine.transcript(machine.project_folder(project), project)
    shutil.rmtree(worktree)
    (problem,) = doctor.find("worktree-memory")
    assert problem["paths"] == [str(source), str(machine.project_folder(project) / "memory")]


def test_a_worktree_that_was_moved_without_git(machine: Machine, doctor: Doctor):
    project = repository(machine, "tidepool")
    worktree = machine.worktree(project, "tidepool-fix")
    plant(machine, worktree, "a", boat="Sails.\n")
    machine.transcript(machine.project_folder(project), project)
    now = machine.directory("trees") / "fix"
    worktree.rename(now)
    machine.transcript(machine.project_folder(now), now, "b")
    (problem,) = doctor.find("worktree-memory")
    assert f"{worktree}, which is now {now}, was a worktree" in problem["evidence"][0]
    command = shlex.join(["git", "-C", str(project), "worktree", "repair", str(now)])
    assert command in problem["advice"]
    doctor.fix(problem)
    assert doctor.find("worktree-memory") == []


def test_a_worktree_of_which_git_has_no_record_is_known_by_its_branch(
    machine: Machine, doctor: Doctor
):
    project, other = repository(machine, "tidepool"), repository(machine, "kitchen")
    git(project, "branch", "fix-tides")
    for path in (project, other):
        plant(machine, path, path.name, pier=f"Of {path.name}.\n")
    machine.worktree(project, "tidepool-trees/port")
    gone = machine.path / "tidepool-trees/fix"
    plant(machine, gone, "b", boat="Sails.\n")
    say(machine.project_folder(gone), "b", gone, gitBranch="fix-tides")
    (problem,) = (it for it in doctor.find() if it["repair"])
    assert problem["severity"] == "warning"
    assert problem["paths"][1] == str(machine.project_folder(project) / "memory")
    assert any("its branch fix-tides" in line for line in problem["evidence"])


def test_a_copy_that_is_gone_is_not_called_renamed(machine: Machine, doctor: Doctor):
    project = repository(machine, "tidepool")
    commit = git(project, "rev-parse", "--short", "HEAD").strip()
    copy = machine.path / "tidepool-copy"
    git(machine.path, "clone", "--quiet", str(project), str(copy))
    for path, name, day in ((project, "a", 10), (copy, "b", 12)):
        plant(machine, path, name, pier=f"In harbour {name}.\n")
        at = f"2026-11-{day}T08:00:00.000Z"
        say(machine.project_folder(path), name, path, message=f"[main {commit}]", timestamp=at)
    shutil.rmtree(copy)
    (problem,) = doctor.find("split-memory")
    assert any(line.endswith("at the same time") for line in problem["evidence"])


def test_projects_without_transcripts_are_known_by_name(machine: Machine, doctor: Doctor):
    here = machine.directory("here/tide.pool")
    gone = machine.path / "gone/pier"
    for path in (here, gone):
        files = {"MEMORY.md": "- [Boat](boat.md)\n", "boat.md": note_text("boat", "Sails.\n")}
        write_memory(machine.project_folder(path) / "memory", files)
    prompt = json.dumps({"display": "Hello", "project": str(gone)}) + "\n"
    (machine.config / "history.jsonl").write_text(prompt)
    (problem,) = doctor.find("orphan-memory")
    assert problem["evidence"] == [f"{gone} is gone"]


def test_a_project_with_a_long_path_loads_the_folder_with_the_cut_name(
    machine: Machine, doctor: Doctor
):
    project = repository(machine, "x" * 220)
    folder = machine.project_folder("short")
    folder = folder.rename(folder.with_name(f"{make_slug(str(project))[:200]}-1a2b3c"))
    machine.transcript(folder, project)
    files = {"MEMORY.md": "- [Boat](boat.md)\n", "boat.md": note_text("boat", "Sails.\n")}
    write_memory(folder / "memory", files)
    assert [it for it in doctor.find() if it["repair"]] == []


def plant_cut(machine: Machine, project: Path, hash: str, session: str = "", **notes: str) -> Path:
    """Make a memory in the folder with the cut name of a long path, with a session if one is
    named.
    """
    root = plant(machine, project, "none", **notes)
    folder = root.parent.rename(root.parent.with_name(f"{make_slug(str(project))[:200]}-{hash}"))
    (folder / "none.jsonl").unlink()
    if session:
        machine.transcript(folder, project, session)
    return folder / "memory"


@pytest.fixture
def short_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has paths whose folders have cut names although no name of a file is that long."""
    monkeypatch.setattr("tests.unit.machine.make_slug", lambda path: make_slug(path)[:200])


@pytest.mark.usefixtures("short_names")
@pytest.mark.parametrize("above", ["x" * 190, "x" * 250])
def test_projects_with_long_paths_whose_names_begin_alike(
    machine: Machine, doctor: Doctor, above: str
):
    around = machine.directory(above)
    projects = [repository(machine, f"{above}/{name}") for name in ("tides", "tides-old")]
    for number, project in enumerate(projects):
        plant_cut(machine, project, f"a{number}", f"s{number}", pier=f"Of {project.name}.\n")
    # the folder around them is known, too
    (machine.config / "history.jsonl").write_text(json.dumps({"project": str(around)}) + "\n")
    assert {it["check"] for it in doctor.find()} == {"hooks-missing"}


@pytest.mark.usefixtures("short_names")
def test_notes_are_not_moved_where_no_session_shows_whose_they_are(
    machine: Machine, doctor: Doctor
):
    project, other = (repository(machine, f"{'x' * 220}{it}") for it in ("tides", "moon"))
    plant_cut(machine, project, "a1", pier="In the harbour.\n")
    plant_cut(machine, other, "a2", "s", boat="Sails.\n")
    lines = "".join(json.dumps({"project": str(it)}) + "\n" for it in (project, other))
    (machine.config / "history.jsonl").write_text(lines)
    (problem,) = (it for it in doctor.find() if it["check"] != "hooks-missing")
    assert (problem["check"], problem["repair"]) == ("orphan-memory", None)
    assert "No project is known for 1 note" in problem["what"]


@pytest.mark.usefixtures("short_names")
def test_notes_are_not_moved_to_a_directory_whose_name_is_not_known(
    machine: Machine, doctor: Doctor, capsys: pytest.CaptureFixture[str]
):
    project = repository(machine, "x" * 220)
    worktree = machine.worktree(project, "tides")
    plant(machine, worktree, "a", pier="In the harbour.\n")
    (problem,) = doctor.find("worktree-memory")
    assert problem["repair"] is None
    assert f"Start the agent once in {project}" in problem["advice"]
    assert run(["doctor", "--fix", problem["id"], "--yes", "--into", str(project)]) == 2
    assert "Start the agent once" in capsys.readouterr().err
    folder = plant_cut(machine, project, "a1", "b", boat="Sails.\n")
    (problem,) = doctor.find("worktree-memory")
    doctor.fix(problem)
    assert notes_of(folder) == {"MEMORY.md", "pier.md", "boat.md"}


def test_notes_in_the_memory_of_a_bare_repository_stay_there(machine: Machine, doctor: Doctor):
    origin = repository(machine, "origin")
    around = machine.directory("tides")
    git(origin, "clone", "--quiet", "--bare", str(origin), str(around / ".bare"))
    (around / ".git").write_text("gitdir: ./.bare\n")
    for name in ("main", "fix"):
        git(around / ".bare", "worktree", "add", "--quiet", "--detach", str(around / name))
        plant(machine, around / name, name, pier=f"Of {name}.\n")
    problems = doctor.find("worktree-memory")
    assert len(problems) == 2
    for problem in problems:
        doctor.fix(problem)
    loaded = machine.project_folder(around / ".bare") / "memory"
    assert notes_of(loaded) == {"MEMORY.md", "pier.md", "pier-2.md"}
    assert [it["check"] for it in doctor.find() if it["repair"]] == []


def test_a_gone_project_with_letters_of_other_scripts(machine: Machine, doctor: Doctor):
    old = machine.directory("code/дневник")
    for name in ("прилив.py", "луна.py", "порт.py"):
        (old / name).write_text("x = 1\n")
    source = plant(machine, old, "a", pier="In the harbour.\n")
    for number, path in enumerate(old.iterdir()):
        line = {"type": "user", "cwd": str(old), "file_path": str(path)}
        with (source.parent / "a.jsonl").open("a") as file:
            file.write(json.dumps(line, ensure_ascii=number == 0) + "\n")
    new = machine.path / "code/journal"
    old.rename(new)
    machine.transcript(machine.project_folder(new), new, "b")
    (problem,) = doctor.find("renamed-project")
    assert any("3 of 3 files" in line for line in problem["evidence"])


def test_two_names_of_one_project_are_twins(machine: Machine, doctor: Doctor):
    project = repository(machine, "my_tide.pool")
    folder = machine.project_folder(project)
    target = plant(machine, project, "a", pier="In the harbour.\n")
    twin = folder.with_name(folder.name.replace("my-tide", "my_tide").upper())
    write_memory(twin / "memory", {"boat.md": note_text("boat", "Sails.\n")})
    (problem,) = doctor.find("twin-memory")
    doctor.fix(problem)
    assert "boat.md" in notes_of(target)


def test_the_memory_of_a_folder_of_a_repository_is_joined(machine: Machine, doctor: Doctor):
    project = repository(machine, "tidepool")
    inside = machine.directory("tidepool/tables")
    source = plant(machine, inside, "a", boat="Sails.\n")
    target = plant(machine, project, "b", pier="In the harbour.\n")
    (problem,) = doctor.find("subfolder-memory")
    doctor.fix(problem)
    assert notes_of(source) == set()
    assert "boat.md" in notes_of(target)


def test_a_note_that_is_in_both_memories_is_there_once(machine: Machine, doctor: Doctor):
    project = repository(machine, "tidepool")
    worktree = machine.worktree(project, "tidepool-fix")
    source = plant(machine, worktree, "a", pier="In the harbour.\n", boat="See [[pier]].\n")
    target = plant(machine, project, "b", pier="In the harbour.\n")
    (problem,) = doctor.find("worktree-memory")
    doctor.fix(problem)
    assert notes_of(source) == set()
    assert notes_of(target) == {"MEMORY.md", "pier.md", "boat.md"}
    assert (target / "MEMORY.md").read_text().count("(pier.md)") == 1


def test_sessions_of_another_project_are_a_mixed_memory(machine: Machine, doctor: Doctor):
    project, other = repository(machine, "tidepool"), repository(machine, "kitchen")
    root = plant(machine, project, "a", pier="See [[bread]].\n", bread="Flour.\n", salt="Salt.\n")
    machine.transcript(machine.project_folder(project), other, "b")
    bread = root / "bread.md"
    head = "node_type: memory\n"
    bread.write_text(bread.read_text().replace(head, f"{head}  originSessionId: b\n"))
    salt = {"file_path": str(root / "salt.md"), "content": "Salt.\n"}
    use = {"type": "tool_use", "id": "t1", "name": "Write", "input": salt}
    message = {"role": "assistant", "content": [use]}
    say(machine.project_folder(project), "b", other, type="assistant", message=message)
    (problem,) = doctor.find("mixed-memory")
    assert any("bread.md, salt.md" in line for line in problem["evidence"])
    doctor.fix(problem)
    assert notes_of(root) == {"MEMORY.md", "pier.md"}
    assert "See bread." in (root / "pier.md").read_text()
    assert "bread.md" not in (root / "MEMORY.md").read_text()
    target = machine.project_folder(other) / "memory"
    assert notes_of(target) == {"MEMORY.md", "bread.md", "salt.md"}
    assert "(bread.md)" in (target / "MEMORY.md").read_text()
    assert doctor.find("mixed-memory") == []


def test_a_clone_of_the_same_project_is_no_other_one(machine: Machine, doctor: Doctor):
    project = repository(machine, "tidepool")
    clone = machine.path / "again"
    git(machine.path, "clone", "--quiet", str(project), str(clone))
    plant(machine, project, "a", pier="In the harbour.\n")
    machine.transcript(machine.project_folder(project), clone, "b")
    assert doctor.find("mixed-memory") == []


def test_settings_that_point_elsewhere_are_told_and_the_notes_adopted(
    machine: Machine, doctor: Doctor
):
    project = repository(machine, "tidepool")
    source = plant(machine, project, "a", pier="In the harbour.\n")
    elsewhere = machine.path / "notes"
    settings = project / ".claude/settings.local.json"
    machine.settings(settings, {"autoMemoryDirectory": str(elsewhere)})
    (setting,) = doctor.find("memory-setting")
    assert (setting["severity"], setting["paths"]) == ("info", [str(settings)])
    # it may be on a disk that is not mounted
    (problem,) = doctor.find("redirected-memory")
    assert problem["repair"] is None
    assert "Remove it, or mount the disk" in problem["advice"]
    elsewhere.mkdir()
    (problem,) = doctor.find("redirected-memory")
    doctor.fix(problem)
    assert notes_of(source) == set()
    assert notes_of(elsewhere) == {"MEMORY.md", "pier.md"}
    machine.settings(project / ".claude/settings.json", {"autoMemoryDirectory": "/srv/notes"})
    assert {it["severity"] for it in doctor.find("memory-setting")} == {"info", "warning"}


def test_a_setting_that_names_a_relative_directory(machine: Machine, doctor: Doctor):
    project = repository(machine, "tidepool")
    loaded = plant(machine, project, "a", pier="In the harbour.\n")
    notes = write_memory(project / "notes", {"boat.md": note_text("boat", "Sails.\n")})
    file = machine.settings(project / ".claude/settings.json", {"autoMemoryDirectory": "./notes"})
    (problem,) = doctor.find("memory-setting")
    assert "./notes does not count" in problem["what"]
    assert problem["evidence"] == [
        f"autoMemoryDirectory in {file}",
        f"sessions in {project} load {loaded}",
        f"the notes in {notes} are not loaded",
    ]


def test_notes_are_not_moved_where_several_projects_would_load_them(
    machine: Machine, doctor: Doctor
):
    projects = [repository(machine, name) for name in ("tidepool", "kitchen")]
    for number, project in enumerate(projects):
        plant(machine, project, f"s{number}", pier=f"In harbour {number}.\n")
    files = {"MEMORY.md": "- [Boat](boat.md)\n", "boat.md": note_text("boat", "Sails.\n")}
    elsewhere = write_memory(machine.path / "notes", files)
    machine.settings(machine.config / "settings.json", {"autoMemoryDirectory": str(elsewhere)})
    (shared,) = doctor.find("shared-memory")
    assert shared["paths"][0] == str(elsewhere)
    redirected = doctor.find("redirected-memory")
    assert [it["repair"] for it in redirected] == [None, None]
    assert all("Without the setting" in it["advice"] for it in redirected)


def test_a_directory_that_another_project_took_over(machine: Machine, doctor: Doctor):
    old = machine.directory("api")
    git(old, "init", "--quiet")
    for name in ("begin billing", "add fees"):
        git(old, "commit", "--quiet", "--allow-empty", "-m", name, at="2026-05-01T08:00:00Z")
    listed = git(old, "log", "--oneline")
    root = plant(machine, old, "a", fees="Net.\n", lights="At night.\n")
    folder = machine.project_folder(old)
    machine.transcript(folder, old, "b")
    say(folder, "a", old, content=listed, timestamp="2026-06-01T08:00:00.000Z")
    say(folder, "b", old, content="hello", timestamp="2026-11-10T08:00:00.000Z")
    for session, name in (("a", "fees"), ("b", "lights")):
        note = root / f"{name}.md"
        head = "node_type: memory\n"
        note.write_text(note.read_text().replace(head, f"{head}  originSessionId: {session}\n"))
    old.rename(machine.path / "billing")
    machine.transcript(machine.project_folder(machine.path / "billing"), machine.path / "billing")
    new = machine.directory("api")
    git(new, "init", "--quiet")
    git(new, "commit", "--quiet", "--allow-empty", "-m", "begin api", at="2026-11-01T08:00:00Z")
    (problem,) = doctor.find("mixed-memory")
    assert "older than the repository" in problem["evidence"][0]
    doctor.fix(problem)
    assert notes_of(root) == {"MEMORY.md", "lights.md"}
    billing = machine.project_folder(machine.path / "billing") / "memory"
    assert notes_of(billing) == {"MEMORY.md", "fees.md"}
    assert doctor.find("mixed-memory") == []


def test_notes_of_sessions_that_began_in_the_folder_around(machine: Machine, doctor: Doctor):
    above = machine.directory("src")
    blog = machine.directory("src/blog")
    git(blog, "init", "--quiet")
    git(blog, "commit", "--quiet", "--allow-empty", "-m", "begin", at="2026-05-01T08:00:00Z")
    root = plant(machine, above, "a", theme="Light.\n", all="For all.\n")
    say(machine.project_folder(above), "a", blog, timestamp="2026-06-01T08:00:00.000Z")
    note = root / "theme.md"
    head = "node_type: memory\n"
    note.write_text(note.read_text().replace(head, f"{head}  originSessionId: a\n"))
    (problem,) = doctor.find("mixed-memory")
    assert any("theme.md" in line for line in problem["evidence"])
    doctor.fix(problem)
    assert notes_of(root) == {"MEMORY.md", "all.md"}


def test_settings_for_all_projects_make_one_memory_of_several(machine: Machine, doctor: Doctor):
    projects = [repository(machine, name) for name in ("tidepool", "kitchen")]
    folder = machine.project_folder(projects[0])
    for number, project in enumerate(projects):
        plant(machine, project, f"s{number}", pier="In the harbour.\n")
    machine.settings(
        machine.config / "settings.json", {"autoMemoryDirectory": str(folder / "memory")}
    )
    (shared,) = doctor.find("shared-memory")
    assert all(str(project) in shared["what"] for project in projects)


def test_hooks_that_are_missing_doubled_or_slow(
    machine: Machine, doctor: Doctor, capsys: pytest.CaptureFixture[str]
):
    project = repository(machine, "tidepool")
    plant(machine, project, "a", pier="In the harbour.\n")
    folder = machine.project_folder(project)
    for command, ms in (("slow-hook --all", 900), ("ricordo hook prompt", 12)) * 3:
        attachment = {"type": "hook_success", "hookEvent": "UserPromptSubmit"}
        timed = {**attachment, "command": command, "durationMs": ms}
        say(folder, "a", project, type="attachment", attachment=timed)
    hook = {"hooks": [{"type": "command", "command": "ricordo hook prompt"}]}
    (missing,) = (it for it in doctor.find("hooks-missing") if "Claude Code" in it["what"])
    machine.settings(machine.config / "settings.json", {"hooks": {"UserPromptSubmit": [hook]}})
    assert missing["id"] not in {it["id"] for it in doctor.find("hooks-missing")}
    (slow,) = doctor.find("hook-slow")
    assert "900 ms of each prompt: slow-hook --all" in slow["what"]
    assert run(["connect", "claude", "--yes"]) == 0
    capsys.readouterr()
    problems = doctor.find()
    (doubled,) = (it for it in problems if it["check"] == "hooks-doubled")
    assert "2 times at UserPromptSubmit" in doubled["what"]
    assert not {"connection-incomplete", "server-unreachable"} & {it["check"] for it in problems}
    (machine.config / "skills/ricordo/hooks/hooks.json").unlink()
    (incomplete,) = doctor.find("connection-incomplete")
    assert "Claude Code is incomplete" in incomplete["what"]
    assert run(["doctor"]) == 1
    assert "12 ms a prompt  Claude Code UserPromptSubmit: ricordo hook" in capsys.readouterr().out


def test_one_command_in_two_files_is_run_once(machine: Machine, doctor: Doctor):
    project, other = repository(machine, "tidepool"), repository(machine, "kitchen")
    for number, path in enumerate((project, other)):
        plant(machine, path, f"s{number}", pier="In the harbour.\n")

    def hook(file: Path, command: str) -> None:
        hooks = [{"hooks": [{"type": "command", "command": command}]}]
        machine.settings(file, {"hooks": {"UserPromptSubmit": hooks}})

    user = machine.config / "settings.json"
    hook(user, "ricordo hook prompt")
    hook(project / ".claude/settings.json", "ricordo hook prompt")
    assert doctor.find("hooks-doubled") == []
    user.unlink()
    hook(other / ".claude/settings.json", "/usr/bin/ricordo hook prompt")
    assert doctor.find("hooks-doubled") == []
    hook(user, "~/bin/ricordo hook prompt")
    assert len(doctor.find("hooks-doubled")) == 2


def run_at(event: str, *commands: str, **fields: str) -> dict[str, Any]:
    hooks = [{"type": "command", "command": command} for command in commands]
    return {"hooks": {event: [{"hooks": hooks, **fields}]}}


@pytest.mark.parametrize(
    ("command", "is_broken"),
    [
        ("@/bin/gone.py start", True),
        ("python3 -u @/bin/gone.py", False),
        ("python3 @/bin/gone.py --all", True),
        ("/usr/bin/env LANG=C node @/bin/gone.mjs", True),
        ("test -f x && @/bin/gone.py", False),
        ("~/bin/gone.py", True),
        ('"$HOME/my tools/note time.sh" start', False),
        ("sh '@/my tools/plain.sh'", False),
        ("'@/my tools/plain.sh'", True),
        ('"$CLAUDE_PROJECT_DIR"/.claude/gone.sh', False),
        ("$UNKNOWN/gone.sh", False),
        ("git status --short >/dev/null", False),
        ("python3 -c 'print(1)' /gone", False),
        ("echo 'an open quote", False),
    ],
)
def test_a_hook_whose_program_is_gone(
    machine: Machine, doctor: Doctor, command: str, is_broken: bool
):
    tools = machine.home / "my tools"
    tools.mkdir()
    for name, mode in (("note time.sh", 0o755), ("plain.sh", 0o644)):
        (tools / name).write_text("exit 0\n")
        (tools / name).chmod(mode)
    command = command.replace("@", str(machine.home))
    machine.settings(machine.config / "settings.json", run_at("SessionStart", command))
    assert bool(doctor.find("hook-broken")) is is_broken


def test_a_hook_of_a_project_is_looked_for_in_the_project(machine: Machine, doctor: Doctor):
    project = repository(machine, "tidepool")
    plant(machine, project, "a", pier="In the harbour.\n")
    script = project / ".claude/format.sh"
    hook = run_at("PostToolUse", '"$CLAUDE_PROJECT_DIR"/.claude/format.sh')
    machine.settings(project / ".claude/settings.json", hook)
    assert str(script) in doctor.find("hook-broken")[0]["what"]
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    assert doctor.find("hook-broken") == []


@pytest.mark.parametrize(
    ("matcher", "event", "is_doubled"),
    [("startup", "SessionStart", True), ("resume", "SessionStart", False), ("", "Stop", False)],
)
def test_a_script_that_runs_twice(
    machine: Machine, doctor: Doctor, matcher: str, event: str, is_doubled: bool
):
    project = repository(machine, "tidepool")
    plant(machine, project, "a", pier="In the harbour.\n")
    script = machine.home / "remind.py"
    script.write_text("#!/usr/bin/env python3\n")
    script.chmod(0o755)
    user = run_at("SessionStart", str(script), matcher="startup|clear")
    machine.settings(machine.config / "settings.json", user)
    own = run_at(event, f"/usr/bin/env python3 {script}", matcher=matcher)
    machine.settings(project / ".claude/settings.json", own)
    assert bool(doctor.find("hooks-doubled")) is is_doubled


def test_instructions_of_the_user_that_are_not_read(machine: Machine, doctor: Doctor):
    codex = machine.home / ".codex"
    codex.mkdir()
    (codex / "AGENTS.md").write_text("Small commits.\n")
    assert doctor.find("instructions-shadowed") == []
    (codex / "AGENTS.override.md").write_text("For the demo.\n")
    (shadowed,) = doctor.find("instructions-shadowed")
    assert shadowed["paths"][0] == str(codex / "AGENTS.md")
    there, gone = machine.home / "there.md", machine.home / "gone.md"
    there.write_text("Be brief.\n")
    named = [str(there), str(gone), "~/gone-too.md", f"{machine.home}/*.md", "docs/x.md"]
    machine.settings(machine.home / ".config/opencode/opencode.json", {"instructions": named})
    missing = {it["paths"][0] for it in doctor.find("instructions-missing")}
    assert missing == {str(gone), str(machine.home / "gone-too.md")}


def test_a_server_that_a_repository_names_is_not_started(machine: Machine, doctor: Doctor):
    project = repository(machine, "tidepool")
    plant(machine, project, "a", pier="In the harbour.\n")
    mark = machine.path / "started"
    server = {"command": "touch", "args": [str(mark)]}
    machine.settings(project / ".mcp.json", {"mcpServers": {"ricordo": server}})
    assert doctor.find("server-unreachable") == []
    assert not mark.exists()
    machine.settings(machine.home / ".claude.json", {"mcpServers": {"ricordo": server}})
    assert len(doctor.find("server-unreachable")) == 1
    assert mark.exists()


def test_a_server_whose_program_is_gone_cannot_be_reached(machine: Machine, doctor: Doctor):
    project = repository(machine, "tidepool")
    plant(machine, project, "a", pier="In the harbour.\n")
    server: dict[str, Any] = {"command": "/nowhere/ricordo", "args": ["mcp"]}
    machine.settings(
        machine.config / "skills/ricordo/.mcp.json", {"mcpServers": {"ricordo": server}}
    )
    (problem,) = doctor.find("server-unreachable")
    assert "/nowhere/ricordo" in problem["what"]
    server = {"command": "true", "args": []}
    machine.settings(
        machine.config / "skills/ricordo/.mcp.json", {"mcpServers": {"ricordo": server}}
    )
    (problem,) = doctor.find("server-unreachable")
    assert "does not answer" in problem["what"]
    # an agent may have another PATH
    other = {"command": "other"}
    machine.settings(machine.config / "skills/ricordo/.mcp.json", {"mcpServers": {"other": other}})
    assert doctor.find("server-unreachable") == doctor.find("server-missing") == []


def test_instruction_files_that_are_shadowed_or_that_nobody_here_reads(
    machine: Machine, doctor: Doctor
):
    project = repository(machine, "tidepool")
    plant(machine, project, "a", pier="In the harbour.\n")
    (project / "GEMINI.md").write_text("Use pnpm.\n")
    (unread,) = doctor.find("instructions-unread")
    assert (unread["paths"], unread["severity"]) == ([str(project / "GEMINI.md")], "info")
    assert unread["advice"] == "Claude Code reads it once a CLAUDE.md has the line `@GEMINI.md`."
    # those of other agents are for others, where agents here have some
    (project / "AGENTS.md").write_text("Use pnpm.\n")
    assert doctor.find("instructions-shadowed") == doctor.find("instructions-unread") == []
    (project / "CLAUDE.md").write_text("Be brief.\n")
    (shadowed,) = doctor.find("instructions-shadowed")
    assert shadowed["paths"][0] == str(project / "AGENTS.md")
    assert "`@AGENTS.md`" in shadowed["advice"]
    (project / "CLAUDE.md").write_text("Be brief.\n@AGENTS.md\n")
    assert doctor.find("instructions-shadowed") == []
    for name in ("CLAUDE.md", "AGENTS.md"):
        (project / name).unlink()
    (machine.home / ".gemini").mkdir()
    assert doctor.find("instructions-unread") == []


def test_an_index_that_is_not_loaded_as_a_whole(machine: Machine, doctor: Doctor):
    project = repository(machine, "tidepool")
    root = plant(machine, project, "a", pier="In the harbour.\n")
    with (root / "MEMORY.md").open("a") as index:
        index.writelines(f"- [Boat {n}](boat-{n}.md) — a boat\n" for n in range(220))
    (problem,) = doctor.find("index-over-load")
    assert "entries are not loaded" in problem["what"]


def test_memories_that_may_be_rewritten_in_the_background(machine: Machine, doctor: Doctor):
    project = repository(machine, "tidepool")
    plant(machine, project, "a", pier="In the harbour.\n")
    machine.settings(machine.config / "settings.json", {"autoDreamEnabled": True})
    (problem,) = doctor.find("background-rewriting")
    assert "autoDreamEnabled" in problem["evidence"][0]


def test_a_plugin_that_version_2_does_not_load(machine: Machine, doctor: Doctor):
    data = machine.home / ".local/share/opencode"
    data.mkdir(parents=True)
    plugins = machine.home / ".config/opencode/plugins"
    plugins.mkdir(parents=True)
    (plugins / "old.js").write_text("export const Old = async () => ({ event() {} })\n")
    (plugins / "new.js").write_text("export default { id: 'new', setup() {} }\n")
    database = sqlite3.connect(data / "opencode.db", isolation_level=None)
    database.execute("CREATE TABLE session (id, directory, version, time_created)")
    # version 1.18 has it, too
    database.execute("CREATE TABLE session_message (id, session_id)")
    database.execute("INSERT INTO session VALUES ('a', '/', '1.18.33', 1)")
    assert doctor.find("plugin-outdated") == []
    database.execute("INSERT INTO session VALUES ('b', '/', '2.0.1', 2)")
    database.close()
    (problem,) = doctor.find("plugin-outdated")
    assert problem["paths"] == [str(plugins / "old.js")]


@pytest.mark.parametrize("damage", ["open", "pipe", "file"])
def test_a_state_directory_that_is_not_healthy(machine: Machine, doctor: Doctor, damage: str):
    state = machine.path / "state"
    if damage == "file":
        state.write_text("")
    else:
        state.mkdir(mode=0o700)
    if damage == "open":
        state.chmod(0o755)
    if damage == "pipe":
        os.mkfifo(state / "history.db")
    (problem,) = doctor.find("state-unhealthy")
    assert str(state) in problem["what"]


def test_an_agent_that_ignores_the_arguments_of_a_hook(machine: Machine, doctor: Doctor):
    codex = machine.home / ".codex"
    bare = {"type": "command", "command": "sh", "args": ["-c", "echo hello"]}
    hooks = {"UserPromptSubmit": [{"hooks": [bare]}]}
    machine.settings(codex / "hooks.json", {"hooks": hooks})
    (problem,) = doctor.find("hook-arguments")
    assert problem["severity"] == "error"
    assert problem["advice"].endswith("sh -c 'echo hello'")
    bare["command"] = "report"
    machine.settings(codex / "hooks.json", {"hooks": hooks})
    assert doctor.find("hook-arguments")[0]["severity"] == "warning"
    # Claude Code takes them
    machine.settings(machine.config / "settings.json", {"hooks": hooks})
    machine.settings(codex / "hooks.json", run_at("UserPromptSubmit", "echo hello"))
    assert doctor.find("hook-arguments") == []


def test_hooks_that_codex_skips_until_they_are_trusted(machine: Machine, doctor: Doctor):
    file = machine.home / ".codex/hooks.json"
    machine.settings(file, run_at("UserPromptSubmit", "echo one", "echo two"))
    assert len(doctor.find("hook-untrusted")) == 2
    state = f'[hooks.state."{file}:user_prompt_submit:0:1"]\ntrusted_hash = "sha256:00"\n'
    (machine.home / ".codex/config.toml").write_text(state)
    (problem,) = doctor.find("hook-untrusted")
    assert "echo one" in problem["what"]
    off = f'[hooks.state."{file}:user_prompt_submit:0:0"]\nenabled = false\n'
    (machine.home / ".codex/config.toml").write_text(f"{state}{off}")
    assert doctor.find("hook-untrusted") == []
    project = repository(machine, "tidepool")
    plant(machine, project, "a", pier="In the harbour.\n")
    machine.settings(project / ".codex/hooks.json", run_at("Stop", "echo three"))
    assert [it["severity"] for it in doctor.find("hook-untrusted")] == ["info"]


def test_a_timeout_in_the_unit_of_another_agent(machine: Machine, doctor: Doctor):
    hook = run_at("BeforeAgent", "echo hello")
    hook["hooks"]["BeforeAgent"][0]["hooks"][0]["timeout"] = 5
    machine.settings(machine.home / ".gemini/settings.json", hook)
    (short,) = doctor.find("hook-timeout")
    assert "Gemini CLI stops a hook after 5 ms" in short["what"]
    hook["hooks"]["BeforeAgent"][0]["hooks"][0]["timeout"] = 5000
    machine.settings(machine.home / ".gemini/settings.json", hook)
    assert doctor.find("hook-timeout") == []
    machine.settings(machine.config / "settings.json", hook)
    (long,) = doctor.find("hook-timeout")
    assert (long["severity"], "1.4 hours" in long["what"]) == ("info", True)


def test_drafts_that_wait_for_the_user(machine: Machine, doctor: Doctor):
    drafts = machine.home / ".gemini/tmp/tidepool/memory"
    (drafts / "skills/tides").mkdir(parents=True)
    assert doctor.find("drafts-unread") == []
    (drafts / "skills/tides/SKILL.md").write_text("Look up the tide.\n")
    (problem,) = doctor.find("drafts-unread")
    assert problem["evidence"] == [str(drafts / "skills/tides/SKILL.md")]


def test_servers_of_others_are_looked_for_and_not_started(machine: Machine, doctor: Doctor):
    project = repository(machine, "tidepool")
    plant(machine, project, "a", pier="In the harbour.\n")
    mark = machine.path / "started"
    program = str(machine.home / "gone")
    gone = {"command": program, "args": ["--all"]}
    servers = {
        "there": {"command": "/usr/bin/touch", "args": [str(mark)]},
        "by-name": {"command": "gone"},
        "gone": gone,
    }
    machine.settings(project / ".mcp.json", {"mcpServers": servers})
    (problem,) = doctor.find("server-missing")
    what = f"The MCP server gone of Claude Code cannot be reached: there is no program {program}."
    assert problem["what"] == what
    assert not mark.exists()
    local = machine.settings(
        project / ".claude/settings.local.json", {"disabledMcpjsonServers": ["gone"]}
    )
    assert doctor.find("server-missing") == []
    local.unlink()
    (project / ".mcp.json").unlink()
    table = f'[mcp_servers.chart]\ncommand = "{program}"\n'
    config = machine.settings(machine.home / ".codex/config.toml", {})
    config.write_text(table)
    named = {"mcp": {"chart": {"type": "local", "command": [program, "--mcp"]}}}
    machine.settings(machine.home / ".config/opencode/opencode.json", named)
    agents = {
        it["what"].partition(" of ")[2].split(" cannot")[0] for it in doctor.find("server-missing")
    }
    assert agents == {"Codex", "opencode"}
    config.write_text(f"{table}enabled = false\n")
    named["mcp"]["chart"]["enabled"] = False
    machine.settings(machine.home / ".config/opencode/opencode.json", named)
    assert doctor.find("server-missing") == []


def test_settings_that_their_agent_cannot_read(machine: Machine, doctor: Doctor):
    project = repository(machine, "tidepool")
    plant(machine, project, "a", pier="In the harbour.\n")
    settings = machine.settings(project / ".claude/settings.json", {})
    settings.write_text("")
    assert doctor.find("settings-broken") == []
    settings.write_text('{\n  "permissions": {},\n}\n')
    codex = machine.settings(machine.home / ".codex/config.toml", {})
    codex.write_text("model = \n")
    broken = {it["paths"][0]: it["evidence"][0] for it in doctor.find("settings-broken")}
    assert set(broken) == {str(settings), str(codex)}
    assert "line 3, column 1" in broken[str(settings)]


def test_instructions_that_an_override_replaces(machine: Machine, doctor: Doctor):
    project = repository(machine, "tidepool")
    plant(machine, project, "a", pier="In the harbour.\n")
    (machine.home / ".codex").mkdir()
    for name in ("AGENTS.md", "tables/AGENTS.md", "tables/AGENTS.override.md"):
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text(f"Of {name}.\n")
    (problem,) = doctor.find("instructions-shadowed")
    assert problem["paths"][0] == str(project / "tables/AGENTS.md")
    assert "Remove tables/AGENTS.override.md" in problem["advice"]


def test_instructions_under_a_name_that_is_not_read(machine: Machine, doctor: Doctor):
    project = repository(machine, "tidepool")
    plant(machine, project, "a", pier="In the harbour.\n")
    (project / "Claude.md").write_text("Use pnpm.\n")
    (problem,) = doctor.find("instructions-unread")
    assert (problem["severity"], problem["advice"]) == ("warning", "Rename it to CLAUDE.md.")
    (project / "CLAUDE.md").write_text("Use pnpm.\n")
    assert doctor.find("instructions-unread") == []


def test_instructions_behind_a_broken_link(machine: Machine, doctor: Doctor):
    project = repository(machine, "tidepool")
    plant(machine, project, "a", pier="In the harbour.\n")
    for link in (machine.config / "CLAUDE.md", project / "AGENTS.md"):
        link.symlink_to(machine.home / "dotfiles/rules.md")
    assert len(doctor.find("instructions-missing")) == 2
    (machine.home / "dotfiles").mkdir()
    (machine.home / "dotfiles/rules.md").write_text("Use pnpm.\n")
    assert doctor.find("instructions-missing") == []


def test_memories_that_a_moved_configuration_left_behind(
    machine: Machine, doctor: Doctor, monkeypatch: pytest.MonkeyPatch
):
    project = repository(machine, "tidepool")
    source = plant(machine, project, "a", boat="Sails.\n")
    machine.config = machine.home / ".config/claude"
    target = plant(machine, project, "b", pier="In the harbour.\n")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(machine.config))
    (problem,) = doctor.find("split-memory")
    assert problem["paths"] == [str(source), str(target)]
    doctor.fix(problem)
    assert (notes_of(source), notes_of(target)) == (set(), {"MEMORY.md", "boat.md", "pier.md"})
    # one directory under two names
    shutil.rmtree(machine.home / ".claude")
    (machine.home / ".claude").symlink_to(machine.config)
    assert doctor.find("split-memory") == []


@pytest.mark.parametrize("agent", ["opencode", "codex", "claude"])
def test_what_agents_noted_of_a_repository(machine: Machine, doctor: Doctor, agent: str):
    old = repository(machine, "old/tidepool")
    git(old, "remote", "add", "origin", "git@github.com:ana/tidepool.git")
    commit = git(old, "rev-parse", "HEAD").strip()
    plant(machine, old, "a", pier="In the harbour.\n")
    if agent == "opencode":
        data = machine.directory("home/.local/share/opencode")
        database = sqlite3.connect(data / "opencode.db", isolation_level=None)
        database.execute("CREATE TABLE project (id, worktree)")
        rows = [(commit, str(old)), ("global", "/")]
        database.executemany("INSERT INTO project VALUES (?, ?)", rows)
        database.close()
    elif agent == "codex":
        payload = {"cwd": str(old), "git": {"commit_hash": commit}}
        rollouts = machine.directory("home/.codex/sessions/2026/11/01")
        line = json.dumps({"type": "session_meta", "payload": payload})
        (rollouts / "rollout-2026-11-01.jsonl").write_text(f"{line}\n")
    else:
        record = {"githubRepoPaths": {"Ana/tidepool": [str(old)]}}
        machine.settings(machine.home / ".claude.json", record)
    new = machine.path / "work/tidepool"
    new.parent.mkdir()
    old.rename(new)
    machine.transcript(machine.project_folder(new), new, "b")
    (problem,) = doctor.find("moved-project")
    assert problem["paths"][1] == str(machine.project_folder(new) / "memory")


def test_a_commit_is_known_by_its_subject(machine: Machine, doctor: Doctor):
    old = repository(machine, "code/tidepool")
    commit = git(old, "rev-parse", "--short", "HEAD").strip()
    body = 0
    while commit.isdecimal() or commit.isalpha():  # which would be a number or a word
        body += 1
        words = ("--amend", "--allow-empty", "-m", "begin code/tidepool", "-m", str(body))
        git(old, "commit", "--quiet", *words)
        commit = git(old, "rev-parse", "--short", "HEAD").strip()
    plant(machine, old, "a", pier="In the harbour.\n")
    say(machine.project_folder(old), "a", old, content=f"on {commit} begin something else")
    old.rename(machine.path / "code/harbour")
    assert len(doctor.find("orphan-memory")) == 1
    say(machine.project_folder(old), "a", old, content=f"{commit} begin code/tidepool", n=1)
    (problem,) = doctor.find("renamed-project")
    assert str(machine.path / "code/harbour") in problem["what"]


def test_notes_of_two_projects_that_were_in_one_directory(machine: Machine, doctor: Doctor):
    box = machine.path / "workspace"
    root = plant(machine, box, "a", pier="At the sea.\n", bread="Flour.\n", tide="High.\n")
    folder = machine.project_folder(box)
    for session, name, notes in (("a", "harbour", ("pier", "tide")), ("b", "kitchen", ("bread",))):
        project = repository(machine, name)
        machine.transcript(machine.project_folder(project), project, f"of-{name}")
        machine.transcript(folder, box, session)
        commit = git(project, "rev-parse", "HEAD").strip()
        say(folder, session, box, content=f"commit {commit}")
        for note in notes:
            text = (root / f"{note}.md").read_text()
            head = "node_type: memory\n"
            text = text.replace(head, f"{head}  originSessionId: {session}\n")
            (root / f"{note}.md").write_text(text)
    first, second = doctor.find("mixed-memory")
    assert doctor.find("orphan-memory") == []
    for problem in (first, second):
        doctor.fix(problem)
    assert notes_of(root) <= {"MEMORY.md"}
    memories = [
        machine.project_folder(machine.path / it) / "memory" for it in ("harbour", "kitchen")
    ]
    assert notes_of(memories[0]) == {"MEMORY.md", "pier.md", "tide.md"}
    assert notes_of(memories[1]) == {"MEMORY.md", "bread.md"}


def test_clones_that_have_a_memory_each(machine: Machine, doctor: Doctor):
    project, clone = repository(machine, "tidepool"), machine.path / "again"
    git(machine.path, "clone", "--quiet", str(project), str(clone))
    source = plant(machine, project, "a", pier="In the harbour.\n")
    target = plant(machine, clone, "b", boat="Sails.\n")
    git(clone, "remote", "remove", "origin")
    # a template is the first commit of many projects
    assert doctor.find("cloned-project") == []
    for path, url in (
        (project, "git@example.org:ana/tide"),
        (clone, "https://example.org/ana/tide.git"),
    ):
        git(path, "remote", "add", "origin", url)
    (problem,) = doctor.find("cloned-project")
    assert (problem["severity"], problem["repair"]) == ("info", None)
    into = clone if problem["paths"][0] == str(source) else project
    doctor.fix(problem, "--into", str(into))
    assert sorted(map(len, (notes_of(source), notes_of(target)))) == [0, 3]


def test_a_note_that_names_a_session_of_another_project(machine: Machine, doctor: Doctor):
    home = plant(machine, machine.home, "a", ana="Likes tea.\n", pier="At the sea.\n")
    project = machine.directory("harbour")
    git(project, "init", "--quiet")
    git(project, "commit", "--quiet", "--allow-empty", "-m", "begin", at="2026-05-01T08:00:00Z")
    plant(machine, project, "b", boat="Sails.\n")
    note = home / "pier.md"
    head = "node_type: memory\n"
    note.write_text(note.read_text().replace(head, f"{head}  originSessionId: b\n"))
    say(machine.project_folder(project), "b", project, timestamp="2026-04-01T08:00:00.000Z")
    # another project was in the directory then
    assert doctor.find("mixed-memory") == []
    machine.transcript(machine.project_folder(project), project, "b")
    say(machine.project_folder(project), "b", project, timestamp="2026-06-01T08:00:00.000Z")
    (problem,) = doctor.find("mixed-memory")
    doctor.fix(problem)
    assert notes_of(home) == {"MEMORY.md", "ana.md"}
    assert doctor.find("mixed-memory") == []


def test_a_name_in_another_form_of_unicode(machine: Machine, doctor: Doctor):
    project = repository(machine, normalize("NFC", "müsli"))
    target = plant(machine, project, "a", pier="In the harbour.\n")
    source = plant(machine, normalize("NFD", str(project)), "b", boat="Sails.\n")
    (problem,) = doctor.find("split-memory")
    assert problem["paths"] == [str(source), str(target)]
    assert "another form of Unicode" in problem["evidence"][0]


def test_notes_are_not_moved_to_a_place_of_somebody_else(machine: Machine, doctor: Doctor):
    project = repository(machine, "tidepool")
    plant(machine, project, "a", pier="In the harbour.\n")
    trusted = {"projects": {str(project): {"hasTrustDialogAccepted": True}}}
    machine.settings(machine.home / ".claude.json", trusted)
    named = {"autoMemoryDirectory": "/Users/bea/notes"}
    machine.settings(project / ".claude/settings.json", named)
    (problem,) = doctor.find("redirected-memory")
    assert problem["repair"] is None
    assert "Without the setting" in problem["advice"]


@pytest.mark.parametrize("case", ["shallow", "begun late", "other"])
def test_sessions_that_are_older_than_the_repository(machine: Machine, doctor: Doctor, case: str):
    upstream = repository(machine, "upstream")
    git(upstream, "commit", "--quiet", "--allow-empty", "-m", "go on", at="2026-11-01T08:00:00Z")
    project = machine.path / "api"
    if case == "shallow":
        git(machine.path, "clone", "--quiet", "--depth=1", f"file://{upstream}", str(project))
    else:
        project.mkdir()
        for name in ("tide.py", "moon.py", "port.py"):
            (project / name).write_text("x = 1\n")
        git(project, "init", "--quiet")
        git(project, "commit", "--quiet", "--allow-empty", "-m", "begin", at="2026-11-01T08:00:00Z")
    folder = machine.project_folder(project)
    plant(machine, project, "a", pier="In the harbour.\n")
    commit = git(upstream, "rev-parse", "HEAD~").strip()
    files = ("tide.py", "moon.py", "port.py") if case == "begun late" else ("a.py", "b.py", "c.py")
    for name in files:
        say(folder, "a", project, file_path=f"{project}/{name}", timestamp="2026-06-01T08:00:00Z")
    say(folder, "a", project, content=f"commit {commit}", timestamp="2026-06-01T08:00:00Z")
    machine.transcript(machine.project_folder(upstream), upstream, "b")
    found = doctor.find("mixed-memory")
    # nothing shows who wrote the notes
    assert [(it["severity"], it["repair"]) for it in found] == [("info", None)] * (case == "other")


def test_instructions_that_are_not_read_to_the_end(machine: Machine, doctor: Doctor):
    project = repository(machine, "tidepool")
    plant(machine, project, "a", pier="In the harbour.\n")
    (project / "AGENTS.md").write_text("Use pnpm.\n" * 4_000)
    assert doctor.find("instructions-over-load") == []
    (machine.home / ".codex").mkdir()
    (problem,) = doctor.find("instructions-over-load")
    assert problem["evidence"] == ["40,000 bytes, limit 32,768 by default"]
    rule = project / ".windsurf/rules/tides.md"
    rule.parent.mkdir(parents=True)
    rule.write_text("ä" * 12_000)
    (machine.home / ".windsurf").mkdir()
    (project / "AGENTS.md").unlink()
    assert doctor.find("instructions-over-load") == []
    rule.write_text("ä" * 12_001)
    assert doctor.find("instructions-over-load")[0]["paths"] == [str(rule), "Windsurf"]


def test_pages_that_instructions_include_and_that_are_not_there(machine: Machine, doctor: Doctor):
    project = repository(machine, "tidepool")
    plant(machine, project, "a", pier="In the harbour.\n")
    text = "Read @docs/tides.md, not `@docs/code.md`.\n\n```\n@docs/fence.md\n```\n"
    (project / "CLAUDE.md").write_text(f"{text}Ask @ana. @~/own.md\n")
    (problem,) = doctor.find("instructions-missing")
    assert problem["paths"][0] == str(project / "docs/tides.md")
    (project / "docs").mkdir()
    (project / "docs/tides.md").write_text("High.\n")
    assert doctor.find("instructions-missing") == []


def test_pages_that_the_instructions_of_the_user_include(machine: Machine, doctor: Doctor):
    (machine.config / "own.md").parent.mkdir(exist_ok=True)
    (machine.config / "own.md").write_text("Be brief.\n")
    # a path with a blank cannot be included
    gone = Path("/nonexistent/old/rules.md")
    text = f"@own.md @{gone}\n@~/tides.md `@code.md`\n"
    (machine.config / "CLAUDE.md").write_text(text)
    missing = [it["paths"][0] for it in doctor.find("instructions-missing")]
    assert missing == sorted([str(gone), str(machine.home / "tides.md")])


def test_instructions_that_are_included_in_code_only(machine: Machine, doctor: Doctor):
    project = repository(machine, "tidepool")
    plant(machine, project, "a", pier="In the harbour.\n")
    (project / "AGENTS.md").write_text("Use pnpm.\n")
    (project / "CLAUDE.md").write_text("As in ` @AGENTS.md`:\n\n```\n@AGENTS.md\n```\n")
    (problem,) = doctor.find("instructions-shadowed")
    assert problem["paths"][0] == str(project / "AGENTS.md")
    (project / "CLAUDE.md").write_text("```\nx\n```\n\n@AGENTS.md\n")
    assert doctor.find("instructions-shadowed") == []


def test_notes_whose_memory_is_turned_off(machine: Machine, doctor: Doctor):
    project = repository(machine, "tidepool")
    plant(machine, project, "a", pier="In the harbour.\n")
    machine.settings(machine.config / "settings.json", {"autoMemoryEnabled": False})
    (problem,) = doctor.find("memory-off")
    assert (problem["severity"], str(project) in problem["evidence"][1]) == ("info", True)
    # a setting of the project comes before that of the user
    machine.settings(project / ".claude/settings.local.json", {"autoMemoryEnabled": True})
    assert doctor.find("memory-off") == []


def test_a_memory_that_is_a_broken_link(machine: Machine, doctor: Doctor):
    project = repository(machine, "tidepool")
    folder = machine.project_folder(project)
    machine.transcript(folder, project)
    (folder / "memory").symlink_to(machine.path / "mnt/notes")
    (problem,) = doctor.find("memory-unreachable")
    assert problem["paths"][0] == str(folder / "memory")
    write_memory(machine.path / "mnt/notes", {"MEMORY.md": "- [Boat](boat.md)\n"})
    assert doctor.find("memory-unreachable") == []


def test_a_project_whose_sessions_ran_on_windows(machine: Machine, doctor: Doctor):
    project = repository(machine, "work/tidepool")
    machine.transcript(machine.project_folder(project), project, "b")
    commit = git(project, "rev-parse", "HEAD").strip()
    source = plant(machine, "C:\\Users\\ana\\tidepool", "a", pier="In the harbour.\n")
    assert len(doctor.find("orphan-memory")) == 1
    say(source.parent, "a", "C:\\Users\\ana\\tidepool", content=f"commit {commit}")
    (problem,) = doctor.find("moved-project")
    assert problem["paths"] == [str(source), str(machine.project_folder(project) / "memory")]
    assert problem["evidence"][0] == "C:/Users/ana/tidepool is a path of another system"
    assert problem["evidence"][-1] == f"no session on this system loads {source}"


def test_all_that_holds_the_path_of_a_moved_project_is_named(machine: Machine, doctor: Doctor):
    old = repository(machine, "old/tidepool")
    commit = git(old, "rev-parse", "HEAD").strip()
    plant(machine, old, "a", pier=f"See `{old}`.\n", boat=f"See {old}-two.\n")
    say(machine.project_folder(old), "a", old, content=f"commit {commit}")
    config = machine.settings(machine.home / ".codex/config.toml", {})
    config.write_text(f'[projects."{old}"]\ntrust_level = "trusted"\n')
    data = machine.directory("home/.local/share/opencode")
    database = sqlite3.connect(data / "opencode.db", isolation_level=None)
    database.execute("CREATE TABLE project (id, worktree)")
    database.execute("INSERT INTO project VALUES (?, ?)", (commit, str(old)))
    database.close()
    before = [config.read_bytes(), (data / "opencode.db").read_bytes()]
    new = machine.path / "work/tidepool"
    new.parent.mkdir()
    old.rename(new)
    machine.transcript(machine.project_folder(new), new, "b")
    (problem,) = doctor.find("moved-project")
    held = {Path(it.rpartition(" (")[0]).name for it in problem["other_places"]}
    assert held == {machine.project_folder(old).name, "config.toml", "opencode", "pier.md"}
    doctor.fix(problem)
    assert [config.read_bytes(), (data / "opencode.db").read_bytes()] == before


def plant_moved(machine: Machine, *, leaves: str = "node_modules") -> tuple[Path, Path]:
    """Move a project with a memory and leave something behind; return both directories."""
    old = repository(machine, "tidepool")
    (old / "tide.py").write_text("x = 1\n")
    git(old, "add", "tide.py")
    git(old, "commit", "--quiet", "-m", "add tables")
    commit = git(old, "rev-parse", "HEAD").strip()
    plant(machine, old, "a", pier="In the harbour.\n", boat="Sails.\n")
    folder = machine.project_folder(old)
    at = "2026-08-01T08:00:00.000Z"
    say(folder, "a", old, content=f"commit {commit}", gitBranch="main", timestamp=at)
    new = machine.path / "work/tidepool"
    new.parent.mkdir()
    old.rename(new)
    old.mkdir()
    (old / leaves).write_text("x = 1\n")
    target = plant(machine, new, "b", boat="Sails.\n", ferry="At noon.\n")
    say(machine.project_folder(new), "b", new, timestamp="2026-09-01T08:00:00.000Z")
    note = target / "boat.md"
    head = "node_type: memory\n"
    note.write_text(note.read_text().replace(head, f"{head}  originSessionId: a\n"))
    return old, new


def test_a_directory_with_remnants_does_not_hide_that_its_project_moved(
    machine: Machine, doctor: Doctor
):
    old, new = plant_moved(machine)
    assert doctor.find("mixed-memory") == []
    (problem,) = doctor.find("moved-project")
    assert "only node_modules is left" in problem["evidence"][0]
    doctor.fix(problem)
    target = machine.project_folder(new) / "memory"
    assert notes_of(target) == {"MEMORY.md", "boat.md", "pier.md", "ferry.md"}
    assert notes_of(machine.project_folder(old) / "memory") == set()
    assert {it["severity"] for it in doctor.find()} == {"info"}


def test_a_directory_with_files_of_a_project_is_a_copy_of_it(machine: Machine, doctor: Doctor):
    plant_moved(machine, leaves="tide.py")
    assert doctor.find("moved-project") == []
    # its last session was before the first of the other one: the note was carried over
    assert doctor.find("mixed-memory") == []


def test_notes_are_not_moved_into_a_memory_that_is_turned_off(machine: Machine, doctor: Doctor):
    project = repository(machine, "tidepool")
    plant(machine, project, "a", pier="In the harbour.\n")
    plant(machine, machine.worktree(project, "tidepool-fix"), "b", boat="Sails.\n")
    file = project / ".claude/settings.local.json"
    machine.settings(file, {"autoMemoryEnabled": False})
    (problem,) = doctor.find("worktree-memory")
    assert problem["repair"] is None
    assert f"autoMemoryEnabled is off in {file}" in problem["advice"]


def test_a_note_belongs_to_where_its_session_worked_when_it_wrote_it(
    machine: Machine, doctor: Doctor
):
    project, other = repository(machine, "kitchen"), repository(machine, "harbour")
    root = plant(machine, project, "a", pier="At the sea.\n", soup="With salt.\n")
    plant(machine, other, "b", boat="Sails.\n")
    pier = root / "pier.md"
    head = "node_type: memory\n"
    pier.write_text(pier.read_text().replace(head, f"{head}  originSessionId: a\n"))
    for cwd, name in ((project, "soup"), (other, "pier")):
        given = {"file_path": f"{root}/{name}.md", "content": "x"}
        call = {"type": "tool_use", "id": name, "name": "Write", "input": given}
        message = {"role": "assistant", "content": [call]}
        folder = machine.project_folder(project)
        say(folder, "a", cwd, type="assistant", message=message)
    (problem,) = doctor.find("mixed-memory")
    assert "they wrote pier.md" in problem["evidence"]
    doctor.fix(problem)
    assert notes_of(root) == {"MEMORY.md", "soup.md"}
    assert "pier.md" in notes_of(machine.project_folder(other) / "memory")
    assert doctor.find("mixed-memory") == []


def test_a_repair_that_will_be_refused_is_refused_in_the_preview(
    machine: Machine, doctor: Doctor, capsys: pytest.CaptureFixture[str]
):
    old = repository(machine, "old/tidepool")
    plant(machine, old, "a", pier="In the harbour.\n")
    commit = git(old, "rev-parse", "HEAD").strip()
    say(machine.project_folder(old), "a", old, content=f"commit {commit}")
    new = machine.path / "tidepool"
    old.rename(new)
    machine.project_folder(new)
    (problem,) = doctor.find("moved-project")
    assert doctor.find("state-unhealthy") == []
    git(machine.path, "init", "--quiet")
    (state,) = doctor.find("state-unhealthy")
    assert "is in a git work tree" in state["what"]
    for words in ([], ["--yes"]):
        assert run(["doctor", "--fix", problem["id"], *words]) == 4
        assert "git work tree" in capsys.readouterr().err
    assert list(machine.project_folder(new).iterdir()) == []


def test_a_damaged_history_is_told_and_set_aside_aloud(
    machine: Machine, doctor: Doctor, capsys: pytest.CaptureFixture[str]
):
    project = repository(machine, "tidepool")
    plant(machine, project, "a", pier="In the harbour.\n")
    plant(machine, machine.worktree(project, "tidepool-fix"), "b", boat="Sails.\n")
    state = machine.directory("state")
    state.chmod(0o700)
    history = state / "history.db"
    history.write_bytes(b"\0" * 4096 + b"no database")
    (damaged,) = doctor.find("state-unhealthy")
    assert str(history) in damaged["what"]
    (problem,) = doctor.find("worktree-memory")
    assert history.read_bytes().endswith(b"no database")
    assert [it.name for it in state.iterdir()] == ["history.db"]
    assert run(["doctor", "--fix", problem["id"]]) == 4
    assert "The history is damaged" in capsys.readouterr().err
    assert run(["doctor", "--fix", problem["id"], "--yes"]) == 0
    assert "The history was damaged" in capsys.readouterr().err
    assert doctor.find("state-unhealthy") == []


@pytest.mark.parametrize(("exit_code", "is_found"), [(127, True), (126, True), (1, False)])
def test_a_hook_whose_program_was_not_found_when_it_ran(
    machine: Machine, doctor: Doctor, exit_code: int, is_found: bool
):
    project = repository(machine, "tidepool")
    plant(machine, project, "a", pier="In the harbour.\n")
    machine.settings(project / ".claude/settings.json", run_at("SessionStart", "tidefeed start"))
    attachment = {
        "type": "hook_non_blocking_error",
        "hookEvent": "SessionStart",
        "command": "tidefeed start",
        "stderr": "/bin/sh: 1: tidefeed: not found",
        "exitCode": exit_code,
        "durationMs": 9,
    }
    folder = machine.project_folder(project)
    say(folder, "a", project, type="attachment", attachment=attachment)
    found = doctor.find("hook-broken")
    assert len(found) == is_found
    assert all("tidefeed" in it["what"] for it in found)
    # it was installed since
    say(folder, "a", project, type="attachment", attachment={**attachment, "exitCode": 0})
    assert doctor.find("hook-broken") == []


def test_a_hook_at_the_start_of_sessions_costs_no_prompt(
    machine: Machine, doctor: Doctor, capsys: pytest.CaptureFixture[str]
):
    project = repository(machine, "tidepool")
    plant(machine, project, "a", pier="In the harbour.\n")
    for event, milliseconds in (("SessionStart", 9000), ("Stop", 1500)):
        attachment = {"hookEvent": event, "command": "tide", "durationMs": milliseconds}
        folder = machine.project_folder(project)
        say(folder, "a", project, type="attachment", attachment=attachment)
    start, stop = sorted(doctor.find("hook-slow"), key=lambda it: it["paths"])
    assert "takes 9,000 ms of each session start" in start["what"]
    assert "takes 1,500 ms of each run" in stop["what"]
    run(["doctor"])
    shown = capsys.readouterr().out
    assert "9,000 ms a session start" in shown
    assert "a prompt" not in shown.partition("What hooks cost")[2]


def test_of_two_likely_projects_the_likelier_is_named(machine: Machine, doctor: Doctor):
    old = repository(machine, "tidepool")
    commit = git(old, "rev-parse", "HEAD").strip()
    plant(machine, old, "a", pier="In the harbour.\n", boat="Sails.\n")
    folder = machine.project_folder(old)
    at = "2026-05-01T08:00:00.000Z"
    say(folder, "a", old, content=f"commit {commit}", timestamp=at)
    new, copy = machine.path / "harbour", machine.path / "show"
    old.rename(new)
    git(machine.path, "clone", "--quiet", str(new), str(copy))
    git(copy, "remote", "remove", "origin")
    for number, project in ((6, new), (8, copy)):
        folder = machine.project_folder(project)
        machine.transcript(folder, project, f"s{number}")
        say(folder, f"s{number}", project, timestamp=f"2026-0{number}-01T08:00:00.000Z")
    (problem,) = doctor.find("orphan-memory")
    assert problem["severity"] == "warning"
    assert "2 notes" in problem["what"]
    assert "not loaded" in problem["what"]
    assert (
        f"{new} is likelier: its sessions are the next ones, from 2026-06-01 on"
        in (problem["evidence"])
    )
    assert f"--into {shlex.quote(str(new))}" in problem["advice"]
    doctor.fix(problem, "--into", str(new))
    assert {it["severity"] for it in doctor.find()} == {"info"}


def test_what_codex_keeps_of_a_moved_project_is_named(machine: Machine, doctor: Doctor):
    old = repository(machine, "old/tidepool")
    plant(machine, old, "a", pier="In the harbour.\n")
    commit = git(old, "rev-parse", "HEAD").strip()
    say(machine.project_folder(old), "a", old, content=f"commit {commit}")
    codex = machine.directory("home/.codex/memories").parent
    (codex / "memories/MEMORY.md").write_text(f"cwd: {old}\n")
    day = machine.directory("home/.codex/sessions/2026/05/01")
    header = {"type": "session_meta", "payload": {"id": "r", "cwd": str(old)}}
    (day / "rollout-2026-05-01T08-00-00-r.jsonl").write_text(json.dumps(header) + "\n")
    new = machine.path / "work/tidepool"
    new.parent.mkdir()
    old.rename(new)
    machine.transcript(machine.project_folder(new), new, "b")
    (problem,) = doctor.find("moved-project")
    assert f"{codex}/memories (memories of Codex)" in problem["other_places"]
    assert f"{codex}/sessions (rollouts of Codex)" in problem["other_places"]


def test_options_that_do_not_fit_are_refused(machine: Machine):
    assert run(["doctor", "--yes"]) == 2
    assert run(["doctor", "--fix", "12345678"]) == 2


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("git@github.com:Ana/Tidepool.git", "github.com/ana/tidepool"),
        ("https://user:token@github.com/ana/tidepool/", "github.com/ana/tidepool"),
        ("ssh://git@github.com:22/ana/tidepool.git", "github.com/ana/tidepool"),
        ("github.com:ana/tidepool", "github.com/ana/tidepool"),
        ("git://example.org/~ana/tide.git", "example.org/~ana/tide"),
        ("/srv/git/tide.git", "/srv/git/tide"),
        ("file:///srv/git/tide.git", "/srv/git/tide"),
        ("", ""),
    ],
)
def test_an_address_is_the_same_in_all_forms(url: str, expected: str):
    assert normalize_remote(url) == expected
