"""The soak runs every test that has a figure."""

from __future__ import annotations

from tests.soak import CHECKOUT, GROUPS


def test_every_test_of_the_program_belongs_to_a_soak() -> None:
    soaked = [CHECKOUT / path for group in GROUPS for path in group.paths]
    tests = [
        path
        for place in ("unit", "faults", "tui")
        for path in (CHECKOUT / "tests" / place).rglob("test_*.py")
    ]
    assert tests
    assert [it for it in tests if not any(it.is_relative_to(path) for path in soaked)] == []
