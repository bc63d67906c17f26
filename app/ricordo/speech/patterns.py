"""How people say what is worth keeping: patterns in many languages, from a data file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from typing import Any

from ricordo.health.vocabulary import any_of
from ricordo.resources import data_text


@cache
def pattern(part: str) -> re.Pattern[str]:
    """Return the pattern that finds any expression under `part` in a text in lower case."""
    return re.compile(any_of(text for texts in table(part).values() for text in texts))


def table(part: str) -> Mapping[str, list[str]]:
    """Return the lists under `part` of the data file, by language."""
    lists: Mapping[str, list[str]] = _data()[part]
    return lists


@cache
def _data() -> Mapping[str, Any]:
    return tomllib.loads(data_text("speech/patterns.toml"))
