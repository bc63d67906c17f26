"""Decide whether two notes repeat each other.

Statements count, not their form: another number, negation or subject makes another statement.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from itertools import chain, combinations
from posixpath import dirname
from typing import NamedTuple

from ricordo.dates import find_day_in_title
from ricordo.lexicon import compile_part, load_filler, lower_text
from ricordo.lint.contradictions import words as known
from ricordo.lint.contradictions.statements import NoteDigest, build_shingles
from ricordo.lint.evidence import Relation
from ricordo.lint.prose import detect_language
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily
from ricordo.search.words import split_words, stem_word

_LEAST_SHARED = 0.25
"""Minimum Jaccard similarity of word triples from which on two notes are compared closely."""
_LEAST_SAID_AGAIN = 0.6
"""Minimum share of the shorter note that the other has to repeat."""
_IN_DOUBT = 0.6
"""Share of both minima from which on the pair is uncertain."""
_LEAST_ALIKE = 0.6
"""Share of common words from which two statements may be one."""
_TEMPLATE = 3
"""Notes that make one statement word by word, or but for their names."""
_LEAST_OWN = 0.25
"""Minimum share of a note that is not from a template: below it, two notes differ by that rest."""
_BEGINNING = 600
"""Characters in which a note says that it is generated."""
_FEW_WORDS = 3
"""Words at the beginning of a sentence that name no other thing than its note."""
_FEW_SIGNS = 7
"""The same of a script without blanks."""
_SPACELESS = compile_lazily(r"[\u3040-\u30ff\u3400-\u9fff]")
_LETTERS = compile_lazily(r"[^\W\d]+")
_SENTENCE_END = compile_lazily(r"[.!?:](?=\s)|[。！？：]")
_ITEM = compile_lazily(r"\s*(?:[-*+]|\d+[.)]|\|)\s")
_DIGITS = compile_lazily(r"\d+")
_OF_SERIES = compile_lazily(
    r"(?<![^\W_])(?!v[-_ ]?\d)([a-z]{1,8})(?:[-_ ]?(?!(?:19|20)\d\d)|[-_])(\d{2,4})(?![\w.])"
)
"""A name of a series with a number."""
_TARGET = compile_lazily(r"\[\[[^\[\]|\n]*+(?=[\]|])|(?<=\])\([^()\n]*+\)")
"""Where a link leads: notes that name one source again and again say no more about it."""
_CROWD = 20
"""Notes with one word triple from which on it is from a template."""


def may_be_one_page(one: Note, other: Note) -> bool:
    """Return whether two pages of a wiki may be of one thing: the name of one contains that of the
    other, and they are in one folder, or equal. In two folders they are of two kinds, such as a
    thing and the source that tells of it.
    """
    if one.body != other.body and dirname(one.path) != dirname(other.path):
        return False
    names = [frozenset(split_words(note.stem)) for note in (one, other)]
    return names[0] <= names[1] or names[1] <= names[0]


class _Gist(NamedTuple):
    """The content of a statement, without its form."""

    words: frozenset[str]
    numbers: frozenset[str]
    is_denied: bool


def find_candidates(digests: Mapping[str, NoteDigest]) -> set[tuple[str, str]]:
    """Return the sorted paths of every two notes that share enough word triples to compare."""
    by_shingle: dict[int, list[str]] = defaultdict(list)
    for path, digest in digests.items():
        for shingle in digest.shingles:
            by_shingle[shingle].append(path)
    shared: Counter[tuple[str, str]] = Counter()
    for paths in by_shingle.values():
        if 1 < len(paths) <= _CROWD:
            shared.update(combinations(sorted(paths), 2))
    return {
        (one, other)
        for (one, other), count in shared.items()
        if count >= _LEAST_SHARED * _smaller(digests[one], digests[other])
    }


def find_candidates_for(digest: NoteDigest, digests: Mapping[str, NoteDigest]) -> list[str]:
    """Return the paths of the notes that share enough word triples with one note to compare."""
    # most share none
    is_apart = digest.shingles.isdisjoint
    return [
        path
        for path, other in digests.items()
        if not is_apart(other.shingles)
        and len(digest.shingles & other.shingles) >= _LEAST_SHARED * _smaller(digest, other)
    ]


class Templates(NamedTuple):
    """The statements that are from a template: so many notes contain them."""

    literal: frozenset[str]
    named: frozenset[str]
    """Those in which each note has its own name."""


def find_templates(digests: Mapping[str, NoteDigest], paths: Iterable[str]) -> Templates:
    """Return which statements of the notes at `paths` are from a template, as the notes of
    `digests` show.
    """
    told = {it.text for path in paths for it in digests[path].statements}
    counts = Counter(
        it.text
        for digest in digests.values()
        for it in {it for it in digest.statements if it.text in told}
    )
    by_form: dict[str, set[str]] = defaultdict(set)
    for digest in digests.values():
        for form, text in digest.forms:
            by_form[form].add(text)
    return Templates(
        frozenset(text for text, count in counts.items() if count >= _TEMPLATE),
        frozenset(text for texts in by_form.values() if len(texts) >= _TEMPLATE for text in texts),
    )


def compare_notes(
    one: Note, other: Note, digests: tuple[NoteDigest, NoteDigest], templates: Templates
) -> Relation | None:
    """Return whether two notes repeat each other, including their first statement, or may: a
    relation of whole notes, or None. Statements of `templates` count only where there are no
    others, and not in a note with its name filled in: such notes are stubs of different things.
    Reports that a program made, notes that are hardly more than a template, and pages about two
    folders are alike by their form: only equal ones repeat each other. Without a statement of its
    own, in a series, or with an id or a number of its own, a note that is not equal only may.
    """
    is_equal = one.body == other.body
    if not is_equal and (
        (is_generated(one) and is_generated(other))
        or all(_is_from_template(it, templates) for it in digests)
        or all(it.stem.startswith("_") for it in (one, other))
    ):
        return None
    mine, theirs = _build_own_shingles(one.body), _build_own_shingles(other.body)
    union = len(mine | theirs)
    shared = len(mine & theirs) / union if union else 0.0
    if shared < _IN_DOUBT * _LEAST_SHARED:
        return None
    short, long = sorted(digests, key=lambda it: sum(len(said.text) for said in it.statements))
    said, heard = _gists(short, templates), _gists(long, templates)
    weight = sum(len(it.words) for it in said)
    if not weight or not heard:
        return None
    again = sum(len(it.words) for it in said if any(_is_one(it, its) for its in heard)) / weight
    if shared >= _LEAST_SHARED and again >= _LEAST_SAID_AGAIN:
        begins_alike = any(_is_one(said[0], its) for its in heard)
        is_own = any(_list_told(it, templates)[1] for it in digests)
        apart = (_are_of_a_series, _have_two_ids, _have_two_numbers)
        are_two = any(told(one, other) for told in apart)
        is_sure = begins_alike and is_own and not are_two
        return Relation.REPEATS if is_equal or is_sure else Relation.MAY_REPEAT
    return Relation.MAY_REPEAT if again >= _IN_DOUBT * _LEAST_SAID_AGAIN else None


def _are_of_a_series(*notes: Note) -> bool:
    """Return whether nothing but a day, or the time or number behind it, tells the names of two
    notes apart: what was so at both is in both.
    """
    names = {_DIGITS.sub("", note.stem) for note in notes}
    return len(names) == 1 and all(find_day_in_title(note.stem) for note in notes)


def _have_two_ids(one: Note, other: Note) -> bool:
    """Return whether two notes state an id each, such as the number of an article, and not the
    same one: they are of two things.
    """
    fields = one.frontmatter.fields, other.frontmatter.fields
    ids = ([it.get(key) for it in fields] for key in _IDS)
    return any(mine and theirs and mine != theirs for mine, theirs in ids)


@lru_cache(maxsize=256)  # for notes that are compared with several others
def _build_own_shingles(text: str) -> frozenset[int]:
    """Return the word triples of a text without the targets of its links."""
    return build_shingles(_TARGET.sub(" ", text))


def _have_two_numbers(one: Note, other: Note) -> bool:
    """Return whether the titles of two notes have other words, and other numbers of one series,
    such as `trial-010` and `trial-011`: they are made from one form, each about its own thing.
    """
    titles = [f"{note.name} {note.heading}".lower() for note in (one, other)]
    mine, theirs = (set(_OF_SERIES.findall(title)) for title in titles)
    series = {kind for kind, _ in mine | theirs}
    is_numbered = mine and theirs and mine.isdisjoint(theirs) and len(series) == 1
    words = [set(_LETTERS.findall(title)) for title in titles]
    return bool(is_numbered) and words[0] != words[1]


_IDS = ("id", "uid", "uuid", "doi", "isbn")
"""Fields with what identifies the thing that a note is about."""
_TOPICS = frozenset(("name", "title", "description", "summary"))
"""Fields that say what a note is about, not where it comes from."""


@lru_cache(maxsize=1 << 14)
def is_generated(note: Note) -> bool:
    """Return whether a note says at its beginning, or by a field, that a program makes it. Cached,
    as many rules ask it again after each change.
    """
    fields = {key.lower(): value for key, value in note.frontmatter.fields.items() if value}
    # a drawing of Excalidraw is one, too
    if any(key.startswith(("generated", "excalidraw-plugin")) for key in fields):
        return True
    told = (value for key, value in fields.items() if key not in _TOPICS)
    if any(isinstance(it, str) and _is_generated_source(it) for it in told):
        return True
    # emphasis is often set by `_`, which is part of a word
    beginning = lower_text(note.body[:_BEGINNING]).replace("_", " ")
    # what is in a code block shows another file
    prose = chain.from_iterable(it.split("\n") for it in beginning.split("```")[::2])
    return any(map(_says_generated, prose))


def _is_generated_source(value: str) -> bool:
    """Return whether a field has no more than that a program made the note, or that in brackets."""
    spoken = lower_text(value)
    return any(
        not spoken[: it.start()].strip() or spoken[: it.start()].endswith("(")
        for it in _generated().finditer(spoken)
        if not spoken[it.end() :].strip(" ).!")
    )


def _says_generated(line: str) -> bool:
    """Return whether a line says that a program makes what it is in: no item of a list, it or a
    sentence in it begins so, or it does behind a few words such as “this page is”. Anything else is
    said of another thing.
    """
    if _ITEM.match(line):
        return False
    for match in _generated().finditer(line):
        *others, before = _SENTENCE_END.split(line[: match.start()])
        words, signs = len(_LETTERS.findall(before)), len(_SPACELESS.findall(before))
        is_few = words <= _FEW_WORDS and signs <= _FEW_SIGNS and not others
        if not words or (is_few and not before.rstrip().endswith(("(", "（"))):
            return True
    return False


@cache
def _generated() -> re.Pattern[str]:
    return compile_part("status", "generated")


def _smaller(one: NoteDigest, other: NoteDigest) -> int:
    return min(len(one.shingles), len(other.shingles))


def _gists(digest: NoteDigest, templates: Templates) -> list[_Gist]:
    told, own = _list_told(digest, templates)
    is_stub = not own and not templates.named.isdisjoint(told)
    return [] if is_stub else [_gist(text) for text in own or told]


def _is_from_template(digest: NoteDigest, templates: Templates) -> bool:
    """Return whether a note says something of its own, but hardly anything."""
    told, own = (sum(map(len, texts)) for texts in _list_told(digest, templates))
    return 0 < own < _LEAST_OWN * told


def _list_told(digest: NoteDigest, templates: Templates) -> tuple[list[str], list[str]]:
    """Return the statements of a note, and those of them that are from no template."""
    told = [it.text for it in digest.statements if not it.in_frontmatter]
    own = [it for it in told if it not in templates.literal and it not in templates.named]
    return told, own


def _gist(text: str) -> _Gist:
    found = [known.load_numbers().get(word, word) for word in split_words(text)]
    negations = known.load_negations(detect_language(text))
    denials = sum(word in negations for word in found)
    told = {known.load_synonyms().get(word, word) for word in found} - load_filler()
    stems = {stem_word(word) for word in told - known.load_words("negation")}
    numbers = {word for word in stems if word[0].isdigit()}
    return _Gist(frozenset(stems), frozenset(numbers), denials % 2 == 1)


def is_repeated(text: str, other: str) -> bool:
    """Return whether the statement `other` contains all words of `text`, with the same negation."""
    one, its = _gist(text), _gist(other)
    return one.is_denied == its.is_denied and one.words <= its.words


@lru_cache(maxsize=1 << 13)
def is_restated(text: str, other: str) -> bool:
    """Return whether two statements mean the same: same numbers and negation, similar words."""
    return _is_one(_gist(text), _gist(other))


def _is_one(one: _Gist, other: _Gist) -> bool:
    """Return whether two statements mean the same: same numbers and negation, similar words."""
    if one.is_denied != other.is_denied or one.numbers != other.numbers:
        return False
    shared, union = len(one.words & other.words), len(one.words | other.words)
    return shared >= _LEAST_ALIKE * union
