"""A finding: one thing that is wrong, where, and by what evidence."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from enum import IntEnum

from ricordo.memory.change import Act, WriteFile


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
    """What would mend a finding without a person having to write anything."""

    label: str
    """One line that says what it would do."""
    acts: tuple[Act, ...] = field(repr=False)
    """They hold lines of the file, a credential too, so they are never printed."""
    safe: bool = False
    """Whether it is certain to be right and loses nothing; else a person has to see it."""
    reason: str = ""
    """Why, as the history keeps it; "" where the label says enough."""

    @property
    def paths(self) -> frozenset[str]:
        """The files of the memory that it is about."""
        return frozenset(act.path for act in self.acts if not isinstance(act, WriteFile))


def finding_id(rule: str, path: str, cause: str, occurrence: int = 0) -> str:
    """Return the id of a finding; `path` is "" for one that is the same in files of any name."""
    parts = "\0".join((rule, path, cause, str(occurrence)))
    return hashlib.blake2b(parts.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


_AGE = frozenset(("stale", "never-read"))
"""The rules that go by time alone, where they have no evidence."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong with a memory."""

    rule: str
    severity: Severity
    path: str
    """The file, relative to the memory; "" for the memory as a whole."""
    line: int
    """1-based; 0 for the whole file."""
    message: str
    cause: str
    """The text that the finding rests on: while it stands, the finding is the same one."""
    evidence: tuple[str, ...] = ()
    occurrence: int = 0
    """Counts findings of one rule, file and cause; of one rule and cause where no file counts."""
    fix: Fix | None = None
    is_anywhere: bool = False
    """Whether it is the same one in files of any name."""
    other: str = ""
    """The second file that it is of, relative to the memory; "" where it is of one."""
    id: str = field(init=False, default="")

    def __post_init__(self) -> None:
        path = "" if self.is_anywhere else self.path
        object.__setattr__(self, "id", finding_id(self.rule, path, self.cause, self.occurrence))

    @property
    def is_of_age(self) -> bool:
        """Whether it goes by time alone: nothing speaks against the note but that."""
        return self.rule in _AGE and not self.evidence

    @property
    def rank(self) -> tuple[int, bool, str, int, str]:
        """Sort key: worst first, evidence before age, then by place."""
        return (-self.severity, self.is_of_age, self.path, self.line, self.rule)
