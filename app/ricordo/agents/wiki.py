"""LLM wikis: raw sources, and pages that a model writes from them (pattern of 2026, no program)."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from functools import partial
from itertools import product

from ricordo import git
from ricordo.agents.agent import MemoryPlace
from ricordo.agents.support import AgentSupport, LayoutMark
from ricordo.memory.layout import Layout
from ricordo.storage.reader import list_names

SOURCES = ("raw", "raw-sources", "raw_sources", "sources")
"""Names of the folder of raw sources, the usual first."""
PAGES = "wiki"

WIKI = Layout(
    kind="wiki",
    agent="",
    index_names=frozenset(("index.md", "_index.md")),
    index_name="index.md",
    has_nested_indexes=True,
    support_names=frozenset(
        (
            *("log.md", "claude.md", "agents.md", "config.md", "overview.md", "readme.md"),
            *("handoff.md", "handoff.new.md"),
        )
    ),
    top_support_names=frozenset(
        (
            "agent_instructions.md",
            "changelog.md",
            "code_of_conduct.md",
            "contributing.md",
            "schema.md",
        )
    ),
    source_folder=SOURCES[0],
    page_folder=PAGES,
    title_keys=("title", "name"),
    summary_keys=("summary", "description"),
    type_keys=("type", "category", "kind"),
    required=("name",),
    expects_frontmatter=True,
    has_own_conventions=True,
    log_name="log.md",
    retention="wiki",
    recall_rank=1,
)


WHOLE_WIKI = replace(WIKI, has_only_pages=True)
"""A wiki with raw sources and pages side by side, often in a repository with other files."""

_WHOLE_WIKIS = tuple(
    replace(WHOLE_WIKI, source_folder=sources, page_folder=pages)
    for name in SOURCES
    for sources, pages in product((name, name.capitalize()), (PAGES, PAGES.capitalize()))
)
"""The same with each name of the sources, also with a capital letter, as many vaults of Obsidian
have `Raw` and `Wiki`.
"""
_OF_PROGRAMS = frozenset(("sources",))
"""Names of folders that hold the code of a program, too: what makes them those of a wiki is an
index, a log or a schema beside them.
"""
_SIGNS = re.compile(
    r"_?index\.md|(?:wiki[-_])?(?:log|schema|purpose)\.md|(?:claude|agents)\.md", re.I
)

ROOT_WIKI = replace(WIKI, source_folder="", has_only_pages=True, has_page_folders=True)
"""A wiki with its index beside several folders of pages, `wiki-en` and `wiki-ru`."""
_PAGE_FOLDER = re.compile(rf"{PAGES}[-_.].+/")


_KINDS = frozenset(
    (
        *("analyses/", "comparisons/", "concepts/", "entities/", "people/", "questions/"),
        *("summaries/", "syntheses/", "synthesis/", "topics/"),
    )
)
"""Folders of pages that agents make beside one page for each source."""


def is_whole_wiki(names: frozenset[str]) -> bool:
    """Say whether a directory with these `names` in it has raw sources and pages side by side."""
    return _find_whole(names) is not None


def is_wiki(names: frozenset[str]) -> bool:
    """Say whether a directory with these `names` in it is an LLM wiki."""
    is_marked = is_whole_wiki(names) or "_index.md" in names or {"index.md", "log.md"} <= names
    has_sources = "index.md" in names and not names.isdisjoint(("sources/", "raw/"))
    return is_marked or (has_sources and not names.isdisjoint(_KINDS))


def find_whole_wiki(root: str) -> str:
    """Return the directory of the wiki to which `root` belongs: for pages beside their raw
    sources, or beside their index, the folder of both, else `root` itself.
    """
    above, name = os.path.split(root)
    whole = _find_whole(list_names(above))
    if whole is not None and name == whole.page_folder:
        return above
    return above if _PAGE_FOLDER.fullmatch(f"{name}/") and is_root_wiki(list_names(above)) else root


def find_in_project(project: str) -> list[MemoryPlace]:
    """Return the wikis of a project: itself, or the folders in which wikis are usually kept."""
    names = list_names(project)
    if (whole := _find_whole(names)) is not None:
        return [MemoryPlace(project, whole, project, "raw sources and a wiki side by side")]
    if is_root_wiki(names):
        return [MemoryPlace(project, ROOT_WIKI, project, "an index beside folders of a wiki")]
    return [
        MemoryPlace(root, WIKI, project, f"the wiki in {name} of the project")
        for name in (".wiki", PAGES)
        if is_wiki(list_names(root := os.path.join(project, name)))
    ]


def _find_whole(names: frozenset[str]) -> Layout | None:
    """Return the layout of a directory with these `names` in it, if it has raw sources and pages
    side by side.
    """
    for layout in _WHOLE_WIKIS:
        if {f"{layout.source_folder}/", f"{layout.page_folder}/"} <= names:
            is_of_wiki = layout.source_folder.lower() not in _OF_PROGRAMS
            if is_of_wiki or any(map(_SIGNS.fullmatch, names)):
                return layout
    return None


def _is_whole(layout: Layout, root: str, names: frozenset[str]) -> bool:
    return _find_whole(names) == layout


def is_root_wiki(names: frozenset[str]) -> bool:
    """Say whether a directory with these `names` in it has the index of several page folders."""
    folders = any(_PAGE_FOLDER.fullmatch(name) for name in names)
    return folders and not names.isdisjoint(("index.md", "_index.md"))


class WikiSupport(AgentSupport):
    """LLM wikis."""

    layouts = (WIKI, *_WHOLE_WIKIS, ROOT_WIKI)
    marks = (
        LayoutMark(
            52, lambda root, names: is_root_wiki(names) and not _find_whole(names), ROOT_WIKI
        ),
        *(LayoutMark(51, partial(_is_whole, layout), layout) for layout in _WHOLE_WIKIS),
        LayoutMark(50, lambda root, names: is_wiki(names), WIKI),
    )

    def memories_in(self, project: str) -> list[MemoryPlace]:
        return find_in_project(project)

    def whole_memory(self, root: str) -> str:
        return find_whole_wiki(root)

    def project_of(self, root: str, layout: Layout) -> str:
        return git.find_top_level(root) or root


WIKIS = WikiSupport()
