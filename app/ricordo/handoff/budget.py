"""The budget of a handoff: what of it gets room.

The head comes first; its lists of files take at most a quarter of the budget. Then statements get
room in this order, each as a whole or not at all:

1. the first three of each section, sections in the order of `ORDER`;
2. of these three, those that take more than a quarter of the budget by themselves;
3. all others, sections in the same order;
4. of all others, those that take more than a quarter.

What finds no room is counted. The measure is that of `model.question.estimate`, four bytes a token,
of the whole file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import accumulate, takewhile

from ricordo.errors import WrongUsage
from ricordo.handoff.check import DIGITS
from ricordo.handoff.document import (
    Handoff,
    HandoffHeader,
    HandoffStatement,
    Heading,
    StatementSection,
    family,
)
from ricordo.handoff.format import heading_lines, render, statement_lines
from ricordo.handoff.quotation import word
from ricordo.llm.question import BYTES_A_TOKEN, estimate

DEFAULT = 4_000
"""Tokens."""
ORDER = (
    StatementSection.OBJECTIVE,
    StatementSection.NEXT,
    StatementSection.CONSTRAINTS,
    StatementSection.ACTIVE,
    StatementSection.BLOCKED,
    StatementSection.DONE,
    StatementSection.RULED_OUT,
    StatementSection.DECISIONS,
    StatementSection.QUESTIONS,
    StatementSection.ERRORS,
    StatementSection.FILES,
    StatementSection.MEMORY,
    StatementSection.MESSAGES,
)
"""Sections, those first without which the next agent would go wrong."""
_FIRST_STATEMENTS = 3
_SHARE = 4
"""The part of a budget that the lists of the head, or one statement, may take before the rest."""
_MAX_LEFT_OUT = 999_999
_KEY_BYTES = len("files:\ndirty:\n")


def tokens(handoff: Handoff) -> int:
    """Return about how many tokens the file of a handoff costs."""
    return estimate(render(handoff))


def fitted(handoff: Handoff) -> Handoff:
    """Return a handoff with as much of it as its budget has room for.

    Raises WrongUsage where there is room for its head alone, or not even for that.
    """
    limit = handoff.head.budget * BYTES_A_TOKEN
    empty_header = replace(handoff.head, files={}, dirty=(), unlisted=_MAX_LEFT_OUT)
    room = limit - _count_bytes(render(Handoff(empty_header, (), _MAX_LEFT_OUT)))
    if room < 0:
        needed = handoff.head.budget - room // BYTES_A_TOKEN
        raise WrongUsage(f"The head of this handoff alone takes about {needed} tokens.")
    header, used = _fit_lists(handoff.head, min(room, limit // _SHARE))
    selected = _select_fitting(handoff, room - used, limit // _SHARE)
    if handoff.statements and not selected:
        raise WrongUsage(f"{handoff.head.budget} tokens have no room for any statement.")
    left_out = handoff.left_out + len(handoff.statements) - len(selected)
    statements = [
        statement for number, statement in enumerate(handoff.statements) if number in selected
    ]
    return Handoff(header, tuple(statements), left_out)


def _select_fitting(handoff: Handoff, room: int, long_size: int) -> set[int]:
    """Return the places of the statements for which there is `room`, in bytes."""
    sizes = [_measure_statement(statement, handoff) for statement in handoff.statements]
    ranks = _rank_in_sections(handoff.statements)

    def sort_key(number: int) -> tuple[bool, bool, int, int]:
        statement = handoff.statements[number]
        is_first = ranks[number] < _FIRST_STATEMENTS
        return (
            not is_first,
            sizes[number] > long_size,
            ORDER.index(statement.section),
            ranks[number],
        )

    selected: set[int] = set()
    open_headings: set[Heading] = set()
    headings = family(handoff.head.target).headings
    for number in sorted(range(len(sizes)), key=sort_key):
        heading = headings[handoff.statements[number].section]
        size = sizes[number] + _measure_headings(heading, open_headings)
        if size <= room:
            selected.add(number)
            open_headings |= {heading, heading[:-1]}
            room -= size
    return selected


def _rank_in_sections(statements: Sequence[HandoffStatement]) -> list[int]:
    """Return of each statement how many of its section stand before it."""
    counts: Counter[StatementSection] = Counter()
    ranks: list[int] = []
    for statement in statements:
        ranks.append(counts[statement.section])
        counts[statement.section] += 1
    return ranks


def _measure_statement(statement: HandoffStatement, handoff: Handoff) -> int:
    return _count_bytes("\n".join((*statement_lines(statement, len(handoff.head.sources)), "")))


def _measure_headings(heading: Heading, open_headings: Collection[Heading]) -> int:
    """Return what the first statement under a heading costs besides; `open_headings` are the headings that
    stand already.
    """
    if heading in open_headings:
        return 0
    above = heading if heading[:-1] in open_headings else ()
    return _count_bytes("\n".join((*heading_lines(heading, above), "")))


def _fit_lists(head: HandoffHeader, room: int) -> tuple[HandoffHeader, int]:
    """Return a head that lists no more files than there is `room` for, those that were changed
    before those that are only dirty, and the bytes that this takes.
    """
    rows = [*head.files, *head.dirty]
    ends = list(
        takewhile(lambda end: end <= room, accumulate(map(_measure_row, rows), initial=_KEY_BYTES))
    )
    fitting = len(ends) - 1 if ends else 0
    files = dict(list(head.files.items())[:fitting])
    dirty = head.dirty[: fitting - len(files)]
    unlisted = head.unlisted + len(rows) - len(files) - len(dirty)
    return replace(head, files=files, dirty=dirty, unlisted=unlisted), ends[
        -1
    ] if fitting > 0 else 0


def _measure_row(path: str) -> int:
    # its dash, its digest and the marks of a quotation, each of which may stand twice
    written = word(path)
    return _count_bytes(written) + written.count("'") + len("  - '' \n") + DIGITS


def _count_bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
