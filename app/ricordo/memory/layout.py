"""How one kind of memory is laid out: which files are index, log or schema, what its heads need,
how much of the index an agent loads. `agents` makes these values; the reader and the rules use
them and know no agent by name.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class MemoryKind(StrEnum):
    """The kinds of memory that Ricordo reads."""

    CLAUDE = "claude"
    CLAUDE_AGENT = "claude-agent"
    WIKI = "wiki"
    CODEX = "codex"
    LETTA = "letta"
    FOLDER = "folder"


class FileRole(StrEnum):
    """What a markdown file is to its memory."""

    INDEX = "index"
    NOTE = "note"
    SOURCE = "source"
    """A raw source of a wiki: protected, and led to rather than listed."""
    SUPPORT = "support"
    """Log, schema, configuration: shown and searched, never judged as a note."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of the index an agent receives at session start."""

    lines: int
    units: int
    """UTF-16 code units."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What the reader and the rules have to know of a memory's kind."""

    kind: MemoryKind
    agent: str
    """What a person calls the program that keeps it; "" where none does."""
    index_names: frozenset[str] = frozenset()
    """Names of index files, compared in lower case."""
    index_name: str = ""
    """The name that a new index gets; "" where Ricordo makes none."""
    nested_indexes: bool = False
    """Whether folders may have indexes of their own."""
    support_names: frozenset[str] = frozenset()
    """Names of log, schema and configuration files, in lower case."""
    source_folder: str = ""
    """Top folder of raw sources; "" where the kind has none."""
    limits: Limits | None = None
    title_keys: tuple[str, ...] = ("name",)
    """Fields that may name a note, the first that is there."""
    summary_keys: tuple[str, ...] = ("description",)
    type_keys: tuple[str, ...] = ("type",)
    required: tuple[str, ...] = ()
    """Which of name, description and type a head must have."""
    heads_expected: bool = False
    """Whether a note without a head is worth a word."""
    types: frozenset[str] = frozenset()
    """Types that the kind knows; empty where any will do."""
    read_only: str = ""
    """Why nothing of it can be changed; "" where it can."""
    holds_notes: bool = True
    """Whether files of the directory are notes; those of a project without a memory are not."""

    def keys_of(self, field: str) -> tuple[str, ...]:
        """Return the fields of a head that may give its `field`, one of those `required`."""
        if field == "name":
            return self.title_keys
        return self.summary_keys if field == "description" else self.type_keys

    def role(self, path: str) -> FileRole:
        """Return what the file at `path`, relative to the memory, is to it."""
        folder, _, name = path.rpartition("/")
        name = name.lower()
        if name in self.index_names and (self.nested_indexes or not folder):
            return FileRole.INDEX
        if name in self.support_names:
            return FileRole.SUPPORT
        if self.source_folder and path.startswith(self.source_folder + "/"):
            return FileRole.SOURCE
        return FileRole.NOTE
