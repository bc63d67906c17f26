"""What a note states in its own words: its description and body, without code and quotations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from ricordo.lexicon import Triggers, read_words
from ricordo.memory.note import Note
from ricordo.search.words import runs

LONGEST_STATEMENT = 4_000
"""Characters; what is longer is a dump and is judged by its beginning."""

_PUNCTUATION = re.compile("[\u00a0-\u00bf\u2000-\u206f\u3000-\u303f\uff00-\uff0f\uff1a-\uff20]")
_LETTERS = bytes(code if code >= 0x80 or chr(code).isalpha() else ord(" ") for code in range(256))
"""Keeps letters, and every byte of what is not ASCII; all else becomes a blank."""
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_NEW_STATEMENT = re.compile(r"\s*(?:[-*+]\s|\d+[.)]\s|#{1,6}\s|\||$)")
_SILENT = re.compile(
    r"`[^`\n]*`"
    r"|\]\([^)\n]*\)"
    r"|\[\[[^\]\n]*\]\]"
    r"|https?://\S+"
    r"|<[^<>\n]*>"
    r'|(?<!\w)"[^"\n]{0,300}"'
    r"|“[^”\n]{0,300}”|„[^“”\n]{0,300}[“”]|«[^»\n]{0,300}»|「[^」\n]{0,300}」|『[^』\n]{0,300}』"
    r"|(?<!\w)'[^'\n]{0,300}'(?!\w)|(?<!\w)‘[^’\n]{0,300}’(?!\w)"
    r"|~~[^~\n]*~~"
)
_EMPHASIS = re.compile(r"\*{1,3}|(?<!\w)_{1,3}|_{1,3}(?!\w)")


class ProseBlock(NamedTuple):
    """A paragraph, list item, heading or row of a table."""

    line: int
    """1-based line of the file on which it starts."""
    text: str
    """As it stands, its lines joined by newlines."""

    @property
    def spoken(self) -> str:
        """The text with code, quotations, addresses and emphasis blanked out, offsets kept."""
        return _EMPHASIS.sub(_blank, _SILENT.sub(_blank, self.text))

    @property
    def words(self) -> frozenset[str]:
        """Its words in lower case."""
        return words_in(self.text)

    def line_at(self, offset: int) -> int:
        """Return the 1-based line of the file on which the character at `offset` stands."""
        return self.line + self.text.count("\n", 0, offset)

    def quoted(self, offset: int) -> str:
        """Return the line of the statement on which the character at `offset` stands."""
        start = self.text.rfind("\n", 0, offset) + 1
        end = self.text.find("\n", offset)
        return self.text[start : end if end >= 0 else len(self.text)].strip()


class LineCounter:
    """Tells the 1-based lines of growing offsets of a text, reading it once."""

    def __init__(self, text: str) -> None:
        self._text, self._line, self._seen = text, 1, 0

    def at(self, offset: int) -> int:
        """Return the line of the character at `offset`, which is no smaller than the last."""
        self._line += self._text.count("\n", self._seen, offset)
        self._seen = offset
        return self._line


@lru_cache(maxsize=2)
def words(note: Note) -> frozenset[str]:
    """Return the words of the whole file, in lower case."""
    return words_in(note.text)


@lru_cache(maxsize=2)
def statements(note: Note) -> tuple[ProseBlock, ...]:
    """Return what the note states, the description first; fences and quoted lines are left out."""
    return tuple(_statements(note))


def telling(note: Note, triggers: Triggers) -> Iterator[ProseBlock]:
    """Yield the statements of a note that hold any of the `triggers`."""
    found = triggers.among(words(note), note.text)
    for statement in statements(note) if found else ():
        plain = statement.text.lower()
        is_near = any(part in plain for part in found)
        if is_near and triggers.are_in(statement.words, statement.text):
            yield statement


def head_line(note: Note, key: str) -> int:
    """Return the 1-based line of the head's field `key`; 1 where it is not found."""
    found = re.search(rf"^[ \t]*['\"]?{re.escape(key)}['\"]?[ \t]*:", note.text, re.MULTILINE)
    inside = found is not None and found.start() < note.head.end
    return note.line_of(found.start()) if found and inside else 1


def words_in(text: str) -> frozenset[str]:
    """Return the words of a text, in lower case."""
    # bytes are translated at a tenth of what an expression that finds words costs
    lower = text.lower()
    if not lower.isascii():
        lower = _PUNCTUATION.sub(" ", lower)
    letters = lower.encode("utf-8", "surrogatepass").translate(_LETTERS)
    return frozenset(letters.decode("utf-8", "surrogatepass").split())


def _statements(note: Note) -> Iterator[ProseBlock]:
    if note.description:
        yield ProseBlock(head_line(note, "description"), note.description[:LONGEST_STATEMENT])
    gathered: list[str] = []
    start = 0
    for number, line in _spoken_lines(note):
        if gathered and (_NEW_STATEMENT.match(line) or number != start + len(gathered)):
            yield ProseBlock(start, "\n".join(gathered)[:LONGEST_STATEMENT])
            gathered = []
        if line and not line.isspace():
            start = start if gathered else number
            gathered.append(line)
    if gathered:
        yield ProseBlock(start, "\n".join(gathered)[:LONGEST_STATEMENT])


def _spoken_lines(note: Note) -> Iterator[tuple[int, str]]:
    """The lines of the body, each with its number, without code fences and quoted lines."""
    fence = ""
    first = note.text.count("\n", 0, note.head.end) + 1
    for number, line in enumerate(note.body.split("\n"), first):
        marks = _FENCE.match(line) if "``" in line or "~~" in line else None
        if fence:
            if marks and marks[1].startswith(fence):
                fence = ""
        elif marks:
            fence = marks[1]
        elif not line.lstrip().startswith(">"):
            yield number, line


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match.group())


_SCRIPTS = {
    "ja": re.compile("[\u3040-\u30ff]"),
    "ko": re.compile("[\uac00-\ud7af]"),
    "zh": re.compile("[\u3400-\u9fff]"),
}
_FEW = 2
"""Words in which no language need show: `yes`, `go on`."""


def language_of(text: str) -> str:
    """Return the language of `text` as its two letters; "" where that cannot be told."""
    by_script = next((name for name, script in _SCRIPTS.items() if script.search(text)), "")
    if by_script:
        return by_script
    said = frozenset(runs(text))
    counts = sorted(((len(said & small), name) for name, small in _small_words()), reverse=True)
    (most, name), (next_most, _) = counts[:2]
    return name if most > next_most else ""


def are_all_in(language: str, texts: Iterable[str]) -> bool:
    """Say whether all of `texts` that have more than a few words are surely in one language, and
    there is one.
    """
    found = [language_of(text) for text in texts if len(runs(text)) > _FEW]
    return bool(language) and bool(found) and all(it == language for it in found)


@cache
def _small_words() -> tuple[tuple[str, frozenset[str]], ...]:
    """The words of each language, in letters with blanks between words, that bear no meaning."""
    filler = read_words("opposition")["filler"]
    return tuple(
        (name, frozenset(word for text in texts for word in runs(text)))
        for name, texts in filler.items()
        if name not in _SCRIPTS
    )
