"""The facts that a hook may tell an agent about a memory, kept when the memory is checked: a hook
has no time to check anything.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Sequence
from typing import Any

from ricordo.lint.evidence import CheckOutcome, ClaimKind, Evidence
from ricordo.lint.finding import Finding, Severity
from ricordo.memory.memory import Memory
from ricordo.secrets import mask
from ricordo.storage.cache_file import CacheFile
from ricordo.storage.hook_files import read_facts, save_facts

_INDEX_FOLDER = "recall"
_FIRST = "lost-correction"
RULES = frozenset(
    (
        _FIRST,
        "contradiction",
        "dead-link",
        "index-missing-file",
        "missing-path",
        "missing-symbol",
        "passed-date",
    )
)
"""The rules whose findings say what is wrong, not what would be better."""
_UNSAFE = frozenset(("secret", "instruction-shaped"))
"""The rules that say what must not reach an agent; a finding that the user dismissed is none."""
MOST_FACTS = 20
_MOST_NAMED = 2_000
"""Files of the project whose notes are kept."""


def keep_session_facts(
    state: str, memory: Memory, findings: Sequence[Finding], evidence: Evidence
) -> None:
    """Keep what `findings`, made with `evidence`, say about a memory. Raises OSError."""
    index = CacheFile(state, _INDEX_FOLDER, memory.root).path
    unsafe = frozenset(it.path for it in findings if it.rule in _UNSAFE)
    facts = {
        "facts": _list_facts(memory, findings, unsafe),
        "named": _list_named(memory, evidence, unsafe),
    }
    if read_facts(index) != facts:
        save_facts(index, facts)


def _list_facts(
    memory: Memory, findings: Sequence[Finding], unsafe: Container[str]
) -> list[dict[str, Any]]:
    """Return what is wrong of the lines that an agent loads, and of the notes that they are about,
    but for `unsafe` ones: corrections that are not loaded first, then what is wrong of the index.
    """
    index = memory.index.path if memory.index else ""
    facts = [finding for finding in findings if _is_fact(memory, finding, unsafe)]
    facts.sort(key=lambda it: (it.rule != _FIRST, it.path != index, -it.severity))
    return [
        {"text": _describe(finding), "files": list(_list_files(memory, finding))}
        for finding in facts[:MOST_FACTS]
    ]


def _is_fact(memory: Memory, finding: Finding, unsafe: Container[str]) -> bool:
    if finding.rule not in RULES or finding.severity < Severity.WARNING:
        return False
    paths = [path for path in (finding.path, finding.other_path) if path]
    if any(path not in memory.by_path or path in unsafe for path in paths):
        return False
    if finding.rule == _FIRST:
        return True
    index, cut = memory.index, memory.load.cut_at_line
    if index is None:
        return False
    if finding.path == index.path:
        return cut is None or finding.line < cut
    return any(
        of is index and (cut is None or entry.line < cut)
        for of, entry in memory.entries.get(finding.path, ())
    )


def _describe(finding: Finding) -> str:
    place = f"{finding.path}:{finding.line}" if finding.line else finding.path
    return mask(f"{place}: {finding.message}")


def _list_files(memory: Memory, finding: Finding) -> Iterator[list[str | int]]:
    """Yield the files on which a finding is based, as they were."""
    for path in filter(None, (finding.path, finding.other_path)):
        facts = memory.by_path[path].facts
        yield [path, facts.size, facts.changed_ns]


def _list_named(memory: Memory, evidence: Evidence, unsafe: Container[str]) -> dict[str, list[str]]:
    """Return the notes but the `unsafe` ones that name a file of the project, by its path there."""
    named: dict[str, list[str]] = {}
    for path, verdicts in sorted(evidence.verdicts.items()):
        if path not in memory.by_path or path in unsafe:
            continue
        for verdict in verdicts:
            if verdict.kind is ClaimKind.PATH and verdict.outcome is CheckOutcome.VALID:
                file = verdict.evidence[0] if verdict.evidence else ""
                if file and os.path.isfile(os.path.join(evidence.project, file)):
                    named.setdefault(file, []).append(path)
    return dict(list(named.items())[:_MOST_NAMED])
