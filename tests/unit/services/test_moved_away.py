"""A move of a note to another memory is in the history of both, and undone from either."""

from __future__ import annotations

from pathlib import Path

import pytest

from ricordo.errors import ChangeRefused, NothingToUndo
from ricordo.memory.change import Change, Rename
from ricordo.services.edits.change import apply_or_merge, build_change_set
from ricordo.services.history.maintenance import trim
from ricordo.services.history.undo import UndoResult, redo, undo
from ricordo.services.history.versions import list_versions
from ricordo.services.workspace.notebook import Notebook
from tests.support.builders import note_text, recorded

FILES = {"MEMORY.md": "- [A](a.md)\n", "a.md": note_text("a", "All about it.\n")}


@pytest.fixture
def both(tmp_path: Path) -> tuple[Notebook, Notebook]:
    """Return two memories; `a.md` of the first has just become `from-afar.md` of the second."""
    origin, target = recorded(tmp_path, FILES), recorded(tmp_path, {"MEMORY.md": ""}, "other")
    act = Rename("a.md", "from-afar.md", root=target.place.root)
    others = {target.place.root: target.read()}
    change_set = build_change_set(origin, origin.read(), [Change(act, "it belongs there")], others)
    apply_or_merge(origin, change_set)
    return origin, target


def held(notebook: Notebook) -> dict[str, str]:
    return {file.path: file.text for file in notebook.read().files}


def test_the_target_knows_where_a_note_came_from(both: tuple[Notebook, Notebook]) -> None:
    told = [(it.kind, it.path, it.reason) for it in list_versions(both[1], "from-afar.md")]
    assert told == [
        ("renamed", "from-afar.md", "it belongs there"),
        ("first", "a.md", "as first seen"),
    ]


def test_a_move_is_undone_and_redone_from_the_target(both: tuple[Notebook, Notebook]) -> None:
    origin, target = both
    there = held(origin), held(target)
    assert isinstance(undo(target), UndoResult)
    assert (held(origin), held(target)) == (FILES, {"MEMORY.md": ""})
    redo(target)
    assert (held(origin), held(target)) == there


def test_a_bound_keeps_what_the_undo_of_a_move_needs(
    both: tuple[Notebook, Notebook], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ricordo.services.history.maintenance.UNDOABLE_ACTS", 1)
    origin, target = both
    again = Change(Rename("from-afar.md", "here.md", "here"))
    apply_or_merge(target, build_change_set(target, target.read(), [again]))
    later = "2028-01-01T00:00:00+00:00"
    target.environment = target.environment._replace(fixed_now=later)
    trim(target, days=1)
    undo(target)
    undo(origin)
    assert (held(origin), held(target)) == (FILES, {"MEMORY.md": ""})


def test_while_one_of_the_two_cannot_be_reached_nothing_is_undone_and_nothing_blocked(
    both: tuple[Notebook, Notebook],
) -> None:
    origin, target = both
    here = Path(origin.place.root)
    here.rename(here.parent / "away")
    there = held(target)
    with pytest.raises(ChangeRefused, match="cannot be opened") as refused:
        undo(target)
    assert "No file was changed." in str(refused.value)
    assert held(target) == there
    # older acts can be reached, and newer ones
    with pytest.raises(NothingToUndo):
        undo(target)
    again = Change(Rename("from-afar.md", "here.md", "here"))
    apply_or_merge(target, build_change_set(target, target.read(), [again]))
    undo(target)
    assert held(target) == there
    # what can be reached again can be undone
    (here.parent / "away").rename(here)
    assert isinstance(undo(target), UndoResult)
    assert (held(origin), held(target)) == (FILES, {"MEMORY.md": ""})
