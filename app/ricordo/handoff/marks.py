"""Marks: the end of a statement, which says how well it is proved, and by what.

    [verified: tidepool/alarm.py is 3f2a91c0b7d4]
    [verified: tidepool/old.py is not there]
    [verified: commit 4f1e2d3a9b0c on feat/x, 2 files dirty]
    [verified: note feedback_tests.md is 1a2b3c4d5e6f]
    [verified: memory at /home/ana/notes]
    [reported: exit 0 at 2026-10-05 14:02 UTC, turn 41; files unchanged since]
    [stale: failed, turn 41 of session 2; tidepool/alarm.py changed since]
    [quoted: turn 7]
    [unverified]

A content is given by the first 12 digits of its SHA-256, a commit by its first 12. The session is
named where there are several; of many changed files only the first are. A mark has no brackets but
its own two.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import assert_never

from ricordo.handoff.check import SHA_DIGITS
from ricordo.handoff.document import (
    FileProof,
    GitProof,
    MemoryProof,
    NoteProof,
    Proof,
    QuoteProof,
    ResultProof,
)
from ricordo.handoff.facts import MessageRef
from ricordo.handoff.quotation import WORD_PATTERN, read_word, write_word

_UNVERIFIED = "[unverified]"
_UNCHANGED = "files unchanged since"
_NOT_THERE = "not there"
_MAX_NAMED = 4
_MORE = r"\d{1,9} more"


def render_mark(proof: Proof | None, sessions: int) -> str:
    """Return the mark of a statement with this proof, in a handoff of so many sessions."""
    match proof:
        case None:
            return _UNVERIFIED
        case FileProof(path, sha):
            return f"[verified: {write_word(path)} is {sha[:SHA_DIGITS] if sha else _NOT_THERE}]"
        case NoteProof(path, sha):
            return f"[verified: note {write_word(path)} is {sha[:SHA_DIGITS]}]"
        case MemoryProof(path):
            return f"[verified: memory at {write_word(path)}]"
        case GitProof():
            return f"[verified: {_write_git(proof)}]"
        case QuoteProof(ref):
            return f"[quoted: {_write_turn(ref, sessions)}]"
        case ResultProof():
            return _write_result(proof, sessions)
        case _:
            assert_never(proof)


def describe_basis(proof: Proof | None, sessions: int) -> str:
    """Return what a mark says after its status: what it is based on; "" for nothing."""
    return render_mark(proof, sessions)[1:-1].partition(": ")[2]


def read_mark(written: str) -> Proof | None:
    """Return the proof that a mark was written for. Raises ValueError where the text is no mark."""
    if written == _UNVERIFIED:
        return None
    for pattern, read in _READERS:
        match = pattern.fullmatch(written)
        if match:
            return read(match)
    raise ValueError(written)


def normalize_proof(proof: Proof | None) -> Proof | None:
    """Return a proof as parsing its mark would return it."""
    match proof:
        case FileProof(path, sha):
            return FileProof(path, sha[:SHA_DIGITS] if sha else None)
        case NoteProof(path, sha):
            return NoteProof(path, sha[:SHA_DIGITS])
        case GitProof(commit, branch, dirty):
            return GitProof(commit[:SHA_DIGITS], branch, dirty)
        case QuoteProof(ref):
            return QuoteProof(MessageRef(ref.session, ref.number))
        case ResultProof(exit, has_failed, ref, changed):
            time = _parse_time(ref.at)
            at = f"{_format_minute(time)}Z" if time else ""
            return ResultProof(
                exit, has_failed, MessageRef(ref.session, ref.number, at), _shorten_changed(changed)
            )
        case MemoryProof() | None:
            return proof
        case _:
            assert_never(proof)


def _write_git(proof: GitProof) -> str:
    commit = f"commit {proof.commit[:SHA_DIGITS]}" if proof.commit else "no commit"
    branch = f" on {write_word(proof.branch)}" if proof.branch else ""
    files = "file" if proof.dirty == 1 else "files"
    return f"{commit}{branch}, {f'{proof.dirty} {files} dirty' if proof.dirty else 'clean'}"


def _write_result(proof: ResultProof, sessions: int) -> str:
    ending = "failed" if proof.has_failed else "succeeded"
    if proof.exit is not None:
        is_plain = proof.has_failed == (proof.exit != 0)
        ending = f"exit {proof.exit}" if is_plain else f"exit {proof.exit}, {ending}"
    time = _parse_time(proof.ref.at)
    at = f" at {_format_minute(time).replace('T', ' ')} UTC" if time else ""
    changed = ", ".join(map(_write_name, _shorten_changed(proof.changed)))
    suffix = f"{changed} changed since" if changed else _UNCHANGED
    status = "stale" if changed else "reported"
    return f"[{status}: {ending}{at}, {_write_turn(proof.ref, sessions)}; {suffix}]"


def _shorten_changed(changed: tuple[str, ...]) -> tuple[str, ...]:
    """Return the changed names as a mark lists them: the first ones, and how many more."""
    if len(changed) <= _MAX_NAMED:
        return changed
    return (*changed[: _MAX_NAMED - 1], f"{len(changed) - _MAX_NAMED + 1} more")


def _write_name(changed: str) -> str:
    return changed if re.fullmatch(_MORE, changed) else write_word(changed)


def _write_turn(ref: MessageRef, sessions: int) -> str:
    session = f" of session {ref.session + 1}" if ref.session or sessions > 1 else ""
    return f"turn {ref.number}{session}"


def _parse_time(at: str) -> datetime | None:
    """Return a transcript's time in UTC; None where it cannot be read."""
    try:
        time = datetime.fromisoformat(at)
        return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def _format_minute(time: datetime) -> str:
    return time.replace(tzinfo=None).isoformat(timespec="minutes")


# parsing

_NAME = rf"(?:{_MORE}|{WORD_PATTERN})"
_SHA = r"([0-9a-f]{1,12})"
_OUTCOME = r"(?:exit (-?\d{1,10})(?:, (failed|succeeded))?|(failed|succeeded))"
_REF = r"turn (\d{1,9})(?: of session (\d{1,9}))?"


def _read_file(match: re.Match[str]) -> Proof:
    return FileProof(read_word(match[1]), match[2])


def _read_git(match: re.Match[str]) -> Proof:
    branch = read_word(match[2]) if match[2] else ""
    return GitProof(match[1] or "", branch, int(match[3] or 0))


def _read_result(match: re.Match[str]) -> Proof:
    code, ending, only_ending, at, turn, session, changed = match.groups()
    outcome = ending or only_ending
    exit_code = int(code) if code else None
    has_failed = outcome == "failed" if outcome else exit_code != 0
    time = at.replace(" ", "T") + "Z" if at else ""
    paths = re.findall(_NAME, changed) if changed else ()
    return ResultProof(
        exit_code, has_failed, _parse_ref(turn, session, time), tuple(map(read_word, paths))
    )


def _parse_ref(turn: str, session: str | None, at: str = "") -> MessageRef:
    return MessageRef(max(0, int(session) - 1) if session else 0, int(turn), at)


_READERS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Proof]], ...] = (
    (re.compile(rf"\[verified: ({WORD_PATTERN}) is (?:{_SHA}|{_NOT_THERE})\]"), _read_file),
    (
        re.compile(rf"\[verified: note ({WORD_PATTERN}) is {_SHA}\]"),
        lambda match: NoteProof(read_word(match[1]), match[2]),
    ),
    (
        re.compile(rf"\[verified: memory at ({WORD_PATTERN})\]"),
        lambda match: MemoryProof(read_word(match[1])),
    ),
    (
        re.compile(
            rf"\[verified: (?:commit {_SHA}|no commit)(?: on ({WORD_PATTERN}))?, "
            r"(?:(\d{1,9}) files? dirty|clean)\]"
        ),
        _read_git,
    ),
    (re.compile(rf"\[quoted: {_REF}\]"), lambda match: QuoteProof(_parse_ref(match[1], match[2]))),
    (
        re.compile(
            rf"\[(?:reported|stale): {_OUTCOME}"
            rf"(?: at (\d{{4}}-\d\d-\d\d \d\d:\d\d) UTC)?, {_REF}; "
            rf"(?:{_UNCHANGED}|({_NAME}(?:, {_NAME})*) changed since)\]"
        ),
        _read_result,
    ),
)
