"""What of the findings comes first, and which of them are one: a rule that fires on more than a
fifth of a memory has found a habit, which the user settles once, and what one commit refutes, or
one file of the project in a note, is one, too.

A note still shows its own findings; lists and numbers have the one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ricordo.lint.finding import Finding, Severity, build_group_cause
from ricordo.lint.rule import load_rules
from ricordo.memory.layout import FileRole
from ricordo.memory.memory import Memory

_FEWEST = 8
"""Notes or entries from which findings of one rule may be one."""
_SHARE = 0.2
"""The part of the notes from which they are."""
_MANY = 20
"""Findings that are one as well where they are as many for the size of the memory, or one answer
settles them.
"""
_BULK = frozenset(
    (
        "frontmatter-incomplete",
        "frontmatter-missing",
        "index-duplicate-entry",
        "index-long-entry",
        "index-missing-file",
        "never-read",
        "oversized-note",
        "stale",
        "unindexed-note",
    )
)
"""The rules on size and age, on what an index lacks or lists in vain, and on what frontmatter
lacks: a few such findings are already one.
"""
_FEWEST_IN_BULK = 3
"""Findings of them that are one; so are the same fault of form in as many notes, if that is more
than that part.
"""
_SHOWN = 3
"""Findings that are shown as examples of such a habit."""
FIRST = (
    *("secret", "instruction-shaped", "lost-correction", "index-over-budget", "unreadable-note"),
    *("contradiction", "missing-path", "missing-symbol", "passed-date"),
)
"""The rules on what does most harm, worst first; they come before the others of their severity."""
_APART = frozenset(
    ("secret", "instruction-shaped", "lost-correction", "unreadable-note", "contradiction")
)
"""The rules of which every finding is settled for itself."""
_FORM = frozenset(
    (
        "duplicate-name",
        "empty-note",
        "frontmatter-incomplete",
        "frontmatter-missing",
        "frontmatter-twice",
        "oversized-note",
        "unknown-type",
    )
)
"""Rules on the form of notes, which hurt less than false or unreachable ones."""
_WRITTEN_ALIKE = _FORM | {"control-characters", "frontmatter-invalid"}
"""Rules on what a program or a hand writes the same way in every note."""
_ANSWERED_ONCE = _WRITTEN_ALIKE | {"duplicate", "wanted-note"}
"""Rules of which one answer settles many findings."""

Urgency = tuple[int, int, bool, bool]


def rank_urgency(finding: Finding) -> Urgency:
    """Return the sort key of a finding by severity and harm: content before form before age."""
    rule = finding.rule
    harm = FIRST.index(rule) if rule in FIRST else len(FIRST)
    return -finding.severity, harm, finding.is_age_only, rule in _FORM


def list_causes(
    findings: Iterable[Finding], memory: Memory, settled: frozenset[str] = frozenset()
) -> tuple[Finding, ...]:
    """Return `findings` with those of a rule that fires on more than a fifth of `memory` as one, or
    of a rule whose one finding is among the ids `settled`, and those with one origin as one, too;
    the most urgent first.
    """
    by_rule: dict[str, list[Finding]] = {}
    for finding in findings:
        by_rule.setdefault(finding.rule, []).append(finding)
    causes: list[Finding] = []
    for rule, of_rule in by_rule.items():
        if create_habit_id(rule) in settled:
            causes.append(_join(rule, of_rule, memory))
        else:
            causes += _join_by_habit(rule, of_rule, memory, settled)
    # what is loaded at the start harms every session
    return tuple(
        sorted(causes, key=lambda it: (*rank_urgency(it), not _is_index(it, memory), it.rank))
    )


def _join_by_habit(
    rule: str, findings: Sequence[Finding], memory: Memory, settled: frozenset[str]
) -> Iterator[Finding]:
    """Yield the `findings` of one rule, with those of a habit as one. One or two that are worse
    than the others stay apart: joined, they would make all of them as bad.
    """
    worst = max(it.severity for it in findings)
    worse = [it for it in findings if it.severity is worst]
    others = [it for it in findings if it.severity is not worst]
    apart, together = (worse, others) if len(worse) < _FEWEST_IN_BULK else ([], findings)
    yield from _join_by_origin(apart, settled)
    if _is_habit(rule, together, memory):
        yield _join(rule, together, memory)
    else:
        yield from _join_by_origin(together, settled)


def _join_by_origin(findings: Sequence[Finding], settled: frozenset[str]) -> Iterator[Finding]:
    """Yield the `findings` of one rule, with those of one severity and origin as one."""
    groups: dict[tuple[Severity, str], list[Finding]] = {}
    for finding in findings:
        # what has no origin is of its own
        key = finding.severity, finding.group_id or finding.id
        groups.setdefault(key, []).append(finding)
    for (_, id), group in groups.items():
        is_one = len(group) > 1 or id in settled
        yield _create_group(group) if is_one and group[0].origin else group[0]


def _create_group(findings: Sequence[Finding]) -> Finding:
    """Return the one finding for those of one rule and origin."""
    members = tuple(sorted(findings, key=lambda finding: finding.rank))
    first, others, files = members[0], len(members) - 1, len({it.path for it in members})
    if files == len(members):
        where = " file" + "s" * (others > 1)
    else:
        where = " here" if files == 1 else f" in {files:,} files"
    more = f" {others:,} more{where} {'have' if others > 1 else 'has'} the same cause."
    shown = tuple(f"{_place(it)}: {it.message}" for it in members[1 : _SHOWN + 1])
    return replace(
        first,
        message=first.message + more * bool(others),
        cause=build_group_cause(first.origin),
        is_path_independent=True,
        evidence=(*shown, *first.evidence[:1]),
        occurrence=0,
        fix=None,
        members=members,
    )


def create_habit_id(rule: str) -> str:
    """Return the id of the one finding for all findings of `rule`."""
    return _create_habit(rule, Severity.INFO, "").id


def list_settled_rules(dismissed: Iterable[str]) -> frozenset[str]:
    """Return the rules that the user dismissed for the whole memory, by the ids `dismissed`."""
    ids = frozenset(dismissed)
    return frozenset(rule for rule in load_rules() if create_habit_id(rule) in ids)


def _is_habit(rule: str, findings: Sequence[Finding], memory: Memory) -> bool:
    if rule in _APART:
        return False
    subjects = {(it.path, it.line if _is_index(it, memory) else 0) for it in findings}
    if rule in _BULK:
        return len(subjects) >= _FEWEST_IN_BULK
    least = _SHARE * len(memory.notes)
    fewest = _FEWEST_IN_BULK if rule in _WRITTEN_ALIKE else _FEWEST
    many = _FEWEST if rule in _WRITTEN_ALIKE else _MANY
    is_wide = len(subjects) >= fewest and len(subjects) > least
    is_bulk = rule in _ANSWERED_ONCE or len(findings) > least
    return is_wide or (len(findings) >= many and is_bulk)


def _is_index(finding: Finding, memory: Memory) -> bool:
    file = memory.by_path.get(finding.path)
    return file is not None and file.role is FileRole.INDEX


def _join(rule: str, findings: Sequence[Finding], memory: Memory) -> Finding:
    """Return the one finding for `findings`, at the place of the worst, of which it tells: the
    others may say less than the summary of the rule.
    """
    members = tuple(sorted(findings, key=lambda finding: finding.rank))
    first, summary = members[0], load_rules()[rule].summary
    worst = [it for it in members if it.severity is first.severity]
    paths = {finding.path for finding in worst}
    if len(paths) == 1:
        message = f"{len(worst):,} times in {first.path}: {summary}."
    else:
        are_notes = paths <= {note.path for note in memory.notes}
        every = f"{len(memory.notes):,} notes" if are_notes else f"{len(memory.files):,} files"
        message = f"In {len(paths):,} of {every}: {summary}."
    if lesser := len(members) - len(worst):
        message += f" {lesser:,} more {'matter' if lesser > 1 else 'matters'} less."
    shown = tuple(f"{_place(it)}: {it.message}" for it in worst[:_SHOWN])
    more = (f"and {len(worst) - _SHOWN:,} more",) * (len(worst) > _SHOWN)
    return _create_habit(
        rule, first.severity, message, first.path, first.line, (*shown, *more), members
    )


def _create_habit(
    rule: str,
    severity: Severity,
    message: str,
    path: str = "",
    line: int = 0,
    evidence: tuple[str, ...] = (),
    members: tuple[Finding, ...] = (),
) -> Finding:
    # its id is the same whichever notes it is about: dismissing it dismisses the rule here
    return Finding(
        rule,
        severity,
        path,
        line,
        message,
        "every",
        evidence,
        is_path_independent=True,
        members=members,
    )


def _place(finding: Finding) -> str:
    return f"{finding.path}:{finding.line}" if finding.line else finding.path
