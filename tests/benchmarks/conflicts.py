"""`python -m tests.benchmarks.conflicts [--fit] [PAIRS.tsv…]`: how well contradictions are found.

Prints precision and recall on pairs of statements by kind, every pair that is told in real
memories, and what becomes of corrections that lie below the cut of an index. A file of pairs has
the columns label (1: cannot both hold), kind, left, right. Real memories and further pairs are
looked for beside the checkout and left out where they are not.

`--fit` prints the weights of `likelihood.toml` that fit the pairs, and before it how they do on
those that they were not fitted to: each language of the blind pairs in turn is held out.
"""

from __future__ import annotations

import csv
import math
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
    list_features,
    offer_candidate,
    oppose_sentences,
)
from ricordo.lint.contradictions.comparer import NoteComparer
from ricordo.lint.contradictions.frames import compare_sentences
from ricordo.lint.linter import Linter
from ricordo.lint.rule import RuleContext
from ricordo.storage.reader import read_memory

TESTS = Path(__file__).resolve().parents[1]
OWN = tuple(sorted((TESTS / "data").glob("claim_pairs*.tsv")))
SHARED = TESTS.parents[1] / "shared" / "data"
DRAWN, LINES, CUT = 12, 260, 200
DRAWS = 5
BLIND = "claim_pairs_blind"
_HEAVY, _LIGHT = 3.0, 0.4
"""Weights of a blind pair and of one that was written with the rules in mind."""
_ROUNDS, _RATE, _DAMPING = 400, 0.5, 0.002
_OFFSET, _OFFSET_OF_FREE = 2.36, -0.21
"""Below the even chance: a pair that is offered in vain costs less than one that is missed, and
more of those in free wording are missed.
"""
_FOR = ("differs", "aligned", "subject", "same topic", "same code", "exclusive")
_AGAINST = ("own topics", "other", "same tool")
"""Beginnings of the features that may only speak for, or only against, a contradiction."""
_LEAST = {"exclusive": 0.6, "differs in number": 0.1}
"""What a feature counts at least: pairs that are surely none of it are reported, not fitted."""


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
    """Yield how many of the pairs are reported, and offered, by kind."""
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
    of_kind = Counter((it.is_conflict, it.kind) for it in pairs)
    good = Counter((it.is_conflict, it.kind) for it in pairs if told[it] == it.is_conflict)
    for (is_conflict, kind), count in sorted(of_kind.items(), key=lambda it: (-it[0][0], it[0][1])):
        word = "told" if is_conflict else "not told"
        yield f"  {kind:<10} {good[is_conflict, kind]:>3} of {count:>3} rightly {word}"


class Example(NamedTuple):
    """A pair with what its likelihood is computed from."""

    is_conflict: bool
    language: str
    """Of a blind pair; else ""."""
    features: dict[str, float]
    is_reported: bool
    is_comparable: bool


def read_examples(path: Path) -> Iterator[Example]:
    """Yield the pairs of a file that a likelihood is fitted to."""
    for it in read_pairs(path):
        found = oppose_sentences(it.left, it.right)
        compared = compare_sentences(it.left, it.right)
        yield Example(
            it.is_conflict,
            it.kind if path.stem == BLIND else "",
            list_features(compared, found),
            bool(found and found.is_certain),
            compared.is_comparable and bool(found or compared.difference),
        )


def estimate(weights: dict[str, float], features: dict[str, float]) -> float:
    """Return the logarithm of the odds that a pair is a contradiction."""
    return sum(weights.get(name, 0.0) * value for name, value in features.items())


def fit(examples: Sequence[Example]) -> dict[str, float]:
    """Return the weights of a logistic regression, by AdaGrad (J. Duchi et al., 2011); each only
    speaks for what it can speak for.
    """
    todo = [it for it in examples if not it.is_reported]
    shares = [_HEAVY if it.language else _LIGHT for it in todo]
    total, weights = sum(shares), dict[str, float]()
    squares: dict[str, float] = {}
    for _ in range(_ROUNDS):
        steps: dict[str, float] = {}
        for it, share in zip(todo, shares, strict=True):
            error = 1 / (1 + math.exp(-estimate(weights, it.features))) - it.is_conflict
            for name, value in it.features.items():
                steps[name] = steps.get(name, 0.0) + error * value * share / total
        for name, step in steps.items():
            slope = step + (_DAMPING * weights.get(name, 0.0) if name != "always" else 0.0)
            squares[name] = squares.get(name, 0.0) + slope * slope
            weight = weights.get(name, 0.0) - _RATE * slope / math.sqrt(squares[name] + 1e-8)
            if name.startswith(_FOR):
                weight = max(_LEAST.get(name, 0.0), weight)
            weights[name] = min(0.0, weight) if name.startswith(_AGAINST) else weight
    offsets = {"always": _OFFSET, "free wording": _OFFSET_OF_FREE}
    return weights | {name: weights[name] + offset for name, offset in offsets.items()}


def print_fit(paths: Sequence[Path]) -> None:
    """Print how weights do on what they were not fitted to, then the weights for all pairs."""
    examples = [it for path in paths for it in read_examples(path)]
    offered: Counter[bool] = Counter()
    blind: Counter[bool] = Counter(it.is_conflict for it in examples if it.language)
    for language in sorted({it.language for it in examples} - {""}):
        weights = fit([it for it in examples if it.language != language])
        for it in (it for it in examples if it.language == language):
            is_likely = it.is_comparable and estimate(weights, it.features) > 0
            offered[it.is_conflict] += it.is_reported or is_likely
    for is_conflict, word in ((True, "contradictions"), (False, "near misses")):
        print(f"# held out: {offered[is_conflict]} of {blind[is_conflict]} {word} offered")
    print("[weights]")
    for name, weight in sorted(fit(examples).items(), key=lambda it: -it[1]):
        if round(weight, 2):
            print(f'"{name}" = {weight:.2f}')


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
    fits = "--fit" in words
    files = [Path(word) for word in words if word != "--fit"] or [
        *OWN,
        *sorted(SHARED.glob("contradiction/*.tsv")),
    ]
    if fits:
        print_fit(files)
        return 0
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
