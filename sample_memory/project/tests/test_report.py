from datetime import datetime

import pytest

from tidepool.alarms import due_alarms
from tidepool.cli import main
from tidepool.report import day_report
from tidepool.stations import Station


def test_report_names_the_datum(genova: Station) -> None:
    assert "metres above chart datum" in day_report(genova, datetime(2026, 11, 20))


def test_no_alarm_with_a_low_limit(genova: Station) -> None:
    assert due_alarms(genova, datetime(2026, 11, 20), limit=-1.0) == []


def test_height_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["height", "genova", "2026-11-20T06:00"]) == 0
    assert capsys.readouterr().out.endswith(" m\n")
