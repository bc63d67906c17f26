"""What is kept from run to run: how much was spent, and whether automatic runs rest.

Its clock never goes back. However the clock of the machine is set, only what it goes forward
counts: a jump back neither frees what was spent nor makes a rest last for years.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from ricordo.disk.json_file import read_json
from ricordo.disk.lock import counting_lock
from ricordo.disk.state_file import replace_state_file
from ricordo.errors import StateUnusable
from ricordo.model.breaker import FAILURES, FIRST_REST, Breaker
from ricordo.model.budget import Spent
from ricordo.text import visible

_FILE = "model.json"
_LARGEST = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Standing:
    """What counts for the next run."""

    seen: float = 0.0
    """The clock of the machine when it was looked at last, in seconds."""
    time: float = 0.0
    """Our own clock then: how far that of the machine went forward in all."""
    spent: Spent = field(default_factory=Spent)
    breaker: Breaker = field(default_factory=Breaker)
    refused: str = ""
    """A digest of the last question that a model refused."""

    def at(self, now: float) -> Standing:
        """Return it at the moment `now` of the machine's clock."""
        forward = max(0.0, now - self.seen) if self.seen else 0.0
        return replace(self, seen=now, time=self.time + forward)


class StandingFile:
    """The file that holds it, in the state directory."""

    def __init__(self, state: str) -> None:
        """Nothing is touched before use."""
        self._state = state
        self._path = os.path.join(state, _FILE)

    def read(self, now: float) -> Standing:
        """Return what counts at `now`. Where the file is damaged, automatic runs rest."""
        document, problem = read_json(self._path, _LARGEST)
        try:
            kept = _standing(document) if document is not None else Standing()
        except (KeyError, TypeError, ValueError):
            problem = "is not ours"
        if problem:
            kept = Standing(now, breaker=Breaker(FAILURES, 0.0, FIRST_REST))
        return kept.at(now)

    @contextmanager
    def changing(self, now: float) -> Iterator[_Changing]:
        """Hold what counts, to be replaced; nobody else changes it meanwhile. Raises StateUnusable
        and Busy; nothing was changed then.
        """
        with counting_lock(self._state):
            changing = _Changing(self.read(now))
            try:
                yield changing
            finally:
                self._write(changing.standing)

    def _write(self, standing: Standing) -> None:
        text = json.dumps(asdict(standing))
        try:
            replace_state_file(self._state, _FILE, text.encode("ascii"))
        except OSError as error:
            why = f"{visible(self._path)} cannot be written: {error.strerror}."
            raise StateUnusable(why) from None


@dataclass(slots=True)
class _Changing:
    standing: Standing


def _standing(document: object) -> Standing:
    """Raises KeyError, TypeError and ValueError where it is none."""
    if not isinstance(document, dict):
        raise TypeError
    kept = document["breaker"]
    breaker = Breaker(
        _whole(kept["failures"]),
        _number(kept["since"]),
        _number(kept["rest"]),
        _whole(kept.get("successes", 0)),
    )
    hours = tuple((_whole(hour), _whole(count)) for hour, count in document["spent"]["hours"])
    return Standing(
        _number(document["seen"]),
        _number(document["time"]),
        Spent(hours),
        breaker,
        str(document["refused"]),
    )


def _whole(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError
    return value


def _number(value: Any) -> float:
    if type(value) not in (int, float) or not 0 <= value < 1e15:
        raise ValueError
    return float(value)
