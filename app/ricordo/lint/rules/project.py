"""Rules on the claims of notes that the project refutes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from functools import cache, lru_cache
from itertools import islice

from ricordo.lexicon import build_alternation, list_expressions, lower_text
from ricordo.lint.claims.note_status import is_finished, is_report
from ricordo.lint.claims.passages import split_passages
from ricordo.lint.claims.paths import is_of_file
from ricordo.lint.evidence import CheckOutcome, ClaimKind, Verdict
from ricordo.lint.finding import Fix, Severity
from ricordo.lint.fixes.lines import Splice, build_line_edits
from ricordo.lint.prose import extract_statements, first_line_of_body, is_record
from ricordo.lint.rule import RuleContext, RuleResult, verdict_rule
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily
from ricordo.text import make_one_line


def _build_fix(note: Note, verdict: Verdict) -> Fix | None:
    """Return the fix that replaces a claim wherever `note` makes it; None without a certain
    suggestion, where a line has the claim twice, names the suggestion too or speaks of a link, a
    move or the past, and where a passage of several tells of the past. Never safe: the sentence may
    say more about the old name.
    """
    new = verdict.suggestion
    if not new or verdict.is_guess:
        return None
    text, named = note.text, re.compile(rf"(?<!\w){re.escape(new.strip('./'))}(?!\w)")
    places = list(_find_claim(verdict).finditer(text))
    for place in places:
        begin = text.rfind("\n", 0, place.start()) + 1
        end = text.find("\n", place.end())
        rest = f"{text[begin : place.start()]} {text[place.end() : end if end >= 0 else None]}"
        is_twice = _find_claim(verdict).search(rest)
        if is_twice or named.search(rest) or _two_names().search(lower_text(rest)):
            return None
    past = (it.text for it in split_passages(note) if it.is_past) if len(places) > 1 else ()
    if any(map(_find_claim(verdict).search, past)):
        return None
    acts = build_line_edits(note, [Splice(*place.span(), new) for place in places])
    reason = verdict.evidence[0] if verdict.evidence else ""
    return Fix(f"replace {verdict.claim} with {new}", acts, reason=reason)


@lru_cache(maxsize=8)
def _find_claim(verdict: Verdict) -> re.Pattern[str]:
    """Return the pattern of a claim; a name is no claim as a part of another."""
    claim = re.escape(verdict.claim.split("\n")[0])
    if verdict.kind in _PATHS:
        # a link leaves its folder first
        claim = rf"(?:(?<![\w/.-])|(?<=\.\./)){claim}(?![\w/])"
    elif verdict.kind in _NAMED:
        claim = rf"(?<!\w){claim}(?!\w)"
    # letters of other scripts may touch a name
    return re.compile(claim, re.ASCII)


@cache
def _two_names() -> re.Pattern[str]:
    """Return the pattern of words that connect an old name with a new one."""
    words = build_alternation(
        [*list_expressions("probes", "link"), *list_expressions("probes", "gone")]
    )
    return re.compile(f"{words}|[→⇒↦]|[-=]>")


_PATHS = frozenset((ClaimKind.PATH, ClaimKind.DRAWN))
_NAMES = frozenset((ClaimKind.SYMBOL, ClaimKind.COMMAND))
_STATUS = frozenset((ClaimKind.STATUS, ClaimKind.TASK))
_STATED = frozenset((ClaimKind.VERSION, ClaimKind.VALUE, ClaimKind.POSITION, ClaimKind.COMMITS))
_NAMED = frozenset((ClaimKind.PATH, ClaimKind.SYMBOL, ClaimKind.COMMAND, ClaimKind.VERSION))
"""What a name claims wherever it is written."""
_MOST_PLACES = 8
_FOOTNOTE = compile_lazily(r"\s*\[\^[^\]\n]+\]:")
_ITEM = compile_lazily(r"\s*(?:[-*+]|\d+[.)])\s")
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
        if verdict.kind in _PATHS and verdict.outcome in _FAILED:
            message = verdict.problem or f"{verdict.claim} does not exist"
            hint = f" Did you mean {verdict.suggestion}?" if verdict.suggestion else ""
            at_most = _severity_of(note, verdict) if is_of_file(verdict) else Severity.INFO
            yield from _report(note, verdict, f"{message}.{hint}", at_most)


def _is_in_record(note: Note, verdict: Verdict) -> bool:
    """Return whether a note makes a claim only where it reports work that is done, or something of
    a day: what is lost since need not be there.
    """
    claim, told = _find_claim(verdict), list[bool]()
    above: list[tuple[int, bool]] = []
    for block in extract_statements(note):
        # a paragraph leads to the list below it, and an item to those in it
        level = len(block.text) - len(block.text.lstrip()) + bool(_ITEM.match(block.text))
        while above and above[-1][0] >= level:
            above.pop()
        text = claim.sub("", block.prose)
        above.append((level, is_record(text)))
        is_meant = not verdict.is_of_line or block.line <= verdict.line <= block.last_line
        if is_meant and claim.search(block.text):
            told.append(any(is_told for _, is_told in above))
    return bool(told) and all(told)


def _is_cited(note: Note, verdict: Verdict) -> bool:
    """Return whether a note makes a claim only in its footnotes, which name its sources, and in its
    frontmatter.
    """
    lines, begin = note.text.split("\n"), first_line_of_body(note)
    places = [it for it in _list_places(note, verdict) if it >= begin]
    return bool(places) and all(_FOOTNOTE.match(lines[it - 1]) for it in places)


def _severity_of(note: Note, verdict: Verdict) -> Severity:
    """Return the severity of a failed claim: what the project never had may be planned, local, or
    of another project; what the note hardly needs harms nobody, and what it tells of a past state
    was right then.
    """
    is_lost = verdict.existed and not (verdict.is_guess and verdict.outcome is CheckOutcome.MISSING)
    is_moved = verdict.outcome is CheckOutcome.MOVED and not verdict.is_guess
    if not is_lost and not is_moved:
        return Severity.INFO
    is_told = is_report(note) or _is_cited(note, verdict)
    is_past = is_told or (not is_moved and _is_in_record(note, verdict))
    return Severity.INFO if is_past else Severity.WARNING


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
            yield from _report(note, verdict, message, _severity_of(note, verdict))


@verdict_rule(
    "status-claim",
    Severity.WARNING,
    "work that the note calls unfinished and that git shows to be done",
)
def status_claim(
    note: Note, verdicts: tuple[Verdict, ...], context: RuleContext
) -> Iterator[RuleResult]:
    """Find claims that work is not merged, pushed, released or done yet, which git refutes: of
    those that the same evidence refutes the last, which is the newest of a log.
    """
    refuted: dict[tuple[str, ...], list[Verdict]] = {}
    for verdict in verdicts:
        if verdict.kind not in _STATUS or verdict.outcome not in _FAILED:
            continue
        # what is said of a request or a branch counts in the account of finished work, too
        if verdict.kind is ClaimKind.STATUS or not is_finished(note, verdict.line):
            refuted.setdefault(verdict.evidence, []).append(verdict)
    for *others, last in refuted.values():
        lines = sorted({it.line for it in others} - {last.line})
        also = (f"also in {note.path}:{line}" for line in lines[:_MOST_PLACES])
        verdict = replace(last, evidence=(*last.evidence, *also))
        at_most = Severity.INFO if is_report(note) else Severity.WARNING
        yield from _report(note, verdict, f"Git says otherwise: “{_quote(last)}”.", at_most)


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
                # what the code sets now is certain; a version may be that of another product
                is_value = verdict.kind is ClaimKind.VALUE
                lasting = replace(verdict, existed=True) if is_value else verdict
                # the values of a note that one file sets differ for one cause, and so do all
                # mentions of a version that the project left
                source = _find_source(verdict).rpartition(":")[0]
                origin = f"{note.path}: {source}" if is_value else next(iter(verdict.evidence), "")
                at_most = _severity_of(note, lasting)
                if verdict.kind is ClaimKind.POSITION:
                    # work on the code moves lines again and again, and pages show what was found
                    origin = "lines"
                    is_of_world = context.layout.has_own_conventions
                    at_most = Severity.INFO if is_of_world else at_most
                yield from _report(note, verdict, message, at_most, origin)


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
        yield from _report(note, verdict, f"Repeats {_find_source(verdict)}.")


def _find_source(verdict: Verdict) -> str:
    """Return the place in the project that the first evidence quotes; "" without evidence."""
    return next(iter(verdict.evidence), "").partition(": ")[0]


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
    note: Note,
    verdict: Verdict,
    message: str,
    at_most: Severity = Severity.ERROR,
    origin: str | None = None,
) -> Iterator[RuleResult]:
    """Yield the finding on a verdict, unless the note no longer makes the claim. Its origin is the
    one of the verdict where no other one is given.
    """
    places = _list_places(note, verdict)
    if places:
        line, *others = places
        fix = _build_fix(note, verdict)
        cause = f"{verdict.kind}\0{verdict.claim}"
        also = tuple(f"also in {note.path}:{other}" for other in others[:_MOST_PLACES])
        evidence = (*verdict.evidence, *also) if verdict.kind in _NAMED else verdict.evidence
        yield RuleResult(
            line,
            message,
            cause,
            evidence,
            fix=fix,
            at_most=at_most,
            origin=verdict.origin if origin is None else origin,
        )


def _list_places(note: Note, verdict: Verdict) -> list[int]:
    """Return the 1-based lines of the claim in the present text, that of the verdict first; empty
    where it is gone.
    """
    claim, lines = _find_claim(verdict), enumerate(note.text.split("\n"), 1)
    places = [number for number, line in lines if claim.search(line)]
    if verdict.is_of_line:
        return [min(places, key=lambda number: abs(number - verdict.line))] if places else []
    return sorted(places, key=lambda number: number != verdict.line)
