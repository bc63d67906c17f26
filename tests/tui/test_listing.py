"""The rows of the index pane: updated rows equal rebuilt ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from ricordo.storage.reader import reread_files
from ricordo.tui.main.listing import Listing
from ricordo.tui.render.index_rows import IndexOrder, build_index_rows
from tests.support.builders import note_text, recorded, write_memory

FILES = {
    "MEMORY.md": "# Sea\n\n- [Tides](tides.md)\n- [Ports](ports.md)\n- [Gone](gone.md)\n",
    "tides.md": note_text("tides"),
    "ports.md": note_text("ports", "See [it](nowhere.md).\n"),
    "loose.md": note_text("loose"),
}
CHANGES = {
    "a finding comes": {"tides.md": note_text("tides", "See [it](nowhere.md).\n")},
    "a finding goes": {"ports.md": note_text("ports")},
    "a note is protected": {"tides.md": "---\nname: tides\nprotected: true\n---\n\nText.\n"},
    "a note is renamed": {"loose.md": note_text("another")},
    "a note comes": {"new.md": note_text("new")},
    "the index changes": {"MEMORY.md": "- [Ports](ports.md)\n"},
}


@pytest.mark.parametrize("order", IndexOrder)
@pytest.mark.parametrize("change", CHANGES)
def test_updated_rows_equal_rebuilt_rows(tmp_path: Path, change: str, order: IndexOrder) -> None:
    notebook = recorded(tmp_path, FILES)
    listing = Listing(order)
    before = notebook.read_snapshot()
    assert listing.make_rows(before) == build_index_rows(before, order)
    files = CHANGES[change]
    write_memory(tmp_path / "memory", files)
    after = notebook.judge(reread_files(before.memory, files))
    assert listing.make_rows(after) == build_index_rows(after, order)
    assert listing.with_words("ports").make_rows(after) != listing.make_rows(after)
    assert listing.make_rows(after) == build_index_rows(after, order)
