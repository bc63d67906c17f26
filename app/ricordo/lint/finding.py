"""Findings of rules, with their fixes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from enum import IntEnum

from ricordo.memory.change import ChangeOperation, WriteFile


class Severity(IntEnum):
    """How much a finding matters; higher is worse."""

    INFO = 1
    WARNING = 2
    ERROR = 3

    @property
    def word(self) -> str:
        """The name in lower case, as settings, JSON and SARIF write it."""
        return self.name.lower()


SEVERITY_WORDS = {severity.word: severity for severity in Severity}


@dataclass(frozen=True, slots=True)
class Fix:
    """A change that removes a finding and needs no input."""

    label: str
    """One line that describes the change."""
    acts: tuple[ChangeOperation, ...] = field(repr=False)
    """Not in the repr: they contain lines of the file, possibly with a secret."""
    safe: bool = False
    """Whether it is certain to be right and loses nothing; otherwise the user has to review it."""
    reason: str = ""
    """The reason in the history; "" where the label is enough."""

    @property
    def paths(self) -> frozenset[str]:
        """The files of the memory that it changes."""
        return frozenset(act.path for act in self.acts if not isinstance(act, WriteFile))


def finding_id(rule: str, path: str, cause: str, occurrence: int = 0) -> str:
    """Return the id of a finding; `path` is "" for one that does not depend on file names."""
    parts = "\0".join((rule, path, cause, str(occurrence)))
    return hashlib.blake2b(parts.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def build_group_cause(origin: str) -> str:
    """Return the cause of the one finding for those of a rule with that `origin`."""
    return f"origin\0{origin}"


_AGE = frozenset(("stale", "never-read"))
"""The rules that judge by age alone, where their findings have no evidence."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem of a memory."""

    rule: str
    severity: Severity
    path: str
    """The file, relative to the memory; "" for the memory as a whole."""
    line: int
    """1-based; 0 for the whole file."""
    message: str
    """Composed by its rule, a function in `lint/rules/`, for the `RuleResult` that it yields."""
    cause: str
    """The text that the finding is based on: while it is the same, so is the finding."""
    evidence: tuple[str, ...] = ()
    occurrence: int = 0
    """Number among findings of one rule, file and cause; with
    `is_path_independent` in all files."""
    fix: Fix | None = None
    is_path_independent: bool = False
    """Whether its id does not depend on the names of files."""
    other_path: str = ""
    """The second file of a finding on two files, relative to the memory; else ""."""
    members: tuple[Finding, ...] = ()
    """The findings of one rule that it is shown instead of; else empty."""
    origin: str = ""
    """What led to this finding and to others of its rule: the id of the commit that lost files or
    names, the version that the project has, the fault by which files cannot be read, what links
    lead out to, should mean or leave out, the sentence with a date, the code blocks around notes.
    Of those of one file, behind its path: the tree in which it draws files, the file of the project
    with other values, or that all is lost to which it links. "" where nothing is known.
    """
    id: str = field(init=False, default="")

    def __post_init__(self) -> None:
        path = "" if self.is_path_independent else self.path
        object.__setattr__(self, "id", finding_id(self.rule, path, self.cause, self.occurrence))

    @property
    def group_id(self) -> str:
        """The id of the one finding for those of its rule with the same origin; "" where it has
        none.
        """
        cause = build_group_cause(self.origin)
        return finding_id(self.rule, "", cause) * bool(self.origin)

    def is_only_of(self, path: str) -> bool:
        """Return whether it and its members are on the file at `path` alone."""
        return all(path in (it.path, it.other_path) for it in self.each)

    @property
    def each(self) -> tuple[Finding, ...]:
        """The findings that it is shown instead of, else itself alone."""
        return self.members or (self,)

    @property
    def fix_label(self) -> str:
        """What its fixes change, in one line; "" if it has none."""
        fixes = [it.fix.label for it in self.each if it.fix]
        if len(fixes) > 1:
            return f"{len(fixes):,} fixes, the first: {fixes[0]}"
        return fixes[0] if fixes else ""

    @property
    def is_age_only(self) -> bool:
        """Whether nothing but age speaks against the note."""
        return self.rule in _AGE and not self.evidence

    @property
    def rank(self) -> tuple[int, bool, str, int, str]:
        """Sort key: worst first, evidence before age, then by place."""
        return (-self.severity, self.is_age_only, self.path, self.line, self.rule)
