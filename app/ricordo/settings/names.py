"""The names that settings may use. The caller passes them in: this package knows no rule and no
action.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple


class ActionKeys(NamedTuple):
    """Something that a key does."""

    id: str
    keys: tuple[str, ...]
    """The keys that it has by default."""
    contexts: frozenset[str]
    """Where these keys work; two actions of one context cannot share a key."""


class SettingsNames(NamedTuple):
    """All the names that settings may use, with their defaults."""

    rules: Mapping[str, str] = {}
    """Rules, with the default severity of each."""
    thresholds: Mapping[str, float] = {}
    actions: tuple[ActionKeys, ...] | None = None
    """None without a screen; the keymap is not read then."""
    themes: Collection[str] = ()
    home: str = ""
    """The directory that a leading `~` means."""
