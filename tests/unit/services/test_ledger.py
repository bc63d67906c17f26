"""The ledger: what curations cost and bought, whatever happens to its file."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from unittest import mock

import pytest

from ricordo.curation.engine import EngineUsage
from ricordo.errors import StateUnusable
from ricordo.memory.change import Replace
from ricordo.services.curation.curation import refuse
from ricordo.services.curation.decision import apply_edit, replace_proposal
from ricordo.services.history.maintenance import purge_value
from ricordo.services.history.undo import redo, undo
from ricordo.services.ledger.benefit import compute_benefit
from ricordo.services.ledger.describe import format_benefit
from ricordo.services.ledger.ledger import FILE, read_runs
from ricordo.services.workspace.environment import load_environment
from ricordo.services.workspace.notebook import Notebook
from ricordo.services.workspace.places import find_memory
from ricordo.settings.settings import Settings
from tests.support.builders import note_text, write_memory
from tests.support.curating import Desk, edit
from tests.support.transcripts import FOLDER, OTHER, Claude

FILES = {
    "tides.md": note_text("tides", "The port is Sines since 2026-03-04. Ask Marta Silva.\n"),
    "ports.md": note_text("ports", "Berth 12 is not deep.\n"),
}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path, FILES)


def ledger(desk: Desk) -> Path:
    return Path(desk.notebook.environment.state) / FILE


def inserting(line: str = "The port is Lagos now.") -> dict[str, object]:
    return edit("insert", note="n2", after_line=8, text=line)


def replacing(path: str, old: str, new: str, desk: Desk) -> dict[str, object]:
    return edit("replace", note=desk.id_of(path), old=old, new=new)


def test_a_run_tells_its_cost_and_what_the_person_took_and_dropped(desk: Desk) -> None:
    edits = [inserting(), replacing("ports.md", "12", "13", desk), {"op": "shell"}]
    desk.propose(edits, EngineUsage(900, 40, 0.0125))
    desk.take(by_hand=False)
    refuse(desk.notebook, desk.waiting)
    desk.propose([], EngineUsage(800, 3, None))
    (last, first), damaged = read_runs(desk.notebook.environment.state, str(desk.root))
    assert damaged == 0
    assert (first.proposed, first.accepted, first.rejected) == (2, 1, 1)
    assert (first.input_tokens, first.output_tokens, first.usd) == (900, 40, 0.0125)
    assert first.activity_tokens > 0
    assert (last.accepted, last.rejected, last.usd) == (0, 0, None)
    it = compute_benefit(desk.notebook, desk.notebook.read())
    assert (it.input_tokens, it.usd, it.unpriced) == (1700, 0.0125, 1)
    assert "1 run without a known price" in str(format_benefit(it))


def test_a_run_that_was_not_decided_counts_no_activity(desk: Desk) -> None:
    desk.propose([inserting()])
    assert compute_benefit(desk.notebook, desk.notebook.read()).activity_tokens == 0
    desk.propose([inserting()])
    desk.take()
    it = compute_benefit(desk.notebook, desk.notebook.read())
    assert it.activity_tokens == it.runs[0].activity_tokens > 0
    assert [run.accepted for run in it.runs] == [1, 0]


# Whom what is decided is credited to


def taken_and_dropped(desk: Desk) -> list[tuple[int, int, int]]:
    """Return of each run, oldest first, what it proposed and what the person took and dropped."""
    runs = compute_benefit(desk.notebook, desk.notebook.read()).runs
    return [(it.proposed, it.accepted, it.rejected) for it in reversed(runs)]


def test_what_waited_for_long_is_credited_to_the_run_that_had_proposed_it(desk: Desk) -> None:
    desk.propose([inserting(), replacing("tides.md", "2026-03-04", "2026-03-05", desk)])
    desk.propose([replacing("ports.md", "12", "13", desk)])
    desk.propose([])
    assert taken_and_dropped(desk) == [(2, 0, 0), (1, 0, 0), (0, 0, 0)]
    refuse(desk.notebook, desk.waiting[:1])
    assert taken_and_dropped(desk) == [(2, 0, 1), (1, 0, 0), (0, 0, 0)]
    desk.take()
    assert taken_and_dropped(desk) == [(2, 1, 1), (1, 1, 0), (0, 0, 0)]


def test_what_is_proposed_again_is_credited_to_the_run_that_did(desk: Desk) -> None:
    desk.propose([inserting()])
    desk.propose([inserting()])
    refuse(desk.notebook, desk.waiting)
    assert taken_and_dropped(desk) == [(1, 0, 0), (1, 0, 1)]


def test_what_the_person_edited_stays_that_of_its_run(desk: Desk) -> None:
    desk.propose([inserting()])
    desk.propose([replacing("ports.md", "12", "13", desk)])
    memory = desk.notebook.read()
    old = desk.waiting[0]
    text = memory.by_path["tides.md"].text + "The port is Faro now.\n"
    replace_proposal(desk.notebook, old, apply_edit(desk.notebook, memory, old, text))
    desk.take()
    assert b"Faro" in desk.files["tides.md"]
    assert taken_and_dropped(desk) == [(1, 1, 0), (1, 1, 0)]


def test_what_was_taken_counts_while_its_act_stands(desk: Desk) -> None:
    desk.propose([inserting()])
    desk.take()
    undo(desk.notebook)
    assert taken_and_dropped(desk) == [(1, 0, 0)]
    redo(desk.notebook)
    assert taken_and_dropped(desk) == [(1, 1, 0)]
    undo(desk.notebook)
    desk.take()
    assert taken_and_dropped(desk) == [(1, 1, 0)]


def test_a_history_that_was_begun_anew_takes_nothing_from_what_was_taken(desk: Desk) -> None:
    desk.propose([inserting()])
    desk.take()
    for path in Path(desk.notebook.environment.state).glob("history.db*"):
        path.unlink()
    desk.at("2026-11-22T09:00:00+00:00").notebook.record(desk.notebook.read())
    desk.propose([replacing("ports.md", "12", "13", desk)])
    desk.take()
    undo(desk.notebook)
    assert taken_and_dropped(desk) == [(1, 1, 0), (1, 0, 0)]


def kept_as_before(desk: Desk, run: dict[str, object] | None) -> None:
    """Let the proposals stand in their file as they did when only the file told of a run."""
    (path,) = (Path(desk.notebook.environment.state) / "curation").iterdir()
    document = json.loads(path.read_text("utf-8"))
    for it in document["waiting"]:
        del it["run"]
    path.write_text(json.dumps({**document, "run": run}), "utf-8")


def test_what_waits_since_before_is_credited_to_the_run_of_its_file_if_it_tells(desk: Desk) -> None:
    run = desk.propose([inserting()]).run
    kept_as_before(desk, {"id": run.id})
    desk.take()
    desk.propose([replacing("ports.md", "12", "13", desk)])
    kept_as_before(desk, None)
    desk.take()
    assert b"13" in desk.files["ports.md"]
    assert taken_and_dropped(desk) == [(1, 1, 0), (1, 0, 0)]


def test_a_ledger_that_tells_a_run_again_with_each_decision_is_read(desk: Desk) -> None:
    run = desk.propose([inserting(), replacing("ports.md", "12", "13", desk)]).run
    for taken, dropped in ((1, 0), (0, 1)):
        told = {"root": str(desk.root), **asdict(run), "accepted": taken, "rejected": dropped}
        del told["whole_usd"]
        with ledger(desk).open("a") as file:
            file.write(json.dumps(told) + "\n")
    assert taken_and_dropped(desk) == [(2, 1, 1)]


def test_no_text_of_a_note_or_of_a_session_stands_in_it(desk: Desk) -> None:
    desk.propose([inserting()])
    desk.take()
    assert "Lagos" not in ledger(desk).read_text("utf-8")
    assert ledger(desk).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "damage",
    [
        b'{"root": "/x", "id": ',
        b"\0\xff\xfe\n",
        b"[1]\n7\n",
        b'{"root": 1, "id": [], "at": {}}\n',
        b'{"id": "x", "input_tokens": true}\n',
        b'{"run": "x", "accepted": -1, "rejected": 0, "act": "1"}\n',
        b'{"run": "x", "accepted": 1, "rejected": 0, "act": 1}\n',
        b"[" * 100_000 + b"\n",
    ],
)
def test_whatever_a_line_was_made_into_the_others_are_read(desk: Desk, damage: bytes) -> None:
    desk.propose([inserting()])
    with ledger(desk).open("ab") as file:
        file.write(damage)
    desk.take()
    runs, damaged = read_runs(desk.notebook.environment.state, str(desk.root))
    assert [run.accepted for run in runs] == [1]
    assert damaged >= 1
    assert "cannot be read" in str(
        format_benefit(compute_benefit(desk.notebook, desk.notebook.read()))
    )


def test_another_memory_has_a_ledger_of_its_own(desk: Desk) -> None:
    desk.propose([inserting()])
    assert read_runs(desk.notebook.environment.state, "/elsewhere") == ((), 0)


def test_a_value_can_be_purged_from_it(desk: Desk) -> None:
    desk.propose([inserting()])
    desk.take()
    size = ledger(desk).stat().st_size
    name = desk.root.parent.name
    purge_value(desk.notebook.environment, name)
    assert name.encode() not in ledger(desk).read_bytes()
    assert ledger(desk).stat().st_size == size
    assert all(json.loads(line) for line in ledger(desk).read_text("utf-8").splitlines())


def test_where_the_ledger_cannot_be_written_it_is_told_what_was_applied(desk: Desk) -> None:
    desk.propose([inserting()])
    full = mock.patch(
        "ricordo.services.curation.curation.record_decisions", side_effect=StateUnusable("Full.")
    )
    with full, pytest.raises(StateUnusable) as raised:
        desk.take()
    assert str(raised.value) == "Full. 1 proposal was applied; the ledger does not record it."
    assert b"Lagos" in desk.files["tides.md"]
    assert not desk.waiting


# Drift


def test_what_curations_took_and_brought_is_told_by_kind_and_note_and_over_time(desk: Desk) -> None:
    desk.propose([replacing("tides.md", " since 2026-03-04. Ask Marta Silva", ".", desk)])
    desk.take()
    desk.at("2026-11-22T09:00:00+00:00")
    desk.propose([replacing("ports.md", "Berth 12 is not deep", "Berth 14 is deep", desk)])
    desk.take()
    it = compute_benefit(desk.notebook, desk.notebook.read()).drift
    assert it.lost == {"date": 1, "name": 2, "number": 1, "denial": 1}
    assert it.added == {"number": 1}
    assert [(step.engine, step.lost, step.added) for step in it.steps] == [
        ("test", 3, 0),
        ("test", 2, 1),
    ]
    assert [(note.path, len(note.lost)) for note in it.notes] == [("tides.md", 3), ("ports.md", 2)]
    assert set(it.gone) == {"date 2026-03-04", "name Marta", "name Silva", "number 12"}


def test_what_was_brought_back_is_gone_no_more_and_what_was_undone_never_was(desk: Desk) -> None:
    desk.propose([replacing("ports.md", "Berth 12", "The berth", desk)])
    desk.take()
    assert compute_benefit(desk.notebook, desk.notebook.read()).drift.gone == ("number 12",)
    desk.propose([replacing("tides.md", "Sines", "Sines, berth 12,", desk)])
    desk.take()
    assert compute_benefit(desk.notebook, desk.notebook.read()).drift.gone == ()
    undo(desk.notebook)
    undo(desk.notebook)
    it = compute_benefit(desk.notebook, desk.notebook.read())
    assert (it.curations, it.drift.lost, it.drift.notes) == (0, {}, ())


def test_what_a_merge_takes_over_is_not_lost(desk: Desk) -> None:
    body = FILES["tides.md"] + "\nBerth 12 is not deep.\n"
    desk.propose(
        [edit("merge", note=desk.id_of("tides.md"), other=desk.id_of("ports.md"), text=body)]
    )
    desk.take(confirmed=True)
    it = compute_benefit(desk.notebook, desk.notebook.read()).drift
    assert it.lost == {}
    assert [note.path for note in it.notes if note.lost] == ["ports.md"]


def test_drift_holds_over_damage_of_what_we_keep_and_over_a_purge(desk: Desk) -> None:
    desk.propose([replacing("ports.md", "Berth 12", "The berth", desk)])
    desk.take()
    desk.propose([replacing("tides.md", "Marta Silva", "somebody", desk)])
    desk.take()
    ledger(desk).unlink()
    purge_value(desk.notebook.environment, "Marta Silva")
    it = compute_benefit(desk.notebook, desk.notebook.read())
    assert (it.curations, it.drift.purged) == (2, 1)
    assert it.drift.lost == {"number": 1}


def test_changes_by_the_person_are_no_drift(desk: Desk) -> None:
    from ricordo.memory.change import Change
    from ricordo.services.edits.change import apply_merging, build_change_set

    memory = desk.notebook.read()
    change = Change(Replace("ports.md", "Berth 12", "The berth"))
    apply_merging(desk.notebook, build_change_set(desk.notebook, memory, [change]), by_hand=True)
    assert compute_benefit(desk.notebook, desk.notebook.read()).drift.steps == ()


# Reads


def test_reads_are_counted_from_the_first_curation_and_from_the_last(tmp_path: Path) -> None:
    files = {"MEMORY.md": "- [Tides](tides.md) — which port\n", **FILES}
    root = tmp_path / ".claude/projects" / FOLDER / "memory"
    write_memory(root, files)
    environment = load_environment({"HOME": str(tmp_path)}, state=str(tmp_path / "state"))
    notebook = Notebook(find_memory(str(root), environment), environment, Settings())
    notebook.record(notebook.read())
    desk = Desk(tmp_path, {}, notebook)
    for number, day in enumerate(("10", "12")):
        desk.at(f"2026-11-{day}T09:00:00+00:00")
        desk.propose([inserting(f"Line {number} is new.")])
        desk.take()
    for number, day in enumerate(("09", "11", "13", "14")):
        began = datetime.fromisoformat(f"2026-11-{day}T09:00:00+00:00")
        session = Claude(f"{number}{OTHER[1:]}", began=began).says("Which port?")
        session.uses("Read", file_path=str(root / "tides.md")).write(tmp_path)
    desk.at("2026-11-20T09:00:00+00:00")
    memory = desk.notebook.read()
    desk.notebook.gather(memory)
    it = compute_benefit(desk.notebook, memory)
    # each session was given the index, and read one note
    assert (it.curations, it.reads, it.reads_since, it.reads_per_curation) == (2, 6, 4, 3.0)
    assert not it.is_worthwhile
    assert "3.0 reads per curation: not yet worthwhile" in str(format_benefit(it))
