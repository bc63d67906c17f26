"""Rules on the claims of notes that the project refutes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import cache
from itertools import islice

from ricordo.lexicon import build_alternation, list_expressions, lower_text
from ricordo.lint.evidence import CheckOutcome, ClaimKind, Verdict
from ricordo.lint.finding import Fix, Severity
from ricordo.lint.fixes.lines import Splice, build_line_edits
from ricordo.lint.rule import RuleContext, RuleResult, verdict_rule
from ricordo.memory.note import Note
from ricordo.text import make_one_line


def fix_outdated_claim(
    note: Note, line: int, old: str, new: str, evidence: Sequence[str]
) -> Fix | None:
    """Return the fix that replaces `old` with `new` on the 1-based `line` of `note`; None where
    `old` does not occur there exactly once, or where the line names `new` too or speaks of a link,
    a move or the past. Never safe: the sentence may say more about the old name.
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
    is_named = re.search(rf"(?<!\w){re.escape(new.strip('./'))}(?!\w)", rest)
    if is_named or _two_names().search(lower_text(rest)):
        return None
    acts = build_line_edits(note, [Splice(at, at + len(old), new)])
    return Fix(f"replace {old} with {new}", acts, reason=evidence[0] if evidence else "")


@cache
def _two_names() -> re.Pattern[str]:
    """Return the pattern of words that connect an old name with a new one."""
    words = build_alternation(
        [*list_expressions("probes", "link"), *list_expressions("probes", "gone")]
    )
    return re.compile(f"{words}|[→⇒↦]|[-=]>")


_NAMES = frozenset((ClaimKind.SYMBOL, ClaimKind.COMMAND))
_STATUS = frozenset((ClaimKind.STATUS, ClaimKind.TASK))
_STATED = frozenset((ClaimKind.VERSION, ClaimKind.VALUE, ClaimKind.COMMITS))
_NAMED = frozenset((ClaimKind.PATH, ClaimKind.SYMBOL, ClaimKind.COMMAND, ClaimKind.VERSION))
"""What a name claims wherever it is written."""
_MOST_PLACES = 8
_FAILED = frozenset((CheckOutcome.MISSING, CheckOutcome.MOVED, CheckOutcome.CHANGED))


@verdict_rule(
    "missing-path",
    Severity.WARNING,
    "a file or folder that does not exist in the project (any more)",
)
def missing_path(
    note: Note, verdicts: tuple[Verdict, ...], context: RuleContext
) -> Iterator[RuleResult]:
    """Find paths that the project does not have."""
    for verdict in verdicts:
        if verdict.kind is ClaimKind.PATH and verdict.outcome in _FAILED:
            message = verdict.problem or f"{verdict.claim} does not exist"
            hint = f" Did you mean {verdict.suggestion}?" if verdict.suggestion else ""
            yield from _report(note, verdict, f"{message}.{hint}", _severity_of(verdict))


def _severity_of(verdict: Verdict) -> Severity:
    """Return the severity of a failed claim: what the project never had may be planned, local, or
    of another project.
    """
    is_moved = verdict.outcome is CheckOutcome.MOVED and not verdict.is_guess
    is_proved = verdict.existed or is_moved
    return Severity.WARNING if is_proved else Severity.INFO


@verdict_rule(
    "missing-symbol",
    Severity.WARNING,
    "a function, class, flag or command that the project does not contain",
)
def missing_symbol(
    note: Note, verdicts: tuple[Verdict, ...], context: RuleContext
) -> Iterator[RuleResult]:
    """Find names that do not occur in the project."""
    for verdict in verdicts:
        if verdict.kind in _NAMES and verdict.outcome in _FAILED:
            message = f"{verdict.problem or f'Not found in the project: {verdict.claim}'}."
            yield from _report(note, verdict, message, _severity_of(verdict))


@verdict_rule(
    "status-claim",
    Severity.WARNING,
    "work that the note calls unfinished and that git shows to be done",
)
def status_claim(
    note: Note, verdicts: tuple[Verdict, ...], context: RuleContext
) -> Iterator[RuleResult]:
    """Find claims that work is not merged, pushed, released or done yet, which git refutes."""
    refuted: set[tuple[int, tuple[str, ...]]] = set()
    for verdict in verdicts:
        key = (verdict.line, verdict.evidence)
        is_refuted = verdict.kind in _STATUS and verdict.outcome in _FAILED
        if is_refuted and key not in refuted:
            refuted.add(key)
            yield from _report(note, verdict, f"Git says otherwise: “{_quote(verdict)}”.")


@verdict_rule(
    "changed-since",
    Severity.WARNING,
    "files, versions or values that changed after the note was last confirmed",
)
def changed_since(
    note: Note, verdicts: tuple[Verdict, ...], context: RuleContext
) -> Iterator[RuleResult]:
    """Find notes on files, versions and values that changed while the note did not."""
    for verdict in verdicts:
        if verdict.kind in _STATED and verdict.outcome in _FAILED:
            if verdict.kind is ClaimKind.COMMITS:
                # a reason to read the note again, no proof that anything in it changed
                message = f"Files that the note names changed after {_day_of(note)}."
                yield from _report(note, verdict, message, Severity.INFO)
            else:
                message = f"{verdict.problem or f'{_quote(verdict)} differs from the project'}."
                is_value = verdict.kind is not ClaimKind.VERSION
                at_most = Severity.WARNING if is_value else _severity_of(verdict)
                yield from _report(note, verdict, message, at_most)


@verdict_rule(
    "restates-instructions",
    Severity.INFO,
    "a note that repeats instructions of the project, such as CLAUDE.md",
)
def restates_instructions(
    note: Note, verdicts: tuple[Verdict, ...], context: RuleContext
) -> Iterator[RuleResult]:
    """Find notes that repeat what agents load from the instructions, once a note."""
    repeated = (verdict for verdict in verdicts if verdict.kind is ClaimKind.INSTRUCTION)
    for verdict in islice(repeated, 1):
        source = verdict.evidence[0].partition(": ")[0]
        yield from _report(note, verdict, f"Repeats {source}.")


def _quote(verdict: Verdict) -> str:
    """Return the claim in one line, without the signs of emphasis."""
    return make_one_line(" ".join(verdict.claim.replace("**", "").split()))


def _day_of(note: Note) -> str:
    """Return the date in the frontmatter as `12 Oct 2026`, or as it is written."""
    try:
        return f"{datetime.fromisoformat(note.stated_date):%-d %b %Y}"
    except ValueError:
        return note.stated_date


def _report(
    note: Note, verdict: Verdict, message: str, at_most: Severity = Severity.ERROR
) -> Iterator[RuleResult]:
    """Yield the finding on a verdict, unless the note no longer makes the claim."""
    places = _list_places(note, verdict)
    if places:
        line, *others = places
        fix = _build_fix(note, verdict, line)
        cause = f"{verdict.kind}\0{verdict.claim}"
        also = tuple(f"also in {note.path}:{other}" for other in others[:_MOST_PLACES])
        evidence = (*verdict.evidence, *also) if verdict.kind in _NAMED else verdict.evidence
        yield RuleResult(line, message, cause, evidence, fix=fix, at_most=at_most)


def _list_places(note: Note, verdict: Verdict) -> list[int]:
    """Return the 1-based lines of the claim in the present text, that of the verdict first; empty
    where it is gone.
    """
    claim = verdict.claim.split("\n")[0]
    # not as a part of another name
    whole = re.compile(rf"(?<![\w./-]){re.escape(claim)}(?![\w-]|[./]\w)")
    lines = [it for it in enumerate(note.text.split("\n"), 1) if claim in it[1]]
    places = [at for at, line in lines if at == verdict.line or whole.search(line)]
    return sorted(places or [at for at, _ in lines], key=lambda at: at != verdict.line)


def _build_fix(note: Note, verdict: Verdict, line: int) -> Fix | None:
    if not verdict.suggestion or verdict.is_guess:
        return None
    return fix_outdated_claim(note, line, verdict.claim, verdict.suggestion, verdict.evidence)
