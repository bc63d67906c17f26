from __future__ import annotations

from pathlib import Path

import pytest

from ricordo.errors import StateUnusable
from ricordo.storage.private_copy import read_private_copy, remove_private_copy, write_private_copy


def test_a_private_copy_is_for_its_owner_only(tmp_path: Path) -> None:
    path = Path(write_private_copy(str(tmp_path), "note.md", b"text"))
    assert path.name == "note.md"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert read_private_copy(str(path)) == b"text"
    remove_private_copy(str(path))
    assert not path.parent.exists()
    assert read_private_copy(str(path)) is None


def test_a_state_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "editing").write_text("")
    with pytest.raises(StateUnusable, match="The editor's copy cannot"):
        write_private_copy(str(tmp_path), "note.md", b"")
