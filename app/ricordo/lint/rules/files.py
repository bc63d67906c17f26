"""Rules on the file of a note: size, content, encoding and name."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from ricordo.lint.finding import Fix, Severity
from ricordo.lint.rule import RuleContext, RuleResult, memory_rule, note_rule
from ricordo.memory.change import Convert, Retire
from ricordo.memory.layout import FileRole
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note, ReadError, decode_other_encoding
from ricordo.patterns import compile_lazily

NOTES = frozenset((FileRole.NOTE,))

_PLACEHOLDER = compile_lazily(
    r"^\s*(?:#{1,6}\s.*|(?:[-*+]\s*)?(?:TODO|TBD|FIXME|XXX|WIP|\.{3}|…|-+)[.:!]?)?\s*$",
    re.IGNORECASE,
)
_LOUD = 2
"""Times the limit from which a long note may be a warning."""
_TIMES_USUAL = 3
"""Times the median size of the memory's notes from which it is."""
_SHOWN = 5
"""Notes of one name that are listed."""
_SHORT = 400
"""Characters; a longer body is never empty."""


@note_rule("oversized-note", Severity.WARNING, "a note longer than 8 KB", roles=NOTES)
def oversized_note(note: Note, context: RuleContext) -> Iterator[RuleResult]:
    """Find notes that cost an agent much to read; one that is no longer than others of its memory,
    and a page of a wiki, is worth knowing, no more.
    """
    most = context.thresholds["oversized-note.bytes"]
    if note.facts.size > most:
        loud = max(_LOUD * most, _TIMES_USUAL * context.conventions.usual_size)
        # rounded up, or a size just over the limit would read as the limit
        kilobytes = math.ceil(note.facts.size / 102.4) / 10
        size = f"{kilobytes:,.1f} KB, limit {most / 1024:g} KB"
        message = f"“{note.name}” is too long: {size}."
        is_loud = note.facts.size > loud and not context.layout.has_own_conventions
        at_most = Severity.WARNING if is_loud else Severity.INFO
        yield RuleResult(0, message, note.path, at_most=at_most)


@note_rule("empty-note", Severity.WARNING, "a note without text")
def empty_note(note: Note, context: RuleContext) -> Iterator[RuleResult]:
    """Find notes with nothing but frontmatter, headings or placeholders."""
    start = 0 if note.role is FileRole.SOURCE else note.frontmatter.end
    if note.read_error or len(note.text) - start > _SHORT:
        return
    body = note.text[start:]
    if all(_PLACEHOLDER.match(line) for line in body.split("\n")):
        yield RuleResult(
            0,
            f"“{note.name}” has no text.",
            body.strip(),
            (body.strip(),) * bool(body.strip()),
            fix=Fix("retire the note", (Retire(note.path),)),
        )


@memory_rule(
    "unreadable-note",
    Severity.ERROR,
    "a file that cannot be read: not UTF-8, binary, no permission, not a plain file",
)
def unreadable_note(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Find files whose text cannot be read as it is, and broken symbolic links."""
    for file in memory.files:
        if _hides_text(file):
            yield _unreadable(file.path, file.read_error.value, _fix(file))
    for item in memory.skipped:
        if not item.is_live_link:
            yield _unreadable(item.path, item.reason)


def _naming(memory: Memory, context: RuleContext) -> tuple[object, ...]:
    return memory.names, [bool(note.frontmatter.fields) for note in memory.notes]


@memory_rule("duplicate-name", Severity.WARNING, "two notes with the same name", depends_on=_naming)
def duplicate_name(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Find names of several notes, of which a link by name reaches only one: one finding a name."""
    by_name: dict[str, list[Note]] = {}
    for note in memory.notes:
        if note.role is FileRole.NOTE:
            by_name.setdefault(note.name.strip(), []).append(note)
    for notes in by_name.values():
        if len(notes) < 2 or not any(note.frontmatter.fields for note in notes):
            continue
        first, second, *others = notes
        if others:
            message = f"Name “{second.name}” is used by {len(notes):,} notes."
        else:
            message = f"Name “{second.name}” is already used by {first.path}."
        paths = tuple(note.path for note in notes[:_SHOWN])
        more = (f"and {len(notes) - _SHOWN:,} more",) * (len(notes) > _SHOWN)
        yield RuleResult(0, message, second.name, (*paths, *more), second.path)


def _unreadable(path: str, reason: str, fix: Fix | None = None) -> RuleResult:
    return RuleResult(0, f"{path} cannot be read: {reason}.", reason, (), path, fix=fix)


def _fix(file: Note) -> Fix | None:
    if decode_other_encoding(file) is None:
        return None
    return Fix("convert the file to UTF-8", (Convert(file.path),))


def _hides_text(file: Note) -> bool:
    return bool(file.read_error) and file.read_error is not ReadError.TOO_LARGE
