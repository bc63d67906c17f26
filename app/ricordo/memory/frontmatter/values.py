"""The parsed frontmatter of a note, with every scalar as the text that was written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

Value = None | str | tuple["Value", ...] | Mapping[str, "Value"]
"""A scalar as written, null, a list, or a mapping."""


@dataclass(frozen=True, slots=True)
class FrontmatterError:
    """Why strict YAML, or Ricordo's limits, refuse the frontmatter."""

    line: int
    """1-based line of the file."""
    message: str


class Frontmatter(NamedTuple):
    """The fields between the two fences, and their end in the note's text."""

    fields: Mapping[str, Value]
    end: int
    """Offset of the first character after the closing fence; 0 without frontmatter."""
    error: FrontmatterError | None = None

    @property
    def is_present(self) -> bool:
        """Whether the note has frontmatter."""
        return self.end > 0

    def get_text(self, key: str) -> str:
        """Return the field `key`, at the top or inside `metadata`, as one text; "" if missing."""
        return self.get_first((key,))

    def get_first(self, keys: tuple[str, ...]) -> str:
        """Return the first non-empty of the fields `keys`, as `scalar` does."""
        fields = self.fields
        metadata = fields.get("metadata")
        for key in keys:
            value = fields.get(key)
            # fields are parsed into dicts; checking for a Mapping costs ten times as much
            if value is None and isinstance(metadata, dict):
                value = metadata.get(key)
            if value and (text := value if isinstance(value, str) else flatten(value)):
                return text
        return ""

    def get_list(self, key: str) -> tuple[str, ...]:
        """Return the field `key` as a list of texts, whether written as one text or as a list."""
        value = self.fields.get(key)
        if isinstance(value, tuple):
            return tuple(flatten(item) for item in value if item is not None)
        return (flatten(value),) if value else ()


def flatten(value: Value) -> str:
    """Return any value as one line of text."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return ", ".join(flatten(item) for item in value)
    return ", ".join(f"{key}: {flatten(item)}" for key, item in value.items())


NO_FRONTMATTER = Frontmatter({}, 0)
