"""Proposals that wait for a decision, how far activity was curated, and what was dropped: kept in
the state directory, a file a memory.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ricordo.curator.waiting import Waiting, as_kept, from_kept
from ricordo.disk.json_file import read_json
from ricordo.disk.state_file import replace_state_file
from ricordo.errors import StateUnusable

FOLDER = "curation"
_LARGEST = 32 * 1024 * 1024
_MOST_DROPPED = 2_000


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far one transcript was curated."""

    stamp: str
    """While the transcript has it, nothing was added."""
    learnt: str
    """What the reader has learnt up to there; "" where it begins anew each time."""
    last: int
    """The number of the line, or part, up to which it was read."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What is known of the curations of one memory."""

    waiting: tuple[Waiting, ...] = ()
    cursors: Mapping[str, Cursor] = field(default_factory=dict)
    """How far the transcripts were curated, by path and session."""
    moving: Mapping[str, Cursor] = field(default_factory=dict)
    """How far they will have been, once what waits was decided."""
    dropped: tuple[str, ...] = ()
    """Ids of proposals that the person did not want."""

    def settled(self) -> Kept:
        """Return this with the cursors moved, if nothing waits any more."""
        if self.waiting:
            return self
        return replace(self, cursors={**self.cursors, **self.moving}, moving={})


def recall_curation(state: str, root: str) -> Kept:
    """Return what is known of the curations of the memory at `root`; nothing where that cannot be
    read.
    """
    document, _ = read_json(os.path.join(state, FOLDER, _name(root)), _LARGEST)
    if not isinstance(document, dict) or document.get("root") != root:
        return Kept()
    try:
        waits = (from_kept(it, _last_run(document)) for it in document["waiting"])
        return Kept(
            tuple(it for it in waits if it is not None),
            {str(key): Cursor(**it) for key, it in document["cursors"].items()},
            {str(key): Cursor(**it) for key, it in document["moving"].items()},
            tuple(map(str, document["dropped"])),
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        return Kept()


def _last_run(document: Mapping[str, Any]) -> str:
    """Return the id of the run that the file tells of, as it did once for all that waits."""
    run = document.get("run")
    return str(run["id"]) if isinstance(run, dict) else ""


def stamp_of_curation(state: str, root: str) -> object:
    """Return what is another value once something else is kept for the memory at `root`."""
    try:
        status = os.stat(os.path.join(state, FOLDER, _name(root)))
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def remember_curation(state: str, root: str, kept: Kept) -> None:
    """Keep what is known of the curations of the memory at `root`. Raises StateUnusable."""
    document = {
        "root": root,
        "waiting": [as_kept(it) for it in kept.waiting],
        "cursors": {key: _told(it) for key, it in kept.cursors.items()},
        "moving": {key: _told(it) for key, it in kept.moving.items()},
        "dropped": list(kept.dropped[-_MOST_DROPPED:]),
    }
    folder = os.path.join(state, FOLDER)
    try:
        replace_state_file(folder, _name(root), _encoded(document))
    except OSError as error:
        reason = error.strerror or str(error)
        raise StateUnusable(f"{FOLDER} in {state} cannot be written: {reason}.") from None


def _encoded(document: Mapping[str, Any]) -> bytes:
    """Return the document as a purge can find values in it; escaped where it is no text."""
    try:
        return json.dumps(document, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(document).encode("ascii")


def _told(it: Cursor) -> dict[str, Any]:
    return {"stamp": it.stamp, "learnt": it.learnt, "last": it.last}


def _name(root: str) -> str:
    digest = hashlib.blake2b(os.fsencode(root), digest_size=10).hexdigest()
    return f"{digest}.json"
