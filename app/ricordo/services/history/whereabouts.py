"""Where the files of a memory went: by the renames that the history has, else by their content."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from ricordo.errors import StateUnusable
from ricordo.memory.change import digest
from ricordo.memory.memory import Memory
from ricordo.storage.database import Database
from ricordo.storage.history import History


class _Past(NamedTuple):
    """What the history has of a memory."""

    root: str = ""
    """Its id there."""
    moves: Mapping[str, str] = {}
    """To which path each file was moved last."""
    paths: frozenset[str] = frozenset()
    """Under which a file was ever seen."""


class Whereabouts(Mapping[str, str]):
    """The present paths of files of `memory` by paths that they had and that are gone.

    The history is asked when the first of them is looked up, which happens for links that lead
    nowhere alone; where it cannot be asked, nothing is known.
    """

    def __init__(self, database: Database, memory: Memory) -> None:
        """`database` is the history."""
        self._database = database
        self._memory = memory
        self._found: dict[str, str] = {}

    def __getitem__(self, path: str) -> str:
        """Return where the file that was at `path` stands now. Raises KeyError."""
        if path not in self._past.paths or path in self._memory.by_path:
            raise KeyError(path)
        if path not in self._found:
            last = self._followed(path)
            self._found[path] = last if last in self._memory.by_path else self._by_content(last)
        if not self._found[path]:
            raise KeyError(path)
        return self._found[path]

    def __iter__(self) -> Iterator[str]:
        """Yield the paths of which it is known where their files are."""
        return (path for path in sorted(self._past.paths) if path in self)

    def __len__(self) -> int:
        """Return how many there are."""
        return sum(1 for _ in self)

    @cached_property
    def _past(self) -> _Past:
        if not self._database.exists:
            return _Past()
        try:
            with self._database.opened() as connection:
                history = History(connection)
                root = history.known_root(self._memory.root)
                if root is None:
                    return _Past()
                moves = {
                    origin: path
                    for _, (of, origin), (into, path) in history.moves()
                    if of == into == root.id
                }
                return _Past(root.id, moves, frozenset(history.paths(root.id)))
        except StateUnusable:
            # it is told where something is to be written
            return _Past()

    def _followed(self, path: str) -> str:
        """Return the last path to which the file at `path` was moved."""
        seen = {path}
        while (onward := self._past.moves.get(path)) and onward not in seen:
            path = onward
            seen.add(path)
        return path

    def _by_content(self, path: str) -> str:
        """Return the only file that holds what `path` held last; "" where none or several do."""
        try:
            with self._database.opened() as connection:
                history = History(connection)
                ops = [op for _, _, op in history.ops_on(self._past.root, path)]
                sha = (ops[-1].post or ops[-1].pre) if ops else None
                size = history.size_of(sha)
        except StateUnusable:
            return ""
        files = self._by_size.get(size, []) if size else []
        alike = [other for other in files if digest(self._memory.by_path[other].raw) == sha]
        return alike[0] if len(alike) == 1 else ""

    @cached_property
    def _by_size(self) -> Mapping[int, list[str]]:
        paths: dict[int, list[str]] = {}
        for file in self._memory.files:
            paths.setdefault(len(file.raw), []).append(file.path)
        return paths
