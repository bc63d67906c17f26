"""Words as bash reads and writes them: split a line, remove quotes, quote a completion."""

from __future__ import annotations

_BLANKS = " \t\n"
_SEPARATORS = "|&;()<>"
"""Characters that end a word outside quotes."""
_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-")
_IN_DOUBLE_QUOTES = frozenset('\\"$`')
"""Characters that need a backslash in double quotes; before all others it is kept."""


def split_line(line: str) -> list[str]:
    """Return the words of `line` with their quotes; the last one is that at its end, which may be
    empty or have an open quote.
    """
    words = [""]
    quote = ""
    position = 0
    while position < len(line):
        char = line[position]
        if char == "\\" and quote != "'":
            words[-1] += line[position : position + 2]
            position += 2
            continue
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char in _BLANKS or char in _SEPARATORS:
            if words[-1]:
                words.append("")
            position += 1
            continue
        words[-1] += char
        position += 1
    return words


def remove_quotes(word: str) -> tuple[str, str]:
    """Return `word` without its quotes and backslashes, and the quote that is open at its end; ""
    if none is. A backslash at the end is dropped.
    """
    text = quote = ""
    position = 0
    while position < len(word):
        char = word[position]
        position += 1
        if char == "\\" and quote != "'":
            after = word[position : position + 1]
            is_kept = quote and after and after not in _IN_DOUBLE_QUOTES
            text += f"\\{after}" if is_kept else after
            position += 1
        elif char == quote:
            quote = ""
        elif not quote and char in "'\"":
            quote = char
        else:
            text += char
    return text, quote


def quote_text(text: str, quote: str) -> str:
    """Return `text` as it is written where `quote` is open; "" for no quote."""
    if quote == "'":
        return text.replace("'", "'\\''")
    if quote:
        escaped = "".join(f"\\{char}" if char in _IN_DOUBLE_QUOTES else char for char in text)
        # within double quotes, a shell at a terminal would look "!" up in its history
        return escaped.replace("!", '"\\!"')
    return "".join(char if char in _PLAIN or not char.isascii() else f"\\{char}" for char in text)
