"""The statuses that lists of notes give, beside those that the notes themselves state."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping
from functools import cache
from itertools import chain
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
_PART = compile_lazily(r"[^—–·•|,;:()\[\]/<>]+?(?=\s*(?:[—–·•|,;:()\[\]/<>]|\s-\s|\.(?:\s|$)|$))")
"""A part of a line, up to what separates it from the next one."""
_MARKUP = compile_lazily(r"[^\w\s-]+")
_UNTICKED = compile_lazily(r"\s*[-*+]\s+\[ \]\s")
_LONGEST = 30
"""Characters of a value that is one of a few, not a sentence."""


class _Given(NamedTuple):
    """The status that an entry gives of its note."""

    text: str
    column: int
    """Where it is in the line; -1 for a box that is not ticked."""


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
    known = {_spell(it) for it in stated.values() if _is_value(it)}
    lists = {path for it in stated for path in memory.backlinks.get(it, ())}
    for path in sorted(lists):
        file = memory.by_path[path]
        if file.role in _LISTS and path not in left_out:
            yield from _judge_list(memory, file, stated, known)


def _judge_list(
    memory: Memory, file: Note, stated: Mapping[str, str], known: Container[str]
) -> Iterator[RuleResult]:
    targets = {
        it.link.start: it.path for it in memory.links.get(file.path, ()) if it.path in stated
    }
    entries = read_index(file).entries
    counts = Counter(entry.line for entry in entries)
    for entry in entries:
        path = targets.get(entry.link.start, "")
        # the words of a line with several links may be of any of them
        if not path or path == file.path or entry.form is EntryForm.PROSE or counts[entry.line] > 1:
            continue
        note, status = memory.by_path[path], stated[path]
        given = _find_given(entry, status, known)
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
            origin=f"{file.path}: statuses",
        )


def _find_given(entry: Entry, status: str, known: Container[str]) -> _Given | None:
    """Return the other status that an entry gives; None where it gives none, or the same."""
    own, is_finished = _spell(status), says_finished(status)
    start = entry.text.rfind(entry.hook)
    found: _Given | None = None
    for match in _PART.finditer(entry.text, start) if entry.hook else ():
        spelled = _spell(match[0])
        if spelled == own or (is_finished and says_finished(match[0].strip())):
            return None
        is_other = spelled in known and _is_value(status)
        is_open = is_finished and _open().fullmatch(_MARKUP.sub("", lower_text(match[0])).strip())
        if found is None and (is_other or is_open):
            text = match[0].strip(" *_`~")
            found = _Given(text, entry.text.index(text, match.start()))
    if found is None and is_finished and _UNTICKED.match(entry.text):
        found = _Given("[ ]", -1)
    return found


def _has_tag(note: Note, given: str) -> bool:
    """Return whether another field of a note has what an entry gives: it is no status, but a tag or
    a kind.
    """
    values = (it for key, it in note.frontmatter.fields.items() if key != _FIELD)
    several = chain.from_iterable(it if isinstance(it, list | tuple) else (it,) for it in values)
    return _spell(given) in {_spell(it) for it in several if isinstance(it, str)}


def _correct(file: Note, entry: Entry, given: _Given, status: str) -> Fix | None:
    """Return the fix that gives an entry the status of its note; None where the entry says that the
    work is finished, and the note may be the one that was forgotten.
    """
    if says_finished(given.text):
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
