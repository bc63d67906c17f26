"""Where a measurement takes place: a home with one synthetic memory, and programs started in it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from tests.benchmarks import minimal_app, stall_meter
from tests.benchmarks.generate import AVERAGE_BYTES, generate
from tests.benchmarks.measure import process_time
from tests.benchmarks.terminal import Terminal, TooSlow

MINIMAL_APP = str(Path(minimal_app.__file__))
STALL_METER = str(Path(stall_meter.__file__))
RICORDO = str(Path(sys.executable).parent / "ricordo")

NOTHING: Mapping[str, str] = {}
BIG_NOTE_BYTES = 200_000
BIG_MARK = "here-begins-the-big-note"
CHANGED_NOTE = "aaaa_changed.md"
"""By its path the first of the memory, so that its findings are the first of their severity."""


def clean_environ(home: Path, state: str) -> dict[str, str]:
    """Return an environment with this home and the state directory of that name in it."""
    ours = ("RICORDO_", "XDG_", "TEXTUAL", "PYTHON")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return kept | {
        "HOME": str(home),
        "RICORDO_STATE": str(home / state),
        "RICORDO_AGENT_HOME": str(home),
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "LANG": "C.UTF-8",
    }


class Stage:
    """A home folder with a memory of so many notes in it."""

    def __init__(self, home: Path, notes: int, average: int = AVERAGE_BYTES) -> None:
        self.home = home
        self.notes = notes
        self.memory = home / ".claude" / "projects" / "-work-bench" / "memory"
        generate(self.memory, notes, average=average)
        self._states = 0

    def add_special_notes(self) -> None:
        """Add two notes as the first entries of the index: one to change, and a big one."""
        index = self.memory / "MEMORY.md"
        entries = f"- [Changed]({CHANGED_NOTE}) — changes\n- [Big](aaab_big.md) — big\n"
        index.write_text(entries + index.read_text("utf-8").removeprefix("# Memory\n\n"), "utf-8")
        (self.memory / CHANGED_NOTE).write_text(_note("changed", "Nothing yet.\n"), "utf-8")
        paragraph = (self.memory / "MEMORY.md").read_text("utf-8")[200:2000] + "\n\n"
        body = f"{BIG_MARK}\n\n" + paragraph * (BIG_NOTE_BYTES // len(paragraph.encode()))
        (self.memory / "aaab_big.md").write_text(_note("big", body), "utf-8")

    def names(self, count: int = 12) -> list[str]:
        """Return the titles of the first entries of the index, as far as a narrow list shows them.

        One of them on the screen means that the index is there.
        """
        lines = (self.memory / "MEMORY.md").read_text("utf-8").split("\n")
        titles = [line[3:].partition("]")[0] for line in lines if line.startswith("- [")]
        return [title[:12] for title in titles[:count]]

    def environ(self, state: str = "") -> dict[str, str]:
        """Return an environment with this home and the state directory of that name; a new one
        without a name.
        """
        self._states += 1
        return clean_environ(self.home, state or f"state-{self._states}")

    def notebook(
        self, stalls: Path | None = None, state: str = "", more: Mapping[str, str] = NOTHING
    ) -> Terminal:
        """Open the memory in Ricordo on a pseudo-terminal, with `more` in its environment; log
        stalls of its event loop.
        """
        meter = [sys.executable, STALL_METER, str(stalls)] if stalls else []
        environ = {**self.environ(state), **more}
        return Terminal([*meter, RICORDO, str(self.memory)], environ, self.home)

    def record(self) -> str:
        """Let the history keep every note; return the name of its state directory."""
        state = "state-with-history"
        process_time([RICORDO, "inbox", str(self.memory)], self.environ(state))
        return state

    def minimal(self) -> Terminal:
        """Start the minimal program on a pseudo-terminal."""
        words = [sys.executable, MINIMAL_APP, str(min(self.notes, 1000))]
        return Terminal(words, self.environ(), self.home)


def paint_time(start: Callable[[], Terminal], *texts: str) -> float:
    """Return the seconds from the start of a program until one of `texts` is painted."""
    with start() as terminal:
        return terminal.wait_for(*texts) - terminal.started


def answer_time(start: Callable[[], Terminal], titles: Sequence[str]) -> float:
    """Return the seconds from the start of a program until a press of *down*, as soon as `titles`
    are painted, has moved its cursor: the row that is under it now is painted again.
    """
    rows = [title.encode() for title in titles]
    with start() as terminal:
        terminal.wait_until(lambda painted: all(row in painted for row in rows))
        terminal.forget()
        terminal.send("\x1b[B")
        return terminal.wait_for(titles[1]) - terminal.started


def key_cost(terminal: Terminal, keys: int = 200) -> float:
    """Return the seconds of processor time that one press of *down* costs.

    A key is pressed when the last one has been painted, so no paint is saved by haste.
    """
    for _ in range(5):
        _press_down(terminal)
    before = terminal.cpu()
    for _ in range(keys):
        _press_down(terminal)
    return (terminal.cpu() - before) / keys


def _press_down(terminal: Terminal) -> None:
    terminal.forget()
    terminal.send("\x1b[B")
    terminal.wait_until(bool, seconds=5)
    terminal.settle(quiet=0.025, seconds=5)


def big_note_cost(terminal: Terminal, log: Path) -> tuple[float, float]:
    """Move down to the big note; return its processor time and the longest stall, in seconds."""
    for _ in range(4):
        terminal.forget()
        before, since = terminal.cpu(), time.perf_counter()
        terminal.send("\x1b[B")
        try:
            terminal.wait_for(BIG_MARK, seconds=4)
        except TooSlow:
            continue
        terminal.settle(quiet=1.0)
        return terminal.cpu() - before, longest_stall(log, since)
    raise RuntimeError("the big note did not come on the screen")


def longest_stall(log: Path, since: float) -> float:
    """Return the longest stall that was logged after the moment `since`; 0.0 without one."""
    return max((length for length, _ in _stalls(log, since)), default=0.0)


def latest_frame(log: Path, since: float, until: float) -> float:
    """Return by how much a paint came too late between two moments at most: it was kept waiting by
    another one, or by threads.
    """
    return max((max(it) for it in _stalls(log, since, until)), default=0.0)


def _stalls(log: Path, since: float, until: float = float("inf")) -> Iterator[tuple[float, float]]:
    for line in log.read_text("utf-8").splitlines():
        moment, length, late = map(float, line.split())
        if since <= moment <= until:
            yield length, late


def change_times(stage: Stage, terminal: Terminal, repeats: int) -> list[float]:
    """Break a link in one note, again and again; return how long each time its finding took to
    come on the screen.
    """
    note = stage.memory / CHANGED_NOTE
    times = []
    for number in range(repeats):
        target = f"gone-{number}.md"
        terminal.forget()
        start = time.perf_counter()
        note.write_text(_note("changed", f"See [it]({target}).\n"), "utf-8")
        times.append(terminal.wait_for(target[:-3], "aaaa_chan", seconds=30) - start)
        terminal.settle(quiet=1.0)
    return times


def _note(name: str, body: str) -> str:
    head = f"---\nname: {name}\ndescription: A note of the benchmark.\ntype: project\n---\n\n"
    return head + body
