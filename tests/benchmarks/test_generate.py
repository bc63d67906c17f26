"""The synthetic memories: the same for the same seed, and like real ones in what costs time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks.generate import generate


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("generated")
    generate(folder, 200)
    return contents(folder)


def test_the_same_seed_gives_the_same_bytes(memory: dict[str, bytes], tmp_path: Path):
    generate(tmp_path / "again", 200)
    assert contents(tmp_path / "again") == memory


def test_another_seed_gives_other_bytes(memory: dict[str, bytes], tmp_path: Path):
    generate(tmp_path / "other", 200, seed=1)
    assert contents(tmp_path / "other") != memory


def test_every_note_has_an_entry(memory: dict[str, bytes]):
    index = memory["MEMORY.md"].decode()
    notes = [name for name in memory if name != "MEMORY.md"]
    assert len(notes) == 200
    assert [name for name in notes if f"]({name})" not in index] == []


def test_notes_have_the_size_of_real_ones(memory: dict[str, bytes]):
    sizes = [len(raw) for name, raw in memory.items() if name != "MEMORY.md"]
    assert 1200 <= sum(sizes) / len(sizes) <= 1500
