"""What is remembered of a look at a memory, for answers that may not take the time to look."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ricordo.agents.place import Place
from ricordo.disk.last_seen import Summary
from ricordo.health.finding import Severity
from ricordo.memory.layout import Kind
from ricordo.notebook.evidence import EVIDENCE_RULES

if TYPE_CHECKING:
    from ricordo.notebook.open import Look


def summary(place: Place, look: Look) -> Summary:
    """Return the numbers of a look, in the form in which `disk.last_seen` keeps them; those of what
    takes evidence only where there is any.
    """
    load = look.memory.load
    by_evidence = _by_evidence(look)
    known = {_known(it): by_evidence[it] for it in Severity} if look.known else {}
    return {
        **known,
        "name": short_name(place),
        "project": place.project,
        "at": look.at.isoformat(),
        "notes": len(look.memory.notes),
        "errors": look.counts[Severity.ERROR] - by_evidence[Severity.ERROR],
        "warnings": look.counts[Severity.WARNING] - by_evidence[Severity.WARNING],
        "lines": load.lines,
        "units": load.units,
        "max_lines": load.limits.lines if load.limits else None,
        "max_units": load.limits.units if load.limits else None,
    }


def counted(look: Look, before: Summary) -> Mapping[Severity, int]:
    """Return how many findings of each severity there are by a look, and where it is one at the
    notes alone, by the last one with evidence too; `before` is what was kept of that.
    """
    if look.known:
        return look.counts
    kept = {it: before.get(_known(it)) for it in look.counts}
    more = {it: n if isinstance(n, int) else 0 for it, n in kept.items()}
    return {it: look.counts[it] + more[it] for it in look.counts}


def has_evidence(before: Summary) -> bool:
    """Say whether a memory of which `before` is kept was ever looked at with evidence."""
    return _known(Severity.ERROR) in before


def _by_evidence(look: Look) -> Counter[Severity]:
    return Counter(it.severity for it in look.findings if it.rule in EVIDENCE_RULES)


def _known(severity: Severity) -> str:
    return f"known_{severity.word}s"


def short_name(place: Place) -> str:
    """Return what a person calls a memory: the project or sub-agent whose it is, else the agent."""
    if place.layout.kind is Kind.CODEX:
        return place.layout.agent
    if place.layout.kind is not Kind.CLAUDE_AGENT and place.project:
        return os.path.basename(place.project)
    folder, name = os.path.split(place.root)
    return os.path.basename(folder) if name == "memory" else name
