"""Making a note: its head as the memory writes heads, its body from the template of its type."""

from __future__ import annotations

import tomllib

from ricordo.memory.change import Create
from ricordo.memory.memory import Memory
from ricordo.memory.new_note import new_note as made
from ricordo.notebook.pick import refuse_outside, refuse_taken
from ricordo.resources import data_text


def template(type_: str, name: str) -> str:
    """Return what the body of a new note of a type begins with."""
    templates: dict[str, str] = tomllib.loads(data_text("notebook/templates.toml"))
    body = templates.get(type_, templates[""])
    return body.removeprefix("\n").replace("{name}", name)


def new_note(
    memory: Memory, name: str, type_: str = "", description: str = "", body: str | None = None
) -> Create:
    """Return the act that makes a note; without `body` it gets the template of its type. Raises
    WrongUsage where `name` leads out of the memory, and ChangeRefused where a note is called so.
    """
    refuse_outside(name)
    refuse_taken(memory, name)
    text = body if body is not None else template(type_, name)
    return made(memory, name, type_, description, text)
