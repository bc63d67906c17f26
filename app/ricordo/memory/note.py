"""A note: one markdown file of a memory, its bytes and its parsed content."""

from __future__ import annotations

import codecs
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from ricordo.memory.frontmatter import parser
from ricordo.memory.frontmatter.parser import NO_FRONTMATTER, Frontmatter
from ricordo.memory.layout import FileRole, Layout
from ricordo.memory.links import Link, find_links

BOM = b"\xef\xbb\xbf"
PREVIEW_BYTES = 64 * 1024
"""Bytes that are read of a note above the limit."""
MAX_NOTE_BYTES = 1024 * 1024
"""Bytes; a larger note is listed and previewed, not parsed."""
MAX_INDEX_BYTES = 16 * 1024 * 1024
"""Bytes; an index has a line for every note, and without it every note looks unindexed."""

_DATE_KEYS = ("modified", "last_updated", "updated", "verified", "created", "ingested", "date")
"""Fields with the date of the last change, the most reliable first."""


class ReadError(StrEnum):
    """Why a file of the memory is not parsed as a note."""

    NONE = ""
    NO_PERMISSION = "no permission to read it"
    DISK_ERROR = "the disk gives an error when it is read"
    NOT_REGULAR = "not a regular file"
    NOT_UTF8 = "not UTF-8"
    CUT_OFF = "cut off in the middle of a character, and perhaps of the note"
    UTF16 = "UTF-16, not UTF-8"
    UTF32 = "UTF-32, not UTF-8"
    BINARY = "binary"
    TOO_LARGE = "too large: only its beginning is read"
    VANISHED = "it vanished while it was read"
    PENDING = "it is still to be read"


class FileFacts(NamedTuple):
    """File system metadata of a file; enough to know whether it was changed."""

    size: int
    modified: float
    """Seconds since the epoch. For display and sorting only: clocks can be wrong."""
    inode: int
    changed_ns: int
    """Time of the last change of the inode, in nanoseconds."""
    links: int = 1
    """Number of hard links; above 1, another name shares these bytes."""
    is_writable: bool = True
    is_settled: bool = True
    """Whether the last change is so long ago that a later one must change `changed_ns`."""


# not frozen: creating ten thousand frozen ones takes three times as long
@dataclass(slots=True, eq=False)
class Note:
    """One parsed markdown file, never changed. `raw` is its content on disk; the rest is derived
    from it.
    """

    path: str
    """Relative to the memory, with `/`; undecodable bytes as surrogates."""
    role: FileRole
    raw: bytes
    facts: FileFacts
    text: str
    """The decoded file without byte order mark; line ends unchanged."""
    frontmatter: Frontmatter
    links: tuple[Link, ...]
    name: str
    """The name in the frontmatter, else the file's stem."""
    description: str
    type: str
    read_error: ReadError = ReadError.NONE

    @property
    def stem(self) -> str:
        """The file name without folder and extension."""
        return get_stem(self.path)

    @property
    def body(self) -> str:
        """The text after the frontmatter."""
        return self.text[self.frontmatter.end :]

    @property
    def heading(self) -> str:
        """The text of the first heading of the first level, without marks; "" if there is none."""
        start = self.frontmatter.end
        if not self.text.startswith("# ", start):
            start = self.text.find("\n# ", start) + 1
            if not start:
                return ""
        end = self.text.find("\n", start)
        return self.text[start : end if end >= 0 else len(self.text)].strip("# \t\r*`_")

    @property
    def stated_date(self) -> str:
        """The date of the last change in the frontmatter; "" if there is none."""
        return self.frontmatter.get_first(_DATE_KEYS)

    @property
    def is_readable(self) -> bool:
        """Whether the whole text was read and decoded."""
        return not self.read_error

    def line_of(self, offset: int) -> int:
        """Return the 1-based line of the character at `offset` of the text."""
        return self.text.count("\n", 0, offset) + 1


def get_stem(path: str) -> str:
    """Return the file name of `path` without folder and `.md`."""
    name = path[path.rfind("/") + 1 :]
    return name[:-3] if name[-3:].lower() == ".md" else name


def read_note(path: str, raw: bytes, facts: FileFacts, layout: Layout) -> Note:
    """Parse the bytes `raw` of the file at `path`, in a memory with that `layout`."""
    role = layout.get_role(path)
    text, error = _decode(raw, too_large=facts.size > get_max_bytes(role))
    if error and error is not ReadError.TOO_LARGE:
        return _unparsed_note(path, role, raw, facts, text, error)
    frontmatter = parser.read_frontmatter(text) if text.startswith("---") else NO_FRONTMATTER
    return Note(
        path,
        role,
        raw,
        facts,
        text,
        frontmatter,
        find_links(text, frontmatter.end),
        frontmatter.get_first(layout.title_keys) or get_stem(path),
        frontmatter.get_first(layout.summary_keys),
        frontmatter.get_first(layout.type_keys),
        error,
    )


def get_max_bytes(role: FileRole) -> int:
    """Return the size in bytes up to which a file of that `role` is read whole."""
    return MAX_INDEX_BYTES if role is FileRole.INDEX else MAX_NOTE_BYTES


def create_unreadable_note(path: str, facts: FileFacts, layout: Layout, error: ReadError) -> Note:
    """Return a note without text for a file that cannot be read."""
    return _unparsed_note(path, layout.get_role(path), b"", facts, "", error)


def _unparsed_note(
    path: str, role: FileRole, raw: bytes, facts: FileFacts, text: str, error: ReadError
) -> Note:
    return Note(path, role, raw, facts, text, NO_FRONTMATTER, (), get_stem(path), "", "", error)


def _decode(raw: bytes, *, too_large: bool) -> tuple[str, ReadError]:
    try:
        text = _decode_prefix(raw) if too_large else raw.decode("utf-8")
    except UnicodeDecodeError:
        return _decode_other(raw)
    if "\0" in text and text.count("\0") * 5 > len(text):
        return _decode_other(raw)
    error = ReadError.TOO_LARGE if too_large else ReadError.NONE
    return (text[1:] if text.startswith("\ufeff") else text), error


def _decode_prefix(raw: bytes) -> str:
    """Decode the beginning of a file, which may end inside a character."""
    return codecs.getincrementaldecoder("utf-8")().decode(raw)


def _decode_other(raw: bytes) -> tuple[str, ReadError]:
    """Return the displayable text of bytes that are not UTF-8, and their encoding as an error."""
    if raw.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        return raw.decode("utf-32", "replace"), ReadError.UTF32
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return raw.decode("utf-16", "replace"), ReadError.UTF16
    if b"\0" in raw:
        return "", ReadError.BINARY
    if (beginning := _decode_cut_off(raw)) is not None:
        return beginning, ReadError.CUT_OFF
    return raw.decode("utf-8", "replace"), ReadError.NOT_UTF8


def _decode_cut_off(raw: bytes) -> str | None:
    """Return the text of UTF-8 whose last character is not whole; None for anything else: without
    another character beyond ASCII, the last byte may be one of a single-byte encoding.
    """
    try:
        text = _decode_prefix(raw)
    except UnicodeDecodeError:
        return None
    return None if text.isascii() else text


_CODECS = {ReadError.UTF16: "utf-16", ReadError.UTF32: "utf-32"}
_STRAY = {
    0xDC00 + byte: char
    for byte in range(0x80, 0x100)
    if (char := bytes((byte,)).decode("cp1252", "ignore"))
}
"""The Windows-1252 characters of bytes that are not UTF-8, by their surrogates."""


def decode_other_encoding(file: Note) -> str | None:
    """Return the text of `file` if it is UTF-16, UTF-32, or Windows-1252 with or without UTF-8 in
    it; None otherwise.
    """
    if file.read_error in _CODECS:
        try:
            return file.raw.decode(_CODECS[file.read_error])
        except UnicodeDecodeError:
            return None
    if file.read_error is not ReadError.NOT_UTF8:
        return None
    text = file.raw.decode("utf-8", "surrogateescape").translate(_STRAY)
    return None if any("\udc80" <= char <= "\udcff" for char in text) else text


_TRUE = frozenset(("true", "yes", "on", "1"))


def is_protected(note: Note, protected: Collection[str]) -> bool:
    """Return whether `note` is protected: by its frontmatter (`pinned`, Letta's `read_only`), as a
    raw source, or because the user protects its path (`protected`).
    """
    return (
        note.path in protected
        or note.role is FileRole.SOURCE
        or any(_is_true(note.frontmatter.get_text(key)) for key in ("pinned", "read_only"))
    )


def _is_true(value: str) -> bool:
    # in invalid frontmatter a comment is still part of the value
    return value.partition(" #")[0].strip().lower() in _TRUE
