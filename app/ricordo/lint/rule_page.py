"""The page of a rule: what it checks, why it matters, examples and what to do.

The pages are `rule_pages/NAME.toml`, one per rule, and the only source of these texts: for `ricordo
rule`, SARIF, the screen and docs/rules.md. Their examples are run by tests: the bad one makes the
rule report exactly its `reports`, the good one makes no rule report an error or a warning.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from typing import Any, NamedTuple

import tomli

from ricordo.lint.finding import Severity
from ricordo.lint.rule import DEFAULT_THRESHOLDS, load_rules
from ricordo.resources import read_data_text

GROUPS = (
    "Index",
    "Frontmatter",
    "Files",
    "Links",
    "Project",
    "Dates and age",
    "Pairs of notes",
    "Safety",
)
"""The groups of rules, in the order in which they are listed."""

_REPEATED = re.compile(r"^@(\d+) (.*)$", re.MULTILINE)
"""A line that an example has many times: `@210 - [Table {n}](tables.md#{n})`, counted by `{n}`."""


class Example(NamedTuple):
    """A small memory, and what else the rule depends on."""

    memory: Mapping[str, str]
    """The text of each file, by its path in the memory; of a good example, only those that differ
    from the bad one.
    """
    removed: tuple[str, ...] = ()
    """Of a good example, the files that only the bad one has."""
    encodings: Mapping[str, str] = {}
    """The encodings of files, by path, where the rule is about them."""
    project: Mapping[str, str] = {}
    """The text of each file of the project, by path."""
    today: date | None = None
    """The day on which the memory is judged; None where it does not matter."""
    read: tuple[str, ...] | None = None
    """The notes that the only known session has read; None where sessions do not matter."""
    reports: tuple[str, ...] = ()
    """What the rule reports, as `path:line: message`."""


ENOUGH = 20
"""Judged findings from which their share says something of the rule."""


class Judged(NamedTuple):
    """The number of findings that readers judged."""

    wanted: int
    """Right, and a careful owner would want to know."""
    useless: int
    """Right, but of no use."""
    false: int

    @property
    def number(self) -> int:
        """All of them."""
        return sum(self)

    @property
    def right(self) -> int:
        """Those that are right."""
        return self.wanted + self.useless


def compute_interval(hits: int, of: int) -> tuple[float, float]:
    """Return Wilson's interval of a share at 95 % (E. B. Wilson, 1927); (0, 1) for nothing."""
    if not of:
        return 0.0, 1.0
    z, share = 1.96, hits / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of)) / (1 + z * z / of)
    return max(0.0, middle - half), min(1.0, middle + half)


@dataclass(frozen=True)
class RulePage:
    """The page of one rule. Paragraphs are separated by an empty line and have markdown's marks for
    code only.
    """

    name: str
    severity: Severity
    """The default."""
    summary: str
    """The kind of finding, in one line."""
    group: str
    """One of GROUPS."""
    checks: str
    """What it reports and what it leaves out."""
    why: str
    """Why that hurts an agent."""
    dismiss: str
    """When such a finding is no problem."""
    resolve: str
    """What the user can do about it."""
    fix: str
    """What its automatic fix does, and when that is safe; "" where it has none."""
    bad: Example
    good: Example
    judged: Mapping[str, Judged] = field(default_factory=dict)
    """What readers said of its findings on real memories: `sealed` on those that no rule was
    changed for, `tune` on the others; empty until some were judged.
    """
    is_info_judged: bool = False
    """Whether these are findings of the severity info, as none of its errors and warnings was
    judged.
    """

    @property
    def precision(self) -> float | None:
        """The share of its findings that are right, 0 to 1, on memories that no rule was changed
        for; None where fewer than ENOUGH were judged.
        """
        sealed = self.judged.get("sealed", Judged(0, 0, 0))
        return sealed.right / sealed.number if sealed.number >= ENOUGH else None

    @property
    def thresholds(self) -> Mapping[str, float]:
        """The limits that settings can change, by key, with their defaults."""
        start = f"{self.name}."
        return {key: n for key, n in DEFAULT_THRESHOLDS.items() if key.startswith(start)}


def load_rule_page(name: str) -> RulePage:
    """Return the page of the rule `name`. Raises KeyError if there is no such rule."""
    rule = load_rules()[name]
    judged = _read_judged(name, "")
    is_info = not judged
    judged = judged or _read_judged(name, "-info")
    page = tomli.loads(read_data_text(f"lint/rule_pages/{name}.toml"))
    bad = _read_example(page["bad"])
    return RulePage(
        name=name,
        severity=rule.severity,
        summary=rule.summary,
        group=page["group"],
        checks=_join_lines(page["checks"]),
        why=_join_lines(page["why"]),
        dismiss=_join_lines(page["dismiss"]),
        resolve=_join_lines(page["resolve"]),
        fix=_join_lines(page["fix"]),
        bad=bad,
        good=_read_example(page["good"])._replace(project=bad.project, today=bad.today),
        judged=judged,
        is_info_judged=is_info,
    )


def _read_judged(name: str, severity: str) -> dict[str, Judged]:
    """Return the numbers of judged findings of the rule `name`: errors and warnings for "", else
    `-info`.
    """
    tables = {
        use: _load_judged().get(f"{use}{severity}", {}).get(name) for use in ("sealed", "tune")
    }
    return {use: Judged(*counts) for use, counts in tables.items() if counts}


@cache
def _load_judged() -> dict[str, dict[str, list[int]]]:
    """Return the table of judged findings, which `tests.benchmarks.precision --write` makes."""
    return tomli.loads(read_data_text("lint/judged.toml"))


def load_rule_pages() -> list[RulePage]:
    """Return the pages of all rules, by group and name."""
    pages = map(load_rule_page, load_rules())
    return sorted(pages, key=lambda page: (GROUPS.index(page.group), page.name))


def expand_repeats(text: str) -> str:
    """Return the text of a file of an example with all of its repeated lines."""
    return _REPEATED.sub(lambda match: "\n".join(_repeat(match)), text)


def abridge_repeats(text: str) -> str:
    """Return the text of a file of an example with the first and last of repeated lines only."""

    def abridge(match: re.Match[str]) -> str:
        first, *between, last = _repeat(match)
        return f"{first}\n… {len(between)} lines like these …\n{last}"

    return _REPEATED.sub(abridge, text)


def _repeat(match: re.Match[str]) -> Iterator[str]:
    return (match[2].replace("{n}", str(number)) for number in range(1, int(match[1]) + 1))


def _read_example(written: Mapping[str, Any]) -> Example:
    read = written.get("read")
    return Example(
        written.get("memory", {}),
        tuple(written.get("without", ())),
        written.get("encodings", {}),
        written.get("project", {}),
        written.get("today"),
        None if read is None else tuple(read),
        tuple(written.get("reports", ())),
    )


def _join_lines(text: str) -> str:
    """Return the paragraphs of `text`, each in one line."""
    return "\n\n".join(" ".join(lines.split()) for lines in text.strip().split("\n\n"))
