"""A claim: one statement of a note about its project that can be checked there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Flag, auto
from functools import cache, lru_cache, reduce
from itertools import takewhile
from operator import or_

from ricordo.dates import find_dates, find_day_in_title
from ricordo.lexicon import (
    build_alternation,
    compile_part,
    list_expressions,
    lower_text,
    read_words,
)
from ricordo.lint.evidence import CheckOutcome, ClaimKind, Verdict
from ricordo.lint.prose import (
    HEADING,
    ProseBlock,
    extract_statements,
    list_prose_lines,
)
from ricordo.memory.index import Entry
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily

_CODE = compile_lazily(r"(?<!`)(`+)(?!`)([^`\n]{1,300}?)(?<!`)\1(?!`)")
_STRUCK = compile_lazily(r"~~[^~\n]*~~")
_DIARY = compile_lazily(r"\s*(?:[-*+|#]\s*)*(?:\[[ xX]\]\s*)?[*_~(\[]*\d{4}-\d\d(?:-\d\d)?\b")
"""The date at the beginning of a statement, which then describes that day."""
_CHECKED = compile_lazily(r"\s*[-*+]\s+\[[xX~-]\](?!\()")
_UNCHECKED = compile_lazily(r"\s*[-*+]\s+\[ \](?!\()")
"""A task of a list that is done, or that is not."""
_TASK = compile_lazily(r"\s*[-*+]\s+\[[ xX~-]\](?!\()")
_ITEM = compile_lazily(r"(\s*)(?:[-*+]|\d+[.)])\s")
_STAMP = compile_lazily(
    r"[*_(\[]*(?:(?P<kind>[^\W\d_]{1,20}(?: [^\W\d_]{1,20})?)[*_ ]{0,4}[:：·|—–][*_ ]{0,4})?"
    r"20\d\d[-/.][01]\d[-/.][0-3]\d[*_)\].]*"
)
"""A line with nothing but a day, perhaps with the kind of the entry before it."""
_QUOTED = compile_lazily(
    r"“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|「[^」\n]*」|『[^』\n]*』|(?<!\w)\"[^\"\n]*\""
)
_ARROW = r"\s*(?:→|⇒|->|=>)"
_RENAMED = compile_lazily(rf"`([^`\s(]+)`{_ARROW}\s*`([^`\s(]+)`(?!{_ARROW})")
"""One name after another; three, or calls, are the steps of a way."""
_PATH_SIGN = compile_lazily(r"[./]")
_ARROW_END = compile_lazily(rf"{_ARROW}\s*$")
_SENTENCE_END = compile_lazily(r"[.!?](?=[\s*_)]|$)|;(?=\s)|[。！？；]|\n(?=\s*[-*+|#])")
_PART_END = compile_lazily(r"[,;:()（），、：]\s|\s[(（]|[)）]|\s[–—]\s|\n")
_ABBREVIATION = compile_lazily(
    r"\b(?:e\.g|i\.e|z\.B|z|z\. B|p\.ex|vs|etc|cf|ca|Dr|Mr|Mrs|No)$", re.IGNORECASE
)

_DECISION = compile_lazily(r"(?<![^\W_])adr[-_ ]?\d+", re.IGNORECASE)
"""The number of an architecture decision record."""
_SECTION = compile_lazily(r"#{2,6}\s|-{3,}\s*$")
_WARNING = compile_lazily(r">[\s>*_]*(?:⚠|⛔|🛑|🚫|❗|\[!)")
_FIELD = compile_lazily(r"[\s>*_|+-]*([^\W\d_][^:：.\n]{0,24})[:：][\W_]*(.*)")
"""A line with a label and its value."""
_COMMENT = "<!--"
_LONGEST_HEAD = 15
"""Lines."""
_WORD = compile_lazily(r"[^\W_]+")
_LONG = 4
"""Letters of a word that is no mere particle."""
_ORDINALS = {
    **{"first": "1st", "second": "2nd", "third": "3rd", "fourth": "4th", "fifth": "5th"},
    **{"zweite": "2", "zweites": "2", "dritte": "3", "drittes": "3"},
}


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence of a note."""

    statement: ProseBlock
    start: int
    """Offset in the text of the statement."""
    text: str
    """The text as written."""
    prose: str
    """The text with code and quotations blanked out, offsets kept."""
    code: tuple[tuple[int, str], ...]
    """The spans in backticks, each with its offset; not what is struck out, or part of a sentence
    that is quoted.
    """
    is_excluded: bool
    """Whether its section or note does not describe the present state."""
    is_past: bool
    """Whether its section or note tells of a day or of the past."""
    is_open: bool
    """Whether its section lists what is still to be done."""
    is_to_make: bool
    """Whether its section lists what a plan says to make."""
    is_summary: bool
    """Whether it is from the description of the note, not its body."""

    def is_unsure(self, name: str = "", *, existed: bool = False) -> bool:
        """Return whether what it names need not exist: it is past, planned, conditional, negated or
        an example. The words of `name` itself do not count; for a name that `existed` once, only
        what says that it is gone, to be made or an example of how to name counts.
        """
        if existed:
            is_told = self.is_past or self.is_to_make or self._is_example_of_naming(name)
            return is_told or self._says_gone(name)
        spoken = self.prose.replace(name, "") if name else self.prose
        return self.is_excluded or _matches("gone", spoken) or _matches("doubt", spoken)

    def forbids(self, name: str) -> bool:
        """Return whether it says that what `name` names must not be made."""
        return any(_matches("forbidden", part) for part in self._find_parts(name))

    def records_removal(self, name: str) -> bool:
        """Return whether the part of it that names `name` says in so many words that it is gone."""
        return any(
            _matches("removed", part.replace(name, "")) and not _matches("kept", part)
            for part in self._find_parts(name)
        )

    def _says_gone(self, name: str) -> bool:
        """Return whether the sentence says that what `name` names is gone, or is not to be made: in
        so many words, or in the part of the sentence that names it with any word of the past or of
        others.
        """
        if _matches("kept", self.prose):
            return False
        if any(name in old for old in self._list_renamed()):
            return True
        spoken = self.prose.replace(name, "") if name else self.prose
        if _matches("removed", spoken) or _matches("forbidden", spoken):
            return True
        return any(
            _matches("gone", part.replace(name, "") if name else self.prose)
            for part in self._find_parts(name)
        )

    def _is_example_of_naming(self, name: str) -> bool:
        """Return whether `name` only shows how names are written: it comes in brackets, behind a
        colon or as an example after the name of a spelling.
        """
        start = self.text.find(name) if name else -1
        spelling = _words("spelling").search(lower_text(self.text[: max(start, 0)]))
        shows = _shows_example()
        return bool(spelling and shows.search(lower_text(self.prose), spelling.end(), start))

    def _list_renamed(self) -> Iterator[str]:
        """Yield the names from which an arrow leads to a new name: from a path to another, not to
        what is in it.
        """
        for match in _RENAMED.finditer(self.text):
            is_path, was_path = (bool(_PATH_SIGN.search(it)) for it in match.groups())
            if is_path == was_path and not _ARROW_END.search(self.text, 0, match.start()):
                yield match[1]

    def _find_parts(self, name: str) -> Iterator[str]:
        """Yield the prose of the parts of the sentence that contain `name`."""
        start = 0
        for mark in (*_PART_END.finditer(self.prose), None):
            end = mark.start() if mark else len(self.prose)
            if name in self.text[start:end]:
                yield self.prose[start:end]
            start = mark.end() if mark else end

    def line_at(self, offset: int) -> int:
        """Return the 1-based line of the note of the character at `offset` of the sentence."""
        return self.statement.line_at(self.start + offset)


def is_report(note: Note) -> bool:
    """Return whether a note tells of the state at its time, as a report or a plan does, by its
    names, its folder, its type or its status.
    """
    fields = (note.type, read_status(note))
    titles = (note.name, note.stem, note.path.rpartition("/")[0])
    plain = (lower_text(re.sub(r"[_\-/]", " ", it)) for it in titles)
    is_named = any(_words("report").search(it) for it in plain)
    return is_named or any(_words("report").match(lower_text(it)) for it in fields)


def read_status(note: Note) -> str:
    """Return the status of a note: from its frontmatter, or from a line with that label above its
    sections; "" where neither is there.
    """
    if stated := note.frontmatter.get_text("status"):
        return stated
    fields = filter(None, map(_FIELD.match, _read_head(note)))
    return next((it[2] for it in fields if _words("status").fullmatch(lower_text(it[1]))), "")


def _read_head(note: Note) -> list[str]:
    """Return the first lines of the text of a note, those above its sections."""
    lines = note.body.lstrip().split("\n", _LONGEST_HEAD)[:_LONGEST_HEAD]
    return list(takewhile(lambda it: not _SECTION.match(it), lines))


def is_finished(note: Note, line: int) -> bool:
    """Return whether the work of which the 1-based `line` of a note tells is done: by the status in
    its section, or because all tasks there are ticked, else by those of the sections above it, else
    by the status of the note.
    """
    lines = dict(list_prose_lines(note))
    numbers = sorted(lines)
    depths = {it: len(match[1]) for it in numbers if (match := HEADING.match(lines[it]))}
    own, deepest = line, 7
    while own >= 0:
        # the heading above the line or section, which is less deep than that
        above = (it for it in numbers if it <= own and depths.get(it, 7) < deepest)
        begin = max(above, default=0)
        deepest = depths.get(begin, 0)
        text = takewhile(lambda it: it not in depths, (it for it in numbers if it > begin))
        state = _read_state([lines[it] for it in text])
        if state is not None:
            return state
        own = begin - 1
    return _says_finished(note.frontmatter.get_text("status"))


def _read_state(lines: list[str]) -> bool | None:
    """Return whether some lines say that their work is done; None where they have neither a status
    nor a list of tasks.
    """
    fields = filter(None, map(_FIELD.match, lines))
    states = [it[2] for it in fields if _words("status").fullmatch(lower_text(it[1].strip("*_ ")))]
    if states:
        return all(map(_says_finished, states))
    is_ticked = [bool(_CHECKED.match(it)) for it in lines if _TASK.match(it)]
    return all(is_ticked) if len(is_ticked) > 1 else None


def _says_finished(status: str) -> bool:
    """Return whether a status says that all is done, not a part of it."""
    spoken = lower_text(status)
    is_done = compile_part("status", "finished").search(spoken) is not None
    return is_done and not _unfinished().search(spoken)


@cache
def _unfinished() -> re.Pattern[str]:
    """Return the pattern of what a status of work says that is not all done."""
    parts = ("nearly", "coming", "begun", "deferred", "unbuilt", "unmerged", "unreleased")
    words = build_alternation(it for part in parts for it in list_expressions("status", part))
    kinds = build_alternation(list_expressions("status", "part"))
    return re.compile(rf"{words}|(?:{kinds})s?\W{{0,3}}\d|(?<!\d)\d?\d ?%|\d ?/ ?\d")


def find_fixed_notes(memory: Memory) -> frozenset[str]:
    """Return the paths of the notes of which an index says that they tell of a fixed fault."""
    listed = ((path, entry) for path, pairs in memory.entries.items() for _, entry in pairs)
    return frozenset(path for path, entry in listed if _is_fixed(entry))


def _is_fixed(entry: Entry) -> bool:
    before, _, rest = lower_text(entry.text).partition("[")
    title, hook = lower_text(entry.title), lower_text(entry.hook)
    # of several links of a line the first is what the line is about
    is_first = rest.lstrip("[").startswith(title)
    is_marked = _fixed().match(before) or _fixed().match(hook) or _fixed().search(title)
    return is_first and is_marked is not None


@lru_cache(maxsize=4)  # for the rules that read a note one after another
def split_passages(note: Note, *, is_fixed: bool = False) -> tuple[Passage, ...]:
    """Return the sentences of a note in order, its description first; `is_fixed` where an index
    says that it tells of a fixed fault.
    """
    return tuple(_split_passages(note, is_fixed=is_fixed))


def _split_passages(note: Note, *, is_fixed: bool) -> Iterator[Passage]:
    first_of_body = note.text.count("\n", 0, note.frontmatter.end) + 1
    distance_of_note = _find_distance_of_note(note, first_of_body)
    distance_of_note |= _Distance.FIXED if is_fixed else _Distance.NONE
    headings, table = _Headings(distance_of_note), _Table()
    for statement in extract_statements(note):
        distance = headings.track(statement.text)
        if table.track(statement):
            distance |= _Distance.OTHER
        if _DIARY.match(statement.text) or _CHECKED.match(statement.text):
            distance |= _Distance.PAST
        elif _UNCHECKED.match(statement.text):
            distance |= _Distance.OTHER
        yield from _passages(statement, distance, is_summary=statement.line < first_of_body)


class _Distance(Flag):
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


def _find_distance_of_note(note: Note, first_of_body: int) -> _Distance:
    """Return how the names of a note, its fields and its first sentence set it apart."""
    titles = (note.name, note.stem, *note.path.split("/")[:-1])
    distance = reduce(or_, map(_find_distance, titles))
    status = lower_text(read_status(note))
    # a date in a status is when it came to be so: “live since 2026-03-01” tells of the present
    if _words("past").match(status) or _words("record").fullmatch(lower_text(note.type)):
        distance |= _Distance.PAST
    if _is_decision(note, status):
        distance |= _Distance.PAST
    body = (it.text for it in extract_statements(note) if it.line >= first_of_body)
    first = next((text for text in body if not HEADING.match(text)), "")
    if any(_fixed().match(lower_text(text)) for text in (status, note.description, first)):
        distance |= _Distance.FIXED
    banner = lower_text(find_banner(note))
    if banner and (_fixed().search(banner) or _superseded().search(banner)):
        distance |= _Distance.PAST
    return distance


def _is_decision(note: Note, status: str) -> bool:
    """Return whether a note is the record of a decision, which tells of the state then: numbered as
    one, or with a date and a settled status in its frontmatter or above its sections.
    """
    if _DECISION.search(note.stem):
        return True
    head = _read_head(note)
    values = [it[2] for line in head if (it := _FIELD.match(lower_text(line)))]
    is_settled = any(_words("settled").match(it) for it in (status, *values))
    is_dated = note.stated_date or any(any(find_dates(line)) for line in head)
    return is_settled and bool(is_dated)


def find_banner(note: Note) -> str:
    """Return the quoted lines and the comments above the text of a note, which its writer mostly
    put there later, and those above its sections with a sign of warning; "" where there are none.
    """
    lines = [it.strip() for it in note.body.split("\n", _LONGEST_HEAD)[:_LONGEST_HEAD]]
    banner = list(takewhile(lambda it: not it or it.startswith((">", "#", _COMMENT)), lines))
    banner += (it for it in _read_head(note) if it not in banner and _WARNING.match(it))
    told = (it.removeprefix(_COMMENT) for it in banner if it.startswith((">", _COMMENT)))
    return "\n".join(it.lstrip("> ") for it in told)


def _passages(statement: ProseBlock, distance: _Distance, *, is_summary: bool) -> Iterator[Passage]:
    text, spoken = statement.text, statement.prose
    is_past = _Distance.PAST in distance or _Distance.FIXED | _Distance.ACCOUNT in distance
    code = list(_CODE.finditer(text)) if "`" in text else []
    left_out = [match.span() for match in _STRUCK.finditer(text)] if "~~" in text else []
    left_out += _find_quoted(text) if code else []
    for start, end in _sentences(text, [match.span() for match in code]):
        inside = tuple(
            (match.start(2) - start, match[2].strip())
            for match in code
            if start <= match.start() < end and not _is_inside(match.start(), left_out)
        )
        plain = spoken[start:end]
        yield Passage(
            statement,
            start,
            text[start:end],
            plain,
            inside,
            is_past or bool(distance & (_Distance.OTHER | _Distance.TO_MAKE)),
            is_past,
            _Distance.OPEN in distance,
            _Distance.TO_MAKE in distance,
            is_summary,
        )


def _find_quoted(text: str) -> list[tuple[int, int]]:
    """Return where a text quotes more than code."""
    plain = _CODE.sub(lambda match: "\0" * len(match[0]), text)
    quoted = _QUOTED.finditer(plain)
    return [it.span() for it in quoted if "\0" in it[0] and _WORD.search(it[0])]


class _Headings:
    """The headings, and the label of a paragraph or list, above the current statement."""

    def __init__(self, note: _Distance) -> None:
        """`note` is how the name of the note sets it apart."""
        self._note = note
        self._above: list[tuple[int, _Distance]] = []
        self._label = (0, _Distance.NONE)
        """The depth of the statement with the label, and how that sets apart what is below it."""
        self._begins_section = False
        """Whether the statement before was the heading of a section, not of the whole note."""

    def track(self, text: str) -> _Distance:
        """Take the next statement, a heading or not; return how its section is set apart."""
        item = _ITEM.match(text)
        depth_of_item = len(item[1]) + 1 if item else 0
        of_label = _find_distance_of_label(text)
        heading = HEADING.match(text)
        if heading:
            depth = len(heading[1])
            title = _CODE.sub("", heading[2])
            self._above = [above for above in self._above if above[0] < depth]
            is_open = _open_title().match(lower_text(title))
            of_title = _find_distance(title) | (_Distance.OPEN if is_open else _Distance.NONE)
            self._above.append((depth, of_title | of_label))
            self._label = (0, _Distance.NONE)
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
            self._above[-1] = depth, of_heading | _Distance.PAST
        self._begins_section = is_title


class _Table:
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
    return bool(_words("repository").fullmatch(lower_text(title.strip("*_ "))))


def _is_inside(offset: int, spans: list[tuple[int, int]]) -> bool:
    return any(start <= offset < end for start, end in spans)


def _sentences(text: str, code: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _SENTENCE_END.finditer(text):
        if _is_inside(match.start(), code):
            continue
        if match[0] == "." and _ABBREVIATION.search(text, start, match.start()):
            continue
        yield start, match.end()
        start = match.end()
    if text[start:].strip():
        yield start, len(text)


def is_of_past(title: str) -> bool:
    """Return whether a title is that of a history, or of a day."""
    return find_day_in_title(title) is not None or _titles("past", title)


def _titles(part: str, title: str) -> bool:
    return bool(_words(part).search(lower_text(re.sub(r"[_\-/]", " ", title))))


def _find_distance(title: str) -> _Distance:
    """Return how a title sets the text under it apart: by its words, or by a date, of which alone
    that text tells.
    """
    distance = _Distance.OTHER if _titles("apart", title) else _Distance.NONE
    if is_of_past(title):
        distance |= _Distance.PAST
    if _fixed().search(lower_text(title.replace("_", "-"))):
        distance |= _Distance.FIXED
    return distance


def _is_stamp(text: str) -> bool:
    """Return whether a text is nothing but the day of an entry."""
    stamp = _STAMP.fullmatch(text)
    kind = stamp["kind"] if stamp else None
    return stamp is not None and (not kind or bool(_words("entry").fullmatch(lower_text(kind))))


def _find_distance_of_label(text: str) -> _Distance:
    """Return how the label with which a statement begins, or a heading, sets apart what is below
    it.
    """
    plain = lower_text(text)
    if _label("rejected").match(plain) or _label("reason").match(plain):
        return _Distance.PAST
    if _label("to_make").match(plain):
        return _Distance.TO_MAKE
    return _Distance.ACCOUNT if _label("account").match(plain) else _Distance.NONE


@lru_cache(maxsize=4_096)  # called for every claim of a sentence
def _matches(part: str, spoken: str) -> bool:
    return bool(_words(part).search(lower_text(spoken)))


@cache
def _words(part: str) -> re.Pattern[str]:
    return compile_part("probes", part)


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


@cache
def _fixed() -> re.Pattern[str]:
    """Return the pattern of the mark of a fault that is fixed: apart from other words, or after a
    label such as “Status:”.
    """
    words = build_alternation(list_expressions("probes", "fixed"))
    apart = r"(?:\A|(?<!\bnot)(?<!\bnon)[^\w\s])[^\w\n]*(?:\w+\W*[:：][^\w\n]*)?"
    return re.compile(rf"{apart}(?:{words})(?=\s*(?:\Z|[^\w\s-]|-\s|\d{{4}}\b))")


@cache
def _shows_example() -> re.Pattern[str]:
    """Return the pattern of what leads to an example."""
    return re.compile(rf"[(（:：–—→=]|{build_alternation(list_expressions('probes', 'example'))}")


@cache
def _superseded() -> re.Pattern[str]:
    return compile_part("status", "superseded")


@dataclass(frozen=True, slots=True)
class ProjectClaim:
    """A claim about the project, and the sentence that makes it."""

    kind: ClaimKind
    text: str
    """As written in the note."""
    line: int
    passage: Passage
    work: frozenset[str] = frozenset()
    """The words for the work that it calls unfinished; empty where it names code or a request."""

    def to_verdict(
        self,
        outcome: CheckOutcome,
        *evidence: str,
        suggestion: str = "",
        existed: bool = False,
        is_guess: bool = False,
        problem: str = "",
        commit: str = "",
    ) -> Verdict | None:
        """Return the verdict on the claim; None where the check failed and the sentence does not
        describe the present state, so that it was no claim. `existed`, `is_guess`, `problem`
        and `commit` as in Verdict.
        """
        is_failed = outcome is not CheckOutcome.VALID
        if is_failed and self.passage.is_unsure(self.text, existed=existed):
            return None
        fields = (self.text, self.kind, self.line, outcome, evidence, suggestion, problem)
        return Verdict(*fields, existed=existed, is_guess=is_guess, commit=commit)

    @property
    def is_unsure(self) -> bool:
        """Whether the sentence does not describe the present state."""
        return self.passage.is_unsure(self.text)

    @property
    def is_no_claim(self) -> bool:
        """Whether the sentence does not say that it is there, even if it was there once."""
        return self.passage.is_unsure(self.text, existed=True)

    def to_refutation(self, *evidence: str) -> Verdict:
        """Return the verdict that `evidence` refutes the claim, which was true once."""
        changed = CheckOutcome.CHANGED
        return Verdict(self.text, self.kind, self.line, changed, evidence, existed=True)

    def to_unchecked(self, why: str) -> Verdict:
        """Return the verdict that the claim was not checked, and why."""
        return Verdict(self.text, self.kind, self.line, CheckOutcome.UNCHECKED, (why,))


@cache
def load_names(part: str, key: str) -> frozenset[str]:
    """Return the list `key` under `part` of `rules/probes.toml`."""
    return frozenset(read_words("probes")[part][key])


def get_work_words(text: str) -> frozenset[str]:
    """Return the words of a text that carry meaning, ordinals as numbers, without plural."""
    words = (_ORDINALS.get(word, word) for word in _WORD.findall(lower_text(text)))
    filler = _filler()
    return frozenset(
        word.removesuffix("s") if len(word) > _LONG else word
        for word in words
        if word not in filler and (len(word) > 2 or any(map(str.isdigit, word)))
    )


@cache
def _filler() -> frozenset[str]:
    filler = read_words("opposition")["filler"].values()
    return frozenset(word for texts in filler for text in texts for word in text.split())
