"""When git says that the notes of a memory were changed last: a checkout gives all files its own
time.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ricordo import git
from ricordo.health.evidence import Commit, Evidence
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note

if TYPE_CHECKING:
    from ricordo.notebook.evidence import Step

_FORMAT = "--format=%x01%at%x02%D"
_SHALLOW = "grafted"
"""What git calls a commit before which nothing is known: what it shows is older."""
_Blob = tuple[str, float]
"""The id of a content, and when it was committed, in seconds since the epoch."""


class Committed:
    """The source of the commits. Git is asked once, and again where a note is other than it was."""

    rules = frozenset(("stale", "never-read"))

    def __init__(self, root: str) -> None:
        """`root` is the directory of the memory; nothing is looked at yet."""
        self._root = root
        self._blobs: Mapping[str, _Blob] | None = None
        self._commits: dict[str, Commit] = {}

    def has_news(self) -> bool:
        """Whether there is more to know of the same memory: not before a file changes."""
        return False

    def gather(self, memory: Memory, known: Evidence, step: Step) -> Evidence:
        """Return `known` with the commit of each note that is as it was committed."""
        if git.top_level(self._root) is None:
            return known
        touched = {note.path: note.facts.modified for note in memory.files if note.readable}
        if touched != {path: it.touched for path, it in self._commits.items()}:
            step("asking git how old the notes are")
            self._blobs = _last_blobs(self._root)
            found = ((note, _commit(note, self._blobs)) for note in memory.files if note.readable)
            self._commits = {note.path: commit for note, commit in found if commit is not None}
        return replace(known, commits=self._commits)


def _commit(note: Note, blobs: Mapping[str, _Blob]) -> Commit | None:
    """Return the last commit of a note; None where git has another text of it, or none."""
    if note.path not in blobs:
        return None
    blob, at = blobs[note.path]
    # with core.autocrlf a checkout has other line ends than git
    texts = (note.raw, note.raw.replace(b"\r\n", b"\n"))
    if blob not in (_id_of(text, len(blob)) for text in texts):
        return None
    try:
        return Commit(datetime.fromtimestamp(at, UTC), note.facts.modified)
    except (OverflowError, OSError, ValueError):
        return None


def _id_of(content: bytes, length: int) -> str:
    """Return the id that git gives a content, in `length` hexadecimal digits."""
    data = b"blob %d\0" % len(content) + content
    made = hashlib.sha1(data, usedforsecurity=False) if length == 40 else hashlib.sha256(data)
    return made.hexdigest()


def _last_blobs(root: str) -> dict[str, _Blob]:
    """Return what the last commit of each file below `root` left of it, by its path there."""
    shape = ("--relative", "--raw", "-z", "--no-renames", "--no-abbrev")
    answer = git.ask(root, "log", *shape, _FORMAT, "--", ".")
    blobs: dict[str, _Blob] = {}
    for path, blob, at in _entries(answer or b""):
        blobs.setdefault(path, (blob, at))
    return {path: it for path, it in blobs.items() if it[0]}


def _entries(answer: bytes) -> Iterator[tuple[str, str, float]]:
    """Yield the path of each file that a commit changed, the id of what it left, and the time of
    the commit, newest first; the id is "" where that time says nothing.
    """
    parts = iter(answer.split(b"\0"))
    at, is_shallow = 0.0, False
    for part in map(bytes.strip, parts):
        if part.startswith(b"\x01"):
            time, _, refs = part[1:].partition(b"\x02")
            at, is_shallow = float(time), _SHALLOW in refs.decode("utf-8", "replace").split(", ")
        elif part.startswith(b":"):
            blob = part.split(b" ")[3].decode("ascii")
            yield os.fsdecode(next(parts, b"")), "" if is_shallow else blob, at
