"""How titles, labels and fields set what is below them apart from the present state."""

from __future__ import annotations

import re
from enum import Flag, auto
from functools import cache, reduce
from operator import or_

from ricordo.dates import find_dates, find_day_in_title
from ricordo.lexicon import build_alternation, compile_part, list_expressions, lower_text
from ricordo.lint.claims.note_status import (
    CHECKED,
    FIELD,
    find_banner,
    load_fixed_mark,
    read_head,
    read_status,
)
from ricordo.lint.prose import CODE, HEADING, ProseBlock, extract_statements
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily

_STAMP = compile_lazily(
    r"[*_(\[]*(?:(?P<kind>[^\W\d_]{1,20}(?: [^\W\d_]{1,20})?)[*_ ]{0,4}[:：·|—–][*_ ]{0,4})?"
    r"20\d\d[-/.][01]\d[-/.][0-3]\d[*_)\].]*"
)
"""A line with nothing but a day, perhaps with the kind of the entry before it."""
_FIX = compile_lazily(r"(?:quick|hot|bug)fix(?:es)?[-_]", re.IGNORECASE)
"""The beginning of the name of a note about one fix, as branches for these are called."""
_ITEM = compile_lazily(r"(\s*)(?:[-*+]|\d+[.)])\s")
_DECISION = compile_lazily(r"(?<![^\W_])adr[-_ ]?\d+", re.IGNORECASE)
"""The number of an architecture decision record."""
_DIARY = compile_lazily(r"\s*(?:[-*+|#]\s*)*(?:\[[ xX]\]\s*)?[*_~(\[]*\d{4}-\d\d(?:-\d\d)?\b")
"""The date at the beginning of a statement, which then describes that day."""
_UNCHECKED = compile_lazily(r"\s*[-*+]\s+\[ \](?!\()")
"""A task of a list that is not done."""


class Distance(Flag):
    """How a title sets the text below it apart from the present state."""

    NONE = 0
    PAST = auto()
    """It tells of a day, or of what was."""
    OTHER = auto()
    """It tells of plans, ideas, examples or others."""
    OPEN = auto()
    """It lists what is still to be done."""
    TO_MAKE = auto()
    """It lists what a plan says to make."""
    FIXED = auto()
    """It tells of a fault that is fixed."""
    ACCOUNT = auto()
    """It tells how a fault showed and what caused it: of the past where the fault is fixed."""


def find_distance_of_note(note: Note, first_of_body: int) -> Distance:
    """Return how the names of a note, its fields and its first sentence set it apart."""
    titles = (note.name, note.stem, *note.path.split("/")[:-1])
    distance = reduce(or_, map(_find_distance, titles))
    status = lower_text(read_status(note))
    # a date in a status is when it came to be so: “live since 2026-03-01” tells of the present
    is_record = compile_part("probes", "record").fullmatch(lower_text(note.type))
    if is_record or compile_part("probes", "past").match(status):
        distance |= Distance.PAST
    if _is_decision(note, status):
        distance |= Distance.PAST
    body = (it.text for it in extract_statements(note) if it.line >= first_of_body)
    first = next((text for text in body if not HEADING.match(text)), "")
    if any(load_fixed_mark().match(lower_text(text)) for text in (status, note.description, first)):
        distance |= Distance.FIXED
    banner = lower_text(find_banner(note))
    marks = (load_fixed_mark(), compile_part("status", "superseded"))
    if banner and any(it.search(banner) for it in marks):
        distance |= Distance.PAST
    return distance


def _is_decision(note: Note, status: str) -> bool:
    """Return whether a note is the record of a decision, which tells of the state then: numbered as
    one, or with a date and a settled status in its frontmatter or above its sections.
    """
    if _DECISION.search(note.stem):
        return True
    head = read_head(note)
    values = [it[2] for line in head if (it := FIELD.match(lower_text(line)))]
    is_settled = any(compile_part("probes", "settled").match(it) for it in (status, *values))
    is_dated = note.stated_date or any(any(find_dates(line)) for line in head)
    return is_settled and bool(is_dated)


def find_distance_of_item(text: str) -> Distance:
    """Return how the day or the box with which a statement begins sets it apart."""
    if _DIARY.match(text) or CHECKED.match(text):
        return Distance.PAST
    return Distance.OTHER if _UNCHECKED.match(text) else Distance.NONE


class Headings:
    """The headings, and the label of a paragraph or list, above the current statement."""

    def __init__(self, note: Distance) -> None:
        """`note` is how the name of the note sets it apart."""
        self._note = note
        self._above: list[tuple[int, Distance]] = []
        self._label = (0, Distance.NONE)
        """The depth of the statement with the label, and how that sets apart what is below it."""
        self._begins_section = False
        """Whether the statement before was the heading of a section, not of the whole note."""

    def track(self, text: str) -> Distance:
        """Take the next statement, a heading or not; return how its section is set apart."""
        item = _ITEM.match(text)
        depth_of_item = len(item[1]) + 1 if item else 0
        heading = HEADING.match(text)
        # the paragraph may be right below it
        of_label = _find_distance_of_label(heading[2] if heading else text)
        if heading:
            depth = len(heading[1])
            title = CODE.sub("", heading[2])
            self._above = [above for above in self._above if above[0] < depth]
            is_open = _open_title().match(lower_text(title))
            of_title = _find_distance(title) | (Distance.OPEN if is_open else Distance.NONE)
            self._above.append((depth, of_title | of_label))
            self._label = (0, Distance.NONE)
        elif of_label or depth_of_item <= self._label[0]:
            self._label = (depth_of_item, of_label)
        self._track_stamp(text[heading.end() :] if heading else text, heading)
        distance = self._note | self._label[1]
        for _, of_heading in self._above:
            distance |= of_heading
        return distance

    def _track_stamp(self, text: str, heading: re.Match[str] | None) -> None:
        """Take the day of an entry from `text`: it may be right below its heading, in one statement
        with it or in the next. Below the heading of the whole note it is that of the note.
        """
        is_title = heading is not None and len(heading[1]) > 1
        if (is_title or self._begins_section) and _is_stamp(text.strip()):
            depth, of_heading = self._above[-1]
            self._above[-1] = depth, of_heading | Distance.PAST
        self._begins_section = is_title


class Table:
    """The table of the current statement, one of whose columns may tell of which repository a row
    is.
    """

    def __init__(self) -> None:
        self._line, self._column = -1, -1

    def track(self, statement: ProseBlock) -> bool:
        """Take the next statement, a row of a table or not; return whether it is a row that names
        its repository.
        """
        if not statement.text.lstrip().startswith("|"):
            self._line = -1
            return False
        cells = [it.strip() for it in statement.text.strip().strip("|").split("|")]
        is_header = statement.line != self._line + 1
        self._line = statement.line
        if is_header:
            of_repository = (n for n, it in enumerate(cells) if _names_repository(it))
            self._column = next(of_repository, -1)
        cell = cells[self._column] if 0 <= self._column < len(cells) else ""
        return not is_header and any(map(str.isalnum, cell))


def _names_repository(title: str) -> bool:
    return bool(compile_part("probes", "repository").fullmatch(lower_text(title.strip("*_ "))))


def is_of_past(title: str) -> bool:
    """Return whether a title is that of a history, or of a day."""
    return find_day_in_title(title) is not None or _titles("past", title)


def _titles(part: str, title: str) -> bool:
    return bool(compile_part("probes", part).search(lower_text(re.sub(r"[_\-/]", " ", title))))


def _find_distance(title: str) -> Distance:
    """Return how a title sets the text under it apart: by its words, or by a date, of which alone
    that text tells.
    """
    distance = Distance.OTHER if _titles("apart", title) else Distance.NONE
    if is_of_past(title):
        distance |= Distance.PAST
    if _FIX.match(title) or load_fixed_mark().search(lower_text(title.replace("_", "-"))):
        distance |= Distance.FIXED
    return distance


def _is_stamp(text: str) -> bool:
    """Return whether a text is nothing but the day of an entry."""
    stamp = _STAMP.fullmatch(text)
    kind = stamp["kind"] if stamp else None
    entry = compile_part("probes", "entry")
    return stamp is not None and (not kind or bool(entry.fullmatch(lower_text(kind))))


def _find_distance_of_label(text: str) -> Distance:
    """Return how the label with which a statement begins, or a heading, sets apart what is below
    it.
    """
    plain = lower_text(text)
    if _label("rejected").match(plain) or _label("reason").match(plain):
        return Distance.PAST
    if _label("to_make").match(plain):
        return Distance.TO_MAKE
    return Distance.ACCOUNT if _label("account").match(plain) else Distance.NONE


@cache
def _open_title() -> re.Pattern[str]:
    """Return the pattern of the beginning of a title for what is still to be done."""
    whole = build_alternation(list_expressions("status", "open_items"))
    first = build_alternation(list_expressions("status", "open_title"))
    return re.compile(rf"[\W\d_]*(?:(?:{whole})(?=\W*\Z|\s*[:：(（—–-])|{first})")


@cache
def _label(part: str) -> re.Pattern[str]:
    """Return the pattern of a label, which may be numbered, at the beginning of a statement."""
    words = build_alternation(list_expressions("probes", part))
    end = r"\W*\Z|\s*[:：(（—–]|\s-\s|[.。]?[*_]{2}"
    return re.compile(rf"[\W\d_]*(?:{words})(?:\s?\w{{1,2}})??(?={end})")
