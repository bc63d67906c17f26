"""Keys as a person reads them."""

from __future__ import annotations

from string import punctuation

from textual.keys import _character_to_key, key_to_character

_KEY_NAMES = {
    **{_character_to_key(sign): sign for sign in punctuation},
    "space": "Space",
    "escape": "Esc",
    "enter": "Enter",
    "tab": "Tab",
    "shift+tab": "Shift+Tab",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "home": "Home",
    "end": "End",
}


def key_label(keys: str) -> str:
    """Return Textual's `keys` as a person reads them: `question_mark` as `?`."""
    return " ".join(map(_label, keys.split(",")))


def _label(key: str) -> str:
    if key in _KEY_NAMES:
        return _KEY_NAMES[key]
    held, plus, last = key.rpartition("+")
    return f"{held}{plus}{_KEY_NAMES.get(last) or key_to_character(last) or last}"
