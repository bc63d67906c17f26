"""What may be spent in tokens, and what was: by the hour, in windows that move along."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

from ricordo.errors import StateUnusable
from ricordo.storage.foreign_file import read_json
from ricordo.storage.lock import counting_lock
from ricordo.storage.state_file import replace_state_file
from ricordo.text import visible

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


FAILURES = 3
"""In a row, after which it rests."""
FIRST_REST = 15 * 60.0
LONGEST_REST = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class Breaker:
    """What is known of the automatic runs."""

    failures: int = 0
    """In a row, runs that go on included."""
    since: float = 0.0
    """When the rest began."""
    rest: float = 0.0
    """How long it is; 0 where there is none."""
    successes: int = 0
    """How many runs have succeeded: each begins the count of failures anew."""

    @property
    def until(self) -> float:
        """When the rest is over; then one run may try."""
        return self.since + self.rest

    def begun(self, now: float) -> Breaker | None:
        """Return the breaker once another automatic run has begun; None where it has to rest."""
        if self.rest and now < self.until:
            return None
        return self._counting(now)

    def _counting(self, now: float) -> Breaker:
        failures = self.failures + 1
        if failures < FAILURES:
            return replace(self, failures=failures)
        rest = min(2 * self.rest, LONGEST_REST) if self.rest else FIRST_REST
        return replace(self, failures=failures, since=now, rest=rest)

    def succeeded(self) -> Breaker:
        """Return the breaker after a run has succeeded."""
        return Breaker(successes=self.successes + 1)

    def failed(self, after: Breaker, now: float) -> Breaker:
        """Return the breaker after a run has failed that is counted since `after` it had begun: a
        rest begins when the run ends. Where another one has succeeded meanwhile, it counts anew.
        """
        if self.successes != after.successes:
            return self._counting(now)
        return replace(self, since=now) if self.rest else self

    def without(self, before: Breaker, after: Breaker) -> Breaker:
        """Return the breaker as if a run had not been: `before` and `after` it had begun."""
        if self == after:
            return before
        if self.successes != after.successes:
            return self
        failures = max(0, self.failures - 1)
        if self.rest and failures >= FAILURES:
            return self
        return Breaker(failures, successes=self.successes)


_FILE = "model.json"
_LARGEST = 1024 * 1024


@dataclass(frozen=True, slots=True)
class GateState:
    """What counts for the next run."""

    seen: float = 0.0
    """The clock of the machine when it was looked at last, in seconds."""
    time: float = 0.0
    """Our own clock then: how far that of the machine went forward in all."""
    spent: Spent = field(default_factory=Spent)
    breaker: Breaker = field(default_factory=Breaker)
    refused: str = ""
    """A digest of the last question that a model refused."""

    def at(self, now: float) -> GateState:
        """Return it at the moment `now` of the machine's clock."""
        forward = max(0.0, now - self.seen) if self.seen else 0.0
        return replace(self, seen=now, time=self.time + forward)


class GateStateFile:
    """The file that holds it, in the state directory."""

    def __init__(self, state: str) -> None:
        """Nothing is touched before use."""
        self._state = state
        self._path = os.path.join(state, _FILE)

    def read(self, now: float) -> GateState:
        """Return what counts at `now`. Where the file is damaged, automatic runs rest."""
        document, problem = read_json(self._path, _LARGEST)
        try:
            kept = _standing(document) if document is not None else GateState()
        except (KeyError, TypeError, ValueError):
            problem = "is not ours"
        if problem:
            kept = GateState(now, breaker=Breaker(FAILURES, 0.0, FIRST_REST))
        return kept.at(now)

    @contextmanager
    def changing(self, now: float) -> Iterator[_Changing]:
        """Hold what counts, to be replaced; nobody else changes it meanwhile. Raises StateUnusable
        and Busy; nothing was changed then.
        """
        with counting_lock(self._state):
            changing = _Changing(self.read(now))
            try:
                yield changing
            finally:
                self._write(changing.standing)

    def _write(self, standing: GateState) -> None:
        text = json.dumps(asdict(standing))
        try:
            replace_state_file(self._state, _FILE, text.encode("ascii"))
        except OSError as error:
            why = f"{visible(self._path)} cannot be written: {error.strerror}."
            raise StateUnusable(why) from None


@dataclass(slots=True)
class _Changing:
    standing: GateState


def _standing(document: object) -> GateState:
    """Raises KeyError, TypeError and ValueError where it is none."""
    if not isinstance(document, dict):
        raise TypeError
    kept = document["breaker"]
    breaker = Breaker(
        _whole(kept["failures"]),
        _number(kept["since"]),
        _number(kept["rest"]),
        _whole(kept.get("successes", 0)),
    )
    hours = tuple((_whole(hour), _whole(count)) for hour, count in document["spent"]["hours"])
    return GateState(
        _number(document["seen"]),
        _number(document["time"]),
        Spent(hours),
        breaker,
        str(document["refused"]),
    )


def _whole(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError
    return value


def _number(value: Any) -> float:
    if type(value) not in (int, float) or not 0 <= value < 1e15:
        raise ValueError
    return float(value)
