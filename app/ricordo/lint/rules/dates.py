"""Rules on dates and age: passed and relative dates, status reports, and notes that nobody reads or
confirms.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import NamedTuple

from ricordo.dates import FoundDate, find_dates, has_year
from ricordo.lexicon import (
    Triggers,
    build_alternation,
    compile_part,
    is_abbreviation,
    list_expressions,
    lower_text,
    statement_table,
)
from ricordo.lint.claims.note_status import is_finished
from ricordo.lint.evidence import Evidence
from ricordo.lint.finding import Severity
from ricordo.lint.fixes.dates import fix_relative_date, is_dated
from ricordo.lint.prose import (
    DONE_MARK,
    ProseBlock,
    extract_statements,
    find_day_of_passage,
    find_statements,
)
from ricordo.lint.rule import RuleContext, RuleResult, memory_rule, note_rule
from ricordo.lint.rules.files import NOTES
from ricordo.memory.layout import FileRole
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily

_BEGINNING = 60
"""Characters of a statement that say what it is about."""
_AHEAD = timedelta(hours=14)
"""By how much the time of the writer may be ahead of UTC."""
_LONGEST_LOG = timedelta(days=366)
"""Time from the day of a passage to the last change of its note: a passage older than that, in a
note that is still written, tells of its subject.
"""
_NEAR = 48
"""Characters before a date in which its preposition is looked for."""
_CLAUSE_END = compile_lazily(r"[.!?;](?=\s|$)|[。！？；]|\s[—–]\s|\s\|\s|[()（）\[\]]")
_GAP = (
    r"[\s:：,=]{0,6}"
    r"(?:(?:on|at|in|the|end of|le|el|il|den|dem|am|fin|ende|em|en|nel|about|around)\s+){0,2}"
)
"""The text allowed between a preposition and its date, but for the day of the week."""
_PARAMETER = compile_lazily(r"(?<!\w)[A-Z][A-Z\d_]+=\Z")
"""What sets a date in code: `END=2026-05-15`."""
_RANGE = compile_lazily(
    r"\s{0,2}(?:→|->|–|—|-|~|〜|to|through|until|till|bis|à|au|hasta|al?|fino al?|até|по)\s{0,2}"
)
"""The text between the days of a period."""
_SHARE_UNREAD = 0.2
"""The part of the notes up to which unread ones stand out."""
_SIGNS = frozenset("=+*/<>×÷−-")
_ITEM = compile_lazily(r"\s*(?:[-*+]|\d+[.)])\s")
_CHECKED = compile_lazily(r"\s*[-*+]\s+\[[xX]\]")
_TITLE = compile_lazily(r"(?:^|[.!?:;|(—–-]\s*|\n\s*)(?:[-*+#>]+\s*|\d+[.)]\s*)?\Z")


_RECORD = compile_lazily(r"\s*(?:[-*+|]\s*)*[*_(\[]*\d{4}-\d\d-\d\d\b")
"""The beginning of an entry of a log."""
_SECONDS = compile_lazily(r"[ T]\d\d:\d\d:\d\d")
"""The time of something that a program recorded."""
_OF_NAME = compile_lazily(r"\bthe\s+\Z")
_NAMED = compile_lazily(r"\s+(?!deadlines?\b|cut-?offs?\b|due\b|targets?\b)[a-z]{3}")
"""Before and after a date that is a part of a name: “the 2026-05-08 incident”."""


class _DatePatterns(NamedTuple):
    """The patterns that show whether a text expects a date or looks back on it."""

    before: re.Pattern[str]
    after: re.Pattern[str]
    coming: re.Pattern[str]
    on: re.Pattern[str]
    past: re.Pattern[str]
    renewed: re.Pattern[str]
    fronted: re.Pattern[str]
    """At the beginning of a clause, up to its date."""
    told: re.Pattern[str]
    """Right after that date."""


@note_rule(
    "passed-date",
    Severity.WARNING,
    "a date in the past that the note treats as future",
    roles=NOTES,
    depends_on_day=True,
    depends_on_commit=True,
)
def passed_date(note: Note, context: RuleContext) -> Iterator[RuleResult]:
    """Find deadlines and plans whose day is over, each day once; pages of a wiki are left out, for
    their dates are those of their subjects. Only a day that was to come when the text was written
    is surely planned.
    """
    if context.layout.has_own_conventions:
        return
    if not (has_year(note.text, note.frontmatter.end) or has_year(note.description)):
        return
    places: dict[date, list[tuple[ProseBlock, FoundDate]]] = defaultdict(list)
    statements = extract_statements(note)
    for at, statement in enumerate(statements):
        days = [it for it in _find_days(statement.text) if it.day < context.now.date()]
        planned = [it for it in days if _is_planned(note, statement, it)]
        # what is before a day on which something was so was over then
        last = max((it.day for it in days if it not in planned), default=date.min)
        if planned and not _is_settled_below(statement, statements[at + 1 :]):
            for dated in planned:
                line = statement.line_at(dated.start)
                if dated.day >= last and not is_finished(note, line):
                    places[dated.day].append((statement, dated))
    for (statement, dated), *others in places.values():
        lines = (it.line_at(day.start) for it, day in others)
        also = [f"also in {note.path}:{line}" for line in lines]
        yield _report_passed(note, statement, dated, also, context.evidence)


@note_rule(
    "relative-date",
    Severity.WARNING,
    "a relative date such as “yesterday” or “next week”, which loses its meaning",
    roles=NOTES,
)
def relative_date(note: Note, context: RuleContext) -> Iterator[RuleResult]:
    """Find words that only the day of writing gives a meaning, at most one finding a statement.
    A statement with a date, or under a title with one, tells the day itself. Pages of a wiki are
    left out, for they tell what their sources say.
    """
    if context.layout.has_own_conventions:
        return
    for statement in find_statements(note, _relative_triggers()):
        places = list(_find_relative(statement.prose))
        if places and not is_dated(note, statement):
            start, end = places[0]
            message = f"Relative date “{statement.text[start:end]}”: write the date."
            quoted = statement.line_text_at(start)
            fix = fix_relative_date(note, context.layout, statement, places)
            yield RuleResult(
                statement.line_at(start),
                message,
                quoted,
                (quoted,),
                fix=fix,
                # most often a product, an example or a quotation speaks of such a day
                at_most=Severity.INFO,
            )


def _find_relative(spoken: str) -> Iterator[tuple[int, int]]:
    """Yield the places of the relative dates in a statement."""
    for match in _relative().finditer(lower_text(spoken)):
        start, end = match.span()
        clause = lower_text(_clause(spoken, start, end))
        is_name = _is_title(spoken, start) or _is_label(spoken, start, end)
        if not is_name and not _timeless().search(clause):
            yield start, end


def _find_days(text: str) -> Iterator[FoundDate]:
    """Yield the dates in a text, a period as its last day, from the beginning of its first to its
    end.
    """
    before: FoundDate | None = None
    for dated in find_dates(text):
        if before is not None:
            if _RANGE.fullmatch(text, before.end, dated.start):
                dated = dated._replace(start=before.start)
            else:
                yield before
        before = dated
    if before is not None:
        yield before


def _is_planned(note: Note, statement: ProseBlock, dated: FoundDate) -> bool:
    """Return whether a statement plans something for a day that was to come when it was written:
    neither it nor a heading above tells of a later day, or it of another one.
    """
    if not _is_future_tense(statement, dated) or _is_record(statement.text[: dated.start]):
        return False
    told = find_day_of_passage(note, statement.line_at(dated.start))
    return told is None or told <= dated.day


def _is_record(text: str) -> bool:
    """Return whether a text begins as an entry of a log, with its day."""
    return bool(_RECORD.match(text) or _update().match(lower_text(text)))


def _is_settled_below(statement: ProseBlock, below: Sequence[ProseBlock]) -> bool:
    """Return whether what follows a plan says that it was carried out or called off."""
    return _is_done_below(statement, below) or _is_called_off_below(below)


def _is_done_below(title: ProseBlock, below: Iterable[ProseBlock]) -> bool:
    """Return whether a statement is the title of a list, or leads to it, whose items are all marked
    as done: the plan was carried out.
    """
    if not (title.text.startswith("#") or title.text.rstrip(" *_").endswith((":", "："))):
        return False
    items: list[str] = []
    for block in below:
        if _ITEM.match(block.text):
            items.append(block.text)
        elif items or block.text.startswith("#"):
            break
    return bool(items) and all(_CHECKED.match(it) or DONE_MARK.search(it) for it in items)


def _is_called_off_below(below: Sequence[ProseBlock]) -> bool:
    """Return whether the paragraph below a plan begins by saying that it was called off; the next
    item of a list is about another thing.
    """
    if not below or below[0].text.startswith("#") or _ITEM.match(below[0].text):
        return False
    spoken = lower_text(below[0].prose)
    match = _called_off().search(spoken)
    if match is None or match.start() >= _BEGINNING:
        return False
    return not _negation().search(spoken, 0, match.start())


def _report_passed(
    note: Note, statement: ProseBlock, dated: FoundDate, also: Iterable[str], evidence: Evidence
) -> RuleResult:
    line = statement.line_at(dated.start)
    changed = _find_change(note, evidence, _AHEAD).date()
    written = min(find_day_of_passage(note, line) or changed, changed)
    quoted = statement.line_text_at(dated.start)
    day = statement.text[dated.start : dated.end]
    message = f"{day} has passed, but the note treats it as future."
    # a record of a day tells what was to come then, and a title may have the day of its subject
    is_sure = written < _find_first_day(dated, day) and not _RECORD.match(note.stem)
    is_sure &= changed - written <= _LONGEST_LOG
    at_most = Severity.WARNING if is_sure else Severity.INFO
    # the versions of a text are in several notes
    return RuleResult(line, message, quoted, (quoted, *also), at_most=at_most, origin=quoted)


def _find_first_day(dated: FoundDate, text: str) -> date:
    """Return the day of a date, and the first one of a month: what is written in a month may be
    the state of it.
    """
    is_day = any(int(number) == dated.day.day for number in re.findall(r"\d+", text))
    return dated.day if is_day else dated.day.replace(day=1)


def _is_future_tense(statement: ProseBlock, dated: FoundDate) -> bool:
    spoken = lower_text(statement.prose)
    if spoken[dated.start : dated.end].isspace() or _SECONDS.match(spoken, dated.end):
        return False
    if _PARAMETER.search(statement.prose, max(0, dated.start - _NEAR), dated.start):
        return False
    closing = next(_find_clause_ends(spoken, dated.end, len(spoken)), None)
    if closing is not None and closing[0] in "?？":
        # nobody plans what he asks
        return False
    patterns = _date_patterns()
    clause = _clause(spoken, dated.start, dated.end)
    if clause.strip(" ~≈") == spoken[dated.start : dated.end]:
        # a date alone in brackets is that of what is said before them
        clause = _clause(spoken, max(0, dated.start - _NEAR), dated.end)
    if _OF_NAME.search(spoken, max(0, dated.start - _NEAR), dated.start) and _NAMED.match(
        spoken, dated.end
    ):
        return False
    is_period = len(list(find_dates(spoken[dated.start : dated.end]))) > 1
    if is_period and not patterns.coming.search(clause):
        # what a period is of is rarely said right before it
        return False
    if patterns.renewed.search(clause):
        return False
    if patterns.past.search(clause) or _tells_of_before(spoken, clause, dated):
        return False
    near = spoken[max(0, dated.start - _NEAR) : dated.start]
    if patterns.before.search(near) or patterns.after.match(spoken, dated.end):
        return True
    return bool(patterns.on.search(near)) and bool(patterns.coming.search(clause))


def _tells_of_before(spoken: str, clause: str, dated: FoundDate) -> bool:
    """Return whether a clause begins with “until” or “on” a date, and the text goes on in the past,
    behind brackets too.
    """
    before = clause.partition(spoken[dated.start : dated.end])[0]
    patterns = _date_patterns()
    is_fronted = bool(patterns.fronted.fullmatch(before))
    return is_fronted and bool(patterns.told.match(spoken, dated.end))


def _clause(text: str, start: int, end: int) -> str:
    """Return the sentence or the bracket that contains `start` to `end`."""
    begin = 0
    for mark in _find_clause_ends(text, 0, start):
        begin = mark.end()
    closing = next(_find_clause_ends(text, end, len(text)), None)
    return text[begin : closing.start() if closing else len(text)]


def _find_clause_ends(text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    for mark in _CLAUSE_END.finditer(text, start, end):
        if mark[0] != "." or not is_abbreviation(
            text[: mark.end()], text[mark.end() : mark.end() + _NEAR]
        ):
            yield mark


def _is_title(text: str, at: int) -> bool:
    """Return whether the word is capitalised inside a sentence, as in the name of an article."""
    return text[at].isupper() and not _TITLE.search(text[max(0, at - 12) : at])


def _is_label(text: str, start: int, end: int) -> bool:
    """Return whether the word is beside a sign, as in a formula, or alone in a table's cell."""
    before, after = text[:start].rstrip(" \t"), text[end:].lstrip(" \t")
    if before.endswith("|") and after.startswith("|"):
        return True
    return text[start - 1 : start] in _SIGNS or text[end : end + 1] in _SIGNS


@cache
def _date_patterns() -> _DatePatterns:
    before = build_alternation(list_expressions("dates", "before"))
    on = build_alternation(list_expressions("dates", "on"))
    until = build_alternation(list_expressions("dates", "until"))
    after = build_alternation(list_expressions("dates", "after")).replace(r"\b", "")
    days = (day for names in statement_table("weekdays").values() for day in names)
    gap = rf"{_GAP}(?:(?:{'|'.join(days)}|mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)[.,]?\s*)?\Z"
    return _DatePatterns(
        # what is only about a day is still to come
        re.compile(rf"(?:(?:{before})|~){gap}"),
        re.compile(rf"[\s:,)）]{{0,3}}(?:{after})"),
        compile_part("dates", "coming"),
        re.compile(rf"(?:{on}){gap}"),
        compile_part("dates", "past"),
        compile_part("dates", "renewed"),
        re.compile(rf"[\W_]*(?:{on}|{until}){gap}"),
        re.compile(rf"[\s,:*_)]{{0,4}}(?:{build_alternation(list_expressions('dates', 'told'))})"),
    )


@cache
def _called_off() -> re.Pattern[str]:
    return compile_part("dates", "called_off")


@cache
def _negation() -> re.Pattern[str]:
    return compile_part("opposition", "negation")


@cache
def _update() -> re.Pattern[str]:
    """Return the pattern of the beginning of what was added on a day: `Update (2026-06-24`."""
    words = build_alternation(list_expressions("dates", "update"))
    return re.compile(rf"[\s*_+|-]*(?:{words})\W{{1,3}}\d{{4}}-\d\d-\d\d\b")


@cache
def _relative() -> re.Pattern[str]:
    return compile_part("dates", "relative")


@cache
def _timeless() -> re.Pattern[str]:
    return compile_part("dates", "timeless")


@cache
def _relative_triggers() -> Triggers:
    return Triggers(list_expressions("dates", "relative_words"))


def _depends_on(memory: Memory, context: RuleContext) -> tuple[object, ...]:
    evidence = context.evidence
    return memory.files, evidence.reads.keys(), evidence.last_session, evidence.commits


@memory_rule(
    "never-read",
    Severity.INFO,
    "no agent has read the note in the known transcripts",
    depends_on=_depends_on,
)
def never_read(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Find notes that existed when the newest known session began and that no session has read,
    where the known sessions have read nearly all others: after few sessions most are unread.

    Loading the index entry of a note does not count as reading the note.
    """
    evidence = context.evidence
    if not evidence.last_session:
        return
    last = datetime.fromisoformat(evidence.last_session)
    notes = [
        it for it in memory.notes if it.role is FileRole.NOTE and _find_change(it, evidence) < last
    ]
    unread = [note for note in notes if note.path not in evidence.reads]
    if len(unread) > max(1, _SHARE_UNREAD * len(notes)):
        return
    for note in unread:
        message = f"Not read in any known session (the newest: {last:%-d %b %Y})."
        yield RuleResult(0, message, note.path, path=note.path)


def _find_change(note: Note, evidence: Evidence, ahead: timedelta = timedelta(0)) -> datetime:
    """Return when the note was last changed: by its frontmatter, else by git, else by its file. A
    time in UTC is taken for one of a writer whose time is `ahead` of it.
    """
    try:
        at = datetime.fromisoformat(note.stated_date)
    except ValueError:
        file_time = datetime.fromtimestamp(max(note.facts.modified, 0), UTC)
        at = evidence.committed_at(note) or file_time
    if at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    # a day without a time lasts until its end
    if at.year == datetime.max.year:
        return at
    if len(note.stated_date) == len("2026-11-19"):
        return at + timedelta(days=1) - timedelta.resolution
    return at if at.utcoffset() else at + ahead


def _stale_depends_on(memory: Memory, context: RuleContext) -> tuple[object, ...]:
    return memory.files, context.retention


@memory_rule(
    "stale",
    Severity.WARNING,
    "not confirmed for so long that its retention is below the threshold of its type",
    depends_on=_stale_depends_on,
)
def stale(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Find notes below their retention threshold, and those that the user marked as wrong."""
    for path, retention in context.retention.items():
        note = memory.by_path.get(path)
        if note is None or not retention.is_stale:
            continue
        if retention.events.is_wrong:
            message = "You marked this note as wrong."
            yield RuleResult(0, message, f"wrong {note.text}", retention.reasons, path)
            continue
        days = (retention.today - retention.since).days
        message = f"Not confirmed for {days:,} day{'' if days == 1 else 's'}."
        # age alone proves nothing: such notes come up in the daily review
        yield RuleResult(0, message, note.text, path=path, at_most=Severity.INFO)
