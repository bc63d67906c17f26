"""The word lists for comparing claims, from the data files of the rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from itertools import chain
from typing import NamedTuple, TypeVar

from ricordo.lexicon import (
    SPACELESS,
    build_alternation,
    compile_part,
    list_expressions,
    load_filler,
    read_words,
)
from ricordo.patterns import compile_lazily
from ricordo.search.words import fold, list_stop_words, stem_word

_FILE = "opposition"
_BLANK = compile_lazily(r"\s+")
_SPACELESS = compile_lazily(f"[{SPACELESS}]+")
_OTHER_SCRIPT = compile_lazily("[\u0400-\u04ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_CYRILLIC = compile_lazily("[\u0400-\u04ff]")
_FIRST = compile_lazily(r"([a-z0-9]+)(?: |-|\\-|\[|\Z)")
_PLAIN = compile_lazily(r"[\w ]+")
_LETTERS = compile_lazily(r"[a-z0-9]+")
_DIGIT = compile_lazily(r"\d")
_SHORTEST_STEM = 4
_HANGUL, _HANGUL_END = "\uac00", "\ud7af"
_KANA_END = "\u30ff"
_HIRAGANA_END = "\u309f"


_T = TypeVar("_T")
_MOST_KNOWN = 1 << 18


class WordCache(dict[str, _T]):
    """A value of each word, computed when it is first looked up: a memory repeats its words."""

    def __init__(self, get_value: Callable[[str], _T]) -> None:
        self._get_value = get_value

    def __missing__(self, word: str) -> _T:
        if len(self) > _MOST_KNOWN:
            self.clear()
        value = self[word] = self._get_value(word)
        return value


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
def _load_relations() -> Mapping[str, re.Pattern[str]]:
    """Return by its name the pattern of each relation with one value at a time."""
    return {
        name: re.compile(build_alternation(text for texts in lists.values() for text in texts))
        for name, lists in read_words(_FILE)["relations"].items()
    }


@cache
def _load_relation_beginnings() -> Mapping[str, re.Pattern[str]]:
    """Return by its name the pattern for what is before the first blank of each relation; under ""
    for that of any of them.
    """
    lists = {name: list(chain(*it.values())) for name, it in read_words(_FILE)["relations"].items()}
    lists[""] = list(chain(*lists.values()))
    return {name: _compile_beginnings(texts) for name, texts in lists.items()}


def _list_begun_relations(part: str) -> tuple[str, ...]:
    beginnings = _load_relation_beginnings()
    # most parts begin none
    if not beginnings[""].search(part):
        return ()
    return tuple(name for name, it in beginnings.items() if name and it.search(part))


_begun_relations = WordCache(_list_begun_relations)
"""The relations that a part of a text between two blanks may begin."""


def may_begin_relation(part: str) -> bool:
    """Return whether a part of a text between two blanks may begin a relation."""
    return bool(_begun_relations[part])


@lru_cache(maxsize=1 << 8)
def find_relations(plain: str) -> frozenset[str]:
    """Return the names of the relations with one value at a time that a text in lower case
    expresses.
    """
    begun = set(chain.from_iterable(map(_begun_relations.__getitem__, plain.split())))
    return frozenset(name for name in begun if _load_relations()[name].search(plain))


_SCRIPTS = {"ru": "cyrillic", "zh": "han", "ja": "han", "ko": "hangul"}
"""The script of each language that is not written with Latin letters."""


def find_script(text: str) -> str:
    """Return in which of the scripts of the data a text is written: the first that is not Latin,
    else `latin`.
    """
    if text.isascii() or (match := _OTHER_SCRIPT.search(text)) is None:
        return "latin"
    if match[0] <= "\u04ff":
        return "cyrillic"
    return "hangul" if _HANGUL <= match[0] <= _HANGUL_END else "han"


@cache
def load_cues(script: str) -> Mapping[str, re.Pattern[str]]:
    """Return by its name the pattern of each sign that a statement in a script may give."""
    return {
        name: re.compile(
            build_alternation(
                text
                for language, texts in lists.items()
                if _SCRIPTS.get(language, "latin") == script
                for text in texts
            )
        )
        for name, lists in read_words(_FILE)["cues"].items()
    }


def _list_of(part: str, script: str) -> list[str]:
    """Return the expressions under `part` of all languages with a script."""
    return [
        text
        for name, texts in read_words(_FILE)[part].items()
        if _SCRIPTS.get(name, "latin") == script
        for text in texts
    ]


@cache
def load_topic(script: str) -> re.Pattern[str] | None:
    """Return the pattern for what a sentence is about, at its beginning, in scripts where that has
    a mark behind it; None for the others.
    """
    marks = "|".join(_list_of("topic", script))
    if script == "hangul":
        return re.compile(rf"((?:\S+ ){{0,3}}\S+?)(?:{marks})(?= )")
    return re.compile(rf"([^、。,，]{{1,25}}?)(?:{marks})") if marks else None


@cache
def load_former() -> re.Pattern[str]:
    """Return the pattern for what was before something else, in one of its groups."""
    texts = list_expressions(_FILE, "former")
    unspaced = [it for it in texts if _OTHER_SCRIPT.search(it) and not _CYRILLIC.search(it)]
    words = "|".join(it.replace("{}", r"([^\s,.;:]+)") for it in texts if it not in unspaced)
    runs = "|".join(it.replace("{}", r"([^\s,.;:，。、]+?)") for it in unspaced)
    return re.compile(rf"\b(?:{words})|{runs}")


@lru_cache(maxsize=1 << 14)
def is_stop_word(word: str) -> bool:
    """Return whether a word only connects others, in any language."""
    return fold(word) in list_stop_words()


@cache
def load_persons_named() -> re.Pattern[str]:
    """Return the pattern for the name of a person, in one of its groups."""
    name = r"([\u3400-\u9fff\u30a1-\u30fa]{1,5}?|[\uac00-\ud7a3]{2,4})"
    texts = list_expressions(_FILE, "named_persons")
    return re.compile("|".join(text.replace("{}", name) for text in texts))


@cache
def load_port() -> re.Pattern[str]:
    """Return the pattern for a port, in one of its groups."""
    words = "|".join(list_expressions(_FILE, "port"))
    return re.compile(rf"(?:{words})\D{{0,12}}(\d{{2,5}})\b|(?<=[a-z\d]):(\d{{4,5}})\b")


@cache
def load_branch() -> re.Pattern[str]:
    """Return the pattern for a name before the word for a branch."""
    words = "|".join(list_expressions(_FILE, "branch"))
    return re.compile(rf"[\w.]*[\d/-][\w./-]*(?= ?(?:{words}))")


@cache
def load_negations(language: str) -> frozenset[str]:
    """Return the words of negation of a language, of all where it is not known or has none: what
    negates in one language may be an article in another.
    """
    own = read_words(_FILE)["negation"].get(language)
    # short forms and phrases are read as `not`
    return frozenset((*own, "not")) if own else load_words("negation")


@cache
def load_denials(language: str) -> frozenset[str]:
    """Return the words of negation of a language, and those that say that something is not so, not
    allowed or not needed.
    """
    parts = ("so", "may", "need")
    return load_negations(language).union(
        text for part in parts for text, no in load_signs(part).items() if no
    )


@cache
def compile_denials(language: str) -> re.Pattern[str]:
    """Return the pattern for a word that denies, for texts in a language."""
    return re.compile(build_alternation(load_denials(language)))


@cache
def load_sides() -> tuple[tuple[str, str], ...]:
    """Return the signs that exclude each other."""
    return tuple(
        (one, other) for text in list_expressions(_FILE, "sides") for one, other in [text.split()]
    )


@cache
def load_phrases() -> Mapping[str, tuple[tuple[str, str], ...]]:
    """Return the phrases with their replacement words, each as an expression, longest first, by
    their first word; under "" those that begin with none.
    """
    pairs = [
        (text, word)
        for line in list_expressions(_FILE, "phrases")
        for text, word in [line.split(" = ")]
    ]
    tools = [text for text in load_tool_spellings() if " " in text]
    pairs += [(re.escape(text).replace(r"\ ", " "), join_spelling(text)) for text in tools]
    found: dict[str, list[tuple[str, str]]] = {}
    for text, word in sorted(pairs, key=lambda pair: (-len(pair[0]), pair)):
        first = _FIRST.match(text)
        found.setdefault(first[1] if first else "", []).append((text, f" {word} "))
    return {key: tuple(them) for key, them in found.items()}


def join_phrases(plain: str) -> str:
    """Return a lower-case text, with single blanks, with each phrase replaced by its word."""
    phrases = load_phrases()
    texts = [word for word in dict.fromkeys(_LETTERS.findall(plain)) if word in phrases]
    if not plain.isascii() and _load_phrase_beginnings().search(plain):
        texts.append("")
    for first in texts:
        for phrase, word in phrases[first]:
            # most are plain words, and seldom there
            if phrase in plain or not _PLAIN.fullmatch(phrase):
                plain = _phrase(phrase).sub(word, plain)
    return plain


def may_begin_phrase(part: str) -> bool:
    """Return whether a part of a text between two blanks may begin a phrase."""
    if any(word in load_phrases() for word in _LETTERS.findall(part)):
        return True
    return not part.isascii() and bool(_load_phrase_beginnings().search(part))


@cache
def _load_phrase_beginnings() -> re.Pattern[str]:
    """Return the pattern for what is before the first blank of any phrase that begins with no plain
    word. None of these is ASCII.
    """
    return _compile_beginnings(phrase for phrase, _ in load_phrases().get("", ()))


def _compile_beginnings(expressions: Iterable[str]) -> re.Pattern[str]:
    """Return the pattern for what is before the first blank of any of the expressions."""
    return re.compile(build_alternation(it.split(" ")[0] for it in expressions))


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
    """Return, by spelling, the kind of value that a word is, `state …` or `opposite …` with the
    first word of its pair, and its side.
    """
    found: dict[str, tuple[str, bool]] = {}
    for part in ("state", "opposite"):
        for pair in list_expressions(_FILE, f"{part}s"):
            one, other = pair.split()
            kind = f"{part} {one.split('|')[0]}"
            for side, spellings in ((False, one), (True, other)):
                for text in spellings.split("|"):
                    found.setdefault(text, (kind, side))
    return found


@cache
def load_synonyms() -> Mapping[str, str]:
    """Return the representative of each word with synonyms."""
    groups = (text.split("|") for text in list_expressions(_FILE, "synonyms"))
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
def load_tool_spellings() -> tuple[str, ...]:
    """Return every spelling of a thing, the longest first."""
    entries = read_words("tools")["class"]
    found = {text for it in entries for member in it["members"] for text in member.split("|")}
    return tuple(sorted(found, key=lambda text: (-len(text), text)))


@cache
def load_ambiguous_tools() -> frozenset[str]:
    """Return the things whose names are ordinary words, too."""
    return frozenset(read_words("tools")["doubtful"])


@cache
def load_modals() -> frozenset[str]:
    """Return the modal words: that something is, may be or has to be, or is not."""
    return frozenset(text for part in ("so", "may", "need") for text in load_signs(part))


@lru_cache(maxsize=1 << 16)
def is_binding(token: str) -> bool:
    """Return whether a word may give a claim a value, or a subject that has one value at a time."""
    words = (token, token.lstrip("./~"), stem_word(token))
    return bool(_DIGIT.search(token)) or not _load_binding_words().isdisjoint(words)


@cache
def _load_binding_words() -> frozenset[str]:
    tables = (load_numbers(), load_days(), load_tools(), load_opposites())
    return _load_single_forms().union(*tables)


@cache
def _load_single_forms() -> frozenset[str]:
    """Return the things with one value at a time in all forms that have their keys."""
    single = load_words("single")
    endings = {it for endings in _load_endings().values() for it in endings}
    synonyms = (text for text, key in load_synonyms().items() if key in single)
    return single.union(synonyms, (f"{word}{ending}" for word in single for ending in endings))


@cache
def load_special_words() -> frozenset[str]:
    """Return every word that has a meaning of its own."""
    parts = ("negation", "excepting", "all", "some", "only", "generic")
    tables = (load_numbers(), load_days(), load_persons(), load_tools(), load_opposites())
    return load_modals().union(*map(load_words, parts), *tables)


@cache
def load_verbs() -> frozenset[str]:
    """Return the words that separate the subject of a statement from its predicate."""
    parts = ("verbs", "being", "use", "gone")
    return load_modals().union(*map(load_words, parts))


@cache
def load_small_words() -> frozenset[str]:
    """Return the words that sentences have and headings and labels mostly lack."""
    return load_verbs() | load_filler() | load_words("scope")


@lru_cache(maxsize=1 << 16)
def get_word_key(token: str, language: str = "") -> str:
    """Return the same key for all forms of a word; "" for filler."""
    if token in load_filler() or token in load_words("scope"):
        return ""
    if (tool := load_tools().get(token)) and token not in load_ambiguous_tools():
        return tool[0][1]
    return load_synonyms().get(token) or _stem(token, language)


def _stem(token: str, language: str) -> str:
    if not token.isalpha():
        return token
    for ending in _load_endings().get(language, ()):
        if token.endswith(ending) and len(token) - len(ending) >= _SHORTEST_STEM:
            return token[: -len(ending)]
    stem = stem_word(token)
    return load_synonyms().get(stem, stem)


@cache
def _load_endings() -> Mapping[str, tuple[str, ...]]:
    """Return the endings of the forms of a word by language, longest first."""
    tables = read_words(_FILE)["endings"].items()
    return {name: tuple(sorted(texts, key=lambda it: (-len(it), it))) for name, texts in tables}


@lru_cache(maxsize=1 << 14)
def split_unspaced(run: str) -> tuple[tuple[str, int], ...]:
    """Return the words of a run of Chinese, Japanese or Korean with their offsets: known words as
    long as possible, else all up to the next known word, in Japanese up to the end of its kanji or
    katakana. Grammatical endings are left out; no known word is cut.
    """
    if _HANGUL <= run[0] <= _HANGUL_END:
        return ((_without_endings(run), 0),)
    found: list[tuple[str, int]] = []
    lexicon, longest = _load_lexicon()
    has_kana = any("\u3040" <= char <= _KANA_END for char in run)
    start = at = 0
    while at < len(run):
        sizes = range(min(longest, len(run) - at), 0, -1)
        is_inside = has_kana and at > start
        size = next(
            (n for n in sizes if run[at : at + n] in lexicon and (n > 1 or not is_inside)), 0
        )
        is_border = bool(size) or (
            at > start and has_kana and _script(run, at - 1) != _script(run, at)
        )
        if is_border and at > start:
            found.append((run[start:at], start))
            start = at
        if size:
            found.append((run[at : at + size], at))
            at += size
            start = at
        else:
            at += 1
    if start < len(run):
        found.append((run[start:], start))
    return tuple((it, place) for it, place in found if not _is_hiragana(it) or it in lexicon)


def _script(run: str, at: int) -> int:
    char = run[at]
    return 0 if char <= _HIRAGANA_END else 1 if char <= _KANA_END else 2


def _is_hiragana(text: str) -> bool:
    return all("\u3040" <= char <= _HIRAGANA_END for char in text)


def _without_endings(word: str) -> str:
    """Return a Korean word without its particles and verb endings, as far as a known word or two
    characters are left.
    """
    lexicon, _ = _load_lexicon()
    for _ in range(3):
        if word in lexicon:
            return word
        for ending in _load_endings()["ko"]:
            stem = word.removesuffix(ending)
            if stem != word and (len(stem) > 1 or stem in lexicon):
                word = stem
                break
        else:
            return word
    return word


@cache
def _load_lexicon() -> tuple[frozenset[str], int]:
    """Return all known words of scripts without blanks, and the length of the longest."""
    parts = ("scope", "single", "clock", "afternoon", "counting", "vague", "environments")
    texts = load_special_words().union(
        load_filler(), load_verbs(), *map(load_words, parts), load_units(), load_synonyms()
    )
    found = frozenset(text for text in texts if _SPACELESS.fullmatch(text))
    return found, max(map(len, found))
