"""What a curation did not get read, as a person is told of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ricordo.curator.engine import Unread
from ricordo.curator.heard import Spoken
from ricordo.memory.memory import Memory
from ricordo.secrets import mask
from ricordo.text import clip, one_line

_BESIDE = "the index and the names of the other notes"
_LEFT = "not asked about any further"
_STAYS = "you can still open, edit or delete it"
_LONGEST = 60
"""Characters of what was said."""
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Skipped:
    """A note, or something that was said, that a curation passed over."""

    source: str
    """The path of the note or the source of the turn; "" for what stands around them."""
    name: str
    """What it is called, in one line."""
    why: str
    """In one line, with what can still be done."""
    is_left: bool
    """Whether it was only not asked about."""

    @property
    def told(self) -> str:
        """All of it."""
        return f"skipped: {self.name}, {self.why}"


def skipped(
    unread: Iterable[Unread], memory: Memory, said: Iterable[Spoken]
) -> tuple[Skipped, ...]:
    """Return what was not read of `memory` and of what was `said`."""
    turns = {it.source: it for it in said}

    def told(it: Unread) -> Skipped:
        is_note = it.source in memory.by_path
        why = f"{it.why}; {_STAYS}" if is_note else it.why
        why = f"{_LEFT}: {it.why}" if it.is_left else why
        turn = turns.get(it.source)
        name = _name(turn) if turn else one_line(it.source) or _BESIDE
        return Skipped(it.source, name, one_line(why), it.is_left)

    return tuple(map(told, unread))


def summed_up(found: Iterable[Skipped]) -> tuple[Skipped, ...]:
    """Return what was skipped, one by one, and as one all that was not asked about: that has one
    reason.
    """
    known = tuple(found)
    left = [it for it in known if it.is_left]
    rest = tuple(it for it in known if not it.is_left)
    if not left:
        return rest
    more = [f"and {len(left) - _MOST_NAMED} more"] if len(left) > _MOST_NAMED else []
    names = ", ".join([*(it.name for it in left[:_MOST_NAMED]), *more])
    return (*rest, Skipped("", names, left[0].why, is_left=True))


def _name(turn: Spoken) -> str:
    return f"what you said on {turn.day:%-d %b}, “{clip(one_line(mask(turn.text)), _LONGEST)}”"
