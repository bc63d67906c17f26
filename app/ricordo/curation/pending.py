"""Pending proposals: what the user sees and the files that each was made against, as values that
are stored across restarts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from ricordo.curation.proposal import Alarm, EvidenceQuote, Proposal, RejectedChange, name_operation
from ricordo.curation.validation import ALLOWED, decode_text, describe_removal
from ricordo.memory.change import (
    AddEntry,
    AddLink,
    Author,
    AuthorRole,
    Change,
    ChangeOperation,
    Edit,
    Replace,
    compute_digest,
)
from ricordo.memory.diff import format_unified
from ricordo.memory.layout import FileRole as FileRole
from ricordo.memory.memory import Memory

_ACTS: Mapping[str, Callable[..., ChangeOperation]] = {kind.__name__: kind for kind in ALLOWED}


@dataclass(frozen=True, slots=True)
class PendingProposal:
    """A pending proposal."""

    id: str
    change: Change
    evidence: tuple[EvidenceQuote, ...]
    diff: str
    """The unified diff of all files."""
    made_against: Mapping[str, str | None]
    """The SHA-256 of every file that it changes, except indexes, which grow by lines; several with
    blanks between them where it applies also after others that were applied to the file; None where
    the file must not exist."""
    warnings: tuple[str, ...] = ()
    alarms: tuple[Alarm, ...] = ()
    is_edited: bool = False
    """Whether the user has edited its text."""
    run: str = ""
    """The id of the run that proposed it, in the ledger; "" where unknown."""
    finding: str = ""
    """The id of the finding that it fixes; "" for none."""
    at: str = ""
    """When it was proposed, ISO 8601; "" where unknown."""
    session: str = ""
    """The id of the session of an agent that submitted it; "" for one of a curation."""

    @property
    def is_after_others(self) -> bool:
        """Whether it applies also after others that were applied to its note."""
        return any(" " in digests for digests in self.made_against.values() if digests)

    def after_edits(self, changed: Mapping[str, tuple[str | None, str | None]]) -> PendingProposal:
        """Return the proposal so that it applies also after edits of other passages of its note;
        `changed` has the digests of files before and after the edits, by path. Only the replacement
        of a passage finds its place again.
        """
        if not isinstance(self.change.operation, Replace):
            return self
        against = dict(self.made_against)
        for path, digests in self.made_against.items():
            before, after = changed.get(path, (None, None))
            if digests and after and before in digests.split() and after not in digests.split():
                against[path] = f"{digests} {after}"
        return replace(self, made_against=against)

    def with_diff(self, edits: tuple[Edit, ...]) -> PendingProposal:
        """Return the proposal with the diff of its `edits` as they are now."""
        return replace(self, diff="".join(_format_diffs(edits)))

    @property
    def all_warnings(self) -> tuple[str, ...]:
        """All warnings and alarms; a proposal without any can be accepted unchecked."""
        return (*self.warnings, *(alarm.value for alarm in self.alarms))

    @property
    def submitter(self) -> str:
        """The agent and the session that submitted it, for a list; "" for one of a curation."""
        return f"{self.change.author.name}, session {self.session[:8]}" if self.session else ""

    @property
    def op(self) -> str:
        """The kind of the change, as one word."""
        return name_operation(self.change.operation)

    @property
    def path(self) -> str:
        """The file that it changes, relative to the memory."""
        return str(getattr(self.change.operation, "path", ""))

    @property
    def subject(self) -> str:
        """The note that it is about: of an entry the note that gets it, else the changed file."""
        operation = self.change.operation
        return operation.note if isinstance(operation, AddEntry) else self.path

    @property
    def place(self) -> str:
        """Where the entry or the link of its note goes, in words; "" for other changes."""
        match self.change.operation:
            case AddEntry(path=index):
                return f"in {index}"
            case AddLink(target=target):
                return f"to {target}"
            case _:
                return ""


def make_pending(
    proposal: Proposal, memory: Memory, run: str = "", at: str = "", session: str = ""
) -> PendingProposal:
    """Return a pending proposal on `memory`, made `at` that time by the `run` with that id, or
    submitted by a `session`. It is made against the files on disk, though it may have been
    validated after other proposals.
    """
    against = {
        edit.path: compute_digest(memory.by_path[edit.path].raw)
        if edit.path in memory.by_path
        else None
        for edit in proposal.edits
        if memory.layout.get_role(edit.path) is not FileRole.INDEX
    }
    return PendingProposal(
        _make_id(proposal.change.operation, against),
        proposal.change,
        proposal.evidence,
        "".join(_format_diffs(proposal.edits)),
        against,
        proposal.warnings,
        proposal.alarms,
        run=run,
        finding=proposal.finding,
        at=at,
        session=session,
    )


def _make_id(act: ChangeOperation, against: Mapping[str, str | None]) -> str:
    """Return the id of a proposal: the same for the same change against the same files."""
    whole = json.dumps([type(act).__name__, asdict(act), dict(against)], sort_keys=True)
    return hashlib.blake2b(whole.encode("ascii"), digest_size=6).hexdigest()


def with_new_id(proposal: PendingProposal) -> PendingProposal:
    """Return a proposal with another id: its own was decided already."""
    id = hashlib.blake2b(proposal.id.encode("ascii"), digest_size=6).hexdigest()
    return replace(proposal, id=id)


def _format_diffs(edits: tuple[Edit, ...]) -> Iterator[str]:
    for edit in edits:
        old = f"a/{edit.path}" if edit.before is not None else "/dev/null"
        new = f"b/{edit.path}" if edit.after is not None else "/dev/null"
        yield format_unified(decode_text(edit.before), decode_text(edit.after), old, new)


def describe(proposal: PendingProposal) -> dict[str, Any]:
    """Return a proposal as `--json` prints it."""
    return {
        "op": proposal.op,
        "path": proposal.path,
        "reason": proposal.change.reason,
        "evidence": [asdict(quoted) for quoted in proposal.evidence],
        "diff": proposal.diff,
        "warnings": list(proposal.all_warnings),
        "id": proposal.id,
        "by": proposal.submitter or None,
    }


def describe_rejected(rejected: RejectedChange) -> dict[str, Any]:
    """Return a rejected change as `--json` prints it."""
    return {"change": rejected.change, "why": rejected.why}


def to_document(proposal: PendingProposal) -> dict[str, Any]:
    """Return a proposal as it is stored."""
    act = {"kind": type(proposal.change.operation).__name__, **asdict(proposal.change.operation)}
    author = proposal.change.author
    return {
        "id": proposal.id,
        "act": act,
        "reason": proposal.change.reason,
        "engine": [author.name, author.model, author.prompt_version],
        "evidence": [asdict(quoted) for quoted in proposal.evidence],
        "diff": proposal.diff,
        "made_against": dict(proposal.made_against),
        "warnings": list(proposal.warnings),
        "alarms": [alarm.value for alarm in proposal.alarms],
        "edited": proposal.is_edited,
        "run": proposal.run,
        "finding": proposal.finding,
        "at": proposal.at,
        "session": proposal.session,
    }


def from_document(stored: Any, run: str = "") -> PendingProposal | None:
    """Return a stored proposal; `run` is the id of its run where it has none. None where it cannot
    be read: the file may be damaged.
    """
    try:
        fields = dict(stored["act"])
        act = _ACTS[fields.pop("kind")](**fields)
        if not all(isinstance(value, str | int | None) for value in fields.values()):
            return None
        name, model, version = map(str, stored["engine"])
        author = Author(AuthorRole.CURATOR, name, model, version)
        against = {str(path): sha for path, sha in stored["made_against"].items()}
        return PendingProposal(
            str(stored["id"]),
            Change(act, str(stored["reason"]), author),
            tuple(_read_quote(quote) for quote in stored["evidence"]),
            str(stored["diff"]),
            against,
            _add_removal(act, tuple(map(str, stored["warnings"]))),
            tuple(map(Alarm, stored["alarms"])),
            stored.get("edited") is True,
            str(stored.get("run", run)),
            str(stored.get("finding", "")),
            str(stored.get("at", "")),
            str(stored.get("session", "")),
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def _add_removal(act: ChangeOperation, warnings: tuple[str, ...]) -> tuple[str, ...]:
    """Return stored warnings with the one that a note is removed, which older versions lack."""
    removal = describe_removal(act)
    return warnings if not removal or removal in warnings else (removal, *warnings)


def _read_quote(stored: Any) -> EvidenceQuote:
    return EvidenceQuote(str(stored["source"]), str(stored["quote"]), stored["found"] is True)
