"""What plain shell commands do to files: `cat notes.md`, `sed -n 1,9p notes.md`, `rm notes.md`.

Only commands whose words mean what they say are understood. One with a variable, a pattern, a
substitution or a redirection may touch anything; nothing is guessed of it.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator

from ricordo.activity.session import Deed

_LONGEST = 4_000
"""Characters of a command that are looked at."""
_ENDS = frozenset((";", "&&", "||", "|", "&", "\n"))
_NOT_PLAIN = frozenset("$`*?[]{}<>()")
_COMPLAINTS = re.compile(r"\s2>(?:\s*/dev/null|&1)(?!\S)")
"""Where a command's complaints go changes nothing of what it reads."""
_READERS = frozenset(("cat", "head", "tail", "nl", "less", "more", "bat", "batcat"))
"""Read every file that they are given."""
_SEARCHERS = frozenset(("sed", "rg", "grep", "awk"))
"""Are given what to look for, or to do, before the files."""
_COUNTED = frozenset(("-n", "-c"))
"""Options of `head` and `tail` whose number is a word of its own."""


def plain_deeds(command: str) -> Iterator[tuple[Deed, str, str]]:
    """Yield what a shell `command` does, to which path, and in which directory ("" for the one in
    which it was called).
    """
    directory = ""
    for words in _simple_commands(_COMPLAINTS.sub("", command[:_LONGEST])):
        name, rest = os.path.basename(words[0]), words[1:]
        if any(_NOT_PLAIN.intersection(word) for word in rest if name not in _SEARCHERS):
            continue
        match name, rest:
            case "cd", [path]:
                directory = os.path.join(directory, path)
            case "mv", [path, into] if not into.endswith("/"):
                yield Deed.DELETED, path, directory
                yield Deed.WROTE, into, directory
            case _:
                yield from ((deed, path, directory) for deed, path in _deeds(name, rest))


def _deeds(name: str, rest: list[str]) -> Iterator[tuple[Deed, str]]:
    files = _files(rest)
    if name == "rm":
        yield from ((Deed.DELETED, path) for path in files)
    elif name in _READERS:
        yield from ((Deed.READ, path) for path in files)
    elif name in _SEARCHERS:
        deed = Deed.EDITED if name == "sed" and any(w.startswith("-i") for w in rest) else Deed.READ
        named = (path for path in files[1:] if not _NOT_PLAIN.intersection(path))
        yield from ((deed, path) for path in named)


def _files(rest: list[str]) -> list[str]:
    """Return the words that are no options, nor the numbers of options."""
    after = ["", *rest]
    return [
        word
        for before, word in zip(after, rest, strict=False)
        if not word.startswith("-") and not (before in _COUNTED and word.isdigit())
    ]


def _simple_commands(command: str) -> Iterator[list[str]]:
    reader = shlex.shlex(command, posix=True, punctuation_chars=True)
    reader.whitespace = " \t\r"
    reader.commenters = ""
    words: list[str] = []
    redirected = False
    try:
        for word in reader:
            if word not in _ENDS:
                redirected = redirected or set(word) <= set("<>()&|;")
                words.append(word)
                continue
            if words and not redirected:
                yield words
            words, redirected = [], False
    except ValueError:
        # an open quote: what came before it was understood
        return
    if words and not redirected:
        yield words
