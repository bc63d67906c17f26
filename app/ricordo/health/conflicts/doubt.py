"""Whether two claims that no plain case decides may exclude each other all the same.

They speak of nearly the same and differ in something. Whether that makes another subject, another
condition or a contradiction takes knowledge of the world: it is for a person, or for a model that
is asked. Most doubts are none.
"""

from __future__ import annotations

from typing import NamedTuple

from ricordo.health.conflicts.compare import Frame, said

_FARTHEST = 4
"""Words and values that differ, of both together."""
_WIDEST = 2
"""Of them for each word that is shared."""
_LABEL = 2
"""Words of what is no statement, where it has no verb: a heading, a label."""


class Doubt(NamedTuple):
    """That two claims may exclude each other."""

    reason: str
    """In what they differ, in a few words."""
    distance: float
    """How much that is, against what both share: the less, the likelier they do."""


def doubt_in(pair: Frame) -> Doubt | None:
    """Return the doubt about two claims of which no plain case tells that they exclude each other;
    None where there is none.
    """
    apart = len(pair.mine) + len(pair.theirs) + len(pair.values.loose)
    if _speak_of_two(pair) or not pair.shared or apart > min(_FARTHEST, _WIDEST * len(pair.shared)):
        return None
    reason = _reason(pair)
    return Doubt(reason, apart / len(pair.shared)) if reason else None


def _speak_of_two(pair: Frame) -> bool:
    """Whether each tells by a word of its subject that it speaks of another thing."""
    return all(any(it.place == "subject" for it in words) for words in (pair.mine, pair.theirs))


def _reason(pair: Frame) -> str:
    values = pair.values
    if values.found:
        return values.found[0].reason
    if pair.signs_differ:
        return "one denies"
    if not all(it.has_verb or len(it.words) > _LABEL for it in (pair.one, pair.other)):
        return ""
    if pair.mine and pair.theirs:
        return f"one slot: {said(pair.mine)} / {said(pair.theirs)}"
    is_value_alone = bool(values.loose) and not pair.mine and not pair.theirs
    return f"values: {' / '.join(values.loose)}" if is_value_alone else ""
