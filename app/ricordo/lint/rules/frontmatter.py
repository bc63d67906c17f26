"""Rules on the frontmatter of a note."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache

from ricordo.dates import find_day_in_title
from ricordo.lint.archive import is_superseded
from ricordo.lint.claims.note_status import is_log
from ricordo.lint.contradictions.repeats import is_generated
from ricordo.lint.conventions import (
    FRONTMATTER,
    SCHEMA_FILES,
    find_missing_fields,
    find_unmet_demands,
    read_schema,
)
from ricordo.lint.evidence import MOST_QUOTED
from ricordo.lint.finding import Fix, Severity
from ricordo.lint.fixes.frontmatter import (
    COMMON_FIELDS,
    find_covered_frontmatter,
    find_cut_value,
    find_meant_type,
    find_second_frontmatter,
    fix_covered_frontmatter,
    fix_cut_value,
    fix_invalid_yaml,
    fix_missing_fields,
    fix_second_frontmatter,
    fix_unknown_type,
    guess_type,
)
from ricordo.lint.prose import find_field_line
from ricordo.lint.rule import RuleContext, RuleResult, memory_rule, note_rule
from ricordo.lint.rules.missing_entries import NamingText, split_name
from ricordo.memory.frontmatter.parser import read_with_quotes
from ricordo.memory.layout import FileRole, Layout
from ricordo.memory.memory import Memory
from ricordo.memory.names import fold_name, list_number_forms
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily

NOTES = frozenset((FileRole.NOTE,))
_FIELD = compile_lazily(r"[ \t]*(?:- )?([\w.-]+)[ \t]*:")
"""The beginning of a line of a field, with its name."""
_FEWEST_TO_SHOW = 3
"""Records of days in a folder, or notes that are alone in theirs, from which on they show how such
files are written.
"""
_SHARE_TO_SHOW = 0.8
"""The part of them that has frontmatter where it is usual."""
_FEWEST_COPIES = 3
"""Notes with the same text above their frontmatter from which on a program put it there."""
_FEWEST_WORDS = 3
"""Words of an entry that describe its note."""
_FEWEST_OF_A_TYPE = 3
"""Notes of one type from which it is no slip."""


@memory_rule("frontmatter-missing", Severity.WARNING, "a note without frontmatter")
def frontmatter_missing(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Find notes without frontmatter where the agent expects it and nearly all others have it, and
    those in which something is above it, or which are in a code block as a whole, so that no agent
    takes it for one. A file that says what frontmatter the others need is no note, and one that the
    index does not list, such as a log, may be none; so may the record of a day in a folder where
    more than a fifth of such records have none, a file that is alone in its folder, what a program
    writes, and what is kept as history. Where agents choose notes by the index, one that it
    describes lacks nothing.
    """
    if not context.layout.expects_frontmatter:
        return
    plain_days = _find_plain_days(memory)
    lone = _find_lone(memory)
    notes = [it for it in memory.notes if _lacks_frontmatter(it)]
    inner = {it.path: find_covered_frontmatter(it, context.layout) for it in notes}
    covers = Counter(it.text[: of.start].strip() for it in notes if (of := inner[it.path]))
    for note in notes:
        if covered := inner[note.path]:
            line, fields = note.line_of(covered.start), ", ".join(covered.frontmatter.fields)
            message = f"Frontmatter on line {line}: agents look for it on line 1."
            if covered.is_in_code:
                message = "The whole note is in a code block, its frontmatter too."
            fix = fix_covered_frontmatter(note, covered)
            cover = "" if covered.is_in_code else note.text[: covered.start].strip()
            # what a program put above it, it puts there again
            is_made = is_generated(note) or (cover and covers[cover] >= _FEWEST_COPIES)
            at_most = Severity.INFO if is_made else Severity.WARNING
            result = RuleResult(line, message, note.path, (fields,), note.path, fix)
            origin = "code block" if covered.is_in_code else ""
            yield result._replace(at_most=at_most, origin=origin)
        elif context.conventions.expects(FRONTMATTER, note.path) and not _is_schema(note, memory):
            folder = note.path.rpartition("/")[0]
            is_day = find_day_in_title(note.stem) and folder in plain_days
            # nobody opens a log that no index lists
            is_apart = is_log(note) and note.path not in memory.entries
            is_read = not (is_day or is_apart or is_generated(note) or is_superseded(note))
            is_note = is_read and (not memory.entries or _is_placed(note, memory))
            is_shown = context.layout.chooses_by_index and _is_described(note, memory)
            is_wanted = is_note and folder not in lone and not is_shown
            message = f"“{note.name}” has no frontmatter."
            yield RuleResult(
                1,
                message,
                note.path,
                (note.text.strip().partition("\n")[0],),
                note.path,
                _add_frontmatter(note, context),
                at_most=Severity.WARNING if is_wanted else Severity.INFO,
            )


@note_rule(
    "frontmatter-invalid",
    Severity.ERROR,
    "frontmatter that is not valid YAML, or that YAML cuts short",
)
def frontmatter_invalid(note: Note, context: RuleContext) -> Iterator[RuleResult]:
    """Find frontmatter that only a lenient parser can read; no agent reads that of a wiki or of a
    plain folder with another one. It harms nobody where the agent that keeps the memory reads it
    all the same. A text that YAML cuts off is valid, but not what was written; that matters in the
    fields by which agents and programs choose notes. Raw sources, which nobody edits, are found by
    the pages about them.
    """
    fault = note.frontmatter.error
    if fault is None:
        number, key = find_cut_value(note)
        if number:
            written = note.text.split("\n")[number - 1].strip()
            message = f"YAML ends the {key} at “ #”: put it in quotes."
            fix = fix_cut_value(note)
            used = {*context.layout.keys, *context.conventions.demanded, *COMMON_FIELDS}
            is_used = key in used and note.role is not FileRole.SOURCE
            at_most = Severity.WARNING if is_used else Severity.INFO
            yield RuleResult(number, message, written, (written,), fix=fix, at_most=at_most)
        return
    lines = note.text.split("\n", fault.line)
    quoted = lines[fault.line - 1].rstrip("\r") if len(lines) >= fault.line else ""
    message = f"Invalid YAML in the frontmatter: {fault.message}."
    cause = f"{fault.message}\n{quoted}"
    # what is written that way in one field was written so by one hand or program
    field = _FIELD.match(quoted)
    is_parsed = not (context.layout.has_own_conventions or context.layout.is_plain)
    at_most = Severity.ERROR if is_parsed else Severity.WARNING
    is_reread = context.layout.rereads_with_quotes and _is_read_with_quotes(note)
    evidence = [quoted[:MOST_QUOTED]]
    if is_reread:
        evidence.append(
            f"{context.layout.agent} reads such values as if in quotes; other programs may not"
        )
    yield RuleResult(
        fault.line,
        message,
        cause,
        tuple(evidence),
        fix=fix_invalid_yaml(note),
        at_most=Severity.INFO if is_reread or note.role is FileRole.SOURCE else at_most,
        origin=f"{field[1]}: {fault.message}" if field else "",
    )


def _is_read_with_quotes(note: Note) -> bool:
    """Return whether frontmatter with a fault has the same keys with its values in quotes; of the
    values the lenient reader knows less, as it decodes no escapes.
    """
    head = read_with_quotes(note.text[: note.frontmatter.end])
    is_whole = head.fields.keys() == note.frontmatter.fields.keys()
    return head.is_present and not head.error and is_whole


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
        # a schema rarely says of which pages it demands a field
        is_chosen_by = bool(missing) and not context.layout.has_own_conventions
        is_needed = is_chosen_by and not _has_own_form(note, context.layout)
        at_most = Severity.WARNING if is_needed else Severity.INFO
        yield RuleResult(1, message, fields, why * bool(demanded), fix=fix, at_most=at_most)


@note_rule(
    "frontmatter-twice", Severity.WARNING, "a second frontmatter block right after the first"
)
def frontmatter_twice(note: Note, context: RuleContext) -> Iterator[RuleResult]:
    """Find second blocks, written by a program that did not see the first one. Around a raw source
    one was put on purpose.
    """
    second = find_second_frontmatter(note, context.layout)
    if second is None:
        return
    line = note.line_of(second.start)
    fields = ", ".join(second.frontmatter.fields)
    message = "Second frontmatter block: agents read it as text."
    at_most = Severity.INFO if note.role is FileRole.SOURCE else Severity.ERROR
    fix = fix_second_frontmatter(note, second)
    yield RuleResult(line, message, fields, (fields,), fix=fix, at_most=at_most)


@memory_rule("unknown-type", Severity.WARNING, "a type that this kind of memory does not know")
def unknown_type(memory: Memory, context: RuleContext) -> Iterator[RuleResult]:
    """Find types that are misspelt, and types that the agent does not know, which say nothing to it
    but do no harm. A type that several notes have is one of the memory.
    """
    for note, known in find_unknown_types(memory):
        given = _type_of(memory, note)
        message = f"Unknown type “{given}”; known: {', '.join(sorted(known))}."
        where = find_field_line(note, "type")
        fix = fix_unknown_type(note, given, known, memory.layout.type_keys)
        at_most = Severity.WARNING if find_meant_type(given, known) else Severity.INFO
        evidence = (f"type: {given}",)
        yield RuleResult(where, message, given, evidence, note.path, fix, at_most=at_most)


def find_unknown_types(memory: Memory) -> Iterator[tuple[Note, frozenset[str]]]:
    """Yield the notes whose type the memory does not know, each with the types that it knows: those
    of its kind and those that several notes have. Where the kind has none, any type may be new, and
    only a misspelt one is unknown: not one with other capitals, blanks or hyphens.
    """
    types = [(note, given) for note in memory.notes if (given := _type_of(memory, note).strip())]
    counts = Counter(given.lower() for _, given in types)
    own = {given for given, count in counts.items() if count >= _FEWEST_OF_A_TYPE}
    known = memory.layout.types | own
    is_open = not memory.layout.types
    folded = {fold_name(it) for it in known}
    for note, given in types:
        if _is_known(given, known) or (is_open and fold_name(given) in folded):
            continue
        if not is_open or find_meant_type(given, known):
            yield note, known


def _lacks_frontmatter(note: Note) -> bool:
    is_note = note.role is FileRole.NOTE and note.is_readable and bool(note.text.strip())
    return is_note and not note.frontmatter.is_present and not note.frontmatter.error


def _find_lone(memory: Memory) -> frozenset[str]:
    """Return the folders in which one note at most has frontmatter, so that none shows what is
    usual there: those with one note, unless nearly all such notes have frontmatter, and all such
    folders of a wiki. The top of another memory is none of them.
    """
    by_folder: dict[str, list[Note]] = {}
    for note in memory.notes:
        by_folder.setdefault(note.path.rpartition("/")[0], []).append(note)
    lone = {it for it, notes in by_folder.items() if it and len(notes) == 1}
    headed = sum(by_folder[it][0].frontmatter.is_present for it in lone)
    is_usual = headed >= _FEWEST_TO_SHOW and headed >= _SHARE_TO_SHOW * len(lone)
    bare = {
        it
        for it, notes in by_folder.items()
        if memory.layout.has_own_conventions
        and sum(note.frontmatter.is_present for note in notes) <= 1
    }
    return frozenset(bare - lone if is_usual else bare | lone)


def _is_described(note: Note, memory: Memory) -> bool:
    """Return whether an entry of an index says what a note is about."""
    entries = (entry for _, entry in memory.entries.get(note.path, ()))
    return any(len(split_name(entry.hook)) >= _FEWEST_WORDS for entry in entries)


def _find_plain_days(memory: Memory) -> set[str]:
    """Return the folders in which the records of days do without frontmatter: more than a fifth of
    them have none, or no file has any.
    """
    headed, days, headed_days = Counter[str](), Counter[str](), Counter[str]()
    for note in memory.notes:
        folder, is_headed = note.path.rpartition("/")[0], note.frontmatter.is_present
        headed[folder] += is_headed
        if find_day_in_title(note.stem):
            days[folder] += 1
            headed_days[folder] += is_headed
    return {
        folder
        for folder, count in days.items()
        if not headed[folder]
        or (count >= _FEWEST_TO_SHOW and headed_days[folder] < _SHARE_TO_SHOW * count)
    }


def _has_own_form(note: Note, layout: Layout) -> bool:
    """Return whether `note` has fields, but none of those by which agents choose notes, not even an
    empty one: that is the form of another kind of file.
    """
    fields = note.frontmatter.fields
    metadata = fields.get("metadata")
    nested = metadata if isinstance(metadata, Mapping) else {}
    return bool(fields) and layout.keys.isdisjoint((*fields, *nested))


def _is_schema(note: Note, memory: Memory) -> bool:
    """Return whether `note` says how the others are written, by its name, or because it demands
    frontmatter as agents need it.
    """
    if note.path.rpartition("/")[2] in SCHEMA_FILES:
        return True
    return len(read_schema(note.path, note.text).fields & memory.layout.keys) > 1


def _is_placed(note: Note, memory: Memory) -> bool:
    """Return whether an index names `note`, or its place or name says what kind of note it is."""
    return (
        note.path in memory.entries
        or "/" in note.path.removeprefix(f"{memory.layout.page_folder}/")
        or bool(guess_type(note, memory.layout.types))
        or any(NamingText(memory, index.note).names(note) for index in memory.indexes)
    )


def _add_frontmatter(note: Note, context: RuleContext) -> Fix | None:
    """Return the fix that adds all fields the agent expects, else name and description alone; none
    but the name that hardly any other note has.
    """
    layout, conventions = context.layout, context.conventions
    usual = [it for it in ("name", "description") if it == "name" or it not in conventions.unusual]
    fields = list(dict.fromkeys((*usual, *layout.required)))
    return fix_missing_fields(note, fields, layout, conventions) or fix_missing_fields(
        note, usual, layout, conventions
    )


def _type_of(memory: Memory, note: Note) -> str:
    return note.frontmatter.get_text("type") if memory.layout.has_own_conventions else note.type


@lru_cache(maxsize=1024)
def _is_known(given: str, known: frozenset[str]) -> bool:
    """Return whether `given` is one of `known`, in the singular or plural."""
    return not known.isdisjoint(list_number_forms(given.strip().lower()))
