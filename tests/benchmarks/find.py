"""`python -m tests.benchmarks.find [--notes N…]`: finding, beside references of the same run.

References:
  P  `python -c pass`
  R  reading all bytes of the memory, in this process
  F  `fzf --filter` over the names and descriptions, where fzf is installed
  G  ripgrep over the memory for the same words; where it is not installed, `grep -r`, which is no
     measure of ripgrep's: what stands beside it is reported and not judged

References are taken between the measured acts, so that a busy machine slows both.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from functools import partial
from pathlib import Path

from ricordo.agents.agent import MemoryPlace
from ricordo.agents.claude.location import AUTO_MEMORY
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note, read_note
from ricordo.search.question import RecallQuestion
from ricordo.search.rank import FAST, rank
from ricordo.services.search.recall import open_index, recall
from ricordo.services.search.search import Search
from ricordo.services.workspace.environment import Environment
from ricordo.storage.hook_files import INDEXING, RequestQueue
from ricordo.storage.reader import read_memory
from tests.benchmarks.generate import generate
from tests.benchmarks.measure import Reference, Row, median, print_row, process_time
from tests.benchmarks.run import in_p
from tests.benchmarks.stage import RICORDO
from tests.benchmarks.tasks import read_bytes
from tests.benchmarks.terminal import Terminal

SEED = 7
MANY = 100_000
ASKED = 40
_CTRL_F, _CTRL_U = "\x06", "\x15"
_DRAWN = "Found · "
"""Stands over the results, and is drawn anew with them."""
_CALM = 0.3
"""Seconds without a paint between two keys; the cursor blinks every 0.5."""
KEYSTROKE, ONE_NOTE = 0.016, 0.030
"""Seconds, on the machine on which P is 6.5 ms."""


class Stage:
    """A memory of so many notes with its index, and what is asked of it."""

    def __init__(self, folder: Path, notes: int) -> None:
        self.folder = folder
        self.root = folder / "memory"
        self.project = folder / "project"
        self.project.mkdir(parents=True)
        generate(self.root, notes)
        self.random = random.Random(SEED)
        self.memory: Memory = read_memory(str(self.root), AUTO_MEMORY)
        _ = self.memory.links
        self.environment = Environment(
            str(self.project), {}, str(folder), str(folder / "state"), str(folder)
        )
        place = MemoryPlace(self.memory.root, AUTO_MEMORY, str(self.project))
        self.index = open_index(place, self.environment)

    def note(self) -> Note:
        return self.random.choice(self.memory.notes)

    def typed(self) -> str:
        """Return what a person may type: words of some note, or how one begins to be called."""
        is_said = self.random.random() < 0.5
        return " ".join(self.words(2) if is_said else self.note().name.split()[:2])

    def environ(self) -> dict[str, str]:
        """Return an environment in which the program keeps its state where this index is."""
        kept = {name: it for name, it in os.environ.items() if not name.startswith("PYTHON")}
        return kept | {
            "RICORDO_STATE": self.environment.state,
            "HOME": str(self.folder),
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
        }

    def words(self, count: int) -> list[str]:
        """Return words that follow one another in some note."""
        found = self.note().body.split()
        start = self.random.randrange(max(1, len(found) - count))
        return [word.strip(".,*`[]()#") or "ke" for word in found[start : start + count]]


def timed(act: Callable[[], object]) -> float:
    """Return the seconds that `act` takes."""
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def p95(times: Sequence[float]) -> float:
    """Return the 95th percentile."""
    return sorted(times)[int(0.95 * (len(times) - 1))]


def python_start() -> float:
    """P, once."""
    return process_time([sys.executable, "-c", "pass"])


def building(at: Stage, judged: bool) -> Iterator[Row]:
    """Making the index, and bringing one note up to date."""
    read = read_bytes(str(at.root))
    read()
    before = timed(read)
    made = timed(lambda: at.index.update(at.memory))
    r = Reference("R", (before + timed(read)) / 2)
    yield Row("index made", made, r, 40 if judged else None)
    times, starts = [], []
    for number in range(7):
        changed = at.memory.with_files({(note := at.note()).path: _longer(note, number)})
        _ = changed.links
        starts.append(python_start())
        times.append(timed(partial(at.index.update, changed)))
        at.memory = changed
    p = Reference("P", median(starts))
    yield Row("one changed note", median(times), p, in_p(ONE_NOTE) if judged else None)


def _longer(note: Note, number: int) -> Note:
    return read_note(note.path, note.raw + b"\nmore %d\n" % number, note.facts, AUTO_MEMORY)


def typing(at: Stage, judged: bool) -> Iterator[Row]:
    """From a key to the results: every beginning of names, descriptions and texts as typed."""
    search = Search(at.index, at.memory, at.environment)
    lines = "".join(f"{it.name} {it.path} {it.description}\n" for it in at.memory.notes)
    times, starts, filtered = [], [], []
    for typed in (at.typed() for _ in range(ASKED // 4)):
        starts.append(python_start())
        for end in range(1, len(typed) + 1, 3):
            part = typed[:end]
            times.append(timed(partial(search.find, part)))
        if shutil.which("fzf"):
            words = ["fzf", "--filter", typed]
            filtered.append(timed(partial(_fed, words, lines)))
    p = Reference("P", median(starts))
    yield Row("key to results, p95", p95(times), p, in_p(KEYSTROKE) if judged else None)
    yield Row("key to results, median", median(times), p)
    if filtered:
        f = Reference("F", median(filtered))
        yield Row(
            "key to results, p95, beside fzf",
            p95(times),
            f,
            0.3 if len(at.memory.notes) >= MANY else None,
        )
    else:
        print("  fzf is not installed: nothing stands beside it")


def _fed(words: Sequence[str], text: str) -> None:
    subprocess.run(words, input=text.encode(), stdout=subprocess.DEVNULL, check=False)


def drawing(at: Stage, judged: bool) -> Iterator[Row]:
    """From a key to the results on a terminal, in the finder of the notebook."""
    times, filtered = [], []
    lines = "".join(f"{it.name} {it.path} {it.description}\n" for it in at.memory.notes)
    with Terminal([RICORDO, str(at.root)], at.environ(), at.folder) as terminal:
        terminal.wait_for("watching", seconds=120)
        terminal.settle(quiet=2.0)
        terminal.send(_CTRL_F)
        terminal.wait_for("in every memory")
        for typed in (at.typed() for _ in range(ASKED // 8)):
            terminal.settle(quiet=_CALM)
            for key in typed[:12].replace(" ", ""):
                terminal.forget()
                start = time.perf_counter()
                terminal.send(key)
                times.append(terminal.wait_for(_DRAWN) - start)
                terminal.settle(quiet=_CALM)
            terminal.send(_CTRL_U)
            if shutil.which("fzf"):
                words = ["fzf", "--filter", typed[:12]]
                filtered.append(timed(partial(_fed, words, lines)))
    p = Reference("P", median(python_start() for _ in range(5)))
    yield Row("key to drawn results, p95", p95(times), p)
    yield Row("key to drawn results, median", median(times), p)
    if filtered:
        yield Row(
            "key to drawn results, p95, beside fzf", p95(times), Reference("F", median(filtered))
        )


def full_text(at: Stage, judged: bool) -> Iterator[Row]:
    """Three words anywhere in the memory."""
    tool = shutil.which("rg")
    times, others = [], []
    today = date(2026, 1, 1)
    for _ in range(ASKED):
        words = at.words(3)
        question = RecallQuestion(" ".join(words), today)
        pattern = "|".join(word for word in words if word.isalnum()) or "ke"
        search = [tool, "-ciN"] if tool else ["grep", "-rciE"]
        line = [*search, pattern, str(at.root)]
        others.append(timed(partial(_quiet, line)))
        ranked = partial(rank, question=question, today=today, breadth=FAST)
        times.append(timed(partial(at.index.query, at.memory, ranked)))
    g = Reference("rg" if tool else "grep", p95(others))
    yield Row("full text, 3 words, p95", p95(times), g, 0.4 if judged and tool else None)
    if not tool:
        print("  ripgrep is not installed: grep stands in its place")


def _quiet(words: Sequence[str]) -> None:
    subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def hook(at: Stage, judged: bool) -> Iterator[Row]:
    """The hook as installed, and recall by the command's own function."""
    environ = at.environ()
    times, starts, recalls = [], [], []
    for number in range(ASKED):
        prompt = " ".join(at.words(12))
        event = {"prompt": prompt, "cwd": str(at.project), "session_id": f"{number}"}
        document = json.dumps(event).encode()
        starts.append(python_start())
        times.append(timed(partial(_hooked, document, environ)))
        recalls.append(timed(partial(recall, at.index, at.memory, prompt, at.environment)))
    p = Reference("P", median(starts))
    yield Row("process: ricordo hook prompt, median", median(times), p, 4 if judged else None)
    yield Row("process: ricordo hook prompt, p95", p95(times), p, 8 if judged else None)
    yield Row("recall in an open notebook, p95", p95(recalls), p)
    yield from _other_hooks(at, environ, p, judged)


def _other_hooks(at: Stage, environ: dict[str, str], p: Reference, judged: bool) -> Iterator[Row]:
    """The hooks that leave a request; while another process is in charge of requests, and where
    each starts one.
    """
    place = {"cwd": str(at.project), "session_id": "other"}
    note = next(it.path for it in at.memory.notes)
    written = {"tool_input": {"file_path": str(at.root / note)}}
    limits = {"start": 6, "wrote": 5, "stop": None, "end": None}
    queue = RequestQueue(environ["RICORDO_STATE"], INDEXING)
    for name, limit in limits.items():
        document = json.dumps({**place, **written}).encode()
        times = [timed(partial(_hooked, document, environ, name)) for _ in range(ASKED // 4)]
        what = f"process: ricordo hook {name}, median"
        yield Row(what, median(times), p, limit if judged else None)
        while (lock := queue.lock()) is None:
            time.sleep(0.1)
        times = [timed(partial(_hooked, document, environ, name)) for _ in range(ASKED // 4)]
        queue.take()
        os.close(lock)
        yield Row(f"{what}, with a process in the background", median(times), p)


def _hooked(document: bytes, environ: dict[str, str], event: str = "prompt") -> None:
    subprocess.run(
        [RICORDO, "hook", event],
        input=document,
        env=environ,
        stdout=subprocess.DEVNULL,
        check=True,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure for every size that is asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.find",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--notes", type=int, nargs="+", default=[10_000], metavar="N")
    options = parser.parse_args(arguments)
    for notes in options.notes:
        print(f"\n{notes:,} notes")
        with tempfile.TemporaryDirectory(prefix="ricordo-find-") as temporary:
            at = Stage(Path(temporary).resolve(), notes)
            for measurement in (building, typing, drawing, full_text, hook):
                for row in measurement(at, notes == 10_000):
                    print_row(row)
    return 0


if __name__ == "__main__":
    sys.exit(main())
