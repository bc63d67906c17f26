"""The difference of two texts as hunks of lines, each of which can be applied or not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ricordo.memory.lines import detect_line_end, split_lines, strip_line_end
from ricordo.text import make_one_line

CONTEXT = 3
"""Lines shown around a hunk."""
_MOST_EDITS = 600
"""Limit on differing lines: above it the search takes too long, and the whole range counts as
changed.
"""


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines of the old text that are replaced by lines of the new one."""

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
    """``-``, ``+``, a blank for context, ``@`` for lines left out."""
    number: int
    """1-based line: of the old text for removed lines, else of the new one."""
    text: str
    """The line without its line end."""
    hunk: int
    """Which hunk it belongs to, counted from 0; -1 for context."""
    ending: str = ""
    """The line end, if that is what changed: `no newline`, `CRLF`, `LF`."""


def compute_hunks(old: str, new: str) -> tuple[Hunk, ...]:
    """Return the hunks that turn the lines of `old` into those of `new`."""
    return tuple(compute_line_hunks(split_lines(old), split_lines(new)))


def compute_line_hunks(before: Sequence[str], after: Sequence[str]) -> Iterator[Hunk]:
    """Yield the hunks that turn the lines `before` into the lines `after`."""
    start = _count_common(before, after)
    end = _count_common(before[start:][::-1], after[start:][::-1])
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    i = j = 0
    for x, y in [*_match_lines(old, new), (len(old), len(new))]:
        if x > i or y > j:
            yield Hunk(start + i, tuple(old[i:x]), start + j, tuple(new[j:y]))
        i, j = x + 1, y + 1


def _match_lines(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return the positions, in `old` and in `new`, of the unchanged lines; none if too many differ.

    Source: E. Myers, An O(ND) difference algorithm and its variations, 1986.
    """
    trail = _trace_edits(old, new)
    x, y = len(old), len(new)
    matches: list[tuple[int, int]] = []
    for edits, furthest in reversed(list(enumerate(trail))):
        diagonal = _previous_diagonal(furthest, x - y, edits)
        previous_x = furthest[diagonal]
        previous_y = previous_x - diagonal
        while x > previous_x and y > previous_y:
            x, y = x - 1, y - 1
            matches.append((x, y))
        x, y = previous_x, previous_y
    return matches[::-1]


def _trace_edits(old: Sequence[str], new: Sequence[str]) -> list[dict[int, int]]:
    """Return the furthest position in `old` on every diagonal before each further edit."""
    furthest = {1: 0}
    trail: list[dict[int, int]] = []
    for edits in range(min(len(old) + len(new), _MOST_EDITS) + 1):
        trail.append(dict(furthest))
        for diagonal in range(-edits, edits + 1, 2):
            previous = _previous_diagonal(furthest, diagonal, edits)
            x = furthest[previous] + (previous < diagonal)
            while x < len(old) and x - diagonal < len(new) and old[x] == new[x - diagonal]:
                x += 1
            furthest[diagonal] = x
            if x >= len(old) and x - diagonal >= len(new):
                return trail
    return []


def _previous_diagonal(furthest: Mapping[int, int], diagonal: int, edits: int) -> int:
    """Return the diagonal from which one edit gets furthest on `diagonal`."""
    if diagonal == -edits:
        return diagonal + 1
    if diagonal == edits or furthest[diagonal - 1] >= furthest[diagonal + 1]:
        return diagonal - 1
    return diagonal + 1


def _count_common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many lines at the start are the same."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def revert_hunks(old: str, new: str, reverted: Collection[int]) -> str:
    """Return `new` with the hunks numbered `reverted`, from 0, as they are in `old`."""
    lines = split_lines(old)
    applied = [hunk for n, hunk in enumerate(compute_hunks(old, new)) if n not in reverted]
    for hunk in reversed(applied):
        lines[hunk.old_start : hunk.old_start + len(hunk.old)] = hunk.new
    return "".join(lines)


def build_rows(old: str, new: str) -> tuple[DiffRow, ...]:
    """Return the rows that show how `new` differs from `old`."""
    after = split_lines(new)
    result: list[DiffRow] = []
    done = 0
    changes = compute_hunks(old, new)
    for n, hunk in enumerate(changes):
        result.extend(_context_rows(after, done, hunk.new_start, first=n == 0))
        result.extend(_hunk_rows(hunk, n))
        done = hunk.new_start + len(hunk.new)
    if changes:
        result.extend(
            DiffRow(" ", number, strip_line_end(line), -1)
            for number, line in enumerate(after[done : done + CONTEXT], done + 1)
        )
    return tuple(result)


def _context_rows(after: Sequence[str], start: int, end: int, *, first: bool) -> Iterator[DiffRow]:
    """Yield the unchanged lines between two hunks; the middle of a long range is left out."""
    leading = 0 if first else CONTEXT
    if end - start > leading + CONTEXT + 1:
        cut = end - CONTEXT
        positions = [*range(start, start + leading), -1, *range(cut, end)]
    else:
        positions = list(range(start, end))
    for position in positions:
        if position < 0:
            yield DiffRow("@", start + leading + 1, f"{end - CONTEXT - start - leading} lines", -1)
        else:
            yield DiffRow(" ", position + 1, strip_line_end(after[position]), -1)


def _hunk_rows(hunk: Hunk, n: int) -> Iterator[DiffRow]:
    same_text = [strip_line_end(line) for line in hunk.old] == [
        strip_line_end(line) for line in hunk.new
    ]
    for sign, start, lines in (("-", hunk.old_start, hunk.old), ("+", hunk.new_start, hunk.new)):
        for number, line in enumerate(lines, start + 1):
            is_shown = same_text or not line.endswith("\n")
            yield DiffRow(
                sign, number, strip_line_end(line), n, _name_ending(line) if is_shown else ""
            )


def _name_ending(line: str) -> str:
    return "CRLF" if line.endswith("\r\n") else "LF" if line.endswith("\n") else "no newline"


def format_unified(old: str, new: str, old_name: str, new_name: str) -> str:
    """Return the difference as a unified diff, as `diff -u` and git print it."""
    text: list[str] = [f"--- {make_one_line(old_name)}\n", f"+++ {make_one_line(new_name)}\n"]
    before = split_lines(old)
    for group in _group_hunks(compute_hunks(old, new)):
        first, last = group[0], group[-1]
        start = max(first.old_start - CONTEXT, 0)
        end = min(last.old_start + len(last.old) + CONTEXT, len(before))
        new_start = first.new_start - (first.old_start - start)
        new_end = last.new_start + len(last.new) + (end - last.old_start - len(last.old))
        text.append(
            f"@@ -{_format_range(start, end - start)}"
            f" +{_format_range(new_start, new_end - new_start)} @@\n"
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


def _group_hunks(hunks: Sequence[Hunk]) -> list[list[Hunk]]:
    """Group hunks whose context lines overlap or adjoin."""
    groups: list[list[Hunk]] = []
    for hunk in hunks:
        if groups:
            last = groups[-1][-1]
            if hunk.old_start - (last.old_start + len(last.old)) <= 2 * CONTEXT:
                groups[-1].append(hunk)
                continue
        groups.append([hunk])
    return groups


def _format_range(start: int, length: int) -> str:
    first = start + 1 if length else start
    return str(first) if length == 1 else f"{first},{length}"


def merge(base: str, ours: str, theirs: str, *, additions_join: bool = False) -> str | None:
    """Return `base` with the changes of `ours` and of `theirs`; None if they conflict.

    Source: the three-way merge of diff3, by lines; changes in adjacent lines conflict, equal ones
    do not. With `additions_join`, meant for an index, lines that both sides add at one place are
    all included, theirs first and each once.
    """
    if additions_join:
        ended = [_ended(text, base) for text in (base, ours, theirs)]
        merged = merge(*ended)
        if merged is None:
            merged = _join_additions(*ended)
        # the last line end is a separate change: take it from the side that changed it
        changed = ours if ours.endswith("\n") != base.endswith("\n") else theirs
        if merged is None or changed.endswith("\n"):
            return merged
        return merged.removesuffix(detect_line_end(base))
    lines, left, right = _changes(base, ours, theirs)
    if any(one != other and _touch(one, other) for one in left for other in right):
        return None
    return _apply_hunks(lines, {*left, *right})


def merge_foreign(
    before: bytes, after: bytes, one: bytes | None, other: bytes | None
) -> bytes | None:
    """Return a text with what two other programs wrote, and without Ricordo's change from `before`
    to `after`; each program may have started from either. Lines that both append are all included,
    those of `other` first and each once. None if the two conflict, or one of them is None.
    """
    if one is None or other is None:
        return None
    lower, upper = (_appended(raw, before, after) for raw in (one, other))
    if lower is not None and upper is not None and all(map(_is_ended, (before, upper))):
        taken = Counter(split_lines(upper.decode("latin-1")))
        lines = split_lines(lower.decode("latin-1"))
        added = "".join(line for line in lines if not _count_down(taken, line))
        return before + upper + added.encode("latin-1")
    # every byte is a character of Latin-1, with the same line ends
    texts = (raw.decode("latin-1") for raw in (after, one, other))
    merged = merge(*texts)
    return None if merged is None else merged.encode("latin-1")


def _appended(raw: bytes, *starts: bytes) -> bytes | None:
    """Return the rest of `raw` after the longest of `starts` with which it begins, and which ends
    with a line end; None if it begins with none.
    """
    matching = [start for start in starts if raw.startswith(start) and _is_ended(start)]
    return raw[len(max(matching, key=len)) :] if matching else None


def _is_ended(raw: bytes) -> bool:
    return not raw or raw.endswith(b"\n")


def _changes(base: str, ours: str, theirs: str) -> tuple[list[str], list[Hunk], list[Hunk]]:
    """Return the lines of `base` and the hunks of each side, without their new positions."""
    lines = split_lines(base)
    left, right = (
        [Hunk(hunk.old_start, hunk.old, 0, hunk.new) for hunk in compute_line_hunks(lines, other)]
        for other in (split_lines(ours), split_lines(theirs))
    )
    return lines, left, right


def _join_additions(base: str, ours: str, theirs: str) -> str | None:
    """Return the merge in which both sides' additions at one place are included; None if
    they conflict otherwise.
    """
    lines, left, right = _changes(base, ours, theirs)
    ours_only: list[Hunk] = []
    for hunk in left:
        rivals = [other for other in right if other != hunk and _touch(hunk, other)]
        if any(hunk.old or other.old for other in rivals):
            return None
        taken = Counter(line for other in rivals for line in other.new)
        new = tuple(line for line in hunk.new if not _count_down(taken, line))
        ours_only.append(Hunk(hunk.old_start, hunk.old, 0, new))
    return _apply_hunks(lines, [*dict.fromkeys([*right, *ours_only])])


def _count_down(taken: Counter[str], line: str) -> bool:
    """Remove one `line` from `taken`; return whether there was one."""
    taken[line] -= 1
    return taken[line] >= 0


def _ended(text: str, base: str) -> str:
    return text + detect_line_end(base) if text and not text.endswith("\n") else text


def _touch(one: Hunk, other: Hunk) -> bool:
    return one.old_start <= other.old_start + len(
        other.old
    ) and other.old_start <= one.old_start + len(one.old)


def _apply_hunks(lines: Sequence[str], hunks: Sequence[Hunk] | set[Hunk]) -> str:
    """Return the text after all `hunks`; of two at one place the later one comes second."""
    result: list[str] = []
    at = 0
    for hunk in sorted(hunks, key=lambda hunk: hunk.old_start):
        result.extend(lines[at : hunk.old_start])
        result.extend(hunk.new)
        at = hunk.old_start + len(hunk.old)
    return "".join([*result, *lines[at:]])
