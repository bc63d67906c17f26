"""The user's keys: which actions they rebind, checked for conflicts."""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from ricordo.settings.source import Path, SettingsSource

MODIFIERS = frozenset(("alt", "ctrl", "hyper", "meta", "shift", "super"))

_RENAMED = {
    "commercial_at": "at",
    "hyphen_minus": "minus",
    "low_line": "underscore",
    "plus_sign": "plus",
    "reverse_solidus": "backslash",
    "solidus": "slash",
}
"""Where Textual's name of a character differs from Unicode's."""

_ALIKE = {
    "ctrl+i": "tab",
    "ctrl+m": "enter",
    "ctrl+left_square_bracket": "escape",
    "ctrl+space": "ctrl+at",
}
"""Keys for which terminals send the same byte as for another one."""


class ActionKeys(NamedTuple):
    """Something that a key does."""

    id: str
    keys: tuple[str, ...]
    """The keys that it has by default."""
    contexts: frozenset[str]
    """Where these keys work; two actions of one context cannot share a key."""


def name_character(character: str) -> str:
    """Return the key that types `character`: letters and digits as they are, others by name."""
    if character.isalnum():
        return character
    name = unicodedata.name(character, character).lower().replace("-", "_").replace(" ", "_")
    return _RENAMED.get(name, name)


NAMED_KEYS = frozenset(
    (
        *map(name_character, string.punctuation + " "),
        *(f"f{number}" for number in range(1, 25)),
        *("up", "down", "left", "right", "home", "end", "pageup", "pagedown"),
        *("enter", "escape", "tab", "backspace", "insert", "delete"),
    )
)
"""Every key that has a name instead of a character."""


def normalize_key(written: str) -> str:
    """Return Textual's name of the key that a user wrote; "" if there is no such key.

    `Ctrl+S` is `ctrl+s`, `?` is `question_mark`, `shift+j` is `J`.
    """
    *modifiers, key = _split_at_plus(written.strip() or written)
    held = {modifier.lower() for modifier in modifiers}
    base = _base_key(key)
    if not base or not held <= MODIFIERS or len(held) < len(modifiers):
        return ""
    if len(base) == 1 and held == {"shift"}:
        return base.upper()
    if held - {"shift"}:
        base = base.lower()
    return "+".join([*sorted(held), base])


def find_same_key(key: str) -> str:
    """Return the key that a terminal cannot tell from `key`, or `key` itself."""
    return _ALIKE.get(key, key)


def _split_at_plus(written: str) -> list[str]:
    """Split at the plus signs; the last one may be the key itself."""
    if written == "+" or written.endswith("++"):
        return [*written[:-2].split("+"), "+"] if written[:-2] else ["+"]
    return written.split("+")


def _base_key(key: str) -> str:
    if len(key) == 1:
        return name_character(key) if key.isprintable() else ""
    return key.lower() if key.lower() in NAMED_KEYS else ""


Keymap = Mapping[str, tuple[str, ...]]
"""Keys by action, as Textual names them; an action without keys is only in the palette."""

NO_KEY = "<none>"
"""A key that is never pressed: Textual reads an empty string as the default keys."""


class KeyConflict(NamedTuple):
    """Two actions that share a context and a key."""

    action: str
    other: str
    key: str


def merge_keys(actions: Sequence[ActionKeys], keymap: Keymap) -> Keymap:
    """Return the keys of every action: the user's if there are some, else the default."""
    return {action.id: keymap.get(action.id, action.keys) for action in actions}


def make_textual_keymap(keymap: Keymap) -> dict[str, str]:
    """Return `keymap` as `App.set_keymap` takes it."""
    return {action: ",".join(keys) or NO_KEY for action, keys in keymap.items()}


def find_conflicts(actions: Sequence[ActionKeys], keymap: Keymap) -> Iterator[KeyConflict]:
    """Yield the pairs of actions that share a context and, by `keymap`, a key."""
    keys = merge_keys(actions, keymap)
    alike = {action: {find_same_key(key): key for key in own} for action, own in keys.items()}
    for one, other in combinations(actions, 2):
        if one.contexts & other.contexts:
            for key in alike[one.id].keys() & alike[other.id].keys():
                yield KeyConflict(one.id, other.id, alike[one.id][key])


def read_keymap(source: SettingsSource, actions: Sequence[ActionKeys]) -> Keymap:
    """Return what `[keymap]` sets, without invalid keys and conflicts."""
    ids = {action.id for action in actions}
    paths: dict[str, Path] = {}
    keymap: dict[str, tuple[str, ...]] = {}
    for path, action, value in source.iterate_leaves(("keymap",)):
        if action not in ids:
            source.warn(path, "There is no such action.", action, ids)
        elif (keys := _read_keys(source, path, value)) is not None:
            paths[action], keymap[action] = path, keys
    return _remove_conflicts(source, actions, keymap, paths)


def _read_keys(source: SettingsSource, path: Path, value: Any) -> tuple[str, ...] | None:
    """Return the keys that `value` names; None if one of them is not a key."""
    written = [value] if isinstance(value, str) else value
    if not isinstance(written, list) or not all(isinstance(key, str) for key in written):
        source.warn(path, "This has to be a key, or a list of keys.")
        return None
    names = [normalize_key(key) for key in written]
    for key, name in zip(written, names, strict=True):
        if not name:
            source.warn(path, f"There is no key “{key}”.", key, NAMED_KEYS)
            return None
    return tuple(dict.fromkeys(names))


def _remove_conflicts(
    source: SettingsSource,
    actions: Sequence[ActionKeys],
    keymap: dict[str, tuple[str, ...]],
    paths: Mapping[str, Path],
) -> Keymap:
    """Remove conflicting keys, one by one: a default wins, and of two set keys the first."""
    order = list(keymap)
    while conflict := next(_find_own_conflicts(actions, keymap), None):
        own = [action for action in conflict[:2] if action in keymap]
        loser = max(own, key=order.index)
        winner = conflict.other if loser == conflict.action else conflict.action
        source.warn(paths[loser], f"The key {conflict.key} is already bound to {winner}.")
        del keymap[loser]
    return keymap


def _find_own_conflicts(actions: Sequence[ActionKeys], keymap: Keymap) -> Iterator[KeyConflict]:
    """Yield the conflicts that the user's keys cause."""
    for conflict in find_conflicts(actions, keymap):
        if conflict.action in keymap or conflict.other in keymap:
            yield conflict
