"""Notes that repeat the instructions of a project, which agents load at every start."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from ricordo.agents.registry import instruction_files, instruction_folders
from ricordo.lint.evidence import CheckOutcome, ClaimKind, Verdict
from ricordo.lint.prose import LONGEST_STATEMENT, ProseBlock, statements
from ricordo.memory.layout import FileRole
from ricordo.memory.note import Note
from ricordo.search.fuzzy import ratio, token_set_ratio
from ricordo.storage.project_tree import ProjectTree

_NAMES = "|".join(map(re.escape, instruction_files()))
_FOLDERS = "|".join(map(re.escape, instruction_folders()))
_FILE = re.compile(
    rf"(?:(?:{_FOLDERS})/)?(?:{_NAMES})(?:\.local)?\.md|(?:{_FOLDERS})/rules/.+\.md"
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
_TELLING = 4
"""Letters from which a word tells what a line is about."""


class Instruction(NamedTuple):
    """One line of the instructions of a project."""

    path: str
    line: int
    text: str
    words: frozenset[str]


class Instructions:
    """All that a project tells its agents, found by its words."""

    def __init__(self, lines: Iterable[Instruction]) -> None:
        self._by_word: dict[str, list[Instruction]] = defaultdict(list)
        for line in islice(lines, _MOST_LINES):
            for word in line.words:
                if len(word) >= _TELLING:
                    self._by_word[word].append(line)

    @classmethod
    def of(cls, tree: ProjectTree) -> Instructions:
        """Read the instructions at the root of a project."""
        return cls(_lines(tree))

    def near(self, words: frozenset[str]) -> list[Instruction]:
        """Return the lines that share half of the telling ones of these words."""
        telling = [word for word in words if len(word) >= _TELLING]
        shared = Counter(line for word in telling for line in self._by_word.get(word, ()))
        return [line for line, count in shared.most_common() if 2 * count >= len(telling)]


def _lines(tree: ProjectTree) -> Iterator[Instruction]:
    for path in sorted(path for path in tree.files if _FILE.fullmatch(path)):
        text = (tree.read(path) or b"").decode("utf-8", "replace")
        for number, line in enumerate(text.split("\n"), 1):
            plain = _plain(line) if len(line) <= LONGEST_STATEMENT else ""
            words = frozenset(_WORD.findall(plain))
            if len(words) >= _FEWEST_WORDS and not line.startswith("#"):
                yield Instruction(path, number, plain, words)


def says(text: str, instructions: Instructions) -> bool:
    """Say whether the instructions make the statement `text` as well."""
    return _same(_plain(text), instructions) is not None


def repeated(note: Note, instructions: Instructions) -> Iterator[Verdict]:
    """Yield the statements of a note that the instructions make as well, those of its body before
    its description.
    """
    first = note.text.count("\n", 0, note.head.end) + 1
    own = statements(note) if note.role is FileRole.NOTE else ()
    for statement in sorted(own, key=lambda it: it.line < first):
        same = next(filter(None, (_same(text, instructions) for text in _texts(statement))), None)
        if same is not None:
            told = (f"{same.path}:{same.line}: {same.text}",)
            said = statement.quoted(0)
            yield Verdict(said, ClaimKind.INSTRUCTION, statement.line, CheckOutcome.HOLDS, told)


def _texts(statement: ProseBlock) -> tuple[str, ...]:
    """What is compared: the statement, and without the label before it."""
    plain = _plain(statement.text)
    bare = _plain(_LABEL.sub("", statement.text.strip()))
    return tuple(dict.fromkeys((plain, bare)))


def _same(text: str, instructions: Instructions) -> Instruction | None:
    words = frozenset(_WORD.findall(text))
    if len(words) < _FEWEST_WORDS:
        return None
    for each in instructions.near(words):
        if ratio(text, each.text) >= _ALIKE:
            return each
        shorter, longer = sorted((len(each.words), len(words)))
        if 2 * shorter >= longer and token_set_ratio(text, each.text) >= _CONTAINED:
            return each
    return None


def _plain(text: str) -> str:
    bare = _MARKS.sub(lambda match: match[1] or "", text)
    return " ".join(bare.lower().split()).strip(" .:;")
