"""The prose of a note: the statements of its description and body, without code and quotations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date
from functools import cache, lru_cache
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from ricordo.dates import find_dates, find_day_in_title
from ricordo.lexicon import Triggers, build_alternation, list_expressions, lower_text
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily
from ricordo.search.words import count_stop_words, split_runs

MAX_STATEMENT = 4_000
"""Characters; longer statements are dumps, of which only the beginning is read."""

_PUNCTUATION = compile_lazily("[\u00a0-\u00bf\u2000-\u206f\u3000-\u303f\uff00-\uff0f\uff1a-\uff20]")
_LETTERS = bytes(code if code >= 0x80 or chr(code).isalpha() else ord(" ") for code in range(256))
"""Keeps letters and all bytes of non-ASCII characters; all else becomes a blank."""
HEADING = compile_lazily(r"(#{1,6})\s+(.*)")
_FENCE = compile_lazily(r" {0,3}(`{3,}|~{3,})")
_NEW_STATEMENT = compile_lazily(r"\s*(?:[-*+]\s|\d+[.)]\s|#{1,6}\s|\||$)")
_SILENT = compile_lazily(
    r"`[^`\n]*`"
    r"|\]\([^)\n]*\)"
    r"|\[\[[^\]\n]*\]\]"
    r"|https?://\S+"
    r"|<[^<>\n]*>"
    r'|(?<!\w)"[^"\n]{0,300}"'
    r"|“[^”\n]{0,300}”|„[^“”\n]{0,300}[“”]|«[^»\n]{0,300}»|「[^」\n]{0,300}」|『[^』\n]{0,300}』"
    r"|《[^》\n]{0,300}》"
    r"|(?<!\w)'[^'\n]{0,300}'(?!\w)|(?<!\w)‘[^’\n]{0,300}’(?!\w)"
    r"|~~[^~\n]*~~"
)
CODE = compile_lazily(r"(?<!`)(`+)(?!`)([^`\n]{1,300}?)(?<!`)\1(?!`)")
"""What is in backticks, its second group without them."""
_EMPHASIS = compile_lazily(r"\*{1,3}|(?<!\w)_{1,3}|_{1,3}(?!\w)")
DONE_MARK = compile_lazily(
    r"(?<!not )(?<!NOT )(?<!Not )\b(?:BUILT|DONE|SHIPPED|MERGED|COMPLETED?|IMPLEMENTED|FINISHED"
    r"|RESOLVED|LANDED|FERTIG|ERLEDIGT|TERMIN[ÉE]E?S?|HECHO|CONCLU[IÍ]D[OA]|ГОТОВО)\b|[✅✓✔☑]"
    r"|(?<![未미])(?:已完成|已实现|已上线|完了|완료)(?![率度])"
)
"""Done, written so that nobody overlooks it."""
_PLACEHOLDER = compile_lazily(
    r"^\s*(?:#{1,6}\s.{0,120}|\*\*[^*]+:\*\*|"
    r"(?:[-*+]\s*)?(?:TODO|TBD|FIXME|XXX|WIP|\.{3}|…|-+)[.:!]?)?\s*$",
    re.IGNORECASE,
)
"""A line that says nothing; a longer heading is a passage."""
_SHORT = 400
"""Characters; a longer body always says something."""
_DONE_ASIDE = compile_lazily(
    r"\((?:done|completed?|finished|shipped|merged|resolved|fertig|erledigt|terminée?|hecho|completad[oa]"
    r"|concluíd[oa]|feito|fatto|completat[oa]|готово)(?=[\s,;:)–—-])",
    re.IGNORECASE,
)
"""Done, in brackets behind what is."""


class ProseBlock(NamedTuple):
    """A paragraph, list item, heading or row of a table."""

    line: int
    """1-based first line in the file."""
    text: str
    """The text as written, with its line ends."""

    @property
    def prose(self) -> str:
        """The text with code, quotations, addresses and emphasis blanked out, offsets kept."""
        return _EMPHASIS.sub(_blank, _SILENT.sub(_blank, self.text))

    @property
    def words(self) -> frozenset[str]:
        """Its words in lower case."""
        return split_words(self.text)

    @property
    def last_line(self) -> int:
        """Its 1-based last line in the file."""
        return self.line_at(len(self.text))

    def line_at(self, offset: int) -> int:
        """Return the 1-based line in the file of the character at `offset`."""
        return self.line + self.text.count("\n", 0, offset)

    def line_text_at(self, offset: int) -> str:
        """Return the text of the line of the character at `offset`."""
        start = self.text.rfind("\n", 0, offset) + 1
        end = self.text.find("\n", offset)
        return self.text[start : end if end >= 0 else len(self.text)].strip()


class LineCounter:
    """Converts growing offsets of a text to 1-based lines, reading it once."""

    def __init__(self, text: str) -> None:
        self._text, self._line, self._offset = text, 1, 0

    def at(self, offset: int) -> int:
        """Return the line of the character at `offset`, which is no smaller than the last."""
        self._line += self._text.count("\n", self._offset, offset)
        self._offset = offset
        return self._line


@lru_cache(maxsize=2)
def words_of_note(note: Note) -> frozenset[str]:
    """Return the words of the whole file, in lower case."""
    return split_words(note.text)


@lru_cache(maxsize=2)
def extract_statements(note: Note) -> tuple[ProseBlock, ...]:
    """Return the statements of the note, its description first, without fences and quoted lines."""
    return tuple(_split_statements(note))


def list_body(note: Note) -> list[ProseBlock]:
    """Return the statements of a note without its description."""
    first = first_line_of_body(note)
    return [block for block in extract_statements(note) if block.line >= first]


def first_line_of_body(note: Note) -> int:
    """Return the 1-based line on which the body of a note begins."""
    return note.text.count("\n", 0, note.frontmatter.end) + 1


def find_statements(note: Note, triggers: Triggers) -> Iterator[ProseBlock]:
    """Yield the statements of a note that contain any of the `triggers`."""
    present = triggers.find_in(words_of_note(note), note.text)
    for statement in extract_statements(note) if present else ():
        plain = statement.text.lower()
        may_match = any(part in plain for part in present)
        if may_match and triggers.are_in(statement.words, statement.text):
            yield statement


def says_nothing(note: Note, start: int) -> bool:
    """Return whether a note has nothing but headings, labels or placeholders from `start` on."""
    is_short = len(note.text) - start <= _SHORT
    return is_short and all(map(_PLACEHOLDER.match, note.text[start:].split("\n")))


def is_record(text: str) -> bool:
    """Return whether a statement reports work that is done, or something of a day."""
    is_done = DONE_MARK.search(text) or _DONE_ASIDE.search(text)
    return bool(is_done) or any(find_dates(text))


def find_day_of_passage(note: Note, line: int) -> date | None:
    """Return the day of which the passage at the 1-based `line` tells by its title: a heading above
    it, the nearest first, or the name of the note; None where none of them has a date.
    """
    titles = (*_headings_above(note, line), note.name, note.stem)
    return next((day for title in titles if (day := find_day_in_title(title))), None)


@lru_cache(maxsize=4)
def find_backlinks(note: Note) -> frozenset[int]:
    """Return the 1-based lines of the sections with the notes that link to this one."""
    if not _backlinks().search(lower_text(note.text)):
        return frozenset()
    found: set[int] = set()
    depth = 0
    for number, line in enumerate(note.text.split("\n"), 1):
        if heading := HEADING.match(line):
            marks = len(heading[1])
            if not depth or marks <= depth:
                title = lower_text(heading[2]).strip(" :*_#")
                depth = marks if _backlinks().fullmatch(title) else 0
        if depth:
            found.add(number)
    return frozenset(found)


@cache
def _backlinks() -> re.Pattern[str]:
    return re.compile(build_alternation(list_expressions("probes", "backlinks")))


def _headings_above(note: Note, line: int) -> Iterator[str]:
    level = 7
    for text in reversed(note.text.split("\n")[: line - 1]):
        marks = len(text) - len(text.lstrip("#"))
        if 0 < marks < level and text[marks : marks + 1].isspace():
            level = marks
            yield text


def find_field_line(note: Note, key: str) -> int:
    """Return the 1-based line of the frontmatter field `key`; 1 where it is not found."""
    match = re.search(rf"^[ \t]*['\"]?{re.escape(key)}['\"]?[ \t]*:", note.text, re.MULTILINE)
    return note.line_of(match.start()) if match and match.start() < note.frontmatter.end else 1


def split_words(text: str) -> frozenset[str]:
    """Return the words of a text, in lower case."""
    # ten times faster than a regular expression for words
    lower = text.lower()
    if not lower.isascii():
        lower = _PUNCTUATION.sub(" ", lower)
    letters = lower.encode("utf-8", "surrogatepass").translate(_LETTERS)
    return frozenset(letters.decode("utf-8", "surrogatepass").split())


def _split_statements(note: Note) -> Iterator[ProseBlock]:
    if note.description:
        yield ProseBlock(find_field_line(note, "description"), note.description[:MAX_STATEMENT])
    lines: list[str] = []
    start = 0
    for number, line in list_prose_lines(note):
        if lines and (not line or number != start + len(lines) or _NEW_STATEMENT.match(line)):
            yield ProseBlock(start, "\n".join(lines)[:MAX_STATEMENT])
            lines = []
        if line and not line.isspace():
            start = start if lines else number
            lines.append(line)
    if lines:
        yield ProseBlock(start, "\n".join(lines)[:MAX_STATEMENT])


def find_fences(note: Note) -> Iterator[tuple[int, list[str]]]:
    """Yield the code fences of the body, each with the 1-based line of its first line of code and
    its lines.
    """
    for opening, lines in groupby(_list_lines(note), key=itemgetter(2)):
        if opening:
            yield opening + 1, [line for _, line, _ in lines]


def list_prose_lines(note: Note) -> Iterator[tuple[int, str]]:
    """Yield the lines of the body with their numbers, without code fences and quoted lines."""
    for number, line, opening in _list_lines(note):
        if not opening and (">" not in line or not line.lstrip().startswith(">")):
            yield number, line


def _list_lines(note: Note) -> Iterator[tuple[int, str, int]]:
    """Yield the lines of the body with their numbers, but for the marks of code fences, and the
    number of the line that opened the fence around each; 0 for prose.
    """
    fence, opening = "", 0
    for number, line in enumerate(note.body.split("\n"), first_line_of_body(note)):
        marks = _FENCE.match(line) if "``" in line or "~~" in line else None
        if fence and marks and marks[1].startswith(fence):
            fence, opening = "", 0
        elif marks and not fence:
            fence, opening = marks[1], number
        else:
            yield number, line, opening


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match.group())


_SCRIPTS = {
    "ja": compile_lazily("[\u3040-\u30ff]"),
    "ko": compile_lazily("[\uac00-\ud7af]"),
    "zh": compile_lazily("[\u3400-\u9fff]"),
    "uk": compile_lazily("[\u0404\u0406\u0407\u0490\u0454\u0456\u0457\u0491]"),
    "ru": compile_lazily("[\u0400-\u04ff]"),
}
_FEW = 2
"""Words of a text too short for its language to show: `yes`, `go on`."""


def detect_language(text: str) -> str:
    """Return the two-letter language of `text`; "" where it is not clear."""
    scripts = _SCRIPTS.items() if not text.isascii() else ()
    by_script = next((name for name, script in scripts if script.search(text)), "")
    if by_script:
        return by_script
    counts = count_stop_words(split_runs(text))
    name, other = sorted(counts, key=lambda each: -counts[each])[:2]
    return name if counts[name] > counts[other] else ""


def is_all_in_language(language: str, texts: Iterable[str]) -> bool:
    """Return whether all of `texts` with more than a few words are in `language`, and there is at
    least one.
    """
    languages = {detect_language(text) for text in texts if len(split_runs(text)) > _FEW}
    return bool(language) and languages == {language}
