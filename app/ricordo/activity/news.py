"""Whether agents did something since their transcripts were read: told by stamps of files and
folders alone, so that it can be asked again and again.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping

from ricordo.activity.session import Agent
from ricordo.activity.sources import Source

Stamps = Mapping[str, tuple[int, int]]
"""When each path was changed last, in nanoseconds, and its size; zeros where nothing is there."""
_LOG = "-wal"
"""What SQLite adds to the name of a database for what was written last."""


def places_of(sources: Iterable[Source], folders: Iterable[str]) -> frozenset[str]:
    """Return the paths that change when something is added to `sources`, or when another one comes
    up in one of the `folders`, or beside those that lie in them.
    """
    tops = frozenset(folders)
    return frozenset((*tops, *(place for source in sources for place in _of_source(source, tops))))


def _of_source(source: Source, tops: Collection[str]) -> Iterator[str]:
    yield source.path
    if source.agent is Agent.OPENCODE:
        yield f"{source.path}{_LOG}"
    folder = os.path.dirname(source.path)
    while any(folder.startswith(f"{top}/") for top in tops):
        yield folder
        folder = os.path.dirname(folder)


def stamps_of(places: Iterable[str]) -> Stamps:
    """Return the stamps of `places` as they are now."""
    return {place: _stamp(place) for place in places}


def _stamp(place: str) -> tuple[int, int]:
    try:
        status = os.stat(place)
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size
