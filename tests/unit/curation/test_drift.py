from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.curation.drift import describe_losses, find_placeholders, is_emptied, is_halved

NOTE = (
    "The gap is 30 minutes since 2026-10-22, see `GAP_MINUTES` in tidepool/plan.py. "
    "Ask Tommaso, never the office. [[berth-buffer]] says “no exception for small boats”. "
    "More at https://plans.example.org/gap.\n"
)


@pytest.mark.parametrize(
    ("gone", "told"),
    [
        ("30", "number 30"),
        ("2026-10-22", "date 2026-10-22"),
        ("`GAP_MINUTES`", "code GAP_MINUTES"),
        ("tidepool/plan.py", "path tidepool/plan.py"),
        ("Tommaso", "name Tommaso"),
        ("never ", "denial “never”"),
        ("[[berth-buffer]]", "link berth-buffer"),
        ("“no exception for small boats”", "quotation no exception for small boats"),
        ("https://plans.example.org/gap", "address https://plans.example.org/gap"),
    ],
)
def test_what_an_edit_drops_is_told(gone: str, told: str) -> None:
    assert told in describe_losses(NOTE, NOTE.replace(gone, "so"))


SENTENCE = "The tide table of the harbour is kept by {} since spring, and that holds for all boats."
FACTS = {
    "number": ["30", "1,500", "2.5", "-3", "4711", "0", "12:30", "30min", "5km", "200ms", "10GB"],
    "share": ["45%", "€300", "8080/tcp", "3x", "2nd", "v2.3.1"],
    "date": ["2026-10-22", "22 October 2026", "22.10.2026", "Oct 22", "Thursday 22 October"],
    "address": ["https://x.example/a", "http://localhost:8080", "ssh://git@x.example", "ana@x.org"],
    "path": ["src/plan.py", "/etc/hosts", "~/.config/x", "Makefile", "docs/", r"C:\Users\ana"],
    "name": ["Tommaso", "Rui Costa", "PostgreSQL", "GitHub", "Redis", "BNIEP", "API"],
    "symbol": [
        "GAP_MINUTES",
        "compute_gap()",
        "PlanView",
        "planView",
        "--dry-run",
        "@ana",
        "#tides",
    ],
    "code": ["`GAP`", "`a b`", "[[berth-buffer]]"],
    "denial": ["nobody", "never", "not Ana", "niemand", "personne, jamais", "hardly anyone"],
    "quotation": ['"no exception"', "“never again”", "«mai più»", "'old quay'"],
}


def test_nearly_every_fact_that_a_model_drops_is_told() -> None:
    missed = [
        (fact, instead)
        for facts in FACTS.values()
        for fact in facts
        for instead in ("somebody", "it", "")
        if not describe_losses(SENTENCE.format(fact), SENTENCE.format(instead))
    ]
    assert len(missed) <= 0.05 * 3 * sum(map(len, FACTS.values())), missed


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("30min", "30 minutes"),
        ("v2.3.1", "2.3.1"),
        ("`GAP_MINUTES`", "GAP_MINUTES"),
        ("API", "API,"),
    ],
)
def test_a_fact_that_is_written_in_another_way_is_not_lost(before: str, after: str) -> None:
    assert describe_losses(SENTENCE.format(before), SENTENCE.format(after)) == ()


def test_an_edit_that_keeps_all_facts_loses_nothing() -> None:
    assert describe_losses(NOTE, NOTE.replace("The gap is", "The gap between two ships is")) == ()
    assert describe_losses(NOTE, f"{NOTE}\nAnd more of 2027-01-02.") == ()


def test_text_that_stands_for_text_is_told_unless_it_was_there() -> None:
    assert find_placeholders("a", "a\n[rest of the note unchanged]")
    assert find_placeholders("a\n...\n", "a\n...\nb") == ()
    assert find_placeholders("a", "The rest of the day is free.") == ()


def test_emptied_and_halved_bodies_are_told_apart_from_short_ones() -> None:
    assert is_emptied("x", " \n")
    assert not is_emptied("", "")
    assert is_halved("x" * 100, "x" * 50)
    assert not is_halved("x" * 100, "x" * 60)
    assert not is_halved("x" * 40, "x")


@given(before=st.text(max_size=200), after=st.text(max_size=200))
def test_any_two_texts_are_compared_without_an_error(before: str, after: str) -> None:
    assert describe_losses(before, before) == ()
    assert find_placeholders(before, before) == ()
    describe_losses(before, after)
