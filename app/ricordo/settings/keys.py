"""Names of keys, as Textual calls them and as people write them."""

from __future__ import annotations

import string
import unicodedata

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


def character_name(character: str) -> str:
    """Return the key that types `character`: letters and digits as they are, others by name."""
    if character.isalnum():
        return character
    name = unicodedata.name(character, character).lower().replace("-", "_").replace(" ", "_")
    return _RENAMED.get(name, name)


NAMED_KEYS = frozenset(
    (
        *map(character_name, string.punctuation + " "),
        *(f"f{number}" for number in range(1, 25)),
        *("up", "down", "left", "right", "home", "end", "pageup", "pagedown"),
        *("enter", "escape", "tab", "backspace", "insert", "delete"),
    )
)
"""Every key that has a name instead of a character."""


def key_name(written: str) -> str:
    """Return Textual's name of the key that a person wrote; "" where there is no such key.

    `Ctrl+S` is `ctrl+s`, `?` is `question_mark`, `shift+j` is `J`.
    """
    *modifiers, key = _parts(written.strip() or written)
    held = {modifier.lower() for modifier in modifiers}
    base = _base(key)
    if not base or not held <= MODIFIERS or len(held) < len(modifiers):
        return ""
    if len(base) == 1 and held == {"shift"}:
        return base.upper()
    if held - {"shift"}:
        base = base.lower()
    return "+".join([*sorted(held), base])


def same_key(key: str) -> str:
    """Return the key that a terminal cannot tell from `key`, or `key` itself."""
    return _ALIKE.get(key, key)


def _parts(written: str) -> list[str]:
    """Split at the plus signs; the last one may be the key itself."""
    if written == "+" or written.endswith("++"):
        return [*written[:-2].split("+"), "+"] if written[:-2] else ["+"]
    return written.split("+")


def _base(key: str) -> str:
    if len(key) == 1:
        return character_name(key) if key.isprintable() else ""
    return key.lower() if key.lower() in NAMED_KEYS else ""
