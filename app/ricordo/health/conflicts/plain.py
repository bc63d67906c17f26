"""The words of a statement: phrases as one word, reasons left out, what is not chosen set apart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from ricordo.health.conflicts import words as known
from ricordo.health.vocabulary import SPACELESS, lowered
from ricordo.recall.stem import stem

LONGEST = 300
"""Characters; what is longer is no single statement."""
_MOST_REJECTED = 4
"""Words behind `instead of` that are what is not chosen."""
_FEWEST_BEFORE_REASON = 3
"""Words of a statement, from which on a reason may follow."""
_MARKUP = re.compile(r"`|\*{1,3}|(?<!\w)_{1,2}(?=\w)|(?<=\w)_{1,2}(?!\w)|\[\[|\]\]|~~")
_LINK = re.compile(r"\[([^\]\n]*)\]\([^)\n]*\)")
_SHORT_NOT = re.compile(r"n['’]t\b")
_SHORT_IS = re.compile(r"(?<=\w)['’](?:s|re|ll|ve|d|m)\b")
_HAND = re.compile(r"(?<=\d)[,’'](?=\d{3}\b)")
_GLUED_UNIT = re.compile(
    r"\b(\d+(?:\.\d+)?)\s?-?(ms|s|sec|min|h|d|kb|mb|gb|tb|%|px|cm|mm|km|m)(?!\w)"
)
_THOUSANDS = re.compile(r"\b(\d+(?:\.\d+)?)k\b")
TOKEN = re.compile(
    rf"(?:(?<![^\s(])[/~.@]+)?[^\W{SPACELESS}]+(?:[.:/@+-]+[^\W{SPACELESS}]+)*(?:\+\+|#)?|%|[{SPACELESS}]+"
)
_OVER = re.compile(r"\b(?:prefers?|preferred|favou?rs?)\b(.+?)\bto\b")


def without_marks(text: str) -> str:
    """Return the beginning of a text without the marks of markdown."""
    return _MARKUP.sub("", _LINK.sub(r"\1", text[:LONGEST])).strip()


def plain_of(bare: str) -> str:
    """The text in lower case, with phrases as words and numbers apart from their units."""
    plain = _SHORT_IS.sub("", _SHORT_NOT.sub(" not", lowered(bare).replace("cannot", "can not")))
    plain = _THOUSANDS.sub(lambda match: f"{float(match[1]) * 1000:g}", _HAND.sub("", plain))
    plain = _GLUED_UNIT.sub(r"\1 \2", plain)
    return _without_reason(known.with_phrases_joined(plain))


def _without_reason(plain: str) -> str:
    """The text up to where a reason, an aside or a consequence begins."""
    for match in known.pattern("reason").finditer(plain):
        if len(plain[: match.start()].split()) >= _FEWEST_BEFORE_REASON:
            return plain[: match.start()]
    return plain


def parted(plain: str) -> tuple[str, str]:
    """The statement without what it does not choose, and that."""
    match = _OVER.search(plain)
    if match and not known.pattern("contrast").search(plain):
        return plain[: match.end() - 2], plain[match.end() :]
    found = known.pattern("contrast").search(plain)
    if found is None or not plain[: found.start()].strip():
        return plain, ""
    behind = plain[found.end() :]
    tokens = list(tokens_of(behind))
    end = len(behind)
    for number, (token, start) in enumerate(tokens):
        is_border = number and (token in known.words("scope") or "," in behind[:start])
        if number >= _MOST_REJECTED or is_border:
            end = start
            break
    rest = "" if end == len(behind) else behind[end:]
    return f"{plain[: found.start()]} {rest}", behind[:end]


def tokens_of(plain: str) -> Iterator[tuple[str, int]]:
    """The words of a text, each with where it stands."""
    for match in TOKEN.finditer(plain):
        token = match.group()
        if token[0] >= "\u3040" and re.match(f"[{SPACELESS}]", token[0]):
            for part in known.unbounded().finditer(token):
                yield part.group(), match.start() + part.start()
        else:
            yield token, match.start()


def places_of(plain: str, spans: list[tuple[str, int]]) -> Iterator[str]:
    """Where each word belongs: before the verb, behind it, or to what limits the statement."""
    verb = _verb([token for token, _ in spans])
    scope, scopes = "", known.words("scope")
    for at, (token, start) in enumerate(spans):
        if at == verb:
            scope = ""
        if token in scopes and not _completes(spans, at, start, plain):
            scope = token if token in known.words("limiting") else ""
        if scope:
            yield "scope"
        else:
            yield "subject" if at < verb else "object"


def _verb(tokens: list[str]) -> int:
    """Where the verb stands; -1 where none is known. A form of to be is surer than a word that may
    be a noun.
    """
    for surest in (known.words("being"), verbs()):
        for at, token in enumerate(tokens):
            if token in surest:
                return at
    return -1


def _completes(spans: list[tuple[str, int]], at: int, start: int, plain: str) -> bool:
    """Whether a preposition belongs to the verb before it, as in `lives in`."""
    token = spans[at][0]
    if at == 0:
        return False
    before, begun = spans[at - 1]
    bound = _ends_of_binding(plain)
    return (
        begun + len(before) in bound
        or start + len(token) in bound
        or before in known.words("being")
        or (at == 1 and before not in known.words("filler"))
        or before in verbs() - known.signs("so").keys()
    )


@lru_cache(maxsize=1)  # asked for every preposition of one statement
def _ends_of_binding(plain: str) -> frozenset[int]:
    return frozenset(match.end() for match in known.pattern("binding").finditer(plain))


@lru_cache(maxsize=1 << 16)
def key_of(token: str) -> str:
    """What all forms of a word share; "" for a word that bears no difference."""
    if token in known.words("filler") or token in known.words("scope"):
        return ""
    if (tool := known.tools().get(token)) and token not in known.doubtful_tools():
        return tool[0][1]
    return stem(known.synonyms().get(token, token))


@cache
def verbs() -> frozenset[str]:
    """Return the words that part the subject of a statement from what is said of it."""
    return known.words("verbs") | known.words("being") | known.wishes()
