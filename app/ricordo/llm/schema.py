"""Whether a value is exactly of the shape that was asked for: nothing missing, nothing more, and
nothing put right.

Of JSON Schema it knows what our forms are made of: objects whose properties are all required,
arrays, strings with or without a choice of words, and whole numbers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ricordo.text import clip

_WIDEST = 40


class Misshapen(ValueError):
    """A value is not of its shape; the message says where and why."""


def parse(text: str) -> Any:
    """Return the value that `text` is in JSON, as strictly as the standard has it: no key twice,
    no `NaN`. Raises Misshapen.
    """
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise Misshapen(str(error) if isinstance(error, Misshapen) else "it is no JSON") from None


def check(value: object, schema: Mapping[str, Any], place: str = "it") -> None:
    """Raise Misshapen unless `value` is of the shape that `schema` states."""
    match schema["type"]:
        case "object":
            _check_object(value, schema["properties"], place)
        case "array":
            if not isinstance(value, list):
                raise Misshapen(f"{place} is no list")
            for number, item in enumerate(value, 1):
                check(item, schema["items"], f"{place}, {number}")
        case "string":
            _check_text(value, schema.get("enum"), place)
        case "integer":
            # True is an int, and no number
            if type(value) is not int:
                raise Misshapen(f"{place} is no whole number")
        case other:
            raise ValueError(f"no such type in our schemas: {other}")


def _check_object(value: object, properties: Mapping[str, Any], place: str) -> None:
    if not isinstance(value, dict):
        raise Misshapen(f"{place} is no object")
    for name in value:
        if name not in properties:
            raise Misshapen(f"{place} has a field “{clip(name, _WIDEST)}” too many")
    for name, shape in properties.items():
        if name not in value:
            raise Misshapen(f"{place} lacks “{name}”")
        check(value[name], shape, f"{place}, {name}")


def _check_text(value: object, choice: Sequence[str] | None, place: str) -> None:
    if not isinstance(value, str):
        raise Misshapen(f"{place} is no text")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise Misshapen(f"{place} holds what is no text (a lone surrogate)") from None
    if choice is not None and value not in choice:
        raise Misshapen(f"{place} is none of {', '.join(choice)}")


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Misshapen("a field stands in it twice")
    return found


def _refuse(constant: str) -> object:
    raise Misshapen(f"{constant} is no JSON")
