"""The gate: caps and the breaker, over restarts, kills and whatever becomes of the clock."""

from __future__ import annotations

import shutil
import subprocess
import sys
from asyncio import CancelledError
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE
from tempfile import mkdtemp

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ricordo.errors import StateUnusable
from ricordo.llm.budget import FAILURES, FIRST_REST, LONGEST_REST, Caps
from ricordo.llm.failure import FailureCause, ModelFailed
from ricordo.llm.gate import Gate, GateRequest
from ricordo.llm.question import Meter, TokenUsage
from tests.support.figures import figure

DAY = 24 * 3600.0
NOON = 1_795_000_000.0
RUN = GateRequest("a brief", 1000, 200)
AUTOMATIC = GateRequest("a brief", 1000, 200, is_automatic=True)


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def gate(tmp_path: Path, clock: Clock) -> Gate:
    return Gate(str(tmp_path / "state"), clock)


def run(
    gate: Gate, wanted: GateRequest = RUN, cause: FailureCause | None = None, used: int = 100
) -> None:
    """Let a run pass that uses so many tokens and fails for `cause`, if for any."""
    with gate.admit(wanted) as meter:
        meter.is_sent = True
        meter.running = TokenUsage(input_tokens=used)
        if cause is not None:
            raise ModelFailed(cause)


def outcome(
    gate: Gate, wanted: GateRequest = RUN, cause: FailureCause | None = None
) -> FailureCause | None:
    """Return why a run gave no answer; None where it gave one."""
    try:
        run(gate, wanted, cause)
    except ModelFailed as failed:
        return failed.cause
    return None


def run_until(gate: Gate, wanted: GateRequest, used: int, ends: str) -> None:
    """Let a run pass that ends well, badly, cancelled or killed. Raises ModelFailed where it may
    not pass.
    """
    file = Path(gate.state, "model.json")
    middle = b""
    with suppress(CancelledError, EndedBadly), gate.admit(wanted) as meter:
        middle = file.read_bytes()
        meter.running = TokenUsage(input_tokens=used)
        if ends == "cancelled":
            raise CancelledError
        if ends == "badly":
            raise EndedBadly(FailureCause.INTERRUPTED)
    if ends == "killed":
        file.write_bytes(middle)


class EndedBadly(ModelFailed):
    """A run that failed, in distinction from one that might not pass."""


def open_breaker(gate: Gate) -> None:
    for _ in range(3):
        assert outcome(gate, AUTOMATIC, FailureCause.INTERRUPTED) is FailureCause.INTERRUPTED


def test_what_was_used_counts_and_what_was_set_aside_does_not(gate: Gate) -> None:
    run(gate, used=321)
    assert gate.read_remaining().day == 500_000 - 321
    assert gate.read_remaining().month == 5_000_000 - 321


def test_what_a_run_may_cost_is_set_aside_while_it_runs(gate: Gate) -> None:
    with gate.admit(RUN):
        assert gate.read_remaining().day == 500_000 - 1200
    assert gate.read_remaining().day == 500_000


def test_a_run_that_is_killed_has_cost_what_it_might(gate: Gate, clock: Clock) -> None:
    run_until(gate, RUN, 0, "killed")
    assert Gate(gate.state, clock).read_remaining().day == 500_000 - 1200


@pytest.mark.parametrize(
    ("caps", "why", "remedy"),
    [
        (
            Caps(run_in=999),
            "1,000 tokens, limit 999 in a run",
            "Curate less at once, or raise .*engine.sent",
        ),
        (Caps(run_out=199), "200 output tokens, limit 199", "Raise .*engine.written"),
        (Caps(day=1299), "100 of 1,299 tokens spent in 24 hours", "Wait, or .*engine.day"),
        (Caps(month=1299), "100 of 1,299 tokens spent in 30 days", "Wait, or .*engine.month"),
        (Caps(day=1199), "100 of 1,199 tokens spent in 24 hours", "Raise .*engine.day"),
    ],
)
def test_no_cap_is_gone_over(caps: Caps, why: str, remedy: str, gate: Gate, clock: Clock) -> None:
    run(gate, used=100)
    capped = Gate(gate.state, clock, caps)
    with pytest.raises(ModelFailed, match=f"{why}.*\\. {remedy}") as caught, capped.admit(RUN):
        pytest.fail("it was sent")
    assert caught.value.cause is FailureCause.OVER_BUDGET


def test_a_day_later_there_is_budget_again_and_the_month_remembers(
    gate: Gate, clock: Clock
) -> None:
    run(gate, used=400_000)
    clock.now += DAY
    assert gate.read_remaining().day == 100_000
    clock.now += 3600
    assert (gate.read_remaining().day, gate.read_remaining().month) == (500_000, 4_600_000)


@pytest.mark.parametrize("jump", [-DAY * 400, -60.0, DAY * 400])
def test_a_clock_that_jumps_and_comes_back_frees_nothing(
    jump: float, gate: Gate, clock: Clock
) -> None:
    clock.now += max(0.0, jump)
    run(gate, used=400_000)
    clock.now += jump if jump < 0 else -jump
    run(gate, used=0)
    assert gate.read_remaining().day == 100_000
    # and nothing is held for years: a day is a day
    clock.now += DAY + 3600
    assert gate.read_remaining().day == 500_000


@pytest.mark.parametrize(
    "cause", [FailureCause.WRONG_KEY, FailureCause.RATE_LIMIT, FailureCause.UNREACHABLE]
)
def test_what_was_turned_down_costs_nothing(cause: FailureCause, gate: Gate) -> None:
    with pytest.raises(ModelFailed):
        run(gate, RUN, cause, used=0)
    assert gate.read_remaining().day == 500_000


@pytest.mark.parametrize(
    "cause", [FailureCause.INTERRUPTED, FailureCause.SILENT, FailureCause.TOO_SLOW, None]
)
def test_what_was_sent_and_never_counted_costs_what_was_sent(
    cause: FailureCause | None, gate: Gate
) -> None:
    with suppress(ModelFailed, CancelledError), gate.admit(RUN) as meter:
        meter.is_sent = True
        raise ModelFailed(cause) if cause else CancelledError
    assert gate.read_remaining().day == 499_000


def test_three_failures_in_a_row_and_automatic_runs_rest(gate: Gate) -> None:
    open_breaker(gate)
    with pytest.raises(ModelFailed, match="tries again in 15 minutes") as caught:
        run(gate, AUTOMATIC)
    assert caught.value.cause is FailureCause.PAUSED
    assert gate.read_remaining().paused_for == FIRST_REST


def test_the_rest_doubles_up_to_a_day_with_one_try_after_each(gate: Gate, clock: Clock) -> None:
    open_breaker(gate)
    rests = []
    for _ in range(9):
        rests.append(gate.read_remaining().paused_for)
        clock.now += rests[-1]
        assert outcome(gate, AUTOMATIC, FailureCause.INTERRUPTED) is FailureCause.INTERRUPTED
        assert outcome(gate, AUTOMATIC) is FailureCause.PAUSED
    assert rests[:3] == [FIRST_REST, 2 * FIRST_REST, 4 * FIRST_REST]
    assert rests[-1] == LONGEST_REST


@pytest.mark.parametrize("wanted", [RUN, AUTOMATIC])
def test_a_success_ends_it(wanted: GateRequest, gate: Gate, clock: Clock) -> None:
    open_breaker(gate)
    if wanted.is_automatic:
        clock.now += FIRST_REST
    assert outcome(gate, wanted) is None
    assert gate.read_remaining().paused_for == 0
    assert [outcome(gate, AUTOMATIC, FailureCause.INTERRUPTED) for _ in range(2)] == [
        FailureCause.INTERRUPTED
    ] * 2
    assert outcome(gate, AUTOMATIC) is None


def test_a_run_by_hand_is_always_let_through_and_its_failure_changes_nothing(gate: Gate) -> None:
    for _ in range(5):
        assert outcome(gate, RUN, FailureCause.INTERRUPTED) is FailureCause.INTERRUPTED
    assert outcome(gate, AUTOMATIC) is None
    open_breaker(gate)
    rest = gate.read_remaining().paused_for
    assert outcome(gate, RUN, FailureCause.INTERRUPTED) is FailureCause.INTERRUPTED
    assert gate.read_remaining().paused_for == rest


@pytest.mark.parametrize("cause", [FailureCause.NO_KEY, FailureCause.OVER_BUDGET, None])
def test_what_is_no_failure_does_not_count(cause: FailureCause | None, gate: Gate) -> None:
    for _ in range(5):
        with pytest.raises((ModelFailed, CancelledError)), gate.admit(AUTOMATIC):
            raise ModelFailed(cause) if cause else CancelledError
    assert outcome(gate, AUTOMATIC) is None


def test_a_refusal_counts_when_the_same_is_refused_again(gate: Gate) -> None:
    for number in range(5):
        other = GateRequest(f"brief {number}", 10, 10, is_automatic=True)
        assert outcome(gate, other, FailureCause.REFUSED) is FailureCause.REFUSED
    for _ in range(1 + FAILURES):
        assert outcome(gate, AUTOMATIC, FailureCause.REFUSED) is FailureCause.REFUSED
    assert outcome(gate, AUTOMATIC, FailureCause.REFUSED) is FailureCause.PAUSED


def test_the_breaker_counts_the_whole_and_not_its_parts(gate: Gate) -> None:
    part = GateRequest("a part", 10, 10, is_automatic=True, is_part=True)
    for _ in range(FAILURES):
        assert outcome(gate, AUTOMATIC, FailureCause.REFUSED) is FailureCause.REFUSED
        for cause in (FailureCause.REFUSED, FailureCause.INTERRUPTED, FailureCause.TOO_LARGE):
            assert outcome(gate, part, cause) is cause
    # of the brief the first refusal did not count, whatever became of its parts
    assert outcome(gate, AUTOMATIC, FailureCause.REFUSED) is FailureCause.REFUSED
    assert outcome(gate, AUTOMATIC) is FailureCause.PAUSED
    assert outcome(gate, part) is None
    assert outcome(gate, AUTOMATIC) is None


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"breaker": 1}', b"\x00" * 100, b"\xff"])
def test_where_it_is_not_known_what_was_automatic_runs_rest(
    content: bytes, gate: Gate, clock: Clock
) -> None:
    run(gate)
    Path(gate.state, "model.json").write_bytes(content)
    assert outcome(gate, AUTOMATIC) is FailureCause.PAUSED
    clock.now += FIRST_REST
    assert outcome(gate, AUTOMATIC) is None


def test_where_it_cannot_be_counted_nothing_is_sent(tmp_path: Path, clock: Clock) -> None:
    (tmp_path / "state").write_text("a file")
    with pytest.raises(StateUnusable), Gate(str(tmp_path / "state"), clock).admit(RUN):
        pytest.fail("it was sent")


def test_an_answer_is_not_lost_because_it_cannot_be_counted(gate: Gate) -> None:
    with gate.admit(RUN) as meter:
        meter.running = TokenUsage(input_tokens=7)
        Path(gate.state, "model.json").unlink()
        Path(gate.state, "model.json").mkdir()
    # and then nothing is sent any more
    with pytest.raises(StateUnusable), gate.admit(RUN):
        pytest.fail("it was sent")


def test_runs_side_by_side_are_no_way_round_the_third_failure(gate: Gate) -> None:
    runs = [gate.admit(AUTOMATIC) for _ in range(4)]
    for it in runs[:3]:
        it.__enter__()
    with pytest.raises(ModelFailed, match="tries again"):
        runs[3].__enter__()


def test_a_success_beside_them_hides_no_failure(gate: Gate) -> None:
    good, *bad = (gate.admit(AUTOMATIC) for _ in range(3))
    for it in (good, *bad):
        it.__enter__()
    good.__exit__(None, None, None)
    for it in bad:
        it.__exit__(ModelFailed, ModelFailed(FailureCause.INTERRUPTED), None)
    assert outcome(gate, AUTOMATIC, FailureCause.INTERRUPTED) is FailureCause.INTERRUPTED
    assert outcome(gate, AUTOMATIC) is FailureCause.PAUSED


SPENDER = """
import sys
from ricordo.llm.budget import Caps
from ricordo.llm.failure import ModelFailed
from ricordo.llm.gate import Gate, GateRequest
from ricordo.llm.question import TokenUsage

print("ready", flush=True)
sys.stdin.readline()
passed = 0
for _ in range(40):
    try:
        with Gate(sys.argv[1], lambda: 1_795_000_000.0, Caps(day=24_000)).admit(
            GateRequest("a brief", 1000, 200)
        ) as meter:
            meter.running = TokenUsage(input_tokens=1200)
            passed += 1
    except ModelFailed:
        pass
print(passed)
"""
"""A process that spends 1,200 tokens as often as it may."""


def test_processes_side_by_side_spend_no_more_than_the_cap(tmp_path: Path) -> None:
    words = [sys.executable, "-c", SPENDER, str(tmp_path / "state")]
    spenders = [subprocess.Popen(words, stdin=PIPE, stdout=PIPE, text=True) for _ in range(2)]
    for it in spenders:
        assert it.stdout is not None
        assert it.stdout.readline() == "ready\n"
    passed = [int(it.communicate("go\n", timeout=60)[0]) for it in spenders]
    assert sum(passed) == 20


ENDS = ["well", "badly", "badly", "badly", "cancelled", "killed"]


@dataclass
class Held:
    """A run that has passed, and when it did."""

    passing: AbstractContextManager[Meter]
    meter: Meter
    at: float
    is_automatic: bool
    row: int
    """How many runs had succeeded by then."""
    used: int = 1200
    """What it may cost, until it is known what it does."""


class AnyOrder(RuleBasedStateMachine):
    """Runs of every kind and end, side by side, by processes that are killed, under a clock that
    jumps.
    """

    @initialize(cap=st.sampled_from([4_800, 120_000]))
    def begin(self, cap: int) -> None:
        self.caps = Caps(day=cap, month=3 * cap)
        self.clock = Clock()
        self.state = mkdtemp()
        self.forward = 0.0
        """How far the clock went forward in all."""
        self.all: list[Held] = []
        self.open: list[Held] = []
        self.row = 0
        self.failures = 0
        """Automatic runs that have failed since the last success. Of one that was killed nothing is
        known but when it began.
        """
        self.rests_until = 0.0

    def teardown(self) -> None:
        if hasattr(self, "state"):
            self.open = self.all = []
            shutil.rmtree(self.state)

    @property
    def gate(self) -> Gate:
        """A new one each time: nothing is known but what is kept."""
        return Gate(self.state, self.clock, self.caps)

    @rule(seconds=st.sampled_from([1.0, 899.0, 901.0, 1801.0, 3601.0, 7201.0, DAY, DAY + 3600]))
    def time_passes(self, seconds: float) -> None:
        self._look()
        self.clock.now += seconds
        self.forward += seconds

    @rule(seconds=st.sampled_from([60.0, DAY, 400 * DAY]))
    def the_clock_is_set_back(self, seconds: float) -> None:
        self._look()
        self.clock.now -= seconds

    def _look(self) -> None:
        """Have the gate see the clock as it is, as any use of it does."""
        over_every_cap = GateRequest("", 10**9, 0)
        assert outcome(self.gate, over_every_cap) is FailureCause.OVER_BUDGET

    @rule(wanted=st.sampled_from([RUN, AUTOMATIC]))
    def a_run_begins(self, wanted: GateRequest) -> None:
        passing = self.gate.admit(wanted)
        try:
            meter = passing.__enter__()
        except ModelFailed as failed:
            self._is_rightly_refused(wanted, failed.cause)
            return
        if wanted is AUTOMATIC and self.failures >= FAILURES:
            assert self.forward >= self.rests_until - 1e-3
        held = Held(passing, meter, self.forward, wanted is AUTOMATIC, self.row)
        self.all.append(held)
        self.open.append(held)

    def _is_rightly_refused(self, wanted: GateRequest, cause: FailureCause) -> None:
        """Only the budget refuses a run that a user started."""
        if cause is FailureCause.OVER_BUDGET:
            assert self._is_short()
        else:
            assert (cause, wanted) == (FailureCause.PAUSED, AUTOMATIC)

    @precondition(lambda self: self.open)
    @rule(data=st.data(), used=st.sampled_from([0, 7, 1200]), ends=st.sampled_from(ENDS))
    def a_run_ends(self, data: st.DataObject, used: int, ends: str) -> None:
        held = self.open.pop(data.draw(st.integers(0, len(self.open) - 1)))
        if ends != "killed":
            held.used = used
            held.meter.running = TokenUsage(input_tokens=used)
            self._end(held, ends)
        if ends == "well":
            self.row, self.failures = self.row + 1, 0
        elif ends == "badly" and held.is_automatic:
            self._has_failed(since=self.forward)
        elif ends == "killed" and held.is_automatic and held.row == self.row:
            self._has_failed(since=held.at)

    def _end(self, held: Held, ends: str) -> None:
        kinds = {"badly": ModelFailed(FailureCause.INTERRUPTED), "cancelled": CancelledError()}
        error = kinds.get(ends)
        with suppress(ModelFailed, CancelledError):
            held.passing.__exit__(type(error) if error else None, error, None)

    def _has_failed(self, since: float) -> None:
        """From the third failure on, each has a rest behind it that is twice as long."""
        self.failures += 1
        if self.failures >= FAILURES:
            rest = min(FIRST_REST * 2.0 ** (self.failures - FAILURES), LONGEST_REST)
            self.rests_until = since + rest

    def _spent_within(self, seconds: float) -> int:
        return sum(it.used for it in self.all if self.forward - it.at < seconds)

    def _is_short(self) -> bool:
        """Say whether a run may find no budget: hours count as a whole."""
        day, month = self._spent_within(DAY + 3600), self._spent_within(30 * DAY + 3600)
        return day + 1200 > self.caps.day or month + 1200 > self.caps.month

    @invariant()
    def no_cap_is_gone_over(self) -> None:
        if hasattr(self, "all"):
            assert self._spent_within(DAY) <= self.caps.day
            assert self._spent_within(30 * DAY) <= self.caps.month


class TestAnyOrder(AnyOrder.TestCase):  # type: ignore[name-defined, misc]
    settings = settings(
        max_examples=figure("stateful", everyday=15),
        stateful_step_count=figure("stateful_steps", everyday=25),
    )
