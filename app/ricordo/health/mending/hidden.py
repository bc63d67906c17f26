"""Taking out what cannot be seen, and masking what must not be."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ricordo.health.finding import Fix
from ricordo.health.mending.lines import Splice, line_edits
from ricordo.memory.note import Note
from ricordo.secrets import Secret

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


def mask_value(note: Note, found: Secret, every: Iterable[Secret]) -> Fix:
    """Return the fix that puts the name of its kind in the place of a credential, and of `every`
    other one that stands on the same lines.
    """
    begin = note.text.rfind("\n", 0, found.start) + 1
    stop = note.text.find("\n", found.end)
    stop = stop if stop >= 0 else len(note.text)
    splices = [
        Splice(other.start, other.end, f"[secret: {other.kind}]")
        for other in every
        if begin <= other.start and other.end <= stop
    ]
    return Fix(
        f"mask the value ({found.kind})",
        line_edits(note, splices),
        reason=f"A credential ({found.kind}) stood in the text for every agent to read.",
    )
