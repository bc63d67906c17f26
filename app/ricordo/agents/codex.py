"""Codex: where its memories lie and how they are laid out (formats: Codex of autumn 2026)."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ricordo.agents.place import Place
from ricordo.disk.plain_file import read_plain_file
from ricordo.memory.layout import Kind, Layout

SUMMARY = "memory_summary.md"
"""The only file that a session is given, whole."""
SUMMARY_FOLDER = "rollout_summaries"

MEMORIES = Layout(
    kind=Kind.CODEX,
    agent="Codex",
    index_names=frozenset((SUMMARY,)),
    support_names=frozenset(
        ("raw_memories.md", "phase2_workspace_diff.md", "instructions.md", "skill.md")
    ),
    source_folder=SUMMARY_FOLDER,
    read_only="Codex rewrites these files itself whenever it consolidates its memories.",
)

_FIRST_LINE = b"v1"


def memory(home: str, environ: Mapping[str, str]) -> Place:
    """Return the memory that Codex keeps in `CODEX_HOME`, else in `home`, there or not."""
    moved = environ.get("CODEX_HOME", "")
    why = "the memories folder in CODEX_HOME" if moved else "the memories folder of Codex"
    return Place(os.path.join(own_folder(home, environ), "memories"), MEMORIES, "", why)


def own_folder(home: str, environ: Mapping[str, str]) -> str:
    """Return the folder of Codex: `CODEX_HOME`, else the one in `home`, there or not."""
    return os.path.join(home, environ.get("CODEX_HOME", "") or ".codex")


def is_memory(root: str, names: frozenset[str]) -> bool:
    """Say whether the directory `root` with these `names` in it holds Codex memories."""
    if f"{SUMMARY_FOLDER}/" in names:
        return True
    if SUMMARY not in names:
        return False
    start = read_plain_file(os.path.join(root, SUMMARY), len(_FIRST_LINE) + 2) or b""
    return start.split(b"\n")[0].rstrip(b"\r") == _FIRST_LINE
