"""Rules on what the project says of the claims of notes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ricordo.health.evidence import ClaimKind, Outcome, Verdict
from ricordo.health.finding import Fix, Severity
from ricordo.health.mending.claims import in_new_words
from ricordo.health.rule import Context, Found, memory_rule
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note

_NAMES = frozenset((ClaimKind.SYMBOL, ClaimKind.COMMAND))
_STATED = frozenset((ClaimKind.VERSION, ClaimKind.VALUE, ClaimKind.COMMITS))
_FAILED = frozenset((Outcome.MISSING, Outcome.MOVED, Outcome.CHANGED))

Wanted = Callable[[Verdict], bool]


def _is_lost_path(verdict: Verdict) -> bool:
    return verdict.kind is ClaimKind.PATH and verdict.outcome in _FAILED


def _is_lost_name(verdict: Verdict) -> bool:
    return verdict.kind in _NAMES and verdict.outcome in _FAILED


def _is_changed(verdict: Verdict) -> bool:
    return verdict.kind in _STATED and verdict.outcome in _FAILED


def _is_repeated(verdict: Verdict) -> bool:
    return verdict.kind is ClaimKind.INSTRUCTION


def _rests_on(wanted: Wanted) -> Callable[[Memory, Context], tuple[object, ...]]:
    """What a rule looks at: the verdicts that it tells, and the notes that they are about."""
    return lambda memory, context: tuple(_told(memory, context, wanted))


def _told(memory: Memory, context: Context, wanted: Wanted) -> Iterator[tuple[Note, Verdict]]:
    for path, verdicts in context.evidence.verdicts.items():
        for verdict in verdicts:
            if wanted(verdict) and (note := memory.by_path.get(path)) is not None:
                yield note, verdict


@memory_rule(
    "missing-path",
    Severity.WARNING,
    "the note names a file or folder of the project that is not there (any more)",
    rests_on=_rests_on(_is_lost_path),
)
def missing_path(memory: Memory, context: Context) -> Iterator[Found]:
    """Paths that lead nowhere in the project."""
    for note, verdict in _told(memory, context, _is_lost_path):
        where = f": {verdict.suggestion}?" if verdict.suggestion else "."
        message = f"{verdict.claim} is not there{where}"
        yield from _found(note, verdict, message)


@memory_rule(
    "missing-symbol",
    Severity.WARNING,
    "the note names a function, class, flag or command that the project does not contain",
    rests_on=_rests_on(_is_lost_name),
)
def missing_symbol(memory: Memory, context: Context) -> Iterator[Found]:
    """Names that the project is not written with."""
    for note, verdict in _told(memory, context, _is_lost_name):
        yield from _found(note, verdict, f"The project has no {verdict.claim}.")


@memory_rule(
    "changed-since",
    Severity.INFO,
    "files that the note names have commits after the note was last confirmed",
    rests_on=_rests_on(_is_changed),
)
def changed_since(memory: Memory, context: Context) -> Iterator[Found]:
    """Files, versions and values that went on while the note did not."""
    for note, verdict in _told(memory, context, _is_changed):
        if verdict.kind is ClaimKind.COMMITS:
            message = f"What it names was changed after {note.stamped}."
        else:
            message = f"{verdict.claim}: the project says otherwise."
        yield from _found(note, verdict, message)


@memory_rule(
    "restates-instructions",
    Severity.INFO,
    "the note repeats CLAUDE.md / AGENTS.md",
    rests_on=_rests_on(_is_repeated),
)
def restates_instructions(memory: Memory, context: Context) -> Iterator[Found]:
    """Notes that say what agents are told anyway, once a note."""
    told: set[str] = set()
    for note, verdict in _told(memory, context, _is_repeated):
        if note.path not in told:
            told.add(note.path)
            source = verdict.evidence[0].partition(": ")[0]
            yield from _found(note, verdict, f"{source} says the same.")


def _found(note: Note, verdict: Verdict, message: str) -> Iterator[Found]:
    """The finding, where the note still says what was checked."""
    line = _line_of(note, verdict)
    if line:
        fix = _fix(note, verdict, line)
        cause = f"{verdict.kind}\0{verdict.claim}"
        yield Found(line, message, cause, verdict.evidence, note.path, fix)


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
