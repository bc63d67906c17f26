"""A look at a memory, as a value that is handed on."""

from __future__ import annotations

from pathlib import Path

from tests.builders import recorded


def test_a_look_names_itself_without_what_the_notes_say(tmp_path: Path) -> None:
    notebook = recorded(tmp_path, {"tides.md": "The gate code [is](gone.md) 4711.\n"})
    look = notebook.look()
    assert look.findings
    for value in (look, look.memory):
        assert "4711" not in repr(value)
        assert len(repr(value)) < 200
