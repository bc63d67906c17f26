"""Seed phrases of wallets: words of BIP 39 in a row, however they are laid out.

`bip39.txt` is the English list of BIP 39 (github.com/bitcoin/bips, bip-0039/english.txt). It has no
"the", "of", "is", "in" or "to", so twelve of its words hardly ever follow one another in prose. In
programs and tables they do, but there the words repeat, or the signs between them vary. In 450 MB
of notes, documents and programs only lists of keywords met both conditions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby, pairwise

from ricordo.patterns import compile_lazily
from ricordo.resources import read_data_text
from ricordo.secrets.rules import Secret

SEED_PHRASE = "seed-phrase"
_LENGTHS = (12, 15, 18, 21, 24)
"""How many words a phrase has."""
_LEAST = _LENGTHS[0]
_DIFFERENT = 9
"""How many of twelve words differ at least, unless the checksum fits. Of random phrases one in ten
million has fewer.
"""
_SEPARATORS = 2
"""Kinds of signs between twelve words: those in a row, and those from row to row."""
_STRIDE = 40
"""Characters; twelve words take more."""
_EDGE = 4
"""So many signs at either end are tried as the end of a label."""
_LABEL = 3
"""If every third word of a run, or more, is the same one before a number, it is a label."""

_TOKEN = compile_lazily(
    r"</?[A-Za-z][^<>\n]{0,200}>|\\[nrt]|\d+(?:st|nd|rd|th)\b|(?i:word)\d{1,2}\b"
    r"|(?P<word>[^\W\d_]+)(?P<digit>\d)?"
)
"""A word; or what is between words: a tag, an escape, the number of a word."""
_BLANK = compile_lazily(r"[\s\d]+|\\[nrt]|(?<=\d)(?:st|nd|rd|th)")
_NUMBER = compile_lazily(r"[ \t]?#?\d")
_LETTERS = bytes(i | 32 if chr(i).isalpha() or i > 127 else 32 for i in range(256))
_ESCAPE = compile_lazily(rb"\\[nrt]")
_MARKUP = "st nd rd th li ol ul td tr br p b em strong code span div"


@cache
def _places() -> dict[str, int]:
    """Return the words of BIP 39, each with its place in the list."""
    return {word: at for at, word in enumerate(read_data_text("secrets/bip39.txt").split())}


@cache
def _accepted() -> frozenset[bytes]:
    return frozenset(word.encode() for word in (*_places(), *_MARKUP.split()))


def has_possible_phrase(raw: bytes) -> bool:
    """Return whether a text has twelve words in a row that are of the list, or of markup."""
    return next(_regions(raw), None) is not None


def _regions(raw: bytes) -> Iterator[tuple[int, int]]:
    """Yield where a text has words in a row that are of the list, or of markup.

    Nearly all of it is skipped: where the last word of a stretch is not accepted, no phrase
    ends or goes on there.
    """
    letters = (_ESCAPE.sub(b"  ", raw) if b"\\" in raw else raw).translate(_LETTERS)
    accepted, length = _accepted(), len(letters)
    run = start = at = 0
    while at < length:
        end = letters.find(b" ", at + _STRIDE)
        end = end if end >= 0 else length
        part = letters[at:end]
        if run or accepted.issuperset(part.rsplit(None, 1)[-1:]):
            for word in part.split():
                if word in accepted:
                    start = start if run else at
                    run += 1
                    continue
                if run >= _LEAST:
                    yield start, end
                run = 0
        at = end
    if run >= _LEAST:
        yield start, length


def find_seed_phrases(text: str) -> Iterator[Secret]:
    """Yield the seed phrases of `text`, each from its first word to its last."""
    for run in _runs(text):
        labels = {word.start(): _name_of(word) for word in run if _NUMBER.match(text, word.end())}
        is_numbered = len(labels) * _LABEL >= len(run) and len(set(labels.values())) == 1
        numbered = [word for word in run if word.start() not in labels] if is_numbered else run
        for part, spans in ((numbered, _find_varied), (run, _find_with_checksum)):
            gaps = [
                _BLANK.sub("", text[a.end("word") : b.start("word")]) for a, b in pairwise(part)
            ]
            for first, last in spans([_name_of(word) for word in part], gaps):
                yield Secret(SEED_PHRASE, part[first].start("word"), part[last].end("word"))


def _name_of(match: re.Match[str]) -> str:
    return match["word"].lower()


def _runs(text: str) -> Iterator[list[re.Match[str]]]:
    """Yield the runs of words of the list that are long enough for a phrase."""
    # every character as one byte, so that offsets stay
    for start, end in _regions(text.encode("latin-1", "replace")):
        yield from _runs_between(text, start, end)


def _runs_between(text: str, start: int, end: int) -> Iterator[list[re.Match[str]]]:
    places, run = _places(), list[re.Match[str]]()
    for match in _TOKEN.finditer(text, start, end):
        word, digit = match.groups()
        if not word:
            continue
        if not digit and (word in places or (_is_capital(word) and word.lower() in places)):
            run.append(match)
            continue
        if len(run) >= _LEAST:
            yield run
        run = []
    if len(run) >= _LEAST:
        yield run


def _is_capital(word: str) -> bool:
    return word.istitle() or word.isupper()


def _find_varied(names: Sequence[str], gaps: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last word of each phrase of different words."""
    first = last = -1
    for at in range(len(names) - _LEAST + 1):
        end = at + _LEAST
        if len(set(gaps[at : end - 1])) > _SEPARATORS or len(set(names[at:end])) < _DIFFERENT:
            continue
        if at > last >= 0:
            yield _drop_label(gaps, first, last)
        first, last = (first if at <= last else at), end - 1
    if last >= 0:
        yield _drop_label(gaps, first, last)


def _drop_label(gaps: Sequence[str], first: int, last: int) -> tuple[int, int]:
    """Return a phrase without the words beside it, if that makes its length valid."""
    usual = Counter(gaps[first:last]).most_common(1)[0][0]
    cuts = [at for at in range(first, last) if gaps[at] != usual]
    starts = [first, *(at + 1 for at in cuts[:_EDGE])]
    spans = [(start, end) for start in starts for end in (last, *cuts[-_EDGE:])]
    fitting = [(start, end) for start, end in spans if end - start + 1 in _LENGTHS]
    return max(fitting, key=lambda span: span[1] - span[0], default=(first, last))


def _find_with_checksum(names: Sequence[str], gaps: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last word of each phrase whose checksum fits."""
    at = 0
    for _, same in groupby(gaps):
        end = at + len(list(same))
        if _has_checksum(names[at : end + 1]):
            yield at, end
        at = end


def _has_checksum(names: Sequence[str]) -> bool:
    if len(names) not in _LENGTHS:
        return False
    from hashlib import sha256

    bits = 0
    for name in names:
        bits = bits << 11 | _places()[name]
    size = len(names) // 3
    entropy, checksum = bits >> size, bits & (1 << size) - 1
    digest = sha256(entropy.to_bytes(size * 4, "big")).digest()
    return digest[0] >> (8 - size) == checksum
