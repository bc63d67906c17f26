"""The three panes as plain text, for a pipe or where there is no terminal."""

from __future__ import annotations

from ricordo.lint.finding import Finding
from ricordo.memory.layout import FileRole
from ricordo.memory.memory import Memory
from ricordo.services.describe import dropped
from ricordo.services.workspace.notebook import Snapshot
from ricordo.text import clip, one_line

GLYPHS = {3: "✗", 2: "!", 1: "·", 0: "✓"}
"""By severity; 0 for a note without findings."""


def report(look: Snapshot, width: int = 100) -> list[str]:
    """Return index, load and findings of a memory as visible lines of about `width` cells."""
    memory = look.memory
    lines = [f"{one_line(memory.root)}  {memory.layout.agent or memory.layout.kind}".rstrip()]
    lines += ["", f"Index: {len(memory.notes)} notes", ""]
    for file in memory.files:
        if file.role is FileRole.INDEX:
            continue
        glyph = GLYPHS[look.worst(file.path) or 0]
        lines.append(clip(f"  {glyph} {one_line(file.name):<34} {one_line(file.path)}", width))
    lines += ["", "Load: " + load_line(memory), ""]
    lines += [
        clip(f"  below the cut, line {line}: {one_line(title)} ({one_line(path)})", width)
        for line, title, path in dropped(memory)
    ]
    lines += ["", "Freshness: " + summary_line(look), ""]
    lines += [f"  {finding_line(finding)}" for finding in look.findings]
    return lines


def load_line(memory: Memory) -> str:
    """Return the load in lines and units, and the line from which it is cut."""
    load = memory.load
    if load.limits is None:
        return f"{load.lines} lines, {load.units:,} units; no limit known for this kind"
    measure = f"{load.lines}/{load.limits.lines} lines, {load.units:,}/{load.limits.units:,} units"
    if load.cut_at_line is None:
        return f"{measure}; all loaded"
    return f"{measure}; cut at line {load.cut_at_line}, {len(dropped(memory))} entries not loaded"


def summary_line(look: Snapshot) -> str:
    """Return how many findings there are of each severity, in words."""
    parts = [f"{count} {severity.word}" for severity, count in look.counts.items()]
    dismissed = f", {len(look.dismissed)} dismissed" if look.dismissed else ""
    return ", ".join(parts) + dismissed


def finding_line(finding: Finding) -> str:
    """Return a finding in the style of a compiler: place, severity, message, rule."""
    place = one_line(finding.path) or "."
    if finding.line:
        place += f":{finding.line}"
    return f"{place}: {finding.severity.word}: {one_line(finding.message)} [{finding.rule}]"
