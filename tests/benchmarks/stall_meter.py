"""`python stall_meter.py LOG PROGRAM WORD…`: runs a Python program and logs its stalls.

Every callback that holds the event loop for 10 ms or more, or comes that much later than it was
meant to, is written to LOG as its moment (time.perf_counter), its length and its lateness, in
seconds. Nothing else of the program is touched.
"""

from __future__ import annotations

import asyncio
import runpy
import sys
import time
from typing import TextIO

SHORTEST = 0.01


def measure(log: TextIO) -> None:
    """Let asyncio log every callback that takes long."""
    run = asyncio.Handle._run

    def timed(handle: asyncio.Handle) -> None:
        start = time.perf_counter()
        late = time.monotonic() - handle.when() if isinstance(handle, asyncio.TimerHandle) else 0.0
        run(handle)
        length = time.perf_counter() - start
        if max(length, late) >= SHORTEST:
            log.write(f"{start} {length} {late}\n")

    asyncio.Handle._run = timed  # type: ignore[method-assign]


if __name__ == "__main__":
    measure(open(sys.argv[1], "w", buffering=1, encoding="utf-8"))  # noqa: PTH123, SIM115
    sys.argv = sys.argv[2:]
    runpy.run_path(sys.argv[0], run_name="__main__")
