"""Watch a memory's directory; the only module that uses watchfiles.

Events are only hints: the receiver reads the paths from the disk. If the directory is removed and
created again, the operating system sends no more events; so its identity is checked from time to
time. If no watches are left, or the file system cannot be watched, the directory is polled.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass

from ricordo.storage.reader import is_leftover, list_folders

DEBOUNCE_MS = 50
"""Milliseconds for which events are collected."""
IDENTITY_CHECK_MS = 2_000
"""Milliseconds after which a directory without events is checked."""
_RESTART_PAUSE = 0.2
"""Seconds before watching restarts, so that one file name cannot cause a busy loop."""


@dataclass(frozen=True, slots=True)
class FileEvents:
    """A batch of changed files."""

    paths: frozenset[str]
    """Relative to the directory."""
    needs_full_read: bool = False
    """Whether the whole directory must be read again."""
    is_polling: bool = False
    """Whether the directory is polled because it cannot be watched."""


async def watch(root: str) -> AsyncIterator[FileEvents]:
    """Yield the changes in the directory `root`, without end.

    An empty batch is yielded when watching has started, and again when it falls back to polling.
    """
    polling = False
    while True:
        identity = _identity(root)
        if identity is None:
            await _wait_until_exists(root)
            yield FileEvents(frozenset(), needs_full_read=True, is_polling=polling)
            continue
        yield FileEvents(frozenset(), is_polling=polling)
        try:
            async for paths in _changes(root, polling):
                if _identity(root) != identity:
                    break
                if paths:
                    yield FileEvents(paths, is_polling=polling)
            yield FileEvents(frozenset(), needs_full_read=True, is_polling=polling)
        except Exception as error:
            # watchfiles raises OSError if watches run out, its own exception if instances do, and
            # either if the directory was removed or cannot be listed
            if _is_undecodable_name(error):
                await asyncio.sleep(_RESTART_PAUSE)
            elif _identity(root) == identity:
                if polling:
                    await asyncio.sleep(IDENTITY_CHECK_MS / 1000)
                polling = True
            yield FileEvents(frozenset(), needs_full_read=True, is_polling=polling)


async def _changes(root: str, polling: bool) -> AsyncIterator[frozenset[str]]:
    """Yield the changed paths until a folder is added or removed, which changes what to watch."""
    from watchfiles import Change, awatch

    # each one separately: a recursive watch follows links out of the directory, even to /
    folders = await asyncio.to_thread(list_folders, root)
    async for changes in awatch(
        *sorted(folders),
        recursive=False,
        watch_filter=None,
        debounce=DEBOUNCE_MS,
        step=10,
        rust_timeout=IDENTITY_CHECK_MS,
        yield_on_timeout=True,
        force_polling=polling or None,
        poll_delay_ms=200,
        ignore_permission_denied=True,
    ):
        relevant = [pair for pair in changes if not is_leftover(os.path.basename(pair[1]))]
        yield frozenset(os.path.relpath(path, root) for _, path in relevant)
        added_or_removed = (path for change, path in relevant if change is not Change.modified)
        if any(path in folders or _is_folder(path) for path in added_or_removed):
            return


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def _is_undecodable_name(error: Exception) -> bool:
    """Return whether watchfiles failed on an event, even a read, of a file whose name is not UTF-8:
    the directory can still be watched.
    """
    causes = error.exceptions if isinstance(error, ExceptionGroup) else (error,)
    return any("Unable to decode path" in str(cause) for cause in causes)


async def _wait_until_exists(root: str) -> None:
    while _identity(root) is None:
        await asyncio.sleep(IDENTITY_CHECK_MS / 1000)


def _identity(root: str) -> tuple[int, int] | None:
    try:
        status = os.stat(root)
    except OSError:
        return None
    return status.st_dev, status.st_ino
