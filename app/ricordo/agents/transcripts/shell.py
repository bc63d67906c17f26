"""What plain shell commands do to files: `cat notes.md`, `rm notes.md`, `date > notes.md`.

Only commands whose words mean what they say are understood. One with a variable, a pattern, a
substitution, or one in a group, may touch anything; nothing is guessed of it.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from ricordo.agents.transcripts.session import FileAction

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


_NOT_PLAIN = frozenset("$`*?[]{}<>()")
_READERS = frozenset(("cat", "head", "tail", "nl", "less", "more", "bat", "batcat"))
"""Read every file that they are given."""
_SEARCHERS = frozenset(("sed", "rg", "grep", "awk"))
"""Are given what to look for, or to do, before the files."""
_COUNTED = frozenset(("-n", "-c", "-A", "-B", "-C", "-m"))
"""Options whose number is a word of its own."""
_BOUNDING = frozenset(("-g", "--glob", "-t", "--type", "-T", "--type-not"))
"""Options of `rg` behind which a word stands that is neither what is looked for nor a file."""


def plain_deeds(command: str) -> Iterator[tuple[FileAction, str, str]]:
    """Yield what a shell `command` does, to which path, and in which directory ("" for the one in
    which it was called).
    """
    directory = ""
    for simple in simple_commands(command):
        for deed, path in _redirected(simple):
            yield deed, path, directory
        name, rest = os.path.basename((simple.words or [""])[0]), simple.words[1:]
        is_plain = simple.is_plain and all(map(_is_plain, rest))
        if name == "cd" and not (is_plain and len(rest) == 1):
            # from here on nobody knows where it works
            return
        if not simple.is_plain or not (is_plain or name in _SEARCHERS):
            continue
        match name, rest:
            case "cd", [path]:
                directory = os.path.join(directory, path)
            case ("mv", [path, into]) | ("git", ["mv", path, into]) if not into.endswith("/"):
                yield FileAction.DELETED, path, directory
                yield FileAction.WROTE, into, directory
            case "cp", [path, into] if "." in os.path.basename(into):
                # another name may be that of a folder
                yield FileAction.READ, path, directory
                yield FileAction.WROTE, into, directory
            case "git", ["rm", *paths]:
                yield from ((FileAction.DELETED, path, directory) for path in _files(paths))
            case ("git", ["checkout", "--", *paths]) | ("git", ["restore", *paths]):
                yield from ((FileAction.EDITED, path, directory) for path in _restored(paths))
            case _:
                yield from ((deed, path, directory) for deed, path in _deeds(name, rest))


def _restored(words: list[str]) -> list[str]:
    """The files that git makes as they were; what is only taken out of the index stays."""
    return [] if any(word.startswith("-") for word in words) else words


def _redirected(simple: Simple) -> Iterator[tuple[FileAction, str]]:
    """What becomes of the files to which a command writes what it says."""
    yield from ((FileAction.WROTE, path) for path in filter(_is_plain, simple.into))
    yield from ((FileAction.EDITED, path) for path in filter(_is_plain, simple.adds_to))


def _is_plain(word: str) -> bool:
    return bool(word) and not _NOT_PLAIN.intersection(word)


def _deeds(name: str, rest: list[str]) -> Iterator[tuple[FileAction, str]]:
    files = _files(rest)
    if name == "rm":
        yield from ((FileAction.DELETED, path) for path in files)
    elif name == "tee":
        deed = FileAction.EDITED if "-a" in rest else FileAction.WROTE
        yield from ((deed, path) for path in files)
    elif name in _READERS:
        yield from ((FileAction.READ, path) for path in files)
    elif name in _SEARCHERS:
        deed = (
            FileAction.EDITED
            if name == "sed" and any(w.startswith("-i") for w in rest)
            else FileAction.READ
        )
        yield from ((deed, path) for path in filter(_is_plain, files[1:]))


def _files(rest: list[str]) -> list[str]:
    """Return the words that are no options, nor the numbers of options."""
    after = ["", *rest]
    return [
        word
        for before, word in zip(after, rest, strict=False)
        if not word.startswith("-")
        and not (before in _COUNTED and word.isdigit())
        and before not in _BOUNDING
    ]
