"""Retirements by curations are counted within a day, over runs: many need a typed word."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ricordo.curation.proposal import Alarm
from ricordo.services.curation.curation import find_alarms, refuse
from ricordo.services.history.undo import undo
from tests.support.builders import note_text
from tests.support.curating import Desk, edit

NOTES = {f"n_{n:02}.md": note_text(f"n-{n}", f"Fact {n}.\n") for n in range(30)}
MOST = 3
"""A tenth of them."""


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path, NOTES).at("2026-11-20T09:00:00+00:00")


def retiring(desk: Desk, *numbers: int) -> list[object]:
    last = desk.id_of("n_29.md")
    return [
        edit("retire", note=desk.id_of(f"n_{number:02}.md"), successor=last) for number in numbers
    ]


def left(desk: Desk) -> int:
    return len(desk.take().skipped)


def test_over_runs_and_restarts_the_first_too_many_needs_a_typed_word(desk: Desk) -> None:
    desk.propose(retiring(desk, 0, 1))
    assert left(desk) == 0
    desk.at("2026-11-20T12:00:00+00:00").propose(retiring(desk, 2, 3, 4))
    assert [it.alarms for it in desk.waiting] == [(), (Alarm.MANY,), (Alarm.MANY,)]
    assert left(desk) == 2
    assert len(desk.files) == len(NOTES) - MOST
    taken = desk.take(confirmed=True)
    assert (len(taken.applied), len(taken.skipped)) == (2, 0)


def test_pending_proposals_of_several_runs_count_together(desk: Desk) -> None:
    desk.propose(retiring(desk, 0, 1))
    desk.at("2026-11-20T10:00:00+00:00").propose(retiring(desk, 0, 1, 2, 3))
    assert len(desk.waiting) == 4
    assert list(find_alarms(desk.notebook, desk.notebook.read(), desk.waiting).values()) == [
        (Alarm.MANY,)
    ]
    assert left(desk) == 1


def test_what_is_proposed_again_while_it_waits_counts_once(desk: Desk) -> None:
    for _ in range(2):
        desk.propose(retiring(desk, 0, 1, 2))
        assert [it.alarms for it in desk.waiting] == [(), (), ()]


def test_a_word_counts_for_what_was_shown_with_it_and_no_more(desk: Desk) -> None:
    desk.propose(retiring(desk, 0, 1, 2, 3))
    other = desk.waiting[0]
    shown = find_alarms(desk.notebook, desk.notebook.read(), [other])
    assert not shown
    assert left(desk) == 1


def test_the_count_does_not_hang_on_what_we_keep_of_proposals(desk: Desk) -> None:
    desk.propose(retiring(desk, 0, 1, 2))
    desk.take()
    shutil.rmtree(Path(desk.notebook.environment.state) / "curation")
    desk.at("2026-11-20T10:00:00+00:00").propose(retiring(desk, 3))
    assert left(desk) == 1


def test_undone_proposals_do_not_count(desk: Desk) -> None:
    desk.propose(retiring(desk, 0, 1, 2))
    desk.take()
    undo(desk.notebook)
    refuse(desk.notebook, desk.waiting)
    desk.propose(retiring(desk, 3, 4))
    assert left(desk) == 0


@pytest.mark.parametrize(
    ("later", "counts"),
    [
        ("2026-11-21T08:59:00+00:00", True),
        ("2026-11-21T09:01:00+00:00", False),
        # the same moment elsewhere
        ("2026-11-21T18:58:00+10:00", True),
        # a clock that was put back
        ("2020-01-01T00:00:00+00:00", True),
    ],
)
def test_a_day_is_a_day_whatever_the_clock_does(desk: Desk, later: str, counts: bool) -> None:
    desk.propose(retiring(desk, 0, 1, 2))
    desk.take()
    desk.at(later).propose(retiring(desk, 3))
    assert left(desk) == counts


def test_nobody_but_a_person_confirms(desk: Desk) -> None:
    desk.propose(retiring(desk, 0, 1, 2, 3))
    taken = desk.take(by_hand=False)
    assert [why for _, why in taken.skipped] == [
        *(f"removes the note n_{number:02}.md" for number in range(3)),
        f"removes the note n_03.md; {Alarm.MANY.value}",
    ]
