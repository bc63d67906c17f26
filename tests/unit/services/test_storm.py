"""Curating again and again within a short time is refused; a session that goes on is told of."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ricordo.errors import RateLimited
from ricordo.services.curation.preparation import check_rate_limit, explain_open_session
from ricordo.services.history.undo import undo
from ricordo.settings.settings import CurateSettings
from tests.support.builders import note_text
from tests.support.curating import Desk, edit

FILES = {"tides.md": note_text("tides", "The port is Sines.\n")}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    desk = Desk(tmp_path, FILES)
    most = CurateSettings(hour=2, day=3)
    desk.notebook.settings = replace(desk.notebook.settings, curate=most)
    return desk


def curate(desk: Desk, moment: str) -> None:
    desk.at(moment)
    line = len(desk.files["tides.md"].splitlines())
    desk.propose([edit("insert", note="n1", after_line=line, text=f"It is so at {moment}.")])
    assert desk.take().applied


def refused(desk: Desk, moment: str) -> str:
    try:
        check_rate_limit(desk.at(moment).notebook)
    except RateLimited as storm:
        return storm.message
    return ""


def test_after_so_many_in_an_hour_further_ones_are_refused_until_it_is_over(desk: Desk) -> None:
    curate(desk, "2026-11-20T09:00:00+00:00")
    assert not refused(desk, "2026-11-20T09:01:00+00:00")
    curate(desk, "2026-11-20T09:30:00+00:00")
    told = refused(desk, "2026-11-20T09:31:00+00:00")
    assert "Next one from 2026-11-20 10:00" in told
    assert "curate.hour" in told
    assert not refused(desk, "2026-11-20T10:01:00+00:00")


def test_in_a_day_no_more_than_a_day_takes_whatever_the_clock_does(desk: Desk) -> None:
    for hour in ("09", "11", "13"):
        curate(desk, f"2026-11-20T{hour}:00:00+00:00")
    assert "within a day" in refused(desk, "2026-11-20T20:00:00+00:00")
    assert "curate.hour" in refused(desk, "2020-01-01T00:00:00+00:00")
    assert not refused(desk, "2026-11-21T13:01:00+00:00")


def test_undone_curations_count_for_the_rate_limit(desk: Desk) -> None:
    for minute in ("00", "10"):
        curate(desk, f"2026-11-20T09:{minute}:00+00:00")
        undo(desk.notebook)
    assert refused(desk, "2026-11-20T09:20:00+00:00")


def test_what_was_only_proposed_wears_nothing_away(desk: Desk) -> None:
    for minute in range(10, 20):
        desk.at(f"2026-11-20T09:{minute}:00+00:00").propose([])
    assert not refused(desk, "2026-11-20T09:30:00+00:00")


@pytest.mark.parametrize(
    ("last", "told"),
    [
        ("2026-11-20T08:57:30.000+00:00", "2 minutes ago"),
        ("2026-11-20T08:59:50.000+00:00", "a moment ago"),
        ("2026-11-20T08:54:00.000+00:00", ""),
        ("2026-11-20T09:10:00.000+00:00", ""),
        ("", ""),
    ],
)
def test_a_session_that_goes_on_is_told_of(desk: Desk, last: str, told: str) -> None:
    desk.at("2026-11-20T09:00:00+00:00")
    said = explain_open_session(desk.notebook, last)
    assert told in said
    assert bool(told) == bool(said)
    quiet = replace(desk.notebook.settings, curate=CurateSettings(quiet=0))
    desk.notebook.settings = quiet
    assert explain_open_session(desk.notebook, last) == ""
