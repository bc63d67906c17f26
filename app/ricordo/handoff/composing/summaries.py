"""What the agent kept of turns that it has forgotten: its summary of a compaction, by section."""

from __future__ import annotations

from collections.abc import Iterator

from ricordo.handoff.composing.headed import headed
from ricordo.handoff.composing.quoting import quoting
from ricordo.handoff.facts import Facts
from ricordo.handoff.statement import Section, Statement

_LABEL = "The agent's summary of earlier turns"
_LONGEST = 700
_LONGEST_WHOLE = 1_200


def summarized(facts: Facts) -> dict[Section, list[Statement]]:
    """Return what the last summary says, by section: earlier ones it replaces. One without headings
    that are known is quoted as what was done.
    """
    written = [it for it in facts.summaries if it.text.strip()]
    if not written:
        return {}
    last = written[-1]
    found: dict[Section, list[Statement]] = {}
    for section, words in headed(last.text):
        told = quoting(section, _LABEL, words, last.ref, (last.id,), _LONGEST)
        found.setdefault(section, []).append(told)
    if not found:
        whole = quoting(Section.DONE, _LABEL, last.text, last.ref, (last.id,), _LONGEST_WHOLE)
        found[Section.DONE] = [whole]
    return found


def with_summaries(told: tuple[Statement, ...], facts: Facts) -> Iterator[Statement]:
    """Yield the statements that were `told`, in their order, each section followed by what the last
    summary says of it.
    """
    kept = summarized(facts)
    for section in Section:
        yield from (it for it in told if it.section is section)
        yield from kept.get(section, ())
