"""Running the rules over a memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import chain, islice
from typing import NamedTuple

from ricordo.background import no_garbage_collection
from ricordo.lint.evidence import Verdict
from ricordo.lint.finding import Finding, Fix, Severity
from ricordo.lint.rule import MemoryRule, Rule, RuleContext, RuleResult, all_rules
from ricordo.memory.layout import FileRole, Layout
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.memory.protection import is_protected
from ricordo.secrets import mask

MOST_A_FILE = 200
"""Findings of one note rule in one file; nobody reads more, and a hostile file could give
millions.
"""

Severities = Mapping[str, Severity | None]
"""Severities that differ from a rule's own; None switches a rule off."""


class _Answer(NamedTuple):
    """What a memory rule found, and what has to be the same for it to hold."""

    rested_on: tuple[object, ...]
    findings: tuple[Finding, ...]
    mended: Mapping[str, Note | None]
    """The files that its fixes are about: they tell whether a fix may be made."""

    def holds(self, rests_on: tuple[object, ...], files: Mapping[str, Note]) -> bool:
        """Say whether the rule would find the same in a memory of these `files`."""
        return self.rested_on == rests_on and all(
            files.get(path) is file for path, file in self.mended.items()
        )


class _VerdictFindings(NamedTuple):
    """What rules found by the verdicts on the claims of a file."""

    file: Note
    verdicts: tuple[Verdict, ...]
    findings: tuple[Finding, ...]


class Linter:
    """Runs rules and remembers what each file by itself gave, and what a rule gave on the whole
    memory that says on what it rests; so that a memory of which one file changed is judged anew in
    a fraction of the time.

    Not for use from two threads at once.
    """

    def __init__(self, severities: Severities, only: frozenset[str] = frozenset()) -> None:
        """`only` are the rules to run; all, where it is empty."""
        self._rules = [
            rule if rule.name not in severities else replace(rule, severity=severity)
            for rule in all_rules().values()
            if (severity := severities.get(rule.name, rule.severity)) is not None
            and (not only or rule.name in only)
        ]
        self._kept: dict[int, tuple[Note, tuple[Finding, ...]]] = {}
        self._told: dict[int, _VerdictFindings] = {}
        self._answers: dict[str, _Answer] = {}
        self._kept_for: RuleContext | None = None

    @property
    def rules(self) -> frozenset[str]:
        """The names of the rules that it runs."""
        return frozenset(rule.name for rule in self._rules)

    def run(self, memory: Memory, context: RuleContext) -> tuple[Finding, ...]:
        """Return what is wrong with `memory`, worst first."""
        with no_garbage_collection():
            return self._run(memory, context)

    def _run(self, memory: Memory, context: RuleContext) -> tuple[Finding, ...]:
        if not self._same_day(context):
            self._kept = {}
            self._told = {}
            self._answers = {}
        self._kept_for = context
        rules = self._rules
        findings: list[Finding] = []
        kept: dict[int, tuple[Note, tuple[Finding, ...]]] = {}
        on_notes = [rule for rule in rules if rule.on_note]
        by_role = {role: [rule for rule in on_notes if role in rule.roles] for role in FileRole}
        for file in memory.files:
            known = self._kept.get(id(file))
            own = known[1] if known else _judge(file, by_role[file.role], context)
            kept[id(file)] = (file, own)
            findings.extend(own)
        self._kept = kept
        findings.extend(self._on_verdicts(rules, memory, context))
        for rule in rules:
            if rule.on_memory:
                findings.extend(self._answer(rule, rule.on_memory, memory, context))
        return tuple(sorted(findings, key=lambda finding: finding.rank))

    def _on_verdicts(
        self, rules: Iterable[Rule], memory: Memory, context: RuleContext
    ) -> Iterator[Finding]:
        asked = [rule for rule in rules if rule.on_verdicts]
        told: dict[int, _VerdictFindings] = {}
        for path, verdicts in context.evidence.verdicts.items() if asked else ():
            file = memory.by_path.get(path)
            if file is None:
                continue
            known = self._told.get(id(file))
            if known is None or known.verdicts != verdicts:
                found = tuple(_judge_verdicts(file, verdicts, asked, context))
                known = _VerdictFindings(file, verdicts, found)
            told[id(file)] = known
            yield from known.findings
        self._told = told

    def _answer(
        self, rule: Rule, asked: MemoryRule, memory: Memory, context: RuleContext
    ) -> Iterable[Finding]:
        files = memory.by_path
        rests_on = rule.rests_on(memory, context) if rule.rests_on else None
        kept = self._answers.get(rule.name)
        if kept is not None and rests_on is not None and kept.holds(rests_on, files):
            return kept.findings
        findings = tuple(_numbered(rule, asked(memory, context), files, memory.layout))
        if rests_on is not None:
            paths = {path for it in findings if it.fix for path in it.fix.paths}
            mended = {path: files.get(path) for path in paths}
            self._answers[rule.name] = _Answer(rests_on, findings, mended)
        return findings

    def _same_day(self, context: RuleContext) -> bool:
        before = self._kept_for
        return before is not None and (
            before.now.date() == context.now.date()
            and before.layout == context.layout
            and before.thresholds == context.thresholds
        )


def _judge(file: Note, rules: Iterable[Rule], context: RuleContext) -> tuple[Finding, ...]:
    findings: list[Finding] = []
    for rule in rules:
        assert rule.on_note
        found = rule.on_note(file, context)
        # nearly always there is nothing
        if (first := next(found, None)) is not None:
            most = islice(chain((first,), found), MOST_A_FILE)
            findings.extend(_numbered(rule, most, {file.path: file}, context.layout, file.path))
    return tuple(findings)


def _judge_verdicts(
    file: Note, verdicts: tuple[Verdict, ...], rules: Iterable[Rule], context: RuleContext
) -> Iterator[Finding]:
    for rule in rules:
        assert rule.on_verdicts
        found = islice(rule.on_verdicts(file, verdicts, context), MOST_A_FILE)
        yield from _numbered(rule, found, {file.path: file}, context.layout, file.path)


def _numbered(
    rule: Rule,
    found: Iterable[RuleResult],
    files: Mapping[str, Note],
    layout: Layout,
    path: str = "",
) -> Iterable[Finding]:
    counts: Counter[tuple[str, str]] = Counter()
    for item in found:
        where = item.path or path
        key = ("" if item.is_anywhere else where, item.cause)
        yield Finding(
            rule.name,
            rule.severity,
            where,
            item.line,
            _without_secrets(item.message),
            item.cause,
            tuple(_without_secrets(text) for text in item.evidence),
            counts[key],
            item.fix if item.fix and _may_be_made(item.fix, files, layout) else None,
            item.is_anywhere,
            item.other,
        )
        counts[key] += 1


@lru_cache(maxsize=20_000)
def _without_secrets(text: str) -> str:
    """Return what a rule quotes without credentials: reports are stored and sent on."""
    return mask(text)


def _may_be_made(fix: Fix, files: Mapping[str, Note], layout: Layout) -> bool:
    """Whether the memory can be changed, and no file of it that the fix is about is protected."""
    protected = any(is_protected(files[path], ()) for path in fix.paths if path in files)
    return not (layout.read_only or protected)
