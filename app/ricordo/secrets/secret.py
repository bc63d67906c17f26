"""What is found: a credential in a text."""

from __future__ import annotations

from typing import NamedTuple


class Secret(NamedTuple):
    """A credential in a text: what it is, and where its value starts and ends."""

    kind: str
    start: int
    end: int
