"""The single statements of a note, each with its first line, and what they are found by."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple
from zlib import crc32

from ricordo.dates import find_day_in_title
from ricordo.lexicon import is_abbreviation, lower_text
from ricordo.lint.contradictions import words as known
from ricordo.lint.contradictions.claim import MAX_LENGTH
from ricordo.lint.contradictions.facts import (
    NamedFact,
    cut_quote,
    extract_facts,
    find_codes,
    has_ticket,
)
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
    r"(?<=[.!?])[\"'”’)\]]*\s+(?=\S)|(?<=[。！？])|;\s+(?=\S)|；"
    r"|\n(?=\s*(?:[-*+#|]|\d+[.)])\s)|\s(?=\*\*[^*\n]{1,40}:\*\*\s)"
)
"""The end of a sentence, of an item, or of a field before the label of the next."""
_STOPS = (". ", "! ", "? ", '."', ".)", ".*", ".]", "; ", ":** ")
"""Every text of one line with several sentences contains one of these."""
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
_DATED = compile_lazily(r"#+\W*(?:20\d\d|\d{1,2}[./]\d{1,2}[./]20\d\d)")
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
            items: dict[int, list[NoteStatement]] = {}
            for item, statement in _sentences(block, block.line < body):
                items.setdefault(item, []).append(statement)
                count += 1
            yield from items.values()
        if count >= MAX_STATEMENTS:
            return


def _build_passages(items: Iterable[Sequence[NoteStatement]]) -> Iterator[str]:
    """Yield for each statement what is said with it: its paragraph or item, or as much of that as
    is not too long, the sentences behind it first.
    """
    for item in items:
        texts = [it.text for it in item]
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
    for _, said in islice(_sentences(ProseBlock(1, text), False), MAX_STATEMENTS):
        yield said.text


def _gives_reason(statement: ProseBlock) -> bool:
    """Return whether it only gives a reason, like `**Why:**`."""
    begin = statement.text[:_LONGEST_LABEL]
    if ":" not in begin:
        return False
    begin = lower_text(begin.lstrip(" *-"))
    label, colon, _ = begin.partition(":")
    return bool(colon) and bool(load_pattern("why").match(label))


def _sentences(statement: ProseBlock, in_head: bool) -> Iterator[tuple[int, NoteStatement]]:
    """Yield the sentences of a block, each with the number of its item in it."""
    text = statement.text
    start = item = 0
    for end in [*_ends(text), len(text)]:
        said = text[start:end]
        begin = start + len(said) - len(said.lstrip())
        if not start or "\n" in text[start - 1 : begin]:
            mark = _behind_marks(text, begin, end)
            item += mark > begin
            begin = mark
        start = end
        if _SHORTEST <= end - begin <= MAX_LENGTH:
            plain = " ".join(text[begin:end].split())
            may_quote = '"' in plain or not plain.isascii()
            if not (may_quote and _QUOTED.search(plain)) and _says_something(plain):
                yield item, NoteStatement(statement.line_at(begin), plain, in_head)


def _says_something(text: str) -> bool:
    """Return whether a text is more than links, with a word such as `see`, or cells of a table."""
    if "|" in text and _CELLS.search(text):
        return False
    rest = _ADDRESS.sub(" ", text) if "://" in text else text
    rest, links = _REFERENCE.subn(" ", rest) if "[" in text else (rest, 0)
    if not links:
        return bool(_WORDS.search(rest))
    words = _WORDS.findall(_ASIDE.sub(" ", rest))
    size = sum(1 if it.isascii() else max(1, len(it) // 2) for it in words)
    return size >= _FEWEST_BESIDE


def _behind_marks(text: str, begin: int, end: int) -> int:
    """Return the start of a statement after its list mark and label."""
    for mark in (_LIST_MARK, _LABEL):
        if found := mark.match(text, begin, end):
            begin = found.end()
    return begin


def _ends(text: str) -> Iterator[int]:
    text = text.rstrip()
    if text.isascii() and "\n" not in text and not any(map(text.count, _STOPS)):
        return
    for match in _END.finditer(text):
        at = match.start()
        near = text[max(0, at - _NEAR) : at], text[at : at + _NEAR]
        if not (near[0].endswith(".") and is_abbreviation(*near)):
            yield match.end()


_SAMPLE = 0b111
"""The bits that are 0 in sampled word triples: one in eight."""
_FEW = 64
"""Words up to which all triples of a text are used: a sample of a short one is too small."""
_SAID_BY_THE_WAY = 20
"""Words; a longer sentence is no plain statement, which can be aligned with another."""
_LONGEST = 60
"""Words; a longer one is not compared at all. Of scripts without blanks pairs of characters."""
_MOST_KNOWN = 1 << 18

_CLASS = "="
_UNTOLD = ("filler", "generic", "negation", "all", "some", "only")

_known: dict[str, int] = {}
"""Cache of word numbers: a memory repeats its words."""
_keys: dict[str, str] = {}
"""Cache of word keys."""


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
    a ticket.
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
            for it, keys, words in zip(said, subjects, found, strict=True)
        ]
    )
    forms = tuple(_blank_name(note, said))
    return NoteDigest(shingles, said, passages, subjects, may_exclude, facts, codes, forms)


def _blank_name(note: Note, statements: Iterable[NoteStatement]) -> Iterator[tuple[str, str]]:
    """Yield the statements that name their note: without that name, and as they are."""
    found = {name for name in (note.name, note.stem) if len(name) >= _SHORTEST_NAME}
    names = sorted(found, key=len, reverse=True)
    for _, text, _ in statements:
        form = text
        for name in names:
            form = form.replace(name, "\0")
        if form != text:
            yield form, text


def _find_facts(note: Note, logged: Container[int]) -> Iterator[QuotedFact]:
    """Yield the facts of a note. What was open on the day of a log entry is no fact."""
    body = note.line_of(note.frontmatter.end) if note.frontmatter.end else 0
    for block in extract_statements(note):
        for fact in extract_facts(block.text):
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
    count = note.text.count("\n") + 1
    if any(map(find_day_in_title, (note.stem, note.name))):
        return range(1, count + 1)
    found: set[int] = set()
    is_dated = False
    for number, line in enumerate(note.text.split("\n"), 1):
        if line.startswith("#"):
            is_dated = bool(_DATED.match(line))
        if is_dated:
            found.add(number)
    return found


def build_shingles(text: str) -> frozenset[int]:
    """Return all word triples of a text, each as a number."""
    numbers = _numbers(split_words(text))
    return _stretches(numbers, range(len(numbers) - 2))


def _sketch(found: list[str]) -> frozenset[int]:
    numbers = _numbers(found)
    if len(found) <= _FEW:
        return _stretches(numbers, range(len(numbers) - 2))
    # only triples that begin with certain words; the others need not be computed
    begin = [at for at, number in enumerate(numbers[:-2]) if not number & _SAMPLE]
    return _stretches(numbers, begin)


def _stretches(numbers: list[int], begin: Iterable[int]) -> frozenset[int]:
    return frozenset([numbers[at] * 31 ^ numbers[at + 1] * 17 ^ numbers[at + 2] for at in begin])


def _numbers(found: list[str]) -> list[int]:
    known = _known
    try:
        return [known[word] for word in found]
    except KeyError:
        if len(known) > _MOST_KNOWN:
            known.clear()
        for word in found:
            if word not in known:
                # the same in every process, unlike hash()
                known[word] = crc32(word.encode("utf-8", "surrogatepass"))
        return [known[word] for word in found]


def _keys_of(found: list[str]) -> tuple[str, ...]:
    """Return the subject of a statement of these words: their keys without filler; one key for all
    things of a class, and for a word and its opposite.
    """
    try:
        keys = [_keys[word] for word in found]
    except KeyError:
        if len(_keys) > _MOST_KNOWN:
            _keys.clear()
        _keys.update((word, _key(word)) for word in found if word not in _keys)
        keys = [_keys[word] for word in found]
    return tuple(dict.fromkeys(filter(None, keys)))


def extract_content_words(text: str) -> tuple[str, ...]:
    """Return the content words of a text in order: numbers and things by name, without filler."""
    found = dict.fromkeys(split_words(text))
    return tuple(stem_word(word) for word in found if word not in known.load_words("filler"))


def _key(word: str) -> str:
    """Return the key of a word: the class for a thing of one, "" for values and filler."""
    if word.isdigit() or word in known.load_numbers() or word in known.load_days():
        return ""
    if any(word in known.load_words(part) for part in _UNTOLD):
        return ""
    if word in known.load_modals():
        return ""
    if tools := known.load_tools().get(word):
        return f"{_CLASS}{tools[0][0].name}"
    if opposite := known.load_opposites().get(word):
        return f"{_CLASS}{opposite[0]}"
    return stem_word(known.load_synonyms().get(word, word))
