"""Values that were corrected in one page of the project while a note still states the old one.

Git shows that a line had a value and has another one since, with the same words around it. A note
that has the old value with these words was forgotten. The pages of the memory count too: where one
note was corrected, the others that say the same are found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ricordo.dates import has_year
from ricordo.lint.claims.corrected_values import (
    FEWEST_WORDS,
    STEM_LENGTH,
    CorrectedValue,
    ValuePart,
    is_surely_of,
    list_values,
    list_words,
    split_parts,
)
from ricordo.lint.claims.passages import Passage, split_passages
from ricordo.lint.claims.project import Project
from ricordo.lint.evidence import CheckOutcome, ClaimKind, Verdict
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily

_FIELD = compile_lazily(
    r"[\s>*+|-]*[^\W_][^:：|.\n]{0,60}[:：|][\s*_]*(?P<value>[^\s*_|]+)[*_]*"
    r"(?:\s[^\s|(]{1,12})?[\s*_]*(?:[|(].*)?\Z"
)
"""A line with a label, its value, perhaps a unit, and a remark in brackets or other cells."""
_RANGE = compile_lazily("[–-]")
_SIGN = compile_lazily(r"[\W_]+")
_LONGEST = 2_000
"""Characters of a line; longer ones are data."""
_MOST_FILES = 40
_MOST_QUOTED = 120
_FEWEST_VALUES = 3
"""Values in the same words in other notes, from which on each note has its own."""


def find_corrected(note: Note, project: Project) -> Iterator[Verdict]:
    """Yield the verdicts on the values of a note that were corrected elsewhere since."""
    corrections = project.corrected_values
    lines = (it for it in note.text.split("\n") if any(map(corrections.has, list_values((it,)))))
    # few notes are near any, so that the others need not be split into passages again
    parts = (part for line in lines for part in split_parts(line))
    if not any(any(corrections.find(it, part)) for part in parts for it in part.values):
        return
    seen: set[tuple[int, str]] = set()
    for passage in split_passages(note):
        is_judged = any(map(corrections.has, list_values((passage.text,))))
        if not is_judged or passage.is_excluded or has_year(passage.text):
            continue
        for segment in split_parts(passage.text):
            for value in filter(corrections.has, dict.fromkeys(segment.values)):
                verdict = _judge(passage, segment, value, project)
                if verdict and (verdict.line, value) not in seen:
                    seen.add((verdict.line, value))
                    yield verdict


def _judge(passage: Passage, segment: ValuePart, value: str, project: Project) -> Verdict | None:
    near = [
        it
        for it in project.corrected_values.find(value, segment)
        if not project.is_of_memory(it.path)
        or (
            is_surely_of(segment, value, it)
            and not _is_field(passage, segment, value)
            and not _is_of_each_note(it, project)
        )
    ]
    places = [(place, it.commit) for it in near for place in _find_present(it, project)]
    new = {place.new for place, _ in places}
    known = {value, *list_values((passage.text,))}
    if len(new) != 1 or any(known & set(_RANGE.split(it)) for it in new):
        return None
    place, commit = places[0]
    is_unsure = passage.is_unsure(value, existed=True) or _is_name(value, near[0], project)
    if is_unsure or _is_still_said(near[0], project):
        return None
    before, _, behind = segment.text.partition(value)
    claim = before.rpartition("\n")[2].lstrip() + value + behind.partition("\n")[0].rstrip()
    evidence = (place.text, f"git: changed in {commit.summary}")
    problem = f"{value} is {place.new} now in {place.text.partition(': ')[0]}"
    return Verdict(
        claim,
        ClaimKind.VALUE,
        passage.line_at(segment.start + len(before)),
        CheckOutcome.CHANGED,
        evidence,
        problem=problem,
        existed=True,
    )


class _PresentValue(NamedTuple):
    """The present line of a corrected value."""

    new: str
    text: str
    """Path, line and text."""


def _find_present(correction: CorrectedValue, project: Project) -> Iterator[_PresentValue]:
    """Yield where the page has the words of the corrected value now, with its present value."""
    text = project.load_text(correction.path) if correction.path in project.tree.files else ""
    begins = [word[:STEM_LENGTH] for word in correction.words]
    for number, line in enumerate(text.split("\n"), 1):
        # few lines have the words, so that the others need not be read closely
        plain = line.lower() if len(line) <= _LONGEST else ""
        for segment in split_parts(line) if all(map(plain.__contains__, begins)) else ():
            if segment.words == correction.words and len(segment.values) > correction.at:
                new = segment.values[correction.at]
                quoted = line.strip()[:_MOST_QUOTED]
                yield _PresentValue(new, f"{correction.path}:{number}: {quoted}")


def _is_field(passage: Passage, segment: ValuePart, value: str) -> bool:
    """Return whether a value is that of a field, such as `**Depth:** 3 m`: it is one of the note or
    section that has the field, whatever another note has there.
    """
    begin = passage.text.rfind("\n", 0, segment.start) + 1
    line = passage.text[begin:].partition("\n")[0]
    field = _FIELD.match(line)
    return field is not None and field["value"] == value


def _is_of_each_note(correction: CorrectedValue, project: Project) -> bool:
    """Return whether several notes of the memory give a value in the words of a corrected one, each
    another: it is of what each of them is about, such as the number of its tests.
    """
    begins = [word[:STEM_LENGTH] for word in correction.words]
    values: set[str] = set()
    for path in filter(project.is_of_memory, project.tree.files):
        text = project.load_text(path) if path != correction.path else ""
        plain = text.lower()
        for line in text.split("\n") if all(map(plain.__contains__, begins)) else ():
            if all(map(line.lower().__contains__, begins)) and len(line) <= _LONGEST:
                values.update(
                    it.values[correction.at]
                    for it in split_parts(line)
                    if it.words == correction.words and len(it.values) > correction.at
                )
    return len(values) >= _FEWEST_VALUES


def _is_name(value: str, correction: CorrectedValue, project: Project) -> bool:
    """Return whether a note of the memory has the old value of what was corrected in its name, as a
    page about one release of several: the new one is another thing.
    """
    written = _SIGN.sub("-", value)
    of_value = re.compile(rf"(?<!\d){re.escape(written)}(?!\d)")
    stems = (_SIGN.sub("-", it.lower()) for it in project.memory_names)
    named = (it for it in stems if of_value.search(it))
    return any(word[:STEM_LENGTH] in it for it in named for word in correction.words)


def _is_still_said(correction: CorrectedValue, project: Project) -> bool:
    """Return whether a file of the project besides the memory still has the old value of what was
    corrected: it may be that of another case.
    """
    known = set(correction.words)
    for path in project.find_files(correction.old, _MOST_FILES):
        text = "" if project.is_of_memory(path) else project.load_text(path)
        for line in text.split("\n"):
            if correction.old in line and len(line) <= _LONGEST:
                said = correction.old in list_values((line,))
                if said and len(known.intersection(list_words(line))) >= FEWEST_WORDS:
                    return True
    return False
