"""Printing: one JSON document, or lines in which nothing can steer the terminal.

What could not be printed is no reason to say that nothing was done: a command notes what it has
changed as soon as that is on the disk, and whatever fails afterwards is reported with it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from ricordo.cli.main import write_out
from ricordo.cli.streams import discard, has_encoding
from ricordo.text import encodable, escape_json, one_line, visible

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
