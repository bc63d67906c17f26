"""Taking out what cannot be seen, and masking what must not be."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ricordo.health.finding import Fix
from ricordo.health.mending.lines import Splice, line_edits
from ricordo.memory.note import Note
from ricordo.secrets import Secret, find_secrets

_SEQUENCE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[PX^_][^\x1b\n]*\x1b\\)"
)
"""A terminal escape with what belongs to it: colours, titles, links, device strings."""


def take_out(note: Note, hidden: Sequence[re.Match[str]]) -> Fix:
    """Return the fix that takes the `hidden` characters of one line out of `note`, an escape with
    all of its sequence.
    """
    splices: list[Splice] = []
    for match in hidden:
        sequence = _SEQUENCE.match(note.text, match.start())
        start, end = (sequence or match).span()
        if not splices or start >= splices[-1].end:
            splices.append(Splice(start, end, ""))
    return Fix("take the invisible characters out", line_edits(note, splices))


def mask_value(note: Note, found: Secret, every: Iterable[Secret]) -> Fix | None:
    """Return the fix that puts the name of its kind in the place of a credential, and of `every`
    other one that stands on the same lines; None where it is only a word that is somewhere else
    the value of a credential.
    """
    if _is_plain_word(note, found):
        return None
    begin = note.text.rfind("\n", 0, found.start) + 1
    stop = note.text.find("\n", found.end)
    stop = stop if stop >= 0 else len(note.text)
    splices = [
        Splice(other.start, other.end, f"[secret: {other.kind}]")
        for other in every
        if begin <= other.start and other.end <= stop and not _is_plain_word(note, other)
    ]
    return Fix(
        f"mask the value ({found.kind})",
        line_edits(note, splices),
        reason=f"A credential ({found.kind}) stood in the text for every agent to read.",
    )


def _is_plain_word(note: Note, found: Secret) -> bool:
    """Whether letters are taken for a credential only because they are one somewhere else: they
    would not be found if they stood here alone.
    """
    text, value = note.text, note.text[found.start : found.end]
    if not value.isalpha() or text.count(value) == 1:
        return False
    blank = text.replace(value, " " * len(value))
    alone = blank[: found.start] + value + blank[found.end :]
    return all(not it.start <= found.start < it.end for it in find_secrets(alone))
