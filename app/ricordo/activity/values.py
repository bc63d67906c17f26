"""Values out of JSON that strangers wrote: what is not of the expected kind counts as not there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

LONGEST_TEXT = 32_000
"""Characters of a message that are looked at."""
LONGEST_SAID = 256_000
"""The same of what a person said, and of what a compaction kept: it is quoted whole."""


def text_of(value: object) -> str:
    """Return `value` where it is a text that can be stored, else ""."""
    if not isinstance(value, str):
        return ""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return value.encode("utf-8", "replace").decode()
    return value


def cut(text: str, longest: int = LONGEST_TEXT) -> str:
    """Return `text` as far as it is looked at."""
    return text if len(text) <= longest else f"{text[:longest]} …"


def dict_of(value: object) -> dict[str, Any]:
    """Return `value` where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def dicts_of(value: object) -> Iterator[dict[str, Any]]:
    """Yield the objects in `value` where it is a list."""
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


def parsed(raw: bytes | str) -> dict[str, Any] | None:
    """Return the JSON object in `raw`; None where it holds none."""
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def exit_code(value: object) -> int | None:
    """Return the exit code that `value` is, a number of at most 32 bits; None where it is none."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if -(2**31) <= value < 2**32 else None


def moment(value: object) -> str:
    """Return a time as ISO 8601 in UTC, with milliseconds; "" where it is none. Numbers are
    milliseconds since 1970.
    """
    try:
        if isinstance(value, str):
            at = datetime.fromisoformat(value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            at = datetime.fromtimestamp(value / 1000, UTC)
        else:
            return ""
        at = at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError, OSError):
        return ""
    return at.isoformat(timespec="milliseconds")
