"""A memory as one immutable value, with its notes, indexes and links."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from ricordo.memory.index import Entry, Load, MemoryIndex, compute_load, read_index
from ricordo.memory.layout import FileRole, Layout
from ricordo.memory.links import Link
from ricordo.memory.names import (
    Names,
    PrefixCounts,
    ResolvedLink,
    TargetKind,
    build_names,
    choose_headings,
    choose_prefixes,
    has_same_names,
    list_heading_keys,
    list_keys_of_file,
    list_keys_of_link,
)
from ricordo.memory.note import Note

_NAMING_KEYS = ("sources", "related", "origin", "inventory", "derived_from")
"""Frontmatter fields that name other files."""
_NAMING = frozenset(_NAMING_KEYS)
_T = TypeVar("_T")
_FEW = 500
"""Changed files, up to which derived values are carried over from the memory before."""


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file in the memory's directory that is not read."""

    path: str
    reason: str
    is_outside_link: bool = False
    """Whether it is a symbolic link to a target outside the memory."""
    is_live_link: bool = False
    """Whether it is a symbolic link whose target exists."""
    target: str = ""
    """The absolute path to which a symbolic link resolves; "" for other files."""


# no repr of all its notes: Textual takes the repr of every worker argument
@dataclass(frozen=True, eq=False, repr=False)
class Memory:
    """The contents of one memory directory at one moment."""

    root: str
    """Absolute path of the directory."""
    layout: Layout
    files: tuple[Note, ...]
    """Every markdown file, indexes and logs too, ordered by path."""
    others: frozenset[str] = frozenset()
    """Paths of the files that are not markdown, and of the folders."""
    skipped: tuple[SkippedFile, ...] = ()
    hidden: frozenset[str] = frozenset()
    """Paths of the files and folders that are not looked into, for they are hidden or backups: a
    link to one leads to a file.
    """

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """The notes and raw sources, which are checked, counted and recalled."""
        return tuple(file for file in self.files if file.role in (FileRole.NOTE, FileRole.SOURCE))

    @cached_property
    def types(self) -> tuple[str, ...]:
        """The types of the notes, sorted."""
        return tuple(sorted({note.type for note in self.notes if note.type}))

    @cached_property
    def by_path(self) -> Mapping[str, Note]:
        """Every markdown file by its path."""
        return {file.path: file for file in self.files}

    @cached_property
    def indexes(self) -> tuple[MemoryIndex, ...]:
        """The indexes, that of the top folder first."""
        indexes = [read_index(file) for file in self.files if file.role is FileRole.INDEX]
        return tuple(sorted(indexes, key=lambda index: (index.path.count("/"), index.path)))

    @property
    def index(self) -> MemoryIndex | None:
        """The first index; None if there is none."""
        return self.indexes[0] if self.indexes else None

    @cached_property
    def load(self) -> Load:
        """The part of the index that an agent receives at session start."""
        return compute_load(self.index.note.text if self.index else "", self.layout.limits)

    @cached_property
    def size(self) -> int:
        """Bytes of all markdown files."""
        return sum(file.facts.size for file in self.files)

    @cached_property
    def names(self) -> Names:
        """The names of the files, by which links are resolved as this memory writes them."""
        names = self._names
        if self._missing:
            missing = (it.link for links in self._missing.values() for it in links)
            if by_heading := choose_headings(missing, self._headings):
                return replace(names, by_heading=by_heading)
        return names

    @cached_property
    def links(self) -> Mapping[str, tuple[ResolvedLink, ...]]:
        """The resolved links of every file that has any, by its path."""
        if self.names is self._names:
            return self._links_by_name
        resolve = self.names.resolve
        by_heading = {
            path: tuple([resolve(path, it.link) for it in self._links_by_name[path]])
            for path in self._missing
        }
        return {**self._links_by_name, **by_heading}

    @cached_property
    def _names(self) -> Names:
        """The names of the files without their headings."""
        return replace(self._plain_names, prefixes=self._choose_prefixes(self._prefix_counts))

    def _choose_prefixes(self, counts: Mapping[str, PrefixCounts]) -> frozenset[str]:
        given = self.layout.link_prefixes
        if given is not None:
            return frozenset(given)
        return choose_prefixes(counts.values(), self.root)

    @cached_property
    def _plain_names(self) -> Names:
        """The names of the files, by which links are resolved as they are written."""
        unread = self.hidden.union(file.path for file in self.skipped)
        layout = self.layout
        return build_names(
            self.files,
            self.others,
            unread,
            layout.source_folder,
            # `name` is what notes are linked by, a title is what is shown
            are_files_first=layout.title_keys[0] != "name",
        )

    @cached_property
    def _prefix_counts(self) -> Mapping[str, PrefixCounts]:
        """The beginnings of the links of each file that may be prefixes, by its path."""
        count = self._plain_names.count_prefixes
        return {
            file.path: counts
            for file in self.files
            if file.links and (counts := count(file.path, file.links))
        }

    @cached_property
    def _links_by_name(self) -> Mapping[str, tuple[ResolvedLink, ...]]:
        """The links of every file that has any, resolved without headings, by its path."""
        resolve = self._names.resolve
        return {
            file.path: tuple([resolve(file.path, link) for link in file.links])
            for file in self.files
            if file.links
        }

    @cached_property
    def _missing(self) -> Mapping[str, tuple[ResolvedLink, ...]]:
        """The wikilinks without a file by its name, by the path of the file that has them."""
        return {
            path: missing
            for path, links in self._links_by_name.items()
            if (missing := _missing_wikilinks(links))
        }

    @cached_property
    def _headings(self) -> Mapping[str, frozenset[str]]:
        """The keys by heading of every file, by its path."""
        return {file.path: list_heading_keys(file) for file in self.files}

    @cached_property
    def links_without_file(self) -> Mapping[str, tuple[ResolvedLink, ...]]:
        """The links without a file as their target, by the path of the file that has them."""
        return {
            path: missing for path, links in self.links.items() if (missing := _without_file(links))
        }

    @cached_property
    def backlinks(self) -> Mapping[str, tuple[str, ...]]:
        """For every linked file the sorted paths of the files that link to it, indexes included."""
        backlinks: dict[str, dict[str, None]] = {}
        for source, resolved in self.links.items():
            for link in resolved:
                if link.target_kind is TargetKind.NOTE and link.path != source:
                    backlinks.setdefault(link.path, {})[source] = None
        for file in self.files:
            for path in self.named_in_frontmatter(file):
                if path != file.path:
                    backlinks.setdefault(path, {})[file.path] = None
        return {path: tuple(sorted(sources)) for path, sources in backlinks.items()}

    @cached_property
    def entries(self) -> Mapping[str, tuple[tuple[MemoryIndex, Entry], ...]]:
        """For every listed note the entries that point to it, with their indexes."""
        entries: dict[str, list[tuple[MemoryIndex, Entry]]] = {}
        for index in self.indexes:
            for entry in index.entries:
                resolved = self.resolve_entry(index, entry)
                if resolved.target_kind is TargetKind.NOTE:
                    entries.setdefault(resolved.path, []).append((index, entry))
        return {path: tuple(pairs) for path, pairs in entries.items()}

    def resolve_entry(self, index: MemoryIndex, entry: Entry) -> ResolvedLink:
        """Return the resolved link of an entry of `index`."""
        return self._targets[index.path][entry.link.start]

    @cached_property
    def _targets(self) -> Mapping[str, Mapping[int, ResolvedLink]]:
        """The links of every index by their offset."""
        return {
            index.path: {link.link.start: link for link in self.links.get(index.path, ())}
            for index in self.indexes
        }

    def precompute(self) -> Memory:
        """Compute in the calling thread the derived values that a screen needs; return this
        memory.
        """
        _ = (self.load, self.entries, self.backlinks, self.types)
        return self

    def with_files(self, changed: Mapping[str, Note | None]) -> Memory:
        """Return this memory with files replaced or added, by path; None removes a file."""
        by_path = {**self.by_path, **changed}
        files = sorted((file for file in by_path.values() if file), key=lambda file: file.path)
        memory = replace(self, files=tuple(files))
        if not any(self._is_index(path, file) for path, file in changed.items()):
            memory.__dict__.update(indexes=self.indexes, load=self.load)
        if len(changed) <= _FEW:
            memory._carry_over(self, changed)
        return memory

    def _is_index(self, path: str, file: Note | None) -> bool:
        file = file or self.by_path.get(path)
        return file is not None and file.role is FileRole.INDEX

    def _carry_over(self, before: Memory, changed: Mapping[str, Note | None]) -> None:
        """Carry over derived values of `before` that are still valid: for 10,000 notes computing
        them again takes as long as reading them.
        """
        renamed = {
            path: (before.by_path.get(path), file)
            for path, file in changed.items()
            if not before._is_called_as_before(path, file)
        }
        removed = [old for old, _ in renamed.values() if old is not None]
        added = [new for _, new in renamed.values() if new is not None]
        plain = before._plain_names
        plain = plain.with_changes(removed, added) if renamed else plain
        affected = before._find_sources([*removed, *added]) if renamed else set()
        again = affected | changed.keys()
        counts = self._update(before._prefix_counts, again, plain.count_prefixes)
        prefixes = self._choose_prefixes(counts)
        if other := prefixes ^ before._names.prefixes:
            # a habit of writing links began or ended: it changes what links mean in other files
            again |= {path for path, of_file in counts.items() if other & of_file.keys()}
            again |= {
                path for path, of_file in before._prefix_counts.items() if other & of_file.keys()
            }
        names = before._names if not renamed and not other else replace(plain, prefixes=prefixes)
        links = self._update(before._links_by_name, again, _resolve_all(names))
        self.__dict__.update(
            _plain_names=plain, _prefix_counts=counts, _names=names, _links_by_name=links
        )
        missing = dict(before._missing)
        for path in again:
            missing.pop(path, None)
            if of_file := _missing_wikilinks(links.get(path, ())):
                missing[path] = of_file
        self.__dict__["_missing"] = missing
        if "_headings" in before.__dict__:
            self.__dict__["_headings"] = self._update_headings(before, changed)
        if "_sources" in before.__dict__:
            self.__dict__["_sources"] = before._sources_after(changed)
        if before.names.by_heading or self.names.by_heading:
            return
        astray = dict(before.links_without_file)
        for path in again:
            astray.pop(path, None)
            if of_file := _without_file(links.get(path, ())):
                astray[path] = of_file
        self.__dict__["links_without_file"] = astray
        if not renamed and not other:
            self.__dict__["backlinks"] = self._backlinks_after(before, changed)
            if "indexes" in self.__dict__:
                self.__dict__["entries"] = before.entries

    def _update(
        self,
        before: Mapping[str, _T],
        paths: Iterable[str],
        compute: Callable[[str, Sequence[Link]], _T],
    ) -> dict[str, _T]:
        """Return `before` with what `compute` returns for the links of the files at `paths`."""
        values = dict(before)
        for path in paths:
            values.pop(path, None)
            file = self.by_path.get(path)
            if file is not None and file.links and (value := compute(path, file.links)):
                values[path] = value
        return values

    def _update_headings(
        self, before: Memory, changed: Mapping[str, Note | None]
    ) -> Mapping[str, frozenset[str]]:
        headings = dict(before._headings)
        for path, file in changed.items():
            headings.pop(path, None)
            if file is not None:
                headings[path] = list_heading_keys(file)
        return headings

    def _backlinks_after(
        self, before: Memory, changed: Iterable[str]
    ) -> Mapping[str, tuple[str, ...]]:
        backlinks = dict(before.backlinks)
        for source in changed:
            for path in before._linked_paths(source) ^ self._linked_paths(source):
                sources = {*backlinks.get(path, ())} ^ {source}
                backlinks[path] = tuple(sorted(sources))
                if not sources:
                    del backlinks[path]
        return backlinks

    def _linked_paths(self, source: str) -> set[str]:
        """Return the paths of the other files to which the file at `source` links."""
        links = self.links.get(source, ())
        linked = {link.path for link in links if link.target_kind is TargetKind.NOTE}
        return (linked | {*self.named_in_frontmatter(self.by_path[source])}) - {source}

    def _is_called_as_before(self, path: str, file: Note | None) -> bool:
        before = self.by_path.get(path)
        return file is not None and before is not None and has_same_names(before, file)

    def _find_sources(self, files: Iterable[Note]) -> set[str]:
        """Return the paths of the files with a link that may refer to one of `files`."""
        keys = {key for file in files for key in list_keys_of_file(file)}
        return {path for key in keys for path in self._sources.get(key, ())}

    @cached_property
    def _sources(self) -> Mapping[str, frozenset[str]]:
        """The paths of the files with links, by the folded names that the links may refer to."""
        sources: dict[str, set[str]] = {}
        for file in self.files:
            for key in _keys_of_links(file):
                sources.setdefault(key, set()).add(file.path)
        return {key: frozenset(paths) for key, paths in sources.items()}

    def _sources_after(self, changed: Mapping[str, Note | None]) -> Mapping[str, frozenset[str]]:
        sources = dict(self._sources)
        for path, file in changed.items():
            before = self.by_path.get(path)
            for key in _keys_of_links(before) if before is not None else ():
                sources[key] -= {path}
            for key in _keys_of_links(file) if file is not None else ():
                sources[key] = sources.get(key, frozenset()) | {path}
        return sources

    def resolve(self, source: Note, link: Link) -> ResolvedLink:
        """Return the target of `link` in the file `source`."""
        return self.names.resolve(source.path, link)

    def named_in_frontmatter(self, file: Note) -> list[str]:
        """Return the paths of the files that the frontmatter names as sources or relations, as in
        wikis.
        """
        return [
            link.path
            for link in self.resolve_frontmatter_links(file)
            if link.target_kind is TargetKind.NOTE
        ]

    def resolve_frontmatter_links(self, file: Note) -> list[ResolvedLink]:
        """Return the resolved sources and relations in the frontmatter; the label of such a link
        is the item as written.
        """
        fields = file.frontmatter.fields
        if _NAMING.isdisjoint(fields):
            return []
        return [
            self.resolve(file, link_from_item(text))
            for key in _NAMING_KEYS
            if key in fields
            for text in file.frontmatter.get_list(key)
        ]


def _resolve_all(names: Names) -> Callable[[str, Sequence[Link]], tuple[ResolvedLink, ...]]:
    return lambda path, links: tuple([names.resolve(path, link) for link in links])


def _missing_wikilinks(links: Iterable[ResolvedLink]) -> tuple[ResolvedLink, ...]:
    return tuple(
        [it for it in links if it.target_kind is TargetKind.MISSING and it.link.is_wikilink]
    )


def _without_file(links: Iterable[ResolvedLink]) -> tuple[ResolvedLink, ...]:
    return tuple(
        [link for link in links if link.target_kind not in (TargetKind.NOTE, TargetKind.FILE)]
    )


def _keys_of_links(file: Note) -> set[str]:
    """Return the folded names that the links of a file may refer to."""
    return {key for link in file.links for key in list_keys_of_link(link)}


def link_from_item(item: str) -> Link:
    """Return an item of a frontmatter list as a link."""
    return Link(item.strip("[]"), "", item, 1, 0, 0, "/" not in item)
