"""Rules on a note that its own text refutes: its entry in the index, its description, its list of
what is open, and the numbers that it gives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from ricordo.dates import FoundDate, find_dates, has_year
from ricordo.lexicon import (
    build_alternation,
    compile_part,
    list_expressions,
    lower_text,
    read_words,
)
from ricordo.lint.claims.claim import get_work_words
from ricordo.lint.claims.tasks import open_list, triggers
from ricordo.lint.evidence import MOST_QUOTED
from ricordo.lint.finding import Severity
from ricordo.lint.prose import (
    DONE_MARK,
    ProseBlock,
    extract_statements,
    find_day_of_passage,
    find_field_line,
    first_line_of_body,
    is_record,
    list_body,
    split_words,
    words_of_note,
)
from ricordo.lint.rule import RuleContext, RuleResult, memory_rule, note_rule
from ricordo.lint.rules.counts import (
    find_miscounts,
    find_other_count,
    find_other_totals,
    has_count,
)
from ricordo.lint.rules.files import NOTES
from ricordo.lint.rules.statuses import find_other_statuses
from ricordo.memory.index import Entry, MemoryIndex
from ricordo.memory.memory import Memory
from ricordo.memory.names import TargetKind
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily

_NEAR = 70
"""Characters between the subject of a status and the status."""
_DENIAL = 24
"""Characters before a status in which it is denied."""
_FIRST = 3
"""Statements at the beginning of a text that tell of the whole note."""
_SEGMENT = compile_lazily(r"[;.!?](?=[\s*)]|$)|[。；！？]|\n\s*[-*+|]")
_CLAUSE = compile_lazily(r"[,;()+:|（），：；]|\s[—–]\s|[.。](?:\s|$)")
_CODE = compile_lazily(r"(?<![\w/.#-])[A-Z]{1,4}-?\d+(?:\.\d+)?[a-z]?(?![\w/%-]|\.\d)")
"""The short name of a part of the work: `P7b`, `M12`, `DEF-104`."""
_NO_CODES = frozenset(
    # products, headings, architectures and quarters, which are written as such codes are
    ("S3", "R2", "H1", "H2", "H3", "E2", "X86", "V1", "V2", "V3", "V4", "Q1", "Q2")
)
_BARE_RANGE = compile_lazily(r"(?<![\w.:/#-])\d+\s?[–-]\s?\d+\s+\Z")
_NUMBERS_OF_PARTS = compile_lazily(r"\d+(?:\s?[–-]\s?\d+)?")
_LISTED_NUMBERS = compile_lazily(r"\W{0,4}[(（]([\d\s,–-]+)[;；)）]")
"""The numbers in brackets of the parts that were named together."""
_COLON = compile_lazily("[:：]")
_FEWEST_WORDS = 2
"""Of a subject without a number or a code."""
_MOST_WORDS = 6


class _Claim(NamedTuple):
    """A status that a text states of a part of the work, or of all of it."""

    subject: frozenset[str]
    """The names of the part, or the words for it; empty for all of the work."""
    start: int
    end: int
    is_begun_enough: bool = False
    """Whether a part that is done refutes it: nothing was said to be begun."""


@memory_rule(
    "index-outdated-entry",
    Severity.WARNING,
    "an index entry with a status or a number that its note contradicts",
)
def index_outdated_entry(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Find entries with a status of work, or a number of things, that their notes contradict, and
    items of other lists with another status than the field of their note has.
    """
    yield from find_other_statuses(memory, context.conventions.archived)
    for index in memory.indexes:
        lines = _find_open_lines(index)
        by_line: dict[int, list[Entry]] = {}
        for entry in index.entries:
            if entry.line in lines or has_count(entry.text):
                by_line.setdefault(entry.line, []).append(entry)
        for line, entries in by_line.items():
            # the words of a line with several entries may be of any of them
            if len(entries) == 1 and (line in lines or has_count(entries[0].hook)):
                yield from _judge_entry(memory, index, entries[0], says_open=line in lines)


def _judge_entry(
    memory: Memory, index: MemoryIndex, entry: Entry, *, says_open: bool
) -> Iterator[RuleResult]:
    resolved = memory.resolve_entry(index, entry)
    note = memory.by_path.get(resolved.path)
    if resolved.target_kind is not TargetKind.NOTE or note is None or note.path == index.path:
        return
    other = find_other_count(entry.hook, note.description)
    if other is not None:
        message = f"The entry says “{other[0]}”, its note “{other[1]}”."
        line = find_field_line(note, "description")
        evidence = (f"{note.path}:{line}: {note.description[:MOST_QUOTED]}",)
        yield RuleResult(entry.line, message, entry.text, evidence, index.path)
        return
    block = ProseBlock(entry.line, entry.text)
    for claim in _find_open(block.prose) if says_open else ():
        done = _find_done(note, claim, beside=0)
        if done is not None and not _is_open_after(note, claim, done):
            claimed = " ".join(entry.text[claim.start : claim.end].split())
            message = f"The entry says “{claimed}”, its note that it is done."
            evidence = (f"{note.path}:{done.line}: {done.text}",)
            yield RuleResult(entry.line, message, entry.text, evidence, index.path)
            return


@note_rule(
    "inconsistent-note",
    Severity.WARNING,
    "a note whose description, open items or numbers its own text refutes",
    roles=NOTES,
)
def inconsistent_note(note: Note, context: RuleContext) -> Iterator[RuleResult]:
    """Find a description or an open item that calls work unfinished which the text calls done, and
    numbers of things that the text does not have.
    """
    first_of_body = first_line_of_body(note)
    has_list = bool(open_list().search(lower_text(note.text)))
    for block in extract_statements(note) if has_list or _says_open(note.description) else ():
        is_summary = block.line < first_of_body
        claims = _find_open(block.prose) if is_summary else _find_open_items(note, block)
        for claim in claims:
            done = _find_done(note, claim, beside=block.line)
            if done is not None:
                line = block.line_at(claim.start)
                claimed = " ".join(block.text[claim.start : claim.end].split())
                message = f"“{claimed}”, but line {done.line} says that it is done."
                evidence = (f"{note.path}:{done.line}: {done.text}",)
                yield RuleResult(line, message, block.line_text_at(claim.start), evidence)
                break
    yield from find_miscounts(note)
    yield from find_other_totals(note)
    yield from _find_old_stamp(note)


class _Done(NamedTuple):
    line: int
    """1-based, in the note."""
    text: str
    """The text of that line, or its beginning."""


@lru_cache(maxsize=4)
def _find_open_lines(index: MemoryIndex) -> frozenset[int]:
    """Return the lines of an index with words for unfinished work: few, so that the rest need not
    be read closely.
    """
    note = index.note
    present = triggers().find_in(words_of_note(note), lower_text(note.text))
    if not present:
        return frozenset()
    lines = enumerate(lower_text(note.text).split("\n"), 1)
    return frozenset(
        number
        for number, line in lines
        if any(map(line.__contains__, present)) and _open_words().search(line)
    )


def _find_open(prose: str) -> Iterator[_Claim]:
    """Yield the statuses of unfinished work in a summary."""
    spoken = lower_text(prose)
    for start, end in _split(prose, _SEGMENT):
        matches = list(_open_words().finditer(spoken, start, end))
        if not matches:
            continue
        names = list(_find_names(prose, start, end))
        for status in matches:
            if _is_denied(spoken, status):
                continue
            before = [it for it in names if it[1] <= status.start()]
            ranged = _find_bare_range(spoken, start, status.start())
            if ranged is not None:
                yield _Claim(ranged[1], ranged[0], status.end())
            elif before and status.start() - before[-1][1] <= _NEAR:
                name = before[-1]
                is_done = _done_words().search(spoken, name[1], status.start())
                if not is_done:
                    yield _Claim(name[2], name[0], status.end())
            elif not names:
                yield from _find_unnamed(prose, start, status)


def _find_bare_range(spoken: str, start: int, end: int) -> tuple[int, frozenset[str]] | None:
    """Return where a range of numbers right before `end` begins, and the parts that it names: of
    the kind that the text last named. None where there is none.
    """
    bare = _BARE_RANGE.search(spoken, start, end)
    named = list(_parts().finditer(spoken, 0, bare.start())) if bare else ()
    if bare is None or not named:
        return None
    return bare.start(), _name_parts(named[-1]["kind"], bare[0])


def _find_unnamed(prose: str, start: int, status: re.Match[str]) -> Iterator[_Claim]:
    """Yield the claim that a status makes of the words before it in its clause, or without any of
    all of the work.
    """
    clause = max([start, *(it.end() for it in _CLAUSE.finditer(prose, start, status.start()))])
    words = get_work_words(prose[clause : status.start()])
    if words - _WHOLE:
        # a number says how many parts, not which
        if len(words) <= _MOST_WORDS and not all(map(str.isdigit, words)):
            yield _Claim(words, clause, status.end())
    elif _unbuilt().fullmatch(status[0]) and not _says_more(prose, status.end()):
        yield _Claim(frozenset(), clause, status.end(), is_begun_enough="start" in status[0])


def _says_more(prose: str, at: int) -> bool:
    """Return whether the clause goes on behind a status, so that it may be of less than all."""
    end = next((it.start() for it in _CLAUSE.finditer(prose, at)), len(prose))
    return bool(prose[at:end].strip(" \n.!"))


_WHOLE = frozenset(("build", "work", "implementation", "plan", "researched", "designed", "planned"))
"""Words that mean the work as a whole."""


def _find_open_items(note: Note, block: ProseBlock) -> Iterator[_Claim]:
    """Yield the first item of a statement that lists what is open; none of a record of finished
    work or of a day, which tells what was open then.
    """
    if not _COLON.search(block.text):
        return
    prose = block.prose
    spoken = lower_text(prose)
    match = open_list().search(spoken)
    if match is None or is_record(prose) or find_day_of_passage(note, block.line):
        return
    clause = next((it.start() for it in _CLAUSE.finditer(spoken, match.end())), len(spoken))
    end = next((it.start() for it in _relation().finditer(spoken, match.end(), clause)), clause)
    words = get_work_words(prose[match.end() : end])
    if _FEWEST_WORDS <= len(words) <= _MOST_WORDS:
        yield _Claim(words, match.start(1), end)


def _find_done(note: Note, claim: _Claim, beside: int) -> _Done | None:
    """Return where the text of a note first says that what a claim calls unfinished is done, in
    another statement than the one at line `beside`; None where it does not.
    """
    for at, block in enumerate(list_body(note)):
        if block.line == beside:
            continue
        place = _find_done_in(block, claim, is_first=at < _FIRST)
        if place is not None:
            return _Done(block.line_at(place), block.line_text_at(place)[:MOST_QUOTED])
    return None


def _is_open_after(note: Note, claim: _Claim, done: _Done) -> bool:
    """Return whether a note calls all of the subject of a claim unfinished below `done`."""
    later = (block for block in list_body(note) if block.line > done.line)
    opened = (it.subject for block in later for it in _find_open(block.prose))
    return bool(claim.subject) and any(claim.subject <= subject for subject in opened)


def _find_done_in(block: ProseBlock, claim: _Claim, *, is_first: bool) -> int | None:
    """Return the offset in a statement at which it says that the subject of a claim is done."""
    prose = block.prose
    spoken = lower_text(prose)
    marks = (it for it in DONE_MARK.finditer(prose) if not _is_denied(spoken, it))
    every = _all_done().search(spoken)
    if not claim.subject:
        strong = next(marks, None) if is_first else None
        if every is None and strong is not None:
            names = [it for it in _find_names(prose, 0, strong.start()) if it[2]]
            every = strong if claim.is_begun_enough or not names else None
        return every.start() if every else None
    listed = _LISTED_NUMBERS.match(prose, every.end()) if every else None
    if every and listed and claim.subject <= _name_parts(every["kind"], listed[1]):
        return every.start()
    for strong in marks:
        segment = _find_segment(prose, strong.start())
        if _is_of(prose, segment, strong, claim.subject):
            return strong.start()
    return None


def _is_of(
    prose: str, segment: tuple[int, int], strong: re.Match[str], subject: frozenset[str]
) -> bool:
    """Return whether a word for done is of a subject: of a name the nearest before it, of words all
    right before it or in brackets behind it.
    """
    names = list(_find_names(prose, segment[0], strong.start()))
    if names and strong.start() - names[-1][1] <= _NEAR and names[-1][2] & subject:
        return True
    start = max(segment[0], strong.start() - _NEAR)
    # the cells of a row are of one thing
    is_row = prose.lstrip().startswith("|")
    ends = () if is_row else _CLAUSE.finditer(prose, start, strong.start())
    clause = max([prose.rfind("\n", 0, start) + 1 if is_row else start, *(it.end() for it in ends)])
    if len(subject) >= _FEWEST_WORDS and subject <= get_work_words(prose[clause : strong.start()]):
        return True
    behind = re.compile(r"\s*\(([^)]{1,60})\)").match(prose, strong.end())
    return behind is not None and subject <= get_work_words(behind[1])


def _find_names(prose: str, start: int, end: int) -> Iterator[tuple[int, int, frozenset[str]]]:
    """Yield where the parts of the work are named in a range of a text, each with its names."""
    spoken = lower_text(prose)
    found = [(it.start(), it.end(), _name_part(it)) for it in _parts().finditer(spoken, start, end)]
    for match in _CODE.finditer(prose, start, end):
        if match[0] not in _NO_CODES:
            found.append((match.start(), match.end(), frozenset((match[0].lower(),))))
    yield from sorted(found)


def _name_part(match: re.Match[str]) -> frozenset[str]:
    """Return the names of the numbered part, one for each of a range: `phase 2`, `phase 3`."""
    first, last, kind = match["first"], match["last"], match["kind"].removesuffix("s")[:4]
    if last and first.isdigit() and int(first) < int(last) <= int(first) + 20:
        return frozenset(f"{kind} {number}" for number in range(int(first), int(last) + 1))
    return frozenset((f"{kind} {first}",))


def _name_parts(kind: str, numbers: str) -> frozenset[str]:
    """Return the names of the parts of a kind with these numbers and ranges."""
    named = (_parts().fullmatch(f"{kind} {it[0]}") for it in _NUMBERS_OF_PARTS.finditer(numbers))
    return frozenset(name for match in named if match for name in _name_part(match))


def _says_open(summary: str) -> bool:
    spoken = lower_text(summary)
    return triggers().are_in(split_words(summary), spoken) and bool(_open_words().search(spoken))


def _find_old_stamp(note: Note) -> Iterator[RuleResult]:
    """Find the day of the last update at the beginning of a note which has later sections."""
    if not has_year(note.text, note.frontmatter.end):
        return
    body = list_body(note)
    for block in body[:_FIRST]:
        if block.text.startswith("##"):
            # of that section only
            break
        stamp = _updated().search(lower_text(block.prose))
        dated = next(find_dates(block.text[stamp.end() :]), None) if stamp else None
        if stamp is None or dated is None or dated.start > _BESIDE:
            continue
        for later in body:
            title = _HEADING.match(later.text)
            titled = next(find_dates(title[1]), None) if title else None
            if title and titled and titled.day > dated.day and _has_day(title[1], titled):
                claimed = block.text[stamp.start() : stamp.end() + dated.end]
                message = (
                    f"“{' '.join(claimed.split())}”, but line {later.line} is of {titled.day}."
                )
                place = f"{note.path}:{later.line}: {later.text.strip()[:MOST_QUOTED]}"
                cause = block.line_text_at(stamp.start())
                line = block.line_at(stamp.start())
                # such a section may be of a plan, of a source or of a log
                yield RuleResult(line, message, cause, (place,), at_most=Severity.INFO)
                return


def _has_day(text: str, dated: FoundDate) -> bool:
    """Return whether a date in a text has its day, not only its month."""
    return dated.day.day in map(int, re.findall(r"\d+", text[dated.start : dated.end]))


_BESIDE = 12
"""Characters between “last updated” and its date."""
_HEADING = compile_lazily(r"#{1,6}\s+(.+)")


def _find_segment(text: str, at: int) -> tuple[int, int]:
    return next((it for it in _split(text, _SEGMENT) if it[0] <= at < it[1]), (0, len(text)))


def _split(text: str, mark: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    start = 0
    for match in mark.finditer(text):
        yield start, match.end()
        start = match.end()
    yield start, len(text)


def _is_denied(spoken: str, status: re.Match[str]) -> bool:
    """Return whether a word for coming or finished work is denied: “nothing pending”, “no longer
    blocked”, “not yet DONE”.
    """
    return bool(_denial().search(spoken[max(0, status.start() - _DENIAL) : status.start()]))


@cache
def _denial() -> re.Pattern[str]:
    return re.compile(rf"(?:{build_alternation(list_expressions('status', 'denial'))})\s+\Z")


@cache
def _unbuilt() -> re.Pattern[str]:
    return compile_part("status", "unbuilt")


@cache
def _open_words() -> re.Pattern[str]:
    """Return the pattern of words for unfinished work, not as parts of names: `shop-next`."""
    texts = (*list_expressions("status", "unbuilt"), *list_expressions("status", "coming"))
    return re.compile(rf"(?<!\w[./@-])(?:{build_alternation(texts)})(?![.-]\w)")


@cache
def _done_words() -> re.Pattern[str]:
    return compile_part("status", "done")


@cache
def _updated() -> re.Pattern[str]:
    return compile_part("status", "updated")


@cache
def _parts() -> re.Pattern[str]:
    kinds = "|".join(list_expressions("status", "part"))
    return re.compile(
        rf"(?<!\w)(?P<kind>(?:{kinds})s?)\s?(?P<first>\d+[a-z]?|[a-z]\d+)(?:\s?[–-]\s?(?P<last>\d+))?(?!\w)"
    )


@cache
def _all_done() -> re.Pattern[str]:
    kinds = "|".join(list_expressions("status", "part"))
    done = compile_part("status", "done").pattern
    every = "|".join(list_expressions("status", "every"))
    return re.compile(
        rf"\b(?:{every})\s+(?:\d+\s+|\w+\s+)?(?P<kind>(?:{kinds})s?)\s+"
        rf"(?:are |is |sind |sont |están )?(?:now )?(?:{done})"
    )


@cache
def _relation() -> re.Pattern[str]:
    """Return the pattern of words behind which a thing is only described."""
    words = read_words("status")["relation"].values()
    return re.compile(build_alternation(text for texts in words for text in texts))
