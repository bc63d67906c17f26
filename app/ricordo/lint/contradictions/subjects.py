"""Find what a text is about and what it chooses, by the words for it in all languages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import NamedTuple

from ricordo.lexicon import SPACELESS, read_words
from ricordo.patterns import compile_lazily

_FILE = "subjects"
_TOKEN = compile_lazily(rf"[^\W_{SPACELESS}]+(?:['’-][^\W_{SPACELESS}]+)*")
_RUN = compile_lazily(rf"[{SPACELESS}・ ]*[{SPACELESS}]")
_SPACELESS = compile_lazily(f"[{SPACELESS}]")
_SHORTEST_BEGINNING = 3


class Subject(NamedTuple):
    """A thing or a side of an alternative that a text names."""

    kind: str
    key: str
    """The same for all its spellings."""
    is_side: bool
    """Whether it is a side: then the other key of its kind is the opposite."""


class _SubjectSpelling(NamedTuple):
    words: tuple[str, ...]
    """In order; a beginning of a word ends with `*`."""
    subject: Subject


class _Lexicon(NamedTuple):
    exact: Mapping[str, tuple[_SubjectSpelling, ...]]
    """By their first word."""
    begun: Mapping[str, tuple[_SubjectSpelling, ...]]
    """By the beginning of their first word."""
    unspaced: Mapping[str, Subject]
    """Those in scripts without blanks."""


@cache
def _load() -> _Lexicon:
    exact: dict[str, list[_SubjectSpelling]] = {}
    begun: dict[str, list[_SubjectSpelling]] = {}
    unspaced: dict[str, Subject] = {}
    for group, kinds in read_words(_FILE).items():
        for kind, keys in kinds.items():
            for key, spellings in keys.items():
                subject = Subject(kind, key, group == "sides")
                for text in spellings.split("|"):
                    if _SPACELESS.search(text):
                        unspaced[text.rstrip("*")] = subject
                        continue
                    words = tuple(text.split(" "))
                    table = begun if words[0].endswith("*") else exact
                    table.setdefault(words[0].rstrip("*"), []).append(
                        _SubjectSpelling(words, subject)
                    )
    return _Lexicon(
        {word: tuple(them) for word, them in exact.items()},
        {word: tuple(them) for word, them in begun.items()},
        unspaced,
    )


@lru_cache(maxsize=1 << 14)
def find_subjects(text: str) -> frozenset[Subject]:
    """Return what a text in lower case names; nothing that is part of a longer name."""
    return frozenset(
        subject for *_, subject in _drop_parts([*_find_spaced(text), *_find_runs(text)])
    )


_Place = tuple[int, int, Subject]
"""Start and end of a spelling, and what it means."""


def _drop_parts(found: list[_Place]) -> Iterator[_Place]:
    for one in found:
        start, end, _ = one
        if not any(a <= start and end <= b and b - a > end - start for a, b, _ in found):
            yield one


def _find_spaced(text: str) -> Iterator[_Place]:
    lexicon = _load()
    tokens = [(match.group(), *match.span()) for match in _TOKEN.finditer(text)]
    for at, (token, start, _) in enumerate(tokens):
        spellings = [*lexicon.exact.get(token, ())]
        for size in range(_SHORTEST_BEGINNING, len(token) + 1):
            spellings += lexicon.begun.get(token[:size], ())
        for words, subject in spellings:
            last = at + len(words) - 1
            if last < len(tokens) and all(
                _fits(word, tokens[at + n][0]) for n, word in enumerate(words[1:], 1)
            ):
                yield start, tokens[last][2], subject


def _fits(word: str, token: str) -> bool:
    return token.startswith(word[:-1]) if word.endswith("*") else token == word


def _find_runs(text: str) -> Iterator[_Place]:
    if text.isascii():
        return
    unspaced = _load().unspaced
    longest = max(map(len, unspaced))
    for match in _RUN.finditer(text):
        run, begin = match.group(), match.start()
        for start in range(len(run)):
            for size in range(1, min(longest, len(run) - start) + 1):
                if (subject := unspaced.get(run[start : start + size])) is not None:
                    yield begin + start, begin + start + size, subject
