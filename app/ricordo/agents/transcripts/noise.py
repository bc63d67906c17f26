"""Which messages nobody wrote, by the table `marks.toml` of an agent."""

from __future__ import annotations

import re
from functools import cache

from ricordo.agents.agent import Agent, read_table
from ricordo.agents.transcripts.session import Noise
from ricordo.patterns import compile_lazily

_INSERTED = compile_lazily(r"<system-reminder>.*?(?:</system-reminder>|\Z)\s*", re.DOTALL)
"""Text that the program inserts into messages of the user, before or behind theirs."""
_TYPED_NAME = compile_lazily(r"<command-name>\s*(/?[\w:.-]+)\s*</command-name>")


def classify_noise(agent: Agent, text: str) -> Noise | None:
    """Return what a `text` in the user's place is; None if the user wrote it."""
    start = text.lstrip()
    for mark, noise in read_table(agent, "marks").get("starts", {}).items():
        if start.startswith(mark):
            return Noise(noise)
    return None


def output_begins(agent: Agent, part: str, output: str) -> bool:
    """Say whether the `output` of a call begins like those of a `part` of the table: `failing`
    without an exit code, `stopped`, or `denied`.
    """
    return _strip_error_prefix(output).startswith(tuple(read_table(agent, "marks")[part]["starts"]))


def read_refusal(agent: Agent, output: str) -> tuple[bool, str]:
    """Return whether the `output` of a call says that the user rejected it, and what the user said;
    "" if nothing.
    """
    marks = read_table(agent, "marks").get("refused", {})
    if not _strip_error_prefix(output).startswith(tuple(marks.get("starts", ()))):
        return False, ""
    for mark in marks["words_behind"]:
        _, match, words = output.partition(mark)
        if match:
            for end in marks.get("words_before", ()):
                words = words.partition(end)[0]
            is_own = not words.strip().startswith(tuple(marks.get("no_words", ())))
            return True, words.strip() if is_own else ""
    return True, ""


def _strip_error_prefix(output: str) -> str:
    """Return an output without the prefixes of an error."""
    return output.removeprefix("<tool_use_error>").removeprefix("Error: ")


def strip_insertions(text: str) -> str:
    """Return a message of the user without what the program inserted."""
    return _INSERTED.sub("", text).strip() if "<system-reminder>" in text else text.strip()


def read_typed_command(text: str) -> str:
    """Return a slash command as the user typed it, if words follow it; "" if none do."""
    name = _TYPED_NAME.search(text)
    words = text.partition("<command-args>")[2].partition("</command-args>")[0].strip()
    return f"{name[1]} {words}" if name and words else ""


@cache
def list_expected(agent: Agent, part: str) -> frozenset[str]:
    """Return the kinds of lines or `part`s that are known to hold no message and no action; others
    that no reader knows are counted as unknown.
    """
    return frozenset(read_table(agent, "marks")[part])
