"""Letta: where its agents keep their memory files and how these are laid out (letta-code memfs)."""

from __future__ import annotations

import os

from ricordo.agents.place import MemoryPlace
from ricordo.memory.layout import Layout, MemoryKind
from ricordo.storage.foreign_file import folders_in, read_plain_file
from ricordo.storage.reader import list_names

LOADED_FOLDER = "system"
"""What lies in it is always part of the prompt."""

MEMORY_FILES = Layout(
    kind=MemoryKind.LETTA,
    agent="Letta",
    support_names=frozenset(("skill.md",)),
    required=("description",),
    heads_expected=True,
    read_only="Letta takes changes only as commits that its own checks have passed.",
)


def memories(home: str) -> list[MemoryPlace]:
    """Return the memory of every Letta agent that lives in `home`."""
    agents = folders_in(os.path.join(home, ".letta", "agents"))
    return [
        MemoryPlace(root, MEMORY_FILES, "", f"Letta's agent {os.path.basename(agent)}")
        for agent in agents
        if os.path.isdir(root := os.path.join(agent, "memory"))
    ]


def is_memory(root: str, names: frozenset[str]) -> bool:
    """Say whether the directory `root` with these `names` in it is the memory of a Letta agent:
    its system folder holds a note with a head.
    """
    if f"{LOADED_FOLDER}/" not in names:
        return False
    folder = os.path.join(root, LOADED_FOLDER)
    notes = sorted(name for name in list_names(folder) if name.endswith(".md"))
    starts = (read_plain_file(os.path.join(folder, name), 3) for name in notes[:8])
    return any(start == b"---" for start in starts)
