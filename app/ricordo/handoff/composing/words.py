"""How people and agents say what matters to whoever goes on: patterns, from a data file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any

from ricordo.health.vocabulary import any_of, lowered
from ricordo.resources import data_text

_LONGEST_ANSWER = 60
"""Characters of a message that may be an answer and nothing else."""
_EDGES = " \t\n.,;:!…。！，、"


def has(part: str, text: str) -> bool:
    """Say whether `text` holds an expression under `part` of the data file."""
    return bool(_pattern(part).search(lowered(text)))


def is_only(part: str, text: str) -> bool:
    """Say whether `text` is an expression under `part`, or several of them, and nothing else."""
    plain = lowered(text).strip(_EDGES)
    return len(plain) <= _LONGEST_ANSWER and bool(plain) and bool(_whole(part).fullmatch(plain))


def begins(part: str, text: str) -> bool:
    """Say whether `text` begins with an expression under `part`."""
    return bool(_pattern(part).match(lowered(text).lstrip()))


@lru_cache(maxsize=4_096)
def heading(name: str) -> str:
    """Return what stands under a heading with this `name`, as the data file calls it: mostly the
    value of a section; "" where it is not known.
    """
    plain = lowered(name).strip(_EDGES)
    parts: Mapping[str, Any] = _data()["headings"]
    return next((part for part in parts if _heading(part).fullmatch(plain)), "")


@cache
def _pattern(part: str) -> re.Pattern[str]:
    return re.compile(any_of(_all(_data()[part])))


@cache
def _whole(part: str) -> re.Pattern[str]:
    choices = any_of(_all(_data()[part]))
    return re.compile(rf"(?:{choices})(?:[\s,.;:!]+(?:{choices}))*")


@cache
def _heading(part: str) -> re.Pattern[str]:
    return re.compile(any_of(_all(_data()["headings"][part])))


def _all(lists: Mapping[str, list[str]]) -> list[str]:
    return [text for texts in lists.values() for text in texts]


@cache
def _data() -> Mapping[str, Any]:
    return tomllib.loads(data_text("handoff/composing/words.toml"))
