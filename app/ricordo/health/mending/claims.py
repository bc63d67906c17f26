"""Mending claims: what the project calls it now stands in the place of the old name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from ricordo.health.finding import Fix
from ricordo.health.mending.lines import Splice, line_edits
from ricordo.health.vocabulary import any_of, expressions, lowered
from ricordo.memory.note import Note


def in_new_words(note: Note, line: int, old: str, new: str, evidence: Sequence[str]) -> Fix | None:
    """Return the fix that writes `new` for `old` on the 1-based `line` of `note`; None where that
    stands there other than once, or where the line knows of the other name: it names that too, or
    speaks of a link, of a move, of what was. A person has to see it: the sentence may say more of
    the old one.
    """
    start = 0
    for _ in range(line - 1):
        start = note.text.find("\n", start) + 1
    end = note.text.find("\n", start)
    end = len(note.text) if end < 0 else end
    at = note.text.find(old, start, end)
    if at < 0 or note.text.find(old, at + 1, end) >= 0:
        return None
    rest = note.text[start:at] + " " + note.text[at + len(old) : end]
    named = re.search(rf"(?<!\w){re.escape(new.strip('./'))}(?!\w)", rest)
    if named or _knows_of_both().search(lowered(rest)):
        return None
    acts = line_edits(note, [Splice(at, at + len(old), new)])
    return Fix(f"write {new} for {old}", acts, reason=evidence[0] if evidence else "")


@cache
def _knows_of_both() -> re.Pattern[str]:
    words = any_of([*expressions("probes", "link"), *expressions("probes", "gone")])
    return re.compile(f"{words}|[→⇒↦]|[-=]>")
