"""Names that are spelled like what was typed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from ricordo.recall.blob import Blob
from ricordo.recall.likeness import corrected


class Spelling:
    """The words of many names, against which typing errors are seen."""

    def __init__(self, names: Blob) -> None:
        """`names` are spaced; their words are taken apart when they are first needed."""
        self._names = names

    def meant(self, needle: str) -> str:
        """Return `needle` with every word as it is spelled right in some name; "" where one of
        them is like no word of any, or where it is spelled right itself.
        """
        meant = [
            corrected(word, lambda letters: self._words.get(letters, ())) for word in needle.split()
        ]
        spelled = " ".join(meant)
        return spelled if all(meant) and spelled != needle else ""

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
