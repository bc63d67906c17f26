"""Deciding on proposals: what is shown is what is written, in whatever parts and order."""

from __future__ import annotations

from pathlib import Path

import pytest

from ricordo.curation.pending import PendingProposal
from ricordo.curation.proposal import Alarm
from ricordo.errors import ChangeRefused
from ricordo.memory.change import (
    AddEntry,
    AddLink,
    ChangeOperation,
    Create,
    Insert,
    Merge,
    Replace,
    Retire,
    Rewrite,
)
from ricordo.services.curation.curation import ApplyPlan, find_alarms, record_applied, refuse
from ricordo.services.curation.decision import (
    ShownProposal,
    apply_edit,
    get_editable_text,
    plan_shown,
    read_pending,
    replace_proposal,
)
from ricordo.services.curation.pending import load_curation_state
from ricordo.services.edits.change import apply_or_merge
from ricordo.services.history.undo import redo, undo
from ricordo.services.ledger.ledger import read_runs
from ricordo.services.workspace.notebook import Notebook
from ricordo.storage.writer import Applied
from tests.support.builders import note_text, recorded
from tests.support.proposing import created, let_wait, wish

TIDES, PORTS = "tides.md", "ports.md"
BODY = "The port is Sines.\n\nThe tables are old.\n\nAsk Rui.\n\nThe quay is long.\n"
FILES = {
    "MEMORY.md": "# Memory\n\n- [Tides](tides.md) — which port\n- [Ports](ports.md) — where\n",
    TIDES: note_text("tides", BODY),
    PORTS: note_text("ports", "# South\n\nSines.\n"),
    **{f"other_{n}.md": note_text(f"other-{n}", f"Fact {n} of the harbour.\n") for n in range(6)},
}


@pytest.fixture
def notebook(tmp_path: Path) -> Notebook:
    return recorded(tmp_path, FILES)


def text(notebook: Notebook, path: str) -> str:
    return (Path(notebook.place.root) / path).read_text()


def shown(notebook: Notebook, *acts: ChangeOperation) -> list[ShownProposal]:
    let_wait(notebook, *acts)
    return list(read_pending(notebook).proposals)


def planned(
    notebook: Notebook,
    chosen: list[ShownProposal],
    left_out: dict[int, set[tuple[int, int]]] | None = None,
) -> ApplyPlan:
    memory = notebook.read()
    out = {chosen[n].proposal.id: hunks for n, hunks in (left_out or {}).items()}
    return plan_shown(notebook, memory, memory, chosen, out)


def write(notebook: Notebook, made: ApplyPlan) -> None:
    applied = apply_or_merge(notebook, made.change_set)
    assert isinstance(applied, Applied)
    record_applied(notebook, made, applied)


def waits(notebook: Notebook) -> list[PendingProposal]:
    kept = load_curation_state(notebook.environment.state, notebook.place.root)
    return list(kept.pending)


def test_all_that_is_chosen_is_one_act_and_waits_no_longer(notebook: Notebook) -> None:
    create = Create("locks.md", created())
    found = shown(notebook, create, Replace(TIDES, "Sines", "Lagos"), Retire(PORTS, TIDES))
    assert [it.is_plain for it in found] == [True, False, False]
    made = planned(notebook, [found[0], found[2]])
    write(notebook, made)
    assert "locks.md" in text(notebook, "MEMORY.md")
    assert "Sines" in text(notebook, TIDES)
    assert not (Path(notebook.place.root) / PORTS).exists()
    assert [it.op for it in waits(notebook)] == ["replace"]


def test_a_proposal_is_shown_by_itself_and_not_behind_the_others(notebook: Notebook) -> None:
    first, second = shown(
        notebook,
        Replace(TIDES, "Sines", "Lagos"),
        Replace(TIDES, "The tables are old", "The tables are new"),
    )
    assert b"Lagos" in (first.edits[0].after or b"")
    assert b"Lagos" not in (second.edits[0].after or b"")
    write(notebook, planned(notebook, [first, second]))
    assert "Lagos" in text(notebook, TIDES)
    assert "tables are new" in text(notebook, TIDES)


def test_what_fits_only_behind_others_says_so_and_goes_with_them(notebook: Notebook) -> None:
    create, link = shown(notebook, Create("locks.md", created()), AddLink(TIDES, "locks.md"))
    assert not create.needs_others
    assert link.needs_others
    assert not link.is_plain
    alone = planned(notebook, [link])
    assert not alone.chosen
    assert not alone.change_set
    assert planned(notebook, [create, link]).chosen == (create.proposal, link.proposal)


def test_hunks_that_are_left_out_are_not_written(notebook: Notebook) -> None:
    new = BODY.replace("Sines", "Lagos").replace("Rui", "Marta")
    (rewrite,) = shown(notebook, Rewrite(TIDES, note_text("tides", new)))
    assert rewrite.can_omit_hunks(0)
    write(notebook, planned(notebook, [rewrite], {0: {(0, 1)}}))
    assert "Lagos" in text(notebook, TIDES)
    assert "Rui" in text(notebook, TIDES)
    assert rewrite.is_empty_without({(0, 0), (0, 1)}, {(0, 0), (0, 1)})
    assert not rewrite.is_empty_without({(0, 1)}, {(0, 0), (0, 1)})


def test_a_new_note_can_go_without_its_entry_and_what_follows_from_a_change_goes_with_it(
    notebook: Notebook,
) -> None:
    create, retire = shown(notebook, Create("locks.md", created()), Retire(PORTS, TIDES))
    assert [create.can_omit_hunks(n) for n in range(2)] == [False, True]
    assert not any(retire.can_omit_hunks(n) for n in range(len(retire.edits)))
    write(notebook, planned(notebook, [create], {0: {(1, 0)}}))
    assert "locks.md" not in text(notebook, "MEMORY.md")
    assert "close at nine" in text(notebook, "locks.md")


def test_what_others_leave_of_a_note_moves_no_insertion_and_no_rewriting(
    notebook: Notebook,
) -> None:
    lines = text(notebook, TIDES).count("\n")
    found = shown(
        notebook,
        Insert(TIDES, 0, "<!-- of the harbour -->\n"),
        Insert(TIDES, lines - 2, "Rui is away.\n"),
        Rewrite(TIDES, note_text("tides", BODY.replace("tables are old", "tables are new"))),
        Insert(TIDES, lines, "Last.\n"),
        Insert(TIDES, lines, "Very last.\n"),
    )
    write(notebook, planned(notebook, found))
    told = text(notebook, TIDES)
    assert told.startswith("<!-- of the harbour -->\n")
    assert "Ask Rui.\n\nRui is away.\n" in told or "Ask Rui.\nRui is away.\n" in told
    assert "tables are new" in told
    assert told.endswith("Last.\nVery last.\n")


def test_two_that_change_the_same_lines_do_not_go_together(notebook: Notebook) -> None:
    one, other = shown(
        notebook,
        Rewrite(TIDES, note_text("tides", BODY.replace("Sines", "Lagos"))),
        Rewrite(TIDES, note_text("tides", BODY.replace("Sines", "Faro"))),
    )
    made = planned(notebook, [one, other])
    assert made.chosen == (one.proposal,)
    assert "same lines" in made.skipped[0][1]


def test_a_note_that_changed_after_it_was_shown_is_not_written(notebook: Notebook) -> None:
    create, change = shown(
        notebook, Create("locks.md", created()), Replace(TIDES, "tables are old", "tables are new")
    )
    before = notebook.read()
    path = Path(notebook.place.root) / TIDES
    path.write_text(path.read_text() + "Another line.\n")
    index = Path(notebook.place.root) / "MEMORY.md"
    index.write_text(index.read_text() + "- [Others](other_1.md) — one fact\n")
    made = plan_shown(notebook, notebook.read(), before, [create, change], {})
    assert made.chosen == (create.proposal,)
    assert "has changed since" in made.skipped[0][1] or "after it was shown" in made.skipped[0][1]
    assert "has changed since" in next(
        it.blocked_reason for it in read_pending(notebook).proposals if it.proposal.op == "replace"
    )


def test_what_was_refused_stays_away_and_is_counted(notebook: Notebook) -> None:
    first, _ = shown(
        notebook, Replace(TIDES, "Sines", "Lagos"), Replace(TIDES, "Ask Rui", "Ask Marta")
    )
    assert refuse(notebook, [first.proposal]) == 1
    assert refuse(notebook, [first.proposal]) == 0
    kept = load_curation_state(notebook.environment.state, notebook.place.root)
    assert len(kept.pending) == 1
    assert first.proposal.id in kept.refused
    assert read_runs(notebook.environment.state, notebook.place.root) == ((), 0)


def test_undo_and_redo_of_what_was_applied_or_refused_decide_on_the_proposals_too(
    notebook: Notebook,
) -> None:
    found = shown(notebook, Create("locks.md", created()), Replace(TIDES, "Sines", "Lagos"))
    both = [it.proposal for it in found]
    write(notebook, planned(notebook, found[:1]))
    assert waits(notebook) == both[1:]
    assert refuse(notebook, waits(notebook)) == 1
    assert not waits(notebook)
    for turn, pending in ((undo, both[1:]), (undo, both), (redo, both[1:]), (redo, [])):
        turn(notebook)
        assert waits(notebook) == pending
    assert "locks.md" in text(notebook, "MEMORY.md")
    assert "Sines" in text(notebook, TIDES)


def test_an_edited_proposal_replaces_the_pending_one(
    notebook: Notebook,
) -> None:
    change, create, entry = shown(
        notebook,
        Replace(TIDES, "Sines", "Lagos"),
        Create("locks.md", created()),
        AddEntry("MEMORY.md", "other_1.md"),
    )
    assert get_editable_text(create) == created()
    assert "other_1.md" in get_editable_text(entry)
    whole = get_editable_text(change)
    assert "Lagos" in whole
    memory = notebook.read()
    made = apply_edit(notebook, memory, change.proposal, whole.replace("Lagos", "Faro"))
    replace_proposal(notebook, change.proposal, made)
    line = apply_edit(notebook, memory, entry.proposal, "- [One](other_1.md) — a fact\n")
    replace_proposal(notebook, entry.proposal, line)
    found = read_pending(notebook).proposals
    assert [it.proposal.is_edited for it in found] == [True, False, True]
    assert found[0].proposal.evidence == change.proposal.evidence
    write(notebook, planned(notebook, list(found)))
    assert "Faro" in text(notebook, TIDES)
    assert "- [One](other_1.md) — a fact\n" in text(notebook, "MEMORY.md")


@pytest.mark.parametrize("body", ["", "\0"])
def test_what_was_edited_is_checked_again(notebook: Notebook, body: str) -> None:
    (change,) = shown(notebook, Replace(TIDES, "Sines", "Lagos"))
    memory = notebook.read()
    if body:
        with pytest.raises(ChangeRefused, match="NUL"):
            apply_edit(notebook, memory, change.proposal, note_text("tides", body))
    else:
        made = apply_edit(notebook, memory, change.proposal, note_text("tides", body))
        assert made.alarms == (Alarm.EMPTIES,)


def test_what_brings_no_text_cannot_be_edited(notebook: Notebook) -> None:
    (retire,) = shown(notebook, Retire(PORTS, TIDES))
    with pytest.raises(ChangeRefused, match="no text"):
        get_editable_text(retire)


def test_many_that_are_retired_together_alarm_though_none_does_by_itself(
    notebook: Notebook,
) -> None:
    memory = notebook.read()
    found = []
    for number in range(3):
        (it,) = let_wait(notebook, Retire(f"other_{number}.md", TIDES))
        assert not it.alarms
        found.append(it)
    assert list(find_alarms(notebook, memory, found).values()) == [(Alarm.MANY,), (Alarm.MANY,)]


def test_a_merge_in_part_still_retires_the_other_note(notebook: Notebook) -> None:
    merged = note_text("tides", BODY.replace("Ask Rui", "Ask Marta") + "\nSouth: Sines.\n")
    (it,) = shown(notebook, Merge(TIDES, PORTS, merged))
    write(notebook, planned(notebook, [it], {0: {(0, 0)}}))
    assert "Ask Rui" in text(notebook, TIDES)
    assert "South: Sines." in text(notebook, TIDES)
    assert not (Path(notebook.place.root) / PORTS).exists()


def test_a_quote_that_is_not_found_is_never_plain(notebook: Notebook) -> None:
    let_wait(notebook, wish(Create("locks.md", created()), quote="nobody said that"))
    (it,) = read_pending(notebook).proposals
    assert not it.is_plain
    assert it.proposal.all_warnings
