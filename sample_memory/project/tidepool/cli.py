"""Command line: height, plan, report."""

from __future__ import annotations

import argparse
import json
from datetime import datetime, timedelta
from pathlib import Path

from tidepool.harmonics import height_at
from tidepool.plan import Berth, Call, assign_berths
from tidepool.report import day_report, plan_report
from tidepool.stations import load_stations

BERTHS = [Berth(1, 5.5), Berth(2, 6.5), Berth(3, 8.5)]


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tidepool")
    commands = parser.add_subparsers(dest="command", required=True)
    height = commands.add_parser("height", help="height at one moment")
    height.add_argument("station")
    height.add_argument("when", type=datetime.fromisoformat)
    plan = commands.add_parser("plan", help="berth plan for a file of calls")
    plan.add_argument("calls", type=Path)
    plan.add_argument("--lowest", type=float, default=0.1, help="lowest level of the day, in metres")
    report = commands.add_parser("report", help="the printed day")
    report.add_argument("station")
    report.add_argument("day", type=datetime.fromisoformat)
    return parser


def read_calls(path: Path) -> list[Call]:
    return [
        Call(
            ship=item["ship"],
            draught=item["draught"],
            kind=item["kind"],
            eta=datetime.fromisoformat(item["eta"]),
            stay=timedelta(minutes=item["stay_minutes"]),
        )
        for item in json.loads(path.read_text(encoding="utf-8"))
    ]


def main(argv: list[str] | None = None) -> int:
    args = build_parser().parse_args(argv)
    if args.command == "plan":
        print(plan_report(assign_berths(read_calls(args.calls), BERTHS, args.lowest)))
        return 0
    stations = load_stations()
    if args.station not in stations:
        print(f"no such station: {args.station}")
        return 1
    station = stations[args.station]
    if args.command == "height":
        print(f"{height_at(station, args.when):.2f} m")
    else:
        print(day_report(station, args.day))
    return 0
