"""What the person says of notes: kept at once, outside the notes, for the very text."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path

import pytest

from ricordo.memory.change import Change, ChangeOperation, Rename
from ricordo.resources import sample_memory_directory
from ricordo.services.edits.change import apply_or_merge, build_change_set
from ricordo.services.history.maintenance import purge_value
from ricordo.services.history.undo import can_undo, redo, undo
from ricordo.services.workspace.environment import load_environment
from ricordo.services.workspace.notebook import Notebook, Snapshot
from ricordo.services.workspace.places import find_memories
from ricordo.settings.settings import Settings
from ricordo.storage.decisions import ReviewVerdict
from tests.conftest import NOW
from tests.support.builders import note_text, recorded

OLD = "---\nname: {}\ndescription: x\ntype: project\nmodified: 2026-06-01\n---\n\n{}\n"
FILES = {
    "MEMORY.md": "- [A](a.md)\n- [B](b.md)\n- [C](c.md)\n",
    "a.md": OLD.format("a", "The freeze is on."),
    "b.md": OLD.format("b", "The port is Sines."),
    "c.md": note_text("c", "New.\n"),
}


@pytest.fixture
def notebook(tmp_path: Path) -> Notebook:
    return recorded(tmp_path, FILES)


def stale(look: Snapshot) -> set[str]:
    return {finding.path for finding in look.findings if finding.rule == "stale"}


def judge(notebook: Notebook, path: str, judgement: ReviewVerdict, until: str = "") -> None:
    notebook.record_verdict(notebook.read_snapshot_with_evidence(), path, judgement, until)


def make(notebook: Notebook, act: ChangeOperation) -> None:
    apply_or_merge(notebook, build_change_set(notebook, notebook.read(), [Change(act)]))


def test_old_states_that_nobody_confirmed_are_stale(notebook: Notebook) -> None:
    look = notebook.read_snapshot_with_evidence()
    assert stale(look) == {"a.md", "b.md"}
    found = next(it for it in look.findings if it.rule == "stale")
    assert found.message == "Not confirmed for 172 days."
    assert look.retention["c.md"].share > 0.9


def test_a_stale_note_names_the_days_since_it_was_written(tmp_path: Path) -> None:
    today = date.fromisoformat(NOW[:10])
    old = {
        f"n{n}.md": OLD.replace("2026-06-01", str(today - timedelta(days=n))).format(n, n)
        for n in range(1, 150)
    }
    look = recorded(tmp_path, {"MEMORY.md": "", **old}).read_snapshot_with_evidence()
    findings = [finding for finding in look.findings if finding.rule == "stale"]
    assert findings
    for finding in findings:
        days = finding.path.removeprefix("n").removesuffix(".md")
        assert finding.message == f"Not confirmed for {days} days."
        assert look.retention[finding.path].is_stale


def test_still_true_lifts_retention_and_no_byte_of_the_note_changes(notebook: Notebook) -> None:
    before = (Path(notebook.place.root) / "a.md").read_bytes()
    judge(notebook, "a.md", ReviewVerdict.TRUE)
    look = notebook.read_snapshot_with_evidence()
    assert stale(look) == {"b.md"}
    assert look.retention["a.md"].share == 1
    assert (Path(notebook.place.root) / "a.md").read_bytes() == before


def test_wrong_ends_retention_until_the_text_changes(notebook: Notebook) -> None:
    judge(notebook, "c.md", ReviewVerdict.WRONG)
    look = notebook.read_snapshot_with_evidence()
    assert look.retention["c.md"].share == 0
    assert "c.md" in stale(look)
    (Path(notebook.place.root) / "c.md").write_text(note_text("c", "Newer.\n"))
    look = notebook.read_snapshot_with_evidence()
    assert look.retention["c.md"].share > 0.9
    assert "c.md" not in stale(look)


def test_still_true_after_wrong_begins_anew(notebook: Notebook) -> None:
    judge(notebook, "a.md", ReviewVerdict.TRUE)
    judge(notebook, "a.md", ReviewVerdict.WRONG)
    judge(notebook, "a.md", ReviewVerdict.TRUE)
    retention = notebook.read_snapshot_with_evidence().retention["a.md"]
    assert retention.share == 1
    assert len(retention.events.confirmed) == 1


def test_a_judgement_is_undone_and_done_again_in_its_turn(notebook: Notebook) -> None:
    judge(notebook, "a.md", ReviewVerdict.TRUE)
    judge(notebook, "b.md", ReviewVerdict.LATER, "2026-12-01")
    assert undo(notebook).description == "“later” of b.md"
    assert set(notebook.read_snapshot_with_evidence().verdicts) == {"a.md"}
    assert undo(notebook).description == "“still true” of a.md"
    assert stale(notebook.read_snapshot_with_evidence()) == {"a.md", "b.md"}
    assert can_undo(notebook) == (False, True)
    redo(notebook)
    assert stale(notebook.read_snapshot_with_evidence()) == {"b.md"}


def test_a_judgement_follows_its_note_and_comes_back_with_it(notebook: Notebook) -> None:
    judge(notebook, "a.md", ReviewVerdict.TRUE)
    judge(notebook, "c.md", ReviewVerdict.WRONG)
    make(notebook, Rename("a.md", "d.md"))
    make(notebook, Rename("c.md", "a.md"))
    said = notebook.read_snapshot_with_evidence().verdicts
    assert {path: it[-1].verdict for path, it in said.items()} == {
        "d.md": ReviewVerdict.TRUE,
        "a.md": ReviewVerdict.WRONG,
    }
    assert stale(notebook.read_snapshot_with_evidence()) == {"a.md", "b.md"}
    undo(notebook)
    undo(notebook)
    assert set(notebook.read_snapshot_with_evidence().verdicts) == {"a.md", "c.md"}


def test_a_judgement_follows_a_note_that_somebody_else_renamed(notebook: Notebook) -> None:
    judge(notebook, "a.md", ReviewVerdict.TRUE)
    root = Path(notebook.place.root)
    (root / "a.md").rename(root / "e.md")
    notebook.record(notebook.read())
    assert stale(notebook.read_snapshot_with_evidence()) == {"b.md"}


def test_purging_leaves_judgements_as_they_are(notebook: Notebook) -> None:
    judge(notebook, "a.md", ReviewVerdict.TRUE)
    purge_value(notebook.environment, "freeze")
    assert set(notebook.read_snapshot_with_evidence().verdicts) == {"a.md"}


def test_a_name_that_is_no_utf8_can_be_judged(tmp_path: Path) -> None:
    name = b"caff\xe8.md".decode("utf-8", "surrogateescape")
    notebook = recorded(tmp_path, {**FILES, name: OLD.format("caffe", "Open.")})
    judge(notebook, name, ReviewVerdict.TRUE)
    assert stale(notebook.read_snapshot_with_evidence()) == {"a.md", "b.md"}


def test_a_history_without_judgements_is_brought_up(notebook: Notebook) -> None:
    path = notebook.database.path
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE judgement")
        connection.execute("PRAGMA user_version = 2")
    judge(notebook, "a.md", ReviewVerdict.TRUE)
    assert stale(notebook.read_snapshot_with_evidence()) == {"b.md"}


KILLED = """
import os, signal, sys
from ricordo.storage.decisions import ReviewVerdict
from ricordo.services.workspace.places import find_memories
from ricordo.services.workspace.notebook import Notebook
from ricordo.services.workspace.environment import load_environment
from ricordo.settings.settings import Settings

surroundings = load_environment(os.environ)
notebook = Notebook(find_memories(sys.argv[1], surroundings)[0], surroundings, Settings())
look = notebook.read_snapshot_with_evidence()
notebook.record_verdict(look, "a.md", ReviewVerdict.TRUE)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_sigkill_loses_no_judgement(notebook: Notebook) -> None:
    environ = {**notebook.environment.environ, "PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", KILLED, notebook.place.root],
        env=environ,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == -9, done.stderr
    assert stale(notebook.read_snapshot_with_evidence()) == {"b.md"}
    assert undo(notebook).description == "“still true” of a.md"


def test_of_the_sample_memory_the_note_that_nobody_read_is_stale(tmp_path: Path) -> None:
    """Notes as old that agents read, and how the person is, are not."""
    sample = shutil.copytree(sample_memory_directory(), tmp_path / "sample")
    environment = load_environment(
        {"HOME": str(tmp_path), "RICORDO_STATE": str(tmp_path / "state"), "RICORDO_NOW": NOW},
        agent_home=str(sample / "home"),
    )
    place = find_memories(str(sample / "memory"), environment)[0]
    look = Notebook(place, environment, Settings()).read_snapshot_with_evidence()
    assert stale(look) == {"project_old_vendor.md"}
    ana = look.retention["user_ana.md"]
    assert ana.reasons[0] == "written 107 days ago"
    assert ana.reasons[1].startswith("read by agents on ")
    for path in ("project_overview.md", "project_surge.md", "project_datum.md"):
        assert look.retention[path].events.read
