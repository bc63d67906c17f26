"""Keeping garbage collection away from what was just made."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from ricordo.background import pause_gc


@pytest.fixture(autouse=True)
def thawed() -> Iterator[None]:
    yield
    gc.unfreeze()


def test_much_that_was_made_is_spared_later_collections() -> None:
    before = gc.get_freeze_count()
    with pause_gc():
        made: list[list[int]] = [[] for _ in range(100_000)]
    assert gc.get_freeze_count() >= before + len(made)
    assert gc.isenabled()


def test_little_is_not() -> None:
    gc.collect()
    before = gc.get_freeze_count()
    with pause_gc():
        made: list[list[int]] = [[] for _ in range(100)]
    assert gc.get_freeze_count() == before, len(made)


def test_it_stays_off_where_it_was_off() -> None:
    gc.disable()
    try:
        with pause_gc():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
