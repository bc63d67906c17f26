"""What the agent kept of turns that it has forgotten: its summary of a compaction, by section."""

from __future__ import annotations

from collections.abc import Iterator

from ricordo.handoff.composing.headed import CHECK, headed
from ricordo.handoff.composing.quoting import quoting
from ricordo.handoff.composing.room import Room
from ricordo.handoff.facts import Facts
from ricordo.handoff.statement import Section, Statement

_LABEL = "The agent's summary of earlier turns"


def summarized(facts: Facts, room: Room) -> Iterator[Statement]:
    """Yield what the last summary says, by section: it stands in the place of earlier ones. One
    without a heading that is known is quoted as what was done.
    """
    written = [it for it in facts.summaries if it.text.strip()]
    if not written:
        return
    last = written[-1]
    found = [it for it in headed(last.text) if any(map(str.isalnum, it.text))]
    for about, words in found:
        section = Section.NEXT if about == CHECK else Section(about)
        yield quoting(section, _LABEL, words, last.ref, (last.id,), room.answer)
    if not found:
        yield quoting(Section.DONE, _LABEL, last.text, last.ref, (last.id,), room.report)
