"""Split a text into words as the index stores them: folded, unspaced scripts as character pairs.

Standard library only, and little of it: the hook imports this module for every message.
"""

from __future__ import annotations

from functools import cache, lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_ASCII = bytes(c if chr(c).isalnum() and c < 128 else 32 for c in range(256))
"""Keeps letters and digits and turns the rest into blanks, in a quarter of a regex's time."""
_MARKS = (
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u0640\u064b-\u065f\u0670]"
)
"""Diacritics, and the vowel marks of Hebrew and Arabic, which are seldom written."""
_LETTERS = str.maketrans("łøđħıð", "lodhid") | str.maketrans({"æ": "ae", "œ": "oe", "þ": "th"})
"""Letters with a stroke and the like, which Unicode does not decompose, to their usual substitutes
on keyboards without them.
"""
_SIGNS = (
    "[\u0900-\u0963\u0970-\u0dff\u0e31-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ebc\u0ec8-\u0ece"
    "\u0f71-\u0f84\u0f8d-\u0fbc\u102b-\u103e\u1056-\u1059\u17b4-\u17d3]"
)
"""Vowel signs within the words of South and South-East Asian scripts, which are not letters."""
_WORD = rf"[^\W_]++(?:{_SIGNS}+[^\W_]*)*"
_UNSPACED = (
    "[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3130-\u318f"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)
"""Thai, Lao, Burmese, Khmer, Chinese, Japanese, Korean."""
_MOST_COMPOSED = 8
"""Characters that may compose into one; no script has so many."""

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
"""Stop words. Keeping them costs six points of recall at five on LoCoMo."""


_LANGUAGES = "search/stop_words.txt"
LEAST_STOP_WORDS = 2
"""Different stop words of a language that show that a text is in it."""


@cache
def _load_stop_words() -> dict[str, frozenset[str]]:
    """Return the stop words by language, English first. They are folded in the file, which would
    take longer than reading it.
    """
    from ricordo.resources import find_data_file
    from ricordo.storage.foreign_file import read_plain_file

    raw = read_plain_file(find_data_file(_LANGUAGES), 1 << 16, follow=True) or b""
    lines = (line.split() for line in raw.decode("utf-8").splitlines())
    return {"en": STOP_WORDS} | {language: frozenset(words) for language, *words in lines}


@cache
def list_stop_words() -> frozenset[str]:
    """Return the stop words of all languages, folded."""
    return frozenset().union(*_load_stop_words().values())


def count_stop_words(words: Iterable[str]) -> dict[str, int]:
    """Return how many different stop words of each language, ISO 639-1, are among these folded
    `words`; English comes first.
    """
    found = list_stop_words().intersection(words)
    if not found:
        return dict.fromkeys(_load_stop_words(), 0)
    return {name: len(found & stop) for name, stop in _load_stop_words().items()}


def find_language(words: Iterable[str]) -> tuple[str, frozenset[str]]:
    """Return the language of a text with these folded `words`, by its most frequent stop words, and
    all of these; "en" if no other one is likelier.
    """
    counts = count_stop_words(words)
    language = max(counts, key=lambda name: counts[name])
    if counts[language] < LEAST_STOP_WORDS:
        language = "en"
    return language, STOP_WORDS | _load_stop_words()[language]


def fold(text: str) -> str:
    """Return `text` without case and diacritics, in composed form."""
    text = text.casefold()
    if text.isascii():
        return text
    from unicodedata import normalize

    return normalize("NFC", _pattern(_MARKS).sub("", normalize("NFKD", text.translate(_LETTERS))))


def fold_with_places(text: str) -> tuple[str, Sequence[int]]:
    """Return `text` folded, and the offset in `text` of each folded character and of the end: `ß`
    becomes two characters, a diacritic none.
    """
    folded = fold(text)
    alone = {character: fold(character) for character in set(text)}
    if len(folded) == len(text) and all(len(piece) == 1 for piece in alone.values()):
        return folded, range(len(text) + 1)
    pieces = [alone[character] for character in text]
    if "".join(pieces) != folded:
        pieces = _fold_composed(text, alone)
    places = [at for at, piece in enumerate(pieces) for _ in piece]
    return "".join(pieces), [*places, len(text)]


def _fold_composed(text: str, alone: Mapping[str, str]) -> list[str]:
    """Return the folded form of each character of `text`; "" if it composes with those before it,
    as marks of kana and letters of Hangul do. `alone` maps characters to their own folded forms.
    """
    pieces: list[str] = []
    cache: dict[str, str] = {}
    start = 0
    for at, character in enumerate(text):
        pieces.append(alone[character])
        if character.isascii() or at - start >= _MOST_COMPOSED:
            start = at
        if at == start or not pieces[at]:
            continue
        both = text[start : at + 1]
        folded = cache.get(both) or cache.setdefault(both, fold(both))
        if folded == pieces[start] + pieces[at]:
            start = at
        else:
            pieces[start], pieces[at] = folded, ""
    return pieces


def find_end(places: Sequence[int], end: int) -> int:
    """Return the offset in a text for the end offset `end` in the folded text: after a letter that
    became several, and after diacritics that were folded away.
    """
    return max(places[end - 1] + 1, places[end])


def split_words(text: str) -> list[str]:
    """Return the words of `text`, folded, in order. In unspaced scripts every pair of adjacent
    characters is a word.
    """
    folded = split_runs(text)
    if text.isascii() or not _pattern(_UNSPACED).search(" ".join(folded)):
        return folded
    return [piece for word in folded for piece in _split_unspaced(word)]


def split_runs(text: str) -> list[str]:
    """Return the runs of letters and digits of `text`, folded, in order."""
    folded = fold(text)
    if folded.isascii():
        return folded.encode("ascii").translate(_ASCII).decode("ascii").split()
    matches: list[str] = _pattern(_WORD).findall(folded)
    return matches


def is_unspaced(word: str) -> bool:
    """Return whether `word` is in a script without blanks between words."""
    return not word.isascii() and bool(_pattern(_UNSPACED).fullmatch(word))


def list_unspaced_runs(text: str) -> list[str]:
    """Return the runs of characters of unspaced scripts in `text`, folded, in order."""
    return _pattern(_UNSPACED).findall(fold(text))


def join_pairs(words: Iterable[str]) -> str:
    """Return these words of `split_words` as a text with a blank before and after each; the runs of
    unspaced scripts of which they are the pairs are whole again.
    """
    runs = [" "]
    before = ""
    for word in words:
        continues = len(before) == len(word) == 2 and before[1] == word[0] and is_unspaced(word)
        runs.append(word[1] if continues else f" {word}")
        before = word
    return "".join([*runs, " "])


_HANGUL = ("\uac00", "\ud7af")
_HIRAGANA = "".join(map(chr, range(0x3041, 0x30A0)))
_PARTICLES = "的了吗呢吧啊"
"""Particles of Chinese that end words or sentences, and seldom belong to a word."""


def find_shared_runs(run: str, text: str) -> Iterator[str]:
    """Yield the words of a `run` of an unspaced script that a `text` of `join_pairs` has too: in
    Korean the beginning of a word, in other languages at least two characters in a row, without
    particles and endings around them.
    """
    if len(run) == 1:
        yield from (run for _ in range(f" {run} " in text))
        return
    is_korean = _HANGUL[0] <= run[0] <= _HANGUL[1]
    at = 0
    while at < len(run) - 1 and not (is_korean and at):
        end = at + 2
        mark = " " if is_korean else ""
        if mark + run[at:end] not in text:
            at += 1
            continue
        while end < len(run) and mark + run[at : end + 1] in text:
            end += 1
        word = run[at:end].strip(_HIRAGANA).lstrip("的").rstrip(_PARTICLES)
        if len(word) > 1:
            yield word
        at = end


def content_words(words: Iterable[str], stop_words: frozenset[str] = STOP_WORDS) -> list[str]:
    """Return the words that are not `stop_words`."""
    return [word for word in words if word not in stop_words]


def _split_unspaced(word: str) -> Iterator[str]:
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
    """Compile a pattern when first needed: most texts are ASCII and need none."""
    import re

    return re.compile(text)


_KINDS = str.maketrans("aeioubcdfghjklmnpqrstvwxz", "vvvvv" + 20 * "c")
"""Consonants and vowels; the kind of `y` depends on the letter before it."""

_NO_ENDING = frozenset("abfhjkopqvwxz")
"""Letters that are not the last one of any ending below."""

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
def stem_word(word: str) -> str:
    """Return the Porter stem of a `word` in lower case; a word with other letters than a to z, or
    with at most two, is its own stem.
    """
    if len(word) <= 2 or word[-1] in _NO_ENDING:
        return word
    if not (word.isascii() and word.isalpha()):
        return word
    word = _without_past(_without_plural(word))
    if word[-1] == "y" and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _replace_ending(word, _STEP_2)
    word = _replace_ending(word, _STEP_3)
    return _without_e(_without_suffix(word))


def _kinds(word: str) -> str:
    """Return a `c` for every consonant and a `v` for every vowel."""
    kinds = word.translate(_KINDS)
    while (at := kinds.find("y")) >= 0:
        kind = "v" if kinds[:at].endswith("c") else "c"
        kinds = f"{kinds[:at]}{kind}{kinds[at + 1 :]}"
    return kinds


def _measure(word: str) -> int:
    """Return how often a vowel is followed by a consonant: Porter's *m*."""
    return _kinds(word).count("vc")


def _has_vowel(word: str) -> bool:
    return "v" in _kinds(word)


def _ends_double(word: str) -> bool:
    return word[-1:] == word[-2:-1] and _kinds(word).endswith("c")


def _ends_short(word: str) -> bool:
    """Return whether it ends in consonant, vowel, consonant other than w, x, y: Porter's *o*."""
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
            rest = word[: -len(ending)]
            return _restore_end(rest) if _has_vowel(rest) else word
    return word


def _restore_end(word: str) -> str:
    """Return a word with the end it had before `-ed` or `-ing` was added."""
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if _ends_double(word) and word[-1] not in "lsz":
        return word[:-1]
    if _measure(word) == 1 and _ends_short(word):
        return word + "e"
    return word


def _replace_ending(word: str, endings: dict[str, str]) -> str:
    # nearly every word has none of them, which one call shows
    for ending, other in endings.items() if word.endswith(tuple(endings)) else ():
        if word.endswith(ending):
            rest = word[: -len(ending)]
            return rest + other if _measure(rest) > 0 else word
    return word


def _without_suffix(word: str) -> str:
    for ending in _STEP_4 if word.endswith(_STEP_4) else ():
        if word.endswith(ending):
            rest = word[: -len(ending)]
            fits = _measure(rest) > 1 and (ending != "ion" or rest.endswith(("s", "t")))
            return rest if fits else word
    return word


def _without_e(word: str) -> str:
    if word.endswith("e"):
        rest = word[:-1]
        measure = _measure(rest)
        if measure > 1 or (measure == 1 and not _ends_short(rest)):
            word = rest
    if word.endswith("ll") and _measure(word) > 1:
        word = word[:-1]
    return word
