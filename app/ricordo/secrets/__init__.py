"""What a credential looks like, and how it is masked.

The rules are data (`rules.toml`); the modules here apply them. A cheap prefilter rules out nearly
every note; the candidates in the others are judged by their shape. Texts are hostile, so
repetitions in the patterns are bounded. `seed_phrases.py` finds words of `bip39.txt` in a row;
`KnownValues` finds a value again where nothing names it. Used wherever text is shown, sent or
stored.
"""

from ricordo.secrets.find import (
    KnownValues,
    find_in_passage,
    find_secrets,
    has_expired,
    is_evident,
    mask,
    mask_passage,
)
from ricordo.secrets.rules import Secret

__all__ = [
    "KnownValues",
    "Secret",
    "find_in_passage",
    "find_secrets",
    "has_expired",
    "is_evident",
    "mask",
    "mask_passage",
]
