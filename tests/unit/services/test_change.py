"""Applying a change set while others write to the same files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ricordo.errors import EditRefused
from ricordo.memory.change import Change, ChangeSet, Rename, Replace
from ricordo.services.edits.change import (
    MergedEdits,
    apply_merging,
    apply_or_merge,
    build_change_set,
)
from ricordo.services.workspace.notebook import Notebook
from ricordo.storage import system_calls as calls
from ricordo.storage.writer import Applied
from tests.support.builders import note_text, recorded


@pytest.fixture
def notebook(tmp_path: Path) -> Notebook:
    return recorded(tmp_path, {"a.md": note_text("a", "The port is Sines.\n")})


@pytest.fixture
def change_set(notebook: Notebook) -> ChangeSet:
    return build_change_set(notebook, notebook.read(), [Change(Replace("a.md", "Sines", "Faro"))])


def comes_and_goes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let somebody write to `path` in the last instant of a change, and take it back."""
    before = path.read_bytes()
    left = {"exchange": b"theirs", "finish": before}

    def write(step: str) -> None:
        if step in left:
            # the first exchange of all finds out whether there is such a thing
            path.write_bytes(left.pop(step))

    monkeypatch.setattr(calls, "before", write)


def test_what_others_wrote_and_reverted_is_reported_in_a_sentence(
    notebook: Notebook, change_set: ChangeSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = Path(notebook.place.root) / "a.md"
    before = note.read_bytes()
    comes_and_goes(note, monkeypatch)
    outcome = apply_or_merge(notebook, change_set)
    assert isinstance(outcome, MergedEdits)
    assert outcome.summary == "Another program changed these files meanwhile, and reverted it."
    assert note.read_bytes() == before
    assert isinstance(apply_or_merge(notebook, outcome.change_set), Applied)
    assert b"Faro" in note.read_bytes()


def test_without_a_person_it_is_tried_again(
    notebook: Notebook, change_set: ChangeSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = Path(notebook.place.root) / "a.md"
    comes_and_goes(note, monkeypatch)
    applied, merged = apply_merging(notebook, change_set, by_hand=False)
    assert isinstance(applied, Applied)
    assert merged == ()
    assert b"Faro" in note.read_bytes()


@pytest.mark.parametrize(
    ("agent", "told"),
    [
        (lambda note: note.unlink(), "deleted a.md"),
        (lambda note: note.rename(note.with_name("b.md")), "probably renamed a.md to b.md"),
    ],
)
def test_a_note_that_others_removed_is_not_created_again(
    notebook: Notebook, agent: Callable[[Path], object], told: str
) -> None:
    root = Path(notebook.place.root)
    change_set = build_change_set(notebook, notebook.read(), [Change(Rename("a.md", "c.md"))])
    agent(root / "a.md")
    before = {path.name for path in root.iterdir()}
    with pytest.raises(EditRefused, match=f"Another program {told} meanwhile."):
        apply_merging(notebook, change_set, by_hand=True)
    assert {path.name for path in root.iterdir()} == before


def test_what_others_write_into_a_note_goes_with_it_where_it_is_renamed(
    notebook: Notebook,
) -> None:
    root = Path(notebook.place.root)
    change_set = build_change_set(notebook, notebook.read(), [Change(Rename("a.md", "c.md"))])
    (root / "a.md").write_text("other")
    applied, merged = apply_merging(notebook, change_set, by_hand=True)
    assert isinstance(applied, Applied)
    assert "c.md" in merged
    assert not (root / "a.md").exists()
    assert (root / "c.md").read_text() == "other"
