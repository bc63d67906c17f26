"""What plain shell commands do to files: `cat notes.md`, `rm notes.md`, `date > notes.md`.

Only commands with literal words are understood. One with a variable, a pattern or a substitution,
or one in a group, may touch any file; it is ignored.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from ricordo.agents.transcripts.session import FileAction
from ricordo.patterns import compile_lazily

_LONGEST = 4_000
"""Characters of a command that are read."""
_ENDS = frozenset((";", "&&", "||", "|", "|&", "&", "\n"))
_INTO = frozenset((">", ">|", ">>"))
_SIGNS = frozenset("<>()&|;\n")
_BODY = compile_lazily(r"<<-?[ \t]*(['\"]?)(\w+)\1")
"""The start of a here-document, which ends at a line that is its word."""
_COMPLAINTS = compile_lazily(r"\s(?:[12]?>&[12]|(?:[12]|&)?>>?\s*/dev/null)(?![\w./])")
"""A redirection to /dev/null, or of one output to the other."""


@dataclass(slots=True)
class SimpleCommand:
    """One simple command of a line. It is cached: do not change it."""

    words: list[str] = field(default_factory=list)
    writes_to: list[str] = field(default_factory=list)
    """Files to which its output is written."""
    appends_to: list[str] = field(default_factory=list)
    """Files to which its output is appended."""
    is_plain: bool = True
    """Whether it is in no group and has no input redirection."""
    separator: str = ""
    """The sign behind it: `&&`, `|`, `;` and so on; "" for the last one."""


@lru_cache(maxsize=256)
def parse_simple_commands(command: str) -> tuple[SimpleCommand, ...]:
    """Return the simple commands of a line, up to what cannot be parsed."""
    return tuple(_parse_commands(command))


def _parse_commands(command: str) -> Iterator[SimpleCommand]:
    words = _split_words(_COMPLAINTS.sub(" ", _drop_here_documents(command)))
    current = SimpleCommand()
    try:
        for word in words:
            # a line feed after another sign ends no command
            sign = word.strip("\n") or word[:1]
            if sign in _ENDS:
                current.separator = sign
                yield current
                current = SimpleCommand()
            elif word in _INTO:
                _redirect(current, word, next(words, ""))
            elif set(word) <= _SIGNS:
                current.is_plain = False
            else:
                current.words.append(word)
    except ValueError:
        # an unclosed quote: what came before it is valid
        return
    yield current


def _split_words(line: str) -> Iterator[str]:
    reader = shlex.shlex(line, posix=True, punctuation_chars="();<>|&\n")
    reader.whitespace, reader.whitespace_split, reader.commenters = " \t\r", True, ""
    return iter(reader)


def _redirect(command: SimpleCommand, sign: str, target: str) -> None:
    if command.words and command.words[-1] in ("1", "2"):
        # the number of the output that is redirected
        command.words.pop()
    (command.appends_to if sign == ">>" else command.writes_to).append(target)


def _drop_here_documents(command: str) -> str:
    """Return a line without its here-documents."""
    lines: list[str] = []
    until = ""
    for line in command[:_LONGEST].replace("\\\n", " ").split("\n"):
        if until:
            until = "" if line.strip() == until else until
            continue
        if match := _BODY.search(line):
            until = match[2]
            line = _BODY.sub(" ", line)
        lines.append(line)
    return "\n".join(lines)


_NOT_PLAIN = frozenset("$`*?[]{}<>()")
_READERS = frozenset(("cat", "head", "tail", "nl", "less", "more", "bat", "batcat"))
"""They read each of their arguments."""
_SEARCHERS = frozenset(("sed", "rg", "grep", "awk"))
"""Their first argument is a pattern or a script, the others are files."""
_COUNTED = frozenset(("-n", "-c", "-A", "-B", "-C", "-m"))
"""Options that a number follows."""
_BOUNDING = frozenset(("-g", "--glob", "-t", "--type", "-T", "--type-not"))
"""Options of `rg` that a word follows which is neither pattern nor file."""


def find_file_actions(command: str) -> Iterator[tuple[FileAction, str, str]]:
    """Yield what a shell `command` does, to which path, and in which directory ("" for the one in
    which it was called).
    """
    directory = ""
    for simple in parse_simple_commands(command):
        for deed, path in _find_redirected(simple):
            yield deed, path, directory
        name, rest = os.path.basename((simple.words or [""])[0]), simple.words[1:]
        is_plain = simple.is_plain and all(map(_is_plain, rest))
        if name == "cd" and not (is_plain and len(rest) == 1):
            # from here on the directory is unknown
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
                # a name without a suffix may be a folder
                yield FileAction.READ, path, directory
                yield FileAction.WROTE, into, directory
            case "git", ["rm", *paths]:
                yield from ((FileAction.DELETED, path, directory) for path in _find_files(paths))
            case ("git", ["checkout", "--", *paths]) | ("git", ["restore", *paths]):
                yield from ((FileAction.EDITED, path, directory) for path in _find_restored(paths))
            case _:
                yield from ((deed, path, directory) for deed, path in _deeds(name, rest))


def _find_restored(words: list[str]) -> list[str]:
    """Return the files that git restores; one that is only unstaged stays."""
    return [] if any(word.startswith("-") for word in words) else words


def _find_redirected(simple: SimpleCommand) -> Iterator[tuple[FileAction, str]]:
    """Yield what happens to the files to which the output of a command goes."""
    yield from ((FileAction.WROTE, path) for path in filter(_is_plain, simple.writes_to))
    yield from ((FileAction.EDITED, path) for path in filter(_is_plain, simple.appends_to))


def _is_plain(word: str) -> bool:
    return bool(word) and not _NOT_PLAIN.intersection(word)


def _deeds(name: str, rest: list[str]) -> Iterator[tuple[FileAction, str]]:
    files = _find_files(rest)
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


def _find_files(rest: list[str]) -> list[str]:
    """Return the words that are neither options nor their numbers."""
    after = ["", *rest]
    return [
        word
        for before, word in zip(after, rest, strict=False)
        if not word.startswith("-")
        and not (before in _COUNTED and word.isdigit())
        and before not in _BOUNDING
    ]
