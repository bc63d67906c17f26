"""Keys as a person reads them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from string import punctuation

_NAMES = {
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
    if key in _NAMES:
        return _NAMES[key]
    held, plus, last = key.rpartition("+")
    return f"{held}{plus}{_NAMES.get(last) or _signs().get(last, last)}"


@cache
def _signs() -> Mapping[str, str]:
    """The signs that stand on keys, by Textual's names for them."""
    # commands know the actions too, and start without the screen
    from textual.keys import _character_to_key

    return {_character_to_key(sign): sign for sign in punctuation}
