"""Find what two statements about one thing may differ in, for the user's look.

An offer is no warning: it needs a subject that both share, and values of one dimension or signs
that are not the same. Statements with different scopes, plans and corrections are not offered.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from ricordo.lexicon import lower_text
from ricordo.lint.contradictions import words as known
from ricordo.lint.contradictions.claim import Claim, Value, Word, read_claim, strip_markup, tokenise
from ricordo.patterns import compile_lazily

_ENOUGH = 1.0
"""Weight of what two statements share, where they differ in a value or a sign."""
_OF_NAME, _OF_WORD, _OF_VAGUE = 2.0, 1.0, 0.5
"""Weights of what is shared: a name, a word, a word for a kind of thing."""
_COVERED = 0.15
"""Weight of what is shared for each word of the shorter statement, where only signs differ."""
_LARGE = 1000.0
_ROUND = 0.08
"""Share in which large quantities may differ: a month is about four weeks of seconds."""
_PARALLEL = 0.5
"""Share of words from which on the differing ones of two statements can be aligned."""
_ALIKE = 5
"""Letters with which two forms of one word begin."""
_PART = 6
"""Letters of a word that is a part of another."""
_FIRST_WORDS = 3
"""Words behind `first` that are done first."""
_IDEOGRAPHS = compile_lazily(r"[\u3400-\u9fff々]{2,}|[\u30a1-\u30fa\u30fc]{2,}")
"""A run of Han characters or katakana: words without the grammar between them."""
_KATAKANA = "\u30ff"
_HANGUL, _HANGUL_END = "\uac00", "\ud7af"
_MARK = compile_lazily(r"\A\s*[-*+]\s+")
_LABEL = compile_lazily(r"\s*(?:[-*+]\s+)?\*\*[^*\n]{1,40}?(?::\*\*|\*\*\s*[:：])\s*")
_CODE = compile_lazily(r"`([^`\n]+)`")
_PAUSE = compile_lazily(r"[,，、;；.。](?:\s|\Z|(?=[^\x00-\x7f]))")
_CLAUSE = compile_lazily(r"[,，、;；]|\b(?:and|und|et|y|e)\b")
_STAGE = compile_lazily(
    r"第\s?[一二三四五六七八九十\d]+|제?\s?\d+\s?(?:단계|차)|\d+\s?次|[一二三四五六七八九十]期"
)
_NUMBERED = compile_lazily(r" \d{1,2}\Z")
_DECIMAL = compile_lazily(r"(?<![\w.])v?(\d+\.\d+(?:\.\d+)*)(?![\w.]*\w)")
_PORT = compile_lazily(
    r"(?:port|ports|listen\w*|端口|ポート|포트)\D{0,12}(\d{2,5})\b|(?<=[a-z\d]):(\d{4,5})\b"
)
_EXACT_UNITS = frozenset(("bytes", "time", "share", "length", "pixels", "weight", "speed"))


@dataclass(frozen=True, eq=False)
class ComparedSentence:
    """What a whole statement names and what it signals."""

    claim: Claim
    text: str
    """In lower case, without marks and label."""
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
    def words(self) -> dict[str, Word]:
        """Its content words by key, things with a name included."""
        found = {
            it.key: it
            for it in self.claim.words
            if it.key and (it.text[0] < "\u3040" or _is_hangul(it))
        }
        for value in self.claim.values:
            if value.kind == "tool":
                key = str(value.key)
                found[key] = Word(key, value.text, value.at, value.place, True)
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
        return frozenset(found) - known.load_words("filler") - known.load_persons().keys()

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys of its words and pieces."""
        return self.pieces.union(self.words)

    @cached_property
    def signs(self) -> frozenset[str]:
        """The signs that it gives, such as `denial` and `opt-in`."""
        found = {name for name, pattern in known.load_cues().items() if pattern.search(self.text)}
        tokens = self.tokens
        parts = ("so", "may", "need")
        denied = {word for part in parts for word, no in known.load_signs(part).items() if no}
        if not tokens.isdisjoint(known.load_words("negation") | denied):
            found.add("denial")
        if not tokens.isdisjoint(known.load_words("gone")):
            found.add("gone")
        if "need" in found:
            found -= {"need", "denial"}
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
            frozenset(it.group() for it in _STAGE.finditer(self.text))
            | frozenset(it.key for it in self.claim.words if _NUMBERED.search(it.key)),
            frozenset(it for it in self.codes if known.load_pattern("branches").fullmatch(it)),
            frozenset(it.group() for it in known.load_pattern("periods").finditer(self.text)),
        )


def _is_hangul(word: Word) -> bool:
    return _HANGUL <= word.text[0] <= _HANGUL_END


@lru_cache(maxsize=1 << 13)
def read_sentence(text: str) -> ComparedSentence:
    """Return what a statement names and signals."""
    text = _MARK.sub("", text)
    codes = {lower_text(match[1]) for match in _CODE.finditer(text)}
    return ComparedSentence(read_claim(text), lower_text(strip_markup(text)), frozenset(codes))


def _strip_label(left: str, right: str) -> tuple[str, str]:
    """Return two statements without the label that both have: it is no subject."""
    labels = _LABEL.match(left), _LABEL.match(right)
    if labels[0] and labels[1] and labels[0].group() == labels[1].group():
        return left[labels[0].end() :], right[labels[1].end() :]
    return left, right


Found = tuple[str, str, str]
"""The kind of a difference and both values."""


def find_offer(left: str, right: str) -> tuple[Found, float] | None:
    """Return in what two statements on one subject differ, with the weight of that subject; None
    where they share none, differ in nothing, or are about different cases.
    """
    one, other = map(read_sentence, _strip_label(left, right))
    if not (one.claim.is_assertion and other.claim.is_assertion):
        return None
    weight = weigh_shared(one, other)
    if weight < _OF_VAGUE or _have_own_subjects(one, other) or _are_apart(one, other):
        return None
    if one.is_past or other.is_past:
        return None
    for compare, enough in (
        (_compare_sides, _OF_VAGUE),
        (_compare_values, _ENOUGH),
        (_compare_signs, _ENOUGH),
    ):
        if compare is _compare_signs and weight < _COVERED * min(len(one.keys), len(other.keys)):
            continue
        if weight >= enough and (found := next(compare(one, other), None)):
            return found, weight
    return None


def are_apart(left: str, right: str) -> bool:
    """Return whether two statements are about different cases, or one is a plan or a correction."""
    one, other = read_sentence(left), read_sentence(right)
    return _agree(one, other) or _have_own_heads(one, other) or _are_apart(one, other)


def _are_apart(one: ComparedSentence, other: ComparedSentence) -> bool:
    """Return whether two statements are about different cases, or one is a plan or a correction."""
    for it in (one, other):
        if it.text.endswith(("?", "？")) or "plan" in it.signs or "update" in it.signs:
            return True
    cases = _find_case(one), _find_case(other)
    if all(cases) and cases[0].isdisjoint(cases[1]):
        return True
    if any(mine - its and its - mine for mine, its in zip(one.scopes, other.scopes, strict=True)):
        return True
    return "exception" in one.signs | other.signs


def _have_own_subjects(one: ComparedSentence, other: ComparedSentence) -> bool:
    """Return whether each of two statements has a subject of its own."""
    checks = (_are_parallel, _have_own_heads, _have_own_persons)
    return any(check(one, other) for check in checks)


def _are_parallel(one: ComparedSentence, other: ComparedSentence) -> bool:
    """Return whether two statements have most words in common: their other words are aligned."""
    return len(one.tokens & other.tokens) >= _PARALLEL * max(len(one.tokens), len(other.tokens))


def _have_own_heads(one: ComparedSentence, other: ComparedSentence) -> bool:
    """Return whether two instances of one kind are meant, such as two services: the same word
    behind different ones.
    """
    for key in one.words.keys() & other.words.keys():
        if len(key) == 1:
            continue
        mine, its = _qualify(one, key), _qualify(other, key)
        if mine and its and mine not in other.words and its not in one.words:
            return True
    return False


def _have_own_persons(one: ComparedSentence, other: ComparedSentence) -> bool:
    """Return whether the tastes of two persons are meant."""
    tastes = {"like", "dislike"}
    if tastes.isdisjoint(one.signs) or tastes.isdisjoint(other.signs):
        return False
    persons = [
        {it.key for it in sentence.words.values() if it.at == 0} for sentence in (one, other)
    ]
    return all(persons) and persons[0].isdisjoint(other.words) and persons[1].isdisjoint(one.words)


def _qualify(sentence: ComparedSentence, key: str) -> str:
    """Return the key of the word right before a word of the subject; "" where there is none."""
    word = sentence.words[key]
    if word.is_name or (word.place != "subject" and not _is_hangul(word)):
        return ""
    before = next((it for it in sentence.words.values() if it.at == word.at - 1), None)
    # no particle between them
    is_joined = before and (not _is_hangul(word) or f"{before.text} {word.text}" in sentence.text)
    return before.key if before and is_joined else ""


def _find_case(sentence: ComparedSentence) -> frozenset[str]:
    """Return the words of the condition under which a statement holds."""
    found = known.load_cues()["condition"].search(sentence.text)
    if found is None:
        return frozenset()
    text, start, end = sentence.text, found.start(), found.end()
    if found.group()[0] < "\u3040":
        stop = _PAUSE.search(text, end)
        text = text[start : stop.start() if stop else len(text)]
    else:
        text = _PAUSE.split(text[:end])[-1]
    return read_sentence(text).keys | {found.group()}


def weigh_shared(one: ComparedSentence, other: ComparedSentence) -> float:
    """Return how much two statements share of their subjects."""
    weight = _OF_NAME * len(one.codes & other.codes)
    used: set[str] = set()
    for key, word in one.words.items():
        its = other.words.get(key) or next(
            (it for it in other.words.values() if it.key not in used and _are_forms(key, it.key)),
            None,
        )
        if its is None or its.key in used:
            continue
        used.add(its.key)
        vague = known.load_words("vague") | known.load_words("generic")
        if word.is_name or its.is_name or word.is_code or its.is_code:
            weight += _OF_NAME
        elif word.key in vague or word.text in vague:
            weight += _OF_VAGUE
        else:
            weight += _OF_WORD
    for kind, about in _list_classes(one).items():
        if kind in _list_classes(other):
            weight += _OF_VAGUE * sum(_mentions(it, about) for it in (one, other))
    if one.claim.person and one.claim.person == other.claim.person:
        weight += _OF_VAGUE
    counted = [{it.kind for it in _list_counts(sentence)} - {"number"} for sentence in (one, other)]
    weight += _OF_WORD * len(counted[0] & counted[1])
    weight += sum(_OF_WORD for it in (*counted[0], *counted[1]) if _is_named_in(it, one, other))
    pieces = one.pieces & other.pieces
    vague = known.load_words("vague")
    weight += sum(_OF_VAGUE if it in vague else _OF_WORD for it in pieces)
    return weight


def _is_named_in(kind: str, one: ComparedSentence, other: ComparedSentence) -> bool:
    """Return whether a statement names what the other one counts."""
    noun = kind.removeprefix("number of ")
    return noun in one.words or noun in other.words


def _list_classes(sentence: ComparedSentence) -> dict[str, frozenset[str]]:
    """Return the classes of the tools that a statement names, with the words for them."""
    return {kind.name: kind.about for it in sentence.claim.values for kind, _ in it.classes}


def _mentions(sentence: ComparedSentence, about: frozenset[str]) -> bool:
    return not sentence.tokens.isdisjoint(about) or any(
        it in sentence.text for it in about if not it.isascii()
    )


def _are_forms(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    if not short:
        return False
    if _HANGUL <= short[0] <= _HANGUL_END:
        return len(short) > 1 and (short in long or short[:2] == long[:2])
    if not (short.isalpha() and long.isalpha()):
        return False
    return (len(short) >= _PART and short in long) or (
        len(short) >= _ALIKE and short[:_ALIKE] == long[:_ALIKE]
    )


def _compare_values(one: ComparedSentence, other: ComparedSentence) -> Iterator[Found]:
    """Yield the dimensions of which both give values, none of them the same."""
    mine, its = one.claim.values, other.claim.values
    for kind in dict.fromkeys(it.kind for it in mine):
        left = [it for it in mine if it.kind == kind]
        right = [it for it in its if it.kind == kind]
        if kind == "tool":
            continue
        if left and right and not any(_are_close(a.key, b.key) for a in left for b in right):
            yield kind, left[0].text, right[0].text
    left_versions, right_versions = (_DECIMAL.findall(it.text) for it in (one, other))
    if (
        left_versions
        and right_versions
        and not any(
            f"{a}.".startswith(f"{b}.") or f"{b}.".startswith(f"{a}.")
            for a in left_versions
            for b in right_versions
        )
    ):
        yield "version", left_versions[0], right_versions[0]
    numbers = [_list_counts(it) for it in (one, other)]
    for count in numbers[0]:
        for its_count in numbers[1]:
            if count.key != its_count.key and (
                _is_counted(count, other) or _is_counted(its_count, one)
            ):
                yield "number", count.text, its_count.text
    ports = [frozenset(map(_get_last, _PORT.findall(it.text))) for it in (one, other)]
    if all(ports) and ports[0].isdisjoint(ports[1]):
        yield "port", min(ports[0]), min(ports[1])
    if numbers[0] and _is_about_all(other):
        yield "number", numbers[0][0].text, "all"
    if numbers[1] and _is_about_all(one):
        yield "number", "all", numbers[1][0].text


def _is_about_all(sentence: ComparedSentence) -> bool:
    """Return whether a statement says all instead of a quantity."""
    return "all" in sentence.signs and not any(
        isinstance(it.key, float) for it in sentence.claim.values
    )


def _get_last(groups: tuple[str, ...]) -> str:
    return next(filter(None, groups))


def _list_counts(sentence: ComparedSentence) -> list[Value]:
    return [it for it in sentence.claim.values if it.kind.startswith("number")]


def _is_counted(count: Value, other: ComparedSentence) -> bool:
    """Return whether another statement names what is counted."""
    noun = count.kind.removeprefix("number of ")
    return noun in other.words or any(
        it.kind == count.kind != "number" for it in other.claim.values
    )


def _are_close(one: float | str | bool, other: float | str | bool) -> bool:
    """Return whether two values are the same; large quantities may be rounded."""
    if isinstance(one, float) and isinstance(other, float) and max(one, other) > _LARGE:
        return abs(one - other) <= _ROUND * max(one, other)
    return one == other


def _compare_sides(one: ComparedSentence, other: ComparedSentence) -> Iterator[Found]:
    """Yield what is on two sides: opposites, tools of one class, what is done first."""
    for left, right in known.load_sides():
        mine, its = one.signs & {left, right}, other.signs & {left, right}
        if mine and its and mine != its:
            yield "opposite", " ".join(sorted(mine)), " ".join(sorted(its))
    for a in one.claim.values:
        for b in other.claim.values:
            if a.kind == b.kind == "tool" and a.key not in other.words and b.key not in one.words:
                names = {kind.name: name for kind, name in a.classes}
                if any(names.get(kind.name, name) != name for kind, name in b.classes):
                    yield "tool", a.text, b.text
    first = [_find_first(it) for it in (one, other)]
    is_same = all(first) and _names(other, first[0]) and _names(one, first[1])
    if is_same and first[0].isdisjoint(first[1]):
        yield "order", " ".join(sorted(first[0])), " ".join(sorted(first[1]))


def _names(sentence: ComparedSentence, keys: frozenset[str]) -> bool:
    """Return whether a statement has one of some words, in any form."""
    return any(
        it in sentence.words or any(_are_forms(it, key) for key in sentence.words) for it in keys
    )


def _find_first(sentence: ComparedSentence) -> frozenset[str]:
    """Return the words for what is done first: those behind `first`, or before `before`."""
    text = sentence.text
    found = known.load_pattern("first").search(text)
    behind = _list_first_keys(text[found.end() :]) if found else []
    if behind:
        return frozenset(behind[:_FIRST_WORDS])
    found = found or known.load_pattern("before").search(text)
    return (
        frozenset(_list_first_keys(text[: found.start()])[-_FIRST_WORDS:]) if found else frozenset()
    )


def _list_first_keys(text: str) -> list[str]:
    """Return the keys of the words of a clause."""
    part = _CLAUSE.split(text, maxsplit=1)[0] if text[:1].isspace() or not text.isascii() else text
    return [key for token, _ in tokenise(part) if (key := known.get_word_key(token, ""))]


def _compare_signs(one: ComparedSentence, other: ComparedSentence) -> Iterator[Found]:
    """Yield the signs that only one of two statements has, or in which both name another; none
    where they agree on a value.
    """
    if _agree(one, other):
        return
    for sign in ("denial", "gone"):
        if (sign in one.signs) != (sign in other.signs):
            yield ("negation", "not", "so") if sign in one.signs else ("negation", "so", "not")
    if _is_exception(one, other):
        yield "quantifiers", "all", "not"
    if _is_exception(other, one):
        yield "quantifiers", "not", "all"
    if "only" in one.signs and "only" not in other.signs and _list_names(other, one):
        yield "quantifiers", "only", "other"
    if "only" in other.signs and "only" not in one.signs and _list_names(one, other):
        yield "quantifiers", "other", "only"
    for relation in ("owner", "place"):
        if relation in one.signs & other.signs:
            left, right = _list_names(one, other), _list_names(other, one)
            if left and right:
                yield relation, left, right


def _is_exception(whole: ComparedSentence, part: ComparedSentence) -> bool:
    """Return whether one statement denies what another says of all."""
    return "all" in whole.signs and "denial" in part.signs and "all" not in part.signs


def _agree(one: ComparedSentence, other: ComparedSentence) -> bool:
    """Return whether both give the same quantity."""
    return any(
        mine.kind == its.kind and isinstance(mine.key, float) and _are_close(mine.key, its.key)
        for mine in one.claim.values
        for its in other.claim.values
        if mine.kind in _EXACT_UNITS
    )


def _list_names(one: ComparedSentence, other: ComparedSentence) -> str:
    """Return what one statement names and the other does not."""
    words = {it.text for it in one.words.values() if it.is_name or it.is_capital}
    named = {it.text for it in other.words.values()}
    return ", ".join(
        sorted((words - named) | (one.codes - other.codes) | (one.pieces - other.pieces))
    )
