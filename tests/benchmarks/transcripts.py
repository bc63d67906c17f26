"""`python -m tests.benchmarks.transcripts [--megabytes N]`: reading one large transcript.

A transcript of that size is made, more than half of it one line. A process of its own reads it as
the notebook does, another one reads what was added since. Printed are the seconds that the reading
took, beside those that reading the bare bytes takes, and the most memory that the process ever had.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

MEGABYTE = 1024 * 1024
MOST_MEMORY = 64 * MEGABYTE
SESSION = "5b1c7a52-90f4-4d0e-8a6d-2f6f1c9a0b11"
NOTE = "/home/ana/.claude/projects/-home-ana-work-tidepool/memory/reference_vhf.md"
_SHARE_OF_LONGEST = 0.6
_OUTPUT = 8_000
"""Characters of the output of a tool in every line but one."""


class Measured(NamedTuple):
    """What one reading took."""

    seconds: float
    memory: int
    """The most that the process had, in bytes."""
    reads: int
    """How many readings of the note are known then."""
    read: int
    """How many bytes the reading asked the system for; 0 where the system does not tell."""


def line(number: int, **told: object) -> bytes:
    """Return one line of a transcript."""
    common = {
        "sessionId": SESSION,
        "uuid": f"u{number}",
        "timestamp": "2026-10-05T09:02:48.782Z",
        "cwd": "/home/ana/work/tidepool",
    }
    return json.dumps({**common, **told}).encode() + b"\n"


def exchange(number: int) -> bytes:
    """Return what the person says, the reading of a note, and its result."""
    call = {"type": "tool_use", "id": f"t{number}", "name": "Read", "input": {"file_path": NOTE}}
    result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "x " * (_OUTPUT // 2)}
    return (
        line(number, type="user", message={"content": f"Look at the radio, {number}."})
        + line(number, type="assistant", message={"content": [call]})
        + line(number, type="user", toolUseResult={}, message={"content": [result]})
    )


def make(folder: Path, megabytes: int) -> int:
    """Make a transcript in `folder`; return how many readings of the note it has."""
    path = folder / f"{SESSION}.jsonl"
    longest = int(megabytes * MEGABYTE * _SHARE_OF_LONGEST)
    image = line(0, type="user", message={"content": "#"})
    before, after = image.split(b"#")
    number = 0
    with path.open("wb") as file:
        while file.tell() < megabytes * MEGABYTE - longest:
            number += 1
            file.write(exchange(number))
            if number == 100:
                file.write(before)
                for _ in range(longest // MEGABYTE):
                    file.write(b"A" * MEGABYTE)
                file.write(after)
                longest = 0
    return number


def measured(folder: Path) -> Measured:
    """Bring what is known of the transcripts in `folder` up to date, in a process of its own."""
    words = [sys.executable, "-m", "tests.benchmarks.transcripts", "--read", str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    seconds, *others = done.stdout.split()
    return Measured(float(seconds), *map(int, others))


def read(folder: Path) -> Measured:
    """Do that in this process."""
    from ricordo.agents.claude.support import find_transcripts as claude_sources
    from ricordo.agents.transcripts.catch_up import catch_up
    from ricordo.agents.transcripts.store import TranscriptStore

    # loaded when there is a transcript; not to be counted with it
    import_module("ricordo.agents.claude.transcript")
    store = TranscriptStore(str(folder / "state"))
    before, began = bytes_read(), time.perf_counter()
    catch_up(store, claude_sources(str(folder)), lambda: None)
    seconds, asked = time.perf_counter() - began, bytes_read() - before
    known = [it.number for it in store.list_transcripts()]
    return Measured(seconds, most_memory(), len(store.list_touches(known)), asked)


def bytes_read() -> int:
    """Return how many bytes this process has asked the system for."""
    try:
        return int(Path("/proc/self/io").read_text().split()[1])
    except (OSError, IndexError):
        return 0


def most_memory() -> int:
    """Return the most memory that this process ever had, in bytes."""
    try:
        # what a process was before it became this program counts in ru_maxrss too
        status = Path("/proc/self/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) * 1024
    except (OSError, IndexError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def bare(folder: Path) -> float:
    """Return the seconds in which all bytes of the transcript are read."""
    handle = os.open(folder / f"{SESSION}.jsonl", os.O_RDONLY)
    began = time.perf_counter()
    while os.read(handle, MEGABYTE):
        pass
    os.close(handle)
    return time.perf_counter() - began


def main() -> int:
    """Make, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.read:
        print(*read(options.read))
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder, options.megabytes)
        first = measured(folder)
        with (folder / f"{SESSION}.jsonl").open("ab") as file:
            file.write(exchange(0))
        print(f"{'':24}{'seconds':>10}{'memory':>12}{'readings':>10}")
        print(f"{'bare bytes':24}{bare(folder):>10.3f}")
        rows = (("read", first), ("read what was added", measured(folder)))
        for title, row in rows:
            shown = f"{row.memory / MEGABYTE:.0f} MB"
            print(f"{title:24}{row.seconds:>10.3f}{shown:>12}{row.reads:>10}")
        return int(any(row.memory > MOST_MEMORY for _, row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
