"""Rules on a note as a file, and on its name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ricordo.lint.finding import Fix, Severity
from ricordo.lint.rule import RuleContext, RuleResult, memory_rule, note_rule
from ricordo.memory.change import Convert, Retire
from ricordo.memory.layout import FileRole
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note, ReadError, text_of_other_encoding

NOTES = frozenset((FileRole.NOTE,))

_PLACEHOLDER = re.compile(
    r"^\s*(?:#{1,6}\s.*|(?:[-*+]\s*)?(?:TODO|TBD|FIXME|XXX|WIP|\.{3}|…|-+)[.:!]?)?\s*$",
    re.IGNORECASE,
)
_SHORT = 400
"""Characters; a longer body says something."""


@note_rule("oversized-note", Severity.WARNING, "a note over 8 KB", roles=NOTES)
def oversized_note(note: Note, context: RuleContext) -> Iterator[RuleResult]:
    """Notes that cost an agent much to read."""
    most = context.thresholds["oversized-note.bytes"]
    if note.facts.size > most:
        message = (
            f"“{note.name}” has {note.facts.size / 1024:,.1f} KB; {most / 1024:g} KB are plenty."
        )
        yield RuleResult(0, message, note.path)


@note_rule("empty-note", Severity.WARNING, "no body")
def empty_note(note: Note, context: RuleContext) -> Iterator[RuleResult]:
    """Notes of which nothing but a head, a heading or a placeholder is written."""
    start = 0 if note.role is FileRole.SOURCE else note.head.end
    if note.trouble or len(note.text) - start > _SHORT:
        return
    said = note.text[start:]
    if all(_PLACEHOLDER.match(line) for line in said.split("\n")):
        yield RuleResult(
            0,
            f"“{note.name}” has no text.",
            said.strip(),
            (said.strip(),) * bool(said.strip()),
            fix=Fix("retire the note", (Retire(note.path),)),
        )


@memory_rule(
    "unreadable-note", Severity.ERROR, "not UTF-8, binary, no permission, not a plain file"
)
def unreadable_note(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Files whose text cannot be had as it is, and links under which nothing is."""
    for file in memory.files:
        if _hides_text(file):
            yield _unreadable(file.path, file.trouble.value, _fix(file))
    for item in memory.skipped:
        if not item.is_live_link:
            yield _unreadable(item.path, item.reason)


def _naming(memory: Memory, context: RuleContext) -> tuple[object, ...]:
    return memory.names, [bool(note.head.fields) for note in memory.notes]


@memory_rule("duplicate-name", Severity.WARNING, "two notes with one name", rests_on=_naming)
def duplicate_name(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Notes that a head calls as another note is called; only one of them can be linked to."""
    first: dict[str, Note] = {}
    for note in memory.notes:
        if note.role is not FileRole.NOTE:
            continue
        other = first.setdefault(note.name.strip(), note)
        if other is not note and (note.head.fields or other.head.fields):
            message = f"“{note.name}” is also the name of {other.path}."
            yield RuleResult(0, message, note.name, (other.path, note.path), note.path)


def _unreadable(path: str, reason: str, fix: Fix | None = None) -> RuleResult:
    return RuleResult(0, f"{path} cannot be read: {reason}.", reason, (), path, fix=fix)


def _fix(file: Note) -> Fix | None:
    if text_of_other_encoding(file) is None:
        return None
    return Fix("write the same text in UTF-8", (Convert(file.path),))


def _hides_text(file: Note) -> bool:
    return bool(file.trouble) and file.trouble is not ReadError.TOO_LARGE
