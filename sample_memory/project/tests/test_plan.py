from datetime import datetime, timedelta

from tidepool.plan import GAP_MINUTES, Berth, Call, assign_berths, fits


def call(ship: str, hour: int, draught: float = 4.0, kind: str = "cargo") -> Call:
    return Call(ship, draught, kind, datetime(2026, 11, 20, hour), timedelta(hours=2))


def test_second_ship_waits_for_the_gap() -> None:
    first, second = assign_berths([call("Aurora", 6), call("Lampara", 7)], [Berth(1, 6.0)], 0.1)
    assert second.start - first.end == timedelta(minutes=GAP_MINUTES)


def test_too_deep_a_ship_gets_no_slot() -> None:
    assert assign_berths([call("Gabbiano", 6, draught=7.9)], [Berth(1, 6.0)], 0.1) == []


def test_tanker_needs_more_water_than_a_ferry() -> None:
    berth = Berth(1, 5.0)
    assert fits(call("Aurora", 6, 4.0, "ferry"), berth, 0.1)
    assert not fits(call("Gabbiano", 6, 4.0, "tanker"), berth, 0.1)
