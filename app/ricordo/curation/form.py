"""Forms that a model fills in: every field is required, and no other is allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ricordo.llm.question import FormTool
from ricordo.llm.schema import describe_list, describe_object, describe_text


@dataclass(frozen=True, slots=True)
class ModelForm:
    """A form and how its content is read."""

    tool: FormTool
    read: Callable[[Mapping[str, Any]], object]
    """Returns the content of a completed form."""


EDIT_FIELDS = {
    "create": {"name": "name", "type": "type", "description": "description", "text": "text"},
    "replace": {"note": "note", "old": "old", "new": "text"},
    "insert": {"note": "note", "after_line": "after_line", "text": "text"},
    "rewrite": {"note": "note", "text": "text"},
    "merge": {"note": "note", "other": "other", "text": "text"},
    "retire": {"note": "note", "successor": "other"},
    "link": {"note": "note", "target": "other"},
}
"""The fields of each kind of edit, each with the field of the form that has it."""
_ALWAYS = ("reason", "evidence")

_EVIDENCE = describe_object(
    source=describe_text("The id of the turn or note in which the words stand."),
    quote=describe_text("The words, letter by letter."),
)
_EDIT = describe_object(
    evidence=describe_list(_EVIDENCE, "The words on which the edit rests."),
    reason=describe_text("Why, in one line."),
    op=describe_text("The kind of edit.", enum=list(EDIT_FIELDS)),
    note=describe_text("The id of the note that is edited; empty for create."),
    other=describe_text(
        "The id of another note: the one that is merged into it, its successor (or empty), the "
        "one that it is linked to."
    ),
    name=describe_text("create: the name of the note, in a few words."),
    type=describe_text("create: its type, one of those that the memory has."),
    description=describe_text("create: by what an agent can tell whether to open it, in one line."),
    old=describe_text(
        "replace: the passage as it stands there, long enough to stand there only once."
    ),
    text=describe_text(
        "create, merge: the text. rewrite: the whole file. replace: the new passage."
    ),
    after_line={
        "type": "integer",
        "description": "insert: the number of the line behind which the text goes; else 0.",
    },
)
PROPOSE = FormTool(
    "propose",
    "Propose edits to the memory, all at once. A field that an edit does not need is empty.",
    describe_object(edits=describe_list(_EDIT, "The edits; none where nothing is to be changed.")),
)
"""The tool with which a model proposes edits."""


def unfold_edits(edits: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the edits of a form as `edits.py` reads them, each with only the fields of
    its kind.
    """
    return [_unfold_edit(edit) for edit in edits]


def _unfold_edit(edit: Mapping[str, Any]) -> dict[str, Any]:
    fields = {name: edit[field] for name, field in EDIT_FIELDS[edit["op"]].items()}
    return {"op": edit["op"], **fields, **{name: edit[name] for name in _ALWAYS}}


def fold_edit(edit: Mapping[str, Any]) -> dict[str, Any]:
    """Return an unfolded edit with the field names of the form, without the unused fields."""
    names = EDIT_FIELDS.get(edit.get("op", ""), {})
    return {names.get(name, name): value for name, value in edit.items()}


PROPOSE_FORM = ModelForm(PROPOSE, lambda value: unfold_edits(value["edits"]))
"""The form for edits."""
