"""What an engine outside our code thinks of two notes that are in doubt. It is read as if it came
from an enemy, shown to the person, and does nothing by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ricordo.curator.proposal import Rejected
from ricordo.errors import ChangeRefused
from ricordo.text import clip, hidden_characters, one_line

LONGEST = 300
"""Characters of a reason."""


class View(StrEnum):
    """What two notes may be to each other."""

    CONFLICT = "conflict"
    DUPLICATE = "duplicate"
    BOTH_HOLD = "both-hold"
    UNSURE = "unsure"

    @property
    def is_amiss(self) -> bool:
        """Whether one of the two would have to go or to change."""
        return self in (View.CONFLICT, View.DUPLICATE)


class Keeps(StrEnum):
    """Which of the two should stay."""

    LEFT = "left"
    RIGHT = "right"
    NEITHER = "neither"
    """It is not known, or both stay."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """What is thought of one pair."""

    view: View
    keeps: Keeps
    reason: str
    """In one line; it may say anything."""
    model: str = ""
    """Who thinks so."""


@dataclass(frozen=True, slots=True)
class Opinions:
    """What a reply came to."""

    by_pair: Mapping[str, Opinion]
    rejected: tuple[Rejected, ...] = ()
    """What it said that is no opinion, and the pairs of which it said nothing."""


_SHAPE = ("pair", "reason", "verdict", "keep")


def read_opinions(given: object, pairs: Collection[str], model: str = "") -> Opinions:
    """Return what `given`, a value as JSON gives it, thinks of the `pairs`, which are ids that were
    given out. What is not exactly of the shape is rejected with why, and takes nothing else down.
    """
    if not isinstance(given, list):
        return Opinions({}, (Rejected("reply", "It is no list of verdicts."),))
    found: dict[str, Opinion] = {}
    rejected: list[Rejected] = []
    often = Counter(map(_pair, given))
    for number, it in enumerate(given[: 2 * len(pairs)], 1):
        try:
            pair = _known(it, pairs, often)
            found[pair] = _opinion(it, model)
        except ChangeRefused as refused:
            rejected.append(Rejected(f"verdict {number}", one_line(refused.message)))
    if len(given) > 2 * len(pairs):
        rejected.append(Rejected("reply", "It has more verdicts than there are pairs."))
    untold = (it for it in pairs if it not in often)
    rejected += (Rejected(f"pair {it}", "Nothing was said of it.") for it in untold)
    return Opinions(found, tuple(rejected))


def _pair(it: object) -> str:
    pair = it.get("pair") if isinstance(it, dict) else None
    return pair if isinstance(pair, str) else ""


def _known(it: object, pairs: Collection[str], often: Counter[str]) -> str:
    if not isinstance(it, dict) or sorted(it) != sorted(_SHAPE):
        raise ChangeRefused("It is not of the shape pair, reason, verdict, keep.")
    if not all(isinstance(it[name], str) for name in _SHAPE):
        raise ChangeRefused("One of its fields is no text.")
    pair = _pair(it)
    if pair not in pairs:
        raise ChangeRefused(f"No pair has the id “{clip(one_line(pair), 40)}”.")
    if often[pair] > 1:
        raise ChangeRefused(f"It is one of {often[pair]} on {pair}: none of them counts.")
    return pair


def _opinion(it: Mapping[str, Any], model: str) -> Opinion:
    """Raises ChangeRefused."""
    if it["verdict"] not in set(View) or it["keep"] not in set(Keeps):
        raise ChangeRefused("There is no such verdict, or no such side to keep.")
    view, keeps = View(it["verdict"]), Keeps(it["keep"])
    if keeps is not Keeps.NEITHER and not view.is_amiss:
        raise ChangeRefused(f"It says “{view.value}” and keeps only one of the two.")
    return Opinion(view, keeps, plain_line(it["reason"]), model)


def plain_line(reason: str) -> str:
    """Return a reason that is one plain line. Raises ChangeRefused where it is none."""
    try:
        reason.encode("utf-8")
    except UnicodeEncodeError:
        raise ChangeRefused("Its reason is no text (a lone surrogate).") from None
    if not reason.strip():
        raise ChangeRefused("It gives no reason.")
    if len(reason) > LONGEST:
        raise ChangeRefused(f"Its reason is longer than {LONGEST} characters.")
    if len(reason.splitlines()) != 1 or hidden_characters(reason):
        raise ChangeRefused("Its reason is not one plain line.")
    return reason.strip()
