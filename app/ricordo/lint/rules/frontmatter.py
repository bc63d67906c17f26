"""Rules on the frontmatter of a note."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from ricordo.lint.conventions import (
    FRONTMATTER,
    find_missing_fields,
    find_unmet_demands,
)
from ricordo.lint.finding import Fix, Severity
from ricordo.lint.fixes.frontmatter import (
    find_cut_value,
    find_second_frontmatter,
    fix_cut_value,
    fix_invalid_yaml,
    fix_missing_fields,
    fix_second_frontmatter,
    fix_unknown_type,
)
from ricordo.lint.prose import find_field_line
from ricordo.lint.rule import RuleContext, RuleResult, memory_rule, note_rule
from ricordo.memory.layout import FileRole
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note

NOTES = frozenset((FileRole.NOTE,))
SOURCE_TYPES = frozenset(("articles", "papers", "repos", "notes", "data"))
_FEWEST_OF_A_TYPE = 3
"""Notes of one type from which it is no slip."""
PAGE_TYPES = frozenset(("sources", "entities", "concepts", "syntheses"))


@note_rule("frontmatter-missing", Severity.WARNING, "a note without frontmatter", roles=NOTES)
def frontmatter_missing(note: Note, context: RuleContext) -> Iterator[RuleResult]:
    """Find notes without frontmatter where the agent expects it and nearly all others have it."""
    if (
        not (
            context.layout.expects_frontmatter
            and context.conventions.expects(FRONTMATTER, note.path)
        )
        or note.frontmatter.is_present
        or note.frontmatter.error
    ):
        return
    if note.is_readable and note.text.strip():
        first = note.text.strip().partition("\n")[0]
        message = f"“{note.name}” has no frontmatter."
        yield RuleResult(1, message, note.path, (first,), fix=_add_frontmatter(note, context))


@note_rule("frontmatter-invalid", Severity.ERROR, "frontmatter that is not valid YAML")
def frontmatter_invalid(note: Note, context: RuleContext) -> Iterator[RuleResult]:
    """Find frontmatter that only a lenient parser can read; no agent reads that of a wiki or of a
    plain folder with another one. A text that YAML cuts off is valid, but not what was written.
    """
    fault = note.frontmatter.error
    if fault is None:
        number, key = find_cut_value(note)
        if number:
            written = note.text.split("\n")[number - 1].strip()
            message = f"YAML ends the {key} at “ #”: put it in quotes."
            fix = fix_cut_value(note)
            yield RuleResult(
                number, message, written, (written,), fix=fix, at_most=Severity.WARNING
            )
        return
    lines = note.text.split("\n", fault.line)
    quoted = lines[fault.line - 1].rstrip("\r") if len(lines) >= fault.line else ""
    message = f"Invalid YAML in the frontmatter: {fault.message}."
    cause = f"{fault.message}\n{quoted}"
    is_parsed = not (context.layout.has_own_conventions or context.layout.is_plain)
    yield RuleResult(
        fault.line,
        message,
        cause,
        (quoted,),
        fix=fix_invalid_yaml(note),
        at_most=Severity.ERROR if is_parsed else Severity.WARNING,
    )


@note_rule(
    "frontmatter-incomplete",
    Severity.WARNING,
    "frontmatter without name, description or type",
    roles=NOTES,
)
def frontmatter_incomplete(note: Note, context: RuleContext) -> Iterator[RuleResult]:
    """Find frontmatter that lacks a field by which the agent chooses notes, and which nearly all
    other notes have, or one that the schema of the memory demands.
    """
    if not note.frontmatter.is_present or note.frontmatter.error:
        return
    conventions = context.conventions
    lacks = find_missing_fields(note, context.layout)
    missing = [field for field in lacks if conventions.expects(field, note.path)]
    demanded = find_unmet_demands(note, context.layout, conventions)
    if missing or demanded:
        fields = ", ".join((*missing, *demanded))
        message = f"Missing in the frontmatter: {fields}."
        fix = (
            fix_missing_fields(note, missing, context.layout, conventions) if not demanded else None
        )
        why = (
            (f"{conventions.schema} demands: {', '.join(demanded)}",) if conventions.schema else ()
        )
        yield RuleResult(1, message, fields, why * bool(demanded), fix=fix)


@note_rule(
    "frontmatter-twice", Severity.WARNING, "a second frontmatter block right after the first"
)
def frontmatter_twice(note: Note, context: RuleContext) -> Iterator[RuleResult]:
    """Find second blocks, written by a program that did not see the first one."""
    second = find_second_frontmatter(note, context.layout)
    if second is None:
        return
    line = note.line_of(second.start)
    fields = ", ".join(second.frontmatter.fields)
    message = "Second frontmatter block: agents read it as text."
    yield RuleResult(line, message, fields, (fields,), fix=fix_second_frontmatter(note, second))


@memory_rule("unknown-type", Severity.WARNING, "a type that this kind of memory does not know")
def unknown_type(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Find types that the agent does not know; in a wiki, types that break its convention. A type
    that several notes have is one of the memory.
    """
    for note, known in find_unknown_types(memory):
        given = _type_of(memory, note)
        message = f"Unknown type “{given}”; known: {', '.join(sorted(known))}."
        where = find_field_line(note, "type")
        fix = fix_unknown_type(note, given, known, memory.layout.type_keys)
        yield RuleResult(where, message, given, (f"type: {given}",), note.path, fix)


def find_unknown_types(memory: Memory) -> Iterator[tuple[Note, frozenset[str]]]:
    """Yield the notes whose type the memory does not know, each with the types that it knows."""
    for notes, known in _group_by_types(memory):
        counts = Counter(_type_of(memory, note).strip().lower() for note in notes)
        own = frozenset(given for given, count in counts.items() if count >= _FEWEST_OF_A_TYPE)
        for note in notes:
            given = _type_of(memory, note)
            if given and given.strip().lower() not in own and not _is_known(given, known):
                yield note, known


def _add_frontmatter(note: Note, context: RuleContext) -> Fix | None:
    """Return the fix that adds all fields the agent expects, else name and description alone."""
    fields = dict.fromkeys(("name", "description", *context.layout.required))
    layout, conventions = context.layout, context.conventions
    return fix_missing_fields(note, list(fields), layout, conventions) or fix_missing_fields(
        note, ["name", "description"], layout, conventions
    )


def _group_by_types(memory: Memory) -> Iterator[tuple[list[Note], frozenset[str]]]:
    """Yield the notes that share a set of known types, and that set."""
    if not memory.layout.has_own_conventions:
        if memory.layout.types:
            yield list(memory.notes), memory.layout.types
        return
    folder = memory.layout.page_folder
    sources = SOURCE_TYPES | _folders_in(memory.layout.source_folder, memory)
    pages = PAGE_TYPES | _folders_in(folder, memory)
    for notes, known in (
        ([note for note in memory.notes if note.role is FileRole.SOURCE], sources),
        ([note for note in memory.notes if note.path.startswith(folder + "/")], pages),
    ):
        if _is_convention(memory, notes, known):
            yield notes, known


def _is_convention(memory: Memory, notes: list[Note], known: frozenset[str]) -> bool:
    """Return whether at least half of the given types of `notes` are `known`."""
    given = [given for note in notes if (given := _type_of(memory, note))]
    return sum(_is_known(one, known) for one in given) * 2 >= len(given)


def _type_of(memory: Memory, note: Note) -> str:
    return note.frontmatter.get_text("type") if memory.layout.has_own_conventions else note.type


@lru_cache(maxsize=1024)
def _is_known(given: str, known: frozenset[str]) -> bool:
    """Return whether `given` is one of `known`, in the singular or plural."""
    plain = given.strip().lower()
    return not known.isdisjoint((plain, plain + "s", plain + "es", _plural(plain), plain[:-1]))


def _plural(word: str) -> str:
    """Return the plural of a word in -y or -is."""
    return word[:-1] + "ies" if word.endswith("y") else word[:-2] + "es"


def _folders_in(folder: str, memory: Memory) -> frozenset[str]:
    """Return the lower-case names of the folders in `folder` that contain a note."""
    depth = folder.count("/") + 1
    inside = (file.path for file in memory.files if file.path.startswith(folder + "/"))
    return frozenset(path.split("/")[depth].lower() for path in inside if path.count("/") > depth)
