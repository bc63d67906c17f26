"""Printing: one JSON document, or lines in which nothing can steer the terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from ricordo.text import encodable, one_line


def print_json(document: Any) -> None:
    r"""Print `document` as JSON; bytes that were no UTF-8 are written as `\xNN`."""
    import json

    # indented, json is written by Python code at a twentieth of the speed
    indent = 2 if sys.stdout.isatty() else None
    text = json.dumps(document, ensure_ascii=False, indent=indent)
    if encodable(text) != text:
        text = json.dumps(_encodable(document), ensure_ascii=False, indent=indent)
    print(text)


def print_lines(lines: list[str]) -> None:
    """Print `lines`, which are visible text already."""
    sys.stdout.write("".join(f"{encodable(line)}\n" for line in lines))


def tell(remarks: Iterable[str]) -> None:
    """Say on stderr what the person has to know besides the answer, a line each."""
    for remark in remarks:
        print(f"ricordo: {one_line(remark)}", file=sys.stderr)


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_encodable(item) for item in value]
    return value
