"""Statements of notes that repeat the instructions of the project, loaded at every start."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from ricordo.agents.registry import list_instruction_files, list_instruction_folders
from ricordo.lint.evidence import CheckOutcome, ClaimKind, Verdict
from ricordo.lint.prose import MAX_STATEMENT, ProseBlock, extract_statements, first_line_of_body
from ricordo.memory.layout import FileRole
from ricordo.memory.note import Note
from ricordo.patterns import compile_lazily
from ricordo.search.fuzzy import similarity_ratio, token_set_ratio
from ricordo.storage.project_tree import ProjectTree

_NAMES = "|".join(map(re.escape, list_instruction_files()))
_FOLDERS = "|".join(map(re.escape, list_instruction_folders()))
_FILE = compile_lazily(
    rf"(?:(?:{_FOLDERS})/)?(?:{_NAMES})(?:\.local)?\.md|(?:{_FOLDERS})/rules/.+\.md"
    r"|\.github/copilot-instructions\.md|\.cursorrules|\.cursor/rules/.+\.mdc?"
)
_MARKS = compile_lazily(r"https?://\S+|^\s*(?:[-*+]|\d+[.)]|#{1,6})\s+|[*_`]|\[([^\]]*)\]\([^)]*\)")
_LABEL = compile_lazily(r"^(?:\*\*)?[\w ]{2,24}:(?:\*\*)?\s+")
_WORD = compile_lazily(r"\w+")
_FEWEST_WORDS = 6
_ALIKE = 88.0
"""Minimum likeness of whole sentences in the same word order, of 100."""
_CONTAINED = 97.0
"""Minimum likeness where one sentence contains the words of the other, of 100."""
_MOST_LINES = 2_000
_KEYWORD = 4
"""Letters from which a word is a keyword."""


class Instruction(NamedTuple):
    """One line of the instructions of a project."""

    path: str
    line: int
    text: str
    words: frozenset[str]


class Instructions:
    """The instructions of a project, by their keywords."""

    def __init__(self, lines: Iterable[Instruction]) -> None:
        self._by_word: dict[str, list[Instruction]] = defaultdict(list)
        for line in islice(lines, _MOST_LINES):
            for word in line.words:
                if len(word) >= _KEYWORD:
                    self._by_word[word].append(line)

    @classmethod
    def from_tree(cls, tree: ProjectTree) -> Instructions:
        """Read the instructions at the root of a project."""
        return cls(_read_lines(tree))

    def find_near(self, words: frozenset[str]) -> list[Instruction]:
        """Return the lines that contain at least half of the keywords among `words`."""
        keywords = [word for word in words if len(word) >= _KEYWORD]
        shared = Counter(line for word in keywords for line in self._by_word.get(word, ()))
        return [line for line, count in shared.most_common() if 2 * count >= len(keywords)]


def is_instruction_file(path: str) -> bool:
    """Return whether the file at `path`, relative to a project, has instructions for agents."""
    return bool(_FILE.fullmatch(path))


def _read_lines(tree: ProjectTree) -> Iterator[Instruction]:
    for path in sorted(filter(is_instruction_file, tree.files)):
        text = (tree.read(path) or b"").decode("utf-8", "replace")
        for number, line in enumerate(text.split("\n"), 1):
            plain = _plain(line) if len(line) <= MAX_STATEMENT else ""
            words = frozenset(_WORD.findall(plain))
            if len(words) >= _FEWEST_WORDS and not line.startswith("#"):
                yield Instruction(path, number, plain, words)


def is_instruction(text: str, instructions: Instructions) -> bool:
    """Return whether the instructions contain the statement `text`, too."""
    return _find_same(_plain(text), instructions) is not None


def find_repeated(note: Note, instructions: Instructions) -> Iterator[Verdict]:
    """Yield a verdict for each statement of a note that the instructions contain, too; those of its
    body before its description.
    """
    first = first_line_of_body(note)
    blocks = extract_statements(note) if note.role is FileRole.NOTE else ()
    for block in sorted(blocks, key=lambda block: block.line < first):
        texts = _texts_of(block)
        same = next(filter(None, (_find_same(text, instructions) for text in texts)), None)
        if same is not None:
            evidence = (f"{same.path}:{same.line}: {same.text}",)
            claim = block.line_text_at(0)
            yield Verdict(claim, ClaimKind.INSTRUCTION, block.line, CheckOutcome.VALID, evidence)


def _texts_of(statement: ProseBlock) -> tuple[str, ...]:
    """Return the texts to compare: the statement, and the statement without its label."""
    plain = _plain(statement.text)
    bare = _plain(_LABEL.sub("", statement.text.strip()))
    return tuple(dict.fromkeys((plain, bare)))


def _find_same(text: str, instructions: Instructions) -> Instruction | None:
    words = frozenset(_WORD.findall(text))
    if len(words) < _FEWEST_WORDS:
        return None
    for each in instructions.find_near(words):
        if similarity_ratio(text, each.text) >= _ALIKE:
            return each
        shorter, longer = sorted((len(each.words), len(words)))
        if 2 * shorter >= longer and token_set_ratio(text, each.text) >= _CONTAINED:
            return each
    return None


def _plain(text: str) -> str:
    bare = _MARKS.sub(lambda match: match[1] or "", text)
    return " ".join(bare.lower().split()).strip(" .:;")
