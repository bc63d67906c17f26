"""Notes that the person has protected stay so, whoever gives them another name."""

from __future__ import annotations

from pathlib import Path

import pytest

from ricordo.errors import ChangeRefused
from ricordo.memory.change import Author, AuthorRole, Change, ChangeOperation, Rename, SetField
from ricordo.services.edits.change import apply_or_merge, build_change_set
from ricordo.services.history.undo import redo, undo
from ricordo.services.history.versions import list_deleted, list_versions
from ricordo.services.workspace.notebook import Notebook
from ricordo.storage.decisions import Decision
from tests.conftest import NOW
from tests.support.builders import note_text, recorded

FILES = {
    "MEMORY.md": "- [A](a.md)\n- [B](b.md)\n",
    "a.md": note_text("a", "All about it.\n"),
    "b.md": note_text("b", "See [[a]].\n"),
}


@pytest.fixture
def notebook(tmp_path: Path) -> Notebook:
    """Return a notebook in which `a.md` is protected."""
    notebook = recorded(tmp_path, FILES)
    notebook.decisions.decide(Decision.PROTECT, ["a.md"], NOW)
    return notebook


def make(notebook: Notebook, act: ChangeOperation, *others: Notebook) -> None:
    memories = {other.place.root: other.read() for other in others}
    change_set = build_change_set(notebook, notebook.read(), [Change(act)], memories)
    apply_or_merge(notebook, change_set)


def protected(notebook: Notebook) -> set[str]:
    look = notebook.read_snapshot()
    return {note.path for note in look.memory.notes if look.is_protected(note)}


def test_protection_follows_a_rename_and_comes_back_with_it(notebook: Notebook) -> None:
    make(notebook, Rename("a.md", "c.md", "c"))
    assert protected(notebook) == {"c.md"}
    by_rule = Change(SetField("c.md", "description", "x"), "", Author(AuthorRole.RULE, "a-rule"))
    with pytest.raises(ChangeRefused, match="protected"):
        build_change_set(notebook, notebook.read(), [by_rule])
    undo(notebook)
    assert protected(notebook) == {"a.md"}
    redo(notebook)
    assert protected(notebook) == {"c.md"}
    undo(notebook)
    undo(notebook)
    assert protected(notebook) == set()


def test_what_is_decided_of_the_new_name_is_undone_there(notebook: Notebook) -> None:
    make(notebook, Rename("a.md", "c.md"))
    notebook.decisions.decide(Decision.UNPROTECT, ["c.md"], NOW)
    assert protected(notebook) == set()
    undo(notebook)
    assert protected(notebook) == {"c.md"}


def test_protection_follows_a_rename_by_somebody_else(notebook: Notebook) -> None:
    root = Path(notebook.place.root)
    (root / "a.md").rename(root / "d.md")
    assert notebook.record(notebook.read()).has_renamed
    assert protected(notebook) == {"d.md"}
    (root / "a.md").write_text(note_text("a", "Another note under the old name.\n"))
    notebook.record(notebook.read())
    assert protected(notebook) == {"d.md"}


def test_two_notes_that_change_names_take_their_protection_along(notebook: Notebook) -> None:
    make(notebook, Rename("a.md", "aside.md"))
    make(notebook, Rename("b.md", "a.md"))
    make(notebook, Rename("aside.md", "b.md"))
    assert protected(notebook) == {"b.md"}


def test_protection_follows_into_another_memory_and_back(
    notebook: Notebook, tmp_path: Path
) -> None:
    other = recorded(tmp_path, FILES, "other")
    make(notebook, Rename("a.md", "from-afar.md", root=other.place.root), other)
    assert protected(notebook) == set()
    assert protected(other) == {"from-afar.md"}
    undo(notebook)
    assert protected(notebook) == {"a.md"}
    assert protected(other) == set()


def test_a_rename_that_was_undone_is_no_deletion(notebook: Notebook) -> None:
    make(notebook, Rename("a.md", "c.md"))
    undo(notebook)
    assert [version.path for version in list_deleted(notebook)] == []
    told = [(version.kind, version.path) for version in list_versions(notebook, "a.md")]
    assert told == [("renamed", "a.md"), ("renamed", "c.md"), ("first", "a.md")]
