"""`python -m tests.benchmarks.conflicts [PAIRS.tsv…]`: how well contradictions are found.

Prints precision and recall on pairs of statements by kind, every pair that is told in real
memories, and what becomes of corrections that lie below the cut of an index. A file of pairs has
the columns label (1: cannot both hold), kind, left, right. Real memories and further pairs are
looked for beside the checkout and left out where they are not.
"""

from __future__ import annotations

import csv
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from ricordo.agents.claude.location import AUTO_MEMORY
from ricordo.agents.registry import recognise
from ricordo.lint.contradictions.compare import (
    find_contradiction,
    judge_reliably,
    offer_candidate,
)
from ricordo.lint.contradictions.comparer import NoteComparer
from ricordo.lint.linter import Linter
from ricordo.lint.rule import RuleContext
from ricordo.storage.reader import read_memory

TESTS = Path(__file__).resolve().parents[1]
OWN = tuple(sorted((TESTS / "data").glob("claim_pairs*.tsv")))
SHARED = TESTS.parents[1] / "shared" / "data"
DRAWN, LINES, CUT = 12, 260, 200
DRAWS = 5


class Pair(NamedTuple):
    """Two statements, and whether they exclude each other."""

    is_conflict: bool
    kind: str
    left: str
    right: str


def read_pairs(path: Path) -> list[Pair]:
    """Return the pairs of a file."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [Pair(row[0] == "1", *row[1:4]) for row in rows if row and row[0] in ("0", "1")]


def score(name: str, pairs: Sequence[Pair]) -> Iterator[str]:
    """Yield how many of the pairs are reported, and offered, by kind; offered for themselves, and
    as in a memory, where any two of many statements are compared.
    """
    told = {pair: bool(find_contradiction(pair.left, pair.right)) for pair in pairs}
    right = sum(it.is_conflict and told[it] for it in pairs)
    wrong = sum(not it.is_conflict and told[it] for it in pairs)
    missed = sum(it.is_conflict and not told[it] for it in pairs)
    precision, recall = right / max(1, right + wrong), right / max(1, right + missed)
    yield f"{name}: {len(pairs)} pairs, precision {precision:.3f}, recall {recall:.3f}"
    offered = Counter(it.is_conflict for it in pairs if offer_candidate(it.left, it.right))
    conflicts = right + missed
    found, near = right + offered[True], wrong + offered[False]
    yield (
        f"  reported {right} of {conflicts}, reported or offered {found} of {conflicts};"
        f" of {len(pairs) - conflicts} that are none {near} reported or offered"
    )
    among = Counter(it.is_conflict for it in pairs if judge_reliably(it.left, it.right))
    yield (
        f"  as in a memory reported or offered {among[True]} of {conflicts};"
        f" of {len(pairs) - conflicts} that are none {among[False]}"
    )
    of_kind = Counter((it.is_conflict, it.kind) for it in pairs)
    good = Counter((it.is_conflict, it.kind) for it in pairs if told[it] == it.is_conflict)
    for (is_conflict, kind), count in sorted(of_kind.items(), key=lambda it: (-it[0][0], it[0][1])):
        word = "told" if is_conflict else "not told"
        yield f"  {kind:<10} {good[is_conflict, kind]:>3} of {count:>3} rightly {word}"


def memories() -> Iterator[Path]:
    """Yield the directories of the real memories beside the checkout."""
    yield from sorted(SHARED.glob("memory/*/memory"))
    yield from sorted(SHARED.glob("memory/labelled-defects/**/memory"))
    yield from sorted(SHARED.glob("wiki/*/golden-wiki"))


def told_in(folder: Path) -> Iterator[str]:
    """Yield what is told in one real memory."""
    memory = read_memory(str(folder), recognise(str(folder)))
    every = NoteComparer().pairs(memory)
    found = [it for it in every if it.relation.is_certain]
    doubts = f"{len(every) - len(found)} in doubt"
    yield f"{folder.relative_to(SHARED)}: {len(memory.notes)} notes, {len(found)} told, {doubts}"
    for it in found:
        yield f"  {it.relation}: {it.reason}"
        yield from (f"    {side.path}:{side.line} {side.text}" for side in (it.left, it.right))


def lost_corrections(pairs: Sequence[Pair], seed: int) -> int:
    """Return how many corrections are told of an index in which the right statements of as many
    pairs as are drawn lie below the cut, and the left ones above it.
    """
    drawn = random.Random(seed).sample(list(pairs), DRAWN)
    with tempfile.TemporaryDirectory() as folder:
        lines = [_entry(folder, f"old-{n}", it.left, 1) for n, it in enumerate(drawn)]
        lines += [f"- [Filler {n}](filler.md#{n})" for n in range(LINES - 2 * DRAWN)]
        lines += [_entry(folder, f"new-{n}", it.right, 2) for n, it in enumerate(drawn)]
        assert len(lines) == LINES > CUT + DRAWN
        Path(folder, "MEMORY.md").write_text("\n".join(lines) + "\n", "utf-8")
        Path(folder, "filler.md").write_text("Nothing.\n", "utf-8")
        context = RuleContext(datetime(2026, 6, 1, tzinfo=UTC), AUTO_MEMORY)
        memory = read_memory(folder, AUTO_MEMORY)
        return len(Linter({}, frozenset(("lost-correction",))).run(memory, context))


def _entry(folder: str, name: str, said: str, day: int) -> str:
    head = f"---\nname: {name}\ndescription: {said}\nmodified: 2026-01-0{day}\n---\n\n{said}\n"
    Path(folder, f"{name}.md").write_text(head, "utf-8")
    return f"- [{name}]({name}.md) — {said}"


def main(words: Sequence[str]) -> int:
    """Print all of it."""
    files = [*map(Path, words)] or [*OWN, *sorted(SHARED.glob("contradiction/*.tsv"))]
    pairs = {path: read_pairs(path) for path in files}
    for path, them in pairs.items():
        print(*score(path.name, them), sep="\n")
    for folder in memories():
        print(*told_in(folder), sep="\n")
    for path, them in pairs.items():
        found = [
            [
                lost_corrections([it for it in them if it.is_conflict == is_conflict], seed)
                for seed in range(DRAWS)
            ]
            for is_conflict in (True, False)
        ]
        print(f"lost-correction, {DRAWN} pairs of {path.name} in an index of {LINES} lines:")
        print(f"  told of true pairs {found[0]}, of false pairs {found[1]}, in {DRAWS} draws")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
