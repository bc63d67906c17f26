"""Find an exact phrase in a text as people read it: through markup, punctuation and line ends."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ricordo.search.words import fold, is_unspaced, split_runs

_MARKUP = (
    # where a link or an image leads
    r"\]\([^()\s]*(?:\s+\"[^\"\n]*\")?\)",
    r"\]\[[^\[\]\n]*\]",
    r"\[\[[^\[\]|\n]*\|",
    r"</?(?:b|br|code|del|em|i|ins|kbd|mark|s|small|span|strong|sub|sup|u)\b[^<>\n]*>",
    r"&[a-z]+;",
)
_BLOCK = r"[ \t]*(?:\r?\n|$|[-+*][ \t]|\d+[.)][ \t]|#{1,6}[ \t]|\||```|~~~)"
"""What begins a line that does not continue the sentence of the line before it."""
_GAP = rf"(?:{'|'.join(_MARKUP)}|_|[^\w\n|]|\n(?!{_BLOCK}))"
"""One piece between two words of a sentence; a cell of a table ends with `|`."""
_INSIDE = r"[*_~`\s]*+"
"""Between two characters of a script without blanks."""


class Phrase:
    """A phrase, ready to be found in many texts."""

    def __init__(self, text: str) -> None:
        """A phrase of one word, or of signs alone, is found only as it is written."""
        self.literal = fold(text)
        """The phrase as typed, folded."""
        self._words = split_runs(text)
        self._pattern: re.Pattern[str] | None = None

    def occurs_in(self, folded: str) -> bool:
        """Return whether a text, `folded`, contains the phrase."""
        return self.literal in folded or next(self._find_loosely(folded), None) is not None

    def find(self, folded: str) -> Iterator[tuple[int, int]]:
        """Yield start and end of each occurrence in a text, `folded`."""
        ranges = list(self._find_loosely(folded))
        if ranges or not self.literal.strip():
            yield from ranges
            return
        start = folded.find(self.literal)
        while start >= 0:
            end = start + len(self.literal)
            yield start, end
            start = folded.find(self.literal, end)

    def _find_loosely(self, folded: str) -> Iterator[tuple[int, int]]:
        words = self._words
        if len(words) < 2 and not any(map(is_unspaced, words)):
            return
        # most texts lack a word, which is seen at once
        if all(word in folded for word in words if not is_unspaced(word)):
            self._pattern = self._pattern or re.compile(_build_pattern(words))
            yield from (match.span() for match in self._pattern.finditer(folded))


def _build_pattern(words: list[str]) -> str:
    pattern = before = ""
    for word in words:
        gap = "" if not before else f"{_GAP}*+" if _can_touch(before, word) else f"{_GAP}++"
        inside = _INSIDE if is_unspaced(word) else ""
        pattern += gap + inside.join(map(re.escape, word))
        before = word
    return pattern


def _can_touch(before: str, word: str) -> bool:
    """Return whether two words need nothing between them: one is of a script without blanks."""
    return is_unspaced(before[-1]) or is_unspaced(word[0])
