"""Archived notes: those in an archive, former states of others, copies in a folder that repeats the
memory, and those that say so, which are kept on purpose.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Container, Mapping
from functools import cache, lru_cache

from ricordo.lexicon import build_alternation, list_expressions, lower_text
from ricordo.lint.claims.note_status import find_banner, read_status
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily

_AROUND_MARK = " ()[]~"
_BETWEEN_WORDS = {ord(sign): " " for sign in "_-."}
_TIME = compile_lazily(r"(?<!\d)(?:19|20)\d\d ?[01]\d ?[0-3]\d[\W\dtz]*\Z")
"""The time of a backup at the end of its name, in words."""


_VERSION = compile_lazily(r"(?<=\w)[-_ .]?v\d+(?:\.\d+)*\Z")
_SAID_ALL = compile_lazily(r"\s*(?:[—–:;,.!()\[\]]|- |\Z)")
"""What ends the words at the beginning of a title: no more of them follows."""
_LONGEST_END = 60
"""Characters of a title in which its end is looked for."""
_FEWEST_COPIED = 5
"""Files of a folder that repeats the memory."""
_MOSTLY_COPIED = 0.8
"""The share of its files that such a folder repeats."""


class Archive:
    """Finds the archived files of one memory after each change; what their paths show is kept while
    these are the same. Those that say so in their text are found by `is_superseded`.
    """

    def __init__(self) -> None:
        self._paths: frozenset[str] = frozenset()
        self._former: frozenset[str] = frozenset()
        self._repeated: Mapping[str, str] = {}

    def find(self, memory: Memory) -> frozenset[str]:
        """Return the paths of the files of `memory` that are archived."""
        files = memory.by_path
        if files.keys() != self._paths:
            self._paths, self._former = frozenset(files), _find_former_paths(files)
            self._repeated = _find_repeated_paths(files, memory.layout.page_folder)
        pairs = self._repeated.items()
        copies = (path for path, original in pairs if files[path].text == files[original].text)
        return self._former.union(copies)


def _find_former_paths(paths: Collection[str]) -> frozenset[str]:
    """Return those of the `paths` of a memory's files that are archived: what is in a folder that
    is named as an archive, and what has the path of another file but for the words for a backup,
    or the time of one. Without that other file, “backup” may be what a note is about.
    """
    pairs = [(path, _to_words(path)) for path in paths]
    every = {words for _, words in pairs}
    folders = {words.rpartition("/")[0] for words in every}
    archives = {it for it in folders if any(map(_archive().fullmatch, _split_folder(it)))}
    marked = {it for it in folders if any(map(_marks().search, _split_folder(it)))}
    archived: set[str] = set()
    for path, words in pairs:
        folder = words.rpartition("/")[0]
        # most are told apart without a search for words
        is_like = folder in marked or _has_name_of_other(words, every)
        former = _find_former(words) if is_like else words
        if folder in archives or (former != words and former in every):
            archived.add(path)
    return frozenset(archived)


def _find_repeated_paths(paths: Collection[str], page_folder: str) -> Mapping[str, str]:
    """Return the files in folders that repeat the memory, as a program makes one for a site, each
    with the file of which it may be a copy: `docs/quays/east.md` and `quays/east.md`. What is in
    `page_folder` is no copy, but the wiki itself.
    """
    originals: defaultdict[str, dict[str, str]] = defaultdict(dict)
    sizes: Counter[str] = Counter()
    for path in paths:
        cuts = [at for at, sign in enumerate(path) if sign == "/"]
        sizes.update(path[:cut] for cut in cuts)
        # what has no folder in common may have a usual name
        for cut in cuts[:-1]:
            if (original := path[cut + 1 :]) in paths:
                originals[path[:cut]][path] = original
    return {
        path: original
        for folder, of_folder in originals.items()
        if folder != page_folder.rstrip("/")
        and len(of_folder) >= max(_FEWEST_COPIED, _MOSTLY_COPIED * sizes[folder])
        for path, original in of_folder.items()
    }


def are_versions(one: str, other: str) -> bool:
    """Return whether two paths are of versions of one document, as `spec-v3.md` and `spec.md`: what
    they say differs on purpose.
    """
    names = [path.rpartition("/")[2].removesuffix(".md").lower() for path in (one, other)]
    bare = [_VERSION.sub("", name) for name in names]
    return bare[0] == bare[1] and bare != names


@lru_cache(maxsize=1 << 14)
def is_superseded(note: Note) -> bool:
    """Return whether a note begins its description, status or what is quoted above its text by
    saying that another one took its place or that it is kept as history, or its title by saying no
    more than the first, or ends with that in brackets or behind a dash. Cached, as several rules
    ask it again after each change.
    """
    # emphasis is often set by `_`, which is part of a word
    banner = find_banner(note).replace("_", " ").split("\n")
    said = [lower_text(it) for it in (read_status(note), note.description, *banner)]
    superseded = _begins_with("superseded")
    if any(superseded.match(it) or _begins_with("archived").match(it) for it in said):
        return True
    titles = [lower_text(it) for it in (note.heading, note.name)]
    begun = (superseded.match(it) for it in titles)
    ends = (it[-_LONGEST_END:] for it in titles)
    return any(map(_ends_void().search, ends)) or any(
        it is not None and _SAID_ALL.match(it.string, it.end()) for it in begun
    )


def _split_folder(folder: str) -> list[str]:
    return [part.strip() for part in folder.split("/")]


def _has_name_of_other(words: str, every: Container[str]) -> bool:
    """Return whether the name of a file begins or ends with that of another one in its folder."""
    start = words.rfind("/") + 1
    folder, name = words[:start], words[start:]
    # scripts without blanks may end a word anywhere
    cuts = (n for n in range(1, len(name)) if name[n] == " " or not name.isascii())
    parts = (part.strip(_AROUND_MARK) for cut in cuts for part in (name[:cut], name[cut:]))
    return any(folder + part in every for part in parts)


def _find_former(words: str) -> str:
    """Return the words of a path without those of a backup: the file of which it is one."""
    *folders, name = words.split("/")
    bare = [folder for folder in folders if _without_marks(folder)]
    return "/".join((*bare, _without_marks(name)))


def _to_words(path: str) -> str:
    """Return a path without its ending, in lower case and with blanks between words."""
    return lower_text(path.removesuffix(".md")).translate(_BETWEEN_WORDS)


def _without_marks(name: str) -> str:
    """Return the words of a name without the time and the words of a backup at its ends."""
    bare, is_marked = name, False
    while True:
        inner = bare.strip(_AROUND_MARK)
        bare = _marks().sub("", _TIME.sub("", inner))
        if bare == inner:
            return inner if is_marked else name
        is_marked = True


@cache
def _archive() -> re.Pattern[str]:
    return re.compile(build_alternation(list_expressions("probes", "archive")))


@cache
def _marks() -> re.Pattern[str]:
    """Return the pattern of what names a backup at one of the ends of a name, in words."""
    words = build_alternation(list_expressions("probes", "backup"))
    return re.compile(
        rf"\A(?:{words})(?: (?:of|von|de|di|van|av))?(?: +|\Z)|(?:{words})(?: ?\d{{1,3}})?\Z"
    )


@cache
def _ends_void() -> re.Pattern[str]:
    """Return the pattern of the end of a title that says that the note no longer counts."""
    words = build_alternation(list_expressions("status", "void"))
    return re.compile(rf"(?:[(\[（【]|[—–]\s)\W{{0,4}}(?:{words})\W{{0,6}}\Z")


@cache
def _begins_with(part: str) -> re.Pattern[str]:
    """Return the pattern of a text that begins with one of the expressions of a part, apart from
    other words but for a day.
    """
    words = build_alternation(list_expressions("status", part))
    return re.compile(rf"\W*(?:{words})(?=\s*(?:[^\w\s]|\d{{4}}|\Z))")
