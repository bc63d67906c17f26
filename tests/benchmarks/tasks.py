"""`python -m tests.benchmarks.tasks TASK DIR`: one measured act in a fresh process.

Prints the seconds that the act took and those of them that the processor was used, without the
start of the interpreter and the imports, and the most KiB that the process has held.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime

STRUCTURAL = frozenset(
    (
        "index-missing-file",
        "unindexed-note",
        "index-duplicate-entry",
        "index-over-budget",
        "index-near-budget",
        "index-long-entry",
        "index-inline-body",
        "lost-correction",
        "frontmatter-missing",
        "frontmatter-invalid",
        "frontmatter-incomplete",
        "frontmatter-twice",
        "unknown-type",
        "duplicate-name",
        "oversized-note",
        "empty-note",
        "unreadable-note",
        "dead-link",
        "wanted-note",
        "orphan-note",
        "outside-memory",
    )
)
"""The rules that look at index, heads and links, not at what a text says."""


def read_bytes(folder: str) -> Callable[[], None]:
    """R: all bytes of the memory, through the cheapest calls that there are."""

    def act() -> None:
        for name in os.listdir(folder):
            handle = os.open(os.path.join(folder, name), os.O_RDONLY)
            while os.read(handle, 1 << 20):
                pass
            os.close(handle)

    return act


def load(folder: str) -> Callable[[], None]:
    """Read the memory, with heads and resolved links."""
    from ricordo.agents.claude.location import AUTO_MEMORY
    from ricordo.storage.reader import read_memory

    return lambda: void(read_memory(folder, AUTO_MEMORY).links)


def lint(folder: str, only: frozenset[str] = frozenset()) -> Callable[[], None]:
    """Read the memory and judge it by the rules `only`, or by all."""
    from ricordo.agents.claude.location import AUTO_MEMORY
    from ricordo.lint.linter import Linter
    from ricordo.lint.rule import RuleContext
    from ricordo.storage.reader import read_memory

    linter = Linter({}, only)
    context = RuleContext(datetime(2026, 1, 1, tzinfo=UTC), AUTO_MEMORY)
    return lambda: void(linter.run(read_memory(folder, AUTO_MEMORY), context))


def lint_structure(folder: str) -> Callable[[], None]:
    """Read the memory and judge index, heads and links."""
    return lint(folder, STRUCTURAL)


def find_candidates(folder: str) -> Callable[[], None]:
    """Find the notes that may repeat each other and the claims of one subject and relation, in a
    memory that was read.
    """
    from ricordo.agents.claude.location import AUTO_MEMORY
    from ricordo.background import pause_gc
    from ricordo.lint.contradictions.comparer import list_keys
    from ricordo.lint.contradictions.repeats import find_candidates
    from ricordo.lint.contradictions.statements import build_digest
    from ricordo.storage.reader import read_memory

    memory = read_memory(folder, AUTO_MEMORY)

    def act() -> None:
        with pause_gc():
            digests = {note.path: build_digest(note) for note in memory.notes}
            find_candidates(digests)
            groups: dict[str, list[object]] = {}
            for path, digest in digests.items():
                for key, place in list_keys(path, digest):
                    groups.setdefault(key, []).append(place)

    return act


def compare(folder: str) -> Callable[[], None]:
    """Find the notes that repeat or contradict each other, in a memory that was read."""
    from ricordo.agents.claude.location import AUTO_MEMORY
    from ricordo.lint.contradictions.comparer import NoteComparer
    from ricordo.storage.reader import read_memory

    memory = read_memory(folder, AUTO_MEMORY)
    return lambda: void(NoteComparer().pairs(memory))


def compare_one(folder: str) -> Callable[[], None]:
    """The same, after one note was changed."""
    from ricordo.agents.claude.location import AUTO_MEMORY
    from ricordo.lint.contradictions.comparer import NoteComparer
    from ricordo.memory.note import read_note
    from ricordo.storage.reader import read_memory

    memory, comparing = read_memory(folder, AUTO_MEMORY), NoteComparer()
    comparing.pairs(memory)
    note = memory.notes[len(memory.notes) // 2]
    text = note.raw + b"\nThe web view listens on port 8040.\n"
    changed = read_note(note.path, text, note.facts, memory.layout)
    later = memory.with_files({note.path: changed})
    return lambda: void(comparing.pairs(later))


def sync_files(folder: str, count: int) -> Callable[[], None]:
    """Write 4 KiB to a new file and wait until it is on the disk, `count` times: what a change
    set waits for are new files too, and on some disks an old one costs next to nothing.
    """

    def act() -> None:
        for n in range(count):
            path = os.path.join(folder, f".synced-{n}")
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
            os.write(handle, b"x" * 4096)
            os.fsync(handle)
            os.close(handle)
        for n in range(count):
            os.unlink(os.path.join(folder, f".synced-{n}"))

    return act


def apply_changes(folder: str, count: int) -> Callable[[], None]:
    """Take a change set of so many files through the writer; it is put together beforehand."""
    from ricordo.agents.claude.location import AUTO_MEMORY
    from ricordo.memory.change import Change, SetField
    from ricordo.memory.compose import compose
    from ricordo.storage.database import Database
    from ricordo.storage.reader import read_memory
    from ricordo.storage.writer import ChangePurpose, Writer

    memory = read_memory(folder, AUTO_MEMORY)
    notes = [
        note for note in memory.notes if note.frontmatter.is_present and not note.frontmatter.error
    ][:count]
    now = datetime.now(UTC)
    wished = f"as it was at {now.isoformat()}"
    changes = [Change(SetField(note.path, "description", wished)) for note in notes]
    change_set = compose(memory, changes)
    writer = Writer(Database(os.path.join(os.environ["HOME"], "state-of-changes")))
    return lambda: void(writer.apply(change_set, ChangePurpose(now)))


def void(value: object) -> None:
    """Take a value and give nothing."""


CHANGED = 12
"""Files of a change set."""
FSYNCS = 3 * CHANGED + 6
"""What it may cost."""

TASKS: dict[str, Callable[[str], Callable[[], None]]] = {
    "read": read_bytes,
    "load": load,
    "lint-structure": lint_structure,
    "lint": lint,
    "candidates": find_candidates,
    "compare": compare,
    "compare-one": compare_one,
    "fsync": lambda folder: sync_files(folder, FSYNCS),
    "apply": lambda folder: apply_changes(folder, CHANGED),
}


def main() -> None:
    """Do the task once, and print how long it took."""
    name, folder = sys.argv[1:]
    act = TASKS[name](folder)
    start, before = time.perf_counter(), time.process_time()
    act()
    took, processor = time.perf_counter() - start, time.process_time() - before
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(took, processor, peak)


if __name__ == "__main__":
    main()
