"""The budget of a handoff: which of its statements fit.

The header comes first; its lists of files take at most a quarter of the budget. Then statements are
added in this order, each as a whole or not at all:

1. the first three of each section, sections in the order of `SECTION_PRIORITY`;
2. of these three, those that take more than a quarter of the budget by themselves;
3. all others, sections in the same order;
4. of all others, those that take more than a quarter.

What does not fit is counted. Tokens of the whole file are estimated as everywhere, by
`llm.question.estimate`: four bytes a token.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import accumulate, takewhile

from ricordo.errors import WrongUsage
from ricordo.handoff.check import SHA_DIGITS
from ricordo.handoff.document import (
    Handoff,
    HandoffHeader,
    HandoffStatement,
    Heading,
    StatementSection,
    load_layout,
)
from ricordo.handoff.format import render, render_headings, render_statement
from ricordo.handoff.quotation import write_word
from ricordo.llm.question import BYTES_PER_TOKEN, estimate_tokens

DEFAULT_BUDGET = 4_000
"""In tokens."""
SECTION_PRIORITY = (
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
"""Sections by priority: first those without which the next agent would go wrong."""
_FIRST_STATEMENTS = 3
_SHARE = 4
"""The lists of the header, and one statement before the others, may take one part in this many of
the budget.
"""
_MAX_LEFT_OUT = 999_999
_KEY_BYTES = len("files:\ndirty:\n")


def count_tokens(handoff: Handoff) -> int:
    """Return the estimated tokens of the file of a handoff."""
    return estimate_tokens(render(handoff))


def fit_to_budget(handoff: Handoff) -> Handoff:
    """Return a handoff with as many statements as fit into its budget.

    Raises WrongUsage where only its header fits, or not even that.
    """
    limit = handoff.header.budget * BYTES_PER_TOKEN
    empty_header = replace(handoff.header, files={}, dirty=(), unlisted=_MAX_LEFT_OUT)
    room = limit - _count_bytes(render(Handoff(empty_header, (), _MAX_LEFT_OUT)))
    if room < 0:
        needed = handoff.header.budget - room // BYTES_PER_TOKEN
        raise WrongUsage(f"The header alone needs about {needed} tokens.")
    header, used = _fit_lists(handoff.header, min(room, limit // _SHARE))
    selected = _select_fitting(handoff, room - used, limit // _SHARE)
    if handoff.statements and not selected:
        raise WrongUsage(f"A budget of {handoff.header.budget} tokens fits no statement.")
    left_out = handoff.left_out + len(handoff.statements) - len(selected)
    statements = [
        statement for number, statement in enumerate(handoff.statements) if number in selected
    ]
    return Handoff(header, tuple(statements), left_out)


def _select_fitting(handoff: Handoff, room: int, long_size: int) -> set[int]:
    """Return the indexes of the statements that fit into `room`, in bytes."""
    sizes = [_measure_statement(statement, handoff) for statement in handoff.statements]
    ranks = _rank_in_sections(handoff.statements)

    def sort_key(number: int) -> tuple[bool, bool, int, int]:
        statement = handoff.statements[number]
        is_first = ranks[number] < _FIRST_STATEMENTS
        return (
            not is_first,
            sizes[number] > long_size,
            SECTION_PRIORITY.index(statement.section),
            ranks[number],
        )

    selected: set[int] = set()
    open_headings: set[Heading] = set()
    headings = load_layout(handoff.header.target).headings
    for number in sorted(range(len(sizes)), key=sort_key):
        heading = headings[handoff.statements[number].section]
        size = sizes[number] + _measure_headings(heading, open_headings)
        if size <= room:
            selected.add(number)
            open_headings |= {heading, heading[:-1]}
            room -= size
    return selected


def _rank_in_sections(statements: Sequence[HandoffStatement]) -> list[int]:
    """Return for each statement how many of its section come before it."""
    counts: Counter[StatementSection] = Counter()
    ranks: list[int] = []
    for statement in statements:
        ranks.append(counts[statement.section])
        counts[statement.section] += 1
    return ranks


def _measure_statement(statement: HandoffStatement, handoff: Handoff) -> int:
    return _count_bytes("\n".join((*render_statement(statement, len(handoff.header.sources)), "")))


def _measure_headings(heading: Heading, open_headings: Collection[Heading]) -> int:
    """Return the bytes of the headings that the first statement of a section adds; `open_headings`
    are there already.
    """
    if heading in open_headings:
        return 0
    above = heading if heading[:-1] in open_headings else ()
    return _count_bytes("\n".join((*render_headings(heading, above), "")))


def _fit_lists(header: HandoffHeader, room: int) -> tuple[HandoffHeader, int]:
    """Return a header that lists only the files that fit into `room`, changed ones before those
    that are only dirty, and the bytes of these lists.
    """
    rows = [*header.files, *header.dirty]
    ends = list(
        takewhile(lambda end: end <= room, accumulate(map(_measure_row, rows), initial=_KEY_BYTES))
    )
    fitting = len(ends) - 1 if ends else 0
    files = dict(list(header.files.items())[:fitting])
    dirty = header.dirty[: fitting - len(files)]
    unlisted = header.unlisted + len(rows) - len(files) - len(dirty)
    return replace(header, files=files, dirty=dirty, unlisted=unlisted), ends[
        -1
    ] if fitting > 0 else 0


def _measure_row(path: str) -> int:
    # its dash, its digest and the quotes, each of which may be doubled
    written = write_word(path)
    return _count_bytes(written) + written.count("'") + len("  - '' \n") + SHA_DIGITS


def _count_bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
