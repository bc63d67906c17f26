"""A note for something that was said, in the form of the memory's own notes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ricordo.curator.heard import Heard
from ricordo.curator.proposal import Wish
from ricordo.health.vocabulary import SPACELESS
from ricordo.memory.memory import Memory
from ricordo.memory.new_note import new_note
from ricordo.recall.words import content_words, words

_LONGEST_DESCRIPTION = 150
_NAME_WORDS = 5
_NAME_SIGNS = 14
"""Characters of a name in a script without blanks."""
_UNSPACED = re.compile(f"[{SPACELESS}]")
_DATE = re.compile(r"20\d\d-\d\d(?:-\d\d)?|20\d\d-W\d\d|\d+")
_TELLS_WHY = ("feedback", "project")


def draft(memory: Memory, it: Heard) -> Wish:
    """Return the wish for a new note that says what was said."""
    type_ = it.saying.type if not memory.layout.types or _is_known(memory, it) else ""
    act = new_note(memory, _name(memory, it, type_), type_, _description(it), _body(it))
    return Wish(act, f"{it.saying.kind} of {it.spoken.day.isoformat()}", it.evidence)


def entry_line(lines: Sequence[str], it: Heard) -> str:
    """Return what was said as a line at the end of a note whose `lines` are given."""
    is_list = bool(lines) and lines[-1].startswith(("- ", "* "))
    whole = f"{it.statement} {it.why}".strip()
    return f"{lines[-1][:2]}{whole}" if is_list else whole


def _is_known(memory: Memory, it: Heard) -> bool:
    return it.saying.type in memory.layout.types


def _description(it: Heard) -> str:
    text = it.statement.rstrip(".。! ")
    if len(text) <= _LONGEST_DESCRIPTION:
        return text
    cut = text[:_LONGEST_DESCRIPTION]
    return f"{cut.rpartition(' ')[0] or cut} …"


def _body(it: Heard) -> str:
    day = it.spoken.day.isoformat()
    if it.saying.type not in _TELLS_WHY:
        return f"{it.statement} {it.why}".strip()
    why = f"{it.why} Said on {day}." if it.why else f"said on {day}."
    return f"{it.statement}\n\n**Why:** {why}"


def _name(memory: Memory, it: Heard, type_: str) -> str:
    """Return a name made of the first words that name something, in the manner of the memory."""
    plain = _DATE.sub(" ", it.statement)
    if _UNSPACED.search(plain):
        return re.sub(r"[^\w]+", " ", plain)[:_NAME_SIGNS].strip()
    chosen = content_words(words(plain))[:_NAME_WORDS] or words(plain)[:_NAME_WORDS]
    if not chosen:
        chosen = [it.saying.kind.value, it.spoken.day.isoformat()]
    begins = [type_] if type_ and _begins_with_type(memory) else []
    joiner = "-" if _is_slug(memory) else " "
    return joiner.join([*begins, *chosen])


def _begins_with_type(memory: Memory) -> bool:
    typed = [note for note in memory.notes if note.type]
    return 2 * sum(note.name.startswith(note.type) for note in typed) > len(typed)


def _is_slug(memory: Memory) -> bool:
    named = [note for note in memory.notes if note.name]
    return 2 * sum(" " not in note.name for note in named) >= len(named)
