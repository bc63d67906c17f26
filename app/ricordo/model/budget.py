"""What may be spent in tokens, and what was: by the hour, in windows that move along."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

_HOUR = 3600.0
_DAY = 24
_MONTH = 30 * 24
_MOST = 2 * _MONTH


@dataclass(frozen=True, slots=True)
class Caps:
    """The most that may be spent, in tokens."""

    run_in: int = 60_000
    run_out: int = 8_000
    day: int = 500_000
    """Within 24 hours, sent and written."""
    month: int = 5_000_000
    """Within 30 days."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What was spent, oldest first: pairs of an hour and the tokens of that hour."""

    hours: tuple[tuple[int, int], ...] = ()

    def with_tokens(self, tokens: int, now: float) -> Spent:
        """Return it with `tokens` more at the moment `now`; fewer, where they are negative."""
        hours = dict(self.hours)
        hour = int(now // _HOUR)
        hours[hour] = max(0, hours.get(hour, 0) + tokens)
        return Spent(tuple(sorted(hours.items()))[-_MOST:])

    def day(self, now: float) -> int:
        """Return the tokens of the last 24 hours, the one that has begun included."""
        return self._within(_DAY, now)

    def month(self, now: float) -> int:
        """Return the tokens of the last 30 days."""
        return self._within(_MONTH, now)

    def _within(self, hours: int, now: float) -> int:
        first = int(now // _HOUR) - hours
        return sum(count for hour, count in self.hours if hour >= first)


class Over(NamedTuple):
    """A cap that a run would go over."""

    why: str
    """Which one, and by what."""
    remedy: str
    """What to do: only what was spent gets less by waiting."""


def over(caps: Caps, spent: Spent, now: float, tokens_in: int, tokens_out: int) -> Over | None:
    """Return which cap a run of so many tokens would go over; None where it would none."""
    if tokens_in > caps.run_in:
        why = f"the brief has about {tokens_in:,} tokens, and the run may send {caps.run_in:,}"
        return Over(why, "Curate less at once, or raise the setting engine.sent.")
    if tokens_out > caps.run_out:
        why = f"{tokens_out:,} tokens may be written, of {caps.run_out:,} in a run"
        return Over(why, "Raise the setting engine.written.")
    whole = tokens_in + tokens_out
    windows = (
        ("24 hours", spent.day(now), caps.day, "engine.day"),
        ("30 days", spent.month(now), caps.month, "engine.month"),
    )
    for name, used, cap, setting in windows:
        if used + whole > cap:
            why = f"{used:,} of {cap:,} tokens were spent in {name}, and this takes up to {whole:,}"
            # what has no room in an empty window has none later either
            wait = "Wait, or raise" if whole <= cap else "Raise"
            return Over(why, f"{wait} the setting {setting}.")
    return None
