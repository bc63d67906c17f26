"""Output: one JSON document, or lines without control characters.

A command notes each change as soon as it is on disk. If something fails afterwards, printing
included, the error message names these changes.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ricordo.cli.streams import discard, has_encoding, is_dumb_terminal, write_out
from ricordo.errors import NOTHING_CHANGED, WrongUsage
from ricordo.text import clip, count_cells, escape_json, make_encodable, make_one_line, make_visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ricordo.curation.engine import CurationProgress, Step
    from ricordo.errors import RicordoError

_changes: list[str] = []
_documents: list[str] = []
"""The commands whose JSON document was printed: at most one in a run."""


def begin_output() -> None:
    """Forget the changes and documents of an earlier run in the same process."""
    _changes.clear()
    _documents.clear()


def note_change(what: str) -> None:
    """Note a change that this run made, such as `retired ports.md`."""
    _changes.append(make_one_line(what))


def has_changed() -> bool:
    """Return whether this run noted a change."""
    return bool(_changes)


def report_error(error: RicordoError) -> None:
    """Print an error on stderr in one line, with what was changed and what was not."""
    done, changed = _split_changed(error)
    print_messages([" ".join(filter(None, (done, error.message, changed)))])


def _split_changed(error: RicordoError) -> tuple[str, str]:
    """Return what this run changed before `error`, and what the error says of changes."""
    if not _changes:
        return "", error.changed
    done = f"{'; '.join(_changes)}."
    return done, "" if error.changed == NOTHING_CHANGED else error.changed


def describe_error(error: RicordoError) -> dict[str, Any]:
    """Return an error as `--json` prints it, with what was changed nevertheless."""
    changed = " ".join(filter(None, _split_changed(error)))
    described: dict[str, Any] = {
        "kind": error.kind,
        "message": error.fact,
        "hint": error.hint or None,
        "changed": None if changed == NOTHING_CHANGED else changed or None,
        "exit_code": error.exit_code,
    }
    if isinstance(error, WrongUsage) and error.candidates:
        described["candidates"] = error.candidates
    return {"error": described}


def has_printed_json() -> bool:
    """Return whether this run has printed its JSON document."""
    return bool(_documents)


def print_json(document: Mapping[str, Any], command: str) -> None:
    """Print the JSON document of `command`, with the name of its schema. Raises OutputFailed."""
    print_document({"schema": f"ricordo.{command}/1", **document})
    _documents.append(command)


def print_document(document: Mapping[str, Any]) -> None:
    r"""Print `document` as JSON. Bytes that are not UTF-8 are written as `\xNN`; control characters
    and those that the encoding of stdout lacks as JSON escapes. Raises OutputFailed.
    """
    import json

    # with an indent, json falls back to Python code at a twentieth of the speed
    indent = 2 if sys.stdout.isatty() else None
    text = json.dumps(document, ensure_ascii=False, indent=indent)
    if make_encodable(text) != text:
        text = json.dumps(_encodable(document), ensure_ascii=False, indent=indent)
    write_out(f"{escape_json(text, ascii_only=not has_encoding(sys.stdout, 'utf-8'))}\n")


def print_lines(lines: Iterable[str]) -> None:
    """Print `lines` with control characters made visible. Raises OutputFailed."""
    write_out("".join(f"{make_visible(line)}\n" for line in lines))


def print_messages(messages: Iterable[str]) -> None:
    """Print messages besides the result on stderr, a line each."""
    print_errors(f"ricordo: {make_one_line(message)}" for message in messages)


def print_errors(lines: Iterable[str]) -> None:
    """Print `lines` on stderr; if that fails they are lost."""
    text = "".join(f"{make_visible(line)}\n" for line in lines)
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        discard(sys.stderr)


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return make_encodable(value)
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_encodable(item) for item in value]
    return value


def is_at_terminal() -> bool:
    """Return whether the user can be asked: stdin and stderr are terminals."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def is_confirmed(lines: list[str], word: str, what: str) -> bool:
    """Print `lines`, ask to type `word` to do `what`, and return whether the user did; False
    without a terminal.
    """
    if not is_at_terminal():
        return False
    print_errors([*lines, f"Type “{word}” to {what}:"])
    return sys.stdin.readline().strip() == word


_QUIET = 0.3
"""Seconds before progress is shown: quick work needs no line."""

_DEFAULT_WIDTH = 80


@contextmanager
def show_progress() -> Iterator[Step]:
    """Yield a function that shows the progress of a curation on a terminal."""
    line = _ProgressLine()
    try:
        yield line.show if sys.stderr.isatty() and not is_dumb_terminal() else lambda _: None
    finally:
        line.clear()


class _ProgressLine:
    def __init__(self) -> None:
        self._began = time.monotonic()
        self._shown = ""

    def show(self, progress: CurationProgress) -> None:
        seconds = time.monotonic() - self._began
        if seconds < _QUIET:
            return
        tokens = f", {progress.tokens:,} tokens" if progress.tokens else ""
        text = clip(make_one_line(f"{progress.phase}{tokens}, {seconds:.0f} s"), _width())
        if text != self._shown:
            self.clear()
            self._write(text)
            self._shown = text

    def clear(self) -> None:
        if self._shown:
            self._write(f"\r{' ' * count_cells(self._shown)}\r")
            self._shown = ""

    def _write(self, text: str) -> None:
        sys.stderr.write(make_encodable(text))
        sys.stderr.flush()


def _width() -> int:
    """Return the usable width in cells: some terminals wrap after the last cell."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns - 1
    except (OSError, ValueError):
        return _DEFAULT_WIDTH - 1
