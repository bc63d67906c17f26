"""The registry of rules.

A rule is one small function that yields what it found. Decorated with `note_rule` it is given one
file at a time and may look at nothing else, so that its answer is kept until that file changes;
decorated with `verdict_rule` it is given a file and what came of checking its claims, and its
answer is kept until one of them changes; decorated with `memory_rule` it is given the whole memory,
and its answer is kept only where it tells on what it rests. Writing such a function in a module of
`lint/rules` is all that it takes to add a rule.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from ricordo.lint.evidence import NOTHING_KNOWN, Evidence, Verdict
from ricordo.lint.finding import Fix, Severity
from ricordo.memory.layout import FileRole, Layout
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note

if TYPE_CHECKING:
    from ricordo.lint.retention import Retention


class RuleResult(NamedTuple):
    """What a rule yields: where, what, and on which text it rests."""

    line: int
    """1-based; 0 for the whole file."""
    message: str
    cause: str
    """The text that the finding rests on; while it stands, a dismissal holds."""
    evidence: tuple[str, ...] = ()
    path: str = ""
    """The file; a note rule leaves it out."""
    fix: Fix | None = None
    is_anywhere: bool = False
    """Whether a dismissal holds whatever the files are called."""
    other: str = ""
    """The second file that it is of; "" where it is of one."""


DEFAULT_THRESHOLDS: Mapping[str, float] = {
    "index-near-budget.share": 0.75,
    "index-long-entry.characters": 200,
    "index-inline-body.lines": 4,
    "oversized-note.bytes": 8 * 1024,
    "lost-correction.likeness": 90,
    "stale.user": 0.6,
    "stale.feedback": 0.65,
    "stale.reference": 0.7,
    "stale.project": 0.7,
    "stale.other": 0.7,
    "stale.wiki": 0.7,
}
"""Every number that the settings can change, by rule and name."""


@dataclass(frozen=True, slots=True)
class RuleContext:
    """What a rule may know besides the files."""

    now: datetime
    """With time zone."""
    layout: Layout
    thresholds: Mapping[str, float] = field(default_factory=lambda: DEFAULT_THRESHOLDS)
    renamed: Mapping[str, str] = field(default_factory=dict)
    """The present paths of files by the paths that they had, as the history knows them."""
    evidence: Evidence = NOTHING_KNOWN
    """What is known besides the text. For rules on the memory alone, which tell in `rests_on` at
    which part of it they look; rules on verdicts are given theirs.
    """
    retention: Mapping[str, Retention] = field(default_factory=dict)
    """How far each note can be trusted today, by path; empty before the evidence is there."""
    encrypted: Container[str] = frozenset()
    """Paths of the files that git encrypts, or does not take for text."""


NoteRule = Callable[[Note, RuleContext], Iterator[RuleResult]]
VerdictRule = Callable[[Note, tuple[Verdict, ...], RuleContext], Iterator[RuleResult]]
MemoryRule = Callable[[Memory, RuleContext], Iterator[RuleResult]]
RestsOn = Callable[[Memory, RuleContext], tuple[object, ...]]
"""Gives everything that a memory rule looks at, but for the layout and the day: while it is equal,
so is the answer of the rule.
"""

JUDGED = frozenset((FileRole.NOTE, FileRole.SOURCE))
EVERY_ROLE = frozenset(FileRole)


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule, what it stands for, and where it applies."""

    name: str
    severity: Severity
    summary: str
    """What it finds, in one line, as help and SARIF show it."""
    roles: frozenset[FileRole]
    on_note: NoteRule | None = None
    on_verdicts: VerdictRule | None = None
    on_memory: MemoryRule | None = None
    rests_on: RestsOn | None = None
    """None for a memory rule that has to be asked again whenever anything changed."""


_registered: dict[str, Rule] = {}


def note_rule(
    name: str,
    severity: Severity,
    summary: str,
    *,
    roles: frozenset[FileRole] = JUDGED,
) -> Callable[[NoteRule], NoteRule]:
    """Register a rule that judges each file of these `roles` by itself."""

    def register(function: NoteRule) -> NoteRule:
        _registered[name] = Rule(name, severity, summary, roles, on_note=function)
        return function

    return register


def verdict_rule(
    name: str, severity: Severity, summary: str
) -> Callable[[VerdictRule], VerdictRule]:
    """Register a rule that judges each file by what came of checking its claims; it is not asked
    where there was nothing to check.
    """

    def register(function: VerdictRule) -> VerdictRule:
        _registered[name] = Rule(name, severity, summary, EVERY_ROLE, on_verdicts=function)
        return function

    return register


def memory_rule(
    name: str,
    severity: Severity,
    summary: str,
    *,
    rests_on: RestsOn | None = None,
) -> Callable[[MemoryRule], MemoryRule]:
    """Register a rule that judges the memory as a whole; with `rests_on`, its answer is kept."""

    def register(function: MemoryRule) -> MemoryRule:
        _registered[name] = Rule(
            name, severity, summary, EVERY_ROLE, on_memory=function, rests_on=rests_on
        )
        return function

    return register


@cache
def all_rules() -> Mapping[str, Rule]:
    """Return every rule by name, after loading the modules of `lint/rules`."""
    from ricordo.lint import rules

    for module in pkgutil.iter_modules(rules.__path__):
        importlib.import_module(f"{rules.__name__}.{module.name}")
    return dict(sorted(_registered.items()))
