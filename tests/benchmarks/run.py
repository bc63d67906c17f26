"""`python -m tests.benchmarks [--notes N…]`: every figure beside a reference of the same run.

References:
  P  `python -c pass`; C is its processor time, beside which processor times stand
  R  reading all bytes of the memory with os.open and os.read, in a fresh process
  T  a minimal program on Textual, from its start to its first paint on a pseudo-terminal
  S  writing and syncing 42 new files of 4 KiB, what a change set of 12 files may cost
  K  processor time of one press of *down* in that program's list
  N  the first usable screen where there is no history yet

Targets that are times (20 ms a key) hold for a machine on which P is 6.5 ms. They are written
here as multiples of P or C, so that a slower machine is judged by the same measure.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tests.benchmarks import minimal_app
from tests.benchmarks.asking import asking
from tests.benchmarks.measure import (
    REPEATS,
    Reference,
    Row,
    median,
    print_row,
    process_cpu,
    process_time,
    repeated,
    task_cost,
    task_time,
)
from tests.benchmarks.stage import (
    RICORDO,
    Stage,
    answer_time,
    big_note_cost,
    change_times,
    key_cost,
    paint_time,
)
from tests.benchmarks.tasks import STRUCTURAL
from tests.benchmarks.terminal import Terminal, TooSlow

P_OF_TARGETS = 0.0065
"""Seconds that P and C take on the machine for which targets were set."""
FIRST_SCREEN = {1000: 2.5, 10_000: 5.0}
"""Targets in T, by notes."""
COMPARISONS = 3
"""How often notes are compared."""
NO_SCREEN_FROM = 100_000
"""From so many notes on the screen is not measured."""


def in_p(seconds: float) -> float:
    """Return a target of so many seconds as a multiple of P or C."""
    return round(seconds / P_OF_TARGETS, 1)


def python_start() -> Reference:
    """P."""
    return Reference("P", repeated(lambda: process_time([sys.executable, "-c", "pass"])))


def python_cpu() -> Reference:
    """C."""
    return Reference("C", repeated(lambda: process_cpu([sys.executable, "-c", "pass"])))


def textual_start(stage: Stage) -> Reference:
    """T."""
    return Reference("T", repeated(lambda: paint_time(stage.minimal, minimal_app.READY)))


def textual_key(stage: Stage) -> Reference:
    """K."""
    with stage.minimal() as terminal:
        terminal.wait_for(minimal_app.READY)
        terminal.settle()
        return Reference("K", key_cost(terminal))


def reading(stage: Stage, p: Reference) -> Iterator[Row]:
    """What needs no screen: loading, judging, the commands."""
    at_10k = stage.notes == 10_000
    r = Reference("R", repeated(lambda: task_time("read", stage.memory)))

    def task(name: str) -> float:
        return repeated(lambda: task_time(name, stage.memory))

    yield Row("R: read all bytes", r.seconds, p)
    yield Row("cold load, with links", task("load"), r, 8 if at_10k else None)
    yield Row("cold lint, structure", task("lint-structure"), r, 12 if at_10k else None)
    yield Row("cold lint, all rules", task("lint"), r)
    lint = [RICORDO, "lint", "--json", "--fail-on", "never", str(stage.memory)]
    rules = [word for rule in sorted(STRUCTURAL) for word in ("--rule", rule)]
    structure = repeated(lambda: process_time([*lint, *rules], stage.environ()))
    yield Row("process: ricordo lint, structure", structure, p, in_p(1.0) if at_10k else None)
    same = stage.environ("state-of-lint")
    whole = repeated(lambda: process_time(lint, same))
    yield Row("process: ricordo lint --json, again", whole, p)
    yield Row("  the same, beside R", whole, r)
    short = [RICORDO, "list", "--short"]
    yield Row("process: ricordo list --short", command_time(short, stage), p, 3)


def comparing(stage: Stage, p: Reference) -> Iterator[Row]:
    """Which notes repeat or contradict each other, in processor time, for the machine is shared."""
    at_10k = stage.notes == 10_000

    def processor(name: str) -> float:
        return repeated(lambda: task_cost(name, stage.memory).processor, COMPARISONS)

    r = Reference("R", repeated(lambda: task_cost("read", stage.memory).processor))
    target = 60 if at_10k else None
    yield Row("candidates of duplicates and conflicts", processor("candidates"), r, target)
    yield Row("  compared as well", processor("compare"), r)
    c = python_cpu()
    one_changed = processor("compare-one")
    yield Row("  after one note changed", one_changed, c, in_p(0.05) if at_10k else None)
    yield Row("    the same, beside R", one_changed, r, 2 if at_10k else None)
    loaded, compared = (task_cost(name, stage.memory).peak for name in ("load", "compare"))
    print(f"  memory: {loaded // 1024} MiB to load, {compared // 1024} MiB to compare as well")


def command_time(words: Sequence[str], stage: Stage) -> float:
    """Return how long a command of Ricordo takes."""
    return repeated(lambda: process_time(words, stage.environ()))


def first_screen(stage: Stage, p: Reference) -> Iterator[Row]:
    """From the start of the program until a note of the index is painted, and until a key that
    is pressed then has moved the cursor while the notes are read.
    """
    t = textual_start(stage)
    yield Row("T: minimal program to first paint", t.seconds, p)
    seconds = repeated(lambda: paint_time(stage.notebook, *stage.names()))
    yield Row("first usable screen", seconds, t, FIRST_SCREEN.get(stage.notes))
    answered = repeated(lambda: answer_time(stage.notebook, stage.names()))
    yield Row("  and a key has moved its cursor", answered, t)


def with_history(stage: Stage, p: Reference) -> Iterator[Row]:
    """The first usable screen with a history that holds every note, beside one with none; in turn,
    so that whatever else the machine does slows both.
    """
    state = stage.record()
    names = stage.names()
    without: list[float] = []
    recorded: list[float] = []
    for _ in range(REPEATS):
        without.append(paint_time(stage.notebook, *names))
        recorded.append(paint_time(lambda: stage.notebook(state=state), *names))
    n = Reference("N", median(without))
    yield Row("first screen with every note in the history", median(recorded), n, 1.1)


_IDLE = 0.1
"""Seconds of processor time in one second; more is work behind the screen, such as comparing."""
_PATIENCE = 120
"""Seconds."""


def wait_until_judged(terminal: Terminal) -> None:
    """Wait until nothing goes on behind the screen whose time would be taken for a key's."""
    terminal.wait_for("● watching", "● polling")
    for _ in range(_PATIENCE):
        before = terminal.cpu()
        terminal.settle(quiet=1.0)
        if terminal.cpu() - before < _IDLE:
            return
    raise TooSlow(f"it is still busy after {_PATIENCE} s")


def keys(stage: Stage, p: Reference) -> Iterator[Row]:
    """Processor time of one key, with a note of 3 KB shown for each."""
    c, k = python_cpu(), textual_key(stage)
    with stage.notebook() as terminal:
        wait_until_judged(terminal)
        cost = key_cost(terminal)
    yield Row("K: down in the minimal program, cpu", k.seconds, c)
    yield Row("down, 3 KB notes, cpu a key", cost, c, in_p(0.020))
    yield Row("  the same, beside K", cost, k)


def big_note(stage: Stage, p: Reference) -> Iterator[Row]:
    """Opening a note of 200 KB."""
    c = python_cpu()
    costs: list[tuple[float, float]] = []
    for number in range(REPEATS):
        log = stage.home / f"stalls-{number}"
        with stage.notebook(stalls=log) as terminal:
            wait_until_judged(terminal)
            costs.append(big_note_cost(terminal, log))
    yield Row("200 KB note opens, cpu", median(cpu for cpu, _ in costs), c, in_p(0.6))
    yield Row("  its longest stall", median(stall for _, stall in costs), p, in_p(0.1))


def change(stage: Stage, p: Reference) -> Iterator[Row]:
    """From the change of a file until its finding is painted."""
    with stage.notebook() as terminal:
        wait_until_judged(terminal)
        times = change_times(stage, terminal, REPEATS + 1)[1:]
    yield Row("changed note: finding on screen", median(times), p, in_p(0.3))


def by_model(stage: Stage, p: Reference) -> Iterator[Row]:
    """Frames while a reply streams, and leaving while the server is silent."""
    it = asking(stage)
    yield Row("a reply streams: the latest frame", it.streaming, p, in_p(0.05))
    yield Row("  before, while the client is loaded", it.loading, p)
    yield Row("leaving while the server is silent", it.leaving, p, in_p(1.0))
    yield Row("  where no model was asked", it.leaving_unasked, p)


def writing(stage: Stage, p: Reference) -> Iterator[Row]:
    """A change set of 12 files through the writer, beside as many fsyncs as it may cost."""
    s = Reference("S", repeated(lambda: task_time("fsync", stage.memory, stage.environ())))
    yield Row("S: 42 new files written and synced", s.seconds, p)
    applied = repeated(lambda: task_time("apply", stage.memory, stage.environ()))
    yield Row("change set of 12 files", applied, s, 1.5)


Measurement = Callable[[Stage, Reference], Iterator[Row]]


def report(measurement: Measurement, stage: Stage, p: Reference) -> None:
    """Print the rows of a measurement, or why it could not be taken."""
    try:
        for row in measurement(stage, p):
            print_row(row)
    except subprocess.CalledProcessError as error:
        reason = (error.stderr or b"").strip()
        text = reason if isinstance(reason, str) else reason.decode("utf-8", "replace")
        print(f"  {measurement.__name__}: not measured: {text.rpartition(chr(10))[2]}")
    except (TooSlow, RuntimeError, OSError) as error:
        print(f"  {measurement.__name__}: not measured: {error}")


def run(notes: int, folder: Path, p: Reference) -> None:
    """Print every figure for a memory of `notes` notes."""
    print(f"\n{notes:,} notes")
    plain = Stage(folder / "plain", notes)
    report(reading, plain, p)
    report(comparing, plain, p)
    if notes >= NO_SCREEN_FROM:
        return
    report(first_screen, plain, p)
    report(with_history, plain, p)
    report(writing, plain, p)
    report(by_model, plain, p)
    report(keys, Stage(folder / "three", notes, average=3072), p)
    plain.add_special_notes()
    report(big_note, plain, p)
    report(change, plain, p)


def main(words: Sequence[str] | None = None) -> int:
    """Measure for every size that is asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--notes", type=int, nargs="+", default=[1000, 10_000], metavar="N")
    options = parser.parse_args(words)
    p = python_start()
    print(f"P: python -c pass, {p.seconds * 1000:.1f} ms. Medians of {REPEATS}, cache warm.")
    for notes in options.notes:
        with tempfile.TemporaryDirectory(prefix="ricordo-bench-") as temporary:
            run(notes, Path(temporary).resolve(), p)
    return 0
