"""Which notes are never given to agents: those with a credential, and those that order an agent
about as no owner of a memory would. Told by the code of the rules that find them.
"""

from __future__ import annotations

from functools import cache
from hashlib import sha256

from ricordo import __version__
from ricordo.memory.note import Note
from ricordo.recall.record import Withholding
from ricordo.resources import data_text

_RULES = ("secrets/rules.toml", "health/rules/safety.toml")


@cache
def withholding() -> Withholding:
    """Return what an index is told of it; the version changes with the rules."""
    rules = sha256("\0".join((__version__, *map(data_text, _RULES))).encode())
    return Withholding(_is_withheld, rules.hexdigest())


def _is_withheld(note: Note) -> bool:
    # an index that is up to date asks of no note, and loads no rule
    from ricordo.health.rules.safety import is_unsafe

    return is_unsafe(note)
