"""Retention: the published formula of FSRS, and the events of the note."""

from __future__ import annotations

import math
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.lint.retention import (
    MAX_DAYS,
    NoteEvents,
    Retention,
    days_until,
    get_decay_kind,
    load_decay_params,
)
from ricordo.lint.rule import DEFAULT_THRESHOLDS

TODAY = date(2026, 11, 20)
# the published parameters of FSRS-6 for a successful review
DECAY, W8, W9, W10, W7 = -0.1542, 1.8722, 0.1666, 0.796, 0.001
FACTOR = 0.9 ** (1 / DECAY) - 1
EASY = 6.4133 - math.exp(0.8334 * 3) + 1
"""The difficulty towards which every review reverts a little."""


def formula(days: float, stability: float) -> float:
    """R = (1 + factor * t / S) ** decay, with R = 0.9 at t = S."""
    return float((1 + FACTOR * days / stability) ** DECAY)


def after_good(stability: float, difficulty: float, days: int) -> tuple[float, float]:
    """Return stability and difficulty after a successful review after so many days."""
    grown = math.exp(W8) * (11 - difficulty) * stability**-W9
    grown *= math.exp(W10 * (1 - formula(days, stability))) - 1
    harder = W7 * EASY + (1 - W7) * difficulty
    return stability * (1 + grown), min(max(harder, 1), 10)


def days_ago(days: int) -> date:
    return TODAY - timedelta(days=days)


def retention(life: NoteEvents, threshold: float = 0.7) -> Retention:
    return Retention(life, threshold, TODAY)


@pytest.mark.parametrize("kind", ["user", "feedback", "reference", "project", "other", "wiki"])
@pytest.mark.parametrize("days", [0, 1, 41, 108, 900])
def test_retention_follows_the_formula(kind: str, days: int) -> None:
    share = retention(NoteEvents(kind, days_ago(days))).share
    assert share == pytest.approx(formula(days, load_decay_params()[kind].stability))


def test_retention_is_nine_tenths_after_the_stability() -> None:
    assert retention(NoteEvents("project", days_ago(9))).share == pytest.approx(0.9)


def test_confirmation_is_a_successful_review() -> None:
    stability, difficulty = after_good(9, 10, 60)
    once = retention(NoteEvents("project", days_ago(100), (days_ago(40),)))
    assert once.share == pytest.approx(formula(40, stability))
    assert once.stability == pytest.approx(stability)
    again, _ = after_good(stability, difficulty, 30)
    twice = retention(NoteEvents("project", days_ago(100), (days_ago(40), days_ago(10))))
    assert twice.share == pytest.approx(formula(10, again))
    assert twice.half_life > once.half_life


def test_confirming_twice_on_one_day_counts_once() -> None:
    once = retention(NoteEvents("project", days_ago(90), (days_ago(5),)))
    twice = retention(NoteEvents("project", days_ago(90), (days_ago(5), days_ago(5))))
    assert twice.share == pytest.approx(once.share)


def test_reads_increase_stability_up_to_a_limit() -> None:
    unread = retention(NoteEvents("project", days_ago(90)))
    day = [days_ago(n) for n in range(60, 0, -1)]
    once = retention(NoteEvents("project", days_ago(90), (), (day[0],)))
    assert once.share == pytest.approx(formula(90, 9 * 1.2))
    confirmed = retention(NoteEvents("project", days_ago(90), (day[0],)))
    assert unread.share < once.share < confirmed.share
    often, oftener = (
        retention(NoteEvents("project", days_ago(90), (), tuple(day[:n]))) for n in (5, 60)
    )
    assert often.share == oftener.share == pytest.approx(formula(90, 9 * 2))


def test_wrong_note_has_no_retention() -> None:
    wrong = retention(NoteEvents("user", days_ago(3), (), (days_ago(1),), is_wrong=True))
    assert wrong.share == 0
    assert wrong.is_stale
    assert "you marked it as wrong" in wrong.reasons


def test_stale_begins_on_the_first_day_below_the_threshold() -> None:
    one = retention(NoteEvents("project", days_ago(10)))
    day = (one.stale_on - days_ago(10)).days
    assert formula(day, 9) < 0.7 <= formula(day - 1, 9)
    assert not one.is_stale
    assert Retention(one.events, 0.7, one.stale_on).is_stale
    assert not Retention(one.events, 0.7, one.stale_on - timedelta(days=1)).is_stale


def test_days_until_each_type_is_stale() -> None:
    """A season for the state of a project, more than a year for preferences of the user."""
    fired = {
        kind: days_until(0.7, load_decay_params()[kind].stability) for kind in load_decay_params()
    }
    assert 60 <= fired["project"] <= 90
    assert fired["project"] < fired["other"] < fired["reference"] <= fired["user"]
    assert days_until(0.65, load_decay_params()["feedback"].stability) > 365
    assert days_until(0.6, load_decay_params()["user"].stability) > 500


@given(st.floats(0.01, 0.999), st.floats(0.01, 5_000))
def test_days_until_is_the_last_day_with_the_share(share: float, stability: float) -> None:
    day = days_until(share, stability)
    assert 0 <= day <= MAX_DAYS
    if day < MAX_DAYS:
        assert formula(day + 1, stability) < share + 1e-9
        assert formula(day, stability) >= share - 1e-9


@pytest.mark.parametrize(("threshold", "days"), [(0.0, MAX_DAYS), (1.0, 0), (1e15, 0)])
def test_threshold_may_be_any_number(threshold: float, days: int) -> None:
    assert days_until(threshold, 9) == days
    assert retention(NoteEvents("project", date(9990, 1, 1)), threshold).stale_on >= TODAY


def test_note_from_the_future_is_fresh() -> None:
    assert retention(NoteEvents("project", days_ago(-400))).share == 1
    assert retention(NoteEvents("project", days_ago(-400))).reasons[0] == "written in the future"


def test_reasons_are_short_lines() -> None:
    read = tuple(days_ago(n) for n in (30, 20, 1))
    confirmed = (days_ago(40), days_ago(16))
    assert retention(NoteEvents("project", days_ago(108), confirmed, read)).reasons == (
        "written 108 days ago",
        "confirmed 2 times, last on 4 Nov 2026",
        "read by agents on 3 days, last on 19 Nov 2026",
    )
    assert retention(NoteEvents("project", days_ago(1))).reasons == (
        "written 1 day ago",
        "never confirmed, and not known to be read",
    )


@pytest.mark.parametrize(
    ("type_", "kind"),
    [
        ("user", "user"),
        (" Project ", "project"),
        ("decision", "other"),
        ("wiki", "other"),
        ("", "other"),
    ],
)
def test_every_type_has_a_kind(type_: str, kind: str) -> None:
    assert get_decay_kind(type_) == kind


def test_every_kind_has_a_threshold_setting() -> None:
    assert {f"stale.{kind}" for kind in load_decay_params()} == {
        name for name in DEFAULT_THRESHOLDS if name.startswith("stale.")
    }
