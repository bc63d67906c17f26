"""Mending links that lead nowhere, or out of the memory."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from functools import cached_property, lru_cache
from itertools import chain

from ricordo.lint.finding import Fix
from ricordo.lint.fixes.lines import Splice, line_edits
from ricordo.memory.layout import FileRole
from ricordo.memory.link_text import as_text, pointing_to
from ricordo.memory.links import Link
from ricordo.memory.memory import Memory
from ricordo.memory.names import Leads, Names, Resolved, folded
from ricordo.memory.note import Note, stem
from ricordo.search.fuzzy import spelled_alike

_SHORTEST_WORD = 5
"""Characters of a name; among shorter ones one letter makes another word."""
_A_HABIT = 5
"""Links that begin alike, from which on that is meant so."""
_TWO_ERRORS = 12
"""Characters from which on two letters may be wrong."""


class Meant:
    """Tells which note a link that leads nowhere can only mean, and whether that is certain."""

    def __init__(self, memory: Memory, renamed: Mapping[str, str]) -> None:
        """`renamed` has the present paths of files by those that they had."""
        self._memory = memory
        self._renamed = renamed

    def note(self, found: Resolved) -> tuple[str, bool]:
        """Return the path of the note whose file was renamed, else of the only one whose name or
        stem is the same but for case, `-`, `_` and folder; "" where there is none. It is certain
        where the rename is known, and where the file lies in the folder that the link names and
        no wiki has rules of its own for links.
        """
        path = self._path_of(found)
        to = self._renamed.get(path, "")
        if to in self._memory.by_path:
            return to, True
        if not path.lower().endswith(".md"):
            return "", False
        alike = self._notes_called([folded(stem(path))])
        if len(alike) != 1:
            return "", False
        to = alike.pop()
        is_certain = not found.link.is_wikilink and not self._memory.layout.has_own_conventions
        return to, is_certain and _folder(to) == _folder(path)

    def is_from_elsewhere(self, found: Resolved) -> bool:
        """Say whether several links begin with the same folder as this one, which the memory does
        not have: by a rule of its owner they count from another place, so that none is to be
        changed or dropped.
        """
        return self._unknown_folders[_first_folder(found)] >= _A_HABIT

    @cached_property
    def _unknown_folders(self) -> Counter[str]:
        others = self._memory.others
        places = chain.from_iterable(self._memory.astray.values())
        folders = (_first_folder(found) for found in places if found.leads is Leads.NOWHERE)
        return Counter(folder for folder in folders if folder and folder not in others)

    def misspelt(self, found: Resolved) -> str:
        """Return the path of the note that a wikilink can only mean: one that was renamed, else
        the only one that is called so but for a typing error; "" where there is none.
        """
        to = self._renamed.get(self._path_of(found), "")
        if to in self._memory.by_path:
            return to
        word = folded(stem(found.link.target))
        if len(word) < _SHORTEST_WORD:
            return ""
        most = 2 if len(word) >= _TWO_ERRORS else 1
        paths = self._notes_called(_spelling(self._memory.names).alike(word, most))
        return paths.pop() if len(paths) == 1 else ""

    def _path_of(self, found: Resolved) -> str:
        return f"{found.path}.md" if found.link.is_wikilink else found.path

    def _notes_called(self, names: Collection[str]) -> set[str]:
        """Return the paths of the notes that have one of the folded `names`."""
        by_fold, by_path = self._memory.names.by_fold, self._memory.by_path
        return {
            path
            for name in names
            for path in by_fold.get(name, ())
            if by_path[path].role in (FileRole.NOTE, FileRole.SOURCE)
        }


class _Spelling:
    """Finds the folded names that a word may be a misspelling of; answers are kept, because most
    words that are wanted are wanted again with the next look.
    """

    def __init__(self, names: Names) -> None:
        # by their first letter, which is hardly ever mistyped, and their length: a memory of
        # 10,000 notes is not compared whole with every name that is wanted
        self._known: dict[tuple[str, int], list[str]] = {}
        for name in names.by_fold:
            self._known.setdefault((name[:1], len(name)), []).append(name)
        self._answers: dict[str, list[str]] = {}

    def alike(self, word: str, most: int) -> list[str]:
        """Return the names that are `word` but for up to `most` letters."""
        if word not in self._answers:
            near = range(len(word) - most, len(word) + most + 1)
            known = [name for length in near for name in self._known.get((word[0], length), ())]
            # another number is another note, whatever else is the same
            self._answers[word] = [
                name for name in spelled_alike(word, known, most) if _same_digits(name, word)
            ]
        return self._answers[word]


@lru_cache(maxsize=1)
def _spelling(names: Names) -> _Spelling:
    return _Spelling(names)


def lead_to(
    memory: Memory, file: Note, links: Collection[Link], to: str, *, safe: bool
) -> Fix | None:
    """Return the fix that lets `links` of `file` lead to the file at `to`; None where their form
    does not allow it. A wikilink that gets another form has to be seen, whether or not `safe`.
    """
    splices = [
        Splice(link.start, link.end, pointing_to(link, _written(file, link), file.path, to, memory))
        for link in links
    ]
    if any(file.text[it.start : it.end] == it.new for it in splices):
        return None
    same_form = all(
        not link.is_wikilink or (new.startswith("[[") and _target(new) == stem(to))
        for link, (_, _, new) in zip(links, splices, strict=True)
    )
    return Fix(f"let the link lead to {to}", line_edits(file, splices), safe and same_form)


def to_text(file: Note, link: Link) -> Fix | None:
    """Return the fix that leaves the text of a link alone; None where it has none."""
    text = as_text(link, _written(file, link))
    if not text:
        return None
    # what embedded a file has nothing left to embed
    start = link.start - file.text[: link.start].endswith("!")
    return Fix("leave the text of the link", line_edits(file, [Splice(start, link.end, text)]))


def _written(file: Note, link: Link) -> str:
    return file.text[link.start : link.end]


def _target(wikilink: str) -> str:
    """Return the last part of what stands between the brackets, without heading and label."""
    return re.split(r"\\?[#|]", wikilink[2:-2])[0].rpartition("/")[2]


def _first_folder(found: Resolved) -> str:
    """Return the first folder that a link names; "" where it names none, or one above."""
    folder, slash, _ = found.link.target.removeprefix("./").partition("/")
    return folder if slash and folder != ".." else ""


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _same_digits(left: str, right: str) -> bool:
    return re.findall(r"\d", left) == re.findall(r"\d", right)
