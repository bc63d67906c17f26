"""Bring the store of transcripts up to date: only what was added since is read."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import asdict

from ricordo.agents.registry import open_transcript
from ricordo.agents.transcripts.checkpoint import Checkpoint, dump_checkpoint, load_checkpoint
from ricordo.agents.transcripts.session import Message
from ricordo.agents.transcripts.sources import TranscriptSource
from ricordo.agents.transcripts.store import TranscriptStore, to_stored_path

SAVE_INTERVAL = 16 * 1024 * 1024
"""Bytes of a transcript after which the state is saved: an interruption loses no more."""
_NOTE = ".md"
_TOUCH = "transcript, call, path, deed, at, key, offset, line, window_offset, window_line"


def catch_up(
    store: TranscriptStore, sources: Iterable[TranscriptSource], step: Callable[[], None]
) -> None:
    """Read what was added to `sources` since the last time, the newest first; `step` is called
    every few milliseconds and may raise: what was read before stays saved. Raises sqlite3.Error,
    OSError and StateUnusable.
    """
    with store.open_for_writing() as connection:
        rows = connection.execute("SELECT path, session, stamp FROM transcript").fetchall()
        stamps = {(path, session): stamp for path, session, stamp in rows}
        for source in sorted(sources, key=lambda source: -source.changed_at):
            step()
            if stamps.get((to_stored_path(source.path), source.session)) != source.stamp:
                _TranscriptCatchUp(connection, source, step).read()


class _TranscriptCatchUp:
    """Reads what was added to one transcript."""

    def __init__(
        self, connection: sqlite3.Connection, source: TranscriptSource, step: Callable[[], None]
    ) -> None:
        self._connection = connection
        self._source = source
        self._n, learnt = self._find_row()
        self._transcript = open_transcript(source, learnt, step)
        self._pending = {
            call
            for (call,) in connection.execute(
                "SELECT call FROM touch WHERE transcript = ? AND done = ''", (self._n,)
            )
        }
        """Calls that touched notes and have no result yet."""

    def _find_row(self) -> tuple[int, Checkpoint]:
        """Return the number of the transcript, and what was read of it before."""
        path, session = to_stored_path(self._source.path), self._source.session
        with self._connection:
            self._connection.execute(
                "INSERT OR IGNORE INTO transcript (agent, path, session) VALUES (?, ?, ?)",
                (self._source.agent.name, path, session),
            )
            n, learnt = self._connection.execute(
                "SELECT n, learnt FROM transcript WHERE path = ? AND session = ?", (path, session)
            ).fetchone()
        return n, load_checkpoint(learnt)

    def read(self) -> None:
        """Read it to its end, and save the result."""
        saved, is_void = 0, False
        try:
            for turn in self._transcript.messages():
                if self._transcript.is_restarted and not is_void:
                    is_void = True
                    self._delete_touches()
                self._save_touches(turn)
                offset = turn.place.offset
                if offset - saved >= SAVE_INTERVAL:
                    saved = offset
                    self._transcript.seal()
                    self._save("")
            self._save(self._source.stamp)
        finally:
            # what was not committed is read again
            self._connection.rollback()

    def _delete_touches(self) -> None:
        """Delete what is stored, because the file is another one than before."""
        self._connection.execute("DELETE FROM touch WHERE transcript = ?", (self._n,))
        self._pending = set()

    def _save_touches(self, turn: Message) -> None:
        window = self._transcript.checkpoint.window
        for number, touch in enumerate(turn.touches):
            if not touch.path.lower().endswith(_NOTE):
                continue
            call = touch.call or f"{turn.key or turn.place.line}:{number}"
            self._connection.execute(
                f"INSERT OR IGNORE INTO touch ({_TOUCH}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(self._n, call, to_stored_path(touch.path), touch.action, turn.at, turn.key),
                    *(*turn.place, *window),
                ),
            )
            self._pending.add(call)
        for call in self._pending & turn.failed:
            self._connection.execute(
                "DELETE FROM touch WHERE transcript = ? AND call = ?", (self._n, call)
            )
        for call in self._pending & turn.succeeded:
            self._connection.execute(
                "UPDATE touch SET done = ? WHERE transcript = ? AND call = ?",
                (turn.at, self._n, call),
            )
        self._pending -= turn.failed | turn.succeeded

    def _save(self, stamp: str) -> None:
        """Save all up to here; `stamp` is "" unless it was read to its end."""
        learnt = (
            dump_checkpoint(self._transcript.checkpoint) if self._transcript.is_resumable else ""
        )
        self._connection.execute(
            "UPDATE transcript SET stamp = :stamp, learnt = :learnt, id = :id, cwd = :cwd, "
            "branch = :branch, title = :title, started = :started, ended = :ended, "
            "continues = :continues, part_of = :part_of WHERE n = :n",
            {
                **asdict(self._transcript.session),
                "stamp": stamp,
                "learnt": learnt,
                "n": self._n,
            },
        )
        self._connection.commit()


Stamps = Mapping[str, tuple[int, int]]
"""When each path was changed last, in nanoseconds, and its size; zeros if there is nothing."""
_LOG = "-wal"
"""What SQLite adds to the name of a database for its write-ahead log."""


def list_watched_paths(
    sources: Iterable[TranscriptSource], folders: Iterable[str]
) -> frozenset[str]:
    """Return the paths that change when something is added to `sources`, or when another one
    appears in one of the `folders`, or beside those that are in them.
    """
    tops = frozenset(folders)
    return frozenset(
        (*tops, *(place for source in sources for place in _places_of_source(source, tops)))
    )


def _places_of_source(source: TranscriptSource, tops: Collection[str]) -> Iterator[str]:
    yield source.path
    if source.agent.keeps_database:
        yield f"{source.path}{_LOG}"
    folder = os.path.dirname(source.path)
    while any(folder.startswith(f"{top}/") for top in tops):
        yield folder
        folder = os.path.dirname(folder)


def read_stamps(places: Iterable[str]) -> Stamps:
    """Return the stamps of `places` as they are now."""
    return {place: _stamp(place) for place in places}


def _stamp(place: str) -> tuple[int, int]:
    try:
        status = os.stat(place)
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size
