"""Plain folders of markdown notes, kept by people or by programs that Ricordo does not know: what a
directory is that no agent claims.
"""

from __future__ import annotations

import os

from ricordo.memory.layout import Layout
from ricordo.storage.foreign_file import list_subfolders
from ricordo.storage.reader import list_names

FOLDER = Layout(
    kind="folder",
    agent="",
    index_names=frozenset(("index.md", "_index.md", "memory.md")),
    support_names=frozenset(("readme.md", "handoff.md", "handoff.new.md")),
    title_keys=("name", "title"),
    summary_keys=("description", "summary"),
    type_keys=("type", "category", "kind"),
    is_plain=True,
    opens_unasked=True,
)

NO_MEMORY = Layout(kind="folder", agent="", has_notes=False, is_plain=True, opens_unasked=True)
"""The layout of a project without a memory."""

PROJECT_FILES = frozenset(
    (
        "agents.md",
        "changelog.md",
        "claude.md",
        "code_of_conduct.md",
        "contributing.md",
        "gemini.md",
        "handoff.md",
        "license.md",
        "readme.md",
        "security.md",
    )
)
"""Files that any project may have; they do not make it a memory."""

_MOST_FOLDERS = 500


def has_notes(root: str, *, in_folders: bool = True) -> bool:
    """Say whether notes are in the directory `root`, or with `in_folders` one folder deeper."""
    if _has_note(root):
        return True
    folders = list_subfolders(root)[:_MOST_FOLDERS] if in_folders else []
    return any(_has_note(path) for path in folders if not _is_hidden(path))


def _has_note(folder: str) -> bool:
    names = (name.lower() for name in list_names(folder))
    return any(name.endswith(".md") and name not in PROJECT_FILES for name in names)


def _is_hidden(folder: str) -> bool:
    return os.path.basename(folder).startswith(".")
