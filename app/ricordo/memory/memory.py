"""A memory, read whole: one immutable value with its notes, indexes and links."""

from __future__ import annotations

import posixpath
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

from ricordo.memory.index import Entry, Index, read_index
from ricordo.memory.layout import Layout, Role
from ricordo.memory.links import Link, is_external
from ricordo.memory.load import Load, compute_load
from ricordo.memory.note import Note


class Leads(StrEnum):
    """Where a link leads."""

    NOTE = "note"
    FILE = "file"
    """A file or folder of the memory that is no note."""
    NOWHERE = "nowhere"
    OUTSIDE = "outside"
    AWAY = "away"
    """An address, a heading of the same note, or a path that is no business of the memory."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """A link and where it leads."""

    link: Link
    leads: Leads
    path: str = ""
    """The file that it leads to, or would lead to, relative to the memory."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something in the memory's directory that is not read."""

    path: str
    reason: str
    leads_out: bool = False
    """Whether it is a symbolic link that leads out of the memory."""


@dataclass(frozen=True, eq=False)
class Memory:
    """Everything that stands in one memory directory at one moment."""

    root: str
    """Absolute path of the directory."""
    layout: Layout
    files: tuple[Note, ...]
    """Every markdown file, indexes and logs too, ordered by path."""
    others: frozenset[str] = frozenset()
    """Paths of the files that are no markdown, and of the folders."""
    skipped: tuple[Skipped, ...] = ()

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """The notes and raw sources: what is judged, counted and recalled."""
        return tuple(file for file in self.files if file.role in (Role.NOTE, Role.SOURCE))

    @cached_property
    def by_path(self) -> Mapping[str, Note]:
        """Every markdown file by its path."""
        return {file.path: file for file in self.files}

    @cached_property
    def indexes(self) -> tuple[Index, ...]:
        """The indexes, that of the memory itself first."""
        found = [read_index(file) for file in self.files if file.role is Role.INDEX]
        return tuple(sorted(found, key=lambda index: (index.path.count("/"), index.path)))

    @property
    def index(self) -> Index | None:
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
    def names(self) -> Mapping[str, tuple[Note, ...]]:
        """Notes by the keys under which a wikilink may name them: `name:…`, `stem:…`, `fold:…`."""
        found: dict[str, list[Note]] = {}
        for file in self.files:
            name, stem = file.name, file.stem
            keys = {f"name:{normal(name)}", f"stem:{normal(stem)}", f"fold:{folded(name)}"}
            if stem != name:
                keys.add(f"fold:{folded(stem)}")
            keys.update(f"alias:{folded(text)}" for text in _aliases(file))
            for key in keys:
                found.setdefault(key, []).append(file)
        return {key: tuple(files) for key, files in found.items()}

    @cached_property
    def links(self) -> Mapping[str, tuple[Resolved, ...]]:
        """The links of every file, by its path."""
        return {
            file.path: tuple(self.resolve(file, link) for link in file.links)
            for file in self.files
            if file.links
        }

    @cached_property
    def backlinks(self) -> Mapping[str, tuple[str, ...]]:
        """For every file the paths of the files that lead to it, indexes among them."""
        found: dict[str, dict[str, None]] = {}
        for source, resolved in self.links.items():
            for link in resolved:
                if link.leads is Leads.NOTE and link.path != source:
                    found.setdefault(link.path, {})[source] = None
        for file in self.files:
            for path in self._named_in_head(file):
                if path != file.path:
                    found.setdefault(path, {})[file.path] = None
        return {path: tuple(sources) for path, sources in found.items()}

    @cached_property
    def entries(self) -> Mapping[str, tuple[tuple[Index, Entry], ...]]:
        """For every note the entries that point to it."""
        found: dict[str, list[tuple[Index, Entry]]] = {}
        for index in self.indexes:
            for entry in index.entries:
                resolved = self.resolve(index.note, entry.link)
                if resolved.leads is Leads.NOTE:
                    found.setdefault(resolved.path, []).append((index, entry))
        return {path: tuple(entries) for path, entries in found.items()}

    def with_files(self, changed: Mapping[str, Note | None]) -> Memory:
        """Return this memory with some files replaced or added, and those that are None gone."""
        files = {**self.by_path, **changed}
        kept = sorted((file for file in files.values() if file), key=lambda file: file.path)
        return replace(self, files=tuple(kept))

    def resolve(self, source: Note, link: Link) -> Resolved:
        """Return where `link`, standing in `source`, leads.

        Wikilinks: exact name, exact stem, path, alias, then with `-`, `_`, blanks and case folded
        (formats of Claude Code and of wikis in the manner of Obsidian). Markdown links: the path
        from the file in which they stand, then from the memory itself.
        """
        if not link.target:
            return Resolved(link, Leads.AWAY)
        return self._wikilink(source, link) if link.is_wikilink else self._path_link(source, link)

    def _wikilink(self, source: Note, link: Link) -> Resolved:
        target = link.target
        bare = target[:-3] if target[-3:].lower() == ".md" else target
        same = normal(bare)
        for key in (f"name:{same}", f"stem:{same}"):
            if key in self.names:
                return Resolved(link, Leads.NOTE, self._nearest(source, self.names[key]))
        if "/" in target:
            found = self._path_link(source, link._replace(target=bare + ".md"))
            if found.leads is not Leads.NOWHERE:
                return Resolved(link, found.leads, found.path)
        for key in (f"alias:{folded(bare)}", f"fold:{folded(bare)}"):
            if key in self.names:
                return Resolved(link, Leads.NOTE, self._nearest(source, self.names[key]))
        if target in self.others:
            return Resolved(link, Leads.FILE, target)
        return Resolved(link, Leads.NOWHERE, bare)

    def _nearest(self, source: Note, candidates: tuple[Note, ...]) -> str:
        """Of notes of one name that of the same folder, else the first by path."""
        if len(candidates) > 1:
            folder = posixpath.dirname(source.path)
            for note in candidates:
                if posixpath.dirname(note.path) == folder:
                    return note.path
        return candidates[0].path

    def _path_link(self, source: Note, link: Link) -> Resolved:
        target = link.target
        if is_external(target):
            return Resolved(link, Leads.AWAY)
        if target.startswith(("/", "~", "\\")) or target.lower().startswith("file:"):
            markdown = target.lower().endswith(".md")
            return Resolved(link, Leads.OUTSIDE if markdown else Leads.AWAY, target)
        if target in self.by_path and "/" not in source.path:
            return Resolved(link, Leads.NOTE, target)
        from_source = posixpath.normpath(posixpath.join(posixpath.dirname(source.path), target))
        from_root = posixpath.normpath(target)
        for path in (from_source, from_root):
            leads = self._what_stands_at(path)
            if leads:
                return Resolved(link, leads[0], leads[1])
        if from_source.startswith("../") or from_source == "..":
            return Resolved(link, Leads.OUTSIDE, from_source)
        return Resolved(link, Leads.NOWHERE, from_source)

    def _what_stands_at(self, path: str) -> tuple[Leads, str] | None:
        if path in self.by_path:
            return Leads.NOTE, path
        if path in self.others or path == "." or self._is_skipped(path):
            return Leads.FILE, path
        same = self._normal_paths.get(normal(path))
        return (Leads.NOTE, same) if same else None

    def _is_skipped(self, path: str) -> bool:
        """Whether something stands at `path` that is not read, or above it."""
        return any(path == it.path or path.startswith(it.path + "/") for it in self.skipped)

    @cached_property
    def _normal_paths(self) -> Mapping[str, str]:
        return {normal(path): path for path in self.by_path if not path.isascii()}

    def _named_in_head(self, file: Note) -> Iterable[str]:
        """Paths of the files that a head names as sources or relations, as wikis do."""
        for key in ("sources", "related", "origin", "inventory", "derived_from"):
            for text in file.head.texts(key) if key in file.head.fields else ():
                link = Link(text.strip("[]"), "", text, 1, 0, 0, "/" not in text)
                resolved = self.resolve(file, link)
                if resolved.leads is Leads.NOTE:
                    yield resolved.path


def normal(text: str) -> str:
    """Return `text` in Unicode's composed form, in which names are compared."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def folded(text: str) -> str:
    """Return `text` with case, `-`, `_` and blanks folded, in which wikilinks still match."""
    return normal(text).casefold().replace("_", "-").replace(" ", "-")


def _aliases(file: Note) -> tuple[str, ...]:
    return file.head.texts("aliases") if "aliases" in file.head.fields else ()
