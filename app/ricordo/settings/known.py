"""What there is to set. The caller hands it in: this room knows no rule and no action by itself."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple


class KnownAction(NamedTuple):
    """Something that a key does."""

    id: str
    keys: tuple[str, ...]
    """The keys that it has by default."""
    contexts: frozenset[str]
    """Where these keys are live; two actions of one context cannot share a key."""


class SettingsNames(NamedTuple):
    """All the names that settings may use, with what holds where nothing is set."""

    rules: Mapping[str, str] = {}
    """Rules, and how much a finding of each matters."""
    thresholds: Mapping[str, float] = {}
    actions: tuple[KnownAction, ...] | None = None
    """None where there is no screen; the keymap is not read then."""
    themes: Collection[str] = ()
    home: str = ""
    """What a leading `~` stands for."""
