from datetime import datetime

from tidepool.feed import parse_feed


def test_genova_is_in_centimetres() -> None:
    lines = ["2026-11-20T06:00;GENOVA;31", "2026-11-20T06:00;levanto;0.29", "garbage"]
    assert list(parse_feed(lines)) == [
        ("genova", datetime(2026, 11, 20, 6), 0.31),
        ("levanto", datetime(2026, 11, 20, 6), 0.29),
    ]
