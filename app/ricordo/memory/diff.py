"""The difference of two texts: hunks of lines, each of which can be taken or left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ricordo.memory.lines import bare, line_end, split_lines
from ricordo.text import one_line

CONTEXT = 3
"""Lines shown around a hunk."""
_MOST_EDITS = 600
"""Lines that differ at most: beyond, finding which of them stay takes too long, and the whole
stretch counts as changed.
"""


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines of the old text that give way to lines of the new one."""

    old_start: int
    """0-based position in the old lines."""
    old: tuple[str, ...]
    """With their line ends."""
    new_start: int
    new: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DiffRow:
    """One line of a diff as it is shown."""

    sign: str
    """``-``, ``+``, a blank for what stays, ``@`` for lines left out."""
    number: int
    """1-based line: of the new text for what stays or comes, of the old one for what goes."""
    text: str
    """The line without its line end."""
    hunk: int
    """Which hunk it belongs to, counted from 0; -1 for context."""
    ending: str = ""
    """What its line end is, where that is what changed: `no newline`, `CRLF`, `LF`."""


def hunks(old: str, new: str) -> tuple[Hunk, ...]:
    """Return what has to be done to the lines of `old` to get `new`."""
    return tuple(hunks_of_lines(split_lines(old), split_lines(new)))


def hunks_of_lines(before: Sequence[str], after: Sequence[str]) -> Iterator[Hunk]:
    """Yield what has to be done to the lines `before` to get the lines `after`."""
    start = _common(before, after)
    end = _common(before[start:][::-1], after[start:][::-1])
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    i = j = 0
    for x, y in [*_kept(old, new), (len(old), len(new))]:
        if x > i or y > j:
            yield Hunk(start + i, tuple(old[i:x]), start + j, tuple(new[j:y]))
        i, j = x + 1, y + 1


def _kept(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return the positions, in `old` and in `new`, of the lines that stay; none where too much
    differs.

    Source: E. Myers, An O(ND) difference algorithm and its variations, 1986.
    """
    trail = _trail(old, new)
    x, y = len(old), len(new)
    kept: list[tuple[int, int]] = []
    for edits, furthest in reversed(list(enumerate(trail))):
        diagonal = _comes_from(furthest, x - y, edits)
        came_x = furthest[diagonal]
        came_y = came_x - diagonal
        while x > came_x and y > came_y:
            x, y = x - 1, y - 1
            kept.append((x, y))
        x, y = came_x, came_y
    return kept[::-1]


def _trail(old: Sequence[str], new: Sequence[str]) -> list[dict[int, int]]:
    """Return how far into `old` one gets on every diagonal before each further edit."""
    furthest = {1: 0}
    trail: list[dict[int, int]] = []
    for edits in range(min(len(old) + len(new), _MOST_EDITS) + 1):
        trail.append(dict(furthest))
        for diagonal in range(-edits, edits + 1, 2):
            came = _comes_from(furthest, diagonal, edits)
            x = furthest[came] + (came < diagonal)
            while x < len(old) and x - diagonal < len(new) and old[x] == new[x - diagonal]:
                x += 1
            furthest[diagonal] = x
            if x >= len(old) and x - diagonal >= len(new):
                return trail
    return []


def _comes_from(furthest: Mapping[int, int], diagonal: int, edits: int) -> int:
    """Return the diagonal from which one edit leads furthest on `diagonal`."""
    if diagonal == -edits:
        return diagonal + 1
    if diagonal == edits or furthest[diagonal - 1] >= furthest[diagonal + 1]:
        return diagonal - 1
    return diagonal + 1


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def without_hunks(old: str, new: str, left_out: Collection[int]) -> str:
    """Return `new` with the hunks numbered `left_out` as they are in `old`."""
    lines = split_lines(old)
    taken = [hunk for n, hunk in enumerate(hunks(old, new)) if n not in left_out]
    for hunk in reversed(taken):
        lines[hunk.old_start : hunk.old_start + len(hunk.old)] = hunk.new
    return "".join(lines)


def rows(old: str, new: str, context: int = CONTEXT) -> tuple[DiffRow, ...]:
    """Return the rows that show how `new` differs from `old`."""
    after = split_lines(new)
    shown: list[DiffRow] = []
    done = 0
    found = hunks(old, new)
    for n, hunk in enumerate(found):
        shown.extend(_between(after, done, hunk.new_start, context, first=n == 0))
        shown.extend(_rows_of(hunk, n))
        done = hunk.new_start + len(hunk.new)
    if found:
        shown.extend(
            DiffRow(" ", number, bare(line), -1)
            for number, line in enumerate(after[done : done + context], done + 1)
        )
    return tuple(shown)


def _between(
    after: Sequence[str], start: int, end: int, context: int, first: bool
) -> Iterator[DiffRow]:
    """Yield the lines that stay between two hunks, the middle of a long stretch left out."""
    head = 0 if first else context
    if end - start > head + context + 1:
        cut = end - context
        kept = [*range(start, start + head), -1, *range(cut, end)]
    else:
        kept = list(range(start, end))
    for position in kept:
        if position < 0:
            yield DiffRow("@", start + head + 1, f"{end - context - start - head} lines", -1)
        else:
            yield DiffRow(" ", position + 1, bare(after[position]), -1)


def _rows_of(hunk: Hunk, n: int) -> Iterator[DiffRow]:
    same_text = [bare(line) for line in hunk.old] == [bare(line) for line in hunk.new]
    for sign, start, lines in (("-", hunk.old_start, hunk.old), ("+", hunk.new_start, hunk.new)):
        for number, line in enumerate(lines, start + 1):
            told = same_text or not line.endswith("\n")
            yield DiffRow(sign, number, bare(line), n, _ending(line) if told else "")


def _ending(line: str) -> str:
    return "CRLF" if line.endswith("\r\n") else "LF" if line.endswith("\n") else "no newline"


def unified(old: str, new: str, old_name: str, new_name: str) -> str:
    """Return the difference as a unified diff, as `diff -u` and git print it."""
    text: list[str] = [f"--- {one_line(old_name)}\n", f"+++ {one_line(new_name)}\n"]
    before = split_lines(old)
    for group in _groups(hunks(old, new)):
        first, last = group[0], group[-1]
        start = max(first.old_start - CONTEXT, 0)
        end = min(last.old_start + len(last.old) + CONTEXT, len(before))
        new_start = first.new_start - (first.old_start - start)
        new_end = last.new_start + len(last.new) + (end - last.old_start - len(last.old))
        text.append(
            f"@@ -{_range(start, end - start)} +{_range(new_start, new_end - new_start)} @@\n"
        )
        at = start
        for hunk in group:
            text.extend(" " + line for line in before[at : hunk.old_start])
            text.extend("-" + line for line in hunk.old)
            text.extend("+" + line for line in hunk.new)
            at = hunk.old_start + len(hunk.old)
        text.extend(" " + line for line in before[at:end])
    if len(text) == 2:
        return ""
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in text
    )


def _groups(found: Sequence[Hunk]) -> list[list[Hunk]]:
    """Put hunks together whose context would touch."""
    groups: list[list[Hunk]] = []
    for hunk in found:
        if groups:
            last = groups[-1][-1]
            if hunk.old_start - (last.old_start + len(last.old)) <= 2 * CONTEXT:
                groups[-1].append(hunk)
                continue
        groups.append([hunk])
    return groups


def _range(start: int, length: int) -> str:
    first = start + 1 if length else start
    return str(first) if length == 1 else f"{first},{length}"


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
