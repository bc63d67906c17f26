"""Asking an index, for tests."""

from __future__ import annotations

from datetime import date

from ricordo.memory.memory import Memory
from ricordo.search.index import SearchIndex
from ricordo.search.question import RecallQuestion
from ricordo.search.rank import rank
from ricordo.search.select import STRICT, Strictness, select

TODAY = date(2026, 11, 20)
QUESTIONS = (
    "tide cache sqlite",
    "when are releases deployed",
    "café 会議",
    "new words here",
    "por",
)


def ranked(index: SearchIndex, memory: Memory, message: str) -> list[tuple[str, float]]:
    """Return the paths for a message with their scores, best first."""
    question = RecallQuestion(message, TODAY)
    found = index.query(memory, lambda reader: rank(reader, question, TODAY))
    return [(it.row.path.decode(), round(it.score, 6)) for it in found.candidates]


def everything(index: SearchIndex, memory: Memory) -> list[list[tuple[str, float]]]:
    """Return the answers to all questions."""
    return [ranked(index, memory, question) for question in QUESTIONS]


def selected(
    index: SearchIndex, memory: Memory, message: str, strictness: Strictness = STRICT
) -> list[str]:
    """Return the paths of the notes that are relevant to a message."""
    question = RecallQuestion(message, TODAY)
    found = index.query(
        memory, lambda reader: select(reader, question, TODAY, strictness=strictness)
    )
    return [it.path.decode() for it in found]
