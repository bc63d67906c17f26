"""Words of others inside of a line of ours: commands, names, the results of commands."""

from __future__ import annotations

import re

from ricordo.handoff.composing.excerpt import excerpt

LONGEST_COMMAND = 300
"""Characters of a command that is told in full; one that is cut could not be run."""
_LONGEST_TOLD = 140
_LONGEST_RESULT = 200
_TICKS = re.compile("`+")


def code(text: str, most: int = LONGEST_COMMAND) -> str:
    """Return `text` as code in Markdown, in one line, with a `…` where it has more than `most`
    characters.
    """
    row = short(text, most)
    fence = "`" * (1 + max((len(it[0]) for it in _TICKS.finditer(row)), default=0))
    edge = " " if row.startswith("`") or row.endswith("`") else ""
    return f"{fence}{edge}{row}{edge}{fence}"


def short(text: str, most: int) -> str:
    """Return `text` in one line, with a `…` where it has more than `most` characters. It never ends
    inside of a credential.
    """
    row = " ".join(text.split())
    kept = excerpt(row, most)
    return kept if kept == row else f"{kept} …"


def result(text: str) -> str:
    """Return what tells how a command ended, to stand behind it; "" where nothing does."""
    return f": {short(text, _LONGEST_RESULT)}" if text.strip() else ""


def told(command: str) -> str:
    """Return a command as something that was done: one that is too long to be run from here is told
    by its beginning.
    """
    return code(command, LONGEST_COMMAND if can_be_run(command) else _LONGEST_TOLD)


def can_be_run(command: str) -> bool:
    """Whether a line can tell the command so that it can be run as it stands."""
    return "\n" not in command.strip() and len(command) <= LONGEST_COMMAND
