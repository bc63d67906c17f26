"""Token caps and spent tokens, counted by the hour in sliding windows; the circuit breaker."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

from ricordo.errors import StateUnusable
from ricordo.storage.foreign_file import read_json
from ricordo.storage.lock import cost_lock
from ricordo.storage.state_file import replace_state_file
from ricordo.text import make_visible

_HOUR = 3600.0
_DAY = 24
_MONTH = 30 * 24
_MOST = 2 * _MONTH


@dataclass(frozen=True, slots=True)
class Caps:
    """The most that may be spent, in tokens."""

    run_in: int = 60_000
    run_out: int = 12_000
    day: int = 500_000
    """Within 24 hours, input and output."""
    month: int = 5_000_000
    """Within 30 days."""


@dataclass(frozen=True, slots=True)
class SpentTokens:
    """Tokens spent: pairs of an hour and its tokens, oldest first."""

    hours: tuple[tuple[int, int], ...] = ()

    def with_tokens(self, tokens: int, now: float) -> SpentTokens:
        """Return it with `tokens` added at the time `now`; they may be negative."""
        hours = dict(self.hours)
        hour = int(now // _HOUR)
        hours[hour] = max(0, hours.get(hour, 0) + tokens)
        return SpentTokens(tuple(sorted(hours.items()))[-_MOST:])

    def day(self, now: float) -> int:
        """Return the tokens of the last 24 hours, including the current one."""
        return self._within(_DAY, now)

    def month(self, now: float) -> int:
        """Return the tokens of the last 30 days."""
        return self._within(_MONTH, now)

    def _within(self, hours: int, now: float) -> int:
        first = int(now // _HOUR) - hours
        return sum(count for hour, count in self.hours if hour >= first)


class ExceededCap(NamedTuple):
    """A cap that a run would go over."""

    why: str
    """Which cap, and by what."""
    remedy: str
    """What to do: waiting helps only against tokens already spent."""


def find_exceeded_cap(
    caps: Caps, spent: SpentTokens, now: float, tokens_in: int, tokens_out: int
) -> ExceededCap | None:
    """Return the cap that a run of so many tokens would exceed; None where it exceeds none."""
    if tokens_in > caps.run_in:
        why = f"the brief has about {tokens_in:,} tokens, limit {caps.run_in:,} in a run"
        return ExceededCap(
            why, "Curate less at once, or raise the setting engine.sent (engine.check for a check)."
        )
    if tokens_out > caps.run_out:
        why = f"up to {tokens_out:,} output tokens, limit {caps.run_out:,} in a run"
        return ExceededCap(why, "Raise the setting engine.written.")
    whole = tokens_in + tokens_out
    windows = (
        ("24 hours", spent.day(now), caps.day, "engine.day"),
        ("30 days", spent.month(now), caps.month, "engine.month"),
    )
    for name, used, cap, setting in windows:
        if used + whole > cap:
            why = f"{used:,} of {cap:,} tokens spent in {name}, and this takes up to {whole:,}"
            # a run larger than the whole window does not fit later either
            wait = "Wait, or raise" if whole <= cap else "Raise"
            return ExceededCap(why, f"{wait} the setting {setting}.")
    return None


FAILURES = 3
"""Failures in a row, after which automatic runs pause."""
FIRST_REST = 15 * 60.0
"""Seconds of the first pause; each further one is twice as long."""
LONGEST_REST = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class Breaker:
    """Circuit breaker of automatic runs: they pause after repeated failures."""

    failures: int = 0
    """Failed runs in a row; a run in progress counts as failed."""
    since: float = 0.0
    """Start of the pause."""
    rest: float = 0.0
    """Seconds of the pause; 0 for none."""
    successes: int = 0
    """Runs that succeeded: each resets the count of failures."""

    @property
    def until(self) -> float:
        """End of the pause; then one run may try."""
        return self.since + self.rest

    def after_start(self, now: float) -> Breaker | None:
        """Return the breaker after an automatic run has started; None while runs are paused."""
        if self.rest and now < self.until:
            return None
        return self._with_failure(now)

    def _with_failure(self, now: float) -> Breaker:
        failures = self.failures + 1
        if failures < FAILURES:
            return replace(self, failures=failures)
        rest = min(2 * self.rest, LONGEST_REST) if self.rest else FIRST_REST
        return replace(self, failures=failures, since=now, rest=rest)

    def after_success(self) -> Breaker:
        """Return the breaker after a run has succeeded."""
        return Breaker(successes=self.successes + 1)

    def after_failure(self, after: Breaker, now: float) -> Breaker:
        """Return the breaker after a run has failed; `after` is the breaker after its start. The
        pause starts when the run ends. Where another run succeeded meanwhile, the failure is the
        first of a new count.
        """
        if self.successes != after.successes:
            return self._with_failure(now)
        return replace(self, since=now) if self.rest else self

    def without_run(self, before: Breaker, after: Breaker) -> Breaker:
        """Return the breaker as if a run had not happened; `before` and `after` are the breakers
        around its start.
        """
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
    """State that decides whether the next run may start; written to a file as it is."""

    seen: float = 0.0
    """The machine's clock when it was read last, in seconds since 1970."""
    time: float = 0.0
    """Ricordo's clock then: the seconds that the machine's clock has advanced in all. A clock that
    is put back does not move it.
    """
    spent: SpentTokens = field(default_factory=SpentTokens)
    breaker: Breaker = field(default_factory=Breaker)
    refused: str = ""
    """A digest of the last question that a model refused."""

    def advance_to(self, now: float) -> GateState:
        """Return the state at the time `now` of the machine's clock."""
        forward = max(0.0, now - self.seen) if self.seen else 0.0
        return replace(self, seen=now, time=self.time + forward)


class GateStateFile:
    """The file of the gate state, in the state directory."""

    def __init__(self, state: str) -> None:
        """Keep the path; no file is read yet."""
        self._state = state
        self._path = os.path.join(state, _FILE)

    def read(self, now: float) -> GateState:
        """Return the state at `now`. Where the file is damaged, automatic runs are paused."""
        document, problem = read_json(self._path, _LARGEST)
        try:
            state = _parse_state(document) if document is not None else GateState()
        except (KeyError, TypeError, ValueError):
            problem = "has another format"
        if problem:
            state = GateState(now, breaker=Breaker(FAILURES, 0.0, FIRST_REST))
        return state.advance_to(now)

    @contextmanager
    def lock_for_change(self, now: float) -> Iterator[_LockedState]:
        """Lock the state and yield it; what it is replaced by is written at the end. Raises
        StateUnusable and Busy; nothing was changed then.
        """
        with cost_lock(self._state):
            locked = _LockedState(self.read(now))
            try:
                yield locked
            finally:
                self._write(locked.value)

    def _write(self, state: GateState) -> None:
        text = json.dumps(asdict(state))
        try:
            replace_state_file(self._state, _FILE, text.encode("ascii"))
        except OSError as error:
            why = f"{make_visible(self._path)} cannot be written: {error.strerror}."
            raise StateUnusable(why) from None


@dataclass(slots=True)
class _LockedState:
    value: GateState


def _parse_state(document: object) -> GateState:
    """Return the state in `document`. Raises KeyError, TypeError and ValueError."""
    if not isinstance(document, dict):
        raise TypeError
    fields = document["breaker"]
    breaker = Breaker(
        _parse_count(fields["failures"]),
        _parse_number(fields["since"]),
        _parse_number(fields["rest"]),
        _parse_count(fields.get("successes", 0)),
    )
    hours = tuple(
        (_parse_count(hour), _parse_count(count)) for hour, count in document["spent"]["hours"]
    )
    return GateState(
        _parse_number(document["seen"]),
        _parse_number(document["time"]),
        SpentTokens(hours),
        breaker,
        str(document["refused"]),
    )


def _parse_count(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError
    return value


def _parse_number(value: Any) -> float:
    if type(value) not in (int, float) or not 0 <= value < 1e15:
        raise ValueError
    return float(value)
