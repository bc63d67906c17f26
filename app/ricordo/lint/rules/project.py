"""Rules on what the project says of the claims of notes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import cache
from itertools import islice

from ricordo.lexicon import any_of, expressions, lowered
from ricordo.lint.evidence import CheckOutcome, ClaimKind, Verdict
from ricordo.lint.finding import Fix, Severity
from ricordo.lint.fixes.lines import Splice, line_edits
from ricordo.lint.rule import RuleContext, RuleResult, verdict_rule
from ricordo.memory.note import Note


def in_new_words(note: Note, line: int, old: str, new: str, evidence: Sequence[str]) -> Fix | None:
    """Return the fix that writes `new` for `old` on the 1-based `line` of `note`; None where that
    stands there other than once, or where the line knows of the other name: it names that too, or
    speaks of a link, of a move, of what was. A person has to see it: the sentence may say more of
    the old one.
    """
    start = 0
    for _ in range(line - 1):
        start = note.text.find("\n", start) + 1
    end = note.text.find("\n", start)
    end = len(note.text) if end < 0 else end
    at = note.text.find(old, start, end)
    if at < 0 or note.text.find(old, at + 1, end) >= 0:
        return None
    rest = note.text[start:at] + " " + note.text[at + len(old) : end]
    named = re.search(rf"(?<!\w){re.escape(new.strip('./'))}(?!\w)", rest)
    if named or _knows_of_both().search(lowered(rest)):
        return None
    acts = line_edits(note, [Splice(at, at + len(old), new)])
    return Fix(f"write {new} for {old}", acts, reason=evidence[0] if evidence else "")


@cache
def _knows_of_both() -> re.Pattern[str]:
    words = any_of([*expressions("probes", "link"), *expressions("probes", "gone")])
    return re.compile(f"{words}|[→⇒↦]|[-=]>")


_NAMES = frozenset((ClaimKind.SYMBOL, ClaimKind.COMMAND))
_STATED = frozenset((ClaimKind.VERSION, ClaimKind.VALUE, ClaimKind.COMMITS))
_FAILED = frozenset((CheckOutcome.MISSING, CheckOutcome.MOVED, CheckOutcome.CHANGED))


@verdict_rule(
    "missing-path",
    Severity.WARNING,
    "the note names a file or folder of the project that is not there (any more)",
)
def missing_path(
    note: Note, verdicts: tuple[Verdict, ...], context: RuleContext
) -> Iterator[RuleResult]:
    """Paths that lead nowhere in the project."""
    for verdict in verdicts:
        if verdict.kind is ClaimKind.PATH and verdict.outcome in _FAILED:
            said = verdict.amiss or f"{verdict.claim} is not there"
            where = f": {verdict.suggestion}?" if verdict.suggestion else "."
            yield from _found(note, verdict, f"{said}{where}")


@verdict_rule(
    "missing-symbol",
    Severity.WARNING,
    "the note names a function, class, flag or command that the project does not contain",
)
def missing_symbol(
    note: Note, verdicts: tuple[Verdict, ...], context: RuleContext
) -> Iterator[RuleResult]:
    """Names that the project is not written with."""
    for verdict in verdicts:
        if verdict.kind in _NAMES and verdict.outcome in _FAILED:
            yield from _found(note, verdict, f"The project has no {verdict.claim}.")


@verdict_rule(
    "changed-since",
    Severity.INFO,
    "files that the note names have commits after the note was last confirmed",
)
def changed_since(
    note: Note, verdicts: tuple[Verdict, ...], context: RuleContext
) -> Iterator[RuleResult]:
    """Files, versions and values that went on while the note did not."""
    for verdict in verdicts:
        if verdict.kind in _STATED and verdict.outcome in _FAILED:
            message = f"{verdict.claim}: the project says otherwise."
            if verdict.kind is ClaimKind.COMMITS:
                message = f"What it names was changed after {_day_of(note)}."
            yield from _found(note, verdict, message)


@verdict_rule("restates-instructions", Severity.INFO, "the note repeats CLAUDE.md / AGENTS.md")
def restates_instructions(
    note: Note, verdicts: tuple[Verdict, ...], context: RuleContext
) -> Iterator[RuleResult]:
    """Notes that say what agents are told anyway, once a note."""
    repeated = (verdict for verdict in verdicts if verdict.kind is ClaimKind.INSTRUCTION)
    for verdict in islice(repeated, 1):
        source = verdict.evidence[0].partition(": ")[0]
        yield from _found(note, verdict, f"{source} says the same.")


def _day_of(note: Note) -> str:
    """The day of a note that has one, as its head says, in words."""
    try:
        return f"{datetime.fromisoformat(note.stamped):%-d %B %Y}"
    except ValueError:
        return note.stamped


def _found(note: Note, verdict: Verdict, message: str) -> Iterator[RuleResult]:
    """The finding, where the note still says what was checked."""
    line = _line_of(note, verdict)
    if line:
        fix = _fix(note, verdict, line)
        cause = f"{verdict.kind}\0{verdict.claim}"
        yield RuleResult(line, message, cause, verdict.evidence, fix=fix)


def _line_of(note: Note, verdict: Verdict) -> int:
    """The 1-based line on which the claim stands now; 0 where it is gone."""
    lines = note.text.split("\n")
    said = verdict.claim.split("\n")[0]
    if verdict.line <= len(lines) and said in lines[verdict.line - 1]:
        return verdict.line
    return next((number for number, line in enumerate(lines, 1) if said in line), 0)


def _fix(note: Note, verdict: Verdict, line: int) -> Fix | None:
    if not verdict.suggestion:
        return None
    return in_new_words(note, line, verdict.claim, verdict.suggestion, verdict.evidence)
