"""The three panes as plain text, for a pipe or where there is no terminal."""

from __future__ import annotations

from ricordo.lint.finding import Finding
from ricordo.memory.layout import FileRole
from ricordo.memory.memory import Memory
from ricordo.services.describe import find_unloaded_entries
from ricordo.services.workspace.notebook import Snapshot
from ricordo.text import clip, make_one_line

GLYPHS = {3: "✗", 2: "!", 1: "·", 0: "✓"}
"""By severity; 0 for a note without findings."""


def build_report(snapshot: Snapshot, width: int = 100) -> list[str]:
    """Return index, load and findings of a memory as visible lines of about `width` cells."""
    memory = snapshot.memory
    lines = [f"{make_one_line(memory.root)}  {memory.layout.agent or memory.layout.kind}".rstrip()]
    lines += ["", f"Index: {len(memory.notes)} notes", ""]
    for file in memory.files:
        if file.role is FileRole.INDEX:
            continue
        glyph = GLYPHS[snapshot.worst_severity(file.path) or 0]
        lines.append(
            clip(f"  {glyph} {make_one_line(file.name):<34} {make_one_line(file.path)}", width)
        )
    lines += ["", "Load: " + format_load(memory), ""]
    lines += [
        clip(f"  below the cut, line {line}: {make_one_line(title)} ({make_one_line(path)})", width)
        for line, title, path in find_unloaded_entries(memory)
    ]
    lines += ["", "Freshness: " + format_summary(snapshot), ""]
    lines += [f"  {format_finding(finding)}" for finding in snapshot.findings]
    return lines


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


def format_summary(snapshot: Snapshot) -> str:
    """Return how many findings there are of each severity, in words."""
    parts = [f"{count} {severity.word}" for severity, count in snapshot.counts.items()]
    dismissed = f", {len(snapshot.dismissed)} dismissed" if snapshot.dismissed else ""
    return ", ".join(parts) + dismissed


def format_finding(finding: Finding) -> str:
    """Return a finding in the style of a compiler: place, severity, message, rule."""
    place = make_one_line(finding.path) or "."
    if finding.line:
        place += f":{finding.line}"
    return f"{place}: {finding.severity.word}: {make_one_line(finding.message)} [{finding.rule}]"
