"""The one gate before every model and every program that is paid for.

Nothing passes that would go over a cap, and no automatic run while those rest. What a run may cost
is set aside before it begins and put right when it ends, so that two of them never spend the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace

from ricordo.errors import StateUnusable
from ricordo.llm.budget import Breaker, Caps, GateState, GateStateFile, over
from ricordo.llm.failure import FailureCause, ModelFailed
from ricordo.llm.question import Meter

_NOT_COUNTED = frozenset(
    (FailureCause.NO_KEY, FailureCause.NO_ACCOUNT, FailureCause.OVER_BUDGET, FailureCause.RESTING)
)
"""What is no failure of the model or of the way to it."""
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
"""What costs nothing beyond what was counted: the server turned it down."""


@dataclass(frozen=True, slots=True)
class GateRequest:
    """What wants to pass."""

    text: str
    """All that is sent; only a digest of it is kept."""
    tokens_in: int
    """About how many it sends."""
    tokens_out: int
    """The most that it may write."""
    is_automatic: bool = False
    """Whether nobody asked for it just now: by a timer, or without a terminal."""
    is_part: bool = False
    """Whether it asks for a part of what was turned down as a whole: what became of the whole is
    what the breaker counts.
    """

    @property
    def digest(self) -> str:
        """What tells it from another question."""
        return hashlib.sha256(self.text.encode("utf-8", "replace")).hexdigest()

    @property
    def is_counted(self) -> bool:
        """Whether the breaker counts it."""
        return self.is_automatic and not self.is_part


@dataclass(frozen=True, slots=True)
class RemainingBudget:
    """What may still be done."""

    day: int
    """Tokens."""
    month: int
    rests_for: float
    """Seconds for which automatic runs rest still; 0 where they do not."""


@dataclass(frozen=True, slots=True)
class Gate:
    """The gate of one state directory."""

    state: str
    clock: Callable[[], float]
    """The machine's clock, in seconds since 1970."""
    caps: Caps = field(default_factory=Caps)

    def left(self) -> RemainingBudget:
        """Return what may still be done now."""
        standing = GateStateFile(self.state).read(self.clock())
        now, spent, breaker = standing.time, standing.spent, standing.breaker
        return RemainingBudget(
            max(0, self.caps.day - spent.day(now)),
            max(0, self.caps.month - spent.month(now)),
            max(0.0, breaker.until - now) if breaker.rest else 0.0,
        )

    def refuse_over(self, tokens_in: int, tokens_out: int) -> None:
        """Do nothing where a run of so many tokens goes over no cap now; none is begun. Raises
        ModelFailed.
        """
        self._refuse_over(GateStateFile(self.state).read(self.clock()), tokens_in, tokens_out)

    def _refuse_over(self, standing: GateState, tokens_in: int, tokens_out: int) -> None:
        gone = over(self.caps, standing.spent, standing.time, tokens_in, tokens_out)
        if gone is not None:
            raise ModelFailed(FailureCause.OVER_BUDGET, gone.why, remedy=gone.remedy)

    @contextmanager
    def passing(self, run: GateRequest) -> Iterator[Meter]:
        """Let `run` pass; whoever runs it counts with the meter what it costs, and raises
        ModelFailed where there is no answer. Raises ModelFailed where it may not pass, and
        StateUnusable and Busy where that cannot be known: nothing is sent then.
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
        with GateStateFile(self.state).changing(self.clock()) as changing:
            standing = changing.standing
            now, before = standing.time, standing.breaker
            self._refuse_over(standing, run.tokens_in, run.tokens_out)
            after = before.begun(now) if run.is_counted else before
            if after is None:
                minutes = max(1, round((before.until - now) / 60))
                raise ModelFailed(FailureCause.RESTING, f"It tries again in {minutes} minutes.")
            spent = standing.spent.with_tokens(run.tokens_in + run.tokens_out, now)
            changing.standing = replace(standing, spent=spent, breaker=after)
            return _Ticket(run, now, before, after)

    def _end(self, ticket: _Ticket, cause: FailureCause | None, *, is_done: bool = False) -> None:
        """Put right what was set aside. Where that cannot be kept it stays set aside, and the run
        counts as failed: an answer that was paid for is not lost for it.
        """
        with suppress(StateUnusable), GateStateFile(self.state).changing(self.clock()) as changing:
            standing = changing.standing
            set_aside = ticket.run.tokens_in + ticket.run.tokens_out
            extra = ticket.cost(cause, is_done) - set_aside
            spent = standing.spent.with_tokens(extra, ticket.at)
            breaker = ticket.judged(standing, cause, is_done)
            is_refused = cause is FailureCause.REFUSED and not ticket.run.is_part
            refused = ticket.run.digest if is_refused else standing.refused
            changing.standing = replace(standing, spent=spent, breaker=breaker, refused=refused)


@dataclass(frozen=True, slots=True)
class _Ticket:
    """A run that has passed."""

    run: GateRequest
    at: float
    before: Breaker
    after: Breaker
    meter: Meter = field(default_factory=Meter)

    def cost(self, cause: FailureCause | None, is_done: bool) -> int:
        """Return the tokens to be counted; those that were sent, where nobody said how many."""
        known = self.meter.usage.total
        is_free = not self.meter.is_sent or cause in _FREE
        return known if known or is_done or is_free else self.run.tokens_in

    def judged(self, standing: GateState, cause: FailureCause | None, is_done: bool) -> Breaker:
        """Return the breaker after this run; a run by hand that succeeds ends every rest."""
        if is_done:
            return standing.breaker.succeeded()
        if not self.run.is_counted:
            return standing.breaker
        # the same question may be refused once: it is another one's turn then
        is_first_refusal = cause is FailureCause.REFUSED and standing.refused != self.run.digest
        if cause is None or cause in _NOT_COUNTED or is_first_refusal:
            return standing.breaker.without(self.before, self.after)
        return standing.breaker.failed(self.after, standing.time)
