"""`python -m tests.benchmarks.generate --notes N DIR`: a synthetic memory of N notes.

It is like those that Claude Code keeps, in what costs time: heads of the kinds and in the shares
that are found in public repositories, words in Zipf's distribution, links to few notes that many
link to, one index with an entry for every note. The same seed gives the same bytes.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

SEED = 20260101
AVERAGE_BYTES = 1350
WORDS = 20_000
"""Different words; the commonest ones make up most of any text."""
BYTES_OF_WORD = 6.9
"""What one word adds to a note on average, with its share of blanks, marks and links."""
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)

HEADS = {"v4": 109, "v3": 106, "v2": 86, "v1": 76, "v5": 71, "v6": 37, "v0": 13, "broken": 6}
"""Kinds of heads, and how many of 504 notes of public repositories have them."""
TYPES = {"feedback": 239, "project": 187, "reference": 58, "user": 7}


class Name(NamedTuple):
    """What a note is called, in its head and as a file."""

    title: str
    stem: str


class Writer:
    """Writes synthetic notes; every choice comes from one seeded source."""

    def __init__(self, notes: int, seed: int = SEED, average: int = AVERAGE_BYTES) -> None:
        """`average` is the average size of a note in bytes, its head included."""
        self._random = random.Random(seed)
        self._words = self._vocabulary()
        self._weights = list(itertools.accumulate(1 / (n + 2.7) for n in range(WORDS)))
        self._average = average
        self.names = [self._name(number) for number in range(notes)]

    def note(self, number: int) -> str:
        """Return the text of one note."""
        head = self._head(self.names[number])
        room = self._random.lognormvariate(-0.18, 0.6) * self._average - len(head)
        return head + self._body(max(20, int(room / BYTES_OF_WORD)))

    def index(self) -> Iterator[str]:
        """Return the lines of the index. Hooks are short, so that 10,000 entries fit in 1 MiB."""
        yield "# Memory\n"
        yield "\n"
        for name in self.names:
            yield f"- [{name.title}]({name.stem}.md) — {self._text(4)}\n"

    def _vocabulary(self) -> list[str]:
        syllables = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "er")]
        words: dict[str, None] = {}
        while len(words) < WORDS:
            length = self._random.choices((1, 2, 3, 4), (1, 5, 3, 1))[0]
            words["".join(self._random.choices(syllables, k=length))] = None
        return sorted(words, key=len)[:50] + sorted(words, key=hash_of)[50:]

    def _name(self, number: int) -> Name:
        words = self._random.sample(self._words, 2)
        return Name(f"{words[0].title()} {words[1]} {number}", f"{words[0]}_{words[1]}_{number}")

    def _text(self, words: int) -> str:
        return " ".join(self._random.choices(self._words, cum_weights=self._weights, k=words))

    def _head(self, name: Name) -> str:
        kind = self._random.choices(tuple(HEADS), tuple(HEADS.values()))[0]
        if kind == "v0":
            return f"# {name.title}\n\n"
        rows = [f"name: {self._random.choice((name.stem, name.title))}", self._description(kind)]
        return "\n".join(["---", *rows, *self._more_rows(kind), "---", "", ""])

    def _description(self, kind: str) -> str:
        text = self._text(14)
        if kind == "broken":
            return f"description: {text}: unquoted"
        return f'description: "{text}"' if self._random.random() < 0.23 else f"description: {text}"

    def _more_rows(self, kind: str) -> list[str]:
        note_type = f"type: {self._random.choices(tuple(TYPES), tuple(TYPES.values()))[0]}"
        session = f"originSessionId: {self._session()}"
        nested = {
            "v3": [note_type],
            "v4": ["node_type: memory", note_type, session],
            "v5": ["node_type: memory", note_type, session, f"modified: {self._moment()}"],
            "v6": [note_type],
        }
        if kind not in nested:
            return [note_type, session] if kind == "v2" else [note_type]
        custom = [f"gatilho: {self._text(3)}"] if kind == "v6" else []
        return [*custom, "metadata: ", *(f"  {row}" for row in nested[kind])]

    def _session(self) -> str:
        digits = f"{self._random.getrandbits(128):032x}"
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))

    def _moment(self) -> str:
        moment = EPOCH - timedelta(seconds=self._random.randrange(200 * 86_400))
        return moment.strftime("%Y-%m-%dT%H:%M:%S.000Z")

    def _body(self, words: int) -> str:
        parts: list[str] = []
        while words > 0:
            length = min(words, self._random.randint(8, 40))
            parts.append(self._paragraph(length))
            words -= length
        return "\n".join(parts)

    def _paragraph(self, length: int) -> str:
        kind = self._random.choices(
            ("plain", "bullets", "why", "code", "heading"), (55, 20, 12, 5, 8)
        )[0]
        text = self._sentence(length)
        if kind == "bullets":
            half = len(text) // 2
            cut = text.find(" ", half) if " " in text[half:] else half
            return f"- {text[:cut]}\n- {text[cut:].strip()}\n"
        if kind == "why":
            return f"**Why:** {text}\n\n**How to apply:** {self._text(6)}\n"
        if kind == "code":
            return f"```sh\nmake {self._text(2)}\n```\n\n{text}\n"
        if kind == "heading":
            return f"## {self._text(3)}\n\n{text}\n"
        return f"{text}\n"

    def _sentence(self, words: int) -> str:
        text = self._text(words).capitalize() + "."
        chance = self._random.random()
        if chance < 0.22:
            text += f" See {self._link()}."
        elif chance < 0.35:
            text += f" It is in `src/{self._text(1)}/{self._text(1)}.py`."
        return text

    def _link(self) -> str:
        """Return a link; few notes are linked to by many, and some links lead nowhere."""
        chance = self._random.random()
        if chance < 0.03:
            return f"[[{self._text(1)}-not-written-yet]]"
        if chance < 0.04:
            return f"[{self._text(1)}]({self._text(1)}_that_is_gone.md)"
        target = self.names[int(len(self.names) * self._random.random() ** 4)]
        return f"[[{target.stem}]]" if chance < 0.85 else f"[{target.title}]({target.stem}.md)"


def hash_of(word: str) -> int:
    """Return a number that scatters words and is the same in every process."""
    return int.from_bytes(word.encode()[:6], "little") * 2_654_435_761 % 2**32


def generate(folder: Path, notes: int, seed: int = SEED, average: int = AVERAGE_BYTES) -> None:
    """Write a memory of `notes` notes into `folder`, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    writer = Writer(notes, seed, average)
    for number, name in enumerate(writer.names):
        (folder / f"{name.stem}.md").write_bytes(writer.note(number).encode())
    (folder / "MEMORY.md").write_bytes("".join(writer.index()).encode())


def main(words: Sequence[str] | None = None) -> int:
    """Generate the memory that the words ask for."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.generate")
    parser.add_argument("folder", metavar="DIR", type=Path, help="where to; must not exist yet")
    parser.add_argument("--notes", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--average", type=int, default=AVERAGE_BYTES, help="bytes of a note")
    options = parser.parse_args(words)
    if options.folder.exists():
        parser.error(f"{options.folder} exists already")
    generate(options.folder, options.notes, options.seed, options.average)
    return 0


if __name__ == "__main__":
    sys.exit(main())
