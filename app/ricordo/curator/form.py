"""What a form is that a model fills in: in all of them every field has to stand, and no other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ricordo.model.question import Tool


@dataclass(frozen=True, slots=True)
class Form:
    """What a model fills in."""

    tool: Tool
    said: Callable[[Mapping[str, Any]], object]
    """Gives what a form says that was filled in, as it is read further."""


def an_object(**properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with exactly these properties."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": properties,
    }


def a_list(items: Mapping[str, Any], description: str) -> dict[str, Any]:
    """Return the schema of a list."""
    return {"type": "array", "items": items, "description": description}


def a_text(description: str, **more: Any) -> dict[str, Any]:
    """Return the schema of a text; `enum` in `more` are the words to choose from."""
    return {"type": "string", "description": description, **more}
