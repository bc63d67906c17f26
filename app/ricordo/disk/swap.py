"""Putting one file in the place of another so that nothing that anybody writes is lost.

The new content is written beside the old one and the two names change places in one step. Only
then is it looked at what came out: if that is not what was meant to be replaced, somebody wrote
in the last instant, and the two change places again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from ricordo.disk import calls
from ricordo.disk.held_root import HeldRoot, read_file
from ricordo.memory.change_set import digest

WRITERS_PATIENCE = 1.0
"""Seconds for which we wait until nobody has a displaced file open for writing."""
GRACE = 0.02
"""Seconds that a writer is given to finish where it cannot be known whether there is one."""
_PAUSE = 0.002
_MOST_TURNS = 50


@dataclass(frozen=True, slots=True)
class _Displaced:
    """What came out of a place."""

    content: bytes
    is_final: bool
    """False where somebody still has it open for writing."""


@dataclass(frozen=True, slots=True)
class Swap:
    """One file on its way from one content to another."""

    root: HeldRoot
    path: str
    pre: str | None
    """SHA-256 of what must be there; None where nothing may be."""
    post: str | None
    temporary: str
    """A name in the same folder, that nobody else uses."""
    keep: Callable[[bytes], None] = field(repr=False)
    """Keeps a content that would otherwise be lost."""

    @property
    def _second(self) -> str:
        """The other name of a file that is replaced without an exchange."""
        return f"{self.temporary}-old"

    def stage(self, content: bytes) -> None:
        """Write the new content beside the file, durably. Raises OSError; nothing stays then."""
        with self.root.folder_of(self.path) as (folder, name):
            try:
                handle = calls.create_file(folder, self.temporary)
                try:
                    calls.write_all(handle, content)
                    self._take_on(folder, name, handle)
                    calls.sync_file(handle)
                finally:
                    os.close(handle)
            except OSError:
                with suppress(OSError):
                    calls.unlink(folder, self.temporary)
                raise

    def _take_on(self, folder: int, name: str, handle: int) -> None:
        if self.pre is None:
            os.fchmod(handle, 0o666 & ~_umask())
            return
        try:
            model = calls.open_file(folder, name)
        except FileNotFoundError:
            return
        try:
            calls.take_on(handle, model)
        finally:
            os.close(model)

    def clear(self) -> None:
        """Take away what an attempt, this one or one that was cut off, has left beside the file.

        A content of somebody else that was displaced and not looked at any more goes back to its
        place; any other unknown content is kept. Raises OSError.
        """
        try:
            with self.root.folder_of(self.path) as (folder, name):
                for left in (self.temporary, self._second):
                    with suppress(FileNotFoundError):
                        self._clear(folder, name, left)
        except FileNotFoundError:
            return

    def _clear(self, folder: int, name: str, left: str) -> None:
        content = read_file(folder, left)
        if digest(content) not in (self.pre, self.post):
            self.keep(content)
            with suppress(FileNotFoundError):
                if digest(read_file(folder, name)) == self.post:
                    calls.rename_over(folder, left, name)
                    return
        calls.unlink(folder, left)

    def make(self, *, by_exchange: bool) -> bool:
        """Let the new content take the place of the old one; say whether it did.

        False: somebody else's content stands there, as they wrote it. Raises OSError.
        """
        with self.root.folder_of(self.path) as (folder, name):
            if self.pre is None:
                return self._create(folder, name, by_exchange)
            if self.post is None:
                return self._delete(folder, name, by_exchange)
            if by_exchange:
                return self._replace(folder, name)
            return self._replace_by_link(folder, name)

    def _create(self, folder: int, name: str, by_exchange: bool) -> bool:
        try:
            if by_exchange:
                calls.rename_new(folder, self.temporary, name)
            else:
                calls.link(folder, self.temporary, name)
                calls.unlink(folder, self.temporary)
        except FileExistsError:
            calls.unlink(folder, self.temporary)
            return False
        return True

    def _delete(self, folder: int, name: str, by_exchange: bool) -> bool:
        try:
            if by_exchange:
                calls.rename_new(folder, name, self.temporary)
            else:
                calls.link(folder, name, self.temporary)
                calls.unlink(folder, name)
        except FileNotFoundError:
            return False
        displaced = self._settled(folder, self.temporary)
        if displaced.is_final and digest(displaced.content) == self.pre:
            calls.unlink(folder, self.temporary)
            return True
        self.keep(displaced.content)
        # where the name is taken again, what stood there before is in the history
        with suppress(FileExistsError):
            calls.link(folder, self.temporary, name)
        calls.unlink(folder, self.temporary)
        return False

    def _replace(self, folder: int, name: str) -> bool:
        try:
            calls.exchange(folder, self.temporary, name)
        except FileNotFoundError:
            calls.unlink(folder, self.temporary)
            return False
        displaced = self._settled(folder, self.temporary)
        if displaced.is_final and digest(displaced.content) == self.pre:
            calls.unlink(folder, self.temporary)
            return True
        self._put_back(folder, name, displaced.content)
        return False

    def _put_back(self, folder: int, name: str, theirs: bytes) -> None:
        """Give the place back to what came out, `theirs`; where the place was written to again
        meanwhile, the newest content of others is what stays.
        """
        expected = self.post
        for _ in range(_MOST_TURNS):
            self.keep(theirs)
            try:
                calls.exchange(folder, self.temporary, name)
            except FileNotFoundError:
                # deleted meanwhile: their text comes back under its name
                with suppress(FileExistsError):
                    calls.rename_new(folder, self.temporary, name)
                    return
                continue
            came_out = self._settled(folder, self.temporary).content
            if digest(came_out) == expected:
                break
            expected, theirs = digest(theirs), came_out
        calls.unlink(folder, self.temporary)

    def _replace_by_link(self, folder: int, name: str) -> bool:
        """Without an exchange the old file gets a second name first, so that it can be looked at
        after the new one took its place. What is written between the two steps is lost.
        """
        second = self._second
        try:
            calls.link(folder, name, second)
        except FileNotFoundError:
            calls.unlink(folder, self.temporary)
            return False
        calls.rename_over(folder, self.temporary, name)
        displaced = self._settled(folder, second)
        if displaced.is_final and digest(displaced.content) == self.pre:
            calls.unlink(folder, second)
            return True
        self.keep(displaced.content)
        if digest(read_file(folder, name)) == self.post:
            calls.rename_over(folder, second, name)
        else:
            calls.unlink(folder, second)
        return False

    def _settled(self, folder: int, name: str) -> _Displaced:
        """Return the content of a file that others may still have open, once they are done."""
        handle = calls.open_file(folder, name)
        try:
            until = time.monotonic() + WRITERS_PATIENCE
            while (writing := calls.has_writers(handle)) and time.monotonic() < until:
                time.sleep(_PAUSE)
            if writing is None:
                time.sleep(GRACE)
            return _Displaced(calls.read_all(handle), is_final=not writing)
        finally:
            os.close(handle)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
