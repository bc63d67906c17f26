"""Reading what a model drafts, as if it came from an enemy.

A statement has to stand on facts that the model was told, and may name no file that none of them
names. A quote has to stand in the first of them letter by letter. What is in the model's own words
is never proved by anything; only a quote without a word of the model's gets the mark of a quote.
What does not fit is refused with why, and takes nothing else down.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ricordo.errors import ChangeRefused
from ricordo.handoff.drafting.form import SECTIONS
from ricordo.handoff.drafting.orders import gives_orders
from ricordo.handoff.drafting.telling import Told
from ricordo.handoff.facts import (
    Decided,
    Fact,
    FileUse,
    GivenUp,
    Mishap,
    NoteFound,
    Ran,
    Said,
    Summary,
    Todo,
)
from ricordo.handoff.prove import words_of
from ricordo.handoff.statement import Quote, Section, Statement
from ricordo.model.placeholder import LIKE
from ricordo.text import clip, hidden_characters, one_line

MOST = 80
"""Statements of one draft."""
LONGEST = 500
"""Characters of a statement."""
LONGEST_QUOTE = 4_000
_MOST_FACTS = 12
_SHAPE = ("facts", "quote", "section", "text")
_PATH = re.compile(
    r"https?://[^\s`)>\]]+"
    r"|(?<![\w/.~-])(?:[\w.-]+/)+[\w.-]+\.[A-Za-z]\w{0,7}"
    r"|(?<![\w/.~-])~?/[\w.-]+(?:/[\w.-]+)+",
    re.ASCII,
)
"""An address, a file with its folder, or a path from the root or from a home."""
_CODE = re.compile(r"`([^`\s]+)`")
_NAME = re.compile(r"[\w-]+(?:\.[\w-]+)*\.[A-Za-z]\w{0,7}", re.ASCII)
_PLACE = re.compile(r"(?::\d+)+\Z")
"""A line behind a path."""


Quotable = Said | Summary | Ran | Todo | Mishap | GivenUp | Decided
"""What has words of a session."""


@dataclass(frozen=True, slots=True)
class Refused:
    """What a model drafted and is not taken."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Read:
    """What a draft came to."""

    statements: tuple[Statement, ...]
    refused: tuple[Refused, ...]


def read_draft(given: object, told: Told, by_id: Mapping[str, Fact]) -> Read:
    """Return the statements in `given`, the value of a filled form; `by_id` are the facts."""
    if not isinstance(given, list):
        return Read((), (Refused("draft", "It is no list of statements."),))
    reader = _Reader(told, by_id)
    found: dict[tuple[Section, str, str], Statement] = {}
    refused: list[Refused] = []
    for number, it in enumerate(given[:MOST], 1):
        try:
            statement = reader.statement(it)
            found.setdefault((statement.section, statement.text, statement.quote), statement)
        except ChangeRefused as error:
            refused.append(Refused(f"statement {number}", one_line(error.message)))
    if len(given) > MOST:
        refused.append(Refused("draft", f"It has more than {MOST} statements."))
    return Read(tuple(found.values()), tuple(refused))


class _Reader:
    def __init__(self, told: Told, by_id: Mapping[str, Fact]) -> None:
        self._told = told
        self._by_id = by_id
        self._all_shown = "\n".join(told.shown.values())

    def statement(self, it: object) -> Statement:
        """Return one statement. Raises ChangeRefused."""
        section, ids, quote, text = _fields(it)
        for id in ids:
            if id not in self._told.shown:
                raise ChangeRefused(f"No fact has the id “{clip(id, 40)}”.")
        if quote:
            fact, quote = self._quoted(ids[0], quote)
            if not text:
                return Statement(section, _label(fact), Quote(fact.ref), ids[:1], quote)
        self._check_own(text)
        return Statement(section, text, None, ids, quote, is_own_words=True)

    def _quoted(self, id: str, quote: str) -> tuple[Quotable, str]:
        """The fact that is quoted, and the words as they stand there."""
        fact = self._by_id.get(id)
        if fact is None or isinstance(fact, FileUse | NoteFound):
            raise ChangeRefused("It quotes what nobody said.")
        if quote not in self._told.shown[id]:
            raise ChangeRefused("Its quote does not stand in the fact that it names first.")
        words = self._told.redaction.restored(quote, {id})
        if not any(words in text for text in words_of(fact)):
            raise ChangeRefused("Its quote does not stand in one piece in that fact.")
        return fact, words

    def _check_own(self, text: str) -> None:
        """Raise ChangeRefused where the model's own words are no plain line, or tell of what it
        was not told.
        """
        if not text.strip():
            raise ChangeRefused("It says nothing.")
        if len(text) > LONGEST:
            raise ChangeRefused(f"It is longer than {LONGEST} characters.")
        if "\n" in text or hidden_characters(text):
            raise ChangeRefused("It is not one plain line.")
        if LIKE.search(text):
            raise ChangeRefused("It speaks of what was kept back.")
        if gives_orders(text):
            raise ChangeRefused("It gives an agent orders from outside.")
        for name in _named(text):
            if name not in self._all_shown:
                raise ChangeRefused(f"It names “{clip(name, 60)}”, which no fact names.")


def _fields(it: object) -> tuple[Section, tuple[str, ...], str, str]:
    if not isinstance(it, dict) or tuple(sorted(it)) != _SHAPE:
        raise ChangeRefused("It is not of the shape section, facts, quote, text.")
    section, ids, quote, text = it["section"], it["facts"], it["quote"], it["text"]
    if section not in [known.value for known in SECTIONS]:
        raise ChangeRefused("There is no such section.")
    if not _is_texts(ids) or not _is_texts([quote, text]):
        raise ChangeRefused("One of its fields is no text.")
    if not 0 < len(ids) <= _MOST_FACTS:
        raise ChangeRefused(f"It has to stand on 1 to {_MOST_FACTS} facts.")
    if len(quote) > LONGEST_QUOTE:
        raise ChangeRefused(f"Its quote is longer than {LONGEST_QUOTE} characters.")
    return Section(section), tuple(dict.fromkeys(ids)), quote.strip(), text.strip()


def _is_texts(values: object) -> bool:
    if not isinstance(values, Sequence) or isinstance(values, str):
        return False
    return all(isinstance(it, str) and not re.search("[\ud800-\udfff]", it) for it in values)


def _named(text: str) -> Iterator[str]:
    """Yield what a text names that is a file or an address by its form."""
    yield from (match[0].rstrip(".,;:") for match in _PATH.finditer(text))
    for match in _CODE.finditer(text):
        name = _PLACE.sub("", match[1])
        if _NAME.fullmatch(name):
            yield name


def _label(fact: Fact) -> str:
    """Whose words are quoted, in ours."""
    match fact:
        case Said(is_person=True) | Decided(is_person=True):
            return "The person"
        case Mishap():
            return "An error"
        case Said() | Summary() | Decided():
            return "The agent"
        case _:
            return "The transcript"
