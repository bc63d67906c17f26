"""The statuses that lists of notes give, beside those that the notes themselves state."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain, islice
from typing import NamedTuple

from ricordo.lexicon import build_alternation, list_expressions, lower_text
from ricordo.lint.claims.note_status import says_finished
from ricordo.lint.finding import Fix
from ricordo.lint.prose import find_day_of_passage, find_field_line
from ricordo.lint.rule import RuleResult
from ricordo.memory.change import EditLine
from ricordo.memory.index import Entry, EntryForm, read_index
from ricordo.memory.layout import FileRole
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily

_FIELD = "status"
_LISTS = (FileRole.INDEX, FileRole.NOTE)
"""The files whose lists are read: a log tells of what was so."""
_SEPARATOR = compile_lazily(r"[—–·•|,;:()\[\]/<>]|(?<=\s)-(?=\s)|\.(?=\s|$)")
"""What separates the parts of a line."""
_ENUMERATING = frozenset(",;:/<>.")
"""The separators between parts of one phrase or sentence, each of which is no statement."""
_LABELLING = ":"
"""Of these the one before which a statement may be."""
_EMPHASISED = compile_lazily(r"([*_`~]+)\w.*\1")
_MARKUP = compile_lazily(r"[^\w\s-]+")
_UNTICKED = compile_lazily(r"\s*[-*+]\s+\[ \]\s")
_AROUND = " \t*_`~"
"""Blanks and signs of emphasis around a part."""
_MOST_PARTS = 20
"""Parts of a line that are looked at: a status is near the link."""
_MANY, _USUAL = 20, 0.8
"""Notes with a status and the share of them with the same one, from which on it is usual."""
_LONGEST = 30
"""Characters of a value that is one of a few, not a sentence."""


class _StatedPart(NamedTuple):
    """A part of what an item says behind its link."""

    text: str
    column: int
    """Where it is in the line; -1 for a box that is not ticked."""
    spelled: str
    is_finished: bool
    is_open: bool
    """Whether it is a word for work that is not finished."""
    is_alone: bool
    """Whether it is set apart from the words beside it, by emphasis, capitals, dashes, brackets or
    as a cell, and so a statement about the note: `open` in `raw primitives: open, retry` is none.
    """


class _ListItem(NamedTuple):
    """An item or row of a list with one link: the words of a line with several may be of any."""

    entry: Entry
    parts: tuple[_StatedPart, ...]
    spelled: frozenset[str]
    """What the parts are spelled like."""
    is_open: bool
    """Whether one of them is a word for work that is not finished."""


def find_other_statuses(memory: Memory, left_out: Container[str]) -> Iterator[RuleResult]:
    """Yield a result for each entry of an index, and item or row of a list, that gives another
    status than its note has in the field `status`: one that notes of the memory have, or a word for
    unfinished work of a note that is finished. Lists of a day and notes `left_out` are not judged.
    """
    stated = {
        note.path: status
        for note in memory.notes
        if (status := note.frontmatter.get_text(_FIELD).strip()) and note.path not in left_out
    }
    known = frozenset(_spell(it) for it in stated.values() if _is_value(it))
    # in other memories notes are about work
    usual = _find_usual(stated.values()) if memory.layout.has_own_conventions else ""
    lists = {path for it in stated for path in memory.backlinks.get(it, ())}
    for path in sorted(lists):
        file = memory.by_path[path]
        if file.role in _LISTS and path not in left_out:
            of_page = usual if file.role is FileRole.NOTE else ""
            found = list(_judge_list(memory, file, stated, known, of_page))
            # several in one list were forgotten together, one in several lists by its note
            for it in found:
                cause = path if len(found) > 1 else it.other_path
                yield it._replace(origin=f"{cause}: statuses")


def _find_usual(statuses: Collection[str]) -> str:
    """Return the status that most of many notes have: they are pages, and it tells that the page
    is complete, not what it is about; "" for none.
    """
    counts = Counter(map(_spell, statuses))
    most = next(iter(counts.most_common(1)), ("", 0))
    is_usual = len(statuses) >= _MANY and most[1] >= _USUAL * len(statuses)
    return most[0] if is_usual else ""


def _judge_list(
    memory: Memory,
    file: Note,
    stated: Mapping[str, str],
    known: frozenset[str],
    of_page: str,
) -> Iterator[RuleResult]:
    """Yield the results of one file; a status `of_page` is refuted by no word for open work."""
    items = [it for it in _list_items(file) if it.is_open or not known.isdisjoint(it.spelled)]
    links = memory.links.get(file.path, ()) if items else ()
    targets = {it.link.start: it.path for it in links if it.path in stated}
    for item in items:
        entry = item.entry
        path = targets.get(entry.link.start, "")
        if not path or path == file.path:
            continue
        note, status = memory.by_path[path], stated[path]
        given = _find_given(item.parts, status, known, of_page)
        if given is None or find_day_of_passage(file, entry.line) or _has_tag(note, given.text):
            continue
        line = find_field_line(note, _FIELD)
        yield RuleResult(
            entry.line,
            f"The entry says “{given.text}”, the status of its note is “{status}”.",
            entry.text,
            (f"{path}:{line}: {_FIELD}: {status}",),
            file.path,
            _correct(file, entry, given, status),
            other_path=path,
        )


@lru_cache(maxsize=1 << 14)
def _list_items(file: Note) -> Sequence[_ListItem]:
    """Return the items and rows of a file with one link and something beside it."""
    entries = read_index(file).entries
    counts = Counter(entry.line for entry in entries)
    items: list[_ListItem] = []
    for entry in entries:
        is_alone = entry.form is not EntryForm.PROSE and counts[entry.line] == 1
        if parts := tuple(_split_parts(entry)) if is_alone else ():
            spelled = frozenset(it.spelled for it in parts)
            items.append(_ListItem(entry, parts, spelled, any(it.is_open for it in parts)))
    return items


def _split_parts(entry: Entry) -> Iterator[_StatedPart]:
    """Yield the parts of what an entry says behind its link that may be a status, and last its box,
    if that is not ticked.
    """
    start = entry.text.rfind(entry.hook) if entry.hook else len(entry.text)
    is_begun, last = True, len(entry.text.rstrip(_AROUND + "."))
    for match in islice(chain(_SEPARATOR.finditer(entry.text, start), (None,)), _MOST_PARTS):
        end = match.start() if match else len(entry.text)
        part = entry.text[start:end]
        is_next = match is None or end >= last or match[0] not in _ENUMERATING
        is_ended = is_next or (match is not None and match[0] == _LABELLING)
        if 0 < len(plain := part.strip(_AROUND)) <= _LONGEST:
            word = _MARKUP.sub("", lower_text(plain)).strip()
            is_open = _open().fullmatch(word) is not None
            is_loud = plain.isupper() or _EMPHASISED.fullmatch(part.strip()) is not None
            yield _StatedPart(
                plain,
                start + part.index(plain),
                _spell(plain),
                says_finished(plain),
                is_open,
                is_alone=is_loud or (is_begun and is_ended),
            )
        start = match.end() if match else start
        is_begun = is_next
    if _UNTICKED.match(entry.text):
        yield _StatedPart("[ ]", -1, "", is_finished=False, is_open=True, is_alone=True)


def _find_given(
    parts: Sequence[_StatedPart], status: str, known: Container[str], of_page: str
) -> _StatedPart | None:
    """Return the other status that the parts of an entry give; None where they give none, or the
    same. A word for open work is none beside the status `of_page`.
    """
    own, is_finished = _spell(status), _is_finished(status)
    if any(it.spelled == own or (is_finished and it.is_finished) for it in parts):
        return None
    is_value = _is_value(status)
    for part in (it for it in parts if it.is_alone):
        is_open = is_finished and part.is_open and own != of_page
        if is_open or (is_value and part.spelled in known):
            return part
    return None


_is_finished = lru_cache(maxsize=1 << 10)(says_finished)


def _has_tag(note: Note, given: str) -> bool:
    """Return whether another field of a note has what an entry gives: it is no status, but a tag or
    a kind.
    """
    values = (it for key, it in note.frontmatter.fields.items() if key != _FIELD)
    several = chain.from_iterable(it if isinstance(it, list | tuple) else (it,) for it in values)
    return _spell(given) in {_spell(it) for it in several if isinstance(it, str)}


def _correct(file: Note, entry: Entry, given: _StatedPart, status: str) -> Fix | None:
    """Return the fix that gives an entry the status of its note; None where the entry says that the
    work is finished, and the note may be the one that was forgotten.
    """
    if given.is_finished:
        return None
    if given.column < 0:
        label, corrected = "tick the box", entry.text.replace("[ ]", "[x]", 1)
    else:
        behind = entry.text[given.column + len(given.text) :]
        label = f"write “{status}” into the entry"
        corrected = f"{entry.text[: given.column]}{status}{behind}"
    return Fix(label, (EditLine(file.path, entry.line, entry.text, corrected),))


def _is_value(status: str) -> bool:
    """Return whether a status is one of a few words, not a sentence or a number."""
    return len(status) <= _LONGEST and not any(map(str.isdigit, status))


@lru_cache(maxsize=1 << 10)
def _spell(status: str) -> str:
    """Return a status in lower case without emphasis, signs and blanks: `In Progress` and
    `in-progress` are one.
    """
    plain = _MARKUP.sub("", lower_text(status)).strip(" -_")
    return plain.replace("_", "-").replace(" ", "-")


@cache
def _open() -> re.Pattern[str]:
    """Return the pattern of a word for work that is not finished."""
    parts = ("unbuilt", "coming", "begun", "deferred")
    return re.compile(
        build_alternation(text for part in parts for text in list_expressions("status", part))
    )
