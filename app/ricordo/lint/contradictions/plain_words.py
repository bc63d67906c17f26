"""Sentences in plain words: without markup, in lower case, with phrases as one word and numbers
apart from their units, and the words of which they consist.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from ricordo.lexicon import SPACELESS, lower_text
from ricordo.lint.contradictions import words as known
from ricordo.patterns import compile_lazily

MAX_LENGTH = 300
"""Characters; a longer text is no single claim."""
_MOST_REJECTED = 4
"""Words after `instead of` that are rejected."""
_FEWEST_BEFORE_REASON = 3
"""Words of a claim before a reason may follow."""

_ASIDE = compile_lazily(r"\([^()]*\)?|（[^（）]*）?")
_MARKUP = compile_lazily(r"`|\*{1,3}|(?<!\w)_{1,2}(?=\w)|(?<=\w)_{1,2}(?!\w)|\[\[|\]\]|~~")
_LINK = compile_lazily(r"\[([^\]\n]*)\]\([^)\n]*\)")
_MATHS = compile_lazily(r"(?<![\w$])\$(?=\S)([^$\n]*[\\=^_{][^$\n]*)(?<!\s)\$(?![\w$])")
"""A formula of LaTeX between the signs of a dollar, which are none there."""
_DIMENSIONS = compile_lazily(r"(?<![\w.])([1-4])-?D(?!\w)")
"""As in 3D, which are no days."""
_HAS_MARKUP = compile_lazily(r"[`*_~$\[\]]")
_HAS_SIGNS = compile_lazily(r"[\d'’(（]")
_HAS_ASCII_SIGNS = compile_lazily(r"[0-9'(]")
"""The same for ASCII, which it searches four times as fast."""
CODE = compile_lazily(r"`([^`\n]+)`")
SHORT_NOT = compile_lazily(r"n['’]t\b")
_SHORT_IS = compile_lazily(r"(?<=\w)['’](?:s|re|ll|ve|d|m)?\b(?!\w)")
_MONEY = compile_lazily(r"([$€£¥])\s?(\d+(?:[.,]\d+)*k?)(?![\w])")
_DASH = compile_lazily(r"[–—-]")
_THOUSANDS_MARK = compile_lazily(r"(?<=\d)[,’' ](?=\d{3}\b)")
_GLUED_UNIT = compile_lazily(
    r"(?<!§)(?<!§ )\b(\d+(?:\.\d+)?)\s?-?(ms|s|sec|min|h|d|kb|mb|gb|tb|%|px|cm|mm|km|m)(?!\w)"
)
_THOUSANDS = compile_lazily(r"\b(\d+(?:\.\d+)?)k\b")
TOKEN = compile_lazily(
    rf"(?:(?<![^\s(])[/~.@#$%]+)?[^\W{SPACELESS}]+(?:[.:/@+\\-]+[^\W{SPACELESS}]+)*(?:\+\+|#)?"
    rf"|[%$€£¥]|[{SPACELESS}]+"
)
"""A word, path, number or name; a run of a script without blanks between words."""
_COMPOUND = compile_lazily(r"[^\W\d_]{3,}(?:-[^\W\d_]{3,})+")
_OVER = compile_lazily(r"\b(?:prefers?|preferred|favou?rs?)\b(.+?)\bto\b")
_JOINED = compile_lazily(rf"[{SPACELESS}]+")


def strip_markup(text: str) -> str:
    """Return the beginning of a text without the marks of markdown."""
    text = text[:MAX_LENGTH]
    if _HAS_MARKUP.search(text):
        if "$" in text:
            text = _MATHS.sub(r"\1", text)
        if "](" in text:
            text = _LINK.sub(r"\1", text)
        text = _MARKUP.sub("", text)
    return text.strip()


def normalise(bare: str) -> str:
    """Return the text in lower case, with phrases as words and numbers apart from their units."""
    if "D" in bare:
        bare = _DIMENSIONS.sub(r"\1_d", bare)
    plain = lower_text(bare).replace("cannot", "can not")
    # most sentences have none of what the others look for
    if (_HAS_ASCII_SIGNS if plain.isascii() else _HAS_SIGNS).search(plain):
        plain = SHORT_NOT.sub(" not", _ASIDE.sub(" ", plain))
        plain = _SHORT_IS.sub("", plain)
        plain = _MONEY.sub(r"\2 \1", plain)
        plain = _THOUSANDS.sub(
            lambda match: f"{float(match[1]) * 1000:g}", _THOUSANDS_MARK.sub("", plain)
        )
        plain = _GLUED_UNIT.sub(r"\1 \2", plain)
    return known.join_phrases(plain)


def tokenise(plain: str) -> Iterable[tuple[str, int]]:
    """Return the words of a text with their offsets."""
    if "-" in plain or not plain.isascii():
        return _split_tokens(plain)
    return [(match.group(), match.start()) for match in TOKEN.finditer(plain)]


def _split_tokens(plain: str) -> Iterator[tuple[str, int]]:
    """Yield the words of a text with compounds, or in a script without blanks between words."""
    for match in TOKEN.finditer(plain):
        token = match.group()
        if token[0] >= "\u3040" and _JOINED.match(token):
            for part, start in known.split_unspaced(token):
                yield part, match.start() + start
        elif (
            "-" in token and _COMPOUND.fullmatch(token) and token not in known.load_special_words()
        ):
            start = match.start()
            for part in token.split("-"):
                yield part, start
                start += len(part) + 1
        else:
            yield token, match.start()


def _without_reason(plain: str) -> str:
    """Return the text before a reason, an aside or a consequence."""
    for match in known.load_pattern("reason").finditer(plain):
        before = plain[: match.start()]
        if len(before.split()) >= _FEWEST_BEFORE_REASON or _JOINED.search(before):
            return before
    # most sentences have no dash
    order = known.load_pattern("order").search(plain) if _DASH.search(plain) else None
    return plain[: order.start()] if order else plain


def _split_rejected(plain: str) -> tuple[str, str]:
    """Return the claim without what it rejects, and the rejected part."""
    match = _OVER.search(plain)
    found = known.load_pattern("contrast").search(plain)
    if match and not found:
        return plain[: match.end() - 2], plain[match.end() :]
    if found is None or not plain[: found.start()].strip():
        return plain, ""
    behind = plain[found.end() :]
    end = len(behind)
    for number, (token, start) in enumerate(tokenise(behind)):
        is_border = number and (token in known.load_words("scope") or "," in behind[:start])
        if number >= _MOST_REJECTED or is_border:
            end = start
            break
    return f"{plain[: found.start()]} {behind[end:]}", behind[:end]


class SentenceParts(NamedTuple):
    """The parts of a sentence in plain words."""

    plain: str
    """What it says, in plain words, without a reason."""
    chosen: str
    """The same without what it rejects."""
    rejected: str
    spans: tuple[tuple[str, int], ...]
    """The words of `chosen` with their offsets."""


@lru_cache(maxsize=1 << 8)
def split_parts(bare: str) -> SentenceParts:
    """Return the parts of a sentence without markup."""
    plain = _without_reason(normalise(bare))
    chosen, rejected = _split_rejected(plain.rstrip(" .。!！"))
    return SentenceParts(plain, chosen, rejected, tuple(tokenise(chosen)))
