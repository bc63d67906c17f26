"""A look at a memory, as a value that is handed on."""

from __future__ import annotations

from pathlib import Path

from ricordo.lint.finding import Severity
from ricordo.storage.decisions import ReviewVerdict
from tests.support.builders import note_text, recorded


def test_a_look_names_itself_without_what_the_notes_say(tmp_path: Path) -> None:
    notebook = recorded(tmp_path, {"tides.md": "The gate code [is](gone.md) 4711.\n"})
    look = notebook.read_snapshot()
    assert look.findings
    for value in (look, look.memory):
        assert "4711" not in repr(value)
        assert len(repr(value)) < 200


def test_evidence_against_a_note_comes_before_its_age(tmp_path: Path) -> None:
    old = note_text("a", "Calls go over channel 12.\n").replace(
        "  type:", "  modified: 2020-01-01\n  type:"
    )
    doubted = note_text("b", "Merge freeze until 2026-10-08.\n").replace(
        "  type:", "  modified: 2026-10-01\n  type:"
    )
    notebook = recorded(
        tmp_path, {"MEMORY.md": "[a](a.md) [b](b.md)\n", "a.md": old, "b.md": doubted}
    )
    found = notebook.read_snapshot_with_evidence().findings
    assert [(it.rule, it.path, it.severity) for it in found][:2] == [
        ("passed-date", "b.md", Severity.WARNING),
        ("stale", "a.md", Severity.INFO),
    ]
    notebook.record_verdict(notebook.read_snapshot_with_evidence(), "a.md", ReviewVerdict.WRONG)
    assert [it.rule for it in notebook.read_snapshot_with_evidence().findings][:2] == [
        "stale",
        "passed-date",
    ]


def test_a_conflict_is_of_both_notes_and_counted_once(tmp_path: Path) -> None:
    said = {
        "a.md": "The web view listens on port 8040.\n",
        "b.md": "The web view listens on port 8100.\n",
    }
    files = {path: note_text(path[0], text) for path, text in said.items()}
    notebook = recorded(tmp_path, {"MEMORY.md": "[a](a.md) [b](b.md)\n", **files})
    look = notebook.read_snapshot_with_evidence()
    (finding,) = look.findings
    assert [look.findings_of(path) for path in said] == [(finding,), (finding,)]
    assert [look.worst_severity(path) for path in said] == [Severity.INFO, Severity.INFO]
    assert (look.needs_attention, look.counts[Severity.INFO]) == (0, 1)
    assert look.notes_in_order == 2
