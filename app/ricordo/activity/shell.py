"""What plain shell commands do to files: `cat notes.md`, `rm notes.md`, `date > notes.md`.

Only commands whose words mean what they say are understood. One with a variable, a pattern, a
substitution, or one in a group, may touch anything; nothing is guessed of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from ricordo.activity.session import Deed
from ricordo.activity.shell_line import Simple, simple_commands

_NOT_PLAIN = frozenset("$`*?[]{}<>()")
_READERS = frozenset(("cat", "head", "tail", "nl", "less", "more", "bat", "batcat"))
"""Read every file that they are given."""
_SEARCHERS = frozenset(("sed", "rg", "grep", "awk"))
"""Are given what to look for, or to do, before the files."""
_COUNTED = frozenset(("-n", "-c", "-A", "-B", "-C", "-m"))
"""Options whose number is a word of its own."""
_BOUNDING = frozenset(("-g", "--glob", "-t", "--type", "-T", "--type-not"))
"""Options of `rg` behind which a word stands that is neither what is looked for nor a file."""


def plain_deeds(command: str) -> Iterator[tuple[Deed, str, str]]:
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
                yield Deed.DELETED, path, directory
                yield Deed.WROTE, into, directory
            case "cp", [path, into] if "." in os.path.basename(into):
                # another name may be that of a folder
                yield Deed.READ, path, directory
                yield Deed.WROTE, into, directory
            case "git", ["rm", *paths]:
                yield from ((Deed.DELETED, path, directory) for path in _files(paths))
            case ("git", ["checkout", "--", *paths]) | ("git", ["restore", *paths]):
                yield from ((Deed.EDITED, path, directory) for path in _restored(paths))
            case _:
                yield from ((deed, path, directory) for deed, path in _deeds(name, rest))


def _restored(words: list[str]) -> list[str]:
    """The files that git makes as they were; what is only taken out of the index stays."""
    return [] if any(word.startswith("-") for word in words) else words


def _redirected(simple: Simple) -> Iterator[tuple[Deed, str]]:
    """What becomes of the files to which a command writes what it says."""
    yield from ((Deed.WROTE, path) for path in filter(_is_plain, simple.into))
    yield from ((Deed.EDITED, path) for path in filter(_is_plain, simple.adds_to))


def _is_plain(word: str) -> bool:
    return bool(word) and not _NOT_PLAIN.intersection(word)


def _deeds(name: str, rest: list[str]) -> Iterator[tuple[Deed, str]]:
    files = _files(rest)
    if name == "rm":
        yield from ((Deed.DELETED, path) for path in files)
    elif name == "tee":
        deed = Deed.EDITED if "-a" in rest else Deed.WROTE
        yield from ((deed, path) for path in files)
    elif name in _READERS:
        yield from ((Deed.READ, path) for path in files)
    elif name in _SEARCHERS:
        deed = Deed.EDITED if name == "sed" and any(w.startswith("-i") for w in rest) else Deed.READ
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
