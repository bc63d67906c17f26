"""A new note as the memory's own notes are written: head, folder, file name."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable

from ricordo.errors import ChangeRefused
from ricordo.memory.change import Create
from ricordo.memory.frontmatter.edit import written
from ricordo.memory.layout import FileRole, Layout
from ricordo.memory.memory import Memory
from ricordo.memory.names import normal
from ricordo.text import visible

LONGEST_NAME = 120
"""Bytes of a file name, its ending included."""


def check_new_path(path: str, taken: Iterable[str], folders: Collection[str]) -> None:
    """Refuse `path` where a new note may not stand there.

    `taken` are the paths of all files, `folders` the folders that exist. A name consists of
    letters and digits of any script and of ``._-``, begins with a letter or digit or underscore,
    and equals no other one when case and Unicode form are folded. Raises ChangeRefused.
    """
    folder, slash, name = path.rpartition("/")
    if slash and folder not in folders:
        raise ChangeRefused(f"There is no folder {visible(folder)} in this memory.")
    if not is_plain_name(name):
        raise ChangeRefused(
            f"{visible(name)!r} cannot be the name of a note: letters, digits, “.”, “_” and “-” "
            f"with “.md” at the end, at most {LONGEST_NAME} bytes."
        )
    wanted = _same(path)
    for other in taken:
        if _same(other) == wanted:
            raise ChangeRefused(f"{visible(other)} is there already.")


def is_plain_name(name: str) -> bool:
    """Say whether a file name is one that Ricordo would give to a note."""
    return (
        name.endswith(".md")
        and len(name) > 3
        and len(name.encode("utf-8", "surrogatepass")) <= LONGEST_NAME
        and unicodedata.normalize("NFC", name) == name
        and (name[0].isalnum() or name[0] == "_")
        and all(_is_of_word(char) or char in "._-" for char in name)
    )


def path_for(name: str, taken: Iterable[str], layout: Layout, folder: str = "") -> str:
    """Return a path, free in `taken`, for a note that is called `name`; never one at which `layout`
    looks for something else, as an index or a log.

    Words are joined as in most of the paths that are there: by `_` or by `-`.
    """
    paths = list(taken)
    joiner = "_" if sum("_" in p for p in paths) > sum("-" in p for p in paths) else "-"
    lowered = unicodedata.normalize("NFC", name[:LONGEST_NAME].lower())
    words = "".join(char if _is_of_word(char) else " " for char in lowered).split()
    while words and _is_mark(words[0][0]):
        words[0:1] = [words[0][1:]] if words[0][1:] else []
    stem = joiner.join(words).encode()[: LONGEST_NAME - 8].decode("utf-8", "ignore")
    stem = stem.rstrip("-_") or "note"
    used = {_same(path) for path in paths}
    prefix = f"{folder}/" if folder else ""
    candidates = (f"{prefix}{stem}{f'{joiner}{n}' if n > 1 else ''}.md" for n in range(1, 10_000))
    return next(
        path
        for path in candidates
        if _same(path) not in used and layout.role(path) not in (FileRole.INDEX, FileRole.SUPPORT)
    )


def _same(path: str) -> str:
    return normal(path).casefold()


def _is_of_word(char: str) -> bool:
    return char.isalnum() or _is_mark(char)


def _is_mark(char: str) -> bool:
    """Combining marks belong to the letters of many scripts."""
    return unicodedata.category(char) in ("Mn", "Mc")


def new_note(memory: Memory, name: str, type_: str, description: str, body: str) -> Create:
    """Return the act that makes a note; its head has the fields that the memory's heads have."""
    head = frontmatter_of(memory, name, type_, description)
    gap = "" if body.startswith("\n") else "\n"
    ended = body if body.endswith("\n") else f"{body}\n"
    folder = _folder(memory, type_)
    path = path_for(name, (*memory.by_path, *memory.others), memory.layout, folder)
    return Create(path, head + gap + ended)


def frontmatter_of(memory: Memory, name: str, type_: str, description: str) -> str:
    """Return the frontmatter of a note, with the fields that the memory's notes have."""
    layout = memory.layout
    lines = [f"{layout.title_keys[0]}: {written(name)}"]
    if description or "description" in layout.required:
        lines.append(f"{layout.summary_keys[0]}: {written(description)}")
    if type_ and _nests_types(memory):
        lines += ["metadata:", f"  {layout.type_keys[0]}: {written(type_)}"]
    elif type_:
        lines.append(f"{layout.type_keys[0]}: {written(type_)}")
    return "\n".join(["---", *lines, "---", ""])


def _nests_types(memory: Memory) -> bool:
    """Say whether most notes of the memory have their type inside `metadata`."""
    key = memory.layout.type_keys[0]
    typed = [note for note in memory.notes if note.type]
    nested = sum(key not in note.head.fields for note in typed)
    return nested * 2 > len(typed)


def _folder(memory: Memory, type_: str) -> str:
    """Return the folder in which most notes of a type stand."""
    counts: dict[str, int] = {}
    for note in memory.notes:
        if note.role is FileRole.NOTE and (not type_ or note.type == type_):
            folder = note.path.rpartition("/")[0]
            counts[folder] = counts.get(folder, 0) + 1
    return max(counts, key=lambda folder: counts[folder], default="")
