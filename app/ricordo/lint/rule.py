"""The registry of rules.

A rule is a small function that yields results. A `note_rule` gets one file at a time and may read
nothing else, so its results are cached until the file changes. A `verdict_rule` gets a file and the
verdicts on its claims, and is cached until one of them changes. A `memory_rule` gets the whole
memory, and is cached only with `depends_on`. To add a rule, write such a function in a module of
`lint/rules`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from ricordo.lint.conventions import NO_CONVENTIONS, Conventions
from ricordo.lint.evidence import NO_EVIDENCE, Evidence, Verdict
from ricordo.lint.finding import Fix, Severity
from ricordo.memory.layout import FileRole, Layout
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note

if TYPE_CHECKING:
    from ricordo.lint.retention import Retention


class RuleResult(NamedTuple):
    """A finding as a rule yields it: place, message and the text that it is based on."""

    line: int
    """1-based; 0 for the whole file."""
    message: str
    cause: str
    """The text that the finding is based on; a dismissal is valid until it changes."""
    evidence: tuple[str, ...] = ()
    path: str = ""
    """The file; "" in results of a note rule."""
    fix: Fix | None = None
    is_path_independent: bool = False
    """Whether a dismissal stays valid when the files are renamed."""
    other_path: str = ""
    """The second file of a finding on two files; else ""."""
    at_most: Severity = Severity.ERROR
    """The severity of a finding that matters less than others of its rule."""
    origin: str = ""
    """What led to this finding and to others, as in Finding; "" where nothing is known."""


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
"""Every number that settings can change, by rule and name."""
LARGEST_THRESHOLDS: Mapping[str, float] = {
    "index-near-budget.share": 1,
    "lost-correction.likeness": 100,
    **{name: 1 for name in DEFAULT_THRESHOLDS if name.startswith("stale.")},
}
"""The largest value of each of these numbers that is a share."""


@dataclass(frozen=True, slots=True)
class RuleContext:
    """The input of a rule besides the files."""

    now: datetime
    """With time zone."""
    layout: Layout
    thresholds: Mapping[str, float] = field(default_factory=lambda: DEFAULT_THRESHOLDS)
    renamed: Mapping[str, str] = field(default_factory=dict)
    """The present paths of renamed files by their former ones, from the history."""
    evidence: Evidence = NO_EVIDENCE
    """Facts from outside the text. For memory rules, which name the parts that they use in
    `depends_on`, and note rules with `depends_on_commit`; verdict rules get their verdicts
    directly.
    """
    retention: Mapping[str, Retention] = field(default_factory=dict)
    """The retention of each note today, by path; empty until the evidence is gathered."""
    encrypted: Container[str] = frozenset()
    """Paths of the files that git encrypts or treats as binary."""
    ignored: Container[str] = frozenset()
    """Paths of missing targets of links that git ignores, so that other machines may have them."""
    conventions: Conventions = NO_CONVENTIONS
    """What is usual in the memory."""
    instructed: Container[str] = frozenset()
    """Paths of the notes that the instructions of the project name, so that agents open them."""
    around: tuple[str, ...] = ()
    """The roots of the git worktree in which the memory lies, and of its project."""


NoteRule = Callable[[Note, RuleContext], Iterator[RuleResult]]
VerdictRule = Callable[[Note, tuple[Verdict, ...], RuleContext], Iterator[RuleResult]]
MemoryRule = Callable[[Memory, RuleContext], Iterator[RuleResult]]
DependsOn = Callable[[Memory, RuleContext], tuple[object, ...]]
"""Returns everything that a memory rule uses, except layout and day: while it is equal, so are the
results.
"""

JUDGED_ROLES = frozenset((FileRole.NOTE, FileRole.SOURCE))
ALL_ROLES = frozenset(FileRole)


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule, with its help and where it applies."""

    name: str
    severity: Severity
    summary: str
    """The kind of finding, in one line, for help and SARIF."""
    roles: frozenset[FileRole]
    on_note: NoteRule | None = None
    on_verdicts: VerdictRule | None = None
    on_memory: MemoryRule | None = None
    depends_on: DependsOn | None = None
    """None for a memory rule that runs again after every change."""
    is_set_by_user: bool = False
    """Whether the severity is the user's: then all its findings have it."""
    depends_on_day: bool = False
    """Whether a note rule may find something in an unchanged file only because a day has passed."""
    depends_on_commit: bool = False
    """Whether the severity of what a note rule finds depends on when the file was committed."""


_registered: dict[str, Rule] = {}


def note_rule(
    name: str,
    severity: Severity,
    summary: str,
    *,
    roles: frozenset[FileRole] = JUDGED_ROLES,
    depends_on_day: bool = False,
    depends_on_commit: bool = False,
) -> Callable[[NoteRule], NoteRule]:
    """Register a rule on each single file of these `roles`."""

    def register(function: NoteRule) -> NoteRule:
        _registered[name] = Rule(
            name,
            severity,
            summary,
            roles,
            on_note=function,
            depends_on_day=depends_on_day,
            depends_on_commit=depends_on_commit,
        )
        return function

    return register


def verdict_rule(
    name: str, severity: Severity, summary: str
) -> Callable[[VerdictRule], VerdictRule]:
    """Register a rule on the verdicts on each file's claims; it skips files without claims."""

    def register(function: VerdictRule) -> VerdictRule:
        _registered[name] = Rule(name, severity, summary, ALL_ROLES, on_verdicts=function)
        return function

    return register


def memory_rule(
    name: str,
    severity: Severity,
    summary: str,
    *,
    depends_on: DependsOn | None = None,
) -> Callable[[MemoryRule], MemoryRule]:
    """Register a rule on the whole memory; with `depends_on`, its results are cached."""

    def register(function: MemoryRule) -> MemoryRule:
        _registered[name] = Rule(
            name, severity, summary, ALL_ROLES, on_memory=function, depends_on=depends_on
        )
        return function

    return register


@cache
def load_rules() -> Mapping[str, Rule]:
    """Load the modules of `lint/rules` and return every rule by name."""
    from ricordo.lint import rules

    for module in pkgutil.iter_modules(rules.__path__):
        importlib.import_module(f"{rules.__name__}.{module.name}")
    return dict(sorted(_registered.items()))
