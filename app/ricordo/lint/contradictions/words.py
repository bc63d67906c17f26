"""The word lists for comparing statements, from the data files of the rules."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from ricordo.lexicon import SPACELESS, build_alternation, compile_part, list_expressions, read_words
from ricordo.patterns import compile_lazily

_FILE = "opposition"
_BLANK = compile_lazily(r"\s+")
_SPACELESS = compile_lazily(f"[{SPACELESS}]")
_FIRST = compile_lazily(r"([a-z0-9]+)(?: |-|\\-)")
_LETTERS = compile_lazily(r"[a-z0-9]+")


class ToolClass(NamedTuple):
    """A class of alternative things."""

    name: str
    about: frozenset[str]
    """Words for the class itself."""


class NumberUnit(NamedTuple):
    """A unit after a number."""

    kind: str
    factor: float
    """Its size in the smallest unit of its kind."""


@cache
def load_words(part: str) -> frozenset[str]:
    """Return the single words under `part`, of all languages."""
    return frozenset(list_expressions(_FILE, part))


@cache
def load_pattern(part: str) -> re.Pattern[str]:
    """Return the pattern that finds any expression under `part` in a text in lower case."""
    return compile_part(_FILE, part)


@cache
def load_phrases() -> Mapping[str, tuple[tuple[str, str], ...]]:
    """Return the phrases with their replacement words, each as an expression, longest first, by
    their first word; under "" those that begin with none.
    """
    pairs = [(text, word) for text, word in _phrase_pairs() if text]
    tools = [text for text in _tool_spellings() if " " in text]
    pairs += [(re.escape(text).replace(r"\ ", " "), join_spelling(text)) for text in tools]
    found: dict[str, list[tuple[str, str]]] = {}
    for text, word in sorted(pairs, key=lambda pair: (-len(pair[0]), pair)):
        first = _FIRST.match(text)
        key = first[1] if first else ""
        found.setdefault(key, []).append((text, f" {word} "))
    return {key: tuple(them) for key, them in found.items()}


def join_phrases(plain: str) -> str:
    """Return a lower-case text with each phrase replaced by its word."""
    known = load_phrases()
    texts = [word for word in dict.fromkeys(_LETTERS.findall(plain)) if word in known]
    for first in (*texts, "") if texts or not plain.isascii() or "'" in plain else ():
        for phrase, word in known.get(first, ()):
            plain = _phrase(phrase).sub(word, plain)
    return plain


@cache
def _phrase(text: str) -> re.Pattern[str]:
    """Return the compiled phrase; only texts with its first word need it."""
    return re.compile(build_alternation([text]))


def join_spelling(text: str) -> str:
    """Return a spelling of several words as one word."""
    return _BLANK.sub("_", text)


@cache
def load_signs(part: str) -> Mapping[str, bool]:
    """Return the words under `part`, each with whether it is a negation."""
    return {text.removeprefix("-"): text.startswith("-") for text in list_expressions(_FILE, part)}


@cache
def load_opposites() -> Mapping[str, tuple[str, bool]]:
    """Return, by spelling, the pair of opposites of a word, and its side."""
    found: dict[str, tuple[str, bool]] = {}
    for pair in list_expressions(_FILE, "opposites"):
        one, other = pair.split()
        for side, spellings in ((False, one), (True, other)):
            for text in spellings.split("|"):
                found.setdefault(text, (one.split("|")[0], side))
    return found


@cache
def load_synonyms() -> Mapping[str, str]:
    """Return the representative of each word with synonyms."""
    groups = (text.split("|") for text in list_expressions(_FILE, "synonyms"))
    return {text: group[0] for group in groups for text in group}


@cache
def load_binding_synonyms() -> Mapping[str, str]:
    """Return the representative of each binding verb with synonyms."""
    groups = (text.split("|") for text in list_expressions(_FILE, "same_binding"))
    return {text: group[0] for group in groups for text in group}


@cache
def load_numbers() -> Mapping[str, str]:
    """Return the digits of number words."""
    return dict(text.split(" ", 1) for text in list_expressions(_FILE, "numbers"))


@cache
def load_units() -> Mapping[str, NumberUnit]:
    """Return the units by spelling."""
    found: dict[str, NumberUnit] = {}
    for text in list_expressions(_FILE, "units"):
        kind, factor, spellings = text.split()
        found.update(dict.fromkeys(spellings.split("|"), NumberUnit(kind, float(factor))))
    return found


@cache
def load_days() -> Mapping[str, tuple[str, str]]:
    """Return, by spelling, the kind of day or month that a word is, and its name."""
    return {
        text: (kind, spellings.split("|")[0])
        for kind, names in read_words(_FILE)["days"].items()
        for spellings in names
        for text in spellings.split("|")
    }


@cache
def load_persons() -> Mapping[str, str]:
    """Return whom a word like `we` means."""
    groups = read_words(_FILE)["who"].items()
    return {text: name for name, names in groups for text in names}


@cache
def load_tools() -> Mapping[str, tuple[tuple[ToolClass, str], ...]]:
    """Return, by spelling in one word, the classes that a thing belongs to, with its name there."""
    found: dict[str, tuple[tuple[ToolClass, str], ...]] = {}
    for entry in read_words("tools")["class"]:
        kind = ToolClass(entry["name"], frozenset(entry["about"]))
        for member in entry["members"]:
            spellings = member.split("|")
            for text in spellings:
                key = join_spelling(text)
                found[key] = (*found.get(key, ()), (kind, spellings[0]))
    return found


@cache
def load_ambiguous_tools() -> frozenset[str]:
    """Return the things whose names are ordinary words, too."""
    return frozenset(read_words("tools")["doubtful"])


@cache
def load_special_words() -> frozenset[str]:
    """Return every word that the parser treats specially."""
    parts = ("negation", "excepting", "all", "some", "only", "generic", "verbs", "being")
    tables = (load_numbers(), load_days(), load_persons(), load_tools(), load_opposites())
    return load_modals().union(*map(load_words, parts), *tables)


@cache
def load_modals() -> frozenset[str]:
    """Return the modal words: that something is, may be or has to be, or is not."""
    return frozenset(text for part in ("so", "may", "need") for text in load_signs(part))


@cache
def load_unbounded() -> re.Pattern[str]:
    """Return the pattern of known words of scripts without blanks, else single characters."""
    known = (*load_tools(), *load_units(), *load_opposites(), *load_numbers(), *load_days())
    found = sorted((text for text in known if _SPACELESS.search(text)), key=len, reverse=True)
    return re.compile("|".join([*map(re.escape, found), f"[{SPACELESS}]"]))


def _phrase_pairs() -> list[tuple[str, str]]:
    pairs = (text.split(" = ") for text in list_expressions(_FILE, "phrases"))
    return [(text, word) for text, word in pairs]


def _tool_spellings() -> list[str]:
    """Return every spelling of a thing, the longest first."""
    entries = read_words("tools")["class"]
    found = {text for it in entries for member in it["members"] for text in member.split("|")}
    return sorted(found, key=lambda text: (-len(text), text))
