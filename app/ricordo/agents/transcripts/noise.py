"""What tells noise from what was said, by the table `marks.toml` of an agent."""

from __future__ import annotations

import re
from functools import cache

from ricordo.agents.agent import Agent, read_table
from ricordo.agents.transcripts.session import Noise

_INSERTED = re.compile(r"<system-reminder>.*?(?:</system-reminder>|\Z)\s*", re.DOTALL)
"""What the program puts into messages of the person, behind what they wrote or before it."""
_TYPED_NAME = re.compile(r"<command-name>\s*(/?[\w:.-]+)\s*</command-name>")


def noise_of(agent: Agent, text: str) -> Noise | None:
    """Return what a `text` in the person's place is, where the person did not write it."""
    start = text.lstrip()
    for mark, noise in read_table(agent, "marks").get("starts", {}).items():
        if start.startswith(mark):
            return Noise(noise)
    return None


def begins(agent: Agent, part: str, output: str) -> bool:
    """Say whether the `output` of a call begins as those do that are `failing` though they tell no
    exit code, that were `stopped`, or that were `denied`.
    """
    return _bare(output).startswith(tuple(read_table(agent, "marks")[part]["starts"]))


def refusal(agent: Agent, output: str) -> tuple[bool, str]:
    """Return whether the `output` of a call says that the person did not let it be done, and what
    the person said then; "" where nothing.
    """
    marks = read_table(agent, "marks").get("refused", {})
    if not _bare(output).startswith(tuple(marks.get("starts", ()))):
        return False, ""
    for mark in marks["words_behind"]:
        _, found, words = output.partition(mark)
        if found:
            for end in marks.get("words_before", ()):
                words = words.partition(end)[0]
            is_own = not words.strip().startswith(tuple(marks.get("no_words", ())))
            return True, words.strip() if is_own else ""
    return True, ""


def _bare(output: str) -> str:
    """Return an output without what programs put before an error."""
    return output.removeprefix("<tool_use_error>").removeprefix("Error: ")


def without_insertions(text: str) -> str:
    """Return a message of the person without what the program put into it."""
    return _INSERTED.sub("", text).strip() if "<system-reminder>" in text else text.strip()


def typed_command(text: str) -> str:
    """Return a slash command as the person typed it, where words of the person's own stand behind
    it; "" where none do.
    """
    name = _TYPED_NAME.search(text)
    words = text.partition("<command-args>")[2].partition("</command-args>")[0].strip()
    return f"{name[1]} {words}" if name and words else ""


@cache
def expected(agent: Agent, part: str) -> frozenset[str]:
    """Return the kinds of lines or `part`s that are known and hold nothing that was said or done;
    all others that no reader understands are counted as unknown.
    """
    return frozenset(read_table(agent, "marks")[part])
