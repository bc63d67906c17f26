"""Claude Code: where its auto memory is, and its layout (formats: Claude Code 2.1.240)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ricordo import git
from ricordo.agents.agent import Agent, MemoryPlace
from ricordo.agents.claude.folder import (
    LONGEST_SLUG,
    Installation,
    find_memory_directory,
    make_slug,
)
from ricordo.agents.workplace import Workplace
from ricordo.memory.frontmatter import parser as frontmatter
from ricordo.memory.layout import Layout, Limits
from ricordo.storage.foreign_file import list_subfolders, read_plain_file
from ricordo.storage.reader import list_names

AGENT = Agent("claude", "Claude Code")
SUB_AGENTS = "subagents"
"""The folder with the transcripts of the sub-agents of a session."""

NOTE_TYPES = frozenset(("user", "feedback", "project", "reference"))

LIMITS = Limits(lines=200, units=25_000)
"""As seen in Claude Code 2.1.211 to 2.1.240."""

AUTO_MEMORY = Layout(
    kind=AGENT.name,
    agent=AGENT.shown,
    index_names=frozenset(("memory.md",)),
    index_name="MEMORY.md",
    support_names=frozenset(("readme.md",)),
    limits=LIMITS,
    required=("name", "description", "type"),
    expects_frontmatter=True,
    # seen in Claude Code 2.1.90 to 2.1.332
    rereads_with_quotes=True,
    types=NOTE_TYPES,
    opens_unasked=True,
    given_to=AGENT.name,
    recall_rank=0,
)

FOLDER_OF_PROJECT = replace(AUTO_MEMORY, limits=None)
"""A folder of a project in the form of an auto memory, whose files agents open as any others."""

FOLDER_OF_OTHERS = replace(FOLDER_OF_PROJECT, chooses_by_index=True)
"""The same in a project where no sign of Claude Code is, which alone reads the frontmatter."""

SUB_AGENT_MEMORY = replace(
    AUTO_MEMORY,
    kind="claude-agent",
    agent="Claude Code sub-agent",
    opens_unasked=False,
    is_of_sub_agent=True,
    recall_rank=3,
)

FOLDER_OF_SUB_AGENT = replace(SUB_AGENT_MEMORY, limits=None)
"""The same for a sub-agent that is not given it and opens its files as any others."""

SUB_AGENT_FOLDERS = ("agent-memory", "agent-memory-local")
"""Folders that hold one memory for each sub-agent."""


def find_auto_memory(claude: Installation, place: Workplace) -> MemoryPlace:
    """Return the auto memory of a workplace by Claude Code's rules, there or not; `why`
    names the rule, and the settings that were ignored.
    """
    root, why = find_memory_directory(claude, place)
    return MemoryPlace(root, AUTO_MEMORY, place.root, why)


def list_project_folders(claude: Installation) -> list[str]:
    """Return the folders that Claude Code keeps for projects, ordered by name."""
    return list_subfolders(os.path.join(claude.config, "projects"))


def find_confirmed_memories(
    place: Workplace, cwds: Mapping[str, Sequence[str]]
) -> list[MemoryPlace]:
    """Return the memories of folders in which a session worked in this workplace, those whose name
    begins as the slug does first. `cwds` are the working directories of each folder's sessions.
    """
    start = make_slug(place.root)[:LONGEST_SLUG]
    found = []
    for folder, seen in cwds.items():
        cwd = next((path for path in place.all_directories if path in seen), None)
        if cwd is not None:
            why = f"a session kept in {os.path.basename(folder)} worked in {cwd}"
            found.append(MemoryPlace(os.path.join(folder, "memory"), AUTO_MEMORY, place.root, why))
    return sorted(found, key=lambda memory: not _folder_name(memory).startswith(start))


def find_folder_memories(
    cwds: Mapping[str, Sequence[str]], projects: Iterable[str]
) -> list[MemoryPlace]:
    """Return the memories of the project folders that `cwds` names, there or not.

    A folder belongs to the one of the `projects` whose slug is its name, else to the directory in
    which its newest session worked. Long paths are cut, so that several projects may have one slug:
    then one that is still there wins, then one in which the sessions of that folder worked, then a
    later one.
    """
    named: dict[str, list[str]] = {}
    for path in projects:
        named.setdefault(make_slug(path)[:LONGEST_SLUG], []).insert(0, path)
    return [
        MemoryPlace(
            os.path.join(folder, "memory"),
            AUTO_MEMORY,
            _owner(os.path.basename(folder), named, seen),
            "a project folder of Claude Code",
        )
        for folder, seen in cwds.items()
    ]


_MOST_DIRECTORIES = 200
"""Directories that are listed to find one by the name of its folder."""


def find_directories(slug: str) -> Iterator[str]:
    """Yield the directories on this machine whose folder has the name `slug`."""
    above = ["/"]
    for _ in range(_MOST_DIRECTORIES):
        if not above:
            return
        for path in list_subfolders(above.pop()):
            name = make_slug(path)
            if name[:LONGEST_SLUG] == slug:
                yield path
            elif slug.startswith(f"{name}-") and not os.path.islink(path):
                above.append(path)


def _owner(name: str, named: Mapping[str, Sequence[str]], seen: Sequence[str]) -> str:
    """Return the project of a folder called `name` whose sessions worked in `seen`; "" if it is
    unknown. `named` are the projects by slug, of which the first wins a tie. Where neither is
    known, it is the only directory that has this slug, unless that is cut.
    """
    projects = named.get(name[:LONGEST_SLUG], ())
    if not projects and not seen and len(name) <= LONGEST_SLUG:
        found = [it for it in find_directories(name) if make_slug(it) == name]
        projects = found if len(found) == 1 else ()

    def fit(project: str) -> tuple[bool, bool]:
        inside = os.path.join(project, "")
        return os.path.isdir(project), any(cwd == project or cwd.startswith(inside) for cwd in seen)

    return max(projects, key=fit, default=next(iter(seen), ""))


def find_sub_agent_memories(claude: Installation) -> list[MemoryPlace]:
    """Return the memories that the user's sub-agents keep for all projects."""
    folder = os.path.join(claude.config, SUB_AGENT_FOLDERS[0])
    return _agents_in(folder, "", "for all projects")


def find_project_sub_agent_memories(projects: Iterable[str]) -> list[MemoryPlace]:
    """Return the memories of the sub-agents of `projects`: shared ones, then local ones."""
    return [
        place
        for project in projects
        for name, scope in zip(SUB_AGENT_FOLDERS, ("shared", "on this machine only"), strict=True)
        for place in _agents_in(os.path.join(project, ".claude", name), project, scope)
    ]


def _agents_in(directory: str, project: str, scope: str) -> list[MemoryPlace]:
    return [
        MemoryPlace(
            folder,
            SUB_AGENT_MEMORY if _is_given(folder) else FOLDER_OF_SUB_AGENT,
            project,
            f"sub-agent {os.path.basename(folder)}, {scope}",
        )
        for folder in list_subfolders(directory)
    ]


def _folder_name(memory: MemoryPlace) -> str:
    return os.path.basename(os.path.dirname(memory.root))


_LARGEST_FRONTMATTER = 64 * 1024
_ENOUGH_NOTES = 16
_OF_CLAUDE = frozenset((".claude/", "CLAUDE.md", "CLAUDE.local.md"))
"""Names in a project that show that Claude Code works there."""


def is_in_agent_folder(root: str, names: frozenset[str]) -> bool:
    """Say whether a directory is the memory of a sub-agent, by where it lies."""
    return os.path.basename(os.path.dirname(root)) in SUB_AGENT_FOLDERS


def is_opened_by_sub_agent(root: str, names: frozenset[str]) -> bool:
    """Say whether a directory is the memory of a sub-agent that is not given it."""
    return is_in_agent_folder(root, names) and not _is_given(root)


def _is_given(root: str) -> bool:
    """Return whether Claude Code gives the memory at `root` to its sub-agent: unless the definition
    of that, which lies beside the folder of memories, does not ask for it by the field `memory`.
    """
    above = os.path.dirname(os.path.dirname(root))
    path = os.path.join(above, "agents", f"{os.path.basename(root)}.md")
    raw = read_plain_file(path, _LARGEST_FRONTMATTER) or b""
    head = frontmatter.read_frontmatter(raw.decode("utf-8-sig", "replace"))
    return "name" not in head.fields or "memory" in head.fields


def has_index(root: str, names: frozenset[str]) -> bool:
    """Say whether a directory with these `names` in it has the index of an auto memory."""
    return AUTO_MEMORY.index_name in names


def is_read_as_files(root: str, names: frozenset[str]) -> bool:
    """Say whether a directory has the index of an auto memory and Claude Code loads none of it: one
    in a project where no other sign of Claude Code is, or in the hidden folder of another agent, or
    that the project's instructions name by its path, so that agents open it.
    """
    above = os.path.dirname(os.path.dirname(root))
    top = git.find_top_level(root)
    if not has_index(root, names) or top in (None, root) or os.path.basename(above) == "projects":
        return False
    assert top is not None
    # imported here: few memories lie in a project
    from ricordo.agents.instruction_files import names_path, read_instructions

    path = os.path.relpath(root, top)
    if AGENT.name not in path.lower():
        is_of_other = any(part.startswith(".") for part in path.split("/"))
        has_sign = has_frontmatter(root, names - {AUTO_MEMORY.index_name}) or _has_claude(top)
        if is_of_other or not has_sign:
            return True
    return names_path(read_instructions(top), f"{path}/")


def is_read_by_others(root: str, names: frozenset[str]) -> bool:
    """Say whether a directory is read as files, and neither its place nor the project around it has
    a sign of Claude Code.
    """
    if not is_read_as_files(root, names):
        return False
    top = git.find_top_level(root) or root
    return AGENT.name not in os.path.relpath(root, top).lower() and not _has_claude(top)


def _has_claude(project: str) -> bool:
    return not list_names(project).isdisjoint(_OF_CLAUDE)


def has_folder_name(root: str, names: frozenset[str]) -> bool:
    """Say whether a directory is called as an auto memory is. A project folder's slug begins with
    the `-` that was the path's first slash.
    """
    folder, name = os.path.split(root)
    return name == "memory" and os.path.basename(folder).startswith("-")


def has_frontmatter(root: str, names: frozenset[str]) -> bool:
    """Say whether all notes of a directory have the frontmatter of an auto memory."""
    if "SKILL.md" in names:
        # the folder of a skill, whose description looks the same
        return False
    notes = sorted(name for name in names if name.endswith(".md"))[:_ENOUGH_NOTES]
    return bool(notes) and all(_has_frontmatter(os.path.join(root, name)) for name in notes)


def _has_frontmatter(path: str) -> bool:
    raw = read_plain_file(path, _LARGEST_FRONTMATTER) or b""
    fields = frontmatter.read_frontmatter(raw.decode("utf-8-sig", "replace"))
    return all(fields.get_text(key) for key in ("name", "description")) and bool(
        fields.get_text("type") in NOTE_TYPES or "metadata" in fields.fields
    )
