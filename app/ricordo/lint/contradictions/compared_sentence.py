"""What one whole sentence names and signals: words and codes, values, signs such as a denial, and
what limits it.

Its words are those of its claims; its signs (done or open, to ask or not to ask, a plan, an
exception) are found by the cues in the data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from ricordo.lexicon import load_filler, lower_text
from ricordo.lint.contradictions import words as known
from ricordo.lint.contradictions.claim import Claim, Value, Word, read_claim
from ricordo.lint.contradictions.plain_words import CODE, SHORT_NOT, strip_markup, tokenise
from ricordo.patterns import compile_lazily

OF_NAME, OF_WORD, OF_VAGUE = 2.0, 1.0, 0.5
"""Weights of what a sentence names: a name, a word, a word for a kind of thing."""
FEW = 4
"""Words of a sentence so short that each belongs to its subject or its value."""
_CUT = 10
"""Characters that a claim may be shorter than its sentence, with nothing cut off."""
_IDEOGRAPHS = compile_lazily(r"[\u3400-\u9fff々]{2,}|[\u30a1-\u30fa\u30fc]{2,}")
"""A run of Han characters or katakana: words without the grammar between them."""
_KATAKANA = "\u30ff"
_HANGUL, _HANGUL_END = "\uac00", "\ud7af"
_MARK = compile_lazily(r"\A\s*[-*+]\s+")
_LABEL = compile_lazily(r"\s*(?:[-*+]\s+)?\*\*[^*\n]{1,40}?(?::\*\*|\*\*\s*[:：])\s*")
_PAUSE = compile_lazily(r"[,，、;；.。:](?:\s|\Z|(?=[^\x00-\x7f]))|\s[–—-]\s")
_NUMBERED = compile_lazily(r" \d{1,2}\Z")


@dataclass(frozen=True, eq=False)
class ComparedSentence:
    """What a whole statement names and what it signals."""

    claim: Claim
    marked: str
    """The sentence as it is written."""
    text: str
    """In lower case, without marks."""
    codes: frozenset[str]
    """What it has between code marks."""

    @cached_property
    def tokens(self) -> frozenset[str]:
        """All its words."""
        return frozenset(token for token, _ in tokenise(self.text))

    @cached_property
    def is_past(self) -> bool:
        """Whether it tells what was so; what is gone is a state of today."""
        return "gone" not in self.signs and bool(known.load_pattern("past").search(self.text))

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """Its claim, and those of the clauses that are no part of it."""
        if len(self.claim.text) >= len(self.text) - _CUT:
            return (self.claim,)
        return (self.claim, *(it.claim for it in self.clauses[1:]))

    @cached_property
    def values(self) -> tuple[Value, ...]:
        """Its values, each once."""
        found = {(it.kind, it.key): it for claim in reversed(self.claims) for it in claim.values}
        return tuple(found.values())

    @cached_property
    def words(self) -> dict[str, Word]:
        """Its content words by key, things with a name included."""
        found = {
            it.key: it
            for claim in reversed(self.claims)
            for it in claim.words
            if it.key and (it.text[0] < "\u3040" or is_hangul(it))
        }
        for value in self.values:
            key = str(value.key) if value.kind == "tool" else value.counted
            if key:
                found[key] = Word(key, value.text, value.at, value.place, not value.counted)
        return found

    @cached_property
    def pieces(self) -> frozenset[str]:
        """The words in katakana, and all two neighbouring Han characters."""
        found: set[str] = set()
        for match in _IDEOGRAPHS.finditer(self.text):
            run = match.group()
            if run[0] <= _KATAKANA:
                found.add(run)
            else:
                found.update(run[at : at + 2] for at in range(len(run) - 1))
        return frozenset(found) - load_filler() - known.load_persons().keys()

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys of its words and pieces."""
        return self.pieces.union(self.words)

    @cached_property
    def size(self) -> float:
        """The number of its words; pieces of one run overlap."""
        runs = len(_IDEOGRAPHS.findall(self.text))
        return len(self.words) + max(runs, len(self.pieces) / 2)

    @property
    def cues(self) -> Mapping[str, re.Pattern[str]]:
        """The patterns of the signs that it may give."""
        return known.load_cues(known.find_script(self.text))

    @cached_property
    def signs(self) -> frozenset[str]:
        """The signs that it gives, such as `denial` and `opt-in`."""
        plain = strip_markup(_LABEL.sub("", self.marked))
        text = SHORT_NOT.sub(" not", lower_text(plain))
        if not text.isascii():
            text = known.load_pattern("affirming").sub(" ", text)
        found = {name for name, pattern in self.cues.items() if pattern.search(text)}
        tokens = {token for token, _ in tokenise(text)}
        if not tokens.isdisjoint(known.load_denials(self.claim.language)):
            found.add("denial")
        if not tokens.isdisjoint(known.load_words("gone")):
            found.add("gone")
        if "need" in found:
            # nothing without asking: it asks
            found -= {"need", "denial"}
            if "free" in found:
                found = found - {"free"} | {"ask"}
        elif "free" in found:
            found -= {"ask", "denial"}
        return frozenset(found)

    @cached_property
    def scopes(self) -> tuple[frozenset[str], ...]:
        """What limits it, by kind: where, in which stage, on which branch, in which period."""
        tokens = self.tokens
        synonyms = known.load_synonyms()
        return (
            frozenset(
                synonyms.get(it, it)
                for it in tokens | self.pieces & known.load_words("environments")
                if it in known.load_words("environments")
            ),
            frozenset(it.group() for it in known.load_pattern("stages").finditer(self.text))
            | frozenset(it.key for it in self.claim.words if _NUMBERED.search(it.key)),
            frozenset(it for it in self.codes if known.load_pattern("branches").fullmatch(it))
            | frozenset(it.group() for it in known.load_branch().finditer(self.text)),
            frozenset(it.group() for it in known.load_pattern("periods").finditer(self.text)),
        )

    @cached_property
    def clauses(self) -> tuple[ComparedSentence, ...]:
        """Its clauses, in order."""
        parts = [it for it in _PAUSE.split(self.marked) if it.strip()]
        return tuple(map(read_sentence, parts)) if len(parts) > 1 else (self,)

    @cached_property
    def topic(self) -> frozenset[str]:
        """The keys of what it is about, by their place; empty where that does not show."""
        pattern = known.load_topic(known.find_script(self.text))
        if pattern and (found := pattern.match(self.text)):
            return read_sentence(found[1]).keys - known.load_words("vague")
        return self.claim.subject - known.load_words("vague")

    @cached_property
    def case(self) -> frozenset[str]:
        """The words of the condition under which it holds, of its first clause: what follows is
        about another thing.
        """
        clause = self.clauses[0]
        found = self.cues["condition"].search(clause.text)
        if found is None:
            return frozenset()
        if found.group()[0] < "\u3040":
            return read_sentence(clause.text[found.start() :]).keys | {found.group()}
        return read_sentence(clause.text[: found.end()]).keys | {found.group()}

    @cached_property
    def persons(self) -> frozenset[str]:
        """The names that may be of persons, of the clauses that say who does something."""
        owning = [it for it in self.clauses if "owner" in it.signs] or [self]
        named = {
            it
            for clause in owning
            for match in known.load_persons_named().finditer(clause.text)
            for it in match.groups()
            if it
        }
        return frozenset(named or (it.text for clause in owning for it in _list_capitals(clause)))

    @cached_property
    def tools(self) -> frozenset[object]:
        """The keys of the tools that it names."""
        return frozenset(it.key for it in self.values if it.kind == "tool")


def _list_capitals(sentence: ComparedSentence) -> Iterator[Word]:
    """Yield the words with a capital that are no codes, do not begin the sentence and have no
    article.
    """
    articles = known.load_words("articles")
    words = sentence.text.split()
    for it in sentence.claim.words:
        if it.is_capital and it.text.isalpha() and it.text[0] < "\u3040" and not it.is_code:
            at = next((n for n, word in enumerate(words) if it.text in word), 0)
            is_compound = it.text != words[at].strip(".,:;()") if words else True
            if (at or len(words) < FEW) and not is_compound and words[at - 1] not in articles:
                yield it


def is_hangul(word: Word) -> bool:
    """Return whether a word is Korean."""
    return _HANGUL <= word.text[0] <= _HANGUL_END


@lru_cache(maxsize=1 << 13)
def read_sentence(text: str) -> ComparedSentence:
    """Return what a statement names and signals."""
    text = _MARK.sub("", text)
    codes = {lower_text(match[1]).removeprefix("./") for match in CODE.finditer(text)}
    return ComparedSentence(
        read_claim(text), text, lower_text(strip_markup(text)), frozenset(codes)
    )


def is_vague(key: str) -> bool:
    """Return whether a word only says what kind of thing is meant."""
    return key in known.load_words("vague") or key in known.load_words("generic")


def get_last(groups: tuple[str | None, ...]) -> str:
    """Return the group of a match that has a text; "" where none has."""
    return next(filter(None, groups), "")


_ALIKE = 5
"""Letters with which two forms of one word begin."""
_PART = 6
"""Letters of a word that is a part of another."""


def are_forms(one: str, other: str) -> bool:
    """Return whether two keys may be forms of one word, or one a part of the other."""
    short, long = sorted((one, other), key=len)
    if not short:
        return False
    if "\uac00" <= short[0] <= "\ud7af":
        return len(short) > 1 and (short in long or short[:2] == long[:2])
    if not (short.isalpha() and long.isalpha()):
        return False
    return (len(short) >= _PART and short in long) or (
        len(short) >= _ALIKE and short[:_ALIKE] == long[:_ALIKE]
    )
