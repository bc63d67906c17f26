"""What an agent loads of a memory, as a JSON value, the contract of the command line, and as plain
text.
"""

from __future__ import annotations

from typing import Any

from ricordo.memory.memory import Memory
from ricordo.secrets import mask_passage


def describe_load(memory: Memory) -> dict[str, Any]:
    """Return how much an agent loads at session start, as JSON documents have it."""
    load = memory.load
    limits = load.limits
    return {
        "kind": memory.layout.kind,
        "lines": load.lines,
        "units": load.units,
        "max_lines": limits.lines if limits else None,
        "max_units": limits.units if limits else None,
        "cut_at_line": load.cut_at_line,
        "dropped": [
            {"line": line, "title": title, "path": path}
            for line, title, path in find_unloaded_entries(memory)
        ],
    }


def find_unloaded_entries(memory: Memory) -> list[tuple[int, str, str]]:
    """Return the entries that an agent does not load: line of the index, title without secrets,
    file.
    """
    cut, index = memory.load.cut_at_line, memory.index
    if cut is None or index is None:
        return []
    return [
        (
            entry.line,
            mask_passage(entry.title, index.note.text),
            memory.resolve_entry(index, entry).path,
        )
        for entry in index.entries
        if entry.line >= cut
    ]


def format_load(memory: Memory) -> str:
    """Return the load in lines and units, and the line from which it is cut."""
    load = memory.load
    if load.limits is None:
        return f"{load.lines} lines, {load.units:,} units; no limit known for this kind"
    measure = f"{load.lines}/{load.limits.lines} lines, {load.units:,}/{load.limits.units:,} units"
    if load.cut_at_line is None:
        return f"{measure}; all loaded"
    unloaded = len(find_unloaded_entries(memory))
    return f"{measure}; cut at line {load.cut_at_line}, {unloaded} entries not loaded"


def format_other_folder(agent: str) -> str:
    """Return that `agent` does not load a folder by itself, though it is in the form of its own."""
    return f"{agent} keeps its memory elsewhere: it loads this folder only where a file imports it."
