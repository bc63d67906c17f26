"""A project as probes see it: its files, words and past, each looked up once."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cached_property

from ricordo.disk.project_tree import ProjectTree
from ricordo.disk.project_words import ProjectWords
from ricordo.health.probes.history import ProjectHistory
from ricordo.health.probes.instructions import Instructions
from ricordo.health.probes.manifests import Manifests


class Project:
    """One project at one moment."""

    def __init__(
        self,
        tree: ProjectTree,
        words: ProjectWords,
        history: ProjectHistory,
        memory_root: str,
        own_names: Iterable[str],
    ) -> None:
        """`own_names` are the names of the files of the memory: a note that names one of them
        speaks of the memory.
        """
        self.tree = tree
        self.words = words
        self.history = history
        self.own_names = frozenset(own_names)
        inside = self.inside(memory_root)
        self.memory = f"{inside}/" if inside else ""
        """The memory's folder in the project, which proves nothing of what notes say."""
        self._lines: dict[str, int | None] = {}
        self._written: dict[str, bool] = {}

    def inside(self, path: str) -> str | None:
        """Return an absolute `path` as one of the project; None where it lies elsewhere."""
        root = self.tree.root.rstrip("/")
        for own in (root, os.path.realpath(root)):
            if path.startswith(f"{own}/"):
                return path.removeprefix(f"{own}/")
        return None

    def look_for(self, words: Iterable[str]) -> None:
        """Find out of all `words` at once whether the project holds them: one by one takes long."""
        unknown = {word for word in words if word not in self._written}
        if unknown:
            found = self.words.among(unknown, self.memory)
            self._written.update((word, word in found) for word in unknown)

    def has_word(self, word: str) -> bool:
        """Say whether any file of the project, but for the memory, holds `word`."""
        self.look_for((word,))
        return self._written[word]

    def lines_of(self, path: str) -> int | None:
        """Return how many lines a file has; None where that is not known."""
        if path not in self._lines:
            stamp = self.tree.files[path]
            raw = self.tree.read(path) or b""
            is_whole = len(raw) == stamp.size and b"\0" not in raw
            lines = len(raw.split(b"\n")) - (not raw or raw.endswith(b"\n"))
            self._lines[path] = lines if is_whole else None
        return self._lines[path]

    def text_of(self, path: str) -> str:
        """Return the text of a file; "" where it cannot be read."""
        return (self.tree.read(path) or b"").decode("utf-8", "replace")

    @cached_property
    def by_stem(self) -> dict[str, str]:
        """A file by every end of its path, without the ending of its name and without `/index`."""
        found: dict[str, str] = {}
        for path in self.tree.files:
            stem = path.rpartition(".")[0] if "." in path.rpartition("/")[2] else path
            parts = stem.split("/")
            for count in range(1, min(len(parts), 6)):
                found.setdefault("/".join(parts[-count - 1 :]), path)
        return found

    @cached_property
    def manifests(self) -> Manifests:
        """What the project's manifests declare."""
        return Manifests.of(self.tree)

    @cached_property
    def instructions(self) -> Instructions:
        """What the project tells its agents, line by line."""
        return Instructions.of(self.tree)
