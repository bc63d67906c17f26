"""Long work gives way to what a person waits for, and gets done all the same."""

from __future__ import annotations

import pytest

from ricordo import background as background
from ricordo.background import Throttle, foreground_work


class Clock:
    """A steady clock on which nothing takes time but to sleep."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    monkeypatch.setattr(background, "time", clock := Clock())
    # what other tests of this process awaited was over by another clock
    monkeypatch.setattr(background, "_foreground", background._ForegroundWork())
    return clock


def waited(clock: Clock, way: Throttle, worked: float) -> float:
    """Work for so many seconds; return for how many others get their turn after it."""
    clock.sleep(worked)
    before = clock.now
    way.step()
    return round(clock.now - before, 1)


def test_work_waits_for_what_is_awaited_until_it_is_on_the_screen(clock: Clock):
    way = Throttle(patience=10)
    assert waited(clock, way, worked=1) == 0
    with foreground_work():
        clock.sleep(1)
    assert waited(clock, way, worked=0.05) == 0.2
    assert waited(clock, way, worked=1) == 0
    with foreground_work():
        assert waited(clock, way, worked=1) == 10


def test_what_is_awaited_without_an_end_at_most_halves_the_speed(clock: Clock):
    way = Throttle(patience=3)
    with foreground_work():
        assert waited(clock, way, worked=1) == 3
        assert [waited(clock, way, worked=0.5) for _ in range(4)] == [0.5] * 4
        assert waited(clock, way, worked=60) == 3


def test_work_that_is_needed_itself_does_not_wait(clock: Clock):
    way = Throttle(patience=10, is_needed=lambda: True)
    with foreground_work():
        assert waited(clock, way, worked=1) == 0
