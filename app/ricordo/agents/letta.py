"""Letta: where its agents keep their memory files, and their layout (letta-code memfs)."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ricordo.agents.agent import MemoryPlace
from ricordo.agents.support import AgentSupport, LayoutMark, Survey
from ricordo.memory.layout import Layout
from ricordo.storage.foreign_file import list_subfolders, read_plain_file
from ricordo.storage.reader import list_names

LOADED_FOLDER = "system"
"""Notes in it are always part of the prompt."""

MEMORY_FILES = Layout(
    kind="letta",
    agent="Letta",
    support_names=frozenset(("skill.md",)),
    required=("description",),
    expects_frontmatter=True,
    read_only="Letta accepts changes only as commits that pass its own checks.",
    keeps_own_list=True,
    recall_rank=4,
)


def find_memories(home: str) -> list[MemoryPlace]:
    """Return the memory of every Letta agent that lives in `home`."""
    agents = list_subfolders(os.path.join(home, ".letta", "agents"))
    return [
        MemoryPlace(root, MEMORY_FILES, "", f"Letta's agent {os.path.basename(agent)}")
        for agent in agents
        if os.path.isdir(root := os.path.join(agent, "memory"))
    ]


def is_memory(root: str, names: frozenset[str]) -> bool:
    """Say whether the directory `root` with these `names` in it is the memory of a Letta agent:
    its system folder holds a note with frontmatter.
    """
    if f"{LOADED_FOLDER}/" not in names:
        return False
    folder = os.path.join(root, LOADED_FOLDER)
    notes = sorted(name for name in list_names(folder) if name.endswith(".md"))
    starts = (read_plain_file(os.path.join(folder, name), 3) for name in notes[:8])
    return any(start == b"---" for start in starts)


class LettaSupport(AgentSupport):
    """Letta."""

    layouts = (MEMORY_FILES,)
    marks = (LayoutMark(60, is_memory, MEMORY_FILES),)

    def survey(self, home: str, environ: Mapping[str, str]) -> Survey:
        return Survey(frozenset(), lambda projects: find_memories(home))

    def project_of(self, root: str, layout: Layout) -> str:
        return ""


LETTA = LettaSupport()
