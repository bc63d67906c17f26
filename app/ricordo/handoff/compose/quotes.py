"""Statements that quote what the user or the agent said."""

from __future__ import annotations

import re
from typing import NamedTuple

from ricordo.handoff.document import HandoffStatement, QuoteMark, StatementSection
from ricordo.handoff.facts import Ref
from ricordo.secrets import find_secrets

_EDGES = ("\n\n", "\n", ". ", " ")
_MAX_SECRET = 8_000
"""Characters after a cut in which a credential may end that begins before it."""
_MIN_SHARE = 0.5
"""Share of the room that a quotation keeps before it is cut at a smaller edge."""


def excerpt(text: str, most: int) -> str:
    """Return the beginning of `text`: at most `most` characters, up to the end of a paragraph, a
    line, a sentence or a word. It never ends inside a credential, which could not be recognized by
    its first half.
    """
    text = text.strip()
    if len(text) <= most:
        return text
    cut = _find_edge(text[:most])
    near = find_secrets(text[: most + _MAX_SECRET])
    cut = next((secret.start for secret in near if secret.start < cut < secret.end), cut)
    return text[:cut].rstrip()


def how_much(text: str, quoted: str) -> str:
    """Return a note on how much of `text` is quoted; "" for all of it."""
    length = len(text.strip())
    return "" if len(quoted) >= length else f" (the first {len(quoted)} of {length} characters)"


def _find_edge(text: str) -> int:
    for edge in _EDGES:
        at = text.rfind(edge)
        if at >= len(text) * _MIN_SHARE:
            return at + len(edge)
    return len(text)


class Room(NamedTuple):
    """Characters for each kind of quotation."""

    first: int
    """The first request: a plan that was handed over is long, and what matters most."""
    wish: int
    """A later request."""
    wishes: int
    """All later requests."""
    report: int
    """What the agent reported last of its work."""
    answer: int
    """What it reported earlier, or only explained."""
    words: int
    """A few sentences: a question, a decision, remaining work."""


SHARES = (1.0, 0.7, 0.5, 0.35, 0.25)
"""Shares of the full room that are tried, until a handoff fits."""
_FULL_ROOM = Room(first=6_000, wish=2_000, wishes=6_000, report=4_000, answer=3_200, words=600)


def room(share: float) -> Room:
    """Return a share of the full room."""
    return Room(*(int(size * share) for size in _FULL_ROOM))


def quoting(
    section: StatementSection,
    label: str,
    words: str,
    ref: Ref,
    stands_on: tuple[str, ...],
    most: int,
) -> HandoffStatement:
    """Return a statement that quotes at most `most` characters of the beginning of `words`, which
    are from the message `ref`. `label` says whose words they are and what for.
    """
    quote = excerpt(words, most)
    return HandoffStatement(
        section, f"{label}{how_much(words, quote)}", QuoteMark(ref), stands_on, quote
    )


LONGEST_COMMAND = 300
"""Characters of a command that is written in full; a shortened one could not be run."""
_MAX_SHORTENED = 140
_MAX_RESULT = 200
_TICKS = re.compile("`+")


def code(text: str, most: int = LONGEST_COMMAND) -> str:
    """Return `text` as code in Markdown, in one line, with a `…` where it has more than `most`
    characters.
    """
    row = short(text, most)
    fence = "`" * (1 + max((len(match[0]) for match in _TICKS.finditer(row)), default=0))
    edge = " " if row.startswith("`") or row.endswith("`") else ""
    return f"{fence}{edge}{row}{edge}{fence}"


def short(text: str, most: int) -> str:
    """Return `text` on one line, with a `…` where it has more than `most` characters. It never ends
    inside a credential.
    """
    row = " ".join(text.split())
    shortened = excerpt(row, most)
    return shortened if shortened == row else f"{shortened} …"


def result(text: str) -> str:
    """Return the result of a command as the end of a statement; "" without one."""
    return f": {short(text, _MAX_RESULT)}" if text.strip() else ""


def told(command: str) -> str:
    """Return a command that was run, as code: only its beginning where it is too long to be run
    from here.
    """
    return code(command, LONGEST_COMMAND if can_be_run(command) else _MAX_SHORTENED)


def can_be_run(command: str) -> bool:
    """Return whether a command fits on a line that can be copied and run."""
    return "\n" not in command.strip() and len(command) <= LONGEST_COMMAND
