"""The page of a rule: what it checks, why it matters, examples and what to do.

The pages are `rule_pages/NAME.toml`, one per rule, and the only source of these texts: for `ricordo
rule`, SARIF, the screen and docs/rules.md. Their examples are run by tests: the bad one makes the
rule report exactly its `reports`, the good one makes no rule report an error or a warning.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, NamedTuple

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


@dataclass(frozen=True, slots=True)
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
    precision: float | None
    """The measured share of findings that are right, 0 to 1; None until it was measured."""

    @property
    def thresholds(self) -> Mapping[str, float]:
        """The limits that settings can change, by key, with their defaults."""
        start = f"{self.name}."
        return {key: n for key, n in DEFAULT_THRESHOLDS.items() if key.startswith(start)}


def load_rule_page(name: str) -> RulePage:
    """Return the page of the rule `name`. Raises KeyError if there is no such rule."""
    rule = load_rules()[name]
    page = tomllib.loads(read_data_text(f"lint/rule_pages/{name}.toml"))
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
        precision=page.get("precision"),
    )


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
