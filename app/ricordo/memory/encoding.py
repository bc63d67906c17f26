"""Files in another encoding than UTF-8: what they say, where that is certain enough to be shown."""

from __future__ import annotations

from ricordo.memory.note import Note, Trouble

_CODECS = {Trouble.UTF16: "utf-16", Trouble.UTF32: "utf-32"}
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
    if file.trouble is not Trouble.NOT_UTF8:
        return None
    text = file.raw.decode("utf-8", "surrogateescape").translate(_STRAY)
    return None if any("\udc80" <= char <= "\udcff" for char in text) else text
