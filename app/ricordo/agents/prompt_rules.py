"""What the hooks know of the agents that call them: which memories and instructions these load by
themselves, how much context they take, and how they mark who speaks. Apart from the registry, for a
hook loads next to nothing.
"""

from __future__ import annotations

import os
import re

from ricordo.agents.claude.folder import (
    find_installation,
    find_memory_directory,
    memory_directory_of_path,
)
from ricordo.patterns import compile_lazily
from ricordo.storage.foreign_file import read_plain_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ricordo.agents.workplace import Workplace


def find_loaded_memories(
    here: Workplace, around: Iterable[str], home: str, environ: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield the memory that an agent's rules name for a workplace, behind the directory whose it
    is; where it is missing, those that earlier versions named by the path of a directory `around`.
    """
    claude = find_installation(home, environ)
    root = os.path.realpath(find_memory_directory(claude, here)[0])
    if os.path.isdir(root):
        yield here.root, root
        return
    for place in around:
        yield place, os.path.realpath(memory_directory_of_path(claude, place))


USUAL_AGENT = "claude"
"""The agent whose hook names none."""
LONGEST_CONTEXT = 10_000
"""UTF-16 code units, as Claude Code counts; it writes a longer context to a file."""
_CODEX_BYTES = 2_400 * 4
"""Codex cuts a context of more than 2,500 tokens, of four bytes each."""


def measure_context(agent: str, text: str) -> float:
    """Return how much of the room that `agent` has for context `text` takes, of 1."""
    if agent == "codex":
        return len(text.encode("utf-8", "surrogatepass")) / _CODEX_BYTES
    # as in memory.index, whose import would take too long
    units = len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
    return units / LONGEST_CONTEXT


_SPEAKER_TAG = compile_lazily(r"<(?=\s*/?\s*(?:system|[a-z]+[-_:])[^<>]*>)", re.IGNORECASE)
"""Start of a tag such as `</system-reminder>`, by which agents tell who speaks."""


def break_speaker_tags(text: str) -> str:
    """Return `text` without tags that mark a speaker to an agent."""
    return _SPEAKER_TAG.sub("‹", text) if "<" in text else text


_LOADED = ("CLAUDE.md", ".claude/CLAUDE.md")
_SHADOWED = ("AGENTS.md", ".claude/AGENTS.md")
_LONGEST_INSTRUCTIONS = 1 << 20


def list_shadowed_instructions(agent: str, folders: Iterable[str]) -> Iterator[str]:
    """Yield a sentence on each file with instructions in `folders` that `agent` does not load,
    because another one is beside it that does not import it.
    """
    if agent != "claude":
        return
    for folder in folders:
        loaded = [name for name in _LOADED if os.path.isfile(os.path.join(folder, name))]
        for name in _SHADOWED if loaded else ():
            path = os.path.join(folder, name)
            others = (os.path.join(folder, other) for other in loaded)
            if os.path.isfile(path) and not any(includes_file(other, path) for other in others):
                yield f"{path} is not loaded by Claude Code, because {loaded[0]} is there too."


CODE = compile_lazily(rb"(?s)```.*?```|`[^`\n]*`|<!--.*?-->")
"""What imports nothing in a file with instructions."""


def includes_file(one: str, other: str) -> bool:
    """Return whether the file with instructions at `one` imports the `other` one, is a link to it,
    or has its text.
    """
    if os.path.realpath(one) == os.path.realpath(other):
        return True
    raw = read_plain_file(one, _LONGEST_INSTRUCTIONS, follow=True) or b""
    if raw == (read_plain_file(other, _LONGEST_INSTRUCTIONS, follow=True) or b""):
        return True
    relative = os.path.relpath(other, os.path.dirname(one))
    names = "|".join(re.escape(name) for name in (relative, f"./{relative}"))
    return (
        re.search(rf"(?m)(?:^|\s)@(?:{names})(?![\w./-])".encode(), CODE.sub(b" ", raw)) is not None
    )
