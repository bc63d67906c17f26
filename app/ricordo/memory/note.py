"""A note: one markdown file of a memory, its bytes and what they say."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from ricordo.memory.frontmatter import parser as frontmatter
from ricordo.memory.frontmatter.values import NO_HEAD, Frontmatter
from ricordo.memory.layout import FileRole, Layout
from ricordo.memory.links import Link, find_links

BOM = b"\xef\xbb\xbf"
PREVIEW_BYTES = 64 * 1024
"""How much of a note that is too large is read."""
LARGEST_NOTE = 1024 * 1024
"""Bytes; a larger note is listed and previewed, not parsed."""
LARGEST_INDEX = 16 * 1024 * 1024
"""Bytes; an index has a line for every note, and without it every note looks unindexed."""

_STAMPS = ("modified", "last_updated", "updated", "verified", "created", "ingested", "date")
"""Fields that give the date of the last change, the surest first."""


class ReadError(StrEnum):
    """Why a file of the memory is not an ordinary note."""

    NONE = ""
    NO_PERMISSION = "no permission to read it"
    DISK_ERROR = "the disk gives an error when it is read"
    NOT_A_FILE = "not a plain file"
    NOT_UTF8 = "not UTF-8"
    UTF16 = "UTF-16, not UTF-8"
    UTF32 = "UTF-32, not UTF-8"
    BINARY = "binary"
    TOO_LARGE = "too large: only its beginning is read"
    GONE = "it vanished while it was read"
    NOT_YET = "it is still to be read"


class FileFacts(NamedTuple):
    """What the file system says of a file; enough to know that it has not been touched."""

    size: int
    modified: float
    """Seconds since the epoch. For showing and sorting only: clocks lie."""
    inode: int
    changed_ns: int
    """Time of the last change of the inode, in nanoseconds."""
    links: int = 1
    """Hard links; over 1, another name shares these bytes."""
    writable: bool = True
    settled: bool = True
    """Whether the last change lay so far back that a later one must show in `changed_ns`."""


# not frozen: making ten thousand frozen ones takes three times as long
@dataclass(slots=True, eq=False)
class Note:
    """One markdown file, read whole and never changed. `raw` is what is on disk; all else is
    derived from it.
    """

    path: str
    """Relative to the memory, with `/`; undecodable bytes as surrogates."""
    role: FileRole
    raw: bytes
    facts: FileFacts
    text: str
    """The decoded file without byte order mark; line ends as they are."""
    head: Frontmatter
    links: tuple[Link, ...]
    name: str
    """What the head calls it, else the file's stem."""
    description: str
    type: str
    trouble: ReadError = ReadError.NONE

    @property
    def stem(self) -> str:
        """The file name without folder and ending."""
        return stem(self.path)

    @property
    def body(self) -> str:
        """The text after the head."""
        return self.text[self.head.end :]

    @property
    def stamped(self) -> str:
        """The date that the note itself gives for its last change; "" where it gives none."""
        return self.head.first(_STAMPS)

    @property
    def readable(self) -> bool:
        """Whether its text is all there and is what the file says."""
        return not self.trouble

    def line_of(self, offset: int) -> int:
        """Return the 1-based line of the character at `offset` of the text."""
        return self.text.count("\n", 0, offset) + 1


def stem(path: str) -> str:
    """Return the file name of `path` without folder and `.md`."""
    name = path[path.rfind("/") + 1 :]
    return name[:-3] if name[-3:].lower() == ".md" else name


def read_note(path: str, raw: bytes, facts: FileFacts, layout: Layout) -> Note:
    """Return the note that the bytes `raw` at `path` make, in a memory of that `layout`."""
    role = layout.role(path)
    too_large = facts.size > LARGEST_NOTE and facts.size > most_bytes(role)
    text, trouble = _decode(raw, too_large=too_large)
    if trouble and trouble is not ReadError.TOO_LARGE:
        return _bare(path, role, raw, facts, text, trouble)
    head = frontmatter.read(text) if text.startswith("---") else NO_HEAD
    return Note(
        path,
        role,
        raw,
        facts,
        text,
        head,
        find_links(text),
        head.first(layout.title_keys) or stem(path),
        head.first(layout.summary_keys),
        head.first(layout.type_keys),
        trouble,
    )


def most_bytes(role: FileRole) -> int:
    """Return up to which size a file of that `role` is read whole."""
    return LARGEST_INDEX if role is FileRole.INDEX else LARGEST_NOTE


def unreadable_note(path: str, facts: FileFacts, layout: Layout, trouble: ReadError) -> Note:
    """Return the note that stands for a file whose bytes cannot be had."""
    return _bare(path, layout.role(path), b"", facts, "", trouble)


def _bare(
    path: str, role: FileRole, raw: bytes, facts: FileFacts, text: str, trouble: ReadError
) -> Note:
    return Note(path, role, raw, facts, text, NO_HEAD, (), stem(path), "", "", trouble)


def _decode(raw: bytes, *, too_large: bool) -> tuple[str, ReadError]:
    try:
        text = _utf8_begin(raw) if too_large else raw.decode("utf-8")
    except UnicodeDecodeError:
        return _undecodable(raw)
    if "\0" in text and text.count("\0") * 5 > len(text):
        return _undecodable(raw)
    trouble = ReadError.TOO_LARGE if too_large else ReadError.NONE
    return (text[1:] if text.startswith("\ufeff") else text), trouble


def _utf8_begin(raw: bytes) -> str:
    """Decode the beginning of a file, which may end inside a character."""
    return codecs.getincrementaldecoder("utf-8")().decode(raw)


def _undecodable(raw: bytes) -> tuple[str, ReadError]:
    """What is shown of bytes that are no UTF-8, and what they are."""
    if raw.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        return raw.decode("utf-32", "replace"), ReadError.UTF32
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return raw.decode("utf-16", "replace"), ReadError.UTF16
    if b"\0" in raw:
        return "", ReadError.BINARY
    return raw.decode("utf-8", "replace"), ReadError.NOT_UTF8


_CODECS = {ReadError.UTF16: "utf-16", ReadError.UTF32: "utf-32"}
_STRAY = {
    0xDC00 + byte: char
    for byte in range(0x80, 0x100)
    if (char := bytes((byte,)).decode("cp1252", "ignore"))
}
"""What bytes that are no UTF-8 are in the encoding of the Western Windows, by their surrogates."""


def text_of_other_encoding(file: Note) -> str | None:
    """Return what `file` says where it is UTF-16, UTF-32, or Western text with or without UTF-8 in
    it; None where it is none of these.
    """
    if file.trouble in _CODECS:
        try:
            return file.raw.decode(_CODECS[file.trouble])
        except UnicodeDecodeError:
            return None
    if file.trouble is not ReadError.NOT_UTF8:
        return None
    text = file.raw.decode("utf-8", "surrogateescape").translate(_STRAY)
    return None if any("\udc80" <= char <= "\udcff" for char in text) else text
