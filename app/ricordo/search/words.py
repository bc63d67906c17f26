"""The words of a text as the index keeps them: folded, and scripts without blanks in pairs.

Standard library alone and little of it: the hook imports this at every message.
"""

from __future__ import annotations

from functools import cache, lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_ASCII = bytes(c if chr(c).isalnum() and c < 128 else 32 for c in range(256))
"""Leaves letters and digits and makes blanks of the rest: a quarter of the time of a search."""
_MARKS = (
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u0640\u064b-\u065f\u0670]"
)
"""Diacritics, and the vowels of Hebrew and Arabic, which are seldom written."""
_LETTERS = str.maketrans("łøđħıð", "lodhid") | str.maketrans({"æ": "ae", "œ": "oe", "þ": "th"})
"""Letters with a stroke and the like, which Unicode does not take apart, as they are written by who
has no key for them.
"""
_SIGNS = (
    "[\u0900-\u0963\u0970-\u0dff\u0e31-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ebc\u0ec8-\u0ece"
    "\u0f71-\u0f84\u0f8d-\u0fbc\u102b-\u103e\u1056-\u1059\u17b4-\u17d3]"
)
"""Vowels and other signs within the words of South and South-East Asia, which are no letters."""
_WORD = rf"[^\W_]++(?:{_SIGNS}+[^\W_]*)*"
_UNSPACED = (
    "[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3130-\u318f"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)
"""Thai, Lao, Burmese, Khmer, Chinese, Japanese, Korean."""
_MOST_COMPOSED = 8
"""Characters that are looked at together for whether they become one; no script has so many."""

_STOP_WORDS = """
    a about above after again against all also am an and any are as at be because been before
    being below between both but by can could d did do does doing done down during each few for
    from further get gets getting give given got had has have having he her here hers herself
    him himself his how i if in into is it its itself just let ll m many may me might more most
    much must my myself no nor not now of off ok okay on once only or other our ours ourselves
    out over own please re s same shall she should so some such t than thanks that the their
    theirs them themselves then there these they this those through to too under until up us ve
    very was we were what when where which while who whom whose why will with would yes you
    your yours yourself yourselves
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Words that ask or join and name nothing. Left in, they cost six points of recall at five on
LoCoMo (measured for the design of this search).
"""


def fold(text: str) -> str:
    """Return `text` without case and diacritics, in composed form."""
    text = text.casefold()
    if text.isascii():
        return text
    from unicodedata import normalize

    return normalize("NFC", _pattern(_MARKS).sub("", normalize("NFKD", text.translate(_LETTERS))))


def fold_with_places(text: str) -> tuple[str, Sequence[int]]:
    """Return `text` as `fold` does, and where each character of that stands in `text`, its end
    among them: `ß` becomes two, a diacritic none.
    """
    folded = fold(text)
    alone = {character: fold(character) for character in set(text)}
    if len(folded) == len(text) and all(len(piece) == 1 for piece in alone.values()):
        return folded, range(len(text) + 1)
    pieces = [alone[character] for character in text]
    if "".join(pieces) != folded:
        pieces = _composed(text, alone)
    places = [at for at, piece in enumerate(pieces) for _ in piece]
    return "".join(pieces), [*places, len(text)]


def _composed(text: str, alone: Mapping[str, str]) -> list[str]:
    """What each character of `text` folds to; "" where it becomes one with those before it, as
    kana do with their marks and the letters of Hangul. `alone` has what each folds to by itself.
    """
    pieces: list[str] = []
    known: dict[str, str] = {}
    start = 0
    for at, character in enumerate(text):
        pieces.append(alone[character])
        if character.isascii() or at - start >= _MOST_COMPOSED:
            start = at
        if at == start or not pieces[at]:
            continue
        both = text[start : at + 1]
        folded = known.get(both) or known.setdefault(both, fold(both))
        if folded == pieces[start] + pieces[at]:
            start = at
        else:
            pieces[start], pieces[at] = folded, ""
    return pieces


def end_of(places: Sequence[int], end: int) -> int:
    """Return where in a text ends what ends at `end` in the folded one: behind a letter that became
    several, and behind the diacritics that were folded away.
    """
    return max(places[end - 1] + 1, places[end])


def words(text: str) -> list[str]:
    """Return the words of `text`, folded, in their order. Of a script that sets no blanks every
    two neighbouring characters are a word.
    """
    found = runs(text)
    if text.isascii() or not _pattern(_UNSPACED).search(" ".join(found)):
        return found
    return [piece for word in found for piece in _pieces(word)]


def runs(text: str) -> list[str]:
    """Return the runs of letters and digits of `text`, folded, in their order."""
    folded = fold(text)
    if folded.isascii():
        return folded.encode("ascii").translate(_ASCII).decode("ascii").split()
    found: list[str] = _pattern(_WORD).findall(folded)
    return found


def is_unspaced(word: str) -> bool:
    """Say whether `word` is of a script that sets no blanks between words."""
    return not word.isascii() and bool(_pattern(_UNSPACED).fullmatch(word))


def content_words(found: Iterable[str]) -> list[str]:
    """Return those of the words `found` that name something."""
    return [word for word in found if word not in STOP_WORDS]


def _pieces(word: str) -> Iterator[str]:
    at = 0
    for run in _pattern(_UNSPACED).finditer(word):
        if run.start() > at:
            yield word[at : run.start()]
        yield from _pairs(run[0])
        at = run.end()
    if at < len(word):
        yield word[at:]


def _pairs(run: str) -> Iterator[str]:
    if len(run) == 1:
        yield run
    for at in range(len(run) - 1):
        yield run[at : at + 2]


@cache
def _pattern(text: str) -> re.Pattern[str]:
    """Compiled when it is needed: most texts are ASCII and need none."""
    import re

    return re.compile(text)


_KINDS = str.maketrans("aeioubcdfghjklmnpqrstvwxz", "vvvvv" + 20 * "c")
"""A consonant or a vowel; what `y` is, the letter before it decides."""

_LAST_OF_NO_ENDING = frozenset("abfhjkopqvwxz")
"""Letters in which no ending ends that is taken off or changed."""

_STEP_2 = {
    "ational": "ate",
    "tional": "tion",
    "enci": "ence",
    "anci": "ance",
    "izer": "ize",
    "bli": "ble",
    "alli": "al",
    "entli": "ent",
    "eli": "e",
    "ousli": "ous",
    "ization": "ize",
    "ation": "ate",
    "ator": "ate",
    "alism": "al",
    "iveness": "ive",
    "fulness": "ful",
    "ousness": "ous",
    "aliti": "al",
    "iviti": "ive",
    "biliti": "ble",
    "logi": "log",
}
_STEP_3 = {
    "icate": "ic",
    "ative": "",
    "alize": "al",
    "iciti": "ic",
    "ical": "ic",
    "ful": "",
    "ness": "",
}
_STEP_4 = (
    "ement",
    "ment",
    "ance",
    "ence",
    "able",
    "ible",
    "ant",
    "ent",
    "ion",
    "ism",
    "ate",
    "iti",
    "ous",
    "ive",
    "ize",
    "al",
    "er",
    "ic",
    "ou",
)


@lru_cache(maxsize=1 << 17)
def stem(word: str) -> str:
    """Return the stem of a `word` in lower case; a word with other letters than a to z, or of at
    most two, is its own stem.
    """
    if len(word) <= 2 or word[-1] in _LAST_OF_NO_ENDING:
        return word
    if not (word.isascii() and word.isalpha()):
        return word
    word = _without_past(_without_plural(word))
    if word[-1] == "y" and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _replaced(word, _STEP_2)
    word = _replaced(word, _STEP_3)
    return _without_e(_without_suffix(word))


def _kinds(word: str) -> str:
    """A `c` for every consonant and a `v` for every vowel."""
    kinds = word.translate(_KINDS)
    while (at := kinds.find("y")) >= 0:
        kind = "v" if kinds[:at].endswith("c") else "c"
        kinds = f"{kinds[:at]}{kind}{kinds[at + 1 :]}"
    return kinds


def _measure(word: str) -> int:
    """How often a vowel is followed by a consonant: Porter's *m*."""
    return _kinds(word).count("vc")


def _has_vowel(word: str) -> bool:
    return "v" in _kinds(word)


def _ends_double(word: str) -> bool:
    return word[-1:] == word[-2:-1] and _kinds(word).endswith("c")


def _ends_short(word: str) -> bool:
    """Whether it ends in consonant, vowel, consonant, the last none of w, x, y: Porter's *o*."""
    return word[-1:] not in ("w", "x", "y") and _kinds(word).endswith("cvc")


def _without_plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    if word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _without_past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        if word.endswith(ending):
            left = word[: -len(ending)]
            return _mended(left) if _has_vowel(left) else word
    return word


def _mended(word: str) -> str:
    """What is left of a past or a present participle, as the word was before."""
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if _ends_double(word) and word[-1] not in "lsz":
        return word[:-1]
    if _measure(word) == 1 and _ends_short(word):
        return word + "e"
    return word


def _replaced(word: str, endings: dict[str, str]) -> str:
    # nearly every word has none of them, which one call tells
    for ending, other in endings.items() if word.endswith(tuple(endings)) else ():
        if word.endswith(ending):
            left = word[: -len(ending)]
            return left + other if _measure(left) > 0 else word
    return word


def _without_suffix(word: str) -> str:
    for ending in _STEP_4 if word.endswith(_STEP_4) else ():
        if word.endswith(ending):
            left = word[: -len(ending)]
            fits = _measure(left) > 1 and (ending != "ion" or left.endswith(("s", "t")))
            return left if fits else word
    return word


def _without_e(word: str) -> str:
    if word.endswith("e"):
        left = word[:-1]
        measure = _measure(left)
        if measure > 1 or (measure == 1 and not _ends_short(left)):
            word = left
    if word.endswith("ll") and _measure(word) > 1:
        word = word[:-1]
    return word
