"""Rules on the frontmatter of a note."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from ricordo.lint.finding import Fix, Severity
from ricordo.lint.fixes.frontmatter import (
    find_second_head,
    give_fields,
    join_heads,
    quote_value,
    spell_type,
)
from ricordo.lint.prose import head_line
from ricordo.lint.rule import RuleContext, RuleResult, memory_rule, note_rule
from ricordo.memory.layout import FileRole
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note

NOTES = frozenset((FileRole.NOTE,))
SOURCE_TYPES = frozenset(("articles", "papers", "repos", "notes", "data"))
PAGE_TYPES = frozenset(("sources", "entities", "concepts", "syntheses"))


@note_rule("frontmatter-missing", Severity.WARNING, "a note without frontmatter", roles=NOTES)
def frontmatter_missing(note: Note, context: RuleContext) -> Iterator[RuleResult]:
    """Notes without a head where the agent looks for one."""
    if not context.layout.heads_expected or note.head.present or note.head.fault:
        return
    if note.readable and note.text.strip():
        first = note.text.strip().partition("\n")[0]
        message = f"“{note.name}” has no frontmatter."
        yield RuleResult(1, message, note.path, (first,), fix=_new_head(note, context))


@note_rule("frontmatter-invalid", Severity.ERROR, "frontmatter that strict YAML refuses")
def frontmatter_invalid(note: Note, context: RuleContext) -> Iterator[RuleResult]:
    """Heads that are read leniently only."""
    fault = note.head.fault
    if fault is None:
        return
    lines = note.text.split("\n", fault.line)
    quoted = lines[fault.line - 1].rstrip("\r") if len(lines) >= fault.line else ""
    message = f"The frontmatter is not valid YAML: {fault.message}."
    cause = f"{fault.message}\n{quoted}"
    yield RuleResult(fault.line, message, cause, (quoted,), fix=quote_value(note))


@note_rule("frontmatter-incomplete", Severity.WARNING, "no name, description or type", roles=NOTES)
def frontmatter_incomplete(note: Note, context: RuleContext) -> Iterator[RuleResult]:
    """Heads that lack a field which the agent chooses notes by."""
    if not note.head.present or note.head.fault:
        return
    missing = [field for field in context.layout.required if not _given(note, field, context)]
    if missing:
        message = f"The frontmatter gives no {' and no '.join(missing)}."
        fix = give_fields(note, missing, context.layout)
        yield RuleResult(1, message, ", ".join(missing), fix=fix)


@note_rule("frontmatter-twice", Severity.WARNING, "a second frontmatter right behind the first")
def frontmatter_twice(note: Note, context: RuleContext) -> Iterator[RuleResult]:
    """Second blocks, which agents take for text: a program did not see the first one."""
    second = find_second_head(note, context.layout)
    if second is None:
        return
    line = note.line_of(second.start)
    fields = ", ".join(second.head.fields)
    message = "A second frontmatter stands behind the first; agents read it as text."
    yield RuleResult(line, message, fields, (fields,), fix=join_heads(note, second))


@memory_rule("unknown-type", Severity.WARNING, "a type that the kind of memory does not know")
def unknown_type(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Types that are none of the agent's; in a wiki, types that break its own convention."""
    for notes, known in _typed_alike(memory):
        for note in notes:
            given = _type_of(memory, note)
            if given and not _names_one(given, known):
                message = f"The type “{given}” is none of {', '.join(sorted(known))}."
                where = head_line(note, "type")
                fix = spell_type(note, given, known, memory.layout.type_keys)
                yield RuleResult(where, message, given, (f"type: {given}",), note.path, fix)


def _new_head(note: Note, context: RuleContext) -> Fix | None:
    """A head with all that the agent asks for, else with what can be told."""
    fields = dict.fromkeys(("name", "description", *context.layout.required))
    return give_fields(note, list(fields), context.layout) or give_fields(
        note, ["name", "description"], context.layout
    )


def _typed_alike(memory: Memory) -> Iterator[tuple[list[Note], frozenset[str]]]:
    """The notes that share a set of types, and that set."""
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
        if _half_follow(memory, notes, known):
            yield notes, known


def _half_follow(memory: Memory, notes: list[Note], known: frozenset[str]) -> bool:
    """Whether a wiki names its types by its folders: at least half of them."""
    given = [given for note in notes if (given := _type_of(memory, note))]
    return sum(_names_one(one, known) for one in given) * 2 >= len(given)


def _type_of(memory: Memory, note: Note) -> str:
    return note.head.scalar("type") if memory.layout.has_own_conventions else note.type


@lru_cache(maxsize=1024)
def _names_one(given: str, known: frozenset[str]) -> bool:
    """Whether `given` is one of `known`, singular and plural alike."""
    plain = given.strip().lower()
    return not known.isdisjoint((plain, plain + "s", plain + "es", _plural(plain), plain[:-1]))


def _plural(word: str) -> str:
    """Return the plural of a word in -y or -is."""
    return word[:-1] + "ies" if word.endswith("y") else word[:-2] + "es"


def _given(note: Note, field: str, context: RuleContext) -> bool:
    if field in ("description", "type") and getattr(note, field).strip():
        return True
    if field == "type" and note.head.scalar("pinned"):
        # lessons that an agent pins or not have no type
        return True
    keys = context.layout.keys_of(field)
    return bool(note.head.first(keys).strip()) or any(note.head.scalar(key).strip() for key in keys)


def _folders_in(folder: str, memory: Memory) -> frozenset[str]:
    """The names of the folders in `folder` that hold a note, in lower case."""
    depth = folder.count("/") + 1
    inside = (file.path for file in memory.files if file.path.startswith(folder + "/"))
    return frozenset(path.split("/")[depth].lower() for path in inside if path.count("/") > depth)
