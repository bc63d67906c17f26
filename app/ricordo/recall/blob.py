"""Many short texts as one: a single search in C takes the place of ten thousand calls."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from ricordo.recall.words import runs

_CAMEL = re.compile("([a-z0-9])([A-Z])")


class Blob:
    """Texts, each on its own line and known by its number, counted from 0."""

    def __init__(self, texts: Sequence[str]) -> None:
        """`texts` hold no line breaks."""
        self.text = "\n" + "".join([f"{text}\n" for text in texts])
        self._starts = list(accumulate((len(text) + 1 for text in texts), initial=1))
        """Where each text begins, and where the next one would."""
        self._held: tuple[str, list[int]] | None = None
        self._spread: tuple[str, list[int]] | None = None
        """The last needle of which all texts that have it are known, and which they are: who types
        on asks for some of them.
        """

    def lines(self) -> list[str]:
        """Return all texts."""
        return self.text[1:-1].split("\n") if len(self._starts) > 1 else []

    def line(self, number: int) -> str:
        """Return the text of that number."""
        return self.text[self._starts[number] : self._starts[number + 1] - 1]

    def holding(self, needle: str) -> Iterator[int]:
        """Yield the numbers of the texts that hold `needle`, each once, in their order. A line
        break at its begin or end stands for that of the text.
        """
        held = self._held
        numbers: Iterator[int]
        if held and held[0] in needle:
            numbers = (it for it in held[1] if needle in f"\n{self.line(it)}\n")
        else:
            numbers = self._holding(needle)
        found: list[int] = []
        for number in numbers:
            found.append(number)
            yield number
        self._held = needle, found

    def _holding(self, needle: str) -> Iterator[int]:
        text, at = self.text, 0
        while (at := text.find(needle, at)) >= 0:
            number = bisect_right(self._starts, at + (needle[0] == "\n")) - 1
            yield max(0, number)
            at = text.find("\n", at + 1)
            if at < 0:
                return

    def spreading(self, letters: str) -> Iterator[int]:
        """Yield the numbers of the texts in which these letters stand in their order, whatever
        stands between them.
        """
        # to each next letter without ever going back, so that no text makes it slow
        rest = "".join(rf"[^\n{letter}]*+{letter}" for letter in letters[1:])
        pattern = re.compile(letters[0] + rest)
        spread = self._spread
        numbers: Iterator[int]
        if spread and letters.startswith(spread[0]):
            numbers = (it for it in spread[1] if pattern.search(self.line(it)))
        else:
            starts = self._starts
            numbers = (bisect_right(starts, it.start()) - 1 for it in pattern.finditer(self.text))
        found: list[int] = []
        for number in numbers:
            found.append(number)
            yield number
        self._spread = letters, found


def spaced(text: str) -> str:
    """Return `text` folded, with one blank between its words, its camel humps and path parts."""
    if not text.islower():
        text = _CAMEL.sub(r"\1 \2", text)
    return " ".join(runs(text))
