"""What a statement of one or a few sentences says, clause by clause: what it is about, what it
affirms and what it denies.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import NamedTuple

from ricordo.lexicon import build_alternation, load_filler
from ricordo.lint.contradictions import words as known
from ricordo.lint.contradictions.claim import Word
from ricordo.lint.contradictions.compared_sentence import (
    OF_NAME,
    OF_VAGUE,
    OF_WORD,
    ComparedSentence,
    are_forms,
    get_last,
    is_vague,
    read_sentence,
)
from ricordo.lint.contradictions.subjects import Subject, find_subjects
from ricordo.lint.contradictions.values import FreeValue, read_values
from ricordo.patterns import compile_lazily

_MARK = compile_lazily(r"\A\s*[-*+]\s+")
_RUN = compile_lazily(r"[\u3400-\u9fff々]{2,}|[\u30a1-\u30fa\u30fc]{2,}")
"""A run of Han characters or katakana: words without the grammar between them."""
_KATAKANA, _KATAKANA_END = "\u30a1", "\u30fc"
_LONG_RUN, _LONG = 4, 3
"""Characters of a shared run from which on it is a name, or more than a word."""
_OF_LONG = 1.5
_SHORTEST_PART = 3
"""Letters of a part of a compound."""
_DENYING = frozenset(("denial", "gone", "dislike"))


class Clause(NamedTuple):
    """A part of a statement between two pauses."""

    sentence: ComparedSentence
    words: Mapping[str, Word]
    """Its content words by key."""
    is_denied: bool
    """Whether it says that something is not so, no longer so, or not wanted."""

    def has(self, key: str) -> bool:
        """Return whether it names a word, a code or a run of characters."""
        if key in self.words or key in self.sentence.codes:
            return True
        return not key.isascii() and key in self.sentence.text


class SharedItem(NamedTuple):
    """What two statements name, by its key in each."""

    left: str
    right: str
    weight: float


@cache
def _pause() -> re.Pattern[str]:
    """Return the pattern for the border between two clauses."""
    return re.compile(
        r"(?:[,，、;；。:!?！？]|(?<!\d)\.|(?<=\d)\.(?=\Z))(?:\s|\Z|(?=[^\x00-\x7f]))"
        r"|(?<=[^\x00-\x7f])[:：]|\s[–—-]\s|\s\(|（"
        rf"|\s(?:{build_alternation(known.load_words('clauses'))})\s"
    )


@dataclass(frozen=True, eq=False)
class JudgedStatement:
    """A statement of one or a few sentences."""

    sentence: ComparedSentence
    clauses: tuple[Clause, ...]

    @cached_property
    def text(self) -> str:
        """Its text in lower case, without marks."""
        return self.sentence.text

    @cached_property
    def words(self) -> Mapping[str, Word]:
        """Its content words by key."""
        return {key: word for it in reversed(self.clauses) for key, word in it.words.items()}

    @cached_property
    def runs(self) -> tuple[str, ...]:
        """Its runs of Han characters and of katakana."""
        return tuple(_RUN.findall(self.text))

    @cached_property
    def pairs(self) -> frozenset[str]:
        """Every two neighbouring characters of its runs."""
        return frozenset(run[at : at + 2] for run in self.runs for at in range(len(run) - 1))

    @cached_property
    def signs(self) -> frozenset[str]:
        """The signs that it or one of its clauses gives."""
        return self.sentence.signs.union(*(it.sentence.signs for it in self.clauses))

    @cached_property
    def weight(self) -> float:
        """The weight of all that it names."""
        return sum(map(weigh, self.words.values())) + sum(len(it) / 2 for it in self.runs)

    @cached_property
    def former(self) -> frozenset[str]:
        """The keys of what it says was before something else."""
        texts = map(get_last, map(re.Match.groups, known.load_former().finditer(self.text)))
        return frozenset(key for it in texts for key in (it, *read_sentence(it).keys))

    @cached_property
    def values(self) -> tuple[tuple[FreeValue, bool], ...]:
        """Its values, each with whether its clause is denied."""
        return tuple(
            (value, it.is_denied) for it in self.clauses for value in read_values(it.sentence.text)
        )

    @cached_property
    def subjects(self) -> Mapping[Subject, frozenset[bool]]:
        """What it names of the known kinds, each with whether the clauses with it are denied."""
        found: dict[Subject, set[bool]] = {}
        for it in self.clauses:
            for subject in find_subjects(it.sentence.text):
                found.setdefault(subject, set()).add(it.is_denied)
        return {subject: frozenset(signs) for subject, signs in found.items()}

    def get_signs(self, key: str) -> frozenset[bool]:
        """Return whether the clauses that name an item are denied; empty where none does."""
        if key in self.former:
            return frozenset((True,))
        return frozenset(it.is_denied for it in self.clauses if it.has(key))

    def get_tools(self, *, is_denied: bool) -> frozenset[object]:
        """Return the keys of the tools in its clauses that are denied, or in the others."""
        tools = frozenset[object]().union(
            *(it.sentence.tools for it in self.clauses if it.is_denied == is_denied)
        )
        return tools | self.former if is_denied else tools - self.former


def weigh(word: Word) -> float:
    """Return how much a word tells of a subject."""
    if word.is_name or word.is_code:
        return OF_NAME
    return OF_VAGUE if is_vague(word.key) or is_vague(word.text) else OF_WORD


@lru_cache(maxsize=1 << 13)
def read_passage(text: str) -> JudgedStatement:
    """Return what a statement says."""
    text = _MARK.sub("", text)
    parts = [it for it in _pause().split(text) if it and it.strip()] or [text]
    return JudgedStatement(read_sentence(text), tuple(map(_read_clause, parts)))


@lru_cache(maxsize=1 << 14)
def _read_clause(text: str) -> Clause:
    sentence = read_sentence(text)
    words: dict[str, Word] = {}
    for key, word in sentence.words.items():
        if known.is_stop_word(word.text) or (len(key) < 2 and key.isascii() and not key.isdigit()):
            continue
        words[key] = word
        for part in _split_compound(word, sentence.claim.language):
            words.setdefault(part.key, part)
    is_denied = "need" not in sentence.signs and not sentence.signs.isdisjoint(_DENYING)
    return Clause(sentence, words, is_denied)


def _split_compound(word: Word, language: str) -> Iterator[Word]:
    """Yield the words of a compound with hyphens."""
    parts = word.text.split("-")
    if len(parts) > 1 and all(it.isalpha() for it in parts):
        for part in parts:
            if len(part) < _SHORTEST_PART or known.is_stop_word(part):
                continue
            if key := known.get_word_key(part, language):
                yield word._replace(key=key, text=part, is_name=False)


def share_items(one: JudgedStatement, other: JudgedStatement) -> list[SharedItem]:
    """Return what two statements name, in any form of its words."""
    found: list[SharedItem] = []
    used: set[str] = set()
    for key, word in one.words.items():
        its = other.words.get(key)
        if its is None or its.key in used:
            free = (it for it in other.words.values() if it.key not in used)
            its = next((it for it in free if are_forms(key, it.key)), None)
        if its is not None:
            used.add(its.key)
            weights = weigh(word), weigh(its)
            weight = OF_NAME if OF_NAME in weights else min(weights)
            found.append(SharedItem(key, its.key, weight))
    codes = one.sentence.codes & other.sentence.codes
    found += [SharedItem(it, it, OF_NAME) for it in sorted(codes - one.words.keys())]
    found += [SharedItem(it, it, _weigh_run(it)) for it in sorted(_share_runs(one, other))]
    return found


def _weigh_run(run: str) -> float:
    if is_vague(run):
        return OF_VAGUE
    if len(run) >= _LONG_RUN:
        return OF_NAME
    return _OF_LONG if len(run) == _LONG or _KATAKANA <= run[0] <= _KATAKANA_END else OF_WORD


def _share_runs(one: JudgedStatement, other: JudgedStatement) -> frozenset[str]:
    """Return the longest runs of characters that two statements share, without grammar at their
    ends.
    """
    found: set[str] = set()
    for run in one.runs:
        at = 0
        while at < len(run) - 1:
            end = at
            while (
                end < len(run) - 1
                and run[end : end + 2] in other.pairs
                and run[at : end + 2] in other.text
            ):
                end += 1
            if end > at:
                found.add(run[at : end + 1])
            at = max(end, at + 1)
    ends = known.load_words("affixes")
    stop = load_filler() | known.load_modals() | known.load_words("common")
    return frozenset(it for run in found if len(it := _strip(run, ends)) > 1 and it not in stop)


def _strip(run: str, ends: frozenset[str]) -> str:
    for it in sorted(ends, key=len, reverse=True):
        run = run.removeprefix(it).removesuffix(it)
    return run
