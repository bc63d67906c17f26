"""The single statements of a note, each with its first line, and what they are found by."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, islice
from typing import NamedTuple
from zlib import crc32

from ricordo.dates import find_day_in_title
from ricordo.lexicon import is_abbreviation, load_filler, lower_text
from ricordo.lint.contradictions import words as known
from ricordo.lint.contradictions.claim import is_plain, may_bind
from ricordo.lint.contradictions.facts import (
    NamedFact,
    cut_quote,
    extract_facts,
    find_codes,
    has_ticket,
    may_have_facts,
)
from ricordo.lint.contradictions.plain_words import MAX_LENGTH
from ricordo.lint.contradictions.words import load_pattern
from ricordo.lint.prose import ProseBlock, extract_statements, find_day_of_passage
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily
from ricordo.search.words import split_words, stem_word

MAX_STATEMENTS = 80
"""Statements of one note that are compared; a longer note is a log."""
_LONGEST_LABEL = 40
_SHORTEST_NAME = 4
"""Letters of the name of a note that is looked for in its statements."""
_SHORTEST = 6
"""Characters."""
_NEAR = 40
"""Characters on both sides of a full stop by which it may be that of an abbreviation."""
_END = compile_lazily(
    r"[.!?;*\n。！？；](?:(?<=[.!?])[\"'”’)\]]*\s+(?=\S)|(?<=[。！？；])|(?<=;)\s+(?=\S)"
    r"|(?<=\n)(?=\s*(?:[-*+#|]|\d+[.)])\s)|(?<=\s\*)(?=\*[^*\n]{1,40}:\*\*\s))"
)
"""The end of a sentence or item, or the first mark of a label, before which a field ends. It begins
with one of a few characters, which are found fast.
"""
_MAY_END = compile_lazily(r"[.!?;:](?:(?<=[.!?;]) |(?<=\.)[\")*\]]|(?<=:)\*\* )")
"""What is in a text of one line with several sentences."""
_LIST_MARK = compile_lazily(r"\s*(?:[-*+]\s+|\d+[.)]\s+)+")
_LABEL = compile_lazily(r"\*\*[^*\n]{1,40}?:?\*\*:?\s*(?=\S)")
_NOTHING_SAID = compile_lazily(r"\s*(?:#{1,6}\s|\||[-*+]\s+\[[ xX]\]\s|<!--)")
"""Headings, rows of tables, tasks with a box, comments."""
_REFERENCE = compile_lazily(r"\[\[[^\]\n]*\]\]|\[[^\]\n]*\]\((?!https?:)[^)\n]*\)")
"""A link to a note."""
_ADDRESS = compile_lazily(r"https?://[^\s)]+")
_ASIDE = compile_lazily(r"\([^()\n]*\)|（[^（）\n]*）")
_FEWEST_BESIDE = 3
"""Words of a sentence beside the links to notes that it has, an aside apart; of scripts without
blanks twice as many characters.
"""
_WORDS = compile_lazily(r"[^\W_]+")
_CELLS = compile_lazily(r"\s\|\s.*\s\|\s")
"""Marks between the cells of a table."""
_DATE = r"[^\w\n]*(?:20\d\d|\d{1,2}[./]\d{1,2}[./]20\d\d)"
_DATED = compile_lazily(_DATE)
"""The beginning of a heading with a date, behind its first mark."""
_DATED_HEADING = compile_lazily(rf"\n#{_DATE}")
_QUOTED = compile_lazily(r"[\"“„«「].{12,}[\"”“»」]")


class NoteStatement(NamedTuple):
    """A statement and its place."""

    line: int
    """Its 1-based first line in the file."""
    text: str
    in_frontmatter: bool = False
    """Whether it is from the description, which mostly repeats the body."""


def extract_note_statements(note: Note) -> tuple[NoteStatement, ...]:
    """Return the statements of `note`, sentence by sentence, its description first."""
    found = [it for item in _extract_items(note) for it in item]
    return tuple(found[:MAX_STATEMENTS])


def _extract_items(note: Note) -> Iterator[list[NoteStatement]]:
    """Yield the statements of each paragraph and item of `note`, about as many as are compared."""
    count = 0
    body = note.line_of(note.frontmatter.end) if note.frontmatter.end else 0
    for block in extract_statements(note):
        if not _NOTHING_SAID.match(block.text) and not _gives_reason(block):
            for item in _split_items(block, block.line < body):
                count += len(item)
                yield item
        if count >= MAX_STATEMENTS:
            return


def _build_passages(items: Iterable[Sequence[NoteStatement]]) -> Iterator[str]:
    """Yield for each statement what is said with it: its paragraph or item, or as much of that as
    is not too long, the sentences behind it first.
    """
    for item in items:
        texts = [it.text for it in item]
        if len(texts) == 1:
            yield texts[0]
            continue
        for at, text in enumerate(texts):
            first = last = at
            size = len(text)
            while last + 1 < len(texts) and size + len(texts[last + 1]) < MAX_LENGTH:
                last += 1
                size += len(texts[last]) + 1
            while first and size + len(texts[first - 1]) < MAX_LENGTH:
                first -= 1
                size += len(texts[first]) + 1
            yield " ".join(texts[first : last + 1]) if first < last else text


def split_sentences(text: str) -> Iterator[str]:
    """Yield up to `MAX_STATEMENTS` sentences of a text that is no note, such as a message of the
    user.
    """
    said = chain.from_iterable(_split_items(ProseBlock(1, text), False))
    yield from (it.text for it in islice(said, MAX_STATEMENTS))


def _gives_reason(statement: ProseBlock) -> bool:
    """Return whether it only gives a reason, like `**Why:**`."""
    begin = statement.text[:_LONGEST_LABEL]
    if ":" not in begin:
        return False
    begin = lower_text(begin.lstrip(" *-"))
    label, colon, _ = begin.partition(":")
    return bool(colon) and bool(load_pattern("why").match(label))


def _split_items(block: ProseBlock, in_head: bool) -> Iterator[list[NoteStatement]]:
    """Yield the sentences of each item of a block."""
    text = block.text
    item: list[NoteStatement] = []
    start = 0
    for end in _list_ends(text):
        begin = end - len(text[start:end].lstrip())
        if not start or "\n" in text[start - 1 : begin]:
            mark = _behind_marks(text, begin, end)
            if mark > begin and item:
                yield item
                item = []
            begin = mark
        start = end
        if _SHORTEST <= end - begin <= MAX_LENGTH:
            plain = _join_blanks(text[begin:end])
            if _says_something(plain):
                item.append(NoteStatement(block.line_at(begin), plain, in_head))
    if item:
        yield item


def _join_blanks(text: str) -> str:
    """Return a text with single blanks, and none around it."""
    # most have no others: a line end, a tab and the like cannot be printed
    if text.isprintable() and "  " not in text:
        return text.strip()
    return " ".join(text.split())


def _says_something(text: str) -> bool:
    """Return whether a text is more than a quotation, links with a word such as `see`, or cells of
    a table.
    """
    if ('"' in text or not text.isascii()) and _QUOTED.search(text):
        return False
    if "|" in text and _CELLS.search(text):
        return False
    rest = _ADDRESS.sub(" ", text) if "://" in text else text
    rest, links = _REFERENCE.subn(" ", rest) if "[" in text else (rest, 0)
    if not links:
        return any(map(str.isalnum, rest))
    words = _WORDS.findall(_ASIDE.sub(" ", rest))
    size = sum(1 if it.isascii() else max(1, len(it) // 2) for it in words)
    return size >= _FEWEST_BESIDE


def _behind_marks(text: str, begin: int, end: int) -> int:
    """Return the start of a statement after its list mark and label."""
    # most begin with a letter
    for mark in (_LIST_MARK, _LABEL) if not text[begin : begin + 1].isalpha() else ():
        if found := mark.match(text, begin, end):
            begin = found.end()
    return begin


def _list_ends(text: str) -> list[int]:
    """Return the ends of the sentences of a text, in order."""
    rest = text.rstrip()
    if rest.isascii() and "\n" not in rest and not _MAY_END.search(rest):
        return [len(text)]
    ends: list[int] = []
    last = 0
    for match in _END.finditer(rest):
        start, end = match.span()
        at = start + 1 if rest[start] in ".!?" else start
        if rest[start] == "*":
            end = start
        near = rest[max(0, at - _NEAR) : at], rest[at : at + _NEAR]
        # a label behind an abbreviation begins no field
        if end > last and not (near[0].endswith(".") and is_abbreviation(*near)):
            ends.append(end)
        last = end
    return [*ends, len(text)]


_SAMPLE = 0b111
"""The bits that are 0 in sampled word triples: one in eight."""
_FEW = 64
"""Words up to which all triples of a text are used: a sample of a short one is too small."""
_SAID_BY_THE_WAY = 20
"""Words; a longer sentence is no plain statement, which can be aligned with another."""
_LONGEST = 60
"""Words; a longer one is not compared at all. Of scripts without blanks pairs of characters."""

_CLASS = "="


class QuotedFact(NamedTuple):
    """A fact and the words that state it."""

    fact: NamedFact
    statement: NoteStatement
    day: str
    """The day of the passage or of the last change of the note, in ISO form; "" where unknown."""


class NoteDigest(NamedTuple):
    """The cached data of one note."""

    shingles: frozenset[int]
    """Word triples: all of a short text, a sample of a long one."""
    statements: tuple[NoteStatement, ...]
    passages: tuple[str, ...]
    """For each statement what is said with it in one paragraph."""
    subjects: tuple[tuple[str, ...], ...]
    """For each statement, the words by which a contradicting one is found; none in a log."""
    may_exclude: tuple[bool, ...]
    """For each statement, whether it may give a value that excludes another: it is short, or about
    a ticket, and not without any word of such values.
    """
    facts: tuple[QuotedFact, ...]
    """The facts about named things, without those of a day."""
    codes: frozenset[str]
    """The short codes in its name, title and headings."""
    forms: tuple[tuple[str, str], ...]
    """The statements that name the note: without that name, and as they are."""


def build_digest(note: Note) -> NoteDigest:
    """Return the digest of `note`."""
    items = list(_extract_items(note))
    said = tuple([it for item in items for it in item][:MAX_STATEMENTS])
    passages = tuple(islice(_build_passages(items), MAX_STATEMENTS))
    found = [split_words(it.text) for it in said]
    body = [
        word for it, its in zip(said, found, strict=True) if not it.in_frontmatter for word in its
    ]
    shingles = _sketch(body or split_words(note.body))
    logged = _find_log_lines(note)
    facts = tuple(_find_facts(note, logged))
    codes = frozenset(find_codes(note))
    subjects = tuple(
        [
            _keys_of(words) if len(words) <= _LONGEST and it.line not in logged else ()
            for it, words in zip(said, found, strict=True)
        ]
    )
    may_exclude = tuple(
        [
            bool(keys)
            and (
                len(words) <= _SAID_BY_THE_WAY
                or (len(words) <= 2 * _SAID_BY_THE_WAY and has_ticket(it.text))
            )
            # most have nothing but words, none of which binds
            and (any(map(_binding.__getitem__, words)) or not is_plain(it.text))
            for it, keys, words in zip(said, subjects, found, strict=True)
        ]
    )
    forms = tuple(_blank_name(note, said))
    return NoteDigest(shingles, said, passages, subjects, may_exclude, facts, codes, forms)


def _blank_name(note: Note, statements: Iterable[NoteStatement]) -> Iterator[tuple[str, str]]:
    """Yield the statements that name their note: without that name, and as they are."""
    found = {name for name in (note.name, note.stem) if len(name) >= _SHORTEST_NAME}
    names = sorted(found, key=len, reverse=True)
    texts = [it.text for it in statements]
    # few notes say their names
    whole = "\n".join(texts)
    for text in texts if any(name in whole for name in names) else ():
        form = text
        for name in names:
            form = form.replace(name, "\0")
        if form != text:
            yield form, text


def _find_facts(note: Note, logged: Container[int]) -> Iterator[QuotedFact]:
    """Yield the facts of a note. What was open on the day of a log entry is no fact."""
    body = note.line_of(note.frontmatter.end) if note.frontmatter.end else 0
    for block in extract_statements(note):
        for fact in extract_facts(block.text) if may_have_facts(block.text) else ():
            line = block.line_at(fact.start)
            if fact.is_open and line in logged:
                continue
            day = find_day_of_passage(note, line)
            begin, end = cut_quote(block.text, fact.start)
            quote = NoteStatement(
                block.line_at(begin), " ".join(block.text[begin:end].split()), block.line < body
            )
            yield QuotedFact(fact, quote, day.isoformat() if day else note.stated_date)


def _find_log_lines(note: Note) -> Container[int]:
    """Return the 1-based lines of log entries, which tell what was so on a day: all in a note with
    a date in its name, else those below a heading that begins with a date.
    """
    if any(map(find_day_in_title, (note.stem, note.name))):
        return range(1, note.text.count("\n") + 2)
    found: set[int] = set()
    text = f"\n{note.text}"
    if not _DATED_HEADING.search(text):
        return found
    first, *sections = text.split("\n#")
    line = 1 + first.count("\n")
    for section in sections:
        end = line + 1 + section.count("\n")
        if _DATED.match(section.partition("\n")[0]):
            found.update(range(line, end))
        line = end
    return found


def build_shingles(text: str) -> frozenset[int]:
    """Return all word triples of a text, each as a number."""
    return _number_triples(split_words(text), 0)


def _sketch(found: list[str]) -> frozenset[int]:
    return _number_triples(found, _SAMPLE if len(found) > _FEW else 0)


def _number_triples(found: list[str], sample: int) -> frozenset[int]:
    """Return the triples of words whose first one has 0 for the bits of `sample`, as numbers."""
    numbers = list(map(_numbers.__getitem__, found))
    triples = zip(numbers, numbers[1:], numbers[2:], strict=False)
    return frozenset(
        [one * 31 ^ two * 17 ^ three for one, two, three in triples if not one & sample]
    )


def _number(word: str) -> int:
    """Return a number of a word, which is the same in every process, unlike hash()."""
    return crc32(word.encode("utf-8", "surrogatepass"))


def _key(word: str) -> str:
    """Return the key of a word: the class for a thing of one, "" for values and filler."""
    if word.isdigit() or word in _load_untold():
        return ""
    if tools := known.load_tools().get(word):
        return f"{_CLASS}{tools[0][0].name}"
    if opposite := known.load_opposites().get(word):
        return f"{_CLASS}{opposite[0]}"
    return stem_word(known.load_synonyms().get(word, word))


@cache
def _load_untold() -> frozenset[str]:
    """Return the words that tell nothing of a subject: values, filler and signs."""
    parts = ("generic", "negation", "all", "some", "only")
    words = (load_filler(), *map(known.load_words, parts))
    return known.load_modals().union(*words, known.load_numbers(), known.load_days())


_binding = known.WordCache(may_bind)
_numbers = known.WordCache(_number)
_keys = known.WordCache(_key)


def _keys_of(found: list[str]) -> tuple[str, ...]:
    """Return the subject of a statement of these words: their keys without filler; one key for all
    things of a class, and for a word and its opposite.
    """
    return tuple(dict.fromkeys(filter(None, map(_keys.__getitem__, found))))


def extract_content_words(text: str) -> tuple[str, ...]:
    """Return the content words of a text in order: numbers and things by name, without filler."""
    found = dict.fromkeys(split_words(text))
    return tuple(stem_word(word) for word in found if word not in load_filler())
