"""Replace a file by an atomic exchange, so that no concurrent write is lost.

The new content is written next to the old one, and the two names are exchanged atomically. Then
the displaced content is checked: if it is not the expected one, another program wrote at the last
moment, and the names are exchanged back. If yet another program has written to the new content by
then, the file gets the lines of both; if these cannot be merged, one content stays, and the other
one is recorded as a conflict.

A file that another program has open for writing is not exchanged: later writes of that program
would go to a file without a name. One that was opened at the last moment is put back, or keeps a
name until it is closed.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum, auto

from ricordo.errors import ChangeRefused
from ricordo.memory.change import compute_digest
from ricordo.memory.diff import merge_foreign
from ricordo.storage import system_calls as calls
from ricordo.storage.jail import OpenRoot
from ricordo.text import make_visible

WRITERS_PATIENCE = 1.0
"""Seconds to wait until no process has a displaced file open for writing."""
GRACE = 0.02
"""Seconds that a possible writer gets to finish if open files cannot be detected."""
_PAUSE = 0.002
_MAX_ATTEMPTS = 10
_MAX_OPEN_ATTEMPTS = 2
"""How often to wait for a displaced file to be closed."""
_NOT_REGULAR = ""
"""Used as the SHA-256 of something that is not a regular file: equal to none."""


class ExchangeResult(Enum):
    """The result of an attempt to exchange a file."""

    DONE = auto()
    """The new content is in place, and no process can write to the old one."""
    WATCHED = auto()
    """The same, but the old one may be open for writing: `release` decides."""
    FOREIGN = auto()
    """Another program's content is in place."""
    OPEN = auto()
    """Nothing was exchanged: another program has the file open for writing."""


@dataclass(frozen=True, slots=True)
class _Content:
    """The content of a file."""

    raw: bytes | None
    """None if it is not a regular file."""
    has_writer: bool | None
    """Whether a process still has it open for writing; None if unknown."""

    @property
    def sha(self) -> str:
        return compute_digest(self.raw) or _NOT_REGULAR


@dataclass(frozen=True, slots=True)
class AtomicExchange:
    """The replacement of one file's content by another."""

    root: OpenRoot
    path: str
    pre: str | None
    """SHA-256 of the expected content; None if the file must not exist."""
    post: str | None
    temporary: str
    """A name in the same folder that no other program uses. The file there is either complete or
    was displaced."""
    content: Callable[[str | None], bytes] = field(repr=False)
    """Returns the stored content with a SHA-256; empty for None."""
    store: Callable[[bytes], None] = field(repr=False)
    """Stores a content that would otherwise be lost."""
    report_conflict: Callable[[bytes], None] = field(repr=False)
    """Records a stored content that could not be merged into the file."""
    origin: str = ""
    """The file, beneath the same root, whose attributes a new file copies if it still exists."""
    mode: int | None = None
    """Permissions of a new file; None for those of the user's umask."""
    modified: int | None = None
    """When the new content was written, in nanoseconds since 1970; None for now."""

    @property
    def _part(self) -> str:
        """The name of a new content that is not completely written."""
        return f"{self.temporary}-part"

    @property
    def _second(self) -> str:
        """The second name of a file that is replaced without an exchange."""
        return f"{self.temporary}-old"

    @property
    def _merged(self) -> str:
        """The name of a content with the lines of two other programs."""
        return f"{self.temporary}-merged"

    def stage(self, content: bytes) -> None:
        """Write the new content next to the file, durably. Raises OSError, leaving no file."""
        with self.root.open_folder(self.path) as (folder, _):
            self._write(folder, content, self.temporary, self.modified)

    def _write(self, folder: int, content: bytes, name: str, modified: int | None = None) -> None:
        try:
            handle = calls.create_file(folder, self._part)
            try:
                calls.write_all(handle, content)
                self._copy_attributes(handle)
                if modified is not None:
                    os.utime(handle, ns=(modified, modified))
                calls.sync_file(handle)
            finally:
                os.close(handle)
            calls.rename_over(folder, self._part, name)
        except OSError:
            with suppress(OSError):
                calls.unlink(folder, self._part)
            raise

    def _copy_attributes(self, handle: int) -> None:
        """Give the new file the attributes of the old one, or of the one it was moved from."""
        if self.pre is None:
            os.fchmod(handle, 0o666 & ~_umask() if self.mode is None else self.mode)
        model = self.path if self.pre is not None else self.origin
        if not model:
            return
        with suppress(FileNotFoundError), self.root.open_folder(model) as (folder, name):
            original = calls.open_file(folder, name)
            try:
                calls.copy_attributes(handle, original)
            finally:
                os.close(original)

    def clear(self) -> None:
        """Remove temporary files of this attempt or of an interrupted one.

        A displaced content of another program that was not checked is put back. Raises OSError.
        """
        with (
            suppress(FileNotFoundError, ChangeRefused),
            self.root.open_folder(self.path) as (folder, name),
        ):
            calls.unlink(folder, self._part)
            # the name of the merged content first: it may hold a displaced content
            for leftover in (self._merged, self.temporary, self._second):
                with suppress(FileNotFoundError):
                    self._put_back(folder, leftover, name)

    def exchange(self) -> ExchangeResult:
        """Replace the old content by the new one. Raises OSError."""
        with self.root.open_folder(self.path) as (folder, name):
            if self.pre is None:
                return self._create(folder, name)
            try:
                before = _read_settled(folder, name, grace=0)
                if before.has_writer:
                    return ExchangeResult.OPEN
                if before.sha != self.pre:
                    return ExchangeResult.FOREIGN
                if self.post is None:
                    calls.rename_over(folder, name, self.temporary)
                elif self.root.can_exchange():
                    calls.exchange(folder, self.temporary, name)
                else:
                    # a write between these two steps is lost
                    calls.link(folder, name, self._second)
                    calls.rename_over(folder, self.temporary, name)
                return self._accept(folder, name)
            except FileNotFoundError:
                # another program removed the file; `clear` removes what was staged
                return ExchangeResult.FOREIGN

    def _create(self, folder: int, name: str) -> ExchangeResult:
        try:
            self._rename_new(folder, self.temporary, name)
        except FileExistsError:
            return ExchangeResult.FOREIGN
        return ExchangeResult.DONE

    def _accept(self, folder: int, name: str) -> ExchangeResult:
        """Return the result after checking the displaced content; put back an unexpected one."""
        is_linked = self.post is not None and not self.root.can_exchange()
        old_name = self._second if is_linked else self.temporary
        displaced = _read_settled(folder, old_name)
        if displaced.sha != self.pre or displaced.has_writer:
            self._put_back(folder, old_name, name)
            return ExchangeResult.FOREIGN
        if displaced.has_writer is None:
            return ExchangeResult.WATCHED
        calls.unlink(folder, old_name)
        return ExchangeResult.DONE

    def release(self) -> bool:
        """Check a watched old content again and remove it; return whether no program wrote to it.
        If one did, its content is put back. Raises OSError.
        """
        with self.root.open_folder(self.path) as (folder, name):
            for old_name in (self.temporary, self._second):
                with suppress(FileNotFoundError):
                    if _read_settled(folder, old_name, grace=0).sha != self.pre:
                        self._put_back(folder, old_name, name)
                        return False
                    calls.unlink(folder, old_name)
        return True

    def _put_back(self, folder: int, old_name: str, name: str) -> None:
        """Put another program's content at `old_name` back at `name`, and remove `old_name`. If
        yet another program has written to `name`, the file gets the lines of both, or a conflict is
        reported. Raises OSError, also if the file at `old_name` stays open for writing.
        """
        ricordos = (self.pre, self.post)
        is_newer = False
        open_attempts = 0
        for _ in range(_MAX_ATTEMPTS):
            theirs = _read_settled(folder, old_name)
            if theirs.sha in ricordos and not theirs.has_writer:
                break
            if theirs.raw is not None:
                self.store(theirs.raw)
            open_attempts += bool(theirs.has_writer)
            try:
                current = _read_settled(folder, name, patience=0)
                if current.sha not in ricordos and not theirs.has_writer:
                    if self._merge_both(folder, old_name, name, theirs, is_newer=is_newer):
                        break
                elif open_attempts == _MAX_OPEN_ATTEMPTS or (
                    current.sha not in ricordos and not self.root.can_exchange()
                ):
                    raise OSError(
                        errno.ETXTBSY, f"{make_visible(self.path)} is open in another program"
                    )
                elif not self._exchange(folder, old_name, name):
                    return
                is_newer = True
            except FileNotFoundError:
                # deleted meanwhile: their text gets its name back
                with suppress(FileExistsError):
                    self._rename_new(folder, old_name, name)
                    return
        else:
            self._report(theirs)
        calls.unlink(folder, old_name)

    def _merge_both(
        self, folder: int, old_name: str, name: str, theirs: _Content, *, is_newer: bool
    ) -> bool:
        """Give the file the lines of two other programs, one of which wrote the content at
        `old_name`; return whether this is finished. If the two cannot be merged, the newer one
        stays in place and the other one is reported as a conflict.
        """
        current = _read_settled(folder, name)
        ricordos = self.content(self.pre), self.content(self.post)
        merged = None if current.has_writer else merge_foreign(*ricordos, theirs.raw, current.raw)
        if merged is not None and merged == current.raw:
            return True
        if merged is None or not self.root.can_exchange():
            if is_newer and not current.has_writer:
                self._exchange(folder, old_name, name)
                theirs = _read_settled(folder, old_name)
            self._report(theirs)
            return not theirs.has_writer
        self._write(folder, merged, self._merged)
        calls.exchange(folder, self._merged, name)
        displaced = _read_settled(folder, self._merged)
        if displaced.sha == current.sha and not displaced.has_writer:
            calls.unlink(folder, self._merged)
            return True
        # they wrote again: the file has the content of `old_name`, which the displaced one replaces
        calls.rename_over(folder, self._merged, old_name)
        return False

    def _report(self, theirs: _Content) -> None:
        if theirs.raw is not None:
            self.store(theirs.raw)
            self.report_conflict(theirs.raw)

    def _exchange(self, folder: int, old_name: str, name: str) -> bool:
        """Move `old_name` to `name`; return whether the replaced content is now at `old_name`."""
        if not self.root.can_exchange():
            calls.rename_over(folder, old_name, name)
            return False
        calls.exchange(folder, old_name, name)
        return True

    def _rename_new(self, folder: int, name: str, to: str) -> None:
        if self.root.can_exchange():
            calls.rename_new(folder, name, to)
        else:
            calls.link(folder, name, to)
            calls.unlink(folder, name)


def _read_settled(
    folder: int, name: str, patience: float | None = None, grace: float = GRACE
) -> _Content:
    """Return the content of a file once other programs have closed it; wait for that at most
    `patience` seconds, WRITERS_PATIENCE if None.
    """
    if patience is None:
        patience = WRITERS_PATIENCE
    try:
        handle = calls.open_file(folder, name)
    except OSError as error:
        if calls.is_not_regular_error(error):
            return _Content(None, has_writer=False)
        raise
    try:
        until = time.monotonic() + patience
        while (writing := calls.has_writers(handle)) and time.monotonic() < until:
            time.sleep(_PAUSE)
        if writing is None and patience:
            time.sleep(grace)
        return _Content(calls.read_all(handle), has_writer=writing)
    finally:
        os.close(handle)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
