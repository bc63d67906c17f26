"""What of credentials is kept back: `python -m tests.benchmarks.redaction`.

On the corpus with a seed that was never used before, on families that the rules were never bettered
by, on what only looks like a credential; and, where `--published` names a folder, on examples that
others have published (`tests/benchmarks/published.py`). A value counts as kept back where no
character of it is left. Ends with 1 where a target is missed.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from random import Random
from typing import NamedTuple

from ricordo.llm.redaction import Redaction
from ricordo.secrets import find_secrets
from tests.benchmarks.published import Example, examples
from tests.support import held_out_secrets, secret_corpus, secret_families, seed_phrases
from tests.support.secret_corpus import Sample

EACH = 200
"""Samples of every family."""
DEVELOPMENT = 20_261_121
"""The seed of the tests, by which rules are written."""
MEGABYTE = 1_000_000
_MOST_FLAGGED = 0.002
_SLOWEST = 1.0
"""Seconds for a megabyte."""

Families = Mapping[str, Callable[[Random, str], Sample]]


class Recall(NamedTuple):
    """How much of the credentials was found."""

    found: int
    of: int
    by_family: Mapping[str, float]

    @property
    def share(self) -> float:
        """The mean over all families."""
        return sum(self.by_family.values()) / len(self.by_family)


def is_covered(text: str, start: int, end: int) -> bool:
    """Say whether every character of a value is kept back, but for blanks."""
    inside = {at for _, first, last in find_secrets(text) for at in range(first, last)}
    return all(at in inside or text[at].isspace() for at in range(start, end))


def recall(families: Families, seed: int, each: int = EACH) -> Recall:
    """Return how much of the values in `each` samples of the families is kept back whole."""
    random = Random(seed)
    by_family: dict[str, float] = {}
    found = of = 0
    for family, make in families.items():
        samples = [make(random, family) for _ in range(each)]
        hits = [
            is_covered(it.text, at := it.text.index(value), at + len(value))
            for it in samples
            for value in it.values
        ]
        by_family[family] = sum(hits) / len(hits)
        found, of = found + sum(hits), of + len(hits)
    return Recall(found, of, by_family)


def flagged(families: Families, seed: int, each: int = EACH) -> tuple[int, int]:
    """Return how many look-alikes were taken for credentials, and of how many."""
    random = Random(seed)
    samples = [make(random, family) for family, make in families.items() for _ in range(each)]
    return sum(bool(find_secrets(it.text)) for it in samples), len(samples)


def missed_phrases(seed: int, each: int = 1_000) -> dict[str, int]:
    """Return how many of `each` random seed phrases are not found, by length and checksum."""
    random = Random(seed)
    layouts = list({**seed_phrases.LAYOUTS, **seed_phrases.HELD_OUT_LAYOUTS}.values())
    missed: dict[str, int] = {}
    for size in seed_phrases.SIZES:
        for valid in (True, False):
            phrases = (seed_phrases.draw_phrase(random, size, valid=valid) for _ in range(each))
            samples = [
                seed_phrases.lay_out(random, "", words, random.choice(layouts)) for words in phrases
            ]
            name = f"{size} words, {'valid' if valid else 'any'}"
            missed[name] = sum(not _is_found(it) for it in samples)
    return missed


def taken_prose(seed: int, count: int = 1_000) -> tuple[int, int]:
    """Return how many of `count` sentences and of `count` lists of words are taken for secrets."""
    random = Random(seed)
    sentences = random.sample(seed_phrases.sentences(), count)
    lists = [seed_phrases.list_of_words(random) for _ in range(count)]
    return sum(map(_is_taken, sentences)), sum(map(_is_taken, lists))


def _is_found(sample: Sample) -> bool:
    places = [(sample.text.index(it), len(it)) for it in sample.values]
    return all(is_covered(sample.text, at, at + length) for at, length in places)


def _is_taken(text: str) -> bool:
    return bool(find_secrets(text))


def published_recall(found: Iterable[Example]) -> tuple[int, int]:
    """Return of how many examples the credential is kept back, and of how many there are."""
    hits = [any(is_covered(it.text, *span) for span in it.spans) for it in found]
    return sum(hits), len(hits)


def seconds_for_a_megabyte(seed: int) -> float:
    """Return how long notes with a credential in every two kilobytes take to be redacted."""
    random = Random(seed)
    words = [*secret_corpus.WORDS, *secret_corpus.PLACES, *secret_corpus.SYSTEMS, "the", "is", "of"]
    parts: list[str] = []
    for sample in secret_corpus.corpus(seed, each=12)[: MEGABYTE // 2_000]:
        line = " ".join(random.choices(words, k=280))
        parts += [f"{line[i : i + 80]}.\n" for i in range(0, 1_900, 80)] + [sample.text]
    text = ("".join(parts) * 2)[:MEGABYTE]
    find_secrets("password: warm2up")
    start = time.process_time()
    redaction = Redaction()
    redaction.seal(redaction.redact("note.md", text))
    return time.process_time() - start


def main() -> int:
    """Print the figures; return 1 where a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "big"))
    parser.add_argument("--published", type=Path, action="append", default=[], metavar="FOLDER")
    given = parser.parse_args()
    print(f"{EACH} samples of every family, seed {given.seed}")
    kept = [_told(*row, given.seed) for row in _ROWS]
    kept.append(_told("corpus, seed of development", secret_corpus.SECRETS, 0.98, DEVELOPMENT))
    for name, families in _LOOKALIKES:
        wrong, of = flagged(families, given.seed)
        kept.append(wrong <= _MOST_FLAGGED * of)
        print(f"{name}: {wrong} of {of} flagged ({wrong / of:.2%}, at most {_MOST_FLAGGED:.1%})")
    missed = missed_phrases(given.seed)
    kept.append(not any(missed.values()))
    print(f"seed phrases missed, of 1,000 each: {missed}")
    taken = taken_prose(given.seed)
    kept.append(not any(taken))
    print(f"taken for secrets: {taken[0]} of 1,000 sentences, {taken[1]} of 1,000 lists of words")
    kept += [_told_published(folder) for folder in given.published]
    if not given.published:
        print("published examples: not measured; --published names a folder of them")
    took = seconds_for_a_megabyte(given.seed)
    kept.append(took <= _SLOWEST)
    print(f"1 MB of notes: {took:.2f} s of processor (at most {_SLOWEST:.0f} s)")
    return int(not all(kept))


def _told(name: str, families: Families, target: float, seed: int) -> bool:
    score = recall(families, seed)
    low = {family: round(it, 3) for family, it in score.by_family.items() if it < target}
    print(f"{name}: {score.share:.4f} (target {target}), {score.found} of {score.of} values", low)
    return score.share >= target


def _told_published(folder: Path) -> bool:
    found = list(examples(folder))
    hits, of = published_recall(found)
    print(f"published, {folder.name}, all: {hits / of:.3f}, {hits} of {of}")
    hits, of = published_recall(it for it in found if it.is_random)
    print(f"published, {folder.name}, none that stand for a value: {hits / of:.3f} ", end="")
    print(f"(target {_PUBLISHED}), {hits} of {of}")
    return hits >= _PUBLISHED * of


_PUBLISHED = 0.85
_ROWS: tuple[tuple[str, Families, float], ...] = (
    ("corpus", secret_corpus.SECRETS, 0.98),
    ("families that were held out once", secret_families.SECRETS, 0.95),
    ("families held out", held_out_secrets.HELD_OUT, 0.95),
    ("seed phrases", seed_phrases.as_families(seed_phrases.LAYOUTS), 1.0),
    ("seed phrases, held out", seed_phrases.as_families(seed_phrases.HELD_OUT_LAYOUTS), 1.0),
)
_LOOKALIKES: tuple[tuple[str, Families], ...] = (
    ("look-alikes of the corpus", secret_corpus.LOOKALIKES),
    ("more look-alikes", secret_families.LOOKALIKES),
    ("look-alikes held out", held_out_secrets.HELD_OUT_LOOKALIKES),
)


if __name__ == "__main__":
    sys.exit(main())
