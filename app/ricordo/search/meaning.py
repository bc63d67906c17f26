"""Similarity of meaning: the vector of a text is the sum of the vectors of its tokens.

The vectors were distilled from all-MiniLM-L6-v2 by `tools/token_table.py`, for English. The table
is a SQLite file: few of its rows are read, which takes less time than importing a library for
vectors. Standard library only: the hook uses it.
"""

from __future__ import annotations

from array import array
from itertools import chain, islice
from math import cos, pi, sqrt
from operator import mul
from sys import byteorder

from ricordo.resources import find_data_file
from ricordo.storage.state_file import open_database_to_read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence

TABLE = "search/tokens.db"
SIZE = 256
"""Numbers of a vector, one byte each."""
SKETCH_SIZE = SIZE // 8
"""Bytes of a sketch."""
MOST_WORDS = 250
"""Words of a text that count: sums of more would not fit into two bytes."""
GIST = 80
"""Words of the body, at its beginning, that show what a note is about."""
LONGEST_TOKEN, LONGEST_WORD = 18, 30
"""Letters of the longest token, and of the longest text that is taken for a word: digests are none.
"""
MOST_READ = 900
"""Tokens that are read by one query; SQLite before 3.32 takes 999."""
_ZERO = 128
"""What is added to a number, so that all are positive and sums need no sign."""
_LANES = int.from_bytes(b"\1\0" * SIZE, "little")
"""A 1 in each of the lanes, two bytes wide, in which numbers are added at once."""
_COUNT = 16 * SIZE
"""The bit above the lanes, from which on the number of tokens is counted."""
_MIDDLE = 0x8000
_CONTINUED = "##"
"""Mark of tokens within words, as in WordPiece (M. Schuster, K. Nakajima, Japanese and Korean Voice
Search, 2012).
"""


class Vector:
    """The direction of a text's meaning."""

    __slots__ = ("blob", "length", "numbers")

    def __init__(self, blob: bytes, length: float | None = None) -> None:
        """Restore a vector from its `blob`, and its `length` if it was stored too."""
        self.blob = blob
        """The numbers, each as two bytes, the lower one first."""
        self.numbers = array("h", blob)
        if byteorder == "big":
            self.numbers.byteswap()
        if length is None:
            length = sqrt(sum(map(mul, self.numbers, self.numbers)))
        self.length = length

    def __bool__(self) -> bool:
        """Return whether any token of the text is known."""
        return bool(self.length)

    def similarity(self, other: Vector) -> float:
        """Return the cosine, -1 to 1; 0 if either text has no known token."""
        lengths = self.length * other.length
        return sum(map(mul, self.numbers, other.numbers)) / lengths if lengths else 0.0


NO_MEANING = Vector(b"")
"""Of a text without a known token."""


class TokenTable:
    """The table of tokens. Raises sqlite3.Error if it is damaged, OSError if it is missing."""

    def __init__(self) -> None:
        self._connection = open_database_to_read(find_data_file(TABLE), immutable=True)
        self._connection.execute("PRAGMA mmap_size = 16777216")
        self._tokens: dict[str, bytes] | None = None
        self._sums: dict[str, int] = {}
        """For each word the sum of its tokens, in lanes, and above them their number."""

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def load(self) -> None:
        """Read all tokens at once: faster for the words of many notes."""
        self._tokens = dict(self._connection.execute("SELECT token, vector FROM token"))

    def embed(self, words: Sequence[str]) -> Vector:
        """Return the vector of a text with these `words`, folded, of which the first count."""
        words = words[:MOST_WORDS]
        try:
            total = sum(map(self._sums.__getitem__, words))
        except KeyError:
            self._look_up(set(words).difference(self._sums))
            total = sum(map(self._sums.__getitem__, words))
        while (count := total >> _COUNT) > MOST_WORDS:
            total -= self._sums[words[-1]]
            words = words[:-1]
        if not count:
            return NO_MEANING
        total -= count << _COUNT
        # in two's complement: all lanes are raised to a middle of 0x8000, whose bit is then flipped
        signed = (total + _LANES * (_MIDDLE - count * _ZERO)) ^ (_LANES * _MIDDLE)
        return Vector(signed.to_bytes(2 * SIZE, "little"))

    def _look_up(self, missing: Collection[str]) -> None:
        for word, vectors in self._find_vectors(missing).items():
            self._sums[word] = sum(map(_to_lanes, vectors)) + (len(vectors) << _COUNT)

    def _find_vectors(self, words: Collection[str]) -> Mapping[str, Sequence[bytes]]:
        """Return for each of `words` the vectors of its tokens."""
        whole = self._read(words)
        rest = [word for word in words if word not in whole]
        parts = self._read(piece for word in rest for piece in _list_pieces(word))
        found = {word: [parts[token] for token in split_tokens(word, parts)] for word in rest}
        return found | {word: [whole[word]] for word in words if word not in found}

    def match(self, asked: Collection[str], texts: Sequence[Collection[str]]) -> list[float]:
        """Return for each of `texts`, folded words, how near its tokens are to those of the words
        `asked`, -1 to 1: the mean similarity of each asked token to the nearest one of the text,
        where tokens with longer vectors weigh more (O. Khattab, M. Zaharia, ColBERT, 2020, with
        tokens that do not depend on their context). Similarity is that of the signs.
        """
        vectors = self._find_vectors({*asked, *chain.from_iterable(texts)})
        signs = {
            vector: int(vector.translate(_BELOW_ZERO), 2)
            for vector in set(chain.from_iterable(vectors.values()))
        }
        wanted = [
            (signs[vector], sqrt(sum((number - _ZERO) ** 2 for number in vector)))
            for vector in {vector for word in asked for vector in vectors[word]}
        ]
        total = sum(weight for _, weight in wanted) or 1.0
        near = []
        for text in texts:
            of_text = {signs[vector] for word in text for vector in vectors[word]}
            near.append(
                sum(
                    weight * cos(pi / SIZE * min(map(int.bit_count, map(bits.__xor__, of_text))))
                    for bits, weight in wanted
                )
                / total
                if of_text
                else 0.0
            )
        return near

    def _read(self, tokens: Iterable[str]) -> Mapping[str, bytes]:
        """Return the vectors of at least those of `tokens` that are in the table."""
        if self._tokens is not None:
            return self._tokens
        pending = iter(tokens)
        known: dict[str, bytes] = {}
        while some := tuple(islice(pending, MOST_READ)):
            marks = ", ".join("?" * len(some))
            sql = f"SELECT token, vector FROM token WHERE token IN ({marks})"
            known.update(self._connection.execute(sql, some))
        return known

    def read_numbers(self) -> Mapping[str, int]:
        """Return the numbers that the model has for the tokens."""
        return dict(self._connection.execute("SELECT token, number FROM token"))

    def read_everyday(self, words: Sequence[str]) -> Mapping[str, float]:
        """Return for those of `words` that are common in messages to agents the share of messages
        that contain them.
        """
        marks = ", ".join("?" * len(words))
        sql = f"SELECT word, share FROM everyday WHERE word IN ({marks})"
        return dict(self._connection.execute(sql, tuple(words)))


def split_tokens(word: str, tokens: Container[str]) -> list[str]:
    """Return the longest of `tokens` of which `word` consists, from left to right; none if it does
    not consist of tokens, or is too long to be a word.
    """
    pieces: list[str] = []
    at, size, mark = 0, len(word), ""
    if size > LONGEST_WORD:
        return pieces
    while at < size:
        for end in range(min(size, at + LONGEST_TOKEN), at, -1):
            piece = mark + word[at:end]
            if piece in tokens:
                break
        else:
            return []
        pieces.append(piece)
        at, mark = end, _CONTINUED
    return pieces


def _list_pieces(word: str) -> Iterator[str]:
    """Yield all that may be a token of `word`."""
    size = len(word) if len(word) <= LONGEST_WORD else 0
    for at in range(size):
        mark = _CONTINUED if at else ""
        for end in range(at + 1, min(size, at + LONGEST_TOKEN) + 1):
            yield mark + word[at:end]


def _to_lanes(vector: bytes) -> int:
    """Return the numbers of a token, one in each lane, so that one addition adds all of them."""
    spread = bytearray(2 * SIZE)
    spread[::2] = vector
    return int.from_bytes(spread, "little")


_BELOW_ZERO = bytes(49 - (byte >> 7) for byte in range(256))
"""Turns a number of a token into the digit of its sign."""
_NEGATIVE = bytes(48 + (byte >> 7) for byte in range(256))
"""Turns the upper byte of a number into the digit of its sign."""


def make_sketch(vector: Vector) -> bytes:
    """Return the signs of a vector, a bit each: near vectors differ in few of them (M. Charikar,
    Similarity Estimation Techniques from Rounding Algorithms, 2002).
    """
    digits = vector.blob[1::2].translate(_NEGATIVE)
    return int(digits or b"0", 2).to_bytes(SKETCH_SIZE, "big")


def find_nearest(sketch: bytes, sketches: bytes, most: int) -> list[int]:
    """Return the places in `sketches`, joined ones, of the `most` nearest to `sketch`."""
    read, bits = int.from_bytes, int.from_bytes(sketch, "big")
    distances = [
        (read(sketches[at : at + SKETCH_SIZE], "big") ^ bits).bit_count()
        for at in range(0, len(sketches), SKETCH_SIZE)
    ]
    return sorted(range(len(distances)), key=distances.__getitem__)[:most]
