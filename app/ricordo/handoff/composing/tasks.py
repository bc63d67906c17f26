"""What stands on the list that the agent keeps of its work."""

from __future__ import annotations

from collections.abc import Iterator

from ricordo.handoff.composing.talk import Place, place
from ricordo.handoff.facts import Facts, Todo
from ricordo.handoff.statement import Quote, Section, Statement

_MOST = 12
_SECTIONS = {
    "completed": (Section.DONE, "completed"),
    "in_progress": (Section.ACTIVE, "begun"),
    "pending": (Section.NEXT, "pending"),
}


def tasks(facts: Facts, status: str) -> Iterator[Statement]:
    """Yield what stands on the list with this status: once for every turn that wrote of it, a line
    a task.
    """
    section, name = _SECTIONS[status]
    of_status = [it for it in facts.todos if it.status == status]
    kept = of_status[-_MOST:] if section is Section.DONE else of_status[:_MOST]
    by_turn: dict[Place, list[Todo]] = {}
    for it in kept:
        by_turn.setdefault(place(it.ref), []).append(it)
    for together in by_turn.values():
        quote = "\n".join(it.text for it in together)
        ids = tuple(it.id for it in together)
        yield Statement(
            section, f"On the agent's list as {name}", Quote(together[0].ref), ids, quote
        )
