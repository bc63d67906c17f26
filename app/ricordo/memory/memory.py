"""A memory, read whole: one immutable value with its notes, indexes and links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from ricordo.memory.index import Entry, MemoryIndex, read_index
from ricordo.memory.layout import FileRole, Layout
from ricordo.memory.links import Link
from ricordo.memory.load import Load, compute_load
from ricordo.memory.names import (
    Leads,
    Names,
    Resolved,
    called_by,
    is_called_the_same,
    meant_by,
    names_of,
)
from ricordo.memory.note import Note

_NAMING_KEYS = ("sources", "related", "origin", "inventory", "derived_from")
"""Fields of a head that name other files."""
_NAMING = frozenset(_NAMING_KEYS)
_FEW = 500
"""Changed files, up to which what was derived from the memory before is taken over."""


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """Something in the memory's directory that is not read."""

    path: str
    reason: str
    leads_out: bool = False
    """Whether it is a symbolic link that leads out of the memory."""
    is_live_link: bool = False
    """Whether it is a symbolic link by which one gets somewhere."""


# without a repr of all its notes: Textual takes one of whatever a worker is given
@dataclass(frozen=True, eq=False, repr=False)
class Memory:
    """Everything that stands in one memory directory at one moment."""

    root: str
    """Absolute path of the directory."""
    layout: Layout
    files: tuple[Note, ...]
    """Every markdown file, indexes and logs too, ordered by path."""
    others: frozenset[str] = frozenset()
    """Paths of the files that are no markdown, and of the folders."""
    skipped: tuple[SkippedFile, ...] = ()

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """The notes and raw sources: what is judged, counted and recalled."""
        return tuple(file for file in self.files if file.role in (FileRole.NOTE, FileRole.SOURCE))

    @cached_property
    def types(self) -> tuple[str, ...]:
        """The types that the notes have, sorted."""
        return tuple(sorted({note.type for note in self.notes if note.type}))

    @cached_property
    def by_path(self) -> Mapping[str, Note]:
        """Every markdown file by its path."""
        return {file.path: file for file in self.files}

    @cached_property
    def indexes(self) -> tuple[MemoryIndex, ...]:
        """The indexes, that of the memory itself first."""
        found = [read_index(file) for file in self.files if file.role is FileRole.INDEX]
        return tuple(sorted(found, key=lambda index: (index.path.count("/"), index.path)))

    @property
    def index(self) -> MemoryIndex | None:
        """The index of the memory itself; None where there is none."""
        return self.indexes[0] if self.indexes else None

    @cached_property
    def load(self) -> Load:
        """What an agent is given of the index at session start."""
        return compute_load(self.index.note.text if self.index else "", self.layout.limits)

    @cached_property
    def size(self) -> int:
        """Bytes of all markdown files."""
        return sum(file.facts.size for file in self.files)

    @cached_property
    def names(self) -> Names:
        """What the files are called, and where links lead."""
        unread = frozenset(it.path for it in self.skipped)
        return names_of(self.files, self.others, unread)

    @cached_property
    def links(self) -> Mapping[str, tuple[Resolved, ...]]:
        """The links of every file, by its path."""
        resolve = self.names.resolve
        return {
            file.path: tuple([resolve(file.path, link) for link in file.links])
            for file in self.files
            if file.links
        }

    @cached_property
    def astray(self) -> Mapping[str, tuple[Resolved, ...]]:
        """Of every file that has any, the links that lead to no file, by its path."""
        return {path: them for path, links in self.links.items() if (them := _astray(links))}

    @cached_property
    def backlinks(self) -> Mapping[str, tuple[str, ...]]:
        """For every file the sorted paths of the files that lead to it, indexes among them."""
        found: dict[str, dict[str, None]] = {}
        for source, resolved in self.links.items():
            for link in resolved:
                if link.leads is Leads.NOTE and link.path != source:
                    found.setdefault(link.path, {})[source] = None
        for file in self.files:
            for path in self.named_in_head(file):
                if path != file.path:
                    found.setdefault(path, {})[file.path] = None
        return {path: tuple(sorted(sources)) for path, sources in found.items()}

    @cached_property
    def entries(self) -> Mapping[str, tuple[tuple[MemoryIndex, Entry], ...]]:
        """For every note the entries that point to it."""
        found: dict[str, list[tuple[MemoryIndex, Entry]]] = {}
        for index in self.indexes:
            for entry in index.entries:
                resolved = self.target(index, entry)
                if resolved.leads is Leads.NOTE:
                    found.setdefault(resolved.path, []).append((index, entry))
        return {path: tuple(entries) for path, entries in found.items()}

    def target(self, index: MemoryIndex, entry: Entry) -> Resolved:
        """Return where an entry of `index` points."""
        return self._targets[index.path][entry.link.start]

    @cached_property
    def _targets(self) -> Mapping[str, Mapping[int, Resolved]]:
        """The links of the indexes by where they stand."""
        return {
            index.path: {found.link.start: found for found in self.links.get(index.path, ())}
            for index in self.indexes
        }

    def derive(self) -> Memory:
        """Derive now what a screen needs, so that it is done in the thread that reads; return
        this memory.
        """
        _ = (self.load, self.entries, self.backlinks, self.types)
        return self

    def with_files(self, changed: Mapping[str, Note | None]) -> Memory:
        """Return this memory with some files replaced or added, and those that are None gone."""
        files = {**self.by_path, **changed}
        kept = sorted((file for file in files.values() if file), key=lambda file: file.path)
        memory = replace(self, files=tuple(kept))
        if not any(self._is_index(path, file) for path, file in changed.items()):
            memory.__dict__.update(indexes=self.indexes, load=self.load)
        if len(changed) <= _FEW:
            memory._carry_over(self, changed)
        return memory

    def _is_index(self, path: str, file: Note | None) -> bool:
        file = file or self.by_path.get(path)
        return file is not None and file.role is FileRole.INDEX

    def _carry_over(self, before: Memory, changed: Mapping[str, Note | None]) -> None:
        """Take what was derived from `before` and still holds: at 10,000 notes deriving it anew
        takes as long as reading them.
        """
        renamed = {
            path: (before.by_path.get(path), file)
            for path, file in changed.items()
            if not before._is_called_as_before(path, file)
        }
        gone = [old for old, _ in renamed.values() if old is not None]
        come = [new for _, new in renamed.values() if new is not None]
        self.__dict__["names"] = before.names.with_changes(gone, come) if renamed else before.names
        links, astray = dict(before.links), dict(before.astray)
        elsewhere = before._files_that_mean([*gone, *come]) if renamed else set()
        for path in elsewhere | changed.keys():
            links.pop(path, None)
            astray.pop(path, None)
            file = self.by_path.get(path)
            if file is not None and file.links:
                links[path] = tuple(self.resolve(file, link) for link in file.links)
                if them := _astray(links[path]):
                    astray[path] = them
        self.__dict__.update(links=links, astray=astray)
        if "_sources" in before.__dict__:
            self.__dict__["_sources"] = before._sources_after(changed)
        if not renamed:
            self.__dict__["backlinks"] = self._backlinks_after(before, changed)
            if "indexes" in self.__dict__:
                self.__dict__["entries"] = before.entries

    def _backlinks_after(
        self, before: Memory, changed: Iterable[str]
    ) -> Mapping[str, tuple[str, ...]]:
        backlinks = dict(before.backlinks)
        for source in changed:
            led, leads = before._led_to(source), self._led_to(source)
            for path in led ^ leads:
                sources = {*backlinks.get(path, ())} ^ {source}
                backlinks[path] = tuple(sorted(sources))
                if not sources:
                    del backlinks[path]
        return backlinks

    def _led_to(self, source: str) -> set[str]:
        """Return the paths of the other files to which the file at `source` leads."""
        links = self.links.get(source, ())
        linked = {found.path for found in links if found.leads is Leads.NOTE}
        return (linked | {*self.named_in_head(self.by_path[source])}) - {source}

    def _is_called_as_before(self, path: str, file: Note | None) -> bool:
        before = self.by_path.get(path)
        return file is not None and before is not None and is_called_the_same(before, file)

    def _files_that_mean(self, files: Iterable[Note]) -> set[str]:
        """Return the paths of the files with a link that may mean one of `files`."""
        keys = {key for file in files for key in called_by(file)}
        return {path for key in keys for path in self._sources.get(key, ())}

    @cached_property
    def _sources(self) -> Mapping[str, frozenset[str]]:
        """The paths of the files with links, by what the links may mean."""
        found: dict[str, set[str]] = {}
        for file in self.files:
            for key in _meant_in(file):
                found.setdefault(key, set()).add(file.path)
        return {key: frozenset(paths) for key, paths in found.items()}

    def _sources_after(self, changed: Mapping[str, Note | None]) -> Mapping[str, frozenset[str]]:
        sources = dict(self._sources)
        for path, file in changed.items():
            before = self.by_path.get(path)
            for key in _meant_in(before) if before is not None else ():
                sources[key] -= {path}
            for key in _meant_in(file) if file is not None else ():
                sources[key] = sources.get(key, frozenset()) | {path}
        return sources

    def resolve(self, source: Note, link: Link) -> Resolved:
        """Return where `link`, standing in `source`, leads."""
        return self.names.resolve(source.path, link)

    def named_in_head(self, file: Note) -> list[str]:
        """Return the paths of the files that a head names as sources or relations, as wikis do."""
        return [found.path for found in self.head_items(file) if found.leads is Leads.NOTE]

    def head_items(self, file: Note) -> list[Resolved]:
        """Return what a head names as sources or relations, and where that leads; the label of
        such a link is the item as it is written.
        """
        fields = file.head.fields
        if _NAMING.isdisjoint(fields):
            return []
        return [
            self.resolve(file, head_link(text))
            for key in _NAMING_KEYS
            if key in fields
            for text in file.head.texts(key)
        ]


def _astray(links: Iterable[Resolved]) -> tuple[Resolved, ...]:
    return tuple([found for found in links if found.leads not in (Leads.NOTE, Leads.FILE)])


def _meant_in(file: Note) -> set[str]:
    """Return, folded, everything that the links of a file may mean."""
    return {key for link in file.links for key in meant_by(link)}


def head_link(item: str) -> Link:
    """Return the link that an item of a head's list is."""
    return Link(item.strip("[]"), "", item, 1, 0, 0, "/" not in item)
