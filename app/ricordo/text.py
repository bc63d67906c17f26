r"""Make untrusted text safe to show.

Notes, file names, titles and model replies may contain terminal escapes, bidirectional controls or
zero-width characters. All text for a screen or a report passes `make_visible` first. A line ends at
``\\n`` and nowhere else: U+0085, U+2028, VT and FF are text.
"""

from __future__ import annotations

import re
import unicodedata

from ricordo.patterns import compile_lazily

# C0 but tab and newline, DEL, C1, soft hyphen, Arabic letter mark, Mongolian vowel separator,
# zero-width and directional marks, line and paragraph separator, embeddings and isolates,
# byte order mark, interlinear anchors, tag characters, lone surrogates.
_HIDDEN = compile_lazily(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e007f\ud800-\udfff]"
)
_NOT_ASCII = compile_lazily("[\x7f-\U0010ffff]")
_PLAIN_ASCII = bytes(c for c in range(0x20, 0x7F)) + b"\t\n"
_ZERO_WIDTH_JOINERS = "\u200c\u200d"


def make_visible(text: str) -> str:
    r"""Return `text` with every control made visible; newlines and tabs stay.

    Control characters become their picture (``␛``), invisible ones their code point
    (``⟨U+202E⟩``), bytes that are not UTF-8 ``\\xNN``. Joiners in emoji, and in scripts that need
    them, stay.
    """
    if text.isprintable():
        return text
    return _HIDDEN.sub(_show, text)


def make_one_line(text: str) -> str:
    """Return `text` as one visible row: newlines and tabs become pictures too."""
    return make_visible(text).replace("\n", "␊").replace("\t", "␉")


def clip(text: str, width: int) -> str:
    """Return `text` as one visible row of at most `width` cells, with ``…`` if it was cut."""
    row = make_one_line(text[: 4 * width + 16])
    if count_cells(row) <= width and len(text) <= 4 * width + 16:
        return row
    chars: list[str] = []
    room = width - 1
    for char in row:
        room -= count_cells(char)
        if room < 0:
            break
        chars.append(char)
    return "".join(chars).rstrip() + "…" if width > 0 else ""


def clip_start(text: str, width: int) -> str:
    """Return `text` as `clip` does, but with the beginning cut off: for paths."""
    row = make_one_line(text)
    if count_cells(row) <= width:
        return row
    start = next((n for n in range(1, len(row)) if count_cells(row[n:]) < width), len(row))
    return f"…{row[start:]}" if width > 0 else ""


def count_cells(text: str) -> int:
    """Return how many terminal cells `text` takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def find_hidden_characters(text: str) -> list[re.Match[str]]:
    """Return the characters in `text` that are invisible or control a terminal, except carriage
    returns before a newline, joiners in their proper place, and a byte order mark at the very
    start.
    """
    if text.isascii():
        normalized = text.replace("\r\n", "\n") if "\r" in text else text
        if not normalized.encode("ascii").translate(None, _PLAIN_ASCII):
            return []
    return [match for match in _HIDDEN.finditer(text) if not _is_legitimate(match)]


def make_encodable(text: str) -> str:
    r"""Return `text` with lone surrogates written as ``\\xNN`` or ``⟨U+NNNN⟩``, so that it can be
    encoded as UTF-8 and as JSON.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return re.sub("[\ud800-\udfff]", _show, text)
    return text


def escape_json(document: str, *, ascii_only: bool = False) -> str:
    r"""Return a JSON document of the same value with every control and invisible character written
    as a ``\uNNNN`` escape; with `ascii_only`, every character that is not ASCII.
    """
    return (_NOT_ASCII if ascii_only else _HIDDEN).sub(_escape, document)


def _escape(match: re.Match[str]) -> str:
    units = match.group().encode("utf-16-be").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _is_legitimate(match: re.Match[str]) -> bool:
    text, at = match.string, match.start()
    char = text[at]
    if char == "\r":
        return text[at + 1 : at + 2] in ("\n", "")
    if char == "\ufeff":
        return at == 0
    return char in _ZERO_WIDTH_JOINERS and _joins(text, at)


def _joins(text: str, at: int) -> bool:
    """Return whether the joiner at `at` is between parts of an emoji or letters of a script that
    shapes its letters.
    """
    if at == 0 or at + 1 >= len(text):
        return False
    before, after = unicodedata.category(text[at - 1]), unicodedata.category(text[at + 1])
    if text[at] == "\u200d" and before in ("So", "Sk", "Mn") and after == "So":
        return True
    return before in ("Lo", "Mn", "Mc") and after in ("Lo", "Mn", "Mc")


def _show(match: re.Match[str]) -> str:
    char = match.group()
    code = ord(char)
    if char in _ZERO_WIDTH_JOINERS and _joins(match.string, match.start()):
        return char
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return f"⟨U+{code:04X}⟩"
