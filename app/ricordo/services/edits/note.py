"""Create and rename notes, with the frontmatter of the memory and a template by type."""

from __future__ import annotations

from dataclasses import replace

import tomli

from ricordo.errors import ChangeRefused, WrongUsage
from ricordo.lexicon import list_word_ends
from ricordo.memory.change import Create, Rename
from ricordo.memory.frontmatter.edit import set_field
from ricordo.memory.frontmatter.parser import read_frontmatter
from ricordo.memory.layout import Layout
from ricordo.memory.memory import Memory
from ricordo.memory.new_note import choose_path, is_valid_name
from ricordo.memory.new_note import create_note as made
from ricordo.memory.note import Note, get_stem
from ricordo.resources import read_data_text
from ricordo.services.workspace.conventions import list_languages
from ricordo.services.workspace.note_choice import refuse_outside, refuse_taken


def render_template(memory: Memory, type_: str, name: str) -> str:
    """Return the first text of the body of a new note of a type, in the language of most notes of
    `memory`; in English where there is none in theirs.
    """
    data = read_data_text("services/edits/templates.toml")
    templates: dict[str, dict[str, str]] = tomli.loads(data)
    language = next(iter(list_languages(memory)), "en")
    by_type = templates.get(language, templates["en"])
    return by_type.get(type_, "# {name}\n\n").removeprefix("\n").replace("{name}", name)


def build_note(
    memory: Memory, name: str, type_: str = "", description: str = "", body: str | None = None
) -> Create:
    """Return the act that creates a note; without `body` it gets the template of its type. Raises
    WrongUsage where `name` leaves the memory, and ChangeRefused where a note has the name.
    """
    refuse_outside(name)
    refuse_taken(memory, name)
    text = body if body is not None else render_template(memory, type_, name)
    return made(memory, name, type_, description, text)


def choose_folder(memory: Memory, act: Create, folder: str) -> Create:
    """Return `act` with its note in a `folder` that the user named; "" for none."""
    if not folder:
        return act
    taken = (*memory.by_path, *memory.others)
    return replace(act, path=choose_path(get_stem(act.path), taken, memory.layout, folder))


def split_folder(memory: Memory, name: str) -> tuple[str, str]:
    """Return the folder and the rest of a name that the user gave a new note; the name is whole
    where `memory` has no such folder: a slash may be part of it, as in `CI/CD`. Raises WrongUsage
    where it leaves the memory, or has no rest.
    """
    refuse_outside(name)
    folder, _, rest = name.removeprefix("./").rpartition("/")
    if not rest.strip():
        raise WrongUsage("A note needs a name.")
    paths = (*memory.by_path, *memory.others)
    is_there = any(path.startswith(f"{folder}/") for path in paths)
    return (folder, rest) if folder and is_there else ("", name)


MAX_DERIVED_NAME = 60
"""Characters of a name that is made of the first line of a text."""


def find_name(text: str, layout: Layout) -> str:
    """Return the name that the `text` of a note gives itself: in its frontmatter, by its first
    heading, or by its first line; "" without text.
    """
    frontmatter = read_frontmatter(text)
    if named := frontmatter.get_first(layout.title_keys):
        return named
    lines = [line.strip() for line in text[frontmatter.end :].splitlines() if line.strip()]
    headings = (line.lstrip("#").strip() for line in lines if line.startswith("# "))
    first = next(headings, "") or next(iter(lines), "").strip("#*_ ")
    ends = list_word_ends(first, MAX_DERIVED_NAME)
    return first[: ends[-1] if ends else MAX_DERIVED_NAME]


def build_written_note(
    memory: Memory, text: str, name: str, type_: str = "", description: str = ""
) -> Create:
    """Return the act that creates a note from `text`, which has frontmatter: its fields stay, but
    those that are given are set. Raises WrongUsage where `name` leaves the memory, and
    ChangeRefused where a note has the name or the frontmatter is invalid.
    """
    refuse_outside(name)
    refuse_taken(memory, name)
    if error := read_frontmatter(text).error:
        raise ChangeRefused(f"Invalid frontmatter: line {error.line}, {error.message}.")
    layout = memory.layout
    fields = {layout.title_keys: name, layout.summary_keys: description, layout.type_keys: type_}
    for keys, value in fields.items():
        present = read_frontmatter(text)
        key = next((key for key in keys if present.get_text(key)), keys[0])
        if value and present.get_text(key) != value:
            text = set_field(text, key, value)
    ended = text if text.endswith("\n") else f"{text}\n"
    path = choose_path(name, (*memory.by_path, *memory.others), layout)
    return Create(path, ended)


def build_rename(memory: Memory, note: Note, wanted: str, other: Memory | None = None) -> Rename:
    """Return the act that renames `note` to `wanted`: a path in the memory, a file name or a name.

    The name in the frontmatter becomes the last part of `wanted`, or the new stem where it was the
    old one; a title stays where `wanted` is a file name. `other` is the target memory of a move to
    another one. Raises WrongUsage where `wanted` is no place in the memory, and ChangeRefused where
    another note has it.
    """
    folder, _, called = wanted.removeprefix("./").rpartition("/")
    if not called.strip():
        raise WrongUsage("A note needs a name.")
    refuse_outside(wanted)
    if "/" not in wanted:
        folder = note.path.rpartition("/")[0]
    prefix = f"{folder}/" if folder else ""
    if called.endswith(".md"):
        to = prefix + called
        name = get_stem(to) if note.name == note.stem and to != note.path else ""
        return Rename(note.path, to, name)
    if "/" not in wanted:
        refuse_taken(other or memory, called, own="" if other else note.path)
    if is_valid_name(f"{called}.md"):
        return Rename(note.path, f"{prefix}{called}.md", called)
    others = [path for path in (*memory.by_path, *memory.others) if path != note.path]
    return Rename(note.path, choose_path(called, others, memory.layout, folder), called)
