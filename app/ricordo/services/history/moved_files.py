"""Where the files of a memory are now: by renames in the history, else by equal content."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from ricordo.errors import StateUnusable
from ricordo.memory.change import compute_digest
from ricordo.memory.memory import Memory
from ricordo.storage.database import Database
from ricordo.storage.history import History, open_recorded


class _PathHistory(NamedTuple):
    """The paths that the history has of a memory."""

    root: str = ""
    """Id of the memory in the history."""
    moves: Mapping[str, str] = {}
    """The last target of each moved path."""
    paths: frozenset[str] = frozenset()
    """All paths that files ever had."""


class MovedFiles(Mapping[str, str]):
    """The present paths of files of `memory`, by earlier paths that no longer exist.

    The history is read at the first lookup, which happens only for broken links; if it cannot be
    read, the mapping is empty.
    """

    def __init__(self, database: Database, memory: Memory) -> None:
        """`database` is the history."""
        self._database = database
        self._memory = memory
        self._paths: dict[str, str] = {}

    def __getitem__(self, path: str) -> str:
        """Return the present path of the file that was at `path`. Raises KeyError."""
        if path not in self._past.paths or path in self._memory.by_path:
            raise KeyError(path)
        if path not in self._paths:
            last = self._follow_moves(path)
            self._paths[path] = last if last in self._memory.by_path else self._by_content(last)
        if not self._paths[path]:
            raise KeyError(path)
        return self._paths[path]

    def __iter__(self) -> Iterator[str]:
        """Yield the earlier paths whose files were found."""
        return (path for path in sorted(self._past.paths) if path in self)

    def __len__(self) -> int:
        """Return the number of earlier paths whose files were found."""
        return sum(1 for _ in self)

    @cached_property
    def _past(self) -> _PathHistory:
        try:
            with open_recorded(self._database, self._memory.root) as recorded:
                if recorded is None:
                    return _PathHistory()
                history, root = recorded
                moves = {
                    origin: path
                    for _, (from_root, origin), (to_root, path) in history.list_moves()
                    if from_root == to_root == root
                }
                return _PathHistory(root, moves, frozenset(history.list_paths(root)))
        except StateUnusable:
            # an unusable state is reported when something is to be written
            return _PathHistory()

    def _follow_moves(self, path: str) -> str:
        """Return the last path to which the file at `path` was moved."""
        visited = {path}
        while (target := self._past.moves.get(path)) and target not in visited:
            path = target
            visited.add(path)
        return path

    def _by_content(self, path: str) -> str:
        """Return the only file with the last content of `path`; "" if none or several have it."""
        try:
            with self._database.connect() as connection:
                history = History(connection)
                ops = [op for _, _, op in history.list_operations_on(self._past.root, path)]
                sha = (ops[-1].post or ops[-1].pre) if ops else None
                size = history.get_size(sha)
        except StateUnusable:
            return ""
        files = self._by_size.get(size, []) if size else []
        same = [other for other in files if compute_digest(self._memory.by_path[other].raw) == sha]
        return same[0] if len(same) == 1 else ""

    @cached_property
    def _by_size(self) -> Mapping[int, list[str]]:
        paths: dict[int, list[str]] = {}
        for file in self._memory.files:
            paths.setdefault(len(file.raw), []).append(file.path)
        return paths
