"""The form in which a model drafts: one flat list of statements, in which every field has to stand.

It is the form and not the model that is strict: what fits it is still read as if it came from an
enemy (`reading.py`).
"""

from __future__ import annotations

from ricordo.handoff.statement import Section
from ricordo.model.question import Tool

SECTIONS = tuple(it for it in Section if it not in (Section.MEMORY, Section.MESSAGES))
"""What a model may speak of: the rest is told without it."""
_STATEMENT = {
    "type": "object",
    "additionalProperties": False,
    "required": ["section", "facts", "quote", "text"],
    "properties": {
        "section": {
            "type": "string",
            "description": "What the statement is about.",
            "enum": [it.value for it in SECTIONS],
        },
        "facts": {
            "type": "array",
            "description": "The ids of the facts that the statement stands on; at least one.",
            "items": {"type": "string", "description": "An id that was given, such as f12."},
        },
        "quote": {
            "type": "string",
            "description": "Words of the first of these facts, letter by letter; or empty.",
        },
        "text": {
            "type": "string",
            "description": "The statement in one plain line. Empty where the quote says it all.",
        },
    },
}
DRAFT = Tool(
    "draft",
    "Draft the statements of the handoff, all at once, the most important of each section first.",
    {
        "type": "object",
        "additionalProperties": False,
        "required": ["statements"],
        "properties": {
            "statements": {
                "type": "array",
                "description": "The statements.",
                "items": _STATEMENT,
            }
        },
    },
)
"""What a model answers with."""
