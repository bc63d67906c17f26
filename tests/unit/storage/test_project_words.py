"""The words of a project: found after one pass, read again only where a file is another."""

from __future__ import annotations

from pathlib import Path

import pytest

from ricordo.storage import project_words
from ricordo.storage.project_tree import ProjectTree, list_project
from ricordo.storage.project_words import ProjectWords


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "web").mkdir(parents=True)
    (root / "tides.py").write_text("def height_at(station, no_of=3): ...  # --dry-run\n")
    (root / "web" / "curve.js").write_text("export const renderCurve = () => $el\n")
    (root / "picture.png").write_bytes(b"\x89PNG\0\0 hiddenWord")
    return root


def listed(root: Path) -> ProjectTree:
    return list_project(str(root), lambda: None)


def words_of(root: Path, state: Path) -> ProjectWords:
    words = ProjectWords(str(state), str(root))
    words.update(listed(root), lambda: None)
    return words


def test_names_are_found_whole(project: Path, tmp_path: Path) -> None:
    words = words_of(project, tmp_path / "state")
    asked = ("height_at", "height", "renderCurve", "rendercurve", "$el", "dry-run", "dry", "curve")
    asked += ("el", "$curve")
    assert words.find_present(asked) == {
        "height_at",
        "renderCurve",
        "$el",
        "dry-run",
        "dry",
        "curve",
        "el",
    }
    assert not words.find_present(["hiddenWord"]), "a picture is not written in words"
    assert words.find_files("renderCurve", 5) == ["web/curve.js"]


def test_names_beside_other_scripts_are_found(project: Path, tmp_path: Path) -> None:
    (project / "notes.txt").write_text("按height_sum算。\n用dry-dock。│wave_sum│\n")
    words = words_of(project, tmp_path / "state")
    asked = ("height_sum", "dry-dock", "wave_sum", "sum")
    assert words.find_present(asked) == {"height_sum", "dry-dock", "wave_sum"}


def test_a_folder_can_be_left_out(project: Path, tmp_path: Path) -> None:
    assert not words_of(project, tmp_path / "state").find_present(
        ["renderCurve"], lambda path: path.startswith("web/")
    )


def test_only_what_changed_is_read_again(project: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    words_of(project, state)
    (project / "tides.py").write_text("def depth_at(): ...\n")
    (project / "web" / "curve.js").unlink()
    read: list[str] = []
    tree = listed(project)
    again = ProjectWords(str(state), str(project))
    again.update(_Watched(tree, read), lambda: None)  # type: ignore[arg-type]
    assert read == ["tides.py"]
    assert again.find_present(["height_at", "depth_at", "renderCurve"]) == {"depth_at"}
    third = words_of(project, state)
    assert third.find_present(["height_at", "depth_at"]) == {"depth_at"}


class _Watched:
    """A tree that tells which of its files are read."""

    def __init__(self, tree: ProjectTree, read: list[str]) -> None:
        self._tree, self._read, self.files = tree, read, tree.files

    def read(self, path: str) -> bytes | None:
        self._read.append(path)
        return self._tree.read(path)


def test_a_damaged_cache_is_rebuilt(project: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    words_of(project, state)
    kept = next((state / "projects").glob("*.db"))
    raw = bytearray(kept.read_bytes())
    raw[len(raw) // 2 :] = b"\xff" * (len(raw) - len(raw) // 2)
    kept.write_bytes(raw)
    assert words_of(project, state).find_present(["height_at"]) == {"height_at"}
    assert words_of(project, state).find_present(["height_at"]) == {"height_at"}


def test_without_a_state_directory_it_answers_all_the_same(project: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "state"
    blocked.write_text("a file where the directory should be\n")
    assert words_of(project, blocked).find_present(["height_at"]) == {"height_at"}


def test_what_was_not_read_is_named(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(project_words, "MOST_BYTES", 10)
    words = words_of(project, tmp_path / "state")
    assert words.warning.endswith("files of the project were not checked")
