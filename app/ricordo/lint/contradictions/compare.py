"""Decide whether two short statements contradict each other, and why.

Only clear cases count: a missed contradiction costs less than an invented one.
"""

from __future__ import annotations

from typing import NamedTuple

from ricordo.lint.contradictions import words as known
from ricordo.lint.contradictions.claim import ParsedClaim, Word
from ricordo.lint.contradictions.differences import (
    Differences,
    find_differences,
    get_names,
    list_texts,
)
from ricordo.lint.contradictions.parser import parse_claim

_WIDEST = 3
"""Words of a value."""
_FARTHEST = 12
"""Words that differ, of both together."""
_ALIKE = {"at": "for"}
"""Prepositions with one meaning after a verb: who works at a place works for it."""
_WIDE_FRAME = 2
"""Shared words that allow one more word on one side."""


class ClaimPair(NamedTuple):
    """Two claims and their differences."""

    left: ParsedClaim
    right: ParsedClaim
    shared: frozenset[str]
    """The keys of what both are about."""
    left_only: tuple[Word, ...]
    """The words of `one` that `other` lacks."""
    right_only: tuple[Word, ...]
    values: Differences

    @property
    def anchors(self) -> frozenset[str]:
        """The keys of what both are about, even if only the user or the project."""
        return self.shared | (self.left.generic & self.right.generic)

    @property
    def is_limited(self) -> bool:
        """Whether they are limited to different scopes."""
        return any(word.place == "scope" for word in (*self.left_only, *self.right_only))

    @property
    def is_same_frame(self) -> bool:
        """Whether nothing but known values differs."""
        return not self.left_only and not self.right_only and not self.values.loose

    @property
    def signs_differ(self) -> bool:
        """Whether exactly one is negated."""
        return self.left.is_negated != self.right.is_negated


def find_contradiction(left: str, right: str) -> str:
    """Return why two statements contradict each other, in a few words; "" where they do not."""
    return compare_claims(parse_claim(left), parse_claim(right)) if left and right else ""


def compare_claims(one: ParsedClaim, other: ParsedClaim) -> str:
    """Return why two claims contradict each other, in a few words; "" where they do not."""
    pair = align_claims(one, other)
    return explain_contradiction(pair) if pair else ""


def align_claims(one: ParsedClaim, other: ParsedClaim) -> ClaimPair | None:
    """Return what two claims share and how they differ; None where they cannot contradict each
    other: they are about different subjects or times, or uncertain.
    """
    if _are_far_apart(one, other) or (one.person and other.person and one.person != other.person):
        return None
    if one.is_uncertain or other.is_uncertain or one.is_past != other.is_past:
        return None
    return _frame(one, other)


def explain_contradiction(pair: ClaimPair) -> str:
    """Return why two claims contradict each other, in a few words; "" where they do not."""
    for reason in (_by_choice, _by_quantity, _by_denial, _by_value, _by_span, _by_holder):
        if text := reason(pair):
            return text
    return ""


def _are_far_apart(one: ParsedClaim, other: ParsedClaim) -> bool:
    """Return whether so many words differ that only an opposite choice is possible: a cheap check
    before the differences, which take most of the time.
    """
    if one.rejected or other.rejected:
        return False
    return len(one.keys ^ other.keys) > _FARTHEST


def _frame(one: ParsedClaim, other: ParsedClaim) -> ClaimPair:
    values = find_differences(one, other)
    shared = one.keys & other.keys
    joined = _joined(one, other)
    mine, theirs = (
        (
            *(
                it
                for it in claim.words
                if it.key not in shared and it.text not in joined and not values.is_covered(it)
            ),
            *names,
        )
        for claim, names in zip((one, other), values.names, strict=True)
    )
    return ClaimPair(one, other, values.add_shared(shared), mine, theirs, values)


def _joined(one: ParsedClaim, other: ParsedClaim) -> frozenset[str]:
    """Return the verbs of one meaning in both claims, which are no difference."""
    verbs = known.load_binding_synonyms()
    if one.binding != other.binding or one.binding not in verbs.values():
        return frozenset()
    return frozenset(text for text, verb in verbs.items() if verb == one.binding)


def _by_choice(pair: ClaimPair) -> str:
    """Return a reason where one claim chooses what the other rejects."""
    one, other = pair.left, pair.right
    if not (one.rejected or other.rejected) or one.is_negated or other.is_negated:
        return ""
    chosen = get_names(one) - one.rejected, get_names(other) - other.rejected
    mine = chosen[0] & (other.rejected - get_names(other))
    theirs = chosen[1] & (one.rejected - get_names(one))
    if mine and theirs:
        is_bare = len(pair.left_only) <= len(mine) and len(pair.right_only) <= len(theirs)
        return _choice(pair, mine, theirs) if is_bare or pair.shared else ""
    if not (mine or theirs) or pair.is_limited or one.is_additive or other.is_additive:
        return ""
    chooser = one if mine else other
    rest = {it.key for it in (pair.left_only if mine else pair.right_only)} - mine - theirs
    about = {it for kind in chooser.tools for cls, _ in kind.of for it in cls.about}
    rest = {it for it in rest if it not in pair.values.about and it not in about}
    is_common = len(pair.shared) >= _WIDE_FRAME and _same_subject(pair)
    is_thing = any(it.key in mine | theirs or it.of[0][1] in mine | theirs for it in chooser.tools)
    is_bare = not rest and (is_thing or bool(pair.shared))
    return _choice(pair, mine, theirs) if is_common or is_bare else ""


def _choice(pair: ClaimPair, mine: frozenset[str], theirs: frozenset[str]) -> str:
    left, right = (
        " ".join(text for key, text in list_texts(claim) if key in keys)
        for claim, keys in ((pair.left, mine), (pair.right, theirs))
    )
    if mine and theirs:
        return f"opposite choice: {left} / {right}"
    return f"chosen by one, rejected by the other: {left or right}"


def _by_quantity(pair: ClaimPair) -> str:
    """Return a reason for `only these` vs `everyone`, `all` vs `some do not`, `every` vs `no`."""
    one, other = pair.left, pair.right
    said = {one.quantity, other.quantity}
    if said == {"only", "all"} and not pair.signs_differ and not pair.values.found:
        closed = one if one.quantity == "only" else other
        lacking = pair.right_only if closed is one else pair.left_only
        if pair.shared and not lacking and not pair.is_limited:
            return "quantifiers: only / all"
    if not pair.signs_differ or not pair.is_same_frame or pair.values.found or not pair.shared:
        return ""
    if said == {"all", "some"}:
        return "quantifiers: all / not some"
    return ""


def _by_denial(pair: ClaimPair) -> str:
    """Return a reason where one claim negates the other."""
    one, other = pair.left, pair.right
    if not pair.signs_differ or pair.values.found:
        return ""
    if not (pair.is_same_frame or _is_same_but_for_agent(pair)):
        return ""
    if not pair.shared or not _modals_exclude(one, other):
        return ""
    if "only" in (one.quantity, other.quantity) and one.quantity != other.quantity:
        # one forbids it, the other allows it in one way
        return ""
    if "some" in (one.quantity, other.quantity):
        denied, held = (one, other) if one.is_negated else (other, one)
        if denied.quantity == "some" or held.quantity != "some":
            return ""
    return f"negation: {'not' if one.is_negated else 'so'} / {'not' if other.is_negated else 'so'}"


def _is_same_but_for_agent(pair: ClaimPair) -> bool:
    """Return whether they differ only in naming who wants it."""
    claim, rest = (pair.left, pair.left_only) if pair.left_only else (pair.right, pair.right_only)
    if pair.values.loose or (pair.left_only and pair.right_only) or len(rest) != 1:
        return False
    return rest[0].at == 0 and _is_agent(pair, claim, rest[0])


def _modals_exclude(one: ParsedClaim, other: ParsedClaim) -> bool:
    """Return whether the modals contradict: what is not needed may still be allowed or done."""
    denied, held = (one, other) if one.is_negated else (other, one)
    return denied.modal != "need" or held.modal == "need"


def _by_value(pair: ClaimPair) -> str:
    """Return a reason where they differ only in a number, date, thing of one class or opposite."""
    one, other = pair.left, pair.right
    found = pair.values.found
    if not found or not pair.values.is_one or pair.signs_differ or one.is_negated:
        return ""
    kind = found[0].kind
    if one.is_recurring and other.is_recurring and any(it.kind == "dates" for it in found):
        return ""
    if kind != "opposites" and (one.is_additive or other.is_additive):
        return ""
    if "some" in (one.quantity, other.quantity):
        return ""
    is_near = _is_near_frame(pair, is_tool=found[0].is_tool)
    if not is_near:
        return ""
    if not pair.anchors and not (found[0].is_tool and _stand_alone(pair)):
        return ""
    if kind == "opposites" and found[0].in_subject and not found[0].is_adverb:
        return ""
    return found[0].reason


def _stand_alone(pair: ClaimPair) -> bool:
    """Return whether both choose a thing, and their subject is only its class."""
    return all(it.has_verb or it.words or it.person for it in (pair.left, pair.right))


def _is_near_frame(pair: ClaimPair, *, is_tool: bool) -> bool:
    """Return whether the other differences are too small for another subject or condition."""
    if pair.values.loose or pair.is_limited:
        return False
    if not pair.left_only and not pair.right_only:
        return True
    if pair.left_only and pair.right_only:
        in_object = all(it.place == "object" for it in (*pair.left_only, *pair.right_only))
        is_short = max(len(pair.left_only), len(pair.right_only)) <= _WIDEST
        subject = pair.left.subject & pair.right.subject
        return is_tool and in_object and is_short and len(subject) >= 2 and _same_subject(pair)
    claim, rest = (pair.left, pair.left_only) if pair.left_only else (pair.right, pair.right_only)
    if len(rest) > 1 or len(pair.shared) < _WIDE_FRAME:
        return False
    return rest[0].place == "object" or _is_agent(pair, claim, rest[0])


def _is_agent(pair: ClaimPair, claim: ParsedClaim, word: Word) -> bool:
    """Return whether a word is the whole subject of a claim, not a description of a shared one."""
    return claim.subject == {word.key} and len(pair.shared) >= _WIDE_FRAME


def _same_subject(pair: ClaimPair) -> bool:
    return pair.left.subject == pair.right.subject


def _by_span(pair: ClaimPair) -> str:
    """Return a reason where both bind one subject to different values."""
    one, other, mine, theirs = pair.left, pair.right, pair.left_only, pair.right_only
    if pair.values.found or pair.values.loose or not (mine and theirs):
        return ""
    if one.is_negated or other.is_negated or one.is_additive or other.is_additive:
        return ""
    if not all(_is_value(claim, span) for claim, span in ((one, mine), (other, theirs))):
        return ""
    if one.quantity != other.quantity or one.quantity == "some":
        return ""
    if _is_country(mine) != _is_country(theirs) or not _is_bound(pair):
        return ""
    if _is_indefinite(one, mine) != _is_indefinite(other, theirs):
        return ""
    if one.preposition in known.load_words("within") and any(pair.values.names):
        # a thing of a class without one of that class beside it: different subjects
        return ""
    return f"one slot: {join_words(mine)} / {join_words(theirs)}"


def _is_value(claim: ParsedClaim, span: tuple[Word, ...]) -> bool:
    """Return whether the words are adjacent after the verb."""
    if len(span) > _WIDEST or any(word.place != "object" or not word.at for word in span):
        return False
    places = [it.at for it in span]
    between = [it for it in claim.words if min(places) < it.at < max(places)]
    return all(it in span for it in between)


def _is_indefinite(claim: ParsedClaim, span: tuple[Word, ...]) -> bool:
    """Return whether a value is one of several, like `a subdomain`: a name does not exclude it."""
    before = claim.text.partition(span[0].text)[0].split()
    return bool(before) and before[-1] in known.load_words("indefinite")


def _is_country(span: tuple[Word, ...]) -> bool:
    """Return whether a value is a country, which may contain the other place."""
    return any(word.text in known.load_words("countries") for word in span)


def _is_bound(pair: ClaimPair) -> bool:
    """Return whether neither statement allows a second value."""
    one, other = pair.left, pair.right
    if one.binding and one.binding == other.binding:
        return bool(pair.anchors) and _same_subject(pair) and _is_one_slot(one, other)
    single = {it.text for it in one.words if it.key in pair.shared} & known.load_words("single")
    singles = single or {
        known.load_synonyms().get(it.text, "") for it in one.words
    } & known.load_words("single")
    if not (one.is_being and other.is_being) and not singles:
        return False
    if singles and len(pair.shared) >= 1:
        return _same_subject(pair) or bool(pair.shared & (one.subject & other.subject))
    are_names = all(any(it.is_name for it in span) for span in (pair.left_only, pair.right_only))
    return are_names and bool(one.subject) and _same_subject(pair) and _is_definite(pair)


def _is_one_slot(one: ParsedClaim, other: ParsedClaim) -> bool:
    """Return whether two claims with one verb answer the same question on their subject: both where
    or for whom, not one of them how.
    """
    if one.is_manner != other.is_manner or one.is_form != other.is_form:
        return False
    prepositions = {_ALIKE.get(it.preposition, it.preposition) for it in (one, other)}
    return len(prepositions) == 1 or (one.verb == other.verb and len(prepositions - {""}) < 2)


def _is_definite(pair: ClaimPair) -> bool:
    """Return whether no subject is one of several."""
    return all(
        not known.load_pattern("one_of_many").search(it.text) for it in (pair.left, pair.right)
    )


def _by_holder(pair: ClaimPair) -> str:
    """Return a reason where they give one role to different holders."""
    one, other, mine, theirs = pair.left, pair.right, pair.left_only, pair.right_only
    if pair.values.found or pair.values.loose or pair.signs_differ or one.is_negated:
        return ""
    if not (mine and theirs) or max(len(mine), len(theirs)) > _WIDEST or not pair.shared:
        return ""
    if any(it.place != "subject" for it in (*mine, *theirs)):
        return ""
    holds = [known.load_pattern("holding").search(it.text) for it in (one, other)]
    return f"one holder: {join_words(mine)} / {join_words(theirs)}" if all(holds) else ""


def join_words(words: tuple[Word, ...]) -> str:
    """Return words as written."""
    return " ".join(word.text for word in words)


_DOUBT_FARTHEST = 4
"""Words and values that differ, of both together."""
_DOUBT_WIDEST = 2
"""The same for each shared word."""
_LABEL = 2
"""Words of a heading or label, which has no verb and is no statement."""


class Uncertainty(NamedTuple):
    """An uncertain pair: two claims that may contradict each other."""

    reason: str
    """Their difference, in a few words."""
    distance: float
    """Differing words per shared word: the fewer, the likelier the contradiction."""


def find_uncertainty(pair: ClaimPair) -> Uncertainty | None:
    """Return the uncertain pair of two claims that no clear case covers; None for none."""
    apart = len(pair.left_only) + len(pair.right_only) + len(pair.values.loose)
    if (
        _speak_of_two(pair)
        or not pair.shared
        or apart > min(_DOUBT_FARTHEST, _DOUBT_WIDEST * len(pair.shared))
    ):
        return None
    reason = _reason(pair)
    return Uncertainty(reason, apart / len(pair.shared)) if reason else None


def _speak_of_two(pair: ClaimPair) -> bool:
    """Return whether each has a subject word of its own."""
    return all(
        any(it.place == "subject" for it in words) for words in (pair.left_only, pair.right_only)
    )


def _reason(pair: ClaimPair) -> str:
    values = pair.values
    if values.found:
        return values.found[0].reason
    if pair.signs_differ:
        return "one denies"
    if not all(it.has_verb or len(it.words) > _LABEL for it in (pair.left, pair.right)):
        return ""
    if pair.left_only and pair.right_only:
        return f"one slot: {join_words(pair.left_only)} / {join_words(pair.right_only)}"
    is_value_alone = bool(values.loose) and not pair.left_only and not pair.right_only
    return f"values: {' / '.join(values.loose)}" if is_value_alone else ""
