"""Which ship lies at which berth, and when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

GAP_MINUTES = 30
CLEARANCE = {"ferry": 0.5, "cargo": 0.8, "tanker": 1.2}


@dataclass(frozen=True)
class Berth:
    number: int
    depth: float


@dataclass(frozen=True)
class Call:
    ship: str
    draught: float
    kind: str
    eta: datetime
    stay: timedelta


@dataclass(frozen=True)
class Slot:
    call: Call
    berth: Berth
    start: datetime
    end: datetime


def fits(call: Call, berth: Berth, lowest: float) -> bool:
    """Is there enough water under the keel at the lowest level of the stay?"""
    return berth.depth + lowest - call.draught >= CLEARANCE[call.kind]


def assign_berths(calls: list[Call], berths: list[Berth], lowest: float) -> list[Slot]:
    """First come, first served; two ships at one berth keep GAP_MINUTES apart."""
    gap = timedelta(minutes=GAP_MINUTES)
    free_from = {berth.number: datetime.min for berth in berths}
    slots: list[Slot] = []
    for call in sorted(calls, key=lambda c: c.eta):
        usable = [berth for berth in berths if fits(call, berth, lowest)]
        if not usable:
            continue
        berth = min(usable, key=lambda b: (max(free_from[b.number], call.eta), b.depth))
        start = max(free_from[berth.number], call.eta)
        end = start + call.stay
        free_from[berth.number] = end + gap
        slots.append(Slot(call, berth, start, end))
    return slots
