"""Putting one file in the place of another so that nothing that anybody writes is lost.

The new content is written beside the old one and the two names change places in one step. Only
then is it looked at what came out: if that is not what was meant to be replaced, somebody wrote
in the last instant, and the two change places again. Where yet another program has written to the
new content by then, the file gets the lines of both; where these cannot be merged, one content
stays, and the other one is recorded as a conflict.

A file that another program has open for writing is not exchanged: what that program writes later
would go to a file without a name. One that was opened in the last instant is put back, or keeps a
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
from ricordo.memory.change import digest
from ricordo.memory.diff import merge_foreign
from ricordo.storage import system_calls as calls
from ricordo.storage.jail import HeldRoot
from ricordo.text import visible

WRITERS_PATIENCE = 1.0
"""Seconds for which we wait until nobody has a displaced file open for writing."""
GRACE = 0.02
"""Seconds that a writer is given to finish where it cannot be known whether there is one."""
_PAUSE = 0.002
_MOST_TURNS = 10
_MOST_OPEN_TURNS = 2
"""How often it is waited for a displaced file to be closed."""
_NOT_PLAIN = ""
"""Stands for the SHA-256 of what is no plain file: equal to none."""


class Exchange(Enum):
    """What came of an attempt to exchange a file."""

    DONE = auto()
    """The new content stands there, and nobody can write to the old one any more."""
    WATCHED = auto()
    """The same, but nobody can say whether the old one is open for writing: `release` decides."""
    FOREIGN = auto()
    """Another program's content stands there."""
    OPEN = auto()
    """Nothing was exchanged: another program has the file open for writing."""


@dataclass(frozen=True, slots=True)
class _Content:
    """What a file holds."""

    raw: bytes | None
    """None where it is no plain file."""
    has_writer: bool | None
    """Whether somebody still has it open for writing; None where that cannot be known."""

    @property
    def sha(self) -> str:
        return digest(self.raw) or _NOT_PLAIN


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
    content: Callable[[str | None], bytes] = field(repr=False)
    """Gives the content of a SHA-256 of ours; nothing for None."""
    keep: Callable[[bytes], None] = field(repr=False)
    """Keeps a content that would otherwise be lost."""
    report_conflict: Callable[[bytes], None] = field(repr=False)
    """Records a content that is kept and that could not be merged into the file."""
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

    @property
    def _merged(self) -> str:
        """The name of a content that holds the lines of two other programs."""
        return f"{self.temporary}-merged"

    def stage(self, content: bytes) -> None:
        """Write the new content beside the file, durably. Raises OSError; nothing stays then."""
        with self.root.folder_of(self.path) as (folder, _):
            self._write(folder, content, self.temporary)

    def _write(self, folder: int, content: bytes, name: str) -> None:
        try:
            handle = calls.create_file(folder, self._part)
            try:
                calls.write_all(handle, content)
                self._take_on(handle)
                calls.sync_file(handle)
            finally:
                os.close(handle)
            calls.rename_over(folder, self._part, name)
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
            # what was merged is made at that name: what came out to it goes first
            for left in (self._merged, self.temporary, self._second):
                with suppress(FileNotFoundError):
                    self._give_back(folder, left, name)

    def make(self) -> Exchange:
        """Let the new content take the place of the old one. Raises OSError."""
        with self.root.folder_of(self.path) as (folder, name):
            if self.pre is None:
                return self._create(folder, name)
            try:
                before = _settled(folder, name, grace=0)
                if before.has_writer:
                    return Exchange.OPEN
                if before.sha != self.pre:
                    return Exchange.FOREIGN
                if self.post is None:
                    calls.rename_over(folder, name, self.temporary)
                elif self.root.can_exchange():
                    calls.exchange(folder, self.temporary, name)
                else:
                    # what is written between these two steps is lost
                    calls.link(folder, name, self._second)
                    calls.rename_over(folder, self.temporary, name)
                return self._accept(folder, name)
            except FileNotFoundError:
                # somebody took the file away; `clear` sees to what was staged
                return Exchange.FOREIGN

    def _create(self, folder: int, name: str) -> Exchange:
        try:
            self._rename_new(folder, self.temporary, name)
        except FileExistsError:
            return Exchange.FOREIGN
        return Exchange.DONE

    def _accept(self, folder: int, name: str) -> Exchange:
        """Say whether what came out of the place is what should; else it goes back."""
        is_linked = self.post is not None and not self.root.can_exchange()
        left = self._second if is_linked else self.temporary
        displaced = _settled(folder, left)
        if displaced.sha != self.pre or displaced.has_writer:
            self._give_back(folder, left, name)
            return Exchange.FOREIGN
        if displaced.has_writer is None:
            return Exchange.WATCHED
        calls.unlink(folder, left)
        return Exchange.DONE

    def release(self) -> bool:
        """Look once more at an old content that was watched, and let it go; say whether nobody
        wrote to it. What somebody wrote goes back to its place. Raises OSError.
        """
        with self.root.folder_of(self.path) as (folder, name):
            for left in (self.temporary, self._second):
                with suppress(FileNotFoundError):
                    if _settled(folder, left, grace=0).sha != self.pre:
                        self._give_back(folder, left, name)
                        return False
                    calls.unlink(folder, left)
        return True

    def _give_back(self, folder: int, left: str, name: str) -> None:
        """Put what somebody else wrote, which stands at `left`, back in its place, and take `left`
        away. Where yet somebody else has written there, the file gets the lines of both, or a
        conflict is reported. Raises OSError, also where the file at `left` stays open for writing.
        """
        own = (self.pre, self.post)
        is_newer = False
        open_turns = 0
        for _ in range(_MOST_TURNS):
            theirs = _settled(folder, left)
            if theirs.sha in own and not theirs.has_writer:
                break
            if theirs.raw is not None:
                self.keep(theirs.raw)
            open_turns += bool(theirs.has_writer)
            try:
                here = _settled(folder, name, patience=0)
                if here.sha not in own and not theirs.has_writer:
                    if self._join(folder, left, name, theirs, is_newer=is_newer):
                        break
                elif open_turns == _MOST_OPEN_TURNS or (
                    here.sha not in own and not self.root.can_exchange()
                ):
                    raise OSError(errno.ETXTBSY, f"{visible(self.path)} is open in another program")
                elif not self._exchange(folder, left, name):
                    return
                is_newer = True
            except FileNotFoundError:
                # deleted meanwhile: their text comes back under its name
                with suppress(FileExistsError):
                    self._rename_new(folder, left, name)
                    return
        else:
            self._report(theirs)
        calls.unlink(folder, left)

    def _join(self, folder: int, left: str, name: str, theirs: _Content, *, is_newer: bool) -> bool:
        """Give the file the lines of two other programs, of which one wrote what is at `left`; say
        whether nothing is left to do. Where the two cannot be merged, the newer one stays in the
        place and the other one is reported as a conflict.
        """
        here = _settled(folder, name)
        own = self.content(self.pre), self.content(self.post)
        merged = None if here.has_writer else merge_foreign(*own, theirs.raw, here.raw)
        if merged is not None and merged == here.raw:
            return True
        if merged is None or not self.root.can_exchange():
            if is_newer and not here.has_writer:
                self._exchange(folder, left, name)
                theirs = _settled(folder, left)
            self._report(theirs)
            return not theirs.has_writer
        self._write(folder, merged, self._merged)
        calls.exchange(folder, self._merged, name)
        came_out = _settled(folder, self._merged)
        if came_out.sha == here.sha and not came_out.has_writer:
            calls.unlink(folder, self._merged)
            return True
        # they went on writing: the file has what was at `left`, which makes room for what came out
        calls.rename_over(folder, self._merged, left)
        return False

    def _report(self, theirs: _Content) -> None:
        if theirs.raw is not None:
            self.keep(theirs.raw)
            self.report_conflict(theirs.raw)

    def _exchange(self, folder: int, left: str, name: str) -> bool:
        """Put `left` at `name`; say whether what stood there is now at `left`, or is gone."""
        if not self.root.can_exchange():
            calls.rename_over(folder, left, name)
            return False
        calls.exchange(folder, left, name)
        return True

    def _rename_new(self, folder: int, name: str, to: str) -> None:
        if self.root.can_exchange():
            calls.rename_new(folder, name, to)
        else:
            calls.link(folder, name, to)
            calls.unlink(folder, name)


def _settled(
    folder: int, name: str, patience: float | None = None, grace: float = GRACE
) -> _Content:
    """Return the content of a file that others may still have open, once they have closed it; it
    is waited for that for `patience` seconds, WRITERS_PATIENCE where none is given.
    """
    if patience is None:
        patience = WRITERS_PATIENCE
    try:
        handle = calls.open_file(folder, name)
    except OSError as error:
        if calls.is_no_plain_file(error):
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
