from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.speech.days import made_absolute

DAY = date(2026, 11, 12)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("it ends on 11 January", "it ends on 2027-01-11"),
        ("from November 30th", "from 2026-11-30"),
        ("the audit of 3 October", "the audit of 2026-10-03"),
        ("by Friday", "by 2026-11-13"),
        ("next Tuesday", "2026-11-17"),
        ("tomorrow at nine", "2026-11-13 at nine"),
        ("we dropped it last week", "we dropped it 2026-W45"),
        ("bis zum 3. Februar", "bis zum 2027-02-03"),
        ("le 14 décembre", "le 2026-12-14"),
        ("12月14日", "2026-12-14"),
        ("on 2026-12-01", "on 2026-12-01"),
        ("31 February", "31 February"),
        ("version 1.2, 30 % of March", "version 1.2, 30 % of March"),
    ],
)
def test_a_date_is_told_from_the_day_on_which_it_was_said(said: str, meant: str) -> None:
    assert made_absolute(said, DAY) == meant


@given(text=st.text(max_size=80), day=st.dates(date(2000, 1, 1), date(2099, 1, 1)))
def test_any_text_is_made_absolute_without_an_error(text: str, day: date) -> None:
    made_absolute(text, day)
