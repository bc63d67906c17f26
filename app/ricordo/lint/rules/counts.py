"""Numbers of things that a text gives otherwise than the list below it, than the note it describes,
or than another description of the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from ricordo.dates import find_dates
from ricordo.lexicon import build_alternation, list_expressions, lower_text
from ricordo.lint.evidence import MOST_QUOTED
from ricordo.lint.prose import (
    MAX_STATEMENT,
    ProseBlock,
    extract_statements,
    find_field_line,
    list_body,
)
from ricordo.lint.rule import RuleResult
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily
from ricordo.search.words import stem_word

_NEAR = 70
"""Characters between a number and the name of what it counts."""
_MOST_WORDS = 4
"""Words for what a number counts."""
_PART_END = compile_lazily(
    r",(?!\d)|[;()+|/&（），、；。]|[:：.!?](?=\s|$)|\s[-–—]\s|\s(?:and|und|et|y|e|и)\s"
)
"""What separates the things that a description counts."""
_AMOUNT = compile_lazily(r"[\s*]*(\d{1,3}(?:,\d{3})+|\d{1,6})\*{0,2}\s+(?=[^\W\d_])")
"""A number at the beginning of such a part, before a word: not of a day, a time or a version."""
_WORD = compile_lazily(r"[^\W\d_][\w-]*")
_DIGIT = compile_lazily(r"\d")


def has_count(text: str) -> bool:
    """Return whether a description may count something."""
    return bool(_DIGIT.search(text))


@lru_cache(maxsize=1 << 14)
def find_other_count(text: str, other: str) -> tuple[str, str] | None:
    """Return what two descriptions of one thing count differently, as each has it: the same things
    (`9 skills`, `11 skills`), or a later turn in the `other` one (`round 3`, `round 5`). None where
    there is nothing of the kind; what one of them counts twice counts for nothing. Cached, as most
    descriptions stay the same.
    """
    text, other = text[:MAX_STATEMENT], other[:MAX_STATEMENT]
    # few texts count anything, so that the other one need not be read
    amounts, turns = _find_amounts(text), _find_turns(text)
    others = _find_amounts(other) if amounts else {}
    for things, count in amounts.items():
        if things in others and others[things].number != count.number:
            return count.written, others[things].written
    later = _find_turns(other) if turns else {}
    for kind, turn in turns.items():
        if kind in later and later[kind].number > turn.number:
            return turn.written, later[kind].written
    return None


class _Count(NamedTuple):
    number: int
    written: str
    """The number with what it counts, as the text has it."""


def _find_amounts(text: str) -> dict[str, _Count]:
    """Return the things that a description counts once, with how many they are."""
    found: dict[str, list[_Count]] = {}
    undated, start = _blank_dates(text), 0
    for mark in (*_PART_END.finditer(undated), None):
        end = mark.start() if mark else len(text)
        amount = _AMOUNT.match(undated, start, end)
        if amount and not _DIGIT.search(undated, amount.end(), end):
            things = [stem_word(it.lower()) for it in _WORD.findall(undated, amount.end(), end)]
            is_age = _elapsed().search(lower_text(text[start:end]).rstrip()) is not None
            if len(things) <= _MOST_WORDS and not is_age:
                number = int(amount[1].replace(",", ""))
                count = _Count(number, " ".join(text[start:end].replace("*", "").split()))
                found.setdefault(" ".join(things), []).append(count)
        start = mark.end() if mark else end
    return {things: its[0] for things, its in found.items() if len(its) == 1}


def _find_turns(text: str) -> dict[str, _Count]:
    """Return the kinds of turns of which a description names one, such as `round 3`."""
    found: dict[str, list[_Count]] = {}
    for turn in _turns().finditer(lower_text(text)):
        count = _Count(int(turn["number"]), text[turn.start() : turn.end()])
        found.setdefault(turn["kind"], []).append(count)
    return {kind: its[0] for kind, its in found.items() if len(its) == 1}


@cache
def _elapsed() -> re.Pattern[str]:
    """Return the pattern of the end of a time that is another one each day: `3 days ago`."""
    return re.compile(rf"(?:{build_alternation(list_expressions('status', 'elapsed'))})\Z")


@cache
def _turns() -> re.Pattern[str]:
    kinds = build_alternation(list_expressions("status", "turn"))
    return re.compile(rf"(?P<kind>{kinds})\s?#?(?P<number>\d{{1,3}})(?![\w/.:-]*\d)")


def _blank_dates(text: str) -> str:
    """Return a text with blanks for its dates."""
    parts, end = list[str](), 0
    for date in find_dates(text):
        parts += text[end : date.start], " " * (date.end - max(end, date.start))
        end = max(end, date.end)
    return "".join((*parts, text[end:]))


def find_miscounts(note: Note) -> Iterator[RuleResult]:
    """Find titles of lists with a number of things that is not the length of the list."""
    if not _LISTED.search(note.text):
        return
    blocks = extract_statements(note)
    for at, block in enumerate(blocks[:-1]):
        first = _NUMBERED.match(blocks[at + 1].text)
        # few blocks lead to a list, so that the others need not be read closely
        claimed = _read_count(block) if first and first[1] == "1" else None
        if claimed is None:
            continue
        items = _get_items(blocks[at + 1 :])
        if len(items) >= _FEWEST_ITEMS and len(items) not in _list_numbers(block.prose):
            number = f"{len(items)} items"
            message = f"“{claimed[1]}”, but the list below has {number}."
            place = f"{note.path}:{items[0].line}–{items[-1].line}: {number}"
            yield RuleResult(block.line, message, block.line_text_at(0), (place,))


_FEWEST_ITEMS = 2
_LISTED = compile_lazily(r"\n {0,3}1[.)]\s")
"""The beginning of a numbered list. What the rows of a table are, its title does not say: things
may be its columns, or several in a row.
"""
_NUMBERED = compile_lazily(r"\s{0,3}(\d+)[.)]\s")
_LEAD_IN = compile_lazily(r"[*_]{2}\S|(?s:.*)[:：][*_\s]*\Z")
"""A paragraph with a label of its own, or one that leads to a list."""
_TITLE = compile_lazily(r"#{1,6}\s+(.+)|(.{1,80})[:：]", re.DOTALL)
"""A heading, or the short line that leads to a list."""
_COUNTERS = "部|本|个|個|条|項|项|种|種|类|類|款|篇|冊|册|가지|개"
_COUNTER = compile_lazily(
    rf"[（(](?:[^（）()]{{0,12}}[，,、])?(\d{{1,2}}) ?(?:{_COUNTERS})(?![月월])"
)
"""A number of things in brackets behind the name of a list, where words are not separated; months
are none.
"""
_NUMBER = compile_lazily(r"\d{1,2}|[A-Za-z]{3,6}")
_COUNTED = compile_lazily(
    r"(?:(?:The|All|These|Our|My)\s+)?(\d{1,2}|[A-Za-z]{3,6})"
    r" ((?:[A-Za-z][\w-]* ){0,2}[a-z][\w-]*s)"
    # a verb behind the things says something else of them than what they are, and so does a
    # participle behind a comma
    r"(?=\s*(?:\Z|[(:—–-])|\s(?:to|that|which|of|for|from|in|on|with|we|you|I)\s)"
)
"""A number of things at the beginning of a title."""


def _read_count(block: ProseBlock) -> tuple[int, str] | None:
    """Return the number of things that a title or the lead-in of a list gives, with its words."""
    title = _TITLE.fullmatch(block.prose.strip())
    text = (title[1] or title[2]) if title else ""
    if match := _COUNTER.search(text):
        return int(match[1]), match[0].strip("（(")
    match = _COUNTED.match(text.strip())
    number = _to_number(match[1]) if match else 0
    return (number, match[0]) if match and number else None


def _list_numbers(text: str) -> set[int]:
    """Return the numbers in a title or lead-in: each may be that of the items below it."""
    return {_to_number(word) for word in _NUMBER.findall(text)}


def _to_number(text: str) -> int:
    """Return the number of a word or digits from 2 on; 0 for others."""
    number = int(text) if text.isdigit() else _NUMBERS.get(text.lower(), 0)
    return number if number >= _FEWEST_ITEMS else 0


_NUMBERS = {
    word: number
    for number, word in enumerate(
        (
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
        ),
        2,
    )
}


def _get_items(blocks: Iterable[ProseBlock]) -> list[ProseBlock]:
    """Return the items of the first numbered list in the section that begins with `blocks`; empty
    where something else comes before.
    """
    items: list[ProseBlock] = []
    for block in blocks:
        numbered = _NUMBERED.match(block.text)
        is_within = items and _get_indent(block) > _get_indent(items[0])
        if numbered and int(numbered[1]) == len(items) + 1 and not is_within:
            items.append(block)
        elif numbered and int(numbered[1]) == 1 and items and not is_within:
            # another list
            break
        elif items and not numbered and not is_within and _LEAD_IN.match(block.text):
            # the numbers go on, but not the list
            break
        elif block.text.lstrip().startswith("#") or not items:
            break
    return items


def _get_indent(block: ProseBlock) -> int:
    return len(block.text) - len(block.text.lstrip())


def find_other_totals(note: Note) -> Iterator[RuleResult]:
    """Find a `3-layer` in the description of a note where its text has all of five layers."""
    summary = f"{note.name}\n{note.description}"
    for match in _SUMMED.finditer(summary):
        number, noun = _to_number(match[1]), match[2].lower().removesuffix("s")
        if not number:
            continue
        totals = re.compile(
            rf"\b(all|every|both)\s+(?:of\s+the\s+)?(\w+)[ -]{noun}s?\b", re.IGNORECASE
        )
        # as many of one kind may be part of all
        own = rf"\b(?:{number}|{_spell(number)})\b[^.;:\n]{{0,{_NEAR}}}?\b{noun}"
        same = re.compile(own, re.IGNORECASE)
        body = list_body(note)
        found = next(((it, total) for it in body if (total := totals.search(it.prose))), None)
        if found is None or any(same.search(it.prose) for it in body):
            continue
        block, total = found
        if _to_number(total[2]) not in (0, number):
            line = block.line_at(total.start())
            message = f"“{match[0]}”, but line {line} has “{total[0]}”."
            quoted = block.line_text_at(total.start())[:MOST_QUOTED]
            at = find_field_line(note, "description" if match[0] in note.description else "name")
            yield RuleResult(at, message, match[0], (f"{note.path}:{line}: {quoted}",))


_SUMMED = compile_lazily(r"(?<![\w-])(\d{1,2}|[A-Za-z]{3,6})-([A-Za-z]{4,})(?![\w-])")


def _spell(number: int) -> str:
    return next((word for word, it in _NUMBERS.items() if it == number), str(number))
