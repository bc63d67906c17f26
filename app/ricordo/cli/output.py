"""Printing: one JSON document, or lines in which nothing can steer the terminal.

What could not be printed is no reason to say that nothing was done: a command notes what it has
changed as soon as that is on the disk, and whatever fails afterwards is reported with it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ricordo.cli.streams import discard, has_encoding, is_dumb_terminal, write_out
from ricordo.errors import NOTHING_CHANGED
from ricordo.text import cells, clip, encodable, escape_json, one_line, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ricordo.curation.engine import CurationProgress, Step

_changes: list[str] = []


def note_change(what: str) -> None:
    """Note that this run has changed something: `retired ports.md`."""
    _changes.append(one_line(what))


def changes_noted() -> list[str]:
    """Return what this run has changed so far, in order."""
    return list(_changes)


def forget_changes() -> None:
    """Begin a run: nothing was changed by it yet."""
    _changes.clear()


def print_json(document: Any) -> None:
    r"""Print `document` as JSON. Bytes that were no UTF-8 are written as `\xNN`; controls, and
    what the encoding of stdout may lack, as JSON escapes. Raises Unprintable.
    """
    import json

    # indented, json is written by Python code at a twentieth of the speed
    indent = 2 if sys.stdout.isatty() else None
    text = json.dumps(document, ensure_ascii=False, indent=indent)
    if encodable(text) != text:
        text = json.dumps(_encodable(document), ensure_ascii=False, indent=indent)
    write_out(f"{escape_json(text, ascii_only=not has_encoding(sys.stdout, 'utf-8'))}\n")


def print_lines(lines: Iterable[str]) -> None:
    """Print `lines`, with every control in them made visible. Raises Unprintable."""
    write_out("".join(f"{visible(line)}\n" for line in lines))


def tell(remarks: Iterable[str]) -> None:
    """Say on stderr what the user has to know besides the answer, a line each."""
    print_errors(f"ricordo: {one_line(remark)}" for remark in remarks)


def print_errors(lines: Iterable[str]) -> None:
    """Print `lines` on stderr; where it takes none they are lost, for nobody can be told."""
    text = "".join(f"{visible(line)}\n" for line in lines)
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        discard(sys.stderr)


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_encodable(item) for item in value]
    return value


def is_at_terminal() -> bool:
    """Say whether a person can be asked and can see it."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def is_confirmed(told: list[str], word: str, what: str) -> bool:
    """Show what is `told`, and say whether the person typed `word` to have `what` done; nobody did
    where there is no terminal.
    """
    if not is_at_terminal():
        return False
    lines = [*told, f"Type “{word}” to {what}:"]
    print_errors(lines)
    return sys.stdin.readline().strip() == word


_QUIET = 0.3
"""Seconds in which nothing is shown: what is done by then needs no line."""

_USUAL_WIDTH = 80


@contextmanager
def progress_line() -> Iterator[Step]:
    """Give what tells how far a curation is; it shows that where a person sees it. Says so where
    the person cancels.
    """
    line = _Line()
    try:
        yield line.show if sys.stderr.isatty() and not is_dumb_terminal() else lambda _: None
    except KeyboardInterrupt:
        line.clear()
        tell([f"Cancelled. {NOTHING_CHANGED}"])
        raise
    finally:
        line.clear()


class _Line:
    def __init__(self) -> None:
        self._began = time.monotonic()
        self._shown = ""

    def show(self, progress: CurationProgress) -> None:
        seconds = time.monotonic() - self._began
        if seconds < _QUIET:
            return
        tokens = f", {progress.tokens:,} tokens" if progress.tokens else ""
        text = clip(one_line(f"{progress.phase}{tokens}, {seconds:.0f} s"), _width())
        if text != self._shown:
            self.clear()
            self._write(text)
            self._shown = text

    def clear(self) -> None:
        if self._shown:
            self._write(f"\r{' ' * cells(self._shown)}\r")
            self._shown = ""

    def _write(self, text: str) -> None:
        sys.stderr.write(encodable(text))
        sys.stderr.flush()


def _width() -> int:
    """Return the cells that a line may have: in the last one, some terminals go to the next."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns - 1
    except (OSError, ValueError):
        return _USUAL_WIDTH - 1
