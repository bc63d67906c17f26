"""The layout of one kind of memory: which files are index, log or schema, what its frontmatter
needs, how much of the index an agent loads. `agents` creates these values; the reader and the
rules use them and name no agent.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class FileRole(StrEnum):
    """The role of a markdown file in its memory."""

    INDEX = "index"
    NOTE = "note"
    SOURCE = "source"
    """A raw source of a wiki: protected, and linked to rather than listed in the index."""
    SUPPORT = "support"
    """Log, schema, configuration: shown and searched, never judged as a note."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of the index an agent loads at session start."""

    lines: int
    units: int
    """UTF-16 code units."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What the reader and the rules need to know about a kind of memory."""

    kind: str
    """Names it in JSON output."""
    agent: str
    """The display name of the agent that keeps it; "" for none."""
    index_names: frozenset[str] = frozenset()
    """Names of index files, compared in lower case."""
    index_name: str = ""
    """The name of a new index; "" if Ricordo creates none."""
    has_nested_indexes: bool = False
    """Whether folders may have their own indexes."""
    support_names: frozenset[str] = frozenset()
    """Names of log, schema and configuration files, in lower case."""
    top_support_names: frozenset[str] = frozenset()
    """The same, but only at the top and in the folder of the pages: elsewhere they name a page."""
    source_folder: str = ""
    """Top folder of raw sources; "" if the kind has none."""
    page_folder: str = ""
    """Top folder of the pages that are written from them; "" if the kind has none."""
    has_page_folders: bool = False
    """Whether there are several such folders, named after it: `wiki-en` and `wiki-ru`."""
    has_only_pages: bool = False
    """Whether files outside both folders belong to the project around them, not to the memory."""
    limits: Limits | None = None
    title_keys: tuple[str, ...] = ("name",)
    """Fields that may name a note; the first one present counts."""
    summary_keys: tuple[str, ...] = ("description",)
    type_keys: tuple[str, ...] = ("type",)
    required: tuple[str, ...] = ()
    """Which of name, description and type the frontmatter must have."""
    expects_frontmatter: bool = False
    """Whether a note without frontmatter is reported."""
    rereads_with_quotes: bool = False
    """Whether the agent reads frontmatter that is no valid YAML once more, with values in quotes.
    """
    chooses_by_index: bool = False
    """Whether agents choose notes by what the index says of them, not by their frontmatter."""
    types: frozenset[str] = frozenset()
    """Types that the kind knows; empty if any type is valid."""
    read_only: str = ""
    """Why it cannot be changed; "" if it can."""
    has_notes: bool = True
    """Whether files of the directory are notes; those of a project without a memory are not."""

    keeps_own_list: bool = False
    """Whether the agent lists the files itself, so that no link has to lead to a note."""
    has_own_conventions: bool = False
    """Whether each memory of the kind settles for itself how it links and which types it has."""
    link_prefixes: tuple[str, ...] | None = None
    """The beginnings of links that mean the memory itself; None where its links show them."""
    log_name: str = ""
    """The name of the file that lists what was done to it; "" where the kind has none."""
    retention: str = ""
    """The name under which the table of retention has all its notes; "" where it has their types.
    """
    is_plain: bool = False
    """Whether nothing shows that the directory is a memory but that notes are in it."""
    opens_unasked: bool = False
    """Whether it opens without a question where it is the most likely one."""
    is_shared: bool = False
    """Whether the agent keeps this one memory for all projects."""
    is_of_sub_agent: bool = False
    """Whether a sub-agent keeps it, and is given it."""
    given_to: str = ""
    """The name of the only agent that is given it; "" where any may be."""
    recall_rank: int = 2
    """From 0 on: of several memories of a project, recall answers from that of the lowest rank."""

    @property
    def keys(self) -> frozenset[str]:
        """The frontmatter keys by which agents choose notes."""
        return frozenset((*self.title_keys, *self.summary_keys, *self.type_keys))

    def get_keys(self, field: str) -> tuple[str, ...]:
        """Return the frontmatter keys that may hold `field`, one of those `required`."""
        if field == "name":
            return self.title_keys
        return self.summary_keys if field == "description" else self.type_keys

    def get_role(self, path: str) -> FileRole:
        """Return the role of the file at `path`, relative to the memory."""
        folder, _, name = path.rpartition("/")
        name = name.lower()
        if name in self.index_names and not self._is_captured(folder, name):
            # the page of a folder, which a generator of sites needs, is neither index nor note
            is_index = self.has_nested_indexes or not folder
            return FileRole.INDEX if is_index else FileRole.SUPPORT
        is_support = name in self.support_names or (
            name in self.top_support_names and folder in ("", self.page_folder)
        )
        if is_support or name == _SKILL or _is_template(folder, name):
            return FileRole.SUPPORT
        if self.source_folder and path.startswith(self.source_folder + "/"):
            return FileRole.SOURCE
        if self.has_only_pages and not self._is_page(path):
            return FileRole.SUPPORT
        return FileRole.NOTE

    def _is_captured(self, folder: str, name: str) -> bool:
        """Return whether a file called like an index belongs to a raw source, as the first page of
        a captured site does: only the folders of sources and of their kinds have such an index.
        """
        if not self.source_folder or name.startswith("_"):
            return False
        return folder.startswith(f"{self.source_folder}/") and folder.count("/") > 1

    def _is_page(self, path: str) -> bool:
        if path.startswith(self.page_folder + "/"):
            return True
        top, slash, _ = path.partition("/")
        names = tuple(f"{self.page_folder}{sign}" for sign in "-_.")
        return self.has_page_folders and bool(slash) and top.startswith(names)


_SKILL = "skill.md"
"""The name, in lower case, of the instructions of a skill, whose form is that of skills."""
_TEMPLATES = "templates"
"""The name of a folder of forms, perhaps numbered."""


def _is_template(folder: str, name: str) -> bool:
    """Return whether a file, its `name` in lower case, is a form from which notes are made."""
    stem = name.removesuffix(".md")
    if stem.lstrip("_.") == "template" or (stem.startswith("_") and "template" in stem):
        return True
    lowered = folder.lower()
    names = lowered.split("/") if _TEMPLATES in lowered else ()
    return any(it.lstrip("0123456789-_. ") == _TEMPLATES for it in names)
