"""Recall: the few notes to read for a message, with the reasons for each."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from hashlib import sha256
from itertools import islice
from typing import NamedTuple

from ricordo import __version__
from ricordo.agents.place import MemoryPlace
from ricordo.memory.layout import MemoryKind
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.resources import data_text
from ricordo.search.index import SearchIndex
from ricordo.search.question import RecallQuestion
from ricordo.search.select import MOST, select
from ricordo.search.snippet import passage
from ricordo.search.store import Withholding
from ricordo.services.workspace.environment import Environment

_RULES = ("secrets/rules.toml", "lint/rules/safety.toml")


@cache
def withholding() -> Withholding:
    """Return what an index is told of it; the version changes with the rules."""
    rules = sha256("\0".join((__version__, *map(data_text, _RULES))).encode())
    return Withholding(_is_withheld, rules.hexdigest())


def _is_withheld(note: Note) -> bool:
    # an index that is up to date asks of no note, and loads no rule
    from ricordo.lint.rules.safety import is_unsafe

    return is_unsafe(note)


BUDGET = 20_000
"""Bytes of notes for one message."""

_FIRST_CHOICE = (
    MemoryKind.CLAUDE,
    MemoryKind.WIKI,
    MemoryKind.FOLDER,
    MemoryKind.CLAUDE_AGENT,
    MemoryKind.LETTA,
    MemoryKind.CODEX,
)
"""Which memory of a project the hook answers from, where several have an index."""

Meaning = Callable[[str, Sequence[bytes]], Sequence[float]]
"""A second score, by meaning; `recall.select` says what it is given and gives."""


class RecallResult(NamedTuple):
    """A note that was found."""

    note: Note
    score: float
    why: tuple[str, ...]
    snippet: str
    """The passage that speaks of it, on one line."""
    marks: tuple[tuple[int, int], ...] = ()
    """Where words of the question stand in the snippet: start and end."""


def line_of_passage(result: RecallResult) -> int:
    """Return the line of the note on which the first word stands that is marked in the passage; 0
    where none is, or the passage is not from the body.
    """
    note, said = result.note, result.snippet
    if not result.marks:
        return 0
    before = 1 if said.startswith("…") else 0
    passage = said[before:].removesuffix("…")
    # the passage is on one line: words are counted up to the mark, and again in the body
    start = " ".join(note.body.split()).find(passage)
    if start < 0:
        return 0
    words = " ".join(note.body.split()).count(" ", 0, start + result.marks[0][0] - before)
    word = next(islice(re.finditer(r"\S+", note.body), words, None), None)
    return note.line_of(note.head.end + word.start()) if word else 0


def open_index(place: MemoryPlace, environment: Environment) -> SearchIndex:
    """Return the index of the memory at `place`; nothing is read or written yet."""
    rank = _FIRST_CHOICE.index(place.layout.kind)
    root = os.path.realpath(place.root)
    return SearchIndex(environment.state, root, place.project, rank, withholding())


def recall(
    index: SearchIndex,
    memory: Memory,
    message: str,
    environment: Environment,
    most: int = MOST,
    never: Collection[str] = (),
    budget: int = BUDGET,
    meaning: Meaning | None = None,
    for_agents: bool = True,
) -> list[RecallResult]:
    """Return the notes of `memory` that bear on `message`, best first: at most `most`, of at most
    `budget` bytes together, none of the paths `never`; `for_agents` none that are withheld from
    them.
    """
    today = environment.now.date()
    question = RecallQuestion(message, today)
    raw = frozenset(map(os.fsencode, never))
    chosen = index.ask(
        memory,
        lambda reader: select(
            reader, question, today, most, raw, meaning=meaning, for_agents=for_agents
        ),
    )
    results: list[RecallResult] = []
    for it in chosen:
        note = memory.by_path.get(os.fsdecode(it.path))
        if note is None:
            # another process brought the index further meanwhile
            continue
        budget -= note.facts.size
        if results and budget < 0:
            break
        text, marks = passage(note, question.stems)
        results.append(RecallResult(note, it.score, tuple(it.why), text, marks))
    return results


def describe_results(
    results: Sequence[RecallResult], roots: Sequence[str] = ()
) -> Mapping[str, object]:
    """Return what `search --json` and `recall --json` print; with `roots` beside the results, the
    memory of each.
    """
    memories = [{"memory": root} for root in roots] or [{} for _ in results]
    return {
        "results": [
            {
                "path": it.note.path,
                "name": it.note.name,
                "description": it.note.description,
                "type": it.note.type,
                "score": round(it.score, 4),
                "why": list(it.why),
                "snippet": it.snippet,
                **memory,
            }
            for it, memory in zip(results, memories, strict=True)
        ]
    }
