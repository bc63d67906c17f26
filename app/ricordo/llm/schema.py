"""Strict JSON: parse it, write a schema, and validate a value against it without any coercion.

Of JSON Schema it supports what Ricordo's forms use: objects whose properties are all required,
arrays, strings with or without `enum`, and integers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ricordo.text import clip

_WIDEST = 40


class SchemaError(ValueError):
    """A value does not match its schema; the message says where and why."""


def parse(text: str) -> Any:
    """Return the value of a JSON text. Raises SchemaError, also for duplicate keys and `NaN`."""
    try:
        return json.loads(
            text, object_pairs_hook=_refuse_duplicates, parse_constant=_refuse_constant
        )
    except (ValueError, RecursionError) as error:
        raise SchemaError(
            str(error) if isinstance(error, SchemaError) else "it is not JSON"
        ) from None


def describe_object(**properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with exactly these properties."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": properties,
    }


def describe_list(items: Mapping[str, Any], description: str) -> dict[str, Any]:
    """Return the schema of a list."""
    return {"type": "array", "items": items, "description": description}


def describe_text(description: str, **more: Any) -> dict[str, Any]:
    """Return the schema of a text; `enum` in `more` has the allowed values."""
    return {"type": "string", "description": description, **more}


def check(value: object, schema: Mapping[str, Any], place: str = "it") -> None:
    """Raise SchemaError unless `value` matches `schema`; `place` names it in the message."""
    match schema["type"]:
        case "object":
            _check_object(value, schema["properties"], place)
        case "array":
            if not isinstance(value, list):
                raise SchemaError(f"{place} is not a list")
            for number, item in enumerate(value, 1):
                check(item, schema["items"], f"{place}, {number}")
        case "string":
            _check_text(value, schema.get("enum"), place)
        case "integer":
            # True is an int, but not a number
            if type(value) is not int:
                raise SchemaError(f"{place} is not a whole number")
        case other:
            raise ValueError(f"unsupported type in a schema: {other}")


def _check_object(value: object, properties: Mapping[str, Any], place: str) -> None:
    if not isinstance(value, dict):
        raise SchemaError(f"{place} is not an object")
    for name in value:
        if name not in properties:
            raise SchemaError(f"{place} has an unknown field “{clip(name, _WIDEST)}”")
    for name, shape in properties.items():
        if name not in value:
            raise SchemaError(f"{place} lacks “{name}”")
        check(value[name], shape, f"{place}, {name}")


def _check_text(value: object, choice: Sequence[str] | None, place: str) -> None:
    if not isinstance(value, str):
        raise SchemaError(f"{place} is not text")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise SchemaError(f"{place} is not valid text (lone surrogate)") from None
    if choice is not None and value not in choice:
        raise SchemaError(f"{place} is not one of {', '.join(choice)}")


def _refuse_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise SchemaError("it has a duplicate field")
    return fields


def _refuse_constant(constant: str) -> object:
    raise SchemaError(f"{constant} is not JSON")
