"""Recall: the few notes that are relevant to a message, with the reasons for each."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from ricordo import __version__
from ricordo.agents.agent import MemoryPlace
from ricordo.memory.memory import Memory
from ricordo.memory.note import Note
from ricordo.resources import read_data_text
from ricordo.search.index import SearchIndex
from ricordo.search.question import RecallQuestion
from ricordo.search.reader import IndexReader
from ricordo.search.select import BROAD, MAX_SELECTED, Selected, Strictness, select
from ricordo.search.snippet import extract_passage
from ricordo.search.store import Withholding
from ricordo.secrets import mask_passage
from ricordo.services.workspace.environment import Environment

if TYPE_CHECKING:
    from ricordo.search.semantic import NoteSimilarity

_RULES = ("secrets/rules.toml", "lint/rules/safety.toml")


@cache
def load_withholding() -> Withholding:
    """Return which notes an index withholds from agents; the version changes with the rules."""
    rules = sha256("\0".join((__version__, *map(read_data_text, _RULES))).encode())
    return Withholding(_is_withheld, rules.hexdigest())


def _is_withheld(note: Note) -> bool:
    # imported late: an index that is up to date loads no rules
    from ricordo.lint.rules.safety import is_unsafe

    return is_unsafe(note)


class RecallResult(NamedTuple):
    """A note that was found."""

    note: Note
    score: float
    why: tuple[str, ...]
    snippet: str
    """The matching passage, on one line."""
    marks: tuple[tuple[int, int], ...] = ()
    """Start and end of the words of the question in the snippet."""


def find_line_of_passage(result: RecallResult) -> int:
    """Return the line of the note with the first marked word of the passage; 0 if nothing is
    marked, or the passage is not from the body.
    """
    note, snippet = result.note, result.snippet
    if not result.marks:
        return 0
    before = 1 if snippet.startswith("…") else 0
    passage = snippet[before:].removesuffix("…")
    # the passage is on one line: words are counted up to the mark, and again in the body
    start = " ".join(note.body.split()).find(passage)
    if start < 0:
        return 0
    words = " ".join(note.body.split()).count(" ", 0, start + result.marks[0][0] - before)
    word = next(islice(re.finditer(r"\S+", note.body), words, None), None)
    return note.line_of(note.frontmatter.end + word.start()) if word else 0


def open_index(place: MemoryPlace, environment: Environment) -> SearchIndex:
    """Return the index of the memory at `place`; nothing is read or written yet."""
    root = os.path.realpath(place.root)
    return SearchIndex(
        environment.state, root, place.project, place.layout.recall_rank, load_withholding()
    )


def _load_similarity(memory: Memory, reader: IndexReader) -> NoteSimilarity | None:
    if not find_spec("onnxruntime"):
        return None
    # imported late: the library and the model take longer than most commands
    from ricordo.search.semantic import NoteSimilarity, load_model

    model = load_model()
    return NoteSimilarity(model, memory, reader) if model else None


def recall(
    index: SearchIndex,
    memory: Memory,
    message: str,
    environment: Environment,
    most: int = MAX_SELECTED,
    never: Collection[str] = (),
    for_agents: bool = True,
    semantic: bool = False,
    strictness: Strictness = BROAD,
) -> list[RecallResult]:
    """Return at most `most` notes of `memory` that are relevant to `message`, best first: none of
    the paths `never`, and with `for_agents` none that are withheld from agents. With `semantic`,
    their meaning is measured by the model of `ricordo[semantic]`, if that is installed.
    """
    today = environment.now.date()
    question = RecallQuestion(message, today)
    raw = frozenset(map(os.fsencode, never))
    found: dict[bytes, bytes] = {}

    def answer(reader: IndexReader) -> list[Selected]:
        similarity = _load_similarity(memory, reader) if semantic else None
        selected = select(
            reader,
            question,
            today,
            most,
            raw,
            meaning=similarity.measure if similarity else None,
            for_agents=for_agents,
            strictness=strictness,
        )
        found.update(similarity.new if similarity else {})
        return selected

    selected = index.query(memory, answer)
    if found:
        index.put_passages(found)
    results: list[RecallResult] = []
    for each in selected:
        note = memory.by_path.get(os.fsdecode(each.path))
        if note is None:
            # another process updated the index meanwhile
            continue
        text, marks = extract_passage(note, question.stems)
        results.append(RecallResult(note, each.score, tuple(each.why), text, marks))
    return results


def describe_results(results: Sequence[RecallResult]) -> Mapping[str, object]:
    """Return the document of `recall --json`."""
    return {"results": [describe_result(result) for result in results]}


def describe_result(result: RecallResult) -> dict[str, object]:
    """Return a note that was found as JSON documents have it, with its secrets masked."""
    note = result.note
    return {
        "path": note.path,
        "name": mask_passage(note.name, note.text),
        "description": mask_passage(note.description, note.text),
        "type": note.type,
        "score": round(result.score, 4),
        "why": list(result.why),
        "snippet": mask_passage(result.snippet, note.text),
    }
