"""A line for a shell, taken apart into its simple commands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

_LONGEST = 4_000
"""Characters of a command that are looked at."""
_ENDS = frozenset((";", "&&", "||", "|", "|&", "&", "\n"))
_INTO = frozenset((">", ">|", ">>"))
_SIGNS = frozenset("<>()&|;\n")
_BODY = re.compile(r"<<-?[ \t]*(['\"]?)(\w+)\1")
"""Announces lines that are given to a command, up to one that is that word."""
_COMPLAINTS = re.compile(r"\s(?:[12]?>&[12]|(?:[12]|&)?>>?\s*/dev/null)(?![\w./])")
"""Where what a command says goes to nowhere, or to where its other words go."""


@dataclass(slots=True)
class Simple:
    """One simple command of a line. Others may be given the same one."""

    words: list[str] = field(default_factory=list)
    into: list[str] = field(default_factory=list)
    """Files that it writes what it says to."""
    adds_to: list[str] = field(default_factory=list)
    """Files to whose end it adds that."""
    is_plain: bool = True
    """Whether it is no part of a group, and takes nothing from elsewhere."""
    end: str = ""
    """The sign behind it: `&&`, `|`, `;` and so on; "" for the last one."""


@lru_cache(maxsize=256)
def simple_commands(command: str) -> tuple[Simple, ...]:
    """Return the simple commands of a line, as far as it is understood."""
    return tuple(_simple_commands(command))


def _simple_commands(command: str) -> Iterator[Simple]:
    words = _words(_COMPLAINTS.sub(" ", _without_bodies(command)))
    found = Simple()
    try:
        for word in words:
            # an end of line behind another sign ends nothing more
            sign = word.strip("\n") or word[:1]
            if sign in _ENDS:
                found.end = sign
                yield found
                found = Simple()
            elif word in _INTO:
                _redirect(found, word, next(words, ""))
            elif set(word) <= _SIGNS:
                found.is_plain = False
            else:
                found.words.append(word)
    except ValueError:
        # an open quote: what came before it was understood
        return
    yield found


def _words(line: str) -> Iterator[str]:
    reader = shlex.shlex(line, posix=True, punctuation_chars="();<>|&\n")
    reader.whitespace, reader.whitespace_split, reader.commenters = " \t\r", True, ""
    return iter(reader)


def _redirect(found: Simple, sign: str, target: str) -> None:
    if found.words and found.words[-1] in ("1", "2"):
        # of which of its outputs it is meant
        found.words.pop()
    (found.adds_to if sign == ">>" else found.into).append(target)


def _without_bodies(command: str) -> str:
    """Return a line without what is handed to its commands word for word."""
    kept: list[str] = []
    until = ""
    for line in command[:_LONGEST].replace("\\\n", " ").split("\n"):
        if until:
            until = "" if line.strip() == until else until
            continue
        if match := _BODY.search(line):
            until = match[2]
            line = _BODY.sub(" ", line)
        kept.append(line)
    return "\n".join(kept)
