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
_JOINED_BEFORE, _JOINED_BEHIND = re.compile(r"(?:\w|[\w.]/|\w-)\Z"), re.compile(r"\w|/|[-.]\w")


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
    """Whether letters that elsewhere are the value of a credential are here part of a path or of a
    longer word, or stand on a line that by itself holds no credential.
    """
    if not note.text[found.start : found.end].isalpha():
        return False
    start = note.text.rfind("\n", 0, found.start) + 1
    stop = note.text.find("\n", found.end)
    line = note.text[start : stop if stop >= 0 else len(note.text)]
    if _JOINED_BEFORE.search(line, 0, found.start - start):
        return True
    if _JOINED_BEHIND.match(line, found.end - start):
        return True
    place = (found.start - start, found.end - start)
    return all((it.start, it.end) != place for it in find_secrets(line))
