"""The system calls by which files of a memory change, all in one place.

`before` is called with the name of each call before it is made: the tests fail calls and kill the
process there. Everything works on names inside an open directory and follows no symbolic link.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import signal
import stat
import struct
import sys
import unicodedata
from collections.abc import Callable
from functools import cache
from string import ascii_letters
from typing import Literal

_NOREPLACE, _EXCHANGE = 1, 2
_MAC_SWAP, _MAC_EXCLUSIVE = 2, 4
_OPENAT2 = 437
_RESOLVE = 0x02 | 0x04 | 0x08
"""No magic links, no symbolic links, nothing above."""
_GETFLAGS = 0x80086601
_FROZEN = 0x10 | 0x20
"""Immutable, append only."""

READING = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
DIRECTORY = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC


def _go_on(name: str) -> None:
    """Do nothing."""


before: Callable[[str], None] = _go_on
"""Called with the name of each step before it is taken; tests put there what stops or fails it."""


class Unsupported(OSError):
    """The file system or the machine has no such operation."""


def open_directory(path: str) -> int:
    """Open the directory at `path`, which may not be a symbolic link."""
    before("open directory")
    return os.open(path, DIRECTORY)


def open_folder(root: int, path: str) -> int:
    """Open the folder `path` beneath the open directory `root`; "" opens `root` anew.

    Nothing on the way may be a symbolic link or lead above. Raises OSError.
    """
    before("open folder")
    if not path:
        return os.open(".", DIRECTORY, dir_fd=root)
    if sys.platform == "linux":
        try:
            return _open_beneath(root, path)
        except Unsupported:
            pass
    return _open_step_by_step(root, path)


def _open_beneath(root: int, path: str) -> int:
    how = struct.pack("QQQ", DIRECTORY, 0, _RESOLVE)
    handle = _libc().syscall(_OPENAT2, root, os.fsencode(path), how, len(how))
    if handle >= 0:
        return int(handle)
    number = ctypes.get_errno()
    if number in (errno.ENOSYS, errno.EPERM):
        raise Unsupported(number, "openat2")
    raise OSError(number, os.strerror(number), path)


def _open_step_by_step(root: int, path: str) -> int:
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts):
        raise OSError(errno.EXDEV, "leads out", path)
    handle = os.open(".", DIRECTORY, dir_fd=root)
    for part in parts:
        try:
            deeper = os.open(part, DIRECTORY, dir_fd=handle)
        finally:
            os.close(handle)
        handle = deeper
    return handle


def open_file(folder: int, name: str) -> int:
    """Open the plain file `name` for reading. Raises OSError, for what is no plain file too."""
    before("open file")
    handle = os.open(name, READING, dir_fd=folder)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "not a plain file", name)
    return handle


def is_no_plain_file(error: OSError) -> bool:
    """Say whether `open_file` failed because something else than a plain file stands there."""
    return error.errno in (errno.ELOOP, errno.EINVAL, errno.ENXIO)


def is_called(folder: int, name: str, handle: int) -> bool:
    """Say whether the open file, which was found as `name`, is called so letter by letter: some
    file systems find it in another case or another Unicode form too.
    """
    status = os.fstat(handle)
    spellings = (name.translate(_OTHER_CASE), *(unicodedata.normalize(f, name) for f in _FORMS))
    if all(find(folder, it) != (status.st_dev, status.st_ino) for it in {*spellings} - {name}):
        return True
    # or a hard link has that other name
    return name in os.listdir(folder)


def find(folder: int, name: str) -> tuple[int, int] | None:
    """Return device and inode of what stands at `name`; None where nothing is found."""
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return None
    return status.st_dev, status.st_ino


_OTHER_CASE = str.maketrans(ascii_letters, ascii_letters.swapcase())
_FORMS: tuple[Literal["NFC", "NFD"], ...] = ("NFC", "NFD")


def read_all(handle: int) -> bytes:
    """Return everything in the open file, from its start."""
    before("read")
    os.lseek(handle, 0, os.SEEK_SET)
    parts: list[bytes] = []
    while part := os.read(handle, 1 << 20):
        parts.append(part)
    return b"".join(parts)


def create_file(folder: int, name: str) -> int:
    """Make the file `name`, for this user only, and open it for writing."""
    before("create")
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(name, flags, 0o600, dir_fd=folder)


def write_all(handle: int, content: bytes) -> None:
    """Write all of `content`."""
    view = memoryview(content)
    while view:
        before("write")
        view = view[os.write(handle, view) :]


def sync_file(handle: int) -> None:
    """Wait until the open file is on the disk."""
    before("fsync")
    if sys.platform == "darwin":
        fcntl.fcntl(handle, fcntl.F_FULLFSYNC)
    else:
        os.fsync(handle)


def sync_folder(folder: int) -> None:
    """Wait until the names in the open directory are on the disk."""
    before("fsync folder")
    os.fsync(folder)


def exchange(folder: int, one: str, other: str) -> None:
    """Let two names change places, as one step. Raises Unsupported where that is not possible."""
    before("exchange")
    _rename(folder, one, other, _EXCHANGE, _MAC_SWAP)


def rename_new(folder: int, name: str, to: str) -> None:
    """Rename within the directory; FileExistsError where `to` stands. Raises Unsupported."""
    before("rename")
    _rename(folder, name, to, _NOREPLACE, _MAC_EXCLUSIVE)


def rename_over(folder: int, name: str, to: str) -> None:
    """Rename within the directory, over whatever stands there."""
    before("replace")
    os.replace(name, to, src_dir_fd=folder, dst_dir_fd=folder)


def link(folder: int, name: str, to: str) -> None:
    """Give a file a second name; FileExistsError where it stands."""
    before("link")
    os.link(name, to, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)


def unlink(folder: int, name: str) -> None:
    """Take a name away; nothing where it is not there."""
    before("unlink")
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return


def take_on(handle: int, model: int) -> None:
    """Give the file that is open as `handle` mode, owner and attributes of the one `model`.

    Raises OSError where an owner or an access list could not be kept.
    """
    before("take on")
    status, own = os.fstat(model), os.fstat(handle)
    if (status.st_uid, status.st_gid) != (own.st_uid, own.st_gid):
        os.fchown(handle, status.st_uid, status.st_gid)
    os.fchmod(handle, stat.S_IMODE(status.st_mode))
    if not hasattr(os, "listxattr"):
        return
    wanted = _attributes(model)
    for name in _attributes(handle):
        # the folder gives new files a list that the old one did not have
        if name not in wanted and name.startswith("system.posix_acl"):
            os.removexattr(handle, name)
    for name in wanted:
        try:
            os.setxattr(handle, name, os.getxattr(model, name))
        except OSError:
            if name.startswith("system.posix_acl"):
                raise


def _attributes(handle: int) -> list[str]:
    try:
        return os.listxattr(handle)
    except OSError:
        return []


def is_frozen(handle: int) -> bool:
    """Say whether a file or directory is marked immutable or append-only."""
    if sys.platform != "linux":
        return False
    flags = bytearray(8)
    try:
        fcntl.ioctl(handle, _GETFLAGS, flags)
    except OSError:
        return False
    return bool(struct.unpack("L", flags)[0] & _FROZEN)


def has_writers(handle: int) -> bool | None:
    """Say whether anybody has the file open for writing; None where that cannot be known.

    A read lease is granted only on files that nobody has open for writing (fcntl(2)).
    """
    before("lease")
    if not hasattr(fcntl, "F_SETLEASE"):
        return None
    try:
        # a lease that is broken sends a signal: one that is ignored by default
        fcntl.fcntl(handle, _F_SETSIG, signal.SIGURG)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as error:
        return True if error.errno == errno.EAGAIN else None
    return False


_F_SETSIG = 10


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _rename(folder: int, one: str, other: str, linux: int, mac: int) -> None:
    names = os.fsencode(one), os.fsencode(other)
    name, flag = ("renameatx_np", mac) if sys.platform == "darwin" else ("renameat2", linux)
    function = getattr(_libc(), name, None)
    if function is None:
        raise Unsupported(errno.ENOSYS, name)
    if function(folder, names[0], folder, names[1], ctypes.c_uint(flag)) == 0:
        return
    number = ctypes.get_errno()
    if number in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
        raise Unsupported(number, os.strerror(number), one)
    raise OSError(number, os.strerror(number), one, None, other)
