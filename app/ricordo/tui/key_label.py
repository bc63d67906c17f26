"""Keys as a person reads them."""

from __future__ import annotations

_KEY_NAMES = {
    "question_mark": "?",
    "slash": "/",
    "circumflex_accent": "^",
    "space": "Space",
    "minus": "-",
    "number_sign": "#",
    "equals_sign": "=",
    "vertical_line": "|",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "less_than_sign": "<",
    "greater_than_sign": ">",
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
    return " ".join(_KEY_NAMES.get(key, key) for key in keys.split(","))
