"""What the value of a setting has to be, and how a command line is split."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

_LONGEST_MODEL = 200
"""Characters of a model's name."""
_MOST_WORDS = 200
_LARGEST = 1e15


class ValueCheck(NamedTuple):
    """What a value has to be."""

    message: str
    """Says it to a user who wrote something else."""
    read: Callable[[Any], Any]
    """Returns the value as it is used; None where it is not valid."""
    words: Collection[str] = ()
    """All valid values, where they are words."""


def whole(least: int, most: int) -> ValueCheck:
    """Return the check of a whole number from `least` to `most`."""

    def read(value: Any) -> int | None:
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        return value if is_whole and least <= value <= most else None

    return ValueCheck(f"This has to be a whole number, {least} to {most:,}.", read)


def number_up_to(most: float | None) -> ValueCheck:
    """Return the check of a number from 0 to `most`; None for no such limit."""

    def read(value: Any) -> float | None:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        # a whole number may be too long for a float; not-a-number is in no range
        return float(value) if is_number and 0 <= value <= (most or _LARGEST) else None

    return ValueCheck(f"This has to be a number, 0 {f'to {most:g}' if most else 'or more'}.", read)


def switch() -> ValueCheck:
    """Return the check of true or false."""
    return ValueCheck(
        "This has to be true or false.", lambda value: value if isinstance(value, bool) else None
    )


def one_of(words: Collection[str]) -> ValueCheck:
    """Return the check of one of some words."""
    message = f"This has to be one of {', '.join(filter(None, words))}."
    return ValueCheck(message, lambda value: value if value in words else None, words)


def split_command(line: str) -> tuple[str, ...]:
    """Split a command line into its words, as a POSIX shell quotes them.

    A line that as a whole is the absolute path of a file is one word, so that a program in a folder
    with a space needs no quotes. Raises ValueError for an unclosed quote.
    """
    path = line.strip()
    if os.path.isabs(path) and os.path.isfile(path):
        return (path,)
    return tuple(shlex.split(line))


def command_line() -> ValueCheck:
    """Return the check of a command line, or of an empty text."""

    def read(value: Any) -> str | None:
        if not isinstance(value, str) or "\0" in value:
            return None
        try:
            split_command(value)
        except ValueError:
            return None
        return value.strip()

    return ValueCheck("This has to be a command; check that every quote is closed.", read)


def model() -> ValueCheck:
    """Return the check of the name of a model."""

    def read(value: Any) -> str | None:
        return value.strip() if isinstance(value, str) and is_model(value) else None

    return ValueCheck("This has to be the name of a model.", read)


def is_model(text: str) -> bool:
    """Say whether a text can be the name of a model."""
    return bool(text.strip()) and text.isprintable() and len(text) <= _LONGEST_MODEL


def server() -> ValueCheck:
    """Return the check of the address of a server, or of an empty text."""

    def read(value: Any) -> str | None:
        if value == "" or (isinstance(value, str) and _is_address(value)):
            return str(value).strip()
        return None

    message = "This has to be an address such as http://127.0.0.1:11434, without a password."
    return ValueCheck(message, read)


def _is_address(text: str) -> bool:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(text.strip())
        port = parts.port
    except ValueError:
        return False
    is_plain = text.isprintable() and "@" not in parts.netloc and port != 0
    return parts.scheme in ("http", "https") and bool(parts.hostname) and is_plain


def words(*example: str) -> ValueCheck:
    """Return the check of a list of words, which may be empty; by default a command, as
    the `example` shows.
    """

    def read(value: Any) -> tuple[str, ...] | None:
        is_list = isinstance(value, list) and len(value) <= _MOST_WORDS
        is_line = is_list and all(isinstance(word, str) and "\0" not in word for word in value)
        return tuple(value) if is_line and (not value or value[0].strip()) else None

    shown = ", ".join(f'"{word}"' for word in example or ("claude", "-p"))
    return ValueCheck(f"This has to be a list of words, such as [{shown}].", read)


def inner_folder() -> ValueCheck:
    """Return the check of a folder of a memory, by its path there, or of an empty text."""

    def read(value: Any) -> str | None:
        if not isinstance(value, str) or "\0" in value or value.startswith(("/", "~")):
            return None
        parts = [part for part in value.split("/") if part not in ("", ".")]
        return None if ".." in parts else "/".join(parts)

    return ValueCheck("This has to be a folder of the memory, such as clippings.", read)


def folder() -> ValueCheck:
    """Return the check of the absolute path of a folder, or of an empty text."""

    def read(value: Any) -> str | None:
        is_path = isinstance(value, str) and "\0" not in value
        return value if is_path and (not value or value.startswith(("/", "~/"))) else None

    return ValueCheck("This has to be an absolute path, or one that begins with ~.", read)
