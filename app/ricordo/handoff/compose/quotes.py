"""Statements that quote what the user or the agent said."""

from __future__ import annotations

import re
from typing import NamedTuple

from ricordo.handoff.document import HandoffStatement, QuoteProof, StatementSection
from ricordo.handoff.facts import MessageRef
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


def describe_length(text: str, quoted: str) -> str:
    """Return a note on how much of `text` is quoted; "" for all of it."""
    length = len(text.strip())
    return "" if len(quoted) >= length else f" (the first {len(quoted)} of {length} characters)"


def _find_edge(text: str) -> int:
    for edge in _EDGES:
        at = text.rfind(edge)
        if at >= len(text) * _MIN_SHARE:
            return at + len(edge)
    return len(text)


class QuoteLimits(NamedTuple):
    """Characters for each kind of quotation."""

    first_request: int
    """The first request: a plan that was handed over is long, and what matters most."""
    later_request: int
    """A later request."""
    all_requests: int
    """All later requests."""
    report: int
    """What the agent reported last of its work."""
    answer: int
    """What it reported earlier, or only explained."""
    words: int
    """A few sentences: a question, a decision, remaining work."""


SHARES = (1.0, 0.7, 0.5, 0.35, 0.25)
"""Shares of the full room that are tried, until a handoff fits."""
_FULL_ROOM = QuoteLimits(
    first_request=6_000,
    later_request=2_000,
    all_requests=6_000,
    report=4_000,
    answer=3_200,
    words=600,
)


def scale_limits(share: float) -> QuoteLimits:
    """Return a share of the full room."""
    return QuoteLimits(*(int(size * share) for size in _FULL_ROOM))


def build_quote(
    section: StatementSection,
    label: str,
    words: str,
    ref: MessageRef,
    fact_ids: tuple[str, ...],
    most: int,
) -> HandoffStatement:
    """Return a statement that quotes at most `most` characters of the beginning of `words`, which
    are from the message `ref`. `label` says whose words they are and what for.
    """
    quote = excerpt(words, most)
    return HandoffStatement(
        section, f"{label}{describe_length(words, quote)}", QuoteProof(ref), fact_ids, quote
    )


MAX_COMMAND_LENGTH = 300
"""Characters of a command that is written in full; a shortened one could not be run."""
_MAX_SHORTENED = 140
_MAX_RESULT = 200
_TICKS = re.compile("`+")


def format_code(text: str, most: int = MAX_COMMAND_LENGTH) -> str:
    """Return `text` as code in Markdown, in one line, with a `…` where it has more than `most`
    characters.
    """
    row = shorten(text, most)
    fence = "`" * (1 + max((len(match[0]) for match in _TICKS.finditer(row)), default=0))
    edge = " " if row.startswith("`") or row.endswith("`") else ""
    return f"{fence}{edge}{row}{edge}{fence}"


def shorten(text: str, most: int) -> str:
    """Return `text` on one line, with a `…` where it has more than `most` characters. It never ends
    inside a credential.
    """
    row = " ".join(text.split())
    shortened = excerpt(row, most)
    return shortened if shortened == row else f"{shortened} …"


def format_result(text: str) -> str:
    """Return the result of a command as the end of a statement; "" without one."""
    return f": {shorten(text, _MAX_RESULT)}" if text.strip() else ""


def format_command(command: str) -> str:
    """Return a command that was run, as code: only its beginning where it is too long to be run
    from here.
    """
    return format_code(command, MAX_COMMAND_LENGTH if can_be_run(command) else _MAX_SHORTENED)


def can_be_run(command: str) -> bool:
    """Return whether a command fits on a line that can be copied and run."""
    return "\n" not in command.strip() and len(command) <= MAX_COMMAND_LENGTH
