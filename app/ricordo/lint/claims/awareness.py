"""Signs that the writer of a note knew of a removal, or wrote of another repository.

What the project lacks is then no fault of the note, whatever a check of its claim found.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator
from datetime import date
from functools import cache, lru_cache
from itertools import accumulate

from ricordo.dates import find_dates
from ricordo.lexicon import compile_part, lower_text
from ricordo.lint.claims.claim import ProjectClaim
from ricordo.lint.claims.commits import FileCommit, list_references
from ricordo.lint.claims.history import CODE_ENDINGS
from ricordo.lint.claims.passages import Passage, split_passages
from ricordo.lint.claims.project import Project
from ricordo.lint.prose import HEADING
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily

_NAME = compile_lazily(r"[\w.@+\-/\[\]$]+")
_FIELD = compile_lazily(r"[\s>*_|+-]*([^\W\d_][^:：|\n]{0,24}?)[\s*_]*[:：|]\W*?(\S.*)")
"""A line with a label and its value, perhaps a row of a table."""
_ADDRESS = compile_lazily(
    r"(?:github\.com|gitlab\.com|bitbucket\.org|codeberg\.org|gitee\.com)[/:]([\w.-]+/[\w.-]+)"
)
_SLUG = compile_lazily(r"[`<(\[*_\s]*([\w.-]+/[\w.-]+)[`>)\]*_\s.]*")
"""The owner and the name of a repository alone."""
_OUTSIDE = compile_lazily(
    r"(?:~|/(?:home|Users|root|opt|srv)|[A-Za-z]:)(?:[/\\](?!\.)[^\s`'\"()/\\|]+)+"
)
"""A folder in the home of a user or of a server; not the settings of a program."""
_WORD = compile_lazily(r"[A-Z]?[^\W\d_A-Z]{2,}|[A-Z]{3,}")
"""A word of a name or of a text."""
_FEWEST_WORDS = 2
"""Words of a name that another name may have as well."""
_MOST_FILES = 12
"""Files with a name that are looked at."""
_SHORTEST_ID = 7
"""Digits of a commit's id in a text."""


def knows_of(note: Note, names: Collection[str], commit: FileCommit, project: Project) -> bool:
    """Return whether `note` knows of a `commit` that removed what has any of the `names`: it names
    that commit, its request, ticket or task, says of its day that something with one of their words
    was removed, or says anywhere that this is gone or what it is called now.
    """
    shared = list_references(commit.subject) & list_references(note.body)
    # a product with its version is no task
    if any(not project.manifests.find_versions(kind) for kind, _ in shared):
        return True
    if commit.id[:_SHORTEST_ID] in note.text or says_gone(note, names):
        return True
    if any(_says_renamed(note, name, project) for name in names):
        return True
    day, words = date.fromtimestamp(commit.at), _split_names(names)
    return any(
        any(it.day == day for it in find_dates(passage.text))
        and not words.isdisjoint(_split_names((passage.text,)))
        for passage in _list_removals(note)
    )


def _split_names(names: Iterable[str]) -> frozenset[str]:
    """Return the words of some names or of a text, in lower case, but for the shortest ones."""
    return frozenset(it.lower() for name in names for it in _WORD.findall(name))


def says_gone(note: Note, names: Collection[str]) -> bool:
    """Return whether a sentence of `note` says that what has any of the `names` is gone."""
    for passage in _list_removals(note):
        every = _NAME.findall(passage.text)
        named = {*(it.strip("./") for it in every), *every}
        if any(map(passage.records_removal, named.intersection(names))):
            return True
    return False


def _says_renamed(note: Note, name: str, project: Project) -> bool:
    """Return whether a sentence of `note` with a word for a removal has a name with all words of
    `name`, and more, which the code has now: the height in metres of a gauge for its height.
    """
    words = _split_names((name,))
    if len(words) < _FEWEST_WORDS or not name.isidentifier():
        return False
    return any(
        words < _split_names((code,))
        for passage in _list_removals(note)
        for _, code in passage.code
        if (new := code.removesuffix("()")).isidentifier()
        and any(it.endswith(CODE_ENDINGS) for it in project.find_files(new, _MOST_FILES))
    )


@lru_cache(maxsize=2)
def _list_removals(note: Note) -> tuple[Passage, ...]:
    """Return the sentences of a note with words for a removal."""
    every = split_passages(note)
    return tuple(it for it in every if _removed().search(lower_text(it.prose)))


@cache
def _removed() -> re.Pattern[str]:
    return compile_part("probes", "removed")


def list_names_of_path(path: str) -> frozenset[str]:
    """Return what a text may call a file: its path from any folder, and the folders above it."""
    parts = path.strip("/").split("/")
    ends = {"/".join(parts[at:]) for at in range(len(parts))}
    above = list(accumulate(parts, posixpath.join))[1:]
    # without its slash a single folder may be any word
    return frozenset((*ends, *above, f"{parts[0]}/"))


def is_written_after(note: Note, claim: ProjectClaim, commit: FileCommit, project: Project) -> bool:
    """Return whether a claim came to `note` with a `commit` or after it: by git where the note lies
    in the project, else by the date of the note.
    """
    return project.find_claim_time(note, claim.text.split("\n")[0]) >= commit.at


def is_of_another_repository(note: Note, claim: str, line: int, project: Project) -> bool:
    """Return whether the head of `note`, or the section of the 1-based `line`, names a repository
    or a folder outside the project as what it is about, and not the project; or whether a `claim`
    begins with the name of one that is named anywhere in the note.
    """
    own = project.own_names
    for texts in (_list_head(note), _list_section(note, line)):
        every = {name for text in texts for name in _find_repositories(text)}
        named = [it for it in every if not project.tree.has(it)]
        if named and not any(_has_any(name, own) for name in named):
            return True
    first = lower_text(claim).partition("/")[0]
    beside = (*_ADDRESS.findall(note.text), *_OUTSIDE.findall(note.text)) if "/" in claim else ()
    return any(_split_address(it)[-1] == first and first not in own for it in beside)


def _list_head(note: Note) -> Iterator[str]:
    """Yield the fields of a note, and its lines above the first section."""
    yield from note.text[: note.frontmatter.end].split("\n")
    for text in note.body.split("\n"):
        heading = HEADING.match(text)
        if heading and len(heading[1]) > 1:
            return
        yield text


def _list_section(note: Note, line: int) -> Iterator[str]:
    """Yield the headings above a 1-based `line`, and the lines between it and the nearest one."""
    level = 7
    for text in reversed(note.text.split("\n")[: line - 1]):
        heading = HEADING.match(text)
        if heading and len(heading[1]) < level:
            level = len(heading[1])
            yield text
        elif level > 6:
            yield text


def _find_repositories(text: str) -> Iterator[str]:
    """Yield the repositories that a heading or a field of a repository names."""
    if heading := HEADING.match(text):
        value = heading[2]
    elif (field := _FIELD.match(text)) and _repository().fullmatch(lower_text(field[1].strip())):
        value = field[2]
        if slug := _SLUG.fullmatch(value):
            yield slug[1]
    else:
        return
    yield from _ADDRESS.findall(value)
    yield from _OUTSIDE.findall(value)


def _has_any(name: str, own: Collection[str]) -> bool:
    """Return whether a repository or folder has one of its `own` names, which are in lower case."""
    return any(it in own for it in _split_address(name))


def _split_address(name: str) -> list[str]:
    return re.split(r"[/\\]", lower_text(name).rstrip("/\\.").removesuffix(".git"))


@cache
def _repository() -> re.Pattern[str]:
    return compile_part("probes", "repository")
