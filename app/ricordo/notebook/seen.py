"""What is remembered of a look at a memory, for answers that may not take the time to look."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ricordo.agents.place import Place
from ricordo.disk.last_seen import Summary
from ricordo.health.finding import Severity
from ricordo.memory.layout import Kind

if TYPE_CHECKING:
    from ricordo.notebook.open import Look


def summary(place: Place, look: Look) -> Summary:
    """Return the numbers of a look, in the form in which `disk.last_seen` keeps them."""
    load = look.memory.load
    return {
        "name": short_name(place),
        "project": place.project,
        "at": look.at.isoformat(),
        "notes": len(look.memory.notes),
        "errors": look.counts[Severity.ERROR],
        "warnings": look.counts[Severity.WARNING],
        "lines": load.lines,
        "units": load.units,
        "max_lines": load.limits.lines if load.limits else None,
        "max_units": load.limits.units if load.limits else None,
    }


def short_name(place: Place) -> str:
    """Return what a person calls a memory: the project or sub-agent whose it is, else the agent."""
    if place.layout.kind is Kind.CODEX:
        return place.layout.agent
    if place.layout.kind is not Kind.CLAUDE_AGENT and place.project:
        return os.path.basename(place.project)
    folder, name = os.path.split(place.root)
    return os.path.basename(folder) if name == "memory" else name
