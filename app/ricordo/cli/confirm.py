"""Asking, where a person sits at the terminal, for a word that has to be typed."""

from __future__ import annotations

import sys

from ricordo.cli.output import print_errors


def is_at_terminal() -> bool:
    """Say whether a person can be asked and can see it."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def is_confirmed(told: list[str], word: str, what: str) -> bool:
    """Show what is `told`, and say whether the person typed `word` to have `what` done; nobody did
    where there is no terminal.
    """
    if not is_at_terminal():
        return False
    lines = [*told, f"Type “{word}” to {what}:"]
    print_errors(lines)
    return sys.stdin.readline().strip() == word
