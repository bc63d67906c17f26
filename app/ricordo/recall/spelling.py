"""Names that are spelled like what was typed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from ricordo.recall.blob import Blob
from ricordo.recall.likeness import corrected


class Spelling:
    """The words of many names, against which typing errors are seen."""

    def __init__(self, names: Blob) -> None:
        """`names` are spaced; their words are taken apart when they are first needed."""
        self._names = names

    def meant(self, needle: str) -> Iterator[int]:
        """Yield the numbers of the names in which every word of `needle` stands as it is spelled
        right; none where it is spelled right itself.
        """
        meant = [
            corrected(word, lambda letters: self._words.get(letters, ())) for word in needle.split()
        ]
        spelled = " ".join(word for word in meant if word)
        if all(meant) and spelled != needle:
            yield from self._names.holding(spelled)

    def prepare(self) -> None:
        """Take the words apart now, so that no key has to wait for it."""
        _ = self._words

    @cached_property
    def _words(self) -> Mapping[int, set[str]]:
        """The words of all names by how many letters they have; numbers are not misspelled."""
        words: dict[int, set[str]] = {}
        for word in set(self._names.text.split()):
            if word.isalpha():
                words.setdefault(len(word), set()).add(word)
        return words
