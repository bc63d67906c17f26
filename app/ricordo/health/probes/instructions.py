"""Notes that repeat what the project tells its agents anyway: CLAUDE.md, AGENTS.md, rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ricordo.disk.project_tree import ProjectTree
from ricordo.health.evidence import ClaimKind, Outcome, Verdict
from ricordo.health.prose import Statement, statements
from ricordo.memory.layout import Role
from ricordo.memory.note import Note
from ricordo.recall.likeness import ratio, token_set_ratio

_FILE = re.compile(
    r"(?:\.claude/)?(?:CLAUDE|AGENTS|GEMINI)(?:\.local)?\.md|\.claude/rules/.+\.md"
    r"|\.github/copilot-instructions\.md|\.cursorrules|\.cursor/rules/.+\.mdc?"
)
_MARKS = re.compile(r"https?://\S+|^\s*(?:[-*+]|\d+[.)]|#{1,6})\s+|[*_`]|\[([^\]]*)\]\([^)]*\)")
_LABEL = re.compile(r"^(?:\*\*)?[\w ]{2,24}:(?:\*\*)?\s+")
_WORD = re.compile(r"\w+")
_FEWEST_WORDS = 6
_ALIKE = 88.0
"""Of 100: the whole sentence in the same order."""
_CONTAINED = 97.0
"""Of 100: all words of the one in the other."""
_MOST_LINES = 2_000
_SHARED = 0.5
"""Of the words of a statement, before it is compared at all."""


class Instruction(NamedTuple):
    """One line of the instructions of a project."""

    path: str
    line: int
    text: str
    words: frozenset[str]


def read_instructions(tree: ProjectTree) -> tuple[Instruction, ...]:
    """Return the lines of the instructions that agents are given at the root of the project."""
    found: list[Instruction] = []
    for path in sorted(path for path in tree.files if _FILE.fullmatch(path)):
        text = (tree.read(path) or b"").decode("utf-8", "replace")
        for number, line in enumerate(text.split("\n"), 1):
            plain = _plain(line)
            words = frozenset(_WORD.findall(plain))
            if len(words) >= _FEWEST_WORDS and not line.startswith("#"):
                found.append(Instruction(path, number, plain, words))
    return tuple(found[:_MOST_LINES])


def says(text: str, instructions: tuple[Instruction, ...]) -> bool:
    """Say whether the instructions make the statement `text` as well."""
    plain = _plain(text)
    words = frozenset(_WORD.findall(plain))
    is_long = len(words) >= _FEWEST_WORDS
    return is_long and _same(plain, words, instructions) is not None


def repeated(note: Note, instructions: tuple[Instruction, ...]) -> Iterator[Verdict]:
    """Yield the statements of a note that the instructions make as well, those of its body before
    its description.
    """
    first = note.text.count("\n", 0, note.head.end) + 1
    own = statements(note) if instructions and note.role is Role.NOTE else ()
    for statement in sorted(own, key=lambda it: it.line < first):
        for text in _texts(statement):
            words = frozenset(_WORD.findall(text))
            if len(words) < _FEWEST_WORDS:
                continue
            same = _same(text, words, instructions)
            if same is not None:
                told = f"{same.path}:{same.line}: {same.text}"
                quoted = statement.quoted(0)
                yield Verdict(quoted, ClaimKind.INSTRUCTION, statement.line, Outcome.HOLDS, (told,))
                break


def _texts(statement: Statement) -> tuple[str, ...]:
    """What is compared: the statement, and without the label before it."""
    plain = _plain(statement.text)
    bare = _plain(_LABEL.sub("", statement.text.strip()))
    return tuple(dict.fromkeys((plain, bare)))


def _same(
    text: str, words: frozenset[str], instructions: tuple[Instruction, ...]
) -> Instruction | None:
    for each in instructions:
        shared = len(words & each.words)
        if shared < _SHARED * max(len(words), len(each.words)):
            continue
        if ratio(text, each.text) >= _ALIKE:
            return each
        is_as_long = 2 * len(each.words) >= len(words)
        if is_as_long and token_set_ratio(text, each.text) >= _CONTAINED:
            return each
    return None


def _plain(text: str) -> str:
    bare = _MARKS.sub(lambda match: match[1] or "", text)
    return " ".join(bare.lower().split()).strip(" .:;")
