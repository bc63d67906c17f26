"""Statements of one form in many notes: a list of like things, or one thing told in many ways."""

from __future__ import annotations

from ricordo.health.conflicts.claim import Claim, Word
from ricordo.health.conflicts.reading import read_claim

MANY = 3
"""Notes that one statement excludes, from which on they may be a list of like things."""
_TOO_MANY = 8
"""Notes from which on they surely are one."""
_NAMED = 2
"""Words of a subject that tell which thing is spoken of."""


def is_listed(left: str, right: str, notes: int) -> bool:
    """Say whether two statements that exclude each other, and of which one is excluded by so many
    `notes`, tell of two things of a list: each says of the note that it stands in, not of a thing
    that it names.
    """
    if notes < MANY:
        return False
    return notes >= _TOO_MANY or not _is_named(read_claim(left), read_claim(right))


def _is_named(one: Claim, other: Claim) -> bool:
    """Whether both tell by themselves of what they speak."""
    if one.who and one.who == other.who:
        return True
    shared = one.subject & other.subject
    if any(it.key in shared and (it.is_name or _is_all_of_them(it)) for it in one.words):
        return True
    # who is told to use a thing is the agent
    is_order = bool(one.tools) and one.has_verb and not (one.subject or other.subject)
    return is_order or len(shared) >= _NAMED


def _is_all_of_them(word: Word) -> bool:
    """Whether a word speaks of all things of its kind, as `sessions` at the beginning does."""
    return word.at == 0 and word.text.endswith("s")
