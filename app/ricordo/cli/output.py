"""Output: one JSON document, or lines without control characters.

A command notes each change as soon as it is on disk. If something fails afterwards, printing
included, the error message names these changes.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ricordo.cli.progress import get_stderr_width, stop_progress
from ricordo.cli.streams import has_encoding, is_dumb_terminal, write_error, write_out
from ricordo.errors import NOTHING_CHANGED, WrongUsage
from ricordo.text import clip, count_cells, escape_json, make_encodable, make_one_line, make_visible

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterator

    from ricordo.curation.engine import CurationProgress, Step
    from ricordo.errors import RicordoError

_changes: list[str] = []
_documents: list[str] = []
"""The commands whose JSON document was printed: at most one in a run."""
_is_quiet = False
_may_change = False


def begin_output() -> None:
    """Forget the changes and documents of an earlier run in the same process."""
    _changes.clear()
    _documents.clear()
    set_may_change(is_on=False)


def set_may_change(*, is_on: bool) -> None:
    """Say with an error of this run that nothing was changed, or not: it only reads."""
    global _may_change
    _may_change = is_on


def set_quiet(*, is_on: bool) -> None:
    """Print neither messages nor what was done from now on, or print them again."""
    global _is_quiet
    _is_quiet = is_on


def is_quiet() -> bool:
    """Return whether only results and errors are printed."""
    return _is_quiet


def note_change(what: str) -> None:
    """Note a change that this run made, such as `retired ports.md`."""
    _changes.append(make_one_line(what))


def has_changed() -> bool:
    """Return whether this run noted a change."""
    return bool(_changes)


def report_error(error: RicordoError) -> None:
    """Print an error on stderr in one line, with what was changed and what was not."""
    done, changed = _split_changed(error)
    _print_messages([" ".join(filter(None, (done, error.message, changed)))])


def _split_changed(error: RicordoError) -> tuple[str, str]:
    """Return what this run changed before `error`, and what the error says of changes."""
    done = f"{'; '.join(_changes)}." if _changes else ""
    is_worth_saying = error.changed != NOTHING_CHANGED or (_may_change and not done)
    return done, error.changed if is_worth_saying else ""


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


def print_result(
    options: Namespace,
    describe: Callable[[], Mapping[str, Any]],
    render: Callable[[], Iterable[str]],
) -> None:
    """Print the result of a command: with `--json` the document that `describe` returns, else the
    lines that `render` returns. Raises OutputFailed.
    """
    if options.json:
        print_json(describe(), options.command)
    else:
        print_lines(render())


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
    """Print messages besides the result on stderr, a line each; none with --quiet."""
    if not _is_quiet:
        _print_messages(messages)


def _print_messages(messages: Iterable[str]) -> None:
    print_errors(f"ricordo: {make_one_line(message)}" for message in messages)


def print_errors(lines: Iterable[str]) -> None:
    """Print `lines` on stderr; if that fails they are lost."""
    write_error("".join(f"{make_visible(line)}\n" for line in lines))


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
    stop_progress()
    print_errors([*lines, f"Type “{word}” to {what}:"])
    return sys.stdin.readline().strip() == word


_QUIET = 0.3
"""Seconds before progress is shown: quick work needs no line."""


@contextmanager
def show_progress() -> Iterator[Step]:
    """Yield a function that shows the progress of a curation on a terminal."""
    stop_progress()
    line = _ProgressLine()
    try:
        is_shown = sys.stderr.isatty() and not is_dumb_terminal() and not _is_quiet
        yield line.show if is_shown else lambda _: None
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
        text = clip(make_one_line(f"{progress.phase}{tokens}, {seconds:.0f} s"), get_stderr_width())
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
