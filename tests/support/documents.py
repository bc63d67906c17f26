"""The JSON documents of the command line, validated against the schemas that ship with it."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from jsonschema import Draft202012Validator

SCHEMAS = files("ricordo.cli") / "schemas"


@cache
def load_schema(name: str) -> dict[str, Any]:
    """Return the shipped schema of one command."""
    schema: dict[str, Any] = json.loads((SCHEMAS / f"{name}.json").read_text("utf-8"))
    return schema


def close(value: Any) -> Any:
    """Return a schema that allows no field which it does not describe: a consumer has to ignore
    such fields, but the program has to describe what it prints.
    """
    if isinstance(value, list):
        return [close(item) for item in value]
    if not isinstance(value, dict):
        return value
    closed = {key: close(item) for key, item in value.items()}
    if isinstance(value.get("properties"), dict) and value.get("type") != "string":
        closed.setdefault("additionalProperties", False)
    return closed


@cache
def validator_of(name: str) -> Draft202012Validator:
    return Draft202012Validator(close(load_schema(name)))


def read_document(printed: str, name: str) -> dict[str, Any]:
    """Return the only JSON document in `printed`, which has to be valid: that of a command, or
    `error`.
    """
    assert printed.count("\n") == 1, printed
    document: dict[str, Any] = json.loads(printed)
    assert document["schema"] == f"ricordo.{name}/1"
    errors = sorted(validator_of(name).iter_errors(document), key=lambda error: error.path)
    assert not errors, [f"{error.json_path}: {error.message[:300]}" for error in errors]
    return document
