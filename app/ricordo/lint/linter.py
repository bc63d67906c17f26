"""Run the rules over a memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import chain, islice
from typing import NamedTuple

from ricordo.background import pause_gc
from ricordo.lint.evidence import NoteCommit, Verdict
from ricordo.lint.finding import Finding, Fix, Severity
from ricordo.lint.quiet import QuietRules
from ricordo.lint.rule import MemoryRule, Rule, RuleContext, RuleResult, load_rules
from ricordo.lint.stamps import compute_key
from ricordo.memory.layout import FileRole, Layout
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note, is_protected
from ricordo.secrets import mask

MAX_PER_FILE = 200
"""Findings of one note rule in one file: nobody reads more, and a hostile file could have millions.
"""

SeverityOverrides = Mapping[str, Severity | None]
"""Severities that differ from a rule's own; None disables a rule."""


class _MemoryFindings(NamedTuple):
    """The findings of a memory rule, and what they depend on."""

    dependencies: tuple[object, ...]
    findings: tuple[Finding, ...]
    fixed_files: Mapping[str, Note | None]
    """The files that the fixes change; they decide whether a fix is allowed."""

    def is_valid(self, depends_on: tuple[object, ...], files: Mapping[str, Note]) -> bool:
        """Return whether the rule would find the same in a memory of these `files`."""
        return self.dependencies == depends_on and all(
            files.get(path) is file for path, file in self.fixed_files.items()
        )


class _NoteFindings(NamedTuple):
    """The findings of all note rules in a file."""

    file: Note
    commit: NoteCommit | None
    findings: tuple[Finding, ...]


class _VerdictFindings(NamedTuple):
    """The findings of all verdict rules in a file."""

    file: Note
    verdicts: tuple[Verdict, ...]
    findings: tuple[Finding, ...]


_HARMFUL = frozenset(("instruction-shaped", "control-characters"))
"""The rules on what an agent must not read, wherever it is; secrets are errors."""
_ON_STATEMENTS = frozenset(
    ("changed-since", "inconsistent-note", "index-outdated-entry", "status-claim")
)
"""The rules on what notes state of which in wikis fewer than nine findings of ten are right."""


class Linter:
    """Runs rules and caches their findings, by file and, with `depends_on`, by memory rule, so that
    linting again after a change of one file takes a fraction of the time. Not thread-safe.
    """

    def __init__(
        self,
        severities: SeverityOverrides,
        only: frozenset[str] = frozenset(),
        quiet: QuietRules | None = None,
    ) -> None:
        """`only` are the rules to run; empty runs all. `quiet` is what earlier runs did not
        find.
        """
        self._severities = severities
        self._only = only
        self._by_file: dict[int, _NoteFindings] = {}
        self._by_verdicts: dict[int, _VerdictFindings] = {}
        self._by_rule: dict[str, _MemoryFindings] = {}
        self._context: RuleContext | None = None
        self._quiet = quiet

    @cached_property
    def _rules(self) -> Sequence[Rule]:
        # loaded at the first use: who opens a memory does not always judge it
        return [
            rule
            if rule.name not in self._severities
            else replace(rule, severity=severity, is_set_by_user=True)
            for rule in load_rules().values()
            if (severity := self._severities.get(rule.name, rule.severity)) is not None
            and (not self._only or rule.name in self._only)
        ]

    @property
    def rules(self) -> frozenset[str]:
        """The names of the rules that it runs."""
        return frozenset(rule.name for rule in self._rules)

    def run(self, memory: Memory, context: RuleContext) -> tuple[Finding, ...]:
        """Return the findings in `memory`, worst first."""
        with pause_gc():
            return self._run(memory, context)

    def _run(self, memory: Memory, context: RuleContext) -> tuple[Finding, ...]:
        if not self._is_cache_valid(context):
            self._by_file = {}
            self._by_verdicts = {}
            self._by_rule = {}
        self._context = context
        rules = self._rules
        findings: list[Finding] = []
        by_file: dict[int, _NoteFindings] = {}
        on_notes = [rule for rule in rules if rule.on_note]
        by_role = {role: [rule for rule in on_notes if role in rule.roles] for role in FileRole}
        if self._quiet:
            self._quiet.begin(on_notes, context)
        for file in memory.files:
            commit = context.evidence.commits.get(file.path)
            cached = self._by_file.get(id(file))
            if cached is None or (cached.commit != commit and _depend_on_commit(cached.findings)):
                in_file = self._judge(file, by_role[file.role], context)
                cached = _NoteFindings(file, commit, in_file)
            by_file[id(file)] = cached
            findings.extend(cached.findings)
        self._by_file = by_file
        findings.extend(self._run_verdict_rules(rules, memory, context))
        for rule in rules:
            if rule.on_memory:
                findings.extend(self._run_memory_rule(rule, rule.on_memory, memory, context))
        if self._quiet:
            self._quiet.save()
        weighed = (self._weigh(it, context) for it in findings)
        return tuple(sorted(weighed, key=lambda finding: finding.rank))

    def _weigh(self, finding: Finding, context: RuleContext) -> Finding:
        """Return a finding with its severity in this memory: a warning in an archived note, which
        hardly anybody reads, or on what a page of a wiki states, which is seldom about the project,
        is information, unless the user has set otherwise or it is of what would harm who reads it.
        """
        is_archived = finding.path in context.conventions.archived and finding.rule not in _HARMFUL
        is_of_world = context.layout.has_own_conventions and finding.rule in _ON_STATEMENTS
        is_weaker = (is_archived or is_of_world) and finding.rule not in self._severities
        if finding.severity is not Severity.WARNING or not is_weaker:
            return finding
        return replace(finding, severity=Severity.INFO)

    def _judge(
        self, file: Note, rules: Sequence[Rule], context: RuleContext
    ) -> tuple[Finding, ...]:
        """Return what note rules find in a file."""
        if self._quiet is None:
            return _run_note_rules(file, rules, context, self._quiet)
        key = compute_key(file)
        findings = _run_note_rules(file, self._quiet.select(key, rules), context, self._quiet)
        self._quiet.record(key, (finding.rule for finding in findings))
        return findings

    def _run_verdict_rules(
        self, rules: Iterable[Rule], memory: Memory, context: RuleContext
    ) -> Iterator[Finding]:
        on_verdicts = [rule for rule in rules if rule.on_verdicts]
        by_verdicts: dict[int, _VerdictFindings] = {}
        for path, verdicts in context.evidence.verdicts.items() if on_verdicts else ():
            file = memory.by_path.get(path)
            # an archived note tells of the project as it was
            if file is None or path in context.conventions.archived:
                continue
            cached = self._by_verdicts.get(id(file))
            if cached is None or cached.verdicts != verdicts:
                judged = _judge_verdicts(file, verdicts, on_verdicts, context, self._quiet)
                findings = tuple(judged)
                cached = _VerdictFindings(file, verdicts, findings)
            by_verdicts[id(file)] = cached
            yield from cached.findings
        self._by_verdicts = by_verdicts

    def _run_memory_rule(
        self, rule: Rule, function: MemoryRule, memory: Memory, context: RuleContext
    ) -> Iterable[Finding]:
        files = memory.by_path
        depends_on = rule.depends_on(memory, context) if rule.depends_on else None
        cached = self._by_rule.get(rule.name)
        if cached is not None and depends_on is not None and cached.is_valid(depends_on, files):
            return cached.findings
        results = function(memory, context)
        findings = tuple(_build_findings(rule, results, files, memory.layout, self._quiet))
        if depends_on is not None:
            paths = {path for finding in findings if finding.fix for path in finding.fix.paths}
            fixed_files = {path: files.get(path) for path in paths}
            self._by_rule[rule.name] = _MemoryFindings(depends_on, findings, fixed_files)
        return findings

    def _is_cache_valid(self, context: RuleContext) -> bool:
        before = self._context
        return before is not None and (
            before.now.date() == context.now.date()
            and before.layout == context.layout
            and before.thresholds == context.thresholds
            and before.conventions == context.conventions
        )


def _depend_on_commit(findings: Iterable[Finding]) -> bool:
    rules = load_rules()
    return any(rules[finding.rule].depends_on_commit for finding in findings)


def _run_note_rules(
    file: Note, rules: Iterable[Rule], context: RuleContext, quiet: QuietRules | None
) -> tuple[Finding, ...]:
    findings: list[Finding] = []
    for rule in rules:
        assert rule.on_note
        results = rule.on_note(file, context)
        # nearly always there are none
        if (first := next(results, None)) is not None:
            most = islice(chain((first,), results), MAX_PER_FILE)
            files = {file.path: file}
            findings.extend(_build_findings(rule, most, files, context.layout, quiet, file.path))
    return tuple(findings)


def _judge_verdicts(
    file: Note,
    verdicts: tuple[Verdict, ...],
    rules: Iterable[Rule],
    context: RuleContext,
    quiet: QuietRules | None,
) -> Iterator[Finding]:
    for rule in rules:
        assert rule.on_verdicts
        results = islice(rule.on_verdicts(file, verdicts, context), MAX_PER_FILE)
        files = {file.path: file}
        yield from _build_findings(rule, results, files, context.layout, quiet, file.path)


def _build_findings(
    rule: Rule,
    results: Iterable[RuleResult],
    files: Mapping[str, Note],
    layout: Layout,
    quiet: QuietRules | None,
    default_path: str = "",
) -> Iterable[Finding]:
    counts: Counter[tuple[str, str]] = Counter()
    for result in results:
        path = result.path or default_path
        key = ("" if result.is_path_independent else path, result.cause)
        yield Finding(
            rule.name,
            rule.severity if rule.is_set_by_user else min(rule.severity, result.at_most),
            path,
            result.line,
            _mask(result.message, quiet),
            result.cause,
            tuple(_mask(text, quiet) for text in result.evidence),
            counts[key],
            result.fix if result.fix and _is_allowed(result.fix, files, layout) else None,
            result.is_path_independent,
            result.other_path,
            origin=result.origin,
        )
        counts[key] += 1


def _mask(text: str, quiet: QuietRules | None) -> str:
    """Return the text of a finding without secrets: reports are stored and passed on."""
    if quiet is None:
        return _mask_cached(text)
    if quiet.has_no_secret(text):
        return text
    masked = _mask_cached(text)
    if masked == text:
        quiet.record_no_secret(text)
    return masked


_mask_cached = lru_cache(maxsize=20_000)(mask)


def _is_allowed(fix: Fix, files: Mapping[str, Note], layout: Layout) -> bool:
    """Return whether the memory can be changed and the fix changes no protected file."""
    protected = any(is_protected(files[path], ()) for path in fix.paths if path in files)
    return not (layout.read_only or protected)
