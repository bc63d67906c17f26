"""Fixes of links that are broken or leave the memory."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from itertools import chain
from pathlib import PurePosixPath

from ricordo.dates import find_day_in_title
from ricordo.lexicon import build_alternation, compile_part, list_expressions, lower_text
from ricordo.lint.finding import Fix
from ricordo.lint.fixes.lines import Splice, build_line_edits
from ricordo.lint.prose import HEADING
from ricordo.memory.layout import FileRole
from ricordo.memory.link_text import get_label, retarget_link
from ricordo.memory.links import Link, is_document
from ricordo.memory.memory import Memory
from ricordo.memory.names import Names, ResolvedLink, TargetKind, fold_name
from ricordo.memory.note import Note, get_stem
from ricordo.patterns import compile_lazily
from ricordo.search.fuzzy import find_similar

_SHORTEST_WORD = 5
"""Characters of a name; among shorter ones, one letter makes another word."""
_A_HABIT = 5
"""Links with one beginning, from which on it is intended."""
_A_KIND = 3
"""Notes whose names begin with one word, from which on it tells their kind."""
_FEWEST_TO_EXCHANGE = 8
"""Characters of a name from which on one may be wrong: among shorter ones, that is another word."""
_TWO_ERRORS = 12
"""Characters of a name from which on two letters may be wrong."""
_SEVERAL = 2
"""Notes that link to a missing file, from which on it is wanted."""
_BETWEEN_WORDS = compile_lazily(r"[\W_]+|(?<=[^\W\d_A-Z])(?=[A-Z])")
"""What is between the words of a name, such as `ship-state` or `ShipState`."""
_SENTENCE_END = compile_lazily(r"[.!?;](?=\s)|[。！？；]|\n(?=\s*(?:\n|[-*+#|>]|\d+[.)]\s))")
_UNTICKED = compile_lazily(r"[ \t]*(?:[-*+]|\d+[.)])[ \t]+\[ \](?!\()")
_NUMBER_OF_NAME = compile_lazily(
    r"(?![vV]\d)(?:[A-Za-z]{1,3}[-_ ]?)?(?!(?:19|20)\d\d[-_. ])\d{2,}(?=[-_. ])"
)
"""The number of one of many records, such as `0035-` or `ADR-12-`; not a version, nor a year."""
_DAY_OF_NAME = compile_lazily(r"20\d\d-?[01]\d-?[0-3]\d[-_ ]+([^\W\d_]+(?:[-_ ]+[^-_ ]+){2,})")
"""A name of three or more words behind a day."""
_LABEL_END = compile_lazily(r"[(（][^()（）]*[)）]\s*\Z")
_MOST_READ = 400
"""Characters of a sentence before a link, and behind it, that are read."""


class LinkTargets:
    """Finds the only note that a broken link can mean, and whether that is certain."""

    def __init__(self, memory: Memory, renamed: Mapping[str, str]) -> None:
        """`renamed` maps former paths of files to their present ones."""
        self._memory = memory
        self._renamed = renamed

    def find_note(self, resolved: ResolvedLink) -> tuple[str, bool]:
        """Return the path of the note whose file was renamed, else of the file to which the link
        climbs with more `../`, else of the only note whose name or stem is the same but for case,
        `-`, `_` and folder, else of the only one in its folder with the same number before its
        name, or the same name but for its day; "" for none. A raw source is not meant by a link to
        a page, unless it climbs to it. Certain are known renames, and files of that name in the
        folder that the link names, except in wikis, whose link rules differ.
        """
        path = self._path_of(resolved)
        to = self._renamed.get(path, "")
        if to in self._memory.by_path:
            return to, True
        if to := self.find_higher(resolved):
            return to, False
        if not path.lower().endswith(".md"):
            return "", False
        is_page = not self._is_below_sources(path)
        named = self._paths_by_name([fold_name(get_stem(path))])
        paths = {it for it in named if not (is_page and self._is_source(it))}
        if not paths:
            alike = self._stems.find_numbered(path) or self._stems.find_of_other_day(path)
            return (alike[0] if len(alike) == 1 else ""), False
        if len(paths) != 1:
            return "", False
        to = paths.pop()
        is_certain = not resolved.link.is_wikilink and not self._memory.layout.has_own_conventions
        return to, is_certain and _folder(to) == _folder(path)

    def find_higher(self, resolved: ResolvedLink) -> str:
        """Return the path of the file to which a link would lead that climbs with more `../`; ""
        for none, and for several.
        """
        below = resolved.link.target
        while below.startswith("../"):
            below = below.removeprefix("../")
        is_climbing = below != resolved.link.target and not resolved.link.is_wikilink
        # a name alone may be a usual one
        if not is_climbing or "/" not in below:
            return ""
        folders = PurePosixPath(resolved.path.removesuffix(below)).parents
        known = (self._memory.by_path, self._memory.others)
        places = (posixpath.join("" if f == "." else f, below) for f in map(str, folders))
        found = [it for it in places if any(it in paths for paths in known)]
        return found[0] if len(found) == 1 else ""

    def is_relative_elsewhere(self, resolved: ResolvedLink) -> bool:
        """Return whether several links begin with the same folder as this one, which the memory
        does not have: they are relative to another directory on purpose, and must stay.
        """
        return _first_folder(resolved) in self._unknown_folders

    def is_of_project(self, resolved: ResolvedLink) -> bool:
        """Return whether a link is to a document of the project, by a name in capitals such as no
        note of the memory has.
        """
        return is_document(resolved.link.target) and not self._has_capitals

    @cached_property
    def _has_capitals(self) -> bool:
        return any(get_stem(note.path).isupper() for note in self._memory.notes)

    @cached_property
    def _unknown_folders(self) -> Collection[str]:
        """The folders with which broken links begin out of habit, and no other ones."""
        missing = chain.from_iterable(self._memory.links_without_file.values())
        firsts = (_first_folder(it) for it in missing if it.target_kind is TargetKind.MISSING)
        often = {it for it, count in Counter(firsts).items() if it and count >= _A_HABIT}
        often -= {*self._memory.others, self._memory.root.rpartition("/")[2]} if often else set()
        astray = (TargetKind.MISSING, TargetKind.EXTERNAL, TargetKind.OUTSIDE)
        every = chain.from_iterable(self._memory.links.values()) if often else ()
        return often - {_first_folder(it) for it in every if it.target_kind not in astray}

    def is_wanted(self, file: Note, resolved: ResolvedLink) -> bool:
        """Return whether the missing target of a link of `file` is wanted, so that the link must
        stay: the sentence says that it is to come, or several notes link to it.
        """
        return self._wanted[resolved.path] >= _SEVERAL or is_to_come(file, resolved.link)

    @cached_property
    def _wanted(self) -> Counter[str]:
        """How many notes link to each missing file; indexes only list what there should be."""
        by_path, missing = self._memory.by_path, self._memory.links_without_file.items()
        return Counter(
            path
            for source, links in missing
            if by_path[source].role is not FileRole.INDEX
            for path in {it.path for it in links if it.target_kind is TargetKind.MISSING}
        )

    def find_misspelt(self, resolved: ResolvedLink) -> str:
        """Return the path of the only note that a wikilink can mean: one that was renamed, else
        the only one of that name but for a typing error or the kind before it, or the only one
        of which an entry of an index has that title; of a link into a folder that is gone, the only
        one of exactly that name, if that is more than a day; "" for none.
        """
        to = self._renamed.get(self._path_of(resolved), "")
        if to in self._memory.by_path:
            return to
        stem = get_stem(resolved.link.target)
        word = fold_name(stem)
        if len(word) < _SHORTEST_WORD:
            return ""
        paths = self._list_alike(stem)
        paths = paths or self._stems.find_bare(resolved.link.target)
        paths = paths or self._by_entry.get(word, set())
        folder = _folder(resolved.link.target).rpartition("/")[2].strip(".")
        # a link into a folder means no note of another one
        near = {it for it in paths if not folder or folder in it.split("/")[:-1]}
        if not near and folder and folder not in self._folders and not find_day_in_title(word):
            near = {it for it in self._paths_by_name([word]) if not self._is_source(it)}
        # a page and its raw source may have one name
        near = {it for it in near if not self._is_source(it)} or near
        return near.pop() if len(near) == 1 else ""

    def find_alike(self, resolved: ResolvedLink) -> str:
        """Return the path of the only page whose name is that of a link but for a typing error; ""
        for none.
        """
        path = self._path_of(resolved)
        stem = get_stem(path) if path.lower().endswith(".md") else ""
        paths = self._list_alike(stem) if len(fold_name(stem)) >= _SHORTEST_WORD else set()
        pages = {it for it in paths if not self._is_source(it)}
        return pages.pop() if len(pages) == 1 else ""

    def _list_alike(self, stem: str) -> set[str]:
        """Return the paths of the notes whose folded name differs from that of `stem` in a letter,
        or in two of a long one; not where that makes one of its words another one.
        """
        word = fold_name(stem)
        most = 2 if len(word) >= _TWO_ERRORS else 1
        names = _spelling(self._memory.names).alike(word, most)
        by_path = self._memory.by_path
        return {
            path
            for path in self._paths_by_name(names)
            for name in (get_stem(path), by_path[path].name)
            if fold_name(name) in names and not _has_other_words(name, stem)
        }

    @cached_property
    def _folders(self) -> frozenset[str]:
        """The names of the folders of the memory, and of what is around it."""
        folders = (_folder(path) for path in self._memory.by_path)
        paths = (*folders, *self._memory.others, self._memory.root)
        return frozenset(chain.from_iterable(path.split("/") for path in paths))

    def _is_below_sources(self, path: str) -> bool:
        folder = self._memory.layout.source_folder
        return bool(folder) and path.startswith(f"{folder}/")

    def _is_source(self, path: str) -> bool:
        return self._memory.by_path[path].role is FileRole.SOURCE

    @cached_property
    def _stems(self) -> _Stems:
        # the first word of a page is part of its subject
        has_kinds = not self._memory.layout.has_own_conventions
        return _read_stems(tuple([note.path for note in self._memory.notes]), has_kinds=has_kinds)

    @cached_property
    def _by_entry(self) -> Mapping[str, set[str]]:
        """The paths of the notes by the folded titles that indexes give them."""
        paths: dict[str, set[str]] = {}
        for path, entries in self._memory.entries.items():
            for _, entry in entries:
                paths.setdefault(fold_name(entry.title), set()).add(path)
        return paths

    def _path_of(self, resolved: ResolvedLink) -> str:
        return f"{resolved.path}.md" if resolved.link.is_wikilink else resolved.path

    def _paths_by_name(self, names: Collection[str]) -> set[str]:
        """Return the paths of the notes that have one of the folded `names`."""
        by_fold, by_path = self._memory.names.by_fold, self._memory.by_path
        return {
            path
            for name in names
            for path in by_fold.get(name, ())
            if by_path[path].role in (FileRole.NOTE, FileRole.SOURCE)
        }


class _Stems:
    """The notes by the parts of their names."""

    def __init__(self, paths: Sequence[str], *, has_kinds: bool) -> None:
        """`has_kinds` says whether a first word that several names share tells the kind of a note,
        as `feedback` does.
        """
        self._paths = paths
        self._has_kinds = has_kinds

    def find_numbered(self, path: str) -> Sequence[str]:
        """Return the paths of the notes in the folder of `path` with the same number before their
        name; none where it has none.
        """
        return self._by_number.get(key, ()) if (key := _get_number(path))[1] else ()

    @cached_property
    def _by_number(self) -> Mapping[tuple[str, str], Sequence[str]]:
        return self._group(_get_number)

    def find_of_other_day(self, path: str) -> Sequence[str]:
        """Return the paths of the notes in the folder of `path` with the same name of three words
        or more behind another day; none where it has no such name.
        """
        return self._by_undated.get(key, ()) if (key := _get_undated(path))[1] else ()

    @cached_property
    def _by_undated(self) -> Mapping[tuple[str, str], Sequence[str]]:
        return self._group(_get_undated)

    def _group(
        self, get_key: Callable[[str], tuple[str, str]]
    ) -> Mapping[tuple[str, str], list[str]]:
        groups: dict[tuple[str, str], list[str]] = {}
        for path in self._paths:
            groups.setdefault(get_key(path), []).append(path)
        return groups

    def find_bare(self, name: str) -> set[str]:
        """Return the paths of the notes with the words of `name`, but for a kind before them."""
        words = self._drop_kind(_split_stem(name))
        return self._by_bare.get(words, set()) if words else set()

    @cached_property
    def _by_bare(self) -> Mapping[tuple[str, ...], set[str]]:
        by_bare: dict[tuple[str, ...], set[str]] = {}
        for path in self._paths:
            by_bare.setdefault(self._drop_kind(_split_stem(path)), set()).add(path)
        return by_bare

    @cached_property
    def _kinds(self) -> Collection[str]:
        """The first words of names that several notes share, such as `feedback`."""
        if not self._has_kinds:
            return ()
        firsts = Counter(_split_stem(path)[0] for path in self._paths)
        return {it for it, count in firsts.items() if count >= _A_KIND}

    def _drop_kind(self, words: Sequence[str]) -> tuple[str, ...]:
        return tuple(words[1:] if words[0] in self._kinds else words)


@lru_cache(maxsize=1)
def _read_stems(paths: tuple[str, ...], *, has_kinds: bool) -> _Stems:
    """Return the parts of the names of the notes; cached, for they seldom change."""
    return _Stems(paths, has_kinds=has_kinds)


class _Spelling:
    """Finds the folded names that a word may be a misspelling of; answers are cached, because the
    next snapshot asks for mostly the same words.
    """

    def __init__(self, names: Names) -> None:
        # by first letter, which is hardly ever mistyped, and length: so 10,000 names need not be
        # compared with every word
        self._known: dict[tuple[str, int], list[str]] = {}
        for name in names.by_fold:
            self._known.setdefault((name[:1], len(name)), []).append(name)
        self._answers: dict[str, list[str]] = {}

    def alike(self, word: str, most: int) -> list[str]:
        """Return the names that differ from `word` in up to `most` letters."""
        if word not in self._answers:
            near = range(len(word) - most, len(word) + most + 1)
            known = [name for length in near for name in self._known.get((word[0], length), ())]
            # another number means another note
            self._answers[word] = [
                name
                for name in find_similar(word, known, most)
                if _same_digits(name, word)
                and not _is_part(*sorted((name, word), key=len))
                and not _is_other_word(name, word)
            ]
        return self._answers[word]


def _is_part(name: str, longer: str) -> bool:
    """Return whether a name with several letters more, before or behind it, is another name."""
    is_short = len(longer) - len(name) >= 2
    return is_short and (longer.startswith(name) or longer.endswith(name))


def _is_other_word(name: str, word: str) -> bool:
    """Return whether a letter in place of another one makes a short name another word."""
    is_exchanged = len(name) == len(word) and sorted(name) != sorted(word)
    return is_exchanged and len(word) < _FEWEST_TO_EXCHANGE


def _has_other_words(name: str, stem: str) -> bool:
    """Return whether a `name` of several words, such as `ShipState` for `ShipStore`, is made of
    another number of words than `stem`, or of another one: one that is more than a letter away, or
    two if long. A letter at a number, as of a model, makes another one.
    """
    words, others = (list(filter(None, _BETWEEN_WORDS.split(it))) for it in (name, stem))
    is_one = max(len(words), len(others)) < 2
    if is_one or "".join(words).lower() == "".join(others).lower():
        return False
    pairs = zip(words, others, strict=False)
    return len(words) != len(others) or any(
        _is_other(one.lower(), other.lower()) for one, other in pairs
    )


def _is_other(word: str, other: str) -> bool:
    """Return whether two words of names are not one with a typing error."""
    most = 2 if len(word) >= _FEWEST_TO_EXCHANGE else 1
    is_numbered = any(map(str.isdigit, word + other))
    return word != other and (is_numbered or not find_similar(word, (other,), most))


@lru_cache(maxsize=1)
def _spelling(names: Names) -> _Spelling:
    return _Spelling(names)


def relink(
    memory: Memory, file: Note, links: Collection[Link], to: str, *, safe: bool
) -> Fix | None:
    """Return the fix that points `links` of `file` to the file at `to`; None where their form does
    not allow it. It is never safe for a wikilink that gets another form, whatever `safe` is.
    """
    splices = [
        Splice(
            link.start, link.end, retarget_link(link, _source(file, link), file.path, to, memory)
        )
        for link in links
    ]
    if any(file.text[start:end] == new for start, end, new in splices):
        return None
    same_form = all(
        not link.is_wikilink or (new.startswith("[[") and _target(new) == get_stem(to))
        for link, (_, _, new) in zip(links, splices, strict=True)
    )
    return Fix(f"link to {to}", build_line_edits(file, splices), safe and same_form)


def is_to_come(file: Note, link: Link) -> bool:
    """Return whether the sentence with a link, its label in brackets, or a heading above it says
    that its target does not exist yet, or its line is a box to tick.
    """
    is_unticked = _UNTICKED.match(file.text, file.text.rfind("\n", 0, link.start) + 1)
    if is_unticked or any(link.line in it for it in _find_lists_to_write(file)):
        return True
    first, last = max(link.start - _MOST_READ, 0), link.end + _MOST_READ
    ends = [it.end() for it in _SENTENCE_END.finditer(file.text, first, link.start)]
    start = ends[-1] if ends else first
    closing = _SENTENCE_END.search(file.text, link.end, last)
    end = closing.start() if closing else last
    # behind the name, as in `[data model (planned)](data-model.md)`
    added = _LABEL_END.search(link.label)
    label = added[0] if added else ""
    spoken = f"{file.text[start : link.start]} {label} {file.text[link.end : end]}"
    return bool(_to_come().search(lower_text(spoken)))


@lru_cache(maxsize=4)
def _find_lists_to_write(file: Note) -> tuple[range, ...]:
    """Return the lines of the sections whose headings say that what they list is still to be
    written.
    """
    lines = file.text.split("\n")
    headings = [
        (number, len(heading[1]), lower_text(heading[2]))
        for number, line in enumerate(lines, 1)
        if (heading := HEADING.match(line))
    ]
    end = len(lines) + 1
    return tuple(
        range(number, next((it for it, depth, _ in headings[at:] if depth <= level), end))
        for at, (number, level, title) in enumerate(headings, 1)
        if _to_come_title().match(title)
    )


@cache
def _to_come_title() -> re.Pattern[str]:
    """Return the pattern of the beginning of a heading over what is to come."""
    return re.compile(
        rf"[\W\d_]*(?:{build_alternation(list_expressions('status', 'to_come_title'))})"
    )


@cache
def _to_come() -> re.Pattern[str]:
    return compile_part("status", "to_come")


def remove_link(file: Note, link: Link) -> Fix | None:
    """Return the fix that replaces a link with its text; None where it has none."""
    text = get_label(link, _source(file, link))
    if not text:
        return None
    # an embedded file goes with its mark
    start = link.start - file.text[: link.start].endswith("!")
    return Fix(
        "remove the link, keep its text", build_line_edits(file, [Splice(start, link.end, text)])
    )


def _source(file: Note, link: Link) -> str:
    return file.text[link.start : link.end]


def _target(wikilink: str) -> str:
    """Return the last part of the text between the brackets, without heading and label."""
    return re.split(r"\\?[#|]", wikilink[2:-2])[0].rpartition("/")[2]


def _first_folder(resolved: ResolvedLink) -> str:
    """Return the first folder of a link; "" where it has none, or begins with `..`."""
    folder, slash, _ = resolved.link.target.removeprefix("./").partition("/")
    return folder if slash and folder != ".." else ""


def _split_stem(path: str) -> list[str]:
    """Return the words of a name or a path of a note, in lower case."""
    words = get_stem(path).lower().replace("-", " ").replace("_", " ").split()
    return words or [""]


def _get_number(path: str) -> tuple[str, str]:
    """Return the folder of a note and the number with which its name begins; "" for none, and for a
    day.
    """
    stem = get_stem(path)
    number = _NUMBER_OF_NAME.match(stem)
    return _folder(path), number[0].lower() if number and not find_day_in_title(stem) else ""


def _get_undated(path: str) -> tuple[str, str]:
    """Return the folder of a note and its folded name without the day before it; "" for none, and
    for a name of few words, which notes of many days have.
    """
    dated = _DAY_OF_NAME.fullmatch(get_stem(path))
    return _folder(path), fold_name(dated[1]) if dated else ""


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _same_digits(left: str, right: str) -> bool:
    return re.findall(r"\d", left) == re.findall(r"\d", right)
