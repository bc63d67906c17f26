"""What is due today: worst evidence, then age, then what is new."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from ricordo.cli.main import run
from ricordo.services.review import ReviewQueue, ReviewReason, build_review
from ricordo.services.workspace.notebook import Notebook
from ricordo.storage.decisions import ReviewVerdict
from tests.support.builders import note_text, recorded

HEAD = "---\nname: {}\ndescription: x\ntype: {}\nmodified: {}\n---\n\n{}\n"


def text(name: str, body: str = "The port is Sines.", on: str = "2026-11-18", of: str = "project"):
    return HEAD.format(name, of, on, body)


FILES = {
    "MEMORY.md": "".join(
        f"- [{name}]({name}.md)\n" for name in ("passed", "old", "older", "fresh")
    ),
    "passed.md": text("passed", "The freeze ends on 2026-11-02."),
    "old.md": text("old", on="2026-08-01"),
    "older.md": text("older", "Ferries wait until noon.", on="2026-01-10"),
    "fresh.md": text("fresh", "The gauge reads metres."),
}


@pytest.fixture
def notebook(tmp_path: Path) -> Notebook:
    return recorded(tmp_path, FILES)


def today(notebook: Notebook) -> ReviewQueue:
    notebook.record(notebook.read())
    return build_review(notebook, notebook.read_snapshot_with_evidence())


def paths(notebook: Notebook) -> list[str]:
    return [item.note.path for item in today(notebook).items]


def judge(notebook: Notebook, path: str, judgement: ReviewVerdict, until: str = "") -> None:
    notebook.record_verdict(notebook.read_snapshot_with_evidence(), path, judgement, until)


def on(notebook: Notebook, day: str) -> Notebook:
    """Return the same memory on another day."""
    around = notebook.environment._replace(fixed_now=f"{day}T12:00:00+00:00")
    return Notebook(notebook.place, around, notebook.settings)


def write(notebook: Notebook, path: str, content: str) -> None:
    (Path(notebook.place.root) / path).write_text(content)


def test_evidence_comes_before_age_and_age_before_what_is_new(notebook: Notebook) -> None:
    write(notebook, "came.md", note_text("came", "New.\n"))
    queue = today(notebook)
    assert [(item.note.path, item.reason) for item in queue.items] == [
        ("passed.md", ReviewReason.EVIDENCE),
        ("older.md", ReviewReason.AGE),
        ("old.md", ReviewReason.AGE),
        ("came.md", ReviewReason.NEW),
    ]
    assert queue.items[0].findings[0].rule == "passed-date"
    assert queue.items[0].retention
    assert queue.items[0].retention.share > 0.9


def test_a_day_has_at_most_the_configured_number(tmp_path: Path) -> None:
    files = {f"n{n:02}.md": text(f"n{n}", on="2026-01-01") for n in range(20)}
    notebook = recorded(tmp_path, files)
    queue = today(notebook)
    assert (len(queue.items), queue.more) == (12, 8)


def test_still_true_keeps_a_note_away_until_its_day(notebook: Notebook) -> None:
    judge(notebook, "older.md", ReviewVerdict.TRUE)
    assert paths(notebook) == ["passed.md", "old.md"]
    due = notebook.read_snapshot_with_evidence().retention["older.md"].stale_on
    assert due in today(notebook).forecast
    assert "older.md" not in paths(on(notebook, "2026-12-20"))
    assert "older.md" in paths(on(notebook, due.isoformat()))


def test_what_is_very_strong_is_asked_again_after_a_year(tmp_path: Path) -> None:
    notebook = recorded(tmp_path, {"ana.md": text("ana", on="2024-01-01", of="user")})
    judge(notebook, "ana.md", ReviewVerdict.TRUE)
    assert today(notebook).next_due == date(2027, 11, 20)
    assert paths(on(notebook, "2027-11-20")) == ["ana.md"]


def test_later_asks_again_on_the_day_that_was_chosen(notebook: Notebook) -> None:
    judge(notebook, "old.md", ReviewVerdict.LATER, "2026-11-27")
    assert "old.md" not in paths(on(notebook, "2026-11-26"))
    assert "old.md" in paths(on(notebook, "2026-11-27"))


def test_wrong_suppresses_a_note_until_its_text_changes(notebook: Notebook) -> None:
    judge(notebook, "old.md", ReviewVerdict.WRONG)
    assert "old.md" not in paths(on(notebook, "2029-01-01"))
    write(notebook, "old.md", text("old", "The port is Setubal.", on="2026-08-02"))
    assert "old.md" in paths(notebook)


def test_new_evidence_brings_up_a_note_with_a_verdict(
    notebook: Notebook,
) -> None:
    write(notebook, "fresh.md", text("fresh", "The freeze ends on 2026-11-25."))
    judge(notebook, "fresh.md", ReviewVerdict.TRUE)
    assert "fresh.md" not in paths(notebook)
    later = on(notebook, "2026-11-26")
    assert "fresh.md" in paths(later)
    judge(later, "fresh.md", ReviewVerdict.TRUE)
    assert "fresh.md" not in paths(later)


def test_a_note_that_somebody_rewrote_is_asked_for_again(notebook: Notebook) -> None:
    judge(notebook, "older.md", ReviewVerdict.TRUE)
    write(notebook, "older.md", text("older", "The port is Setubal."))
    assert (
        next(item for item in today(notebook).items if item.note.path == "older.md").reason
        is ReviewReason.NEW
    )


def test_a_dismissed_age_brings_nothing_up(notebook: Notebook) -> None:
    dismissed = next(
        finding
        for finding in notebook.read_snapshot_with_evidence().findings
        if finding.path == "old.md"
    )
    assert dismissed.rule == "stale"
    notebook.dismiss(dismissed.id)
    queue = today(notebook)
    assert "old.md" not in [item.note.path for item in queue.items]
    assert all(day > date(2026, 11, 20) for day in queue.forecast)


def test_an_empty_review_says_when_the_next_is_due(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook = recorded(tmp_path, {"MEMORY.md": "- [F](fresh.md)\n", "fresh.md": text("fresh")})
    monkeypatch.setenv("RICORDO_STATE", notebook.environment.state)
    assert run(["review", notebook.place.root]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("Nothing to review today. Next review: ")


def test_without_a_terminal_the_queue_is_printed(
    notebook: Notebook, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RICORDO_STATE", notebook.environment.state)
    assert run(["review", notebook.place.root]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("3 to review today\n\npassed.md  retention 0.9")
    assert "  passed-date: " in printed
    assert run(["review", notebook.place.root, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [item["path"] for item in told["queue"]] == ["passed.md", "older.md", "old.md"]
    assert told["queue"][1]["why"] == "age"
    assert told["more"] == 0
    assert (
        told["next"]
        == notebook.read_snapshot_with_evidence().retention["fresh.md"].stale_on.isoformat()
    )
