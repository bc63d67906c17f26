"""Which kind of memory a directory is, told by what stands in it and where it lies."""

from __future__ import annotations

import os
from collections.abc import Callable

from ricordo.agents import codex, letta, wiki
from ricordo.agents.claude import location as claude
from ricordo.agents.folder import FOLDER
from ricordo.memory.frontmatter import parser as frontmatter
from ricordo.memory.layout import Layout
from ricordo.storage.foreign_file import read_plain_file
from ricordo.storage.reader import list_names

_LARGEST_HEAD = 64 * 1024
_ENOUGH_NOTES = 16

Recogniser = Callable[[str, frozenset[str]], bool]
"""Is given a directory and the names in it, folders with a `/` behind."""


def recognise(root: str) -> Layout:
    """Return the layout of the memory in the directory `root`; that of a plain folder where
    nothing more can be told.
    """
    names = list_names(root)
    return next((layout for fits, layout in _KINDS if fits(root, names)), FOLDER)


def _is_agent_memory(root: str, names: frozenset[str]) -> bool:
    return os.path.basename(os.path.dirname(root)) in claude.AGENT_FOLDERS


def _has_claude_index(root: str, names: frozenset[str]) -> bool:
    return "MEMORY.md" in names


def _has_claude_name(root: str, names: frozenset[str]) -> bool:
    """A project folder's slug begins with the `-` that was the path's first slash."""
    folder, name = os.path.split(root)
    return name == "memory" and os.path.basename(folder).startswith("-")


def _is_wiki(root: str, names: frozenset[str]) -> bool:
    return wiki.is_wiki(names)


def _has_claude_heads(root: str, names: frozenset[str]) -> bool:
    notes = sorted(name for name in names if name.endswith(".md"))[:_ENOUGH_NOTES]
    return bool(notes) and all(_is_claude_head(os.path.join(root, name)) for name in notes)


def _is_claude_head(path: str) -> bool:
    raw = read_plain_file(path, _LARGEST_HEAD) or b""
    head = frontmatter.read(raw.decode("utf-8-sig", "replace"))
    return all(head.scalar(key) for key in ("name", "description")) and bool(
        head.scalar("type") in claude.NOTE_TYPES or "metadata" in head.fields
    )


_KINDS: tuple[tuple[Recogniser, Layout], ...] = (
    # before Claude Code, for Codex has a MEMORY.md too
    (codex.is_memory, codex.MEMORIES),
    (_is_agent_memory, claude.AGENT_MEMORY),
    (_has_claude_index, claude.AUTO_MEMORY),
    (_has_claude_name, claude.AUTO_MEMORY),
    (letta.is_memory, letta.MEMORY_FILES),
    (_is_wiki, wiki.WIKI),
    (_has_claude_heads, claude.AUTO_MEMORY),
)
"""The most telling mark first."""

INDEX_NAMES = frozenset[str]().union(
    FOLDER.index_names, *(layout.index_names for _, layout in _KINDS)
)
"""Names of index files of all kinds, in lower case."""
