"""A new note in the style of the memory's notes: frontmatter, folder, file name."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable

from ricordo.errors import ChangeRefused
from ricordo.memory.change import Create
from ricordo.memory.frontmatter.edit import format_scalar
from ricordo.memory.layout import FileRole, Layout
from ricordo.memory.memory import Memory
from ricordo.memory.names import normalize
from ricordo.text import make_visible

MAX_NAME_BYTES = 120
"""Bytes of a file name, including its extension."""


def check_new_path(path: str, taken: Iterable[str], folders: Collection[str]) -> None:
    """Check that a new note may be created at `path`. Raises ChangeRefused otherwise.

    `taken` are the paths of all files, `folders` the existing folders. A name consists of letters
    and digits of any script and of ``._-``, begins with a letter or digit or underscore, and
    differs from all others after folding case and Unicode form.
    """
    folder, slash, name = path.rpartition("/")
    if slash and folder not in folders:
        raise ChangeRefused(f"No folder {make_visible(folder)} in this memory.")
    if not is_valid_name(name):
        raise ChangeRefused(
            f"Invalid note name {make_visible(name)!r}: use letters, digits, “.”, “_”, “-”, "
            f"and “.md” at the end (limit {MAX_NAME_BYTES} bytes)."
        )
    key = _fold_path(path)
    for other in taken:
        if _fold_path(other) == key:
            raise ChangeRefused(f"{make_visible(other)} already exists.")


def is_valid_name(name: str) -> bool:
    """Return whether a file name is valid for a new note."""
    return (
        name.endswith(".md")
        and len(name) > 3
        and len(name.encode("utf-8", "surrogatepass")) <= MAX_NAME_BYTES
        and unicodedata.normalize("NFC", name) == name
        and (name[0].isalnum() or name[0] == "_")
        and all(_is_word_char(char) or char in "._-" for char in name)
    )


def choose_path(name: str, taken: Iterable[str], layout: Layout, folder: str = "") -> str:
    """Return a path that is not in `taken` for a note called `name`; never one that `layout`
    reserves, as for an index or a log. Where only one folder has pages, it is in that.

    Words are joined by `_` or by `-`, whichever most paths use.
    """
    paths = list(taken)
    joiner = "_" if sum("_" in p for p in paths) > sum("-" in p for p in paths) else "-"
    lowered = unicodedata.normalize("NFC", name[:MAX_NAME_BYTES].lower())
    words = "".join(char if _is_word_char(char) else " " for char in lowered).split()
    while words and _is_mark(words[0][0]):
        words[0:1] = [words[0][1:]] if words[0][1:] else []
    stem = joiner.join(words).encode()[: MAX_NAME_BYTES - 8].decode("utf-8", "ignore")
    stem = stem.rstrip("-_") or "note"
    used = {_fold_path(path) for path in paths}
    if layout.has_only_pages and not f"{folder}/".startswith(f"{layout.page_folder}/"):
        folder = layout.page_folder
    prefix = f"{folder}/" if folder else ""
    candidates = (f"{prefix}{stem}{f'{joiner}{n}' if n > 1 else ''}.md" for n in range(1, 10_000))
    return next(
        path
        for path in candidates
        if _fold_path(path) not in used
        and layout.get_role(path) not in (FileRole.INDEX, FileRole.SUPPORT)
    )


def _fold_path(path: str) -> str:
    return normalize(path).casefold()


def _is_word_char(char: str) -> bool:
    return char.isalnum() or _is_mark(char)


def _is_mark(char: str) -> bool:
    """Return whether `char` is a combining mark, part of the letters of many scripts."""
    return unicodedata.category(char) in ("Mn", "Mc")


def create_note(memory: Memory, name: str, type_: str, description: str, body: str) -> Create:
    """Return the operation that creates a note with the fields that the memory's notes have."""
    frontmatter = format_frontmatter(memory, name, type_, description)
    gap = "" if body.startswith("\n") or not body else "\n"
    ended = body if body.endswith("\n") or not body else f"{body}\n"
    folder = _find_folder(memory, type_)
    path = choose_path(name, (*memory.by_path, *memory.others), memory.layout, folder)
    return Create(path, frontmatter + gap + ended)


def format_frontmatter(memory: Memory, name: str, type_: str, description: str) -> str:
    """Return the frontmatter of a note, with the fields that the memory's notes have."""
    layout = memory.layout
    lines = [f"{layout.title_keys[0]}: {format_scalar(name)}"]
    if description or "description" in layout.required:
        lines.append(f"{layout.summary_keys[0]}: {format_scalar(description)}")
    if type_ and _nests_types(memory):
        lines += ["metadata:", f"  {layout.type_keys[0]}: {format_scalar(type_)}"]
    elif type_:
        lines.append(f"{layout.type_keys[0]}: {format_scalar(type_)}")
    return "\n".join(["---", *lines, "---", ""])


def _nests_types(memory: Memory) -> bool:
    """Return whether most notes of the memory have their type inside `metadata`."""
    key = memory.layout.type_keys[0]
    typed = [note for note in memory.notes if note.type]
    nested = sum(key not in note.frontmatter.fields for note in typed)
    return nested * 2 > len(typed)


def _find_folder(memory: Memory, type_: str) -> str:
    """Return the folder with the most notes of a type."""
    counts: dict[str, int] = {}
    for note in memory.notes:
        if note.role is FileRole.NOTE and (not type_ or note.type == type_):
            folder = note.path.rpartition("/")[0]
            counts[folder] = counts.get(folder, 0) + 1
    return max(counts, key=lambda folder: counts[folder], default="")
