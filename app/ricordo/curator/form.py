"""The form in which a model proposes: one flat list of edits, in which every field has to stand.

A field that an edit does not need is empty. It is the form and not the model that is strict: what
fits it is still read as if it came from an enemy (`edits.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ricordo.model.question import Tool

_FIELDS = {
    "create": {"name": "name", "type": "type", "description": "description", "text": "text"},
    "replace": {"note": "note", "old": "old", "new": "text"},
    "insert": {"note": "note", "after_line": "after_line", "text": "text"},
    "rewrite": {"note": "note", "text": "text"},
    "merge": {"note": "note", "other": "other", "text": "text"},
    "retire": {"note": "note", "successor": "other"},
    "link": {"note": "note", "target": "other"},
}
"""The fields of each kind of edit, each with its field of the form."""
_ALWAYS = ("reason", "evidence")


def _object(**properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": properties,
    }


def _list(items: Mapping[str, Any], description: str) -> dict[str, Any]:
    return {"type": "array", "items": items, "description": description}


def _text(description: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "description": description, **more}


_EVIDENCE = _object(
    source=_text("The id of the turn or note in which the words stand."),
    quote=_text("The words, letter by letter."),
)
_EDIT = _object(
    evidence=_list(_EVIDENCE, "The words on which the edit rests."),
    reason=_text("Why, in one line."),
    op=_text("The kind of edit.", enum=list(_FIELDS)),
    note=_text("The id of the note that is edited; empty for create."),
    other=_text(
        "The id of another note: the one that is merged into it, its successor (or empty), the "
        "one that it is linked to."
    ),
    name=_text("create: the name of the note, in a few words."),
    type=_text("create: its type, one of those that the memory has."),
    description=_text("create: by what an agent can tell whether to open it, in one line."),
    old=_text("replace: the passage as it stands there, long enough to stand there only once."),
    text=_text("create, merge: the text. rewrite: the whole file. replace: the new passage."),
    after_line={
        "type": "integer",
        "description": "insert: the number of the line behind which the text goes; else 0.",
    },
)
PROPOSE = Tool(
    "propose",
    "Propose edits to the memory, all at once. A field that an edit does not need is empty.",
    _object(edits=_list(_EDIT, "The edits; none where nothing is to be changed.")),
)
"""What a model answers with."""


def unfolded(edits: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return edits of the form as `edits.py` reads them, each with the fields of its kind."""
    return [_unfolded(edit) for edit in edits]


def _unfolded(edit: Mapping[str, Any]) -> dict[str, Any]:
    fields = {name: edit[field] for name, field in _FIELDS[edit["op"]].items()}
    return {"op": edit["op"], **fields, **{name: edit[name] for name in _ALWAYS}}
