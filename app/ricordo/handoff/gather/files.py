"""The files that a session read and changed."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import tomli

from ricordo.agents.transcripts.session import CallResult, FileAction, FileTouch
from ricordo.handoff.facts import MessageRef
from ricordo.resources import read_data_text

_LONGEST_LINE = 200
"""Characters; a longer line names nothing."""


def list_parts(path: str, written: str) -> list[str]:
    """Return the names of the parts that the lines `written` into the file at `path` begin, in
    their order, each once.
    """
    pattern = next(
        (pattern for end, pattern in _load_patterns().items() if path.endswith(end)), None
    )
    if pattern is None:
        return []
    lines = (line.rstrip() for line in written.split("\n") if len(line) <= _LONGEST_LINE)
    matches = (match for line in lines if (match := pattern.match(line)))
    return list(dict.fromkeys(next(filter(None, match.groups())) for match in matches))


@cache
def _load_patterns() -> Mapping[str, re.Pattern[str]]:
    """Return the expressions, by the ends of file names."""
    table: Mapping[str, Any] = tomli.loads(read_data_text("handoff/gather/parts.toml"))
    return {end: re.compile(table[kind]) for kind, ends in table["ends"].items() for end in ends}


_MAX_FILES = 20_000
"""Files of one session that are kept."""
_MAX_PARTS = 20
"""Names of parts of one file that are kept."""
_MAX_OPEN = 300
"""Open calls that are remembered."""


@dataclass(slots=True)
class FileUseCount:
    """What was done to one file."""

    last_use: MessageRef
    """The message of the last change, else of the last reading."""
    actions: list[FileAction] = field(default_factory=list)
    """In the order in which they were first done."""
    last_change: MessageRef | None = None
    change_count: int = 0
    parts: list[str] = field(default_factory=list)
    """Functions, classes and headings that the changes name, the latest last."""

    def record(self, touch: FileTouch, ref: MessageRef) -> None:
        """Record an action."""
        action = touch.action
        if action not in self.actions:
            self.actions.append(action)
        if action.changes:
            self.change_count += 1
            self.last_change = ref
            self.parts = keep_latest([*self.parts, *list_parts(touch.path, touch.text)])
        self.last_use = self.last_change or ref


def keep_latest(parts: Sequence[str]) -> list[str]:
    """Return the last of the names, each once, at its last place."""
    return list(dict.fromkeys(reversed(parts)))[:_MAX_PARTS][::-1]


class FileUses:
    """The files of one session, as it calls them."""

    def __init__(self) -> None:
        self.by_path: dict[str, FileUseCount] = {}
        self._open: OrderedDict[str, list[tuple[FileTouch, MessageRef]]] = OrderedDict()
        """The touches of calls that have not ended."""

    def begin(self, touch: FileTouch, ref: MessageRef) -> None:
        """Record what a call is about to do."""
        touched = self._open.setdefault(touch.call, [])
        if all((known.path, known.action) != (touch.path, touch.action) for known, _ in touched):
            touched.append((touch, ref))
        if len(self._open) > _MAX_OPEN:
            self._record(self._open.popitem(last=False)[1])

    def end(self, ending: CallResult) -> tuple[FileTouch, ...]:
        """Return what an ended call did to files."""
        touched = self._open.pop(ending.call, [])
        if ending.has_failed:
            return ()
        self._record(touched)
        return tuple(touch for touch, _ in touched)

    def close(self) -> None:
        """Count calls that never ended as done: the files are checked anyway."""
        while self._open:
            self._record(self._open.popitem(last=False)[1])

    def _record(self, touched: list[tuple[FileTouch, MessageRef]]) -> None:
        for touch, ref in touched:
            if touch.path in self.by_path or len(self.by_path) < _MAX_FILES:
                self.by_path.setdefault(touch.path, FileUseCount(ref)).record(touch, ref)

    def list_changes(self) -> Iterator[tuple[MessageRef, str]]:
        """Yield when each file was changed last."""
        return ((use.last_change, path) for path, use in self.by_path.items() if use.last_change)
