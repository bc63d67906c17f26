"""The language model of `ricordo[semantic]`: what it adds to recall, and recall without it."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ricordo.memory.memory import Memory
from ricordo.search import semantic
from ricordo.search.index import SearchIndex
from ricordo.search.meaning import TokenTable
from ricordo.search.select import LENIENT
from ricordo.services.search.recall import recall
from ricordo.services.workspace.environment import Environment
from tests.support.builders import note_text, open_memory

needs_model = pytest.mark.skipif(not semantic.is_installed(), reason="needs ricordo[semantic]")
NOTES = {
    "rent": "The landlord is paid on the first of the month.",
    "allergy": "Peanuts make Nils ill.",
    "bicycle": "The chain was oiled in spring.",
    "printer": "Paper jams when the tray is too full.",
    "plants": "Cactuses need hardly any water.",
    "cinema": "Films begin at eight.",
}


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    folder = str(tmp_path)
    return Environment(folder, {}, folder, str(tmp_path / "state"), folder)


@pytest.fixture
def flat(root: Path) -> Memory:
    files = {f"{name}.md": note_text(name, f"{body}\n") for name, body in NOTES.items()}
    return open_memory(root, files)


@pytest.fixture
def unloaded() -> Iterator[None]:
    """The model is looked for again, before and after."""
    semantic.load_model.cache_clear()
    yield
    semantic.load_model.cache_clear()


def recalled(memory: Memory, environment: Environment, message: str) -> list[str]:
    index = SearchIndex(environment.state, memory.root)
    found = recall(index, memory, message, environment, semantic=True, strictness=LENIENT)
    return [each.note.path for each in found]


def read_passages(environment: Environment) -> dict[str, bytes]:
    """Return the vectors that the index keeps, by path."""
    folder = Path(environment.state, "recall")
    (path,) = (file for file in folder.glob("*.db") if file.name != "usage.db")
    with closing(sqlite3.connect(path)) as index:
        rows = index.execute("SELECT path, vectors FROM note JOIN passages USING (id)")
        return {raw.decode(): vectors for raw, vectors in rows}


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("Hello, world", [7592, 1010, 2088]), ("unaffable", [14477, 20961, 3468]), ("会", [100])],
)
def test_texts_become_the_numbers_of_the_models_tokens(text: str, numbers: list[int]):
    with closing(TokenTable()) as table:
        assert semantic.tokenize(text, table.read_numbers()) == [101, *numbers, 102]


def test_a_long_text_is_cut_to_what_the_model_takes():
    with closing(TokenTable()) as table:
        numbers = semantic.tokenize("harbour " * 999, table.read_numbers())
    assert len(numbers) == semantic.MOST_TOKENS
    assert numbers[-1] == 102


@pytest.mark.usefixtures("unloaded")
def test_other_weights_are_not_used(
    flat: Memory, environment: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    package = tmp_path / "packages" / semantic.PACKAGE
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / semantic.FILE).write_bytes(b"other weights")
    for name in ("onnxruntime", "numpy"):
        (package.parent / f"{name}.py").touch()
    monkeypatch.syspath_prepend(package.parent)
    monkeypatch.delitem(sys.modules, semantic.PACKAGE, raising=False)
    assert semantic.is_installed()
    assert semantic.load_model() is None
    assert "rent.md" in recalled(flat, environment, "when do we pay the landlord")


@needs_model
def test_the_model_finds_what_is_said_in_other_words(flat: Memory, environment: Environment):
    assert recalled(flat, environment, "what must the boy not eat")[0] == "allergy.md"
    assert recalled(flat, environment, "housing costs each month")[0] == "rent.md"


@needs_model
def test_vectors_are_kept_and_those_of_changed_notes_made_again(
    flat: Memory, environment: Environment, root: Path
):
    recalled(flat, environment, "what must the boy not eat")
    before = read_passages(environment)
    assert before.keys() == {f"{name}.md" for name in NOTES}
    changed = open_memory(root, {"rent.md": note_text("rent", "It rose by a tenth.\n")})
    assert recalled(changed, environment, "what must the boy not eat")[0] == "allergy.md"
    after = read_passages(environment)
    assert {path for path in before if before[path] != after[path]} == {"rent.md"}
