"""The one gate before every model and program that costs money.

No run passes that would exceed a cap, and no automatic run while those are paused. The most that a
run may cost is reserved before it starts and corrected when it ends, so that two runs never spend
the same tokens.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace

from ricordo.errors import StateUnusable
from ricordo.llm.budget import Breaker, Caps, GateState, GateStateFile, find_exceeded_cap
from ricordo.llm.failure import FailureCause, ModelFailed
from ricordo.llm.question import Meter

_NOT_COUNTED = frozenset(
    (FailureCause.NO_KEY, FailureCause.NO_ACCOUNT, FailureCause.OVER_BUDGET, FailureCause.PAUSED)
)
"""Causes that are no failure of the model or the connection."""
_FREE = frozenset(
    (
        FailureCause.WRONG_KEY,
        FailureCause.FORBIDDEN,
        FailureCause.NOT_FOUND,
        FailureCause.TOO_LARGE,
        FailureCause.BAD_REQUEST,
        FailureCause.RATE_LIMIT,
        FailureCause.SERVER,
        FailureCause.OVERLOADED,
        FailureCause.SETUP,
        FailureCause.UNREACHABLE,
        FailureCause.NO_ACCOUNT,
    )
)
"""Causes that cost nothing beyond what was counted: the server rejected the request."""


@dataclass(frozen=True, slots=True)
class GateRequest:
    """A run that asks to pass."""

    text: str
    """All that is sent; only a digest of it is stored."""
    tokens_in: int
    """Estimated input tokens."""
    tokens_out: int
    """The most output tokens."""
    is_automatic: bool = False
    """Whether no user started it: run by a timer, or without a terminal."""
    is_part: bool = False
    """Whether it asks for a part of a brief that was rejected as a whole. The breaker counts the
    outcome of the whole.
    """

    @property
    def digest(self) -> str:
        """The SHA-256 of the text: identifies the question."""
        return hashlib.sha256(self.text.encode("utf-8", "replace")).hexdigest()

    @property
    def is_counted(self) -> bool:
        """Whether the breaker counts it."""
        return self.is_automatic and not self.is_part


@dataclass(frozen=True, slots=True)
class RemainingBudget:
    """What the caps and the breaker still allow."""

    day: int
    """Tokens."""
    month: int
    paused_for: float
    """Seconds until automatic runs may start again; 0 where they are not paused."""


@dataclass(frozen=True, slots=True)
class Gate:
    """The gate of one state directory."""

    state: str
    clock: Callable[[], float]
    """The machine's clock, in seconds since 1970."""
    caps: Caps = field(default_factory=Caps)

    def read_remaining(self) -> RemainingBudget:
        """Return the remaining budget now."""
        state = GateStateFile(self.state).read(self.clock())
        now, spent, breaker = state.time, state.spent, state.breaker
        return RemainingBudget(
            max(0, self.caps.day - spent.day(now)),
            max(0, self.caps.month - spent.month(now)),
            max(0.0, breaker.until - now) if breaker.rest else 0.0,
        )

    def check_budget(self, tokens_in: int, tokens_out: int) -> None:
        """Raise ModelFailed where a run of so many tokens would exceed a cap now. Starts no run."""
        self._check_caps(GateStateFile(self.state).read(self.clock()), tokens_in, tokens_out)

    def _check_caps(self, state: GateState, tokens_in: int, tokens_out: int) -> None:
        exceeded = find_exceeded_cap(self.caps, state.spent, state.time, tokens_in, tokens_out)
        if exceeded is not None:
            raise ModelFailed(FailureCause.OVER_BUDGET, exceeded.why, remedy=exceeded.remedy)

    @contextmanager
    def admit(self, run: GateRequest) -> Iterator[Meter]:
        """Let `run` pass and yield its meter. The body counts the tokens with it, and raises
        ModelFailed where there is no answer. Raises ModelFailed where the run may not pass, and
        StateUnusable and Busy where that is unknown: nothing is sent then.
        """
        ticket = self._begin(run)
        try:
            yield ticket.meter
        except ModelFailed as failed:
            self._end(ticket, failed.cause)
            raise
        except BaseException:
            self._end(ticket, None)
            raise
        self._end(ticket, None, is_done=True)

    def _begin(self, run: GateRequest) -> _Ticket:
        with GateStateFile(self.state).lock_for_change(self.clock()) as locked:
            state = locked.value
            now, before = state.time, state.breaker
            self._check_caps(state, run.tokens_in, run.tokens_out)
            after = before.after_start(now) if run.is_counted else before
            if after is None:
                minutes = max(1, round((before.until - now) / 60))
                raise ModelFailed(FailureCause.PAUSED, f"It tries again in {minutes} minutes.")
            spent = state.spent.with_tokens(run.tokens_in + run.tokens_out, now)
            locked.value = replace(state, spent=spent, breaker=after)
            return _Ticket(run, now, before, after)

    def _end(self, ticket: _Ticket, cause: FailureCause | None, *, is_done: bool = False) -> None:
        """Replace the reservation by the real cost. Where that cannot be written the reservation
        stays and the run counts as failed; the paid answer is still used.
        """
        with (
            suppress(StateUnusable),
            GateStateFile(self.state).lock_for_change(self.clock()) as locked,
        ):
            state = locked.value
            reserved = ticket.run.tokens_in + ticket.run.tokens_out
            correction = ticket.cost(cause, is_done) - reserved
            spent = state.spent.with_tokens(correction, ticket.at)
            breaker = ticket.update_breaker(state, cause, is_done)
            is_refused = cause is FailureCause.REFUSED and not ticket.run.is_part
            refused = ticket.run.digest if is_refused else state.refused
            locked.value = replace(state, spent=spent, breaker=breaker, refused=refused)


@dataclass(frozen=True, slots=True)
class _Ticket:
    """A run that has passed the gate."""

    run: GateRequest
    at: float
    before: Breaker
    after: Breaker
    meter: Meter = field(default_factory=Meter)

    def cost(self, cause: FailureCause | None, is_done: bool) -> int:
        """Return the tokens to count; the estimated input where the server counted none."""
        counted = self.meter.usage.total
        is_free = not self.meter.is_sent or cause in _FREE
        return counted if counted or is_done or is_free else self.run.tokens_in

    def update_breaker(
        self, state: GateState, cause: FailureCause | None, is_done: bool
    ) -> Breaker:
        """Return the breaker after this run; a manual run that succeeds ends every pause."""
        if is_done:
            return state.breaker.after_success()
        if not self.run.is_counted:
            return state.breaker
        # the first refusal of a question is forgiven: another question may be answered
        is_first_refusal = cause is FailureCause.REFUSED and state.refused != self.run.digest
        if cause is None or cause in _NOT_COUNTED or is_first_refusal:
            return state.breaker.without_run(self.before, self.after)
        return state.breaker.after_failure(self.after, state.time)
