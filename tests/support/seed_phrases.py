"""Seed phrases as people write them down, and the prose and lists that are none, drawn from a seed.

The layouts of `HELD_OUT_LAYOUTS` were written before the code that finds phrases; what is missed in
them is counted and not looked at.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random

from ricordo.resources import read_data_text
from tests.support.secret_corpus import Sample

SIZES = (12, 15, 18, 21, 24)
WORDS = read_data_text("secrets/bip39.txt").split()
"""The 2,048 words of BIP 39, in order."""
ROOT = Path(__file__).parents[2]

Layout = Callable[[Random, list[str]], str]


def draw_phrase(random: Random, size: int, *, valid: bool) -> list[str]:
    """Return `size` words, the last of which carries the checksum of BIP 39 where `valid`."""
    if not valid:
        return random.choices(WORDS, k=size)
    checksum = size * 11 // 33
    entropy = random.getrandbits(size * 11 - checksum)
    digest = hashlib.sha256(entropy.to_bytes((size * 11 - checksum) // 8, "big")).digest()
    bits = entropy << checksum | digest[0] >> (8 - checksum)
    return [WORDS[bits >> 11 * at & 2047] for at in reversed(range(size))]


def wrapped(words: list[str], a_row: int, between: str = " ", start: str = "") -> str:
    """Return words in rows of so many."""
    rows = (between.join(words[at : at + a_row]) for at in range(0, len(words), a_row))
    return "\n".join(f"{start}{row}" for row in rows)


def numbered(words: list[str], form: str, between: str) -> str:
    """Return words with their numbers; `form` has places for `n` and `w`."""
    return between.join(form.format(n=n, w=word) for n, word in enumerate(words, 1))


def columns(words: list[str]) -> str:
    """Return a table of two columns, numbered downwards."""
    half = (len(words) + 1) // 2
    pairs = zip(words[:half], [*words[half:], ""], strict=False)
    rows = [f"| {n}. {a} | {n + half}. {b} |" for n, (a, b) in enumerate(pairs, 1)]
    return "\n".join(["| first | second |", "|---|---|", *rows])


LAYOUTS: dict[str, Layout] = {
    "in a row": lambda r, w: f"{' '.join(w)}\n",
    "after a label": lambda r, w: f"Seed phrase: {' '.join(w)}\n",
    "in a sentence": lambda r, w: f"My wallet is restored with {' '.join(w)}. Do not lose it.\n",
    "in a code span": lambda r, w: f"The old one was `{' '.join(w)}`, see the safe.\n",
    "in rows": lambda r, w: f"Backup:\n\n{wrapped(w, r.randint(3, 8))}\n",
    "in an indented block": lambda r, w: f"Words:\n\n{wrapped(w, 6, start='    ')}\n",
    "numbered, one a line": lambda r, w: f"{numbered(w, '{n}. {w}', chr(10))}\n",
    "numbered, in a row": lambda r, w: f"{numbered(w, '{n}) {w}', ' ')}\n",
    "with commas": lambda r, w: f"phrase = {', '.join(w)}\n",
    "in a list of a program": lambda r, w: f"words = {w!r}\n",
    "in JSON": lambda r, w: '{"mnemonic": "' + " ".join(w) + '", "path": "m/44"}\n',
    "in a table": lambda r, w: f"| {wrapped(w, 4, ' | ', '| ')} |\n",
    "in columns": lambda r, w: f"{columns(w)}\n",
    "in bullets": lambda r, w: f"{numbered(w, '- {w}', chr(10))}\n",
    "quoted": lambda r, w: f"{wrapped(w, 5, start='> ')}\n",
    "word and number": lambda r, w: f"{numbered(w, 'Word {n}: {w}', chr(10))}\n",
    "in capitals": lambda r, w: f"{' '.join(w).upper()}\n",
}

HELD_OUT_LAYOUTS: dict[str, Layout] = {
    "with titles": lambda r, w: f"Recovery: {' '.join(it.title() for it in w)}\n",
    "with dashes": lambda r, w: f"export SEED={'-'.join(w)}\n",
    "ordinals": lambda r, w: f"{numbered(w, '{n}th {w}', ', ')}\n",
    "comments": lambda r, w: f"{wrapped(w, 6, start='# ')}\n",
    "number signs": lambda r, w: f"{numbered(w, '#{n} {w}', ' ')}\n",
    "HTML": lambda r, w: f"<ol>{numbered(w, '<li>{w}</li>', chr(10))}</ol>\n",
    "escaped line breaks": lambda r, w: '{"text": "keep:\\n' + "\\n".join(w) + '\\n"}\n',
    "bold": lambda r, w: f"{numbered(w, '{n}. **{w}**', chr(10))}\n",
    "checklist": lambda r, w: f"{numbered(w, '- [ ] {w}', chr(10))}\n",
    "YAML": lambda r, w: f"seed:\n{numbered(w, '  - {w}', chr(10))}\n",
    "semicolons": lambda r, w: f"({'; '.join(w)})\n",
    "one a line, carriage returns": lambda r, w: "\r\n".join(w) + "\r\n",
    "in groups": lambda r, w: f"{wrapped(w, 4)}\n".replace("\n", " / ").rstrip(" /") + "\n",
    "of a chat": lambda r, w: f"ana: here you go {' '.join(w)}\nben: thanks\n",
    "two spaces and tabs": lambda r, w: "\t".join(w[:6]) + "\n" + "  ".join(w[6:]) + "\n",
    "on a command line": lambda r, w: f'cast wallet import main --mnemonic "{" ".join(w)}"\n',
}


def lay_out(random: Random, family: str, words: list[str], layout: Layout) -> Sample:
    """Return a sample whose value is all between the first and the last of the words."""
    text = layout(random, [f"⟨{word}⟩" for word in words])
    value = text[text.index("⟨") : text.rindex("⟩") + 1]
    plain, value = (re.sub("[⟨⟩]", "", it) for it in (text, value))
    return Sample(family, plain, (value,))


def as_families(layouts: dict[str, Layout]) -> dict[str, Callable[[Random, str], Sample]]:
    """Return a family of samples for each layout, in which all words have to be found."""

    def family(layout: Layout) -> Callable[[Random, str], Sample]:
        def sample(random: Random, name: str) -> Sample:
            size = random.choice(SIZES)
            words = draw_phrase(random, size, valid=random.random() < 0.5)
            return lay_out(random, name, words, layout)

        return sample

    return {name: family(layout) for name, layout in layouts.items()}


def prose() -> list[str]:
    """Return the paragraphs of the project's own documents."""
    # the pages of rules show credentials that are found
    pages = sorted(path for path in (ROOT / "docs").glob("*.md") if path.name != "rules.md")
    documents = [ROOT / "README.md", ROOT / "CHANGELOG.md", *pages]
    texts = (path.read_text("utf-8") for path in documents)
    return [it for text in texts for it in re.split(r"\n\s*\n", text) if it.count(" ") > 5]


def sentences() -> list[str]:
    """Return sentences of the project's documents."""
    found = (it for part in prose() for it in re.split(r"(?<=[.:;!?])\s+|\n(?=[-|#])", part))
    return list(dict.fromkeys(it.strip() for it in found if it.count(" ") > 3))


@cache
def common_words() -> list[str]:
    """Return the words that the project's documents use most, the most frequent first."""
    counts = Counter(re.findall(r"[a-z]{2,}", "\n".join(prose()).lower()))
    return [word for word, _ in counts.most_common(1_000)]


def list_of_words(random: Random) -> str:
    """Return a list of common words as notes have them."""
    words = random.sample(common_words(), random.randint(12, 40))
    return random.choice(
        [
            " ".join(words),
            ", ".join(words),
            "\n".join(f"- {it}" for it in words),
            numbered(words, "{n}. {w}", "\n"),
            f"| {' | '.join(words)} |",
            "|".join(words),
            str(words),
        ]
    )
