"""Rules on two notes that cannot both stay as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ricordo.health.conflicts.standing import cause_of, cause_of_texts, line_of, standing
from ricordo.health.evidence import NotePair, Relation
from ricordo.health.finding import Severity
from ricordo.health.rule import Context, Found, memory_rule
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note

RULE_OF = {
    Relation.EXCLUDES: "contradiction",
    Relation.MAY_EXCLUDE: "contradiction",
    Relation.REPEATS: "duplicate",
    Relation.MAY_REPEAT: "duplicate",
}
"""The rules that tell of pairs of notes, or would if there were no doubt."""


def _rests_on(relation: Relation) -> Callable[[Memory, Context], tuple[object, ...]]:
    return lambda memory, context: tuple(_told(memory, context, relation))


def _told(
    memory: Memory, context: Context, relation: Relation
) -> Iterator[tuple[NotePair, Note, Note]]:
    """The pairs of a relation whose statements both still stand."""
    for pair in standing(memory, context.evidence.pairs, relation):
        yield pair, memory.by_path[pair.left.path], memory.by_path[pair.right.path]


@memory_rule(
    RULE_OF[Relation.EXCLUDES],
    Severity.WARNING,
    "two notes whose claims cannot both hold",
    rests_on=_rests_on(Relation.EXCLUDES),
)
def contradiction(memory: Memory, context: Context) -> Iterator[Found]:
    """Statements that exclude each other, once for two notes."""
    for pair, left, right in _told(memory, context, Relation.EXCLUDES):
        line = line_of(left, pair.left)
        there = f"{right.path}:{line_of(right, pair.right)}"
        message = f"Cannot hold beside {there}, {pair.reason}."
        evidence = (f"{left.path}:{line}: {pair.left.text}", f"{there}: {pair.right.text}")
        cause = cause_of(pair)
        yield Found(line, message, cause, evidence, left.path, is_anywhere=True, other=right.path)


@memory_rule(
    RULE_OF[Relation.REPEATS],
    Severity.WARNING,
    "two notes say nearly the same",
    rests_on=_rests_on(Relation.REPEATS),
)
def duplicate(memory: Memory, context: Context) -> Iterator[Found]:
    """Notes of which one would do."""
    for _, left, right in _told(memory, context, Relation.REPEATS):
        message = f"Says nearly the same as {right.path}."
        evidence = tuple(f"{it.path}: {it.description or it.name}" for it in (left, right))
        cause = cause_of_texts(left.body, right.body)
        yield Found(0, message, cause, evidence, left.path, is_anywhere=True, other=right.path)
