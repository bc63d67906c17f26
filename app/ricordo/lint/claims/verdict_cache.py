"""The verdicts on the claims of notes, cached between runs of the program.

A verdict stays valid while the note, the project and the code are the same. The files of the
project are compared by size and times, except the notes of a memory inside of it: of them a verdict
seldom uses the text, and where it does, it is valid only for that text. Verdicts with a credential,
or a part of one, are not stored.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import NamedTuple

from ricordo.lint.claims.instructions import is_instruction_file
from ricordo.lint.claims.note_status import find_fixed_notes
from ricordo.lint.claims.project import AskedFacts, Project
from ricordo.lint.evidence import CheckOutcome, ClaimKind, Verdict
from ricordo.lint.stamps import compute_digest_of, compute_key, compute_stamp
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.secrets import find_secrets
from ricordo.storage.cache_file import load_judgement, save_judgement


class NoteVerdicts(NamedTuple):
    """The verdicts on the claims of one note."""

    verdicts: tuple[Verdict, ...]
    dropped: int
    """How many claims were not checked as too many."""


class VerdictCache:
    """The cached verdicts on the notes of one memory, checked against one project."""

    def __init__(self, state: str, memory: Memory, project: Project, now: float) -> None:
        """`state` is the directory for Ricordo's data, `now` is in seconds since the epoch."""
        self._state = state
        self._now = now
        self._project = project
        self._key = f"{memory.root}\0{project.tree.root}"
        self._own = _find_own_notes(memory, project)
        self._fixed = find_fixed_notes(memory)
        self._stamp = _compute_project_stamp(memory, project, self._own)
        self._digests: dict[str, str] = {}
        self._digests_with: dict[str, str] = {}
        own = (f"{path} {self._digest(path)}" for path in sorted(self._own))
        self._own_stamp = compute_digest_of("\0".join(own).encode("utf-8", "surrogateescape"))
        stored = load_judgement(state, self._key, self._stamp)
        self._is_same_memory = stored.get("own") == self._own_stamp
        """Whether the memory's notes are those of the last check, so that none need be searched."""
        notes, saved_at = stored.get("notes"), stored.get("now")
        is_earlier = isinstance(saved_at, float) and saved_at <= now
        self._stored: Mapping[str, object] = notes if isinstance(notes, dict) and is_earlier else {}
        self._records: dict[str, object] = {}
        self._is_changed = False

    def find(self, note: Note) -> NoteVerdicts | None:
        """Return the verdicts on `note`; None if they are not known."""
        key = self._compute_key(note)
        record = self._stored.get(key)
        try:
            verdicts = self._unpack(record) if isinstance(record, dict) else None
        except (KeyError, TypeError, ValueError):
            return None
        if verdicts is not None:
            self._records[key] = record
        return verdicts

    def record(self, note: Note, verdicts: NoteVerdicts, asked: AskedFacts) -> None:
        """Record the verdicts on `note`, for which `asked` was asked."""
        texts = [text for it in verdicts.verdicts for text in _texts_of(it) if text]
        if texts and _contain_secret(texts, note):
            return
        self._is_changed = True
        self._records[self._compute_key(note)] = {
            "verdicts": [list(_pack(it)) for it in verdicts.verdicts],
            "dropped": verdicts.dropped,
            "exists": asked.exists,
            "read": {path: self._digest(path) for path in asked.read if path in self._own},
            "words": {word: self._digest_with(word) for word in asked.words},
        }

    def save(self) -> None:
        """Store what was recorded, unless a later check may find something else."""
        project = self._project
        limited = project.tree.warning or project.words.warning
        if self._is_changed and project.history.is_final and not limited:
            results: dict[str, object] = {
                "now": self._now,
                "own": self._own_stamp,
                "notes": self._records,
            }
            # what cannot be stored is checked again the next time
            with suppress(OSError):
                save_judgement(self._state, self._key, self._stamp, results)

    def _unpack(self, record: Mapping[str, object]) -> NoteVerdicts | None:
        """Return the verdicts of a record; None if they may be others now. Raises KeyError,
        TypeError and ValueError for what is no record.
        """
        asked, exists = self._project, _table(record, "exists")
        if any(asked.tree.exists(path) is not answer for path, answer in exists.items()):
            return None
        read, words = _table(record, "read"), _table(record, "words")
        if not self._is_same_memory and (
            any(self._digest(path) != it for path, it in read.items())
            or any(self._digest_with(word) != it for word, it in words.items())
        ):
            return None
        rows, dropped = record["verdicts"], record["dropped"]
        if not isinstance(rows, list) or not isinstance(dropped, int):
            raise TypeError
        return NoteVerdicts(tuple(_unpack_verdict(*row) for row in rows), dropped)

    def _compute_key(self, note: Note) -> str:
        """Return a digest of a note, and whether an index says that its fault is fixed."""
        return f"{compute_key(note)}{' fixed' * (note.path in self._fixed)}"

    def _digest(self, path: str) -> str:
        """Return a digest of one of the memory's notes, by its path in the project; "" if it is
        none.
        """
        if path not in self._digests:
            raw = self._own.get(path)
            self._digests[path] = "" if raw is None else compute_digest_of(raw)
        return self._digests[path]

    def _digest_with(self, word: str) -> str:
        """Return a digest of those of the memory's notes that contain `word`."""
        if word not in self._digests_with:
            part = word.encode("utf-8", "surrogateescape")
            own = self._own.items()
            parts = (f"{path} {self._digest(path)}" for path, raw in own if part in raw)
            joined = "\0".join(parts).encode("utf-8", "surrogateescape")
            self._digests_with[word] = compute_digest_of(joined)
        return self._digests_with[word]


def _find_own_notes(memory: Memory, project: Project) -> Mapping[str, bytes]:
    """Return the content of the notes of the memory by their paths in the project, without those
    that are instructions, too, or of which only the beginning was read.
    """
    if not project.memory_folder:
        return {}
    listed = project.tree.files
    return {
        path: file.raw
        for file in memory.files
        if (path := project.memory_folder + file.path) in listed
        and len(file.raw) == file.facts.size
        and not is_instruction_file(path)
    }


def _compute_project_stamp(memory: Memory, project: Project, own: Mapping[str, bytes]) -> str:
    tree = project.tree
    stamps = [stamp for path, stamp in tree.files.items() if path not in own]
    files = "\0".join(tree.files).encode("utf-8", "surrogateescape")
    digest = compute_digest_of(files, array("q", chain.from_iterable(stamps)).tobytes())
    names = "\0".join(sorted(project.memory_names)).encode("utf-8", "surrogateescape")
    commits = (tree.commit, *tree.refs, *project.history.remotes)
    parts = (
        memory.root,
        tree.root,
        *commits,
        sorted(tree.links | tree.left_out),
        tree.warning,
        digest,
    )
    return compute_stamp(
        memory.layout,
        (*parts, compute_digest_of(names), sorted(own), tree.ignored.texts, time.tzname),
    )


def _pack(verdict: Verdict) -> tuple[object, ...]:
    return (
        verdict.claim,
        verdict.kind.value,
        verdict.line,
        verdict.outcome.value,
        verdict.evidence,
        verdict.suggestion,
        verdict.problem,
        verdict.changed_at,
        verdict.existed,
        verdict.is_guess,
        verdict.origin,
        verdict.is_of_line,
    )


def _unpack_verdict(
    claim: str,
    kind: str,
    line: int,
    outcome: str,
    evidence: list[str],
    suggestion: str,
    problem: str,
    changed_at: float,
    existed: bool,
    is_guess: bool,
    origin: str,
    is_of_line: bool,
) -> Verdict:
    texts = (claim, suggestion, problem, origin, *evidence)
    numbers = (line, changed_at)
    if not all(isinstance(text, str) for text in texts) or not all(
        isinstance(number, int | float) for number in numbers
    ):
        raise TypeError
    return Verdict(
        claim,
        ClaimKind(kind),
        line,
        CheckOutcome(outcome),
        tuple(evidence),
        suggestion,
        problem,
        changed_at,
        bool(existed),
        bool(is_guess),
        origin,
        bool(is_of_line),
    )


def _contain_secret(texts: Sequence[str], note: Note) -> bool:
    """Return whether any of `texts` contains a credential, of its own or of `note`, or a part."""
    whole = "\n".join((note.text, *texts))
    values = {whole[it.start : it.end] for it in find_secrets(whole)}
    return any(value in text or text in value for value in values for text in texts)


def _texts_of(verdict: Verdict) -> tuple[str, ...]:
    return (verdict.claim, verdict.suggestion, verdict.problem, *verdict.evidence)


def _table(record: Mapping[str, object], key: str) -> Mapping[str, object]:
    table = record[key]
    if not isinstance(table, dict):
        raise TypeError
    return table
