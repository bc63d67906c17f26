"""The conventions of one memory: what its schema and the user's settings say of them, what was
learned, in words, and setting them.
"""

from __future__ import annotations

import os
import posixpath
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import tomli

from ricordo.agents.agent import MemoryPlace
from ricordo.errors import ChangeRefused, StateUnusable, WrongUsage
from ricordo.lint.conventions import (
    NO_SCHEMA,
    SCHEMA_FILES,
    Conventions,
    Corrections,
    Schema,
    TitleSource,
    list_fields,
    read_schema,
)
from ricordo.lint.prose import detect_language
from ricordo.memory.layout import FileRole
from ricordo.memory.memory import Memory
from ricordo.settings.settings import (
    ConventionSettings,
    Settings,
    find_settings_file,
    list_checks,
)
from ricordo.settings.source import (
    Value,
    find_key_lines,
    format_toml_key,
    format_toml_value,
)
from ricordo.settings.values import inner_folder
from ricordo.storage.foreign_file import read_plain_file
from ricordo.storage.state_file import replace_state_file
from ricordo.text import make_one_line

_MOST_SCHEMA = 256 * 1024
"""Bytes of a schema file that are read."""
_MOST_SETTINGS = 1024 * 1024
_MOST_SAMPLED = 60
"""Notes whose language is looked at."""
_SAMPLE = 600
"""Characters of each."""
LEARN = "learn"
"""The value that removes a setting, so that the convention is learned again."""


class ConventionLine(NamedTuple):
    """One convention in words."""

    name: str
    """The key that sets it; "" for one that cannot be set."""
    title: str
    value: str
    reason: str
    """Where it is from."""


def find_schema(memory: Memory, top: str) -> Schema:
    """Return what the nearest schema file demands that is in a wiki or above it, up to the folder
    `top`; memories of agents have none, for their agents know how to write them.
    """
    if not (memory.layout.has_own_conventions or memory.layout.is_plain):
        return NO_SCHEMA
    folder = memory.root
    while True:
        for name in SCHEMA_FILES:
            raw = read_plain_file(os.path.join(folder, name), _MOST_SCHEMA)
            schema = _read_schema(name, raw) if raw else NO_SCHEMA
            if schema.fields:
                return schema
        above = os.path.dirname(folder)
        if folder in (top, above):
            return NO_SCHEMA
        folder = above


@lru_cache(maxsize=8)
def _read_schema(name: str, raw: bytes) -> Schema:
    return read_schema(name, raw.decode("utf-8", "replace"))


def get_corrections(settings: Settings, root: str) -> Corrections:
    """Return the conventions that the user set for the memory at `root`."""
    own = settings.for_memory(root).conventions
    return Corrections(
        TitleSource(own.title) if own.title else None,
        frozenset(own.fields) if own.fields is not None else None,
        _read_folders(own.apart) if own.apart is not None else None,
    )


def _read_folders(written: Sequence[str]) -> tuple[str, ...]:
    """Return the folders of a memory, each with a `/` behind, that were set."""
    plain = (posixpath.normpath(it.strip()) for it in written if it.strip(" /"))
    return tuple(sorted(f"{it.strip('/')}/" for it in plain))


def correct_place(place: MemoryPlace, settings: Settings) -> MemoryPlace:
    """Return `place` with the prefixes of links, the folder of raw sources and the project that the
    user set for it.
    """
    own = settings.for_memory(place.root).conventions
    if own.prefixes is not None:
        place = replace(place, layout=replace(place.layout, link_prefixes=own.prefixes))
    if own.sources is not None:
        place = replace(place, layout=replace(place.layout, source_folder=own.sources))
    return place if own.project is None else replace(place, project=own.project)


_TITLES = {
    TitleSource.KEY: "a field of the frontmatter",
    TitleSource.HEADING: "the first heading",
    TitleSource.FILE: "the name of the file",
}


def list_conventions(
    memory: Memory, conventions: Conventions, place: MemoryPlace, settings: Settings
) -> list[ConventionLine]:
    """Return the conventions of `memory` in words."""
    own = settings.for_memory(place.root).conventions
    notes = [note for note in memory.notes if note.role is FileRole.NOTE and note.is_readable]
    headed = [note for note in notes if note.frontmatter.is_present]

    def explain(name: str, learned: str) -> str:
        given = getattr(own, name)
        return "set in the settings" if given not in ("", None) else learned

    fields = list_fields(conventions, memory.layout)
    demanded = f"; demanded by {conventions.schema}" if conventions.demanded else ""
    lines = [
        ConventionLine(
            "title",
            "the title of a note",
            _TITLES[conventions.title],
            explain("title", f"learned from {_count(len(notes), 'note')}"),
        ),
        ConventionLine(
            "fields",
            "fields that every note has",
            ", ".join(fields) or "none",
            explain("fields", f"{len(headed):,} of {len(notes):,} have frontmatter{demanded}"),
        ),
        ConventionLine(
            "prefixes",
            "beginnings of links that mean the memory",
            ", ".join(sorted(memory.names.prefixes)) or "none",
            explain(
                "prefixes",
                "nine of ten links that begin so lead to a note without it"
                if memory.names.prefixes
                else "no beginning of links was found that may be left out",
            ),
        ),
        ConventionLine(
            "apart",
            "folders of files that are no pages",
            ", ".join(conventions.apart) or "none",
            explain(
                "apart",
                "no index lists, and no page outside links to, what is in them"
                if conventions.apart
                else "no folder stands out as one that indexes and pages leave out",
            ),
        ),
        ConventionLine(
            "sources",
            "the folder of raw sources",
            memory.layout.source_folder or "none",
            explain("sources", "by the kind of the memory"),
        ),
        ConventionLine(
            "project",
            "the project that the notes speak of",
            make_one_line(place.project) or "none",
            explain("project", make_one_line(place.reason) or "by the place of the memory"),
        ),
    ]
    if memory.names.by_heading:
        lines.append(ConventionLine("", "links", "by the heading of a note too", "learned"))
    folders = Counter(note.path.partition("/")[0] if "/" in note.path else "." for note in notes)
    shown = ", ".join(f"{name} {number:,}" for name, number in folders.most_common(6))
    lines.append(ConventionLine("", "folders with notes", shown or "none", "counted"))
    languages = ", ".join(list_languages(memory)[:3])
    lines.append(ConventionLine("", "languages", languages or "not clear", "from a sample"))
    return lines


def list_languages(memory: Memory) -> list[str]:
    """Return the languages of the notes of a memory as two letters, the commonest first, from a
    sample.
    """
    notes = [note for note in memory.notes if note.role is FileRole.NOTE]
    step = max(1, len(notes) // _MOST_SAMPLED)
    found = Counter(detect_language(note.body[:_SAMPLE]) for note in notes[::step])
    return [name for name, _ in found.most_common() if name]


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def summarize_conventions(memory: Memory, conventions: Conventions) -> str:
    """Return what was learned of a memory that its kind does not have, as a sentence for the user
    to check; "" where there is nothing, or the user settled it.
    """
    layout, parts = memory.layout, []
    if conventions.title is not TitleSource.KEY and "name" in layout.required:
        keys = " or ".join(layout.title_keys)
        if "title" not in conventions.set_by_user:
            parts.append(f"notes need no field {keys}")
    if layout.link_prefixes is None and memory.names.prefixes:
        parts.append(f"links begin with {', '.join(sorted(memory.names.prefixes))}")
    if memory.names.by_heading:
        parts.append("links name headings")
    if conventions.apart and "apart" not in conventions.set_by_user:
        parts.append(f"files in {', '.join(conventions.apart)} are no pages")
    if conventions.demanded and "fields" not in conventions.set_by_user:
        fields = ", ".join(sorted(conventions.demanded))
        parts.append(f"{conventions.schema} demands {fields}")
    return "; ".join(parts)


def set_convention(config: str, settings: Settings, root: str, assignment: str) -> str:
    """Set one convention of the memory at `root` in the settings file of the directory `config`:
    `KEY=VALUE`, lists with commas, `learn` for what is learned. Return the file. Raises WrongUsage,
    ChangeRefused and StateUnusable.
    """
    key, sign, written = assignment.partition("=")
    key, written = key.strip(), written.strip()
    checks = list_checks(ConventionSettings)
    if not sign or key not in checks:
        name = make_one_line(key)
        raise WrongUsage(f"Unknown convention “{name}”.", hint=f"Known are {', '.join(checks)}.")
    value: Value | None = None
    if written != LEARN:
        is_list = key in ("fields", "prefixes", "apart")
        parts = [part.strip() for part in written.split(",") if part.strip()]
        value = checks[key].read(parts if is_list else written)
        if value is None:
            undo = f"`{key}={LEARN}` has it learned again."
            raise WrongUsage(f"{key}: {checks[key].message}", hint=undo)
        if key == "project" and written and not os.path.isdir(os.path.expanduser(written)):
            raise WrongUsage(f"project: {make_one_line(written)} is no folder.")
        for folder in parts if key in ("apart", "sources") else ():
            inside = inner_folder().read(folder)
            if not inside or not os.path.isdir(os.path.join(root, inside)):
                raise WrongUsage(f"{key}: {make_one_line(folder)} is no folder of the memory.")
    file = os.path.realpath(find_settings_file(config))
    raw = read_plain_file(file, _MOST_SETTINGS) or b""
    name = next(
        (it for it in settings.memory if os.path.realpath(it) == os.path.realpath(root)), root
    )
    text = _assign(raw.decode("utf-8", "surrogateescape"), name, key, value)
    try:
        replace_state_file(*os.path.split(file), text.encode("utf-8", "surrogateescape"))
    except OSError as error:
        raise StateUnusable(f"Cannot write {file}: {error.strerror}.") from None
    return file


def _assign(text: str, root: str, key: str, value: Value | None) -> str:
    """Return the settings `text` with a convention set, or not set for None; all else stays.
    Raises ChangeRefused where that cannot be done line by line.
    """
    refused = ChangeRefused(
        f"The settings file is not changed: write conventions.{key} into its table by hand."
    )
    try:
        before, keys = tomli.loads(text), find_key_lines(text)
    except ValueError:
        raise refused from None
    spelled = next(_find_spelled(before, root), root)
    table = ("memory", spelled)
    lines = text.split("\n")
    shown = "" if value is None else f"{key} = {format_toml_value(value)}"
    if number := keys.get((*table, "conventions", key)):
        dotted = lines[number - 1].lstrip().startswith("conventions.")
        lines[number - 1 : number] = [f"conventions.{shown}" if dotted else shown] * bool(shown)
    elif not shown:
        return text
    elif number := keys.get((*table, "conventions")):
        lines.insert(number, shown)
    elif number := keys.get(table):
        lines.insert(number, f"conventions.{shown}")
    else:
        header = f"[{format_toml_key((*table, 'conventions'))}]"
        lines = [*"\n".join(lines).rstrip("\n").split("\n"), "", header, shown, ""]
    changed = "\n".join(lines).lstrip("\n")
    expected = {**before, "memory": {**before.get("memory", {})}}
    own = dict(expected["memory"].get(spelled, {}))
    given = {**own.get("conventions", {}), key: list(value) if isinstance(value, tuple) else value}
    own["conventions"] = {name: it for name, it in given.items() if it is not None}
    expected["memory"][spelled] = own
    try:
        after = tomli.loads(changed)
    except ValueError:
        raise refused from None
    after.setdefault("memory", {}).setdefault(spelled, {}).setdefault("conventions", {})
    if after != expected:
        raise refused
    return changed


def _find_spelled(settings: dict[str, object], root: str) -> Iterator[str]:
    tables = settings.get("memory")
    for name in tables if isinstance(tables, dict) else ():
        if os.path.realpath(os.path.expanduser(name)) == os.path.realpath(root):
            yield name


def format_conventions(lines: Sequence[ConventionLine], width: int) -> list[str]:
    """Return the conventions as text of at most `width` cells, with how to correct them."""
    text: list[str] = []
    for line in lines:
        shown = textwrap.wrap(f"{line.value} ({line.reason})", max(20, width - 2))
        text += [line.title, *(f"  {row}" for row in shown), ""]
    keys = " ".join(line.name for line in lines if line.name)
    advice = (
        f"`ricordo config conventions --set KEY=VALUE` corrects one of {keys}; VALUE `{LEARN}` "
        'undoes that. They are kept in settings.toml, in the table [memory."…".conventions].'
    )
    return [
        *text,
        "To correct them",
        *(f"  {row}" for row in textwrap.wrap(advice, max(20, width - 2))),
    ]
