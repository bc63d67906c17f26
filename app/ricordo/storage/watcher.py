"""Watching a memory's directory: the one door to watchfiles.

Events are hints and nothing more: whoever is told of a path looks at the disk. The directory may
be removed and made anew, in which case the operating system falls silent; so its identity is
looked at from time to time. Where the system has no watches left, or cannot watch such a file
system, the directory is polled.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass

from ricordo.storage.reader import is_leftover, list_folders

COALESCED = 50
"""Milliseconds for which events are gathered."""
IDENTITY_CHECK = 2_000
"""Milliseconds after which a silent directory is looked at."""
_BREATH = 0.2
"""Seconds before watching begins again, so that a name cannot keep us busy."""


@dataclass(frozen=True, slots=True)
class FileEvents:
    """What changed in a moment."""

    paths: frozenset[str]
    """Relative to the directory."""
    everything: bool = False
    """Whether the whole directory has to be looked at."""
    polling: bool = False
    """Whether the directory is polled because it cannot be watched."""


async def watch(root: str) -> AsyncIterator[FileEvents]:
    """Yield what changes in the directory `root`, for ever.

    An empty batch comes first, when watching has begun, and again when watching became polling.
    """
    polling = False
    while True:
        identity = _identity(root)
        if identity is None:
            await _until_it_is_there(root)
            yield FileEvents(frozenset(), everything=True, polling=polling)
            continue
        yield FileEvents(frozenset(), polling=polling)
        try:
            async for paths in _changes(root, polling):
                if _identity(root) != identity:
                    break
                if paths:
                    yield FileEvents(paths, polling=polling)
            yield FileEvents(frozenset(), everything=True, polling=polling)
        except Exception as error:
            # watchfiles raises OSError where watches run out, an exception of its own where
            # instances do, and either where the directory went away or cannot be listed
            if _met_an_odd_name(error):
                await asyncio.sleep(_BREATH)
            elif _identity(root) == identity:
                if polling:
                    await asyncio.sleep(IDENTITY_CHECK / 1000)
                polling = True
            yield FileEvents(frozenset(), everything=True, polling=polling)


async def _changes(root: str, polling: bool) -> AsyncIterator[frozenset[str]]:
    """Yield what changes, until a folder comes or goes: then others have to be watched."""
    from watchfiles import Change, awatch

    # each by itself: watched as a tree, a directory is followed through links, to / if need be
    folders = await asyncio.to_thread(list_folders, root)
    async for changes in awatch(
        *sorted(folders),
        recursive=False,
        watch_filter=None,
        debounce=COALESCED,
        step=10,
        rust_timeout=IDENTITY_CHECK,
        yield_on_timeout=True,
        force_polling=polling or None,
        poll_delay_ms=200,
        ignore_permission_denied=True,
    ):
        told = [it for it in changes if not is_leftover(os.path.basename(it[1]))]
        yield frozenset(os.path.relpath(path, root) for _, path in told)
        moved = (path for change, path in told if change is not Change.modified)
        if any(path in folders or _is_folder(path) for path in moved):
            return


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def _met_an_odd_name(error: Exception) -> bool:
    """Whether watchfiles ended because something was done to a file whose name is no UTF-8, be it
    that somebody read it: the directory can be watched all the same.
    """
    causes = error.exceptions if isinstance(error, ExceptionGroup) else (error,)
    return any("Unable to decode path" in str(cause) for cause in causes)


async def _until_it_is_there(root: str) -> None:
    while _identity(root) is None:
        await asyncio.sleep(IDENTITY_CHECK / 1000)


def _identity(root: str) -> tuple[int, int] | None:
    try:
        status = os.stat(root)
    except OSError:
        return None
    return status.st_dev, status.st_ino
