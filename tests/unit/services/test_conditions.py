"""The conditions of a search: what holds of which notes, and what is said of those that cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from ricordo.memory.names import fold_name
from ricordo.services.search.conditions import ConditionValues
from tests.support.builders import note_text
from tests.unit.services.searching import Desk


@pytest.fixture
def desk(root: Path, tmp_path: Path) -> Desk:
    return Desk(root, tmp_path / "state")


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("type:reference", ["tide-tables.md"]),
        (">tide-tables", ["cache.md"]),
        ("<cache", ["tide-tables.md"]),
        ('"port of sines"', ["tide-tables.md"]),
        ("before:2026-06", ["log/day.md"]),
        ("after:2026-05 before:2026-05-08", ["log/day.md"]),
        ("cache -function -older -nothing", ["cache.md"]),
        ("cache type:reference", []),
        ("is:stale", ["cache.md"]),
        ("has:conflict", ["decache.md"]),
        ("in:log", ["log/day.md"]),
        # still being typed
        ("type:ref", ["tide-tables.md"]),
        ("is:sta", ["cache.md"]),
        ("has:con", ["decache.md"]),
        ("", []),
        ("nosuchthing", []),
    ],
)
def test_conditions_hold(desk: Desk, typed: str, expected: list[str]):
    values = ConditionValues({"cache.md": ["stale"], "decache.md": ["contradiction"]})
    assert desk.paths(typed, values) == expected


def test_conditions_are_judged_before_the_best_are_taken(root: Path, tmp_path: Path):
    many = {f"n{n}.md": note_text(f"n{n}", "The gizmo, the gizmo.\n", "It") for n in range(150)}
    one = {"z.md": note_text("zebra", "Rain. A gizmo in a long text.\n" * 2, "It", "feedback")}
    desk = Desk(root, tmp_path / "state", {**many, **one})
    assert desk.paths("gizmo type:feedback") == ["z.md"]
    assert desk.search.find("gizmo type:feedback").total == 1
    assert desk.search.find("gizmo -type:feedback").total == 150
    assert desk.search.find("gizmo").total == 151
    assert desk.search.find("n gizmo").total == 151
    assert desk.search.find("gizmo zebra").total == 151


def test_many_names_do_not_hide_the_one_under_a_condition(root: Path, tmp_path: Path):
    many = {f"n{n}.md": note_text(f"gizmo {n}", "Rain.\n", "It") for n in range(520)}
    one = {"z.md": note_text("the last gizmo", "Rain.\n", "It", "feedback")}
    desk = Desk(root, tmp_path / "state", {**many, **one})
    assert desk.paths("gizmo type:feedback") == ["z.md"]
    assert desk.search.find("gizmo").total == 521


@pytest.mark.parametrize(
    ("typed", "warning"),
    [
        ("after:yesterday", "after: expects 2026-05 or 2026-05-01"),
        ("rain before:tomorrow", "before: expects 2026-05 or 2026-05-01"),
        ("-after:2026-13", "after: expects 2026-05 or 2026-05-01"),
        ("before:2026-02-30", "before: expects 2026-05 or 2026-05-01"),
        ("cache is:bogus", "is: expects a rule name"),
        ("-has:bogus", "has: expects a rule name"),
        ('in:log type:"two words"', "type: expects project or reference, not “two words”"),
        ("in:nowhere", "in: expects a folder of the memory, there is no “nowhere”"),
        (">nobody", "> expects the name of a note, there is no “nobody”"),
        ("type:", "type: expects project or reference"),
        ("-after: ", "after: expects 2026-05 or 2026-05-01"),
        ("<", "< expects the name of a note"),
    ],
)
def test_an_invalid_condition_is_reported(desk: Desk, typed: str, warning: str):
    found = desk.search.find(typed)
    assert (found.hits, found.total) == ((), 0)
    assert [it.startswith(warning) for it in found.warnings] == [True]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("after:2026-5 before:2026-5-8", ["log/day.md"]),
        ("in:log after:2026", ["log/day.md"]),
        ("in:log after:2026-6", []),
        ('type:"reference"', ["tide-tables.md"]),
        ('>"tide-tables"', ["cache.md"]),
        ("is:protected", []),
        ("has:dead-link", []),
        ("--sines", ["tide-tables.md"]),
        ("after: 2026-05 in:/LOG/", ["log/day.md"]),
        ('> "tide-tables"', ["cache.md"]),
        (">tables", ["cache.md"]),
        ("<log/day.md", []),
        ("rain is:", ["log/day.md"]),
        ("what the port is: sines", ["tide-tables.md"]),
    ],
)
def test_what_can_be_understood_is_not_remarked_on(desk: Desk, typed: str, expected: list[str]):
    assert desk.paths(typed) == expected
    assert desk.search.find(typed).warnings == ()


def test_what_is_true_of_notes_here_is_told(desk: Desk):
    values = ConditionValues({"cache.md": ["stale", "dead-link"], "decache.md": ["stale"]})
    for typed in ("is:", "cache is:bogus"):
        (warning,) = desk.search.find(typed, values).warnings
        assert "(here stale or dead-link)" in warning


def test_what_a_condition_names_is_looked_up_once(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    many = {f"n{n}.md": note_text(f"n{n}", "See [[port-of-sines]].\n") for n in range(40)}
    many["port-of-sines.md"] = note_text("port-of-sines", "Here.\n")
    desk = Desk(root, tmp_path / "state", many)
    asked: list[str] = []
    real = fold_name
    monkeypatch.setattr(
        "ricordo.services.search.conditions.fold_name",
        lambda name: asked.append(name) or real(name),
    )
    assert len(desk.search.find(">port-of").hits) == 40
    assert len(asked) <= 3 * len(many)
