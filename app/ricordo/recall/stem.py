"""Porter's stemmer: what English words have in common when their endings are taken off.

M. F. Porter, An algorithm for suffix stripping, Program 14(3), 1980, pp. 130-137, with the three
departures that its author has published since (`abli` and `logi` in step 2, words of two letters
left alone).
"""

from __future__ import annotations

from functools import lru_cache

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
