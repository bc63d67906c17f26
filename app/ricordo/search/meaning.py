"""Similarity of meaning: the vector of a text is the sum of the vectors of its tokens.

The vectors were distilled from all-MiniLM-L6-v2 by `tools/token_table.py`, for English. The table
is a SQLite file: few of its rows are read, which takes less time than importing a library for
vectors. Standard library only: the hook uses it.
"""

from __future__ import annotations

from array import array
from math import sqrt
from operator import mul
from sys import byteorder

from ricordo.resources import find_data_file
from ricordo.storage.state_file import open_database_to_read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence

TABLE = "search/tokens.db"
SIZE = 256
"""Numbers of a vector, one byte each."""
SKETCH_SIZE = SIZE // 8
"""Bytes of a sketch."""
MOST_WORDS = 250
"""Words of a text that count: sums of more would not fit into two bytes."""
LONGEST_TOKEN = 18
"""Letters of the longest token."""
_ZERO = 128
"""What is added to a number, so that all are positive and sums need no sign."""
_LANES = int.from_bytes(b"\1\0" * SIZE, "little")
"""A 1 in each of the lanes, two bytes wide, in which numbers are added at once."""
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
        self._words: dict[str, tuple[int, int]] = {}
        """For each word the sum of its tokens, in lanes, and their number."""

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def load(self) -> None:
        """Read all tokens at once: faster for the words of many notes."""
        self._tokens = dict(self._connection.execute("SELECT token, vector FROM token"))

    def embed(self, words: Sequence[str]) -> Vector:
        """Return the vector of a text with these `words`, folded, of which the first count."""
        words = words[:MOST_WORDS]
        known = self._words
        self._look_up(word for word in words if word not in known)
        total = count = 0
        for word in words:
            lanes, tokens = known[word]
            if count + tokens > MOST_WORDS:
                break
            total += lanes
            count += tokens
        if not count:
            return NO_MEANING
        # in two's complement: all lanes are raised to a middle of 0x8000, whose bit is then flipped
        signed = (total + _LANES * (_MIDDLE - count * _ZERO)) ^ (_LANES * _MIDDLE)
        return Vector(signed.to_bytes(2 * SIZE, "little"))

    def _look_up(self, words: Iterable[str]) -> None:
        missing = set(words)
        for word, vector in self._read(missing).items():
            self._words[word] = _to_lanes(vector), 1
        for word in missing.difference(self._words):
            self._words[word] = self._add_pieces(word)

    def _add_pieces(self, word: str) -> tuple[int, int]:
        """Return the sum and number of the tokens of `word`; 0 and 0 if it has none."""
        tokens = split_tokens(word, self._find_longest)
        vectors = self._read(tokens)
        return sum(_to_lanes(vectors[token]) for token in tokens), len(tokens)

    def _find_longest(self, texts: Iterable[str]) -> str:
        if self._tokens is not None:
            return find_first(texts, self._tokens)
        return max(self._read(texts), key=len, default="")

    def _read(self, tokens: Iterable[str]) -> Mapping[str, bytes]:
        if self._tokens is not None:
            known = self._tokens
            return {token: known[token] for token in tokens if token in known}
        wanted = tuple(tokens)
        marks = ", ".join("?" * len(wanted))
        sql = f"SELECT token, vector FROM token WHERE token IN ({marks})"
        return dict(self._connection.execute(sql, wanted))

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


def split_tokens(word: str, find_longest: Callable[[Iterable[str]], str]) -> list[str]:
    """Return the longest tokens of which `word` consists, from left to right; none if it does not
    consist of tokens. `find_longest` returns the first of some texts, the longest first, that is a
    token; "" if none is.
    """
    tokens: list[str] = []
    at = 0
    while at < len(word):
        mark = _CONTINUED if at else ""
        ends = range(min(len(word), at + LONGEST_TOKEN), at, -1)
        token = find_longest(mark + word[at:end] for end in ends)
        if not token:
            return []
        tokens.append(token)
        at += len(token) - len(mark)
    return tokens


def find_first(texts: Iterable[str], tokens: Container[str]) -> str:
    """Return the first of `texts` that is among `tokens`; "" if none is."""
    return next((text for text in texts if text in tokens), "")


def _to_lanes(vector: bytes) -> int:
    """Return the numbers of a token, one in each lane, so that one addition adds all of them."""
    spread = bytearray(2 * SIZE)
    spread[::2] = vector
    return int.from_bytes(spread, "little")


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
