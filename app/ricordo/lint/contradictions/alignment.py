"""Align two claims word by word, and find in what they exclude each other: in a choice, the use of
a thing, a value, what fills a slot, or the sign.
"""

from collections.abc import Iterable
from typing import NamedTuple

from ricordo.lint.contradictions import words as known
from ricordo.lint.contradictions.claim import Claim, Value, Word
from ricordo.lint.contradictions.difference import REJECTED, Difference
from ricordo.lint.contradictions.facts import NamedFact

_MOST_OWN = 2
"""Words that one claim may have more about the same subject."""
_WIDEST = 3
"""Words of a value that is not of a known kind."""
_MOST_OF_SLOT = 5
"""Words that differ in a candidate with values of no known kind, of both together."""
_SLOTS = frozenset(("value", "place", "name", "work", "owner"))
_FARTHEST = 5
"""Words that differ in a candidate, of both together."""
_WIDE = 2
"""The same for each word that both share."""
FIRST_WIDE = "\u2e80"
"""The first character of scripts without blanks."""
_CLOSE = 1e-9
_ROUND = 0.08
"""Share in which quantities in different units may differ: a month is about four weeks."""
_BOUNDS = frozenset(("maximum", "minimum"))
_DAYS = frozenset(("date", "month"))
_UNSURE_KINDS = ("opposite", "often", "sign", "quantity")
"""Kinds of values of which a subject may have several, in different respects."""


class Opposition(NamedTuple):
    """Two claims that contradict each other, or may do so."""

    difference: Difference
    is_certain: bool
    """Whether it is reported; else it is a candidate."""
    score: float = 0.0
    """How likely it is that both exclude each other, as log odds."""

    @property
    def reason(self) -> str:
        """The difference, in a few words."""
        return self.difference.reason


class Alignment(NamedTuple):
    """What two claims share, and what only one of them has."""

    left: Claim
    right: Claim
    shared: tuple[Word, ...]
    """The words of what both are about."""
    left_only: tuple[Word, ...]
    right_only: tuple[Word, ...]

    @property
    def person(self) -> str:
        """Whom both are about; "" where that is nobody."""
        return self.left.person if self.left.person == self.right.person else ""

    @property
    def same_values(self) -> int:
        """The number of values that both have."""
        one, other = ({(it.kind, it.key) for it in claim.values} for claim in self[:2])
        return len(one & other)

    @property
    def anchors(self) -> int:
        """The number of things that both are about, the user and the project included."""
        return len(self.shared) + self.same_values + len(self.left.generic & self.right.generic)


def oppose_facts(one: NamedFact, other: NamedFact) -> Opposition | None:
    """Return how two facts on one relation of one thing contradict each other; None where they do
    not.
    """
    if one.value == other.value:
        return None
    difference = Difference(f"{one.relation} of {one.subject}", one.text, other.text)
    return Opposition(difference, is_certain=True)


def oppose(one: Claim, other: Claim) -> Opposition | None:
    """Return how two claims contradict each other, surely or perhaps; None where they do not."""
    if one.person and other.person and one.person != other.person:
        return None
    if one.is_uncertain or other.is_uncertain:
        return None
    if not (one.is_assertion and other.is_assertion):
        return None
    pair = align(one, other)
    if difference := _find_usage(pair):
        return _judge(pair, difference)
    if one.is_past != other.is_past:
        return None
    for find in (_find_choice, _find_values, _find_slot, _find_sign):
        difference = find(pair)
        if difference is not None:
            return _judge(pair, difference)
    return None


def align(one: Claim, other: Claim) -> Alignment:
    """Return the words that two claims share, and those that only one of them has."""
    shared = [word for word in one.words if word.key in other.keys]
    left = [word for word in one.words if word.key not in other.keys]
    right = [word for word in other.words if word.key not in one.keys]
    return Alignment(one, other, tuple(shared), tuple(left), tuple(right))


def _is_vague(word: Word) -> bool:
    """Return whether a word only says what kind of thing its neighbour is."""
    return not known.load_words("vague").isdisjoint(
        (word.text, word.key, word.text.removesuffix("s"))
    )


def _judge(pair: Alignment, difference: Difference) -> Opposition | None:
    values = {difference.left, difference.right}
    environments = known.load_words("environments")
    if all(
        any(not environments.isdisjoint((it.text, it.key)) for it in side)
        for side in (pair.left_only, pair.right_only)
    ):
        return None
    left, right = (
        [it for it in side if not _is_vague(it) and it.text not in values]
        for side in (
            _rest(pair, difference, pair.left_only),
            _rest(pair, difference, pair.right_only),
        )
    )
    is_certain = difference.is_certain and _is_same(pair, difference, left, right)
    if not is_certain and not _is_candidate(pair, difference, left, right):
        return None
    return Opposition(difference, is_certain)


def _rest(pair: Alignment, difference: Difference, words: Iterable[Word]) -> list[Word]:
    """Return the words of one claim that are no part of the differing values."""
    named = set(f"{difference.left} {difference.right}".split())
    about = {
        word
        for claim in (pair.left, pair.right)
        for value in claim.values
        if difference.kind == "tool"
        for kind, _ in value.classes
        for word in kind.about
    }
    return [it for it in words if not {it.text, it.key} & named and it.text not in about]


def _is_same(pair: Alignment, difference: Difference, left: list[Word], right: list[Word]) -> bool:
    """Return whether a difference that excludes is one on the same subject."""
    if difference.kind == "use":
        return _is_same_use(pair)
    if difference.kind == REJECTED:
        return True
    if difference.kind == "opposite choice":
        return not left and not right
    return _is_same_subject(pair, difference, left, right)


def _is_same_use(pair: Alignment) -> bool:
    """Return whether the claim that a thing is not to be used has no exceptions."""
    gone = pair.left if pair.left.usage < 0 else pair.right
    words = pair.left_only if gone is pair.left else pair.right_only
    if known.load_cues(known.find_script(gone.text))["condition"].search(gone.text):
        return False
    return len(words) <= _MOST_OWN and not any(it.place == "scope" for it in words)


def _is_same_subject(
    pair: Alignment, difference: Difference, left: list[Word], right: list[Word]
) -> bool:
    """Return whether both claims are surely about one subject, in the same scope."""
    rest = (*left, *right)
    if (left and right) or len(rest) > (0 if difference.kind == "tool" else _MOST_OWN):
        return False
    if _count_loose(pair.left, pair.right) and _count_loose(pair.right, pair.left):
        return False
    if _is_agent(pair, rest):
        return True
    if any(it.place != "object" or it.is_name for it in rest):
        return False
    return _is_identified(pair)


def _is_agent(pair: Alignment, rest: tuple[Word, ...]) -> bool:
    """Return whether the only difference is who does it, which one of them leaves out."""
    if len(rest) != 1 or pair.anchors < _WIDE:
        return False
    subjects = pair.left.subject, pair.right.subject
    return {rest[0].key} in subjects and frozenset() in subjects


def _count_loose(one: Claim, other: Claim) -> int:
    """Return how many opposites one claim has of which the other has neither."""
    kinds = {it.kind for it in other.values}
    return sum(it.kind.startswith("opposite") and it.kind not in kinds for it in one.values)


def is_named_by(one: Claim, other: Claim) -> bool:
    """Return whether both name their subject: a person, or a thing by a name or a role that only
    it has.
    """
    pair = align(one, other)
    single = known.load_words("single")
    tools = ({it.key for it in claim.values if it.kind == "tool"} for claim in (one, other))
    return (
        pair.person == "person"
        or bool(frozenset.intersection(*map(frozenset, tools)))
        or any(it.is_name or it.is_code or it.key in single for it in pair.shared)
    )


def has_own_subject(one: Claim, other: Claim) -> bool:
    """Return whether what both are about is more than a kind of thing and a role that each has."""
    pair = align(one, other)
    roles = known.load_words("single") | known.load_verbs() | _BOUNDS
    return bool(pair.person) or any(
        not _is_vague(it) and roles.isdisjoint((it.key, it.text)) for it in pair.shared
    )


def _is_identified(pair: Alignment) -> bool:
    """Return whether what both share is more than a kind of thing."""
    words = [it for it in pair.shared if it.key not in _BOUNDS]
    is_known = len(words) > 1 or not all(map(_is_vague, words))
    return bool(pair.same_values) or bool(pair.person) or is_known


def _is_candidate(
    pair: Alignment, difference: Difference, left: list[Word], right: list[Word]
) -> bool:
    """Return whether a difference is worth the user's look."""
    if not pair.anchors and difference.kind not in ("tool", "opposite choice"):
        return False
    apart = len(left) + len(right)
    if difference.kind in _SLOTS:
        # the words of the values count, too
        own = (*pair.left_only, *pair.right_only)
        one, other = pair.left, pair.right
        is_same = bool(pair.person or one.relations & other.relations) or (
            _strip_vague(one) == _strip_vague(other)
            and bool(one.subject or one.generic & other.generic or _shares_role(pair))
        )
        return (
            is_same and len(own) <= _MOST_OF_SLOT and "some" not in (one.quantity, other.quantity)
        )
    if apart > min(_FARTHEST, _WIDE * max(1, pair.anchors)):
        return False
    # each has a subject of its own
    subjects = [any(it.place == "subject" for it in side) for side in (left, right)]
    codes = [any(it.is_code for it in side) for side in (left, right)]
    return not all(subjects) and not all(codes)


def _find_choice(pair: Alignment) -> Difference | None:
    """Return what one claim chooses and the other rejects."""
    one, other = pair.left, pair.right
    if not (one.rejected or other.rejected) or one.is_negated or other.is_negated:
        return None
    names = [it.keys | {value.key for value in it.values} for it in (one, other)]
    mine = (names[0] - one.rejected) & (other.rejected - names[1])
    theirs = (names[1] - other.rejected) & (one.rejected - names[0])
    if not (mine or theirs):
        return None
    texts = {
        key: text
        for claim in (one, other)
        for key, text in (
            *((it.key, it.text) for it in claim.words),
            *((it.key, it.text) for it in claim.values),
        )
    }
    left, right = (" ".join(sorted(texts[key] for key in keys)) for keys in (mine, theirs))
    if mine and theirs:
        return Difference("opposite choice", left, right, is_certain=True)
    tools = {value.key for it in (one, other) for value in it.values if value.kind == "tool"}
    is_certain = (
        bool(one.subject) and one.subject == other.subject and bool((mine | theirs) & tools)
    )
    return Difference(REJECTED, left or right, left or right, is_certain=is_certain)


def _find_usage(pair: Alignment) -> Difference | None:
    """Return the difference where one claim uses what is gone by the other."""
    one, other = pair.left, pair.right
    if not one.usage or one.usage + other.usage or not any(it.is_code for it in pair.shared):
        return None
    words = ("in use", "not in use")
    return Difference("use", *(words if one.usage > 0 else words[::-1]), is_certain=True)


def _find_values(pair: Alignment) -> Difference | None:
    """Return the values in which two claims differ; None where they differ in none or several."""
    one, other = pair.left, pair.right
    found: list[Difference] = []
    loose = 0
    for kind in dict.fromkeys(it.kind for it in (*one.values, *other.values)):
        mine = [it for it in one.values if it.kind == kind]
        theirs = [it for it in other.values if it.kind == kind]
        left = [it for it in mine if not any(_are_equal(it, its) for its in theirs)]
        right = [it for it in theirs if not any(_are_equal(it, its) for its in mine)]
        difference = _compare_values(pair, kind, left, right)
        if difference is not None:
            found.append(difference)
        elif not kind.startswith("opposite"):
            loose += len(left) + len(right)
    if not found:
        return None
    is_one = len(found) == 1 and not loose
    is_sure = is_one and not (one.is_negated or other.is_negated)
    return found[0]._replace(is_certain=found[0].is_certain and is_sure)


def _compare_values(
    pair: Alignment, kind: str, left: list[Value], right: list[Value]
) -> Difference | None:
    if not left or not right:
        return None
    one, other = pair.left, pair.right
    if kind == "tool":
        return _compare_tools(pair, left, right)
    if kind in ("number", "often") and all(
        any(it.place == "subject" for it in side) for side in (left, right)
    ):
        return None  # they say which of many it is
    if any(_refines(a, b) or _fits(one, other, a, b) for a, b in zip(left, right, strict=False)):
        return None
    mine, theirs = (", ".join(it.text for it in side) for side in (left, right))
    words = {it.key for it in pair.shared}
    is_certain = (
        len(left) == len(right) == 1
        and (
            not kind.startswith("number")
            or not words.isdisjoint(known.load_words("single") | _BOUNDS)
        )
        and not kind.startswith(_UNSURE_KINDS)
        and (kind not in _DAYS or (_is_fixed(one) and _is_fixed(other)))
        # only of named things, whose facts are compared
        and kind != "state done"
        and not one.is_additive
        and not other.is_additive
        and "some" not in (one.quantity, other.quantity)
    )
    return Difference(kind, mine, theirs, is_certain)


def _is_fixed(claim: Claim) -> bool:
    """Return whether a claim gives a day to what happens once, not to an event of the past."""
    return not claim.is_past and (
        claim.is_equation or bool(known.load_pattern("binding").search(claim.text))
    )


def _compare_tools(pair: Alignment, left: list[Value], right: list[Value]) -> Difference | None:
    found = [
        (kind.name, mine.text, its.text)
        for mine in left
        for its in right
        for kind, name in its.classes
        for its_kind, its_name in mine.classes
        if kind == its_kind and name != its_name
    ]
    if not found:
        return None
    # the same whichever comes first
    kind_name, mine_text, its_text = min(found)
    is_one = len(left) == len(right) == 1
    is_sure = is_one and not (pair.left.is_additive or pair.right.is_additive)
    return Difference("tool", mine_text, its_text, is_sure, kind_name)


def _are_equal(one: Value, other: Value) -> bool:
    if isinstance(one.key, float) and isinstance(other.key, float):
        units = [it.text.partition(" ")[2] for it in (one, other)]
        is_rounded = all(units) and units[0] != units[1]
        share = _ROUND if is_rounded else _CLOSE
        return abs(one.key - other.key) <= share * max(abs(one.key), abs(other.key))
    return one.key == other.key


def _refines(one: Value, other: Value) -> bool:
    """Return whether one is more exact than the other, as 3.11.4 is than 3.11."""
    short, long = sorted((one.text, other.text), key=len)
    if one.kind.startswith(("number", "version")):
        return long.startswith(f"{short}.")
    is_date = one.kind in ("date", "month")
    return is_date and len(short) < len(long) and (long.startswith(short) or short in long.split())


def _fits(one: Claim, other: Claim, mine: Value, theirs: Value) -> bool:
    """Return whether one gives a bound and the other a value inside it."""
    if not isinstance(mine.key, float) or not isinstance(theirs.key, float):
        return False
    bounds = [claim.keys & _BOUNDS for claim in (one, other)]
    if bool(bounds[0]) == bool(bounds[1]):
        return bool(bounds[0]) and bounds[0] != bounds[1]
    bound, value = (mine.key, theirs.key) if bounds[0] else (theirs.key, mine.key)
    return value <= bound if "maximum" in (bounds[0] or bounds[1]) else value >= bound


def _find_slot(pair: Alignment) -> Difference | None:
    """Return the words that two claims give to one subject by a relation with one value."""
    one, other = pair.left, pair.right
    if one.is_negated or other.is_negated or one.is_additive or other.is_additive:
        return None
    left, right = (
        [*filter(_is_named, side), *_loose_tools(claim, its)]
        for side, claim, its in ((pair.left_only, one, other), (pair.right_only, other, one))
    )
    if not left or not right or not pair.anchors:
        return None
    relations = one.relations & other.relations
    is_one = all(len(side) <= _WIDEST and _are_adjacent(side) for side in (left, right))
    kind = "value"
    if "owner" in relations:
        kind = "owner"
        is_certain = one.has_verb and other.has_verb and len(left) == len(right) == 1
        is_certain &= _is_person(left[0], one) and _is_person(right[0], other)
    elif relations:
        kind = min(relations)
        is_certain = _in_object(left, right) and all(
            it.is_name or (it.is_capital and bool(pair.person)) for it in (*left, *right)
        )
    else:
        is_same_form = any(it.is_code for it in left) == any(it.is_code for it in right)
        is_equation = one.is_equation and other.is_equation
        is_name = all(it.is_capital and not it.is_code for it in (*left, *right))
        is_value = _in_object(left, right) or is_name
        is_certain = _has_role(pair) and is_equation and is_same_form and is_value
        is_certain &= all(it.text[0] < FIRST_WIDE for it in (*left, *right))
    is_certain = is_certain and is_one
    mine, theirs = (" ".join(it.text for it in side) for side in (left, right))
    return Difference(kind, mine, theirs, is_certain)


def _is_person(word: Word, claim: Claim) -> bool:
    """Return whether a word may be the name of a person."""
    if word.text[0] < FIRST_WIDE:
        return word.is_capital
    named = known.load_persons_named().finditer(claim.text)
    return any(word.text in match.groups() for match in named)


def _has_role(pair: Alignment) -> bool:
    """Return whether something with one value at a time is the subject of both."""
    subjects = pair.left.subject & pair.right.subject
    return not subjects.isdisjoint(known.load_words("single"))


def _shares_role(pair: Alignment) -> bool:
    """Return whether both name something with one value at a time, such as a port."""
    return any(it.key in known.load_words("single") for it in pair.shared)


def _strip_vague(claim: Claim) -> set[str]:
    """Return the keys of the subject of a claim without words for kinds of things."""
    return {it.key for it in claim.words if it.place == "subject" and not _is_vague(it)}


def _is_named(word: Word) -> bool:
    return not _is_vague(word)


def _loose_tools(claim: Claim, other: Claim) -> list[Word]:
    """Return the tools that only one claim names, as words."""
    keys = {it.key for it in other.values}
    return [
        Word(str(it.key), it.text, it.at, it.place, True)
        for it in claim.values
        if it.kind == "tool" and it.key not in keys
    ]


def _in_object(*sides: list[Word]) -> bool:
    return all(it.place == "object" for side in sides for it in side)


def _are_adjacent(words: list[Word]) -> bool:
    return words[-1].at - words[0].at < _WIDEST


def _find_sign(pair: Alignment) -> Difference | None:
    """Return the difference where one claim denies what the other says, or limits whom it is
    about.
    """
    one, other = pair.left, pair.right
    if one.is_negated != other.is_negated:
        mine, theirs = ("not" if it.is_negated else "so" for it in (one, other))
        return Difference("negation", mine, theirs)
    if {one.quantity, other.quantity} == {"only", "all"}:
        return Difference("quantifiers", one.quantity, other.quantity)
    return None
