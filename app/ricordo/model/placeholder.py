"""What stands in the place of a secret in a text that leaves: `[REDACTED:kind:7]`.

A placeholder has no bracket inside, so that none holds another one. Whatever a source says in the
same manner is given a placeholder of its own: a placeholder that leaves is always one of ours.
"""

from __future__ import annotations

import re

LIKE = re.compile(r"\[ ?REDACTED(?:\b[^\[\]\n]{0,80}\])?", re.IGNORECASE)
"""Whatever could be taken for a placeholder, by us or by a model."""
GIVEN_OUT = re.compile(r"\[REDACTED:([\w-]+):\d+\]")
"""What `placeholder` makes, with its kind."""


def placeholder(kind: str, number: int) -> str:
    """Return what stands in the place of value `number`, which looks like a `kind` of secret."""
    return f"[REDACTED:{kind}:{number}]"
