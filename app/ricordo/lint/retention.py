"""Retention: how far to trust a note by the time since it was written or confirmed.

The formula is that of FSRS, a model of memory for spaced repetition, from the library `fsrs` with
its published parameters: after `t` days, a memory of stability `S` has the retention
`(1 + factor * t / S) ** decay`, where `factor` makes it 0.9 after `S` days. A note begins with the
stability of its type; each confirmation by the user counts as a successful review.

Only this module imports `fsrs`, on first use.
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
"""The kinds of notes besides the types in the table."""
MAX_DAYS = 36_500
"""Days; no forecast goes further."""


class DecayParams(NamedTuple):
    """The decay parameters of notes of one kind."""

    stability: float
    """Days after which nine of ten are still true."""
    difficulty: float
    """1 to 10: the higher, the less a confirmation lengthens the stability."""


class _ReadEffect(NamedTuple):
    """The effect of reads by agents on a note."""

    gain: float
    """Share of the stability that a day with reads adds."""
    most: int
    """Maximum number of days that count."""


@dataclass(frozen=True, slots=True)
class NoteEvents:
    """The events of the present text of a note, by day."""

    kind: str
    """A type of the table."""
    written: date
    confirmed: tuple[date, ...] = ()
    """When the user marked it as still true, in order."""
    read: tuple[date, ...] = ()
    """The days on which agents read it, in order, each once."""
    is_wrong: bool = False
    """Whether the user's last verdict was wrong."""


# no slots, because of the cached properties
@dataclass(frozen=True)
class Retention:
    """The retention of one note on one day."""

    events: NoteEvents
    threshold: float
    """The share below which the note is stale."""
    today: date

    @cached_property
    def share(self) -> float:
        """The retention today, 0 to 1; 0 for a note that the user marked as wrong."""
        return self.share_after((self.today - self.since).days)

    def share_after(self, days: int) -> float:
        """Return the retention so many days after the note was written or last confirmed."""
        if self.events.is_wrong:
            return 0.0
        at = _moment(self.since) + timedelta(days=max(0, min(days, MAX_DAYS)))
        return _scheduler().get_card_retrievability(self._card, at)

    @property
    def since(self) -> date:
        """The day on which it was last confirmed, else written."""
        return self.events.confirmed[-1] if self.events.confirmed else self.events.written

    @property
    def half_life(self) -> int:
        """Days from the day of `since` until the retention is 0.5."""
        return days_until(0.5, self.stability)

    @property
    def stability(self) -> float:
        """Days after which nine of ten such notes are still true."""
        return _strength(self.events).stability

    @cached_property
    def stale_on(self) -> date:
        """The first day below its threshold."""
        if self.events.is_wrong:
            return min(self.since, self.today)
        return _later(self.since, days_until(self.threshold, self.stability) + 1)

    @property
    def is_stale(self) -> bool:
        """Whether it is below its threshold."""
        return self.stale_on <= self.today

    @property
    def _card(self) -> Card:
        strength = _strength(self.events)
        return _card(strength.stability, strength.difficulty, self.since)

    @cached_property
    def reasons(self) -> tuple[str, ...]:
        """The events behind the retention, in short lines."""
        events = self.events
        lines = [f"written {_format_age((self.today - events.written).days)}"]
        if events.confirmed:
            last = f"{events.confirmed[-1]:%-d %b %Y}"
            count = len(events.confirmed)
            times = "once, on" if count == 1 else f"{count} times, last on"
            lines.append(f"confirmed {times} {last}")
        if events.read:
            count = len(events.read)
            days = "one day" if count == 1 else f"{count} days"
            lines.append(f"read by agents on {days}, last on {events.read[-1]:%-d %b %Y}")
        if not events.confirmed and not events.read:
            lines.append("never confirmed, and not known to be read")
        if events.is_wrong:
            lines.append("you marked it as wrong")
        return tuple(lines)


@cache
def load_decay_params() -> dict[str, DecayParams]:
    """Return the decay parameters of each kind. Raises ValueError where the table is invalid."""
    table = {
        name: DecayParams(float(row["stability"]), float(row["difficulty"]))
        for name, row in read_words("retention")["types"].items()
    }
    invalid = [
        name
        for name, (stability, difficulty) in table.items()
        if stability <= 0 or not 1 <= difficulty <= 10
    ]
    if invalid or not {OTHER, WIKI} <= table.keys():
        raise ValueError(f"the retention table is invalid: {invalid}")
    return table


def get_decay_kind(type_: str) -> str:
    """Return the name in the table for notes of a type."""
    name = type_.strip().lower()
    return name if name in load_decay_params() and name != WIKI else OTHER


def days_until(share: float, stability: float) -> int:
    """Return the last day, counted from a confirmation, with a retention of at least `share`: the
    formula solved for the time.
    """
    if share >= 1:
        return 0
    decay = -_scheduler().parameters[20]
    factor = 0.9 ** (1 / decay) - 1
    # the day of a share near 0 is out of range
    least = (1 + factor * MAX_DAYS / stability) ** decay
    if share <= least:
        return MAX_DAYS
    return int(stability / factor * (share ** (1 / decay) - 1) + 1e-9)


class _Strength(NamedTuple):
    stability: float
    difficulty: float


@lru_cache(maxsize=20_000)
def _strength(life: NoteEvents) -> _Strength:
    """Return the stability and difficulty of a note after all its events."""
    stability, difficulty = load_decay_params()[life.kind]
    since = life.written
    for day in life.confirmed:
        stability = _add_reads(stability, life.read, since, day)
        review = max(day, since)
        card, _ = _scheduler().review_card(
            _card(stability, difficulty, since), _good(), _moment(review)
        )
        assert card.stability is not None
        assert card.difficulty is not None
        stability, difficulty, since = card.stability, card.difficulty, review
    return _Strength(_add_reads(stability, life.read, since, date.max), difficulty)


def _add_reads(stability: float, read: Sequence[date], first: date, last: date) -> float:
    """Return a stability increased by the reads from the day `first` to before `last`."""
    if not read:
        return stability
    effect = _ReadEffect(**read_words("retention")["reading"])
    days = sum(1 for day in read if first <= day < last)
    return stability * (1 + effect.gain * min(days, effect.most))


@cache
def _scheduler() -> Scheduler:
    from fsrs import Scheduler

    # no steps within a day, and no randomness
    return Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)


def _good() -> Rating:
    from fsrs import Rating

    return Rating.Good


def _card(stability: float, difficulty: float, since: date) -> Card:
    from fsrs import Card, State

    at = _moment(since)
    return Card(0, State.Review, None, stability, difficulty, due=at, last_review=at)


def _moment(day: date) -> datetime:
    """Return the beginning of a day in UTC, from which the library counts days."""
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def _later(day: date, days: int) -> date:
    return date.fromordinal(min(day.toordinal() + days, date.max.toordinal()))


def _format_age(days: int) -> str:
    if days < 0:
        return "in the future"
    if days < 1:
        return "today"
    return f"{days} day{'' if days == 1 else 's'} ago"
