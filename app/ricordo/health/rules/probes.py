"""Rules on what the project says of the claims of notes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import islice

from ricordo.health.evidence import ClaimKind, Outcome, Verdict
from ricordo.health.finding import Fix, Severity
from ricordo.health.mending.claims import in_new_words
from ricordo.health.rule import Context, Found, verdict_rule
from ricordo.memory.note import Note

_NAMES = frozenset((ClaimKind.SYMBOL, ClaimKind.COMMAND))
_STATED = frozenset((ClaimKind.VERSION, ClaimKind.VALUE, ClaimKind.COMMITS))
_FAILED = frozenset((Outcome.MISSING, Outcome.MOVED, Outcome.CHANGED))


@verdict_rule(
    "missing-path",
    Severity.WARNING,
    "the note names a file or folder of the project that is not there (any more)",
)
def missing_path(note: Note, verdicts: tuple[Verdict, ...], context: Context) -> Iterator[Found]:
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
def missing_symbol(note: Note, verdicts: tuple[Verdict, ...], context: Context) -> Iterator[Found]:
    """Names that the project is not written with."""
    for verdict in verdicts:
        if verdict.kind in _NAMES and verdict.outcome in _FAILED:
            yield from _found(note, verdict, f"The project has no {verdict.claim}.")


@verdict_rule(
    "changed-since",
    Severity.INFO,
    "files that the note names have commits after the note was last confirmed",
)
def changed_since(note: Note, verdicts: tuple[Verdict, ...], context: Context) -> Iterator[Found]:
    """Files, versions and values that went on while the note did not."""
    for verdict in verdicts:
        if verdict.kind in _STATED and verdict.outcome in _FAILED:
            message = f"{verdict.claim}: the project says otherwise."
            if verdict.kind is ClaimKind.COMMITS:
                message = f"What it names was changed after {_day_of(note)}."
            yield from _found(note, verdict, message)


@verdict_rule("restates-instructions", Severity.INFO, "the note repeats CLAUDE.md / AGENTS.md")
def restates_instructions(
    note: Note, verdicts: tuple[Verdict, ...], context: Context
) -> Iterator[Found]:
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


def _found(note: Note, verdict: Verdict, message: str) -> Iterator[Found]:
    """The finding, where the note still says what was checked."""
    line = _line_of(note, verdict)
    if line:
        fix = _fix(note, verdict, line)
        cause = f"{verdict.kind}\0{verdict.claim}"
        yield Found(line, message, cause, verdict.evidence, fix=fix)


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
