"""All system calls that change files of a memory.

`before` is called with the name of each call before it is made: tests inject errors and kill the
process there. All calls use names in an open directory and follow no symbolic link.
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
"""No magic links, no symbolic links, no path above the directory."""
_GETFLAGS = 0x80086601
_IMMUTABLE = 0x10 | 0x20
"""Immutable, append only."""

READING = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
DIRECTORY = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC


def _do_nothing(name: str) -> None:
    """Ignore the call named `name`."""


before: Callable[[str], None] = _do_nothing
"""Called with the name of each call before it is made; tests replace it to inject faults."""


class UnsupportedError(OSError):
    """The file system or the kernel does not support an operation."""


def open_directory(path: str) -> int:
    """Open the directory at `path`, which may not be a symbolic link."""
    before("open directory")
    return os.open(path, DIRECTORY)


def open_folder(root: int, path: str) -> int:
    """Open the folder `path` beneath the open directory `root`; "" opens `root` again.

    The path may not contain symbolic links or go above `root`. Raises OSError.
    """
    before("open folder")
    if not path:
        return os.open(".", DIRECTORY, dir_fd=root)
    if sys.platform == "linux":
        try:
            return _open_beneath(root, path)
        except UnsupportedError:
            pass
    return _open_step_by_step(root, path)


def _open_beneath(root: int, path: str) -> int:
    how = struct.pack("QQQ", DIRECTORY, 0, _RESOLVE)
    handle = _libc().syscall(_OPENAT2, root, os.fsencode(path), how, len(how))
    if handle >= 0:
        return int(handle)
    number = ctypes.get_errno()
    if number in (errno.ENOSYS, errno.EPERM):
        raise UnsupportedError(number, "openat2")
    raise OSError(number, os.strerror(number), path)


def _open_step_by_step(root: int, path: str) -> int:
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts):
        raise OSError(errno.EXDEV, "outside the directory", path)
    handle = os.open(".", DIRECTORY, dir_fd=root)
    for part in parts:
        try:
            deeper = os.open(part, DIRECTORY, dir_fd=handle)
        finally:
            os.close(handle)
        handle = deeper
    return handle


def open_file(folder: int, name: str) -> int:
    """Open the regular file `name` for reading. Raises OSError, also if it is not regular."""
    before("open file")
    handle = os.open(name, READING, dir_fd=folder)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "not a regular file", name)
    return handle


def is_not_regular_error(error: OSError) -> bool:
    """Return whether `open_file` failed because the name is not a regular file."""
    return error.errno in (errno.ELOOP, errno.EINVAL, errno.ENXIO)


def has_exact_name(folder: int, name: str, handle: int) -> bool:
    """Return whether the open file, found as `name`, has exactly that name: some file systems also
    find it by another case or Unicode form.
    """
    status = os.fstat(handle)
    file_id = status.st_dev, status.st_ino
    spellings = {name.translate(_OTHER_CASE), *(unicodedata.normalize(f, name) for f in _FORMS)}
    if all(find_file_id(folder, spelling) != file_id for spelling in spellings - {name}):
        return True
    # the other spelling may be a hard link
    return name in os.listdir(folder)


def find_file_id(folder: int, name: str) -> tuple[int, int] | None:
    """Return device and inode of `name`; None if it does not exist."""
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return None
    return status.st_dev, status.st_ino


_OTHER_CASE = str.maketrans(ascii_letters, ascii_letters.swapcase())
_FORMS: tuple[Literal["NFC", "NFD"], ...] = ("NFC", "NFD")


def read_all(handle: int) -> bytes:
    """Return the whole content of the open file."""
    before("read")
    os.lseek(handle, 0, os.SEEK_SET)
    parts: list[bytes] = []
    while part := os.read(handle, 1 << 20):
        parts.append(part)
    return b"".join(parts)


def create_file(folder: int, name: str) -> int:
    """Create the file `name`, for this user only, and open it for writing."""
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
    """Exchange two names atomically. Raises UnsupportedError if that is not possible."""
    before("exchange")
    _rename(folder, one, other, _EXCHANGE, _MAC_SWAP)


def rename_new(folder: int, name: str, to: str) -> None:
    """Rename within the directory. Raises FileExistsError if `to` exists, and UnsupportedError."""
    before("rename")
    _rename(folder, name, to, _NOREPLACE, _MAC_EXCLUSIVE)


def rename_over(folder: int, name: str, to: str) -> None:
    """Rename within the directory, replacing `to`."""
    before("replace")
    os.replace(name, to, src_dir_fd=folder, dst_dir_fd=folder)


def link(folder: int, name: str, to: str) -> None:
    """Create a hard link. Raises FileExistsError if `to` exists."""
    before("link")
    os.link(name, to, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)


def unlink(folder: int, name: str) -> None:
    """Remove a name if it exists."""
    before("unlink")
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return


def copy_attributes(handle: int, model: int) -> None:
    """Copy mode, owner and attributes of the open file `model` to the open file `handle`.

    Raises OSError if an owner or an access list could not be copied.
    """
    before("take on")
    status, current = os.fstat(model), os.fstat(handle)
    if (status.st_uid, status.st_gid) != (current.st_uid, current.st_gid):
        os.fchown(handle, status.st_uid, status.st_gid)
    os.fchmod(handle, stat.S_IMODE(status.st_mode))
    if not hasattr(os, "listxattr"):
        return
    wanted = _attributes(model)
    for name in _attributes(handle):
        # the folder gives new files an access list that the old one did not have
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


def is_immutable(handle: int) -> bool:
    """Return whether a file or directory is marked immutable or append-only."""
    if sys.platform != "linux":
        return False
    flags = bytearray(8)
    try:
        fcntl.ioctl(handle, _GETFLAGS, flags)
    except OSError:
        return False
    return bool(struct.unpack("L", flags)[0] & _IMMUTABLE)


def has_writers(handle: int) -> bool | None:
    """Return whether any process has the file open for writing; None if unknown.

    A read lease is granted only on files that nobody has open for writing (fcntl(2)).
    """
    before("lease")
    if not hasattr(fcntl, "F_SETLEASE"):
        return None
    try:
        # breaking a lease sends a signal: use one that is ignored by default
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
        raise UnsupportedError(errno.ENOSYS, name)
    if function(folder, names[0], folder, names[1], ctypes.c_uint(flag)) == 0:
        return
    number = ctypes.get_errno()
    if number in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
        raise UnsupportedError(number, os.strerror(number), one)
    raise OSError(number, os.strerror(number), one, None, other)
