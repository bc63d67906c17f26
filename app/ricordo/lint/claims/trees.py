"""The files in the trees that a note draws of its project in code blocks, as `tree` prints them."""

from __future__ import annotations

import posixpath
from collections.abc import Container, Iterator
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from ricordo.lint.claims.claim import MAX_CLAIMS, ProjectClaim
from ricordo.lint.claims.passages import Passage, split_passages
from ricordo.lint.claims.paths import check_deleted, is_path
from ricordo.lint.claims.project import Project
from ricordo.lint.evidence import ClaimKind, Verdict
from ricordo.lint.prose import find_fences
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily

_BRANCH = compile_lazily(r"([\s│|]*)(?:[├└+`]|\|(?=-))[─-]+\s*(\S.*)")
"""A line of a tree: what is before the branch, and the name with what is said of it."""
_BESIDE = compile_lazily(r"\s{2,}|\s+(?=[#←—–(/-])|\s*\t")
"""What separates a name from what is said of it."""
_SIGNS = ("├", "└", "|--", "`--", "+--")


class _Drawn(NamedTuple):
    """A file or folder of a tree."""

    line: int
    """Its 1-based line in the note."""
    tree: str
    """The first line of the code block."""
    paths: tuple[str, ...]
    """What its path may be: from the root of the tree, and from the folder above that is named."""
    name: str
    """As drawn."""
    said: str
    """What is said of it on its line."""


def find_lost_files(note: Note, project: Project, known: Container[str]) -> Iterator[Verdict]:
    """Yield a verdict for each file that a tree of `note` has where git had it and the project
    lacks it, but for the paths that are `known`.
    """
    if not any(sign in note.text for sign in _SIGNS):
        return
    for lost, drawn in islice(_find_lost(note, project, known).items(), MAX_CLAIMS):
        passage = _build_passage(note, drawn)
        if passage is None:
            continue
        claim = ProjectClaim(ClaimKind.DRAWN, drawn.name, drawn.line, passage)
        verdict = check_deleted(claim, lost, lost, project, note)
        if verdict is not None:
            # the tree has a place for its name alone
            yield replace(
                verdict,
                problem=f"{lost} does not exist",
                suggestion="",
                # who draws the tree again settles all
                origin=f"{note.path}: tree {drawn.tree}",
            )


def _find_lost(note: Note, project: Project, known: Container[str]) -> dict[str, _Drawn]:
    """Return the paths of the files that a tree has and the project lost, with the first place."""
    tree, deleted, found = project.tree, project.history.deleted, dict[str, _Drawn]()
    for drawn in _list_drawn(note):
        lost = next((it for it in drawn.paths if it in deleted), "")
        if lost and lost not in known and not any(map(tree.has, drawn.paths)):
            found.setdefault(lost, drawn)
    return found


def _list_drawn(note: Note) -> Iterator[_Drawn]:
    """Yield the files and folders of all trees of a note, in order."""
    for first, lines in find_fences(note):
        root, above = "", list[tuple[int, str]]()
        for number, line in enumerate(lines, first):
            branch = _BRANCH.match(line)
            if not line.strip(" \t│|"):
                continue
            if branch is None:
                root, above = _BESIDE.split(line.strip(), maxsplit=1)[0].strip("./"), []
                continue
            name, *said = _BESIDE.split(branch[2].strip(), maxsplit=1)
            depth = len(branch[1].expandtabs())
            while above and above[-1][0] >= depth:
                above.pop()
            above.append((depth, name.strip("/")))
            path = "/".join(part for _, part in above)
            if is_path(name) or is_path(path):
                paths = dict.fromkeys((path, posixpath.join(root, path)))
                tree, said_of = lines[0].strip(), " ".join(said)
                yield _Drawn(number, tree, tuple(paths), name.strip("/"), said_of)


def _build_passage(note: Note, drawn: _Drawn) -> Passage | None:
    """Return what is said of a file of a tree, as a sentence of the section with the tree; None
    where nothing is above the tree.
    """
    before = (it for it in split_passages(note) if it.statement.line <= drawn.line)
    section = max(before, key=lambda it: it.statement.line, default=None)
    if section is None:
        return None
    return replace(section, text=f"{drawn.name} {drawn.said}", prose=drawn.said, code=())
