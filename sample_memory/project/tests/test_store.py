from datetime import datetime

from tidepool.store import Store


def test_readings_come_back_in_order(store: Store) -> None:
    store.add_reading("genova", datetime(2026, 11, 20, 7), 0.33)
    store.add_reading("genova", datetime(2026, 11, 20, 6), 0.31)
    assert [height for _, height in store.readings("genova")] == [0.31, 0.33]


def test_same_minute_is_replaced(store: Store) -> None:
    for height in (0.31, 0.35):
        store.add_reading("genova", datetime(2026, 11, 20, 6), height)
    assert store.readings("genova") == [(datetime(2026, 11, 20, 6), 0.35)]
