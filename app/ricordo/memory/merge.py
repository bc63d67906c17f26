"""Merging two changes of one text by lines: what one side changed, or both changed alike, goes
through; anything else is a conflict for the person. Nothing is ever matched inexactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ricordo.memory.diff import Hunk, hunks_of_lines
from ricordo.memory.lines import line_end, split_lines


def merge(base: str, ours: str, theirs: str, *, additions_join: bool = False) -> str | None:
    """Return `base` with the changes of `ours` and of `theirs`; None where they touch.

    Source: the three-way merge of diff3, by lines; changes in neighbouring lines touch, equal
    ones do not. With `additions_join`, meant for an index, lines that both sides add at one place
    are all kept, theirs first and each once.
    """
    if additions_join:
        ended = [_ended(text, base) for text in (base, ours, theirs)]
        merged = merge(*ended)
        if merged is None:
            merged = _joined(*ended)
        # the last line end is a change of its own: that of the side that made it
        changed = ours if ours.endswith("\n") != base.endswith("\n") else theirs
        if merged is None or changed.endswith("\n"):
            return merged
        return merged.removesuffix(line_end(base))
    lines, left, right = _changes(base, ours, theirs)
    if any(one != other and _touch(one, other) for one in left for other in right):
        return None
    return _applied(lines, {*left, *right})


def merge_foreign(
    before: bytes, after: bytes, one: bytes | None, other: bytes | None
) -> bytes | None:
    """Return a text with what two other programs wrote, and without our own change from `before`
    to `after`; each of the two may have begun with either of these. Lines that both append are all
    kept, those of `other` first and each once. None where the two touch, or where one is None.
    """
    if one is None or other is None:
        return None
    lower, upper = (_appended(raw, before, after) for raw in (one, other))
    if lower is not None and upper is not None and all(map(_is_ended, (before, upper))):
        taken = Counter(split_lines(upper.decode("latin-1")))
        lines = split_lines(lower.decode("latin-1"))
        added = "".join(line for line in lines if not _take(taken, line))
        return before + upper + added.encode("latin-1")
    # any byte is a character of Latin-1, and line ends are the same
    texts = (raw.decode("latin-1") for raw in (after, one, other))
    merged = merge(*texts)
    return None if merged is None else merged.encode("latin-1")


def _appended(raw: bytes, *starts: bytes) -> bytes | None:
    """Return what stands after the longest of `starts` with which `raw` begins, and which ends
    with a line end; None where it begins with none.
    """
    fitting = [it for it in starts if raw.startswith(it) and _is_ended(it)]
    return raw[len(max(fitting, key=len)) :] if fitting else None


def _is_ended(raw: bytes) -> bool:
    return not raw or raw.endswith(b"\n")


def _changes(base: str, ours: str, theirs: str) -> tuple[list[str], list[Hunk], list[Hunk]]:
    """Return the lines of `base` and what each side does to them, apart from where it leads."""
    lines = split_lines(base)
    left, right = (
        [Hunk(hunk.old_start, hunk.old, 0, hunk.new) for hunk in hunks_of_lines(lines, other)]
        for other in (split_lines(ours), split_lines(theirs))
    )
    return lines, left, right


def _joined(base: str, ours: str, theirs: str) -> str | None:
    lines, left, right = _changes(base, ours, theirs)
    kept: list[Hunk] = []
    for hunk in left:
        rivals = [other for other in right if other != hunk and _touch(hunk, other)]
        if any(hunk.old or other.old for other in rivals):
            return None
        taken = Counter(line for other in rivals for line in other.new)
        new = tuple(line for line in hunk.new if not _take(taken, line))
        kept.append(Hunk(hunk.old_start, hunk.old, 0, new))
    return _applied(lines, [*dict.fromkeys([*right, *kept])])


def _take(taken: Counter[str], line: str) -> bool:
    """Take one `line` out of `taken`; say whether there was one."""
    taken[line] -= 1
    return taken[line] >= 0


def _ended(text: str, base: str) -> str:
    return text + line_end(base) if text and not text.endswith("\n") else text


def _touch(one: Hunk, other: Hunk) -> bool:
    return one.old_start <= other.old_start + len(
        other.old
    ) and other.old_start <= one.old_start + len(one.old)


def _applied(lines: Sequence[str], hunks: Sequence[Hunk] | set[Hunk]) -> str:
    """Return the text after all `hunks`; of two at one place the later one stands lower."""
    result: list[str] = []
    at = 0
    for hunk in sorted(hunks, key=lambda hunk: hunk.old_start):
        result.extend(lines[at : hunk.old_start])
        result.extend(hunk.new)
        at = hunk.old_start + len(hunk.old)
    return "".join([*result, *lines[at:]])
