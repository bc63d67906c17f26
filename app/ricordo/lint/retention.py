"""Retention: how far a note can still be trusted by the time since it was written or confirmed.

The measure is that of FSRS, a model of memory for spaced repetition, by the library `fsrs` with its
published parameters: after `t` days a memory of stability `S` is retained by
`(1 + factor * t / S) ** decay`, where `factor` makes it 0.9 after `S` days. A note begins with the
stability of its type, and that a person confirmed it counts as a review that went well.

This is the only door to `fsrs`, which is loaded when it is first asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from ricordo.lexicon import read_words

if TYPE_CHECKING:
    from fsrs import Card, Rating, Scheduler

OTHER, WIKI = "other", "wiki"
"""The kinds of notes beside the types that the table names."""
LONGEST = 36_500
"""Days; no forecast goes further."""


class DecayParams(NamedTuple):
    """How notes of one kind age."""

    stability: float
    """Days after which nine of ten still hold."""
    difficulty: float
    """1 to 10: the higher, the less a confirmation lengthens the stability."""


class _ReadEffect(NamedTuple):
    """What it does to a note that agents read it."""

    gain: float
    """Share of the stability that a day of reading adds."""
    most: int
    """Days of reading that count."""


@dataclass(frozen=True, slots=True)
class NoteEvents:
    """What happened to the present text of a note, to the day."""

    kind: str
    """A type of the table."""
    written: date
    confirmed: tuple[date, ...] = ()
    """When the person said that it is still true, in order."""
    read: tuple[date, ...] = ()
    """On which days agents read it, in order, each once."""
    is_wrong: bool = False
    """Whether the person said last that it is wrong."""


# no slots: what is asked for is kept
@dataclass(frozen=True)
class Retention:
    """How far one note can be trusted on one day."""

    life: NoteEvents
    threshold: float
    """The share under which the note is stale."""
    today: date

    @cached_property
    def share(self) -> float:
        """What is retained today, 0 to 1; 0 of what the person called wrong."""
        return self.after((self.today - self.since).days)

    def after(self, days: int) -> float:
        """Return what is retained so many days after it was written or confirmed last."""
        if self.life.is_wrong:
            return 0.0
        asked = _moment(self.since) + timedelta(days=max(0, min(days, LONGEST)))
        return _scheduler().get_card_retrievability(self._card, asked)

    @property
    def since(self) -> date:
        """The day from which its time runs."""
        return self.life.confirmed[-1] if self.life.confirmed else self.life.written

    @property
    def half_life(self) -> int:
        """Days in which it falls to one half, from the day on which it was written or confirmed."""
        return days_until(0.5, self.stability)

    @property
    def stability(self) -> float:
        """Days after which nine of ten notes like it still hold."""
        return _strength(self.life).stability

    @cached_property
    def stale_on(self) -> date:
        """The day on which it falls under its threshold."""
        if self.life.is_wrong:
            return min(self.since, self.today)
        return _later(self.since, days_until(self.threshold, self.stability) + 1)

    @property
    def is_stale(self) -> bool:
        """Whether it has fallen under its threshold."""
        return self.stale_on <= self.today

    @property
    def _card(self) -> Card:
        strength = _strength(self.life)
        return _card(strength.stability, strength.difficulty, self.since)

    @cached_property
    def reasons(self) -> tuple[str, ...]:
        """Why it is as much as it is, in short lines."""
        life = self.life
        told = [f"written {_ago((self.today - life.written).days)}"]
        if life.confirmed:
            last = f"{life.confirmed[-1]:%-d %b %Y}"
            often = len(life.confirmed)
            times = "once, on" if often == 1 else f"{often} times, last on"
            told.append(f"confirmed {times} {last}")
        if life.read:
            often = len(life.read)
            days = "one day" if often == 1 else f"{often} days"
            told.append(f"read by agents on {days}, last on {life.read[-1]:%-d %b %Y}")
        if not life.confirmed and not life.read:
            told.append("not confirmed since, and no reading is known")
        if life.is_wrong:
            told.append("you said that it is wrong")
        return tuple(told)


@cache
def tempers() -> dict[str, DecayParams]:
    """Return how notes of each kind age, as the table says. Raises ValueError where it is unfit."""
    table = {
        name: DecayParams(float(row["stability"]), float(row["difficulty"]))
        for name, row in read_words("retention")["types"].items()
    }
    unfit = [
        name for name, it in table.items() if it.stability <= 0 or not 1 <= it.difficulty <= 10
    ]
    if unfit or not {OTHER, WIKI} <= table.keys():
        raise ValueError(f"the table of retention is unfit: {unfit}")
    return table


def kind_of(type_: str) -> str:
    """Return under which name the table has notes of a type."""
    name = type_.strip().lower()
    return name if name in tempers() and name != WIKI else OTHER


def days_until(share: float, stability: float) -> int:
    """Return the last day, counted from a confirmation, on which at least `share` is retained; it
    is the formula solved for the time.
    """
    if share >= 1:
        return 0
    decay = -_scheduler().parameters[20]
    factor = 0.9 ** (1 / decay) - 1
    # the day of a share near 0 is beyond every number
    least = (1 + factor * LONGEST / stability) ** decay
    if share <= least:
        return LONGEST
    return int(stability / factor * (share ** (1 / decay) - 1) + 1e-9)


class _Strength(NamedTuple):
    stability: float
    difficulty: float


@lru_cache(maxsize=20_000)
def _strength(life: NoteEvents) -> _Strength:
    """Return what all that happened to a note has made of its strength."""
    stability, difficulty = tempers()[life.kind]
    since = life.written
    for day in life.confirmed:
        stability = _read_between(stability, life.read, since, day)
        review = max(day, since)
        card, _ = _scheduler().review_card(
            _card(stability, difficulty, since), _good(), _moment(review)
        )
        assert card.stability is not None
        assert card.difficulty is not None
        stability, difficulty, since = card.stability, card.difficulty, review
    return _Strength(_read_between(stability, life.read, since, date.max), difficulty)


def _read_between(stability: float, read: Sequence[date], first: date, last: date) -> float:
    """Return a stability lengthened by what was read from the day `first` to before `last`."""
    if not read:
        return stability
    reading = _ReadEffect(**read_words("retention")["reading"])
    days = sum(1 for day in read if first <= day < last)
    return stability * (1 + reading.gain * min(days, reading.most))


@cache
def _scheduler() -> Scheduler:
    from fsrs import Scheduler

    # no steps within a day, and nothing by chance
    return Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)


def _good() -> Rating:
    from fsrs import Rating

    return Rating.Good


def _card(stability: float, difficulty: float, since: date) -> Card:
    from fsrs import Card, State

    at = _moment(since)
    return Card(0, State.Review, None, stability, difficulty, due=at, last_review=at)


def _moment(day: date) -> datetime:
    """Return the beginning of a day, as the library counts days."""
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def _later(day: date, days: int) -> date:
    return date.fromordinal(min(day.toordinal() + days, date.max.toordinal()))


def _ago(days: int) -> str:
    if days < 0:
        return "in the future"
    if days < 1:
        return "today"
    return f"{days} day{'' if days == 1 else 's'} ago"
