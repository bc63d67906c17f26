"""`python -m tests.benchmarks.conflicts [PAIRS.tsv…]`: how well contradictions are found.

`python -m tests.benchmarks.conflicts --unseen PAIRS.tsv…`: how well they would be found in each of
these files if it were not known, by weights that are fitted to all others and to the pairs here.
`python -m tests.benchmarks.conflicts --fit PAIRS.tsv… STORES` fits the weights to all of them and
writes them to `lint/rules/contradiction.toml`. STORES is a folder of checkouts, as for `precision`:
statements of their memories that are near to each other are taken for no contradictions, which
holds for nearly all of them.

Prints precision and recall on pairs of statements by kind, every pair that is told in real
memories, and what becomes of corrections that lie below the cut of an index. A file of pairs has
the columns label (1: cannot both hold), kind, left, right. Real memories and further pairs are
looked for beside the checkout and left out where they are not.
"""

from __future__ import annotations

import csv
import math
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from ricordo.agents.claude.location import AUTO_MEMORY
from ricordo.agents.registry import recognise
from ricordo.lint.contradictions.compare import (
    find_contradiction,
    judge_reliably,
    measure_pair,
    offer_candidate,
)
from ricordo.lint.contradictions.comparer import NoteComparer, list_judged
from ricordo.lint.contradictions.score import load_thresholds
from ricordo.lint.linter import Linter
from ricordo.lint.rule import RuleContext
from ricordo.storage.reader import read_memory
from tests.benchmarks.corpus import load_corpus

TESTS = Path(__file__).resolve().parents[1]
OWN = tuple(sorted((TESTS / "data").glob("claim_pairs*.tsv")))
SHARED = TESTS.parents[1] / "shared" / "data"
WEIGHTS = TESTS.parent / "app" / "ricordo" / "lint" / "rules" / "contradiction.toml"
OF_OWN = 0.6
"""What a pair here counts when weights are fitted: most are shorter than what notes say."""
OF_MEMORIES = 40.0
"""What all statements of memories count together."""
MOST_OF_MEMORY = 60
"""Pairs of statements of one memory."""
RIDGE = 1.0
RAREST = 8
"""Pairs that have to have a measure for which a weight is fitted."""
STEPS, CLOSE, LONGEST_STEP = 30, 1e-6, 5.0
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


class Example(NamedTuple):
    """The measures of a pair, whether it is a contradiction, and how much it counts."""

    measures: Mapping[str, float]
    is_conflict: bool
    weight: float


def measure_pairs(path: Path) -> list[Example]:
    """Return the measures of the pairs of a file."""
    weight = OF_OWN if path.is_relative_to(TESTS) or path.is_relative_to(SHARED) else 1.0
    return [
        Example(measure_pair(it.left, it.right), it.is_conflict, weight) for it in read_pairs(path)
    ]


def measure_memories(stores: Path) -> list[Example]:
    """Return the measures of statements that are near to each other in the memories of `stores`."""
    found: list[Mapping[str, float]] = []
    for store in load_corpus():
        checkout = store.find_checkout(stores)
        if store.use == "sealed" or checkout is None or not (checkout / store.folder).is_dir():
            continue
        folder = str(checkout / store.folder)
        pairs = [it for it in list_judged(read_memory(folder, recognise(folder))) if it[0] != it[1]]
        drawn = random.Random(store.name).sample(pairs, min(MOST_OF_MEMORY, len(pairs)))
        found += [measure_pair(*it) for it in drawn]
    return [Example(it, False, OF_MEMORIES / len(found)) for it in found]


def fit_weights(examples: Sequence[Example]) -> dict[str, float]:
    """Return the weights of a logistic regression with a ridge, by Newton's method."""
    counts = Counter(name for it in examples for name in it.measures)
    names = ["base", *sorted(name for name, count in counts.items() if count >= RAREST)]
    place = {name: n for n, name in enumerate(names)}
    rows = [
        [(0, 1.0), *((place[name], value) for name, value in it.measures.items() if name in place)]
        for it in examples
    ]
    weights = [0.0] * len(names)
    for _ in range(STEPS):
        slope = [RIDGE * it for it in weights]
        curve = [[RIDGE * (n == m) for m in range(len(names))] for n in range(len(names))]
        slope[0], curve[0][0] = 0.0, CLOSE
        for row, it in zip(rows, examples, strict=True):
            chance = 1 / (1 + math.exp(-sum(weights[n] * value for n, value in row)))
            error = it.weight * (chance - it.is_conflict)
            bend = it.weight * chance * (1 - chance)
            for n, value in row:
                slope[n] += error * value
                for m, other in row:
                    curve[n][m] += bend * value * other
        step = solve(curve, slope)
        longest = max(map(abs, step))
        weights = [
            a - b * min(1, LONGEST_STEP / longest) for a, b in zip(weights, step, strict=True)
        ]
        if longest < CLOSE:
            break
    return dict(zip(names, weights, strict=True))


def solve(matrix: Sequence[Sequence[float]], vector: Sequence[float]) -> list[float]:
    """Return the solution of linear equations with a symmetric positive matrix."""
    rows = [[*row, value] for row, value in zip(matrix, vector, strict=True)]
    for n, row in enumerate(rows):
        for other in rows[n + 1 :]:
            share = other[n] / row[n]
            for m in range(n, len(row)):
                other[m] -= share * row[m]
    found = [0.0] * len(rows)
    for n in reversed(range(len(rows))):
        rest = sum(rows[n][m] * found[m] for m in range(n + 1, len(rows)))
        found[n] = (rows[n][-1] - rest) / rows[n][n]
    return found


def score_unseen(paths: Sequence[Path]) -> Iterator[str]:
    """Yield what would be reported and offered of the pairs of each file if it were not known."""
    files = [it for it in paths if it.is_file()]
    examples = {path: measure_pairs(path) for path in (*files, *OWN)}
    examples |= {path: measure_memories(path) for path in paths if path.is_dir()}
    limits = load_thresholds()
    for path in files:
        weights = fit_weights([it for other in examples if other != path for it in examples[other]])
        scores = [
            (
                weights["base"]
                + sum(value * weights.get(name, 0.0) for name, value in it.measures.items()),
                it.is_conflict,
            )
            for it in examples[path]
        ]
        conflicts = sum(it.is_conflict for it in examples[path])
        yield f"{path.name}, unseen: {conflicts} contradictions, {len(scores) - conflicts} others"
        for word, limit in (("reported", limits.reported), ("or offered", limits.offered)):
            told = Counter(is_conflict for score, is_conflict in scores if score >= limit)
            yield f"  {word:<10} {told[True]:>4} contradictions {told[False]:>4} others"


def write_weights(paths: Sequence[Path]) -> None:
    """Fit the weights to the pairs of files, to those here and to the memories of folders, and
    write them to the data.
    """
    files = (*(it for it in paths if it.is_file()), *OWN)
    examples = [it for path in files for it in measure_pairs(path)]
    examples += [it for path in paths if path.is_dir() for it in measure_memories(path)]
    weights = fit_weights(examples)
    text = WEIGHTS.read_text(encoding="utf-8")
    lines = [f"{name} = {weight:.3f}" for name, weight in weights.items()]
    head = re.split(r"(?m)^\[weights\]\n", text)[0]
    WEIGHTS.write_text(f"{head}[weights]\n" + "\n".join(lines) + "\n", encoding="utf-8")


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
    if words and words[0] in ("--fit", "--unseen"):
        paths = [*map(Path, words[1:])]
        if words[0] == "--fit":
            write_weights(paths)
        else:
            print(*score_unseen(paths), sep="\n")
        return 0
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
