"""Decide whether two claims contradict each other, and why.

Short claims are aligned word by word. Statements in free wording are measured and scored
(`measures.py`, `score.py`): what they share, what sets them apart and in what they exclude each
other. What is surely a contradiction is reported; the likely is offered to the user as a candidate.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import islice

from ricordo.lint.contradictions import words as known
from ricordo.lint.contradictions.alignment import (
    FIRST_WIDE,
    Opposition,
    align,
    is_named_by,
    oppose,
    oppose_facts,
)
from ricordo.lint.contradictions.claim import read_claim
from ricordo.lint.contradictions.difference import WORDING, Difference
from ricordo.lint.contradictions.facts import extract_facts
from ricordo.lint.contradictions.measures import measure
from ricordo.lint.contradictions.plain_words import normalise, strip_markup, tokenise
from ricordo.lint.contradictions.repeats import is_restated
from ricordo.lint.contradictions.score import compute_score, load_thresholds
from ricordo.patterns import compile_lazily

_WIDEST_STATEMENT = 160
"""Letters of a statement among many: the weights were fitted to such, and a longer one says too
much for one subject.
"""
_LABEL = compile_lazily(
    r"(?:\[[^\]\s]{1,12}\] )?(?:[^\s:：]+ ){0,4}[^\s:：]+[:：](?=\s|[^\x00-\x7f])"
)
"""A few words before a colon."""
_MARKED = compile_lazily(r"[0-9._#]")
"""What only names have."""
_DATED = compile_lazily(r"\d{4}-\d\d-\d\d")


def find_contradiction(left: str, right: str) -> str:
    """Return why two sentences contradict each other, in a few words; "" where that is not sure
    enough to be reported.
    """
    found = oppose_texts(left, right)
    return found.reason if found and found.is_certain else ""


def offer_candidate(left: str, right: str) -> str:
    """Return why two sentences may contradict each other, where that is not sure enough to be
    reported but worth the user's look; "" where it is not.
    """
    found = oppose_texts(left, right)
    if found is None or not found.is_certain:
        found = judge_sentences(left, right)
    return found.reason if found and not found.is_certain else ""


def describe_opposition(left: str, right: str, passages: tuple[str, str]) -> str:
    """Return why two sentences contradict each other, or may, in a few words: by themselves, or
    with what is said beside them, where that is surer; "" where they do not.
    """
    found, whole = oppose_texts(left, right), judge_sentences(*passages)
    if found is None or (whole and whole.is_certain and whole.score > found.score > 0):
        found = whole
    return found.reason if found else ""


def find_opposition(left: str, right: str) -> str:
    """Return why two sentences contradict each other, surely or word by word; "" where they do
    not.
    """
    found = oppose_texts(left, right)
    return found.reason if found else ""


def oppose_texts(left: str, right: str) -> Opposition | None:
    """Return how two sentences contradict each other: by facts on a named thing, word by word, or
    surely by their frames; None where they do not.
    """
    if not left or not right or left == right:
        return None
    facts = {(it.subject, it.relation): it for it in extract_facts(right)}
    for fact in extract_facts(left):
        other = facts.get((fact.subject, fact.relation))
        if other is not None and (found := oppose_facts(fact, other)):
            return found
    return oppose_sentences(left, right)


@lru_cache(maxsize=1 << 14)
def oppose_sentences(left: str, right: str) -> Opposition | None:
    """Return how two sentences contradict each other, word by word or surely by all measures; None
    where they do not. Cached, as most sentences of a memory stay the same.
    """
    aligned = oppose(read_claim(left), read_claim(right))
    if aligned is not None and aligned.is_certain:
        return aligned
    judged = judge_sentences(left, right)
    return judged if judged and judged.is_certain else aligned


@lru_cache(maxsize=1 << 14)
def judge_sentences(left: str, right: str) -> Opposition | None:
    """Return how two statements of one or a few sentences contradict each other, surely or perhaps,
    with their score; None where they do not.
    """
    if not left or not right or left == right:
        return None
    if left > right:
        # the same whichever comes first
        swapped = judge_sentences(right, left)
        return swapped and swapped._replace(difference=swapped.difference.swap())
    aligned = oppose(read_claim(left), read_claim(right))
    score = compute_score(measure_pair(left, right))
    limits = load_thresholds()
    is_certain = score >= limits.reported or bool(aligned and aligned.is_certain)
    if not is_certain and score < limits.offered:
        return None
    difference = aligned.difference if aligned else measure(left, right).difference
    if difference.kind == WORDING and is_restated(left, right):
        return None
    return Opposition(difference, is_certain, score)


def measure_pair(left: str, right: str) -> dict[str, float]:
    """Return the measures of two statements that are not 0, also of what is aligned word by word;
    the same whichever comes first.
    """
    found = dict(measure(*sorted((left, right))).measures)
    aligned = oppose(read_claim(left), read_claim(right))
    if aligned is not None:
        found["aligned"] = 1.0
        if aligned.is_certain:
            found["aligned_surely"] = 1.0
    return found


@lru_cache(maxsize=1 << 14)
def judge_reliably(left: str, right: str, *, rarity: float = 0.0) -> Opposition | None:
    """Return how two statements may contradict each other where any two of many are compared; None
    where they do not. `rarity` is how much rarer contradictions are among these than among pairs
    that somebody chose, as log odds. Only single values are certain to exclude each other.
    """
    if max(map(_measure_width, (left, right))) > _WIDEST_STATEMENT:
        return None
    if _are_own_fields(left, right):
        return None
    found = judge_sentences(left, right)
    if found is None:
        return None
    limits, score = load_thresholds(), found.score - rarity
    # what only one of them denies is mostly another thing
    is_certain = score >= limits.reported and not found.difference.is_denied
    is_certain &= _are_of_one_thing(found.difference, left, right)
    if (
        not is_certain
        and (score if found.difference.kind == WORDING else found.score) < limits.offered
    ):
        return None
    return found._replace(is_certain=is_certain)


def relate_statements(left: str, right: str, widest: int) -> Opposition | None:
    """Return how two statements of at most `widest` letters may contradict each other, where they
    are likely enough to be about one thing for a model to judge them; None where they are not.
    """
    if left == right or max(map(_measure_width, (left, right))) > widest:
        return None
    if _are_own_fields(left, right):
        return None
    score = compute_score(measure_pair(left, right))
    if score < load_thresholds().related:
        return None
    aligned = oppose(read_claim(left), read_claim(right))
    difference = aligned.difference if aligned else measure(left, right).difference
    return Opposition(difference, is_certain=False, score=score)


def _are_of_one_thing(difference: Difference, left: str, right: str) -> bool:
    """Return whether two notes give values of one thing, of which it has one: not several on a
    side, nor where files of a day are, of which each note has its own, nor of what only a pronoun
    names.
    """
    values = (difference.left, difference.right)
    is_single = difference.has_values and not any("," in it for it in values)
    are_of_days = difference.kind == "place" and any(map(_DATED.search, values))
    return is_single and not are_of_days and not any(map(_begins_with_pronoun, (left, right)))


def _begins_with_pronoun(text: str) -> bool:
    """Return whether the subject of a statement is a pronoun, right before its verb."""
    pronoun, verb = (*(token for token, _ in islice(tokenise(normalise(text)), 2)), "", "")[:2]
    return pronoun in known.load_words("pronouns") and verb in known.load_verbs()


def _measure_width(text: str) -> int:
    """Return the length of a text, in letters; a character of a script without blanks is two."""
    return len(text) + (0 if text.isascii() else sum(char >= FIRST_WIDE for char in text))


@lru_cache(maxsize=1 << 14)
def oppose_reliably(left: str, right: str, *, needs_name: bool) -> Opposition | None:
    """Return how two sentences surely contradict each other, word by word, where any two of many
    are compared; None where they do not. `needs_name` is for pages that each have a subject of
    their own.
    """
    claims = read_claim(left), read_claim(right)
    if _are_own_fields(left, right):
        return None
    found = oppose(*claims)
    if found is None or not found.is_certain or (needs_name and not is_named_by(*claims)):
        return None
    is_of_signs = not found.difference.has_values
    return found if is_of_signs or _are_of_one_thing(found.difference, left, right) else None


def _are_own_fields(left: str, right: str) -> bool:
    """Return whether both are a value behind a label that names nothing: each is about its own
    note, as `Created: 1 May` is.
    """
    labels = [_LABEL.match(strip_markup(it)) for it in (left, right)]
    if not all(labels):
        return False
    texts = [it[0].lower() for it in labels if it]
    shared = align(read_claim(left), read_claim(right)).shared
    return not any(
        _MARKED.search(it.text) and all(it.text in text for text in texts) for it in shared
    )
