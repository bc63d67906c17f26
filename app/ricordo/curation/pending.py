"""Proposals as they wait for a decision: all that a person is shown, and what it was made against,
as values that are kept over restarts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from ricordo.curation.proposal import Alarm, Proposal, Quoted, Rejected, op_of
from ricordo.curation.validation import ALLOWED, text_of, told_of_removal
from ricordo.memory.change import Act, Author, AuthorRole, Change, Edit, digest
from ricordo.memory.diff import unified
from ricordo.memory.layout import FileRole as FileRole
from ricordo.memory.memory import Memory

_ACTS: Mapping[str, Callable[..., Act]] = {kind.__name__: kind for kind in ALLOWED}


@dataclass(frozen=True, slots=True)
class Waiting:
    """A proposal that waits."""

    id: str
    change: Change
    evidence: tuple[Quoted, ...]
    diff: str
    """What it comes to, as a unified diff of all files."""
    made_against: Mapping[str, str | None]
    """The SHA-256 of every file that it changes, but for indexes, which grow by lines; None where
    the file must not be there."""
    warnings: tuple[str, ...] = ()
    alarms: tuple[Alarm, ...] = ()
    is_edited: bool = False
    """Whether the person has edited what it brings."""
    run: str = ""
    """The id of the run that proposed it, in the ledger; "" where that is not known."""
    finding: str = ""
    """The id of the finding that it fixes; "" for none."""
    at: str = ""
    """When it was proposed, ISO 8601; "" where that is not known."""

    @property
    def told(self) -> tuple[str, ...]:
        """All that speaks against it; where nothing does it may be taken without a second look."""
        return (*self.warnings, *(it.value for it in self.alarms))

    @property
    def op(self) -> str:
        """The kind of the change, as a word."""
        return op_of(self.change.act)

    @property
    def path(self) -> str:
        """The file that it is about, relative to the memory."""
        return str(getattr(self.change.act, "path", ""))


def waiting(proposal: Proposal, memory: Memory, run: str = "", at: str = "") -> Waiting:
    """Return a proposal on `memory` as it is kept, made `at` that moment by the `run` of that id.
    What it was made against is what stands on the disk, though it may have been checked behind
    other proposals.
    """
    against = {
        it.path: digest(memory.by_path[it.path].raw) if it.path in memory.by_path else None
        for it in proposal.edits
        if memory.layout.role(it.path) is not FileRole.INDEX
    }
    return Waiting(
        _id(proposal.change.act, against),
        proposal.change,
        proposal.evidence,
        "".join(_diffs(proposal.edits)),
        against,
        proposal.warnings,
        proposal.alarms,
        run=run,
        finding=proposal.finding,
        at=at,
    )


def _id(act: Act, against: Mapping[str, str | None]) -> str:
    """Return what names a proposal while the change and what it was made against are the same."""
    whole = json.dumps([type(act).__name__, asdict(act), dict(against)], sort_keys=True)
    return hashlib.blake2b(whole.encode("ascii"), digest_size=6).hexdigest()


def renewed(it: Waiting) -> Waiting:
    """Return a proposal under another id: the one that it has was decided already."""
    return replace(it, id=hashlib.blake2b(it.id.encode("ascii"), digest_size=6).hexdigest())


def _diffs(edits: tuple[Edit, ...]) -> Iterator[str]:
    for it in edits:
        old = f"a/{it.path}" if it.before is not None else "/dev/null"
        new = f"b/{it.path}" if it.after is not None else "/dev/null"
        yield unified(text_of(it.before), text_of(it.after), old, new)


def describe(it: Waiting) -> dict[str, Any]:
    """Return a proposal as `--json` prints it."""
    return {
        "op": it.op,
        "path": it.path,
        "reason": it.change.reason,
        "evidence": [asdict(quoted) for quoted in it.evidence],
        "diff": it.diff,
        "warnings": list(it.told),
        "id": it.id,
    }


def describe_rejected(it: Rejected) -> dict[str, Any]:
    """Return what was rejected as `--json` prints it."""
    return {"change": it.change, "why": it.why}


def as_kept(it: Waiting) -> dict[str, Any]:
    """Return a proposal as it is kept."""
    act = {"kind": type(it.change.act).__name__, **asdict(it.change.act)}
    author = it.change.author
    return {
        "id": it.id,
        "act": act,
        "reason": it.change.reason,
        "engine": [author.name, author.model, author.prompt_version],
        "evidence": [asdict(quoted) for quoted in it.evidence],
        "diff": it.diff,
        "made_against": dict(it.made_against),
        "warnings": list(it.warnings),
        "alarms": [alarm.value for alarm in it.alarms],
        "edited": it.is_edited,
        "run": it.run,
        "finding": it.finding,
        "at": it.at,
    }


def from_kept(kept: Any, run: str = "") -> Waiting | None:
    """Return a proposal that was kept, by the `run` of that id where it tells of none; None where
    it cannot be read: the file is our own, and may be damaged all the same.
    """
    try:
        fields = dict(kept["act"])
        act = _ACTS[fields.pop("kind")](**fields)
        if not all(isinstance(value, str | int | None) for value in fields.values()):
            return None
        name, model, version = map(str, kept["engine"])
        author = Author(AuthorRole.CURATOR, name, model, version)
        against = {str(path): sha for path, sha in kept["made_against"].items()}
        return Waiting(
            str(kept["id"]),
            Change(act, str(kept["reason"]), author),
            tuple(_quoted(it) for it in kept["evidence"]),
            str(kept["diff"]),
            against,
            _warnings(act, tuple(map(str, kept["warnings"]))),
            tuple(map(Alarm, kept["alarms"])),
            kept.get("edited") is True,
            str(kept.get("run", run)),
            str(kept.get("finding", "")),
            str(kept.get("at", "")),
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def _warnings(act: Act, kept: tuple[str, ...]) -> tuple[str, ...]:
    """Return the warnings of a proposal: an older Ricordo gave none that a note goes."""
    told = told_of_removal(act)
    return kept if not told or told in kept else (told, *kept)


def _quoted(kept: Any) -> Quoted:
    return Quoted(str(kept["source"]), str(kept["quote"]), kept["found"] is True)
