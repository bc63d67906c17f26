"""How agents and people say that something was chosen, or given up: patterns in many languages,
from a data file (`phrases.toml`).
"""

from __future__ import annotations

import re
import tomllib
from functools import cache

from ricordo.health.vocabulary import any_of, lowered
from ricordo.resources import data_text
from ricordo.speech.patterns import pattern
from ricordo.speech.sentence import Sentence, written_sentences

_LABEL = re.compile(r"\s*[^\n]{0,80}[:*][ \t]*\n")
"""The Fix:**"""
LONGEST = 8_000
"""Characters of a message in which sentences are looked for; longer ones are documents."""


def says(part: str, text: str) -> bool:
    """Say whether `text` holds any expression under `part` of the data file."""
    return bool(_compiled(part).search(lowered(text)))


def gives_reason(text: str) -> bool:
    """Say whether `text` tells why."""
    return bool(pattern("reason").search(lowered(text)))


def says_for_all_time(text: str) -> bool:
    """Say whether a sentence of the person is a rule for all time to come."""
    plain = lowered(text)
    return any(pattern(part).search(plain) for part in ("standing", "standing_order"))


def decides(text: str) -> bool:
    """Say whether a sentence of the person tells of a decision."""
    return bool(pattern("decision").search(lowered(text)))


def spoken(message: str) -> tuple[Sentence, ...]:
    """Return the sentences of `message`, without code, quotations, tables and headings, nor labels
    that stand on a line of their own.
    """
    return tuple(map(_without_label, written_sentences(message[:LONGEST])))


def _without_label(sentence: Sentence) -> Sentence:
    label = _LABEL.match(sentence.text)
    if label is None:
        return sentence
    text = sentence.text[label.end() :]
    return sentence._replace(start=sentence.start + label.end(), text=text)


def reason_of(said: tuple[Sentence, ...], number: int) -> str:
    """Return why what one of the sentences says is so: the sentence behind it, else the one before
    it in the same paragraph, where it gives a reason; "" where it gives it itself, or none does.
    """
    if gives_reason(said[number].text):
        return ""
    for other in (number + 1, number - 1):
        if 0 <= other < len(said) and said[other].paragraph == said[number].paragraph:
            text = said[other].text
            if gives_reason(text) and not said[other].is_question:
                return text.strip()
    return ""


def before_it(said: tuple[Sentence, ...], number: int) -> str:
    """Return the sentence before one of them, in the same paragraph; "" without one."""
    before = said[number - 1] if number else None
    is_near = before is not None and before.paragraph == said[number].paragraph
    return before.text.strip() if before is not None and is_near else ""


@cache
def _compiled(part: str) -> re.Pattern[str]:
    table = tomllib.loads(data_text("handoff/gathering/phrases.toml"))
    return re.compile(any_of(text for texts in table[part].values() for text in texts))
