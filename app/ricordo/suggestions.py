"""Suggestions for mistyped words: commands, options, values, notes, ids, rules, settings."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MOST = 3
"""Words that are suggested at once."""
LIKE = 0.6
"""Likeness, 0 to 1, from which a word may have been meant."""
LIKE_ID = 0.8
"""The same for ids, which are alike by chance."""
_AS_LIKE = 0.1
"""A word that is less like by more than this is not suggested beside the likeliest one."""
_LONGEST = 80
"""Characters that are compared: the time grows with the product of the lengths."""
_SHORTEST_PART = 3
"""Characters of a word that may stand for a longer one which contains it."""


def find_near(
    word: str, known: Iterable[str], *, most: int = MOST, like: float = LIKE
) -> list[str]:
    """Return those of `known` that are most like `word`, the likeliest first; empty if none is.

    Case, `-`, `_` and blanks make no difference. If none is alike, those that contain the word are
    returned, unless they are more than `most`.
    """
    from difflib import SequenceMatcher, get_close_matches

    typed = _fold(word)
    by_fold: dict[str, str] = {}
    for each in known:
        by_fold.setdefault(_fold(each), each)
    near = get_close_matches(typed, by_fold, n=most, cutoff=like)
    if not near:
        parts = [each for each in by_fold if len(typed) >= _SHORTEST_PART and typed in each]
        return [by_fold[each] for each in sorted(parts)] if len(parts) <= most else []
    # as get_close_matches compares them
    likeness = {each: SequenceMatcher(None, each, typed).ratio() for each in near}
    least = max(likeness.values()) - _AS_LIKE
    ordered = sorted(near, key=lambda each: (-likeness[each], each))
    return [by_fold[each] for each in ordered if likeness[each] >= least]


def find_nearest(word: str, known: Iterable[str]) -> str:
    """Return the one of `known` that is most like `word`; "" if none is."""
    return next(iter(find_near(word, known, most=1)), "")


def suggest(
    word: str, known: Iterable[str], form: str = "“{}”", *, most: int = MOST, like: float = LIKE
) -> str:
    """Return the question whether one of `known` was meant by `word`, each in `form`; "" if none
    is alike.
    """
    from ricordo.text import make_one_line

    found = find_near(word, known, most=most, like=like)
    near = [form.format(make_one_line(each)) for each in found]
    if not near:
        return ""
    *others, last = near
    return f"Did you mean {', '.join(others)} or {last}?" if others else f"Did you mean {last}?"


def _fold(text: str) -> str:
    return text[:_LONGEST].casefold().replace("_", "-").replace(" ", "-")
