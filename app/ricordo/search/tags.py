"""The tags of a note: those in its frontmatter, and `#tags` in its text."""

from __future__ import annotations

import re

from ricordo.memory.note import Note
from ricordo.search.words import fold

_FIELDS = ("tags", "tag")
_CODE = re.compile(r"^(```+|~~~+).*?(?:^\1|\Z)|(`+)[^`].*?\2", re.MULTILINE | re.DOTALL)
_IN_TEXT = re.compile(r"(?<![\w#&/(.:=])#([^\W\d_][\w/-]*)")
"""A word after a `#`, but no heading, number of an issue, anchor or part of an address."""


def list_tags(note: Note) -> frozenset[str]:
    """Return the tags of `note`, folded and without `#`."""
    tags = {tag for field in _FIELDS for tag in _read_field(note, field)}
    body = note.body
    if "#" in body:
        tags.update(tag.rstrip("/-") for tag in _IN_TEXT.findall(_CODE.sub(" ", body)))
    return frozenset(fold(tag) for tag in tags if tag)


def _read_field(note: Note, field: str) -> list[str]:
    """Return the tags in a field of the frontmatter, a list or a text with commas or blanks."""
    values = note.frontmatter.get_list(field) or (note.frontmatter.get_text(field),)
    if len(values) == 1:
        values = tuple(re.split(r",\s*" if "," in values[0] else r"\s+", values[0].strip("[] ")))
    return [value.strip(" \"'#") for value in values]
