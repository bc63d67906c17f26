"""The breaker: automatic runs that fail again and again rest for longer and longer.

A run counts as failed from its beginning until it is known how it ended, so that a process which is
killed in the middle of every run comes to rest too. Time is given in seconds by a clock that never
goes back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

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
