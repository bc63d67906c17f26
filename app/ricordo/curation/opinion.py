"""What an engine outside our code thinks of two notes that are in doubt. It is read as if it came
from an enemy, shown to the person, and does nothing by itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ricordo.curation.brief import tokens
from ricordo.curation.engines.external import NOTHING, Sent
from ricordo.curation.form import ModelForm, a_list, a_text, an_object
from ricordo.curation.proposal import Rejected
from ricordo.errors import ChangeRefused
from ricordo.llm.question import FormTool
from ricordo.llm.redaction import Redaction
from ricordo.text import clip, hidden_characters, one_line, visible

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


_MOST_AROUND = 600
"""Characters before and behind a claim."""
_MOST_WHOLE = 2_000
"""Characters of a note that is judged as a whole."""


@dataclass(frozen=True, slots=True)
class Party:
    """One of the two notes of a pair."""

    place: str
    """Its path; it is not sent."""
    about: str
    """Its name and description."""
    text: str
    """Its text without the head."""
    claim: str = ""
    """The statement that is in doubt; "" where the note is as a whole."""
    day: str = ""
    """When it was written, ISO 8601; "" where that is not known."""
    said_by: str = ""
    """`the person` or `an agent`; "" where that is not known."""


@dataclass(frozen=True, slots=True)
class InDoubt:
    """Two notes of which it is in doubt what they are to each other."""

    what: str
    """Of what it is in doubt, in words of our own."""
    differ: str
    """In what kind of thing they differ, in words of our own; "" where it is about notes as a
    whole.
    """
    left: Party
    right: Party


@dataclass(frozen=True, slots=True)
class JudgementBatch:
    """Pairs that are judged together."""

    texts: tuple[str, ...]
    """One for each pair, as it is sent but for the seal."""
    redaction: Redaction

    @property
    def ids(self) -> tuple[str, ...]:
        """The names by which an engine speaks of the pairs."""
        return tuple(f"p{number}" for number in range(1, len(self.texts) + 1))

    @property
    def text(self) -> str:
        """All of it."""
        pairs = (f"pair {name}\n{text}" for name, text in zip(self.ids, self.texts, strict=True))
        return "".join(pairs)

    @property
    def tokens(self) -> int:
        """About how many tokens it costs."""
        return tokens(self.text)

    @property
    def sent(self) -> Sent:
        """It as it leaves."""
        return Sent(NOTHING.stable, self.redaction.sealed(self.text))


def compose_batch(pairs: Sequence[InDoubt], redaction: Redaction, room: int) -> JudgementBatch:
    """Return as many of the first `pairs` as have `room`, in tokens."""
    parties = [party for pair in pairs for party in (pair.left, pair.right)]
    redaction.learn([it for party in parties for it in (party.text, party.about)])
    batch = JudgementBatch((), redaction)
    for pair in pairs:
        more = JudgementBatch((*batch.texts, "".join(_lines(pair, redaction))), redaction)
        if more.tokens > room:
            break
        batch = more
    return batch


def _lines(pair: InDoubt, redaction: Redaction) -> Iterator[str]:
    yield f"it is in doubt whether {pair.what}\n"
    yield from _fenced("differ", pair.differ)
    for side, party in (("left", pair.left), ("right", pair.right)):
        known = (party.day and f"written on {party.day}", party.said_by and f"by {party.said_by}")
        yield ", ".join((side, *filter(None, known))) + "\n"
        text, claim, about = (
            redaction.redact(party.place, it) for it in (party.text, party.claim, party.about)
        )
        for mark, told in (("about", about), ("claim", claim), ("", _shown(text, claim))):
            yield from _fenced(mark, told)


def _shown(text: str, claim: str) -> str:
    """Return as much of a redacted text as is sent: what stands around the claim, or its beginning.
    Before it is redacted nothing is cut: half of a secret does not look like one.
    """
    found = re.search(r"\s+".join(map(re.escape, claim.split())), text) if claim else None
    if found is None:
        return _cut(text, 0, _MOST_AROUND if claim else _MOST_WHOLE)
    return _cut(text, found.start() - _MOST_AROUND, found.end() + _MOST_AROUND)


def _fenced(mark: str, text: str) -> Iterable[str]:
    """The lines of a text of others, each behind a mark."""
    return (f"{mark}| {visible(line)}\n" for line in text.split("\n") if line.strip())


def _cut(text: str, start: int, end: int) -> str:
    start, end = max(0, start), min(len(text), end)
    before, behind = "…" if start else "", "…" if end < len(text) else ""
    return f"{before}{text[start:end]}{behind}"


_VERDICT = an_object(
    pair=a_text("The id of the pair."),
    reason=a_text("What decides it, in one plain line of at most 200 characters."),
    verdict=a_text("What the two notes are to each other.", enum=[it.value for it in View]),
    keep=a_text("Which of the two should stay.", enum=[it.value for it in Keeps]),
)
JUDGE = FormTool(
    "judge",
    "Say of every pair, all at once, what its two notes are to each other.",
    an_object(verdicts=a_list(_VERDICT, "One for each pair.")),
)
"""What a model answers with."""
JUDGING = ModelForm(JUDGE, lambda value: value["verdicts"])
