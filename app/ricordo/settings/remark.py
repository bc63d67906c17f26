"""What is said about a file that a person wrote: where, what, and which word was nearly meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import NamedTuple

from ricordo.text import one_line


class Remark(NamedTuple):
    """One thing in a settings or theme file that could not be used; the rest still holds."""

    file: str
    line: int
    """1-based; 0 for the whole file."""
    key: str
    """The key as TOML writes it, with its tables; "" for the whole file."""
    message: str
    nearest: str = ""
    """The known word that was nearly written; "" where none is near."""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        key = f"{self.key}: " if self.key else ""
        hint = f" Did you mean “{self.nearest}”?" if self.nearest else ""
        return one_line(f"{place}: {key}{self.message}{hint}")


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the one of `known` that looks most like `word`; "" where none does."""
    # difflib takes time by the product of the lengths, and nobody means a page of text
    return next(iter(get_close_matches(word[:80], known, n=1)), "")
