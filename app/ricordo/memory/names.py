"""The names of a memory's files, and the targets of links.

Targets depend only on paths, names and aliases: while those stay, links need not be resolved
again.
"""

from __future__ import annotations

import posixpath
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from ricordo.memory.links import Link, is_external
from ricordo.memory.note import Note, get_stem

_FEWEST_LINKS = 3
"""Links from which a reading can be learned."""
_SHARE = 0.9
"""The part of the links with a prefix that has to lead to a file without it."""
_MOST_PARTS = 3
"""Folders of a link that may be a prefix together."""
_UNNAMED_ENDINGS = (".canvas", ".base")
"""Endings of files of Obsidian that links leave out."""
ROOT = "/"
"""The prefix of links from the root of a site."""


class TargetKind(StrEnum):
    """The kind of a link's target."""

    NOTE = "note"
    FILE = "file"
    """A file or folder of the memory that is not a note."""
    MISSING = "nowhere"
    """A file that does not exist."""
    OUTSIDE = "outside"
    """A markdown file outside the memory."""
    EXTERNAL = "away"
    """An address, a heading of the same note, or another path outside the memory."""


class ResolvedLink(NamedTuple):
    """A link and its target."""

    link: Link
    target_kind: TargetKind
    path: str = ""
    """The path of the target, existing or not, relative to the memory."""


PathsByName = Mapping[str, Sequence[str]]
"""The ordered paths of the files with a name, by the name."""


@dataclass(frozen=True, eq=False)
class Names:
    """The names of a memory's files."""

    paths: frozenset[str]
    """The paths of the markdown files, relative to the memory."""
    others: frozenset[str]
    """The paths of other files, and of folders."""
    skipped: frozenset[str]
    """The paths in the memory that are not read."""
    by_name: PathsByName
    by_stem: PathsByName
    by_alias: PathsByName
    """Folded."""
    by_fold: PathsByName
    """Names and stems, folded."""
    source_folder: str = ""
    """The top folder of raw sources: a page comes before a source of the same name."""
    prefixes: frozenset[str] = frozenset()
    """The beginnings of links that mean the memory itself, as `ru/` in `[[ru/pages/tides]]` in the
    wiki of the folder `wiki-ru`, `/` in `[tides](/pages/tides.md)`, or `/docs/memory/` in
    `[tides](/docs/memory/tides.md)`, the path from the root of its project.
    """
    by_heading: PathsByName = field(default_factory=dict)
    """By the keys of headings, where links are written as headings; else empty."""
    are_files_first: bool = False
    """Whether a link means the file of that name before a note of that title, as in Obsidian."""

    def resolve(self, source: str, link: Link) -> ResolvedLink:
        """Return the target of `link` in the file at path `source`.

        Wikilinks: exact name and exact stem, in the order of the kind of memory, path, alias, then
        with `-`, `_`, blanks and case folded (formats of Claude Code and of Obsidian-style wikis).
        Markdown links: the path relative to their file, then relative to the memory.
        """
        if not link.target:
            return ResolvedLink(link, TargetKind.EXTERNAL)
        return self._wikilink(source, link) if link.is_wikilink else self._path_link(source, link)

    def with_changes(self, removed: Iterable[Note], added: Iterable[Note]) -> Names:
        """Return these names without those of the files `removed`, and with those of `added`."""
        paths = set(self.paths)
        tables = [
            dict(table) for table in (self.by_name, self.by_stem, self.by_alias, self.by_fold)
        ]
        for file in removed:
            paths.discard(file.path)
            for table, keys in zip(tables, _keys(file), strict=True):
                for key in keys:
                    others = [path for path in table[key] if path != file.path]
                    if others:
                        table[key] = others
                    else:
                        del table[key]
        for file in added:
            paths.add(file.path)
            for table, keys in zip(tables, _keys(file), strict=True):
                for key in keys:
                    table[key] = sorted((*table.get(key, ()), file.path))
        by_name, by_stem, by_alias, by_fold = tables
        return replace(
            self,
            paths=frozenset(paths),
            by_name=by_name,
            by_stem=by_stem,
            by_alias=by_alias,
            by_fold=by_fold,
        )

    def count_prefixes(self, source: str, links: Iterable[Link]) -> PrefixCounts:
        """Return for each beginning of `links` in the file at path `source` that is no folder of
        the memory: how many have it, and how many of them lead to a note without it only.
        """
        counts: dict[str, tuple[int, int]] = {}
        for link in links:
            for prefix in self._list_prefixes(link):
                bare = link._replace(target=link.target.removeprefix(prefix))
                as_written, without = (self.resolve(source, it).target_kind for it in (link, bare))
                leads = without is TargetKind.NOTE and as_written is not TargetKind.NOTE
                all_links, leading = counts.get(prefix, (0, 0))
                counts[prefix] = all_links + 1, leading + leads
        return counts

    def _list_prefixes(self, link: Link) -> Iterator[str]:
        target = link.target
        is_relative = target.startswith(("./", "../", "~", "\\"))
        if "/" not in target or is_relative or (is_external(target) and target[0] != "/"):
            return
        end = -1
        if target[0] == "/":
            if link.is_wikilink or target[-3:].lower() != ".md":
                return
            yield ROOT
            end = 0
        for _ in range(_MOST_PARTS):
            end = target.find("/", end + 1)
            if end < 0 or target[:end] in self.others:
                return
            yield target[: end + 1]

    def find_by_name(self, name: str) -> tuple[str, ...]:
        """Return the paths of the files with the name or stem `name`, else with the same folded
        name or alias.
        """
        same, fold = normalize(name), fold_name(name)
        exact = (*self.by_name.get(same, ()), *self.by_stem.get(same, ()))
        paths = exact or (*self.by_fold.get(fold, ()), *self.by_alias.get(fold, ()))
        return tuple(dict.fromkeys(paths))

    def list_named(self, link: Link) -> frozenset[str]:
        """Return the paths of the files whose name or stem is the target of a wikilink: `resolve`
        takes one of them, but the link may mean any.
        """
        if not link.is_wikilink:
            return frozenset()
        name = normalize(self._without_prefix(link.target))
        return frozenset((*self.by_name.get(name, ()), *self.by_stem.get(name, ())))

    def _wikilink(self, source: str, link: Link) -> ResolvedLink:
        target = self._without_prefix(link.target)
        bare = target[:-3] if target[-3:].lower() == ".md" else target
        same = normalize(bare)
        tables = (self.by_name, self.by_stem)
        for table in reversed(tables) if self.are_files_first else tables:
            if exact := table.get(same):
                return ResolvedLink(link, TargetKind.NOTE, self._nearest(source, exact))
        if "/" in target:
            resolved = self._path_link_as_written(source, link._replace(target=bare + ".md"))
            if resolved.target_kind is not TargetKind.MISSING:
                return ResolvedLink(link, resolved.target_kind, resolved.path)
            if below := self._find_below(bare):
                return ResolvedLink(link, TargetKind.NOTE, self._nearest(source, below))
        fold = fold_name(bare)
        if alike := self.by_alias.get(fold) or self.by_fold.get(fold):
            return ResolvedLink(link, TargetKind.NOTE, self._nearest(source, alike))
        if titled := self.by_heading.get(fold):
            return ResolvedLink(link, TargetKind.NOTE, self._nearest(source, titled))
        if path := self._find_other(target):
            return ResolvedLink(link, TargetKind.FILE, path)
        return ResolvedLink(link, TargetKind.MISSING, bare)

    def _find_other(self, target: str) -> str:
        """Return the path of the file that is no note and that a wikilink means: by its path, else,
        as Obsidian finds it, by its name in any folder; "" where there is none.
        """
        for path in (target, *(target + ending for ending in _UNNAMED_ENDINGS)):
            if path in self.others:
                return path
            named = self._others_by_name.get(posixpath.basename(path), ())
            if below := [it for it in named if it.endswith(f"/{path}")]:
                return min(below)
        return ""

    @cached_property
    def _others_by_name(self) -> Mapping[str, Sequence[str]]:
        """The paths of the files that are no notes, by their names, which have an ending; also of
        those that are hidden or not read.
        """
        by_name: dict[str, list[str]] = {}
        for path in (*self.others, *self.skipped):
            name = posixpath.basename(path)
            if "." in name:
                by_name.setdefault(name, []).append(path)
        return by_name

    def _find_below(self, target: str) -> list[str]:
        """Return the paths of the files whose last folders and name are those of `target`, as
        Obsidian finds them; else but for case, `-`, `_` and blanks, as for a name without folder.
        """
        name = target.rpartition("/")[2]
        end = f"/{target}.md"
        named = self.by_stem.get(normalize(name), ())
        if exact := [path for path in named if path.endswith(end)]:
            return exact
        fold = fold_name(end)
        alike = self.by_fold.get(fold_name(name), ())
        return [path for path in alike if fold_name(f"/{path}").endswith(fold)]

    def _without_prefix(self, target: str) -> str:
        """Return the target of a link without the longest prefix that means the memory itself."""
        if not self.prefixes:
            return target
        meant = (prefix for prefix in self.prefixes if target.startswith(prefix))
        return target.removeprefix(max(meant, key=len, default=""))

    def _nearest(self, source: str, candidates: Sequence[str]) -> str:
        """Return the candidate in the folder of `source`, else a page before a raw source: that in
        the fewest folders, the first by path.
        """
        if len(candidates) == 1:
            return candidates[0]
        folder = posixpath.dirname(source)
        raw = f"{self.source_folder}/" if self.source_folder else "/"

        def rank(path: str) -> tuple[bool, bool, int, str]:
            is_beside = posixpath.dirname(path) == folder
            return not is_beside, path.startswith(raw), path.count("/"), path

        return min(candidates, key=rank)

    def _path_link(self, source: str, link: Link) -> ResolvedLink:
        target = link.target
        if self.prefixes and (bare := self._without_prefix(target)) != target:
            resolved = self._path_link_as_written(source, link._replace(target=bare))
            # the whole path of the memory, which is no folder in it, can mean nothing else
            is_of_memory = target[0] == "/" and f"/{bare}" != target
            is_there = resolved.target_kind in (TargetKind.NOTE, TargetKind.FILE)
            if is_there or is_of_memory:
                return ResolvedLink(link, resolved.target_kind, resolved.path)
        return self._path_link_as_written(source, link)

    def _path_link_as_written(self, source: str, link: Link) -> ResolvedLink:
        target = link.target
        if is_external(target):
            return ResolvedLink(link, TargetKind.EXTERNAL)
        if target.startswith(("/", "~", "\\")) or target.lower().startswith("file:"):
            markdown = target.lower().endswith(".md")
            return ResolvedLink(
                link, TargetKind.OUTSIDE if markdown else TargetKind.EXTERNAL, target
            )
        if target in self.paths and "/" not in source:
            return ResolvedLink(link, TargetKind.NOTE, target)
        from_source = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        from_root = posixpath.normpath(target)
        for path in (from_source, from_root):
            target_at_path = self._find_target(path)
            if target_at_path:
                return ResolvedLink(link, *target_at_path)
        if "\\" in target:
            # as paths are written on Windows
            resolved = self._path_link_as_written(
                source, link._replace(target=target.replace("\\", "/"))
            )
            if resolved.target_kind in (TargetKind.NOTE, TargetKind.FILE):
                return ResolvedLink(link, resolved.target_kind, resolved.path)
        if from_source.startswith("../") or from_source == "..":
            return ResolvedLink(link, TargetKind.OUTSIDE, from_source)
        return ResolvedLink(link, TargetKind.MISSING, from_source)

    def _find_target(self, path: str) -> tuple[TargetKind, str] | None:
        if path in self.paths:
            return TargetKind.NOTE, path
        if path in self.others or path == "." or self._is_unread(path):
            return TargetKind.FILE, path
        same = self._normal_paths.get(normalize(path))
        return (TargetKind.NOTE, same) if same else None

    def _is_unread(self, path: str) -> bool:
        """Return whether `path`, or a folder above it, is not read."""
        while path and path not in self.skipped:
            path = path.rpartition("/")[0]
        return bool(path)

    @cached_property
    def _normal_paths(self) -> Mapping[str, str]:
        return {normalize(path): path for path in self.paths if not path.isascii()}


PrefixCounts = Mapping[str, tuple[int, int]]
"""By the beginning of links: how many have it, and how many of them lead to a note without it."""


def choose_prefixes(counted: Iterable[PrefixCounts], root: str = "") -> frozenset[str]:
    """Return the prefixes without which nine of ten links that have them lead to a note, and no
    shorter one does. For the name of the memory's folder, whose path is `root`, and for the end of
    that path behind a `/`, one such link is enough: it means the memory even where most of its
    notes are gone.
    """
    totals: dict[str, tuple[int, int]] = {}
    for counts in counted:
        for prefix, (all_links, leading) in counts.items():
            before = totals.get(prefix, (0, 0))
            totals[prefix] = before[0] + all_links, before[1] + leading
    chosen: set[str] = set()
    for prefix, (all_links, leading) in sorted(totals.items()):
        is_longer = any(prefix.startswith(shorter) for shorter in chosen)
        is_meant = all_links >= _FEWEST_LINKS and leading >= _SHARE * all_links
        is_own = prefix != ROOT and f"{root}/".endswith(f"/{prefix.removeprefix(ROOT)}")
        if not is_longer and (is_meant or (leading and is_own)):
            chosen.add(prefix)
    return frozenset(chosen)


def list_heading_keys(file: Note) -> frozenset[str]:
    """Return the folded names by which a file may be linked where links are written as headings:
    its first heading, its type and name, as in `[[Concept: Tide tables]]`, and its folder and file
    name, as in `[[concept:tide-tables]]`.
    """
    names = [file.heading, f"{file.type}: {file.name}" if file.type else ""]
    if folder := posixpath.basename(posixpath.dirname(file.path)):
        names += (f"{kind}:{file.stem}" for kind in list_number_forms(folder.lower()))
    return frozenset(fold_name(name).removesuffix(".md") for name in names if name)


def list_number_forms(word: str) -> frozenset[str]:
    """Return a word in lower case and what its singular and its plural may be."""
    forms = {word, f"{word}s", f"{word}es", word[:-1] if word.endswith("s") else word}
    for singular, plural in (("y", "ies"), ("is", "es"), ("", "es")):
        if singular and word.endswith(singular):
            forms.add(word.removesuffix(singular) + plural)
        if word.endswith(plural):
            forms.add(word.removesuffix(plural) + singular)
    return frozenset(forms)


def choose_headings(
    missing: Iterable[Link], headings: Mapping[str, frozenset[str]]
) -> dict[str, tuple[str, ...]]:
    """Return the paths by each key of `headings`, which are by path, where some of the wikilinks
    that are `missing` a file are written as headings; {} otherwise.
    """
    targets = {fold_name(it.target).removesuffix(".md") for it in missing if it.is_wikilink}
    by_heading: dict[str, tuple[str, ...]] = {}
    for path, keys in headings.items():
        for key in keys:
            by_heading[key] = (*by_heading.get(key, ()), path)
    return by_heading if len(targets & by_heading.keys()) >= _FEWEST_LINKS else {}


def build_names(
    files: Iterable[Note],
    others: frozenset[str],
    unread: frozenset[str],
    source_folder: str = "",
    *,
    are_files_first: bool = False,
) -> Names:
    """Return the names of the markdown `files` and of the other paths in the memory."""
    paths: list[str] = []
    by_name: dict[str, list[str]] = {}
    by_stem: dict[str, list[str]] = {}
    by_alias: dict[str, list[str]] = {}
    by_fold: dict[str, list[str]] = {}
    for file in files:
        path = file.path
        paths.append(path)
        names, stems, alias_keys, folds = _keys(file)
        by_name.setdefault(names[0], []).append(path)
        by_stem.setdefault(stems[0], []).append(path)
        for fold in folds:
            by_fold.setdefault(fold, []).append(path)
        for fold in alias_keys:
            by_alias.setdefault(fold, []).append(path)
    return Names(
        frozenset(paths),
        others,
        unread,
        by_name,
        by_stem,
        by_alias,
        by_fold,
        source_folder,
        are_files_first=are_files_first,
    )


def _keys(file: Note) -> tuple[Sequence[str], Sequence[str], Collection[str], Collection[str]]:
    """Return the keys of a file in the tables: its name, its stem, its folded aliases, its folded
    name and stem.
    """
    name, stem = file.name, file.stem
    alias_keys = {fold_name(alias) for alias in list_aliases(file)}
    return (normalize(name),), (normalize(stem),), alias_keys, {fold_name(name), fold_name(stem)}


def list_keys_of_file(file: Note) -> set[str]:
    """Return the folded names by which a link can refer to `file`."""
    _, _, alias_keys, folds = _keys(file)
    return {*alias_keys, *folds}


def list_keys_of_link(link: Link) -> set[str]:
    """Return the folded names to which `link` can refer: its target can change only if a file
    with one of these names is added, removed or renamed.
    """
    if link.is_wikilink:
        bare = get_stem(link.target) if "/" not in link.target else link.target.removesuffix(".md")
        return {fold_name(bare), fold_name(bare.rpartition("/")[2])}
    return {fold_name(get_stem(posixpath.normpath(link.target)))}


def has_same_names(one: Note, other: Note) -> bool:
    """Return whether two versions of a file have the same path, name and aliases."""
    return (one.path, one.name, list_aliases(one)) == (other.path, other.name, list_aliases(other))


def list_aliases(file: Note) -> tuple[str, ...]:
    """Return the aliases in a file's frontmatter."""
    return file.frontmatter.get_list("aliases") if "aliases" in file.frontmatter.fields else ()


def normalize(text: str) -> str:
    """Return `text` in Unicode's composed form (NFC), for comparing names."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def fold_name(text: str) -> str:
    """Return `text` with case, `-`, `_` and blanks folded, for matching wikilinks, and no blanks at
    its ends, where links have none.
    """
    return normalize(text).strip().casefold().replace("_", "-").replace(" ", "-")
