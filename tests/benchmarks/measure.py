"""Taking times, and setting them beside a reference."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

CHECKOUT = Path(__file__).resolve().parents[2]
REPEATS = 5


class Reference(NamedTuple):
    """What a time is compared with. Machines differ and are noisy; ratios do so far less."""

    name: str
    seconds: float


class Row(NamedTuple):
    """One figure of the report."""

    what: str
    seconds: float
    reference: Reference
    target: float | None = None
    """The largest ratio to the reference; None where the figure is only reported."""

    @property
    def ratio(self) -> float:
        """How many times the reference it took."""
        return self.seconds / self.reference.seconds

    @property
    def verdict(self) -> str:
        """Whether the target is met."""
        if self.target is None:
            return "reported"
        return "ok" if self.ratio <= self.target else "OVER"


def median(times: Iterable[float]) -> float:
    """Return the median."""
    return statistics.median(times)


def repeated(act: Callable[[], float], repeats: int = REPEATS) -> float:
    """Do `act`, which returns seconds, once to warm up and then `repeats` times: the median."""
    act()
    return median(act() for _ in range(repeats))


def process_time(words: Sequence[str], environ: Mapping[str, str] | None = None) -> float:
    """Run a program to its end and return the seconds that this took.

    Raises CalledProcessError where it does not end with 0.
    """
    start = time.perf_counter()
    subprocess.run(
        words,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=True,
    )
    return time.perf_counter() - start


def process_cpu(words: Sequence[str]) -> float:
    """Run a program to its end and return the seconds of processor time that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


class Cost(NamedTuple):
    """What a task took."""

    seconds: float
    processor: float
    """Seconds of processor time."""
    peak: int
    """The most KiB of memory that its process held."""


def task_time(task: str, folder: Path, environ: Mapping[str, str] | None = None) -> float:
    """Return the seconds that a task of `tasks` takes in a fresh process."""
    return task_cost(task, folder, environ).seconds


def task_cost(task: str, folder: Path, environ: Mapping[str, str] | None = None) -> Cost:
    """Return what a task of `tasks` costs in a fresh process."""
    words = [sys.executable, "-m", "tests.benchmarks.tasks", task, str(folder)]
    done = subprocess.run(
        words, cwd=CHECKOUT, env=environ, capture_output=True, text=True, check=True
    )
    seconds, processor, peak = done.stdout.split()
    return Cost(float(seconds), float(processor), int(peak))


def shown(seconds: float) -> str:
    """Return a time in the unit that fits it."""
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def print_row(row: Row) -> None:
    """Print one figure beside its reference."""
    target = f"≤ {row.target:g}" if row.target is not None else ""
    beside = f"{row.reference.name} {shown(row.reference.seconds)}"
    print(
        f"  {row.what:<44} {shown(row.seconds):>10}   {beside:<16} "
        f"{row.ratio:>8.1f}  {target:<8} {row.verdict}",
        flush=True,
    )
