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
from ricordo.disk.held_root import HeldRoot
from ricordo.errors import ChangeRefused
from ricordo.memory.change_set import digest

WRITERS_PATIENCE = 1.0
"""Seconds for which we wait until nobody has a displaced file open for writing."""
GRACE = 0.02
"""Seconds that a writer is given to finish where it cannot be known whether there is one."""
_PAUSE = 0.002
_MOST_TURNS = 10
_NOT_PLAIN = ""
"""Stands for the SHA-256 of what is no plain file: equal to none."""


@dataclass(frozen=True, slots=True)
class _Displaced:
    """What came out of a place."""

    content: bytes | None
    """None where it is no plain file."""
    is_final: bool
    """False where somebody still has it open for writing."""

    @property
    def sha(self) -> str:
        return digest(self.content) or _NOT_PLAIN


@dataclass(frozen=True, slots=True)
class Swap:
    """One file on its way from one content to another."""

    root: HeldRoot
    path: str
    pre: str | None
    """SHA-256 of what must be there; None where nothing may be."""
    post: str | None
    temporary: str
    """A name in the same folder, that nobody else uses. What stands there is either complete or
    came out of the place."""
    keep: Callable[[bytes], None] = field(repr=False)
    """Keeps a content that would otherwise be lost."""
    origin: str = ""
    """The file, beneath the same root, whose attributes a new file takes on while it is there."""
    mode: int | None = None
    """Permissions of a new file; None for those that the user's mask gives."""

    @property
    def _part(self) -> str:
        """The name of a new content that is not written to its end."""
        return f"{self.temporary}-part"

    @property
    def _second(self) -> str:
        """The other name of a file that is replaced without an exchange."""
        return f"{self.temporary}-old"

    def stage(self, content: bytes) -> None:
        """Write the new content beside the file, durably. Raises OSError; nothing stays then."""
        with self.root.folder_of(self.path) as (folder, _):
            try:
                handle = calls.create_file(folder, self._part)
                try:
                    calls.write_all(handle, content)
                    self._take_on(handle)
                    calls.sync_file(handle)
                finally:
                    os.close(handle)
                calls.rename_over(folder, self._part, self.temporary)
            except OSError:
                with suppress(OSError):
                    calls.unlink(folder, self._part)
                raise

    def _take_on(self, handle: int) -> None:
        if self.pre is None:
            os.fchmod(handle, 0o666 & ~_umask() if self.mode is None else self.mode)
        model = self.path if self.pre is not None else self.origin
        if not model:
            return
        with suppress(FileNotFoundError), self.root.folder_of(model) as (folder, name):
            original = calls.open_file(folder, name)
            try:
                calls.take_on(handle, original)
            finally:
                os.close(original)

    def clear(self) -> None:
        """Take away what an attempt, this one or one that was cut off, has left beside the file.

        A content of somebody else that was displaced and not looked at any more goes back to its
        place. Raises OSError.
        """
        with (
            suppress(FileNotFoundError, ChangeRefused),
            self.root.folder_of(self.path) as (folder, name),
        ):
            calls.unlink(folder, self._part)
            for left in (self.temporary, self._second):
                with suppress(FileNotFoundError):
                    self._clear(folder, name, left)

    def _clear(self, folder: int, name: str, left: str) -> None:
        displaced = _settled(folder, left)
        if displaced.is_final and displaced.sha in (self.pre, self.post):
            calls.unlink(folder, left)
        else:
            self._give_back(folder, left, name, displaced)

    def make(self) -> bool:
        """Let the new content take the place of the old one; say whether it did.

        False: somebody else's content stands there, as they wrote it. Raises OSError.
        """
        with self.root.folder_of(self.path) as (folder, name):
            if self.pre is None:
                return self._create(folder, name)
            try:
                if self.post is None:
                    return self._delete(folder, name)
                if self.root.can_exchange():
                    return self._replace(folder, name)
                return self._replace_by_link(folder, name)
            except FileNotFoundError:
                # somebody took the file away; `clear` sees to what was staged
                return False

    def _create(self, folder: int, name: str) -> bool:
        try:
            self._rename_new(folder, self.temporary, name)
        except FileExistsError:
            return False
        return True

    def _delete(self, folder: int, name: str) -> bool:
        calls.rename_over(folder, name, self.temporary)
        return self._accept(folder, self.temporary, name)

    def _replace(self, folder: int, name: str) -> bool:
        calls.exchange(folder, self.temporary, name)
        return self._accept(folder, self.temporary, name)

    def _replace_by_link(self, folder: int, name: str) -> bool:
        """Without an exchange the old file gets a second name first, so that it can be looked at
        after the new one took its place. What is written between the two steps is lost.
        """
        calls.link(folder, name, self._second)
        calls.rename_over(folder, self.temporary, name)
        return self._accept(folder, self._second, name)

    def _accept(self, folder: int, left: str, name: str) -> bool:
        """Say whether what came out of the place, now at `left`, is what should; else it goes
        back.
        """
        displaced = _settled(folder, left)
        if displaced.is_final and displaced.sha == self.pre:
            calls.unlink(folder, left)
            return True
        self._give_back(folder, left, name, displaced)
        return False

    def _give_back(self, folder: int, left: str, name: str, theirs: _Displaced) -> None:
        """Put what somebody else wrote back in its place, where nothing newer of theirs stands;
        the newest of their contents is what stays, the others are kept.
        """
        older = {self.pre, self.post}
        for _ in range(_MOST_TURNS):
            self._keep(theirs)
            try:
                if _settled(folder, name, patience=0).sha not in older:
                    break
                came_out = self._exchange(folder, left, name)
            except FileNotFoundError:
                # deleted meanwhile: their text comes back under its name
                with suppress(FileExistsError):
                    self._rename_new(folder, left, name)
                    return
                continue
            if came_out is None or (came_out.is_final and came_out.sha in older):
                break
            older.add(theirs.sha)
            theirs = came_out
        else:
            self._keep(theirs)
        calls.unlink(folder, left)

    def _keep(self, displaced: _Displaced) -> None:
        if displaced.content is not None:
            self.keep(displaced.content)

    def _exchange(self, folder: int, left: str, name: str) -> _Displaced | None:
        """Put `left` at `name`; return what came out, None where that cannot be known."""
        if not self.root.can_exchange():
            calls.rename_over(folder, left, name)
            return None
        calls.exchange(folder, left, name)
        return _settled(folder, left)

    def _rename_new(self, folder: int, name: str, to: str) -> None:
        if self.root.can_exchange():
            calls.rename_new(folder, name, to)
        else:
            calls.link(folder, name, to)
            calls.unlink(folder, name)


def _settled(folder: int, name: str, patience: float = WRITERS_PATIENCE) -> _Displaced:
    """Return the content of a file that others may still have open, once they are done."""
    try:
        handle = calls.open_file(folder, name)
    except OSError as error:
        if calls.is_no_plain_file(error):
            return _Displaced(None, is_final=True)
        raise
    try:
        until = time.monotonic() + patience
        while (writing := calls.has_writers(handle)) and time.monotonic() < until:
            time.sleep(_PAUSE)
        if writing is None and patience:
            time.sleep(GRACE)
        return _Displaced(calls.read_all(handle), is_final=not writing)
    finally:
        os.close(handle)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
