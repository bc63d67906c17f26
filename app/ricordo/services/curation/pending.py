"""The proposals of one memory, and how far activity was curated: a file in the state directory.

The file has the proposals, the history the decisions on them: an act that applies or refuses
proposals names them. A proposal is pending unless such an act is in effect. So undo, redo and
recovery of an act decide on its proposals too, in any process.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ricordo.curation.pending import PendingProposal, from_document, to_document
from ricordo.errors import StateUnusable
from ricordo.storage.database import DATABASE, Database
from ricordo.storage.decisions import Decision, Decisions
from ricordo.storage.foreign_file import read_json
from ricordo.storage.state_file import replace_state_file

FOLDER = "curation"
_LARGEST = 128 * 1024 * 1024
_MOST_DROPPED = 2_000
_MOST_OF_DECIDED = 8 * 1024 * 1024
"""Characters of the diffs of decided proposals that are stored, so that undo can restore them."""
_LEAST_OF_ONE = 1_024
"""Characters that each of them counts in addition."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far one transcript was curated."""

    stamp: str
    """Unchanged while nothing was added to the transcript."""
    learnt: str
    """The reader's state there; "" where it starts from the beginning each time."""
    last: int
    """The number of the line, or part, up to which it was read."""


class CheckedNote(NamedTuple):
    """The last check of a note by a model."""

    at: str
    """When, ISO 8601."""
    digest: str
    """Of the note as it was then."""


@dataclass(frozen=True, slots=True)
class CurationState:
    """The state of curation of one memory."""

    proposals: tuple[PendingProposal, ...] = ()
    """All stored proposals, oldest first; also decided ones, for undo makes them pending again."""
    cursors: Mapping[str, Cursor] = field(default_factory=dict)
    """How far the transcripts were curated, by path and session."""
    next_cursors: Mapping[str, Cursor] = field(default_factory=dict)
    """The cursors once all pending proposals are decided."""
    dropped: tuple[str, ...] = ()
    """Ids that are not proposed again: an edited proposal replaced them, or an older version of
    Ricordo dropped them.
    """
    refused: Mapping[str, str] = field(default_factory=dict)
    """When the user refused a proposal, ISO 8601, by its id."""
    applied: frozenset[str] = frozenset()
    """Ids of the proposals that were applied."""
    checked: Mapping[str, CheckedNote] = field(default_factory=dict)
    """The last checks of notes by a model, by path."""

    @property
    def pending(self) -> tuple[PendingProposal, ...]:
        """The proposals that are pending, oldest first."""
        return tuple(it for it in self.proposals if not self.is_decided(it.id))

    def is_decided(self, id: str) -> bool:
        """Return whether the proposal with that id was applied or refused."""
        return id in self.refused or id in self.applied

    def move_cursors(self) -> CurationState:
        """Return the state with the cursors moved, unless proposals are pending."""
        if self.pending:
            return self
        return replace(self, cursors={**self.cursors, **self.next_cursors}, next_cursors={})


def load_curation_state(state: str, root: str) -> CurationState:
    """Return the curation state of the memory at `root`, empty where the file cannot be read.
    Raises StateUnusable where the history cannot be read.
    """
    document, _ = read_json(os.path.join(state, FOLDER, _name(root)), _LARGEST)
    if not isinstance(document, dict) or document.get("root") != root:
        document = _NOTHING
    decided = Decisions(Database(state), root).find_active(Decision.ACCEPT, Decision.REFUSE)
    refused = {id: it.at for id, it in decided.items() if it.decision is Decision.REFUSE}
    applied = frozenset(decided.keys() - refused.keys())
    try:
        proposals = (from_document(it, _last_run(document)) for it in document["waiting"])
        return CurationState(
            tuple(it for it in proposals if it is not None),
            {str(key): Cursor(**it) for key, it in document["cursors"].items()},
            {str(key): Cursor(**it) for key, it in document["moving"].items()},
            tuple(map(str, document["dropped"])),
            refused,
            applied,
            {str(path): CheckedNote(**it) for path, it in document.get("checked", {}).items()},
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        return CurationState(refused=refused, applied=applied)


_NOTHING: Mapping[str, Any] = {"waiting": [], "cursors": {}, "moving": {}, "dropped": []}


def _last_run(document: Mapping[str, Any]) -> str:
    """Return the id of the run in the file, which older versions wrote once for all proposals."""
    run = document.get("run")
    return str(run["id"]) if isinstance(run, dict) else ""


def get_curation_stamp(state: str, root: str) -> object:
    """Return a value that changes when the pending proposals of the memory at `root` may have
    changed: some were proposed or decided, or an act was undone.
    """
    history = os.path.join(state, DATABASE)
    paths = (os.path.join(state, FOLDER, _name(root)), history, f"{history}-wal")
    return tuple(map(_stamp, paths))


def _stamp(path: str) -> object:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def save_curation_state(state: str, root: str, curation: CurationState) -> None:
    """Save the curation state of the memory at `root`. Raises StateUnusable."""
    document = {
        "root": root,
        "waiting": _kept_proposals(curation),
        "cursors": {key: _describe_cursor(it) for key, it in curation.cursors.items()},
        "moving": {key: _describe_cursor(it) for key, it in curation.next_cursors.items()},
        "dropped": list(curation.dropped[-_MOST_DROPPED:]),
        "checked": {path: it._asdict() for path, it in curation.checked.items()},
    }
    folder = os.path.join(state, FOLDER)
    content = _encoded(document)
    if len(content) > _LARGEST:
        size = f"{_LARGEST // (1024 * 1024)} MB"
        raise StateUnusable(
            f"Too many pending proposals (limit {size}).", hint="Decide some first."
        )
    try:
        replace_state_file(folder, _name(root), content)
    except OSError as error:
        reason = error.strerror or str(error)
        raise StateUnusable(f"{FOLDER} in {state} cannot be written: {reason}.") from None


def _kept_proposals(curation: CurationState) -> list[dict[str, Any]]:
    """Return the pending proposals and the newest decided ones, as they are stored."""
    room, chosen = _MOST_OF_DECIDED, list[dict[str, Any]]()
    for it in reversed(curation.proposals):
        if curation.is_decided(it.id):
            room -= len(it.diff) + _LEAST_OF_ONE
            if room < 0:
                continue
        chosen.append(to_document(it))
    return chosen[::-1]


def _encoded(document: Mapping[str, Any]) -> bytes:
    """Return the document unescaped, so that a purge finds values in it; escaped where it has lone
    surrogates.
    """
    try:
        return json.dumps(document, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(document).encode("ascii")


def _describe_cursor(it: Cursor) -> dict[str, Any]:
    return {"stamp": it.stamp, "learnt": it.learnt, "last": it.last}


def _name(root: str) -> str:
    digest = hashlib.blake2b(os.fsencode(root), digest_size=10).hexdigest()
    return f"{digest}.json"
