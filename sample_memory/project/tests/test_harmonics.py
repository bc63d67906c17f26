from datetime import datetime

from tidepool.harmonics import curve, height_at, low_waters
from tidepool.stations import Station


def test_height_stays_near_the_mean(genova: Station) -> None:
    height = height_at(genova, datetime(2026, 11, 20, 6))
    assert abs(height - genova.mean_level) < 0.2


def test_curve_has_both_ends(genova: Station) -> None:
    points = list(curve(genova, datetime(2026, 11, 20), datetime(2026, 11, 20, 1)))
    assert len(points) == 7


def test_two_low_waters_a_day(genova: Station) -> None:
    found = low_waters(genova, datetime(2026, 11, 20), datetime(2026, 11, 21))
    assert 1 <= len(found) <= 3
