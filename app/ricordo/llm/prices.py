"""What a question costs in money: by a table of prices that the person can add to."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ricordo.llm.question import TokenUsage
from ricordo.resources import data_text
from ricordo.storage.foreign_file import read_plain_file
from ricordo.text import clip, visible

FILE = "prices.toml"
_LARGEST = 256 * 1024
_FIELDS = ("input", "cache_write", "cache_read", "output")
_MILLION = 1_000_000
_DATED = re.compile(r"-\d{8}\Z")
"""How the name of a model ends that names a day: `-20251001`."""


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a model, in US dollars per million tokens."""

    input: float
    cache_write: float
    cache_read: float
    output: float
    up_to: int = 0
    """Tokens of a request above which the price is another one; 0 where it is one price."""

    def of(self, usage: TokenUsage) -> float | None:
        """Return the dollars that `usage` costs; None where that is not known."""
        if self.up_to and usage.sent > self.up_to:
            return None
        whole = (
            usage.input_tokens * self.input
            + usage.cache_written * self.cache_write
            + usage.cache_read * self.cache_read
            + usage.output_tokens * self.output
        )
        return whole / _MILLION


@dataclass(frozen=True, slots=True)
class Prices:
    """The prices that are known."""

    by_model: Mapping[str, Price]

    def cost(self, model: str, usage: TokenUsage) -> float | None:
        """Return the dollars that `usage` of `model` costs; None where that is not known."""
        price = self.by_model.get(model) or self.by_model.get(_DATED.sub("", model))
        return price.of(usage) if price is not None else None


def load_prices(config: str) -> tuple[Prices, str]:
    """Return the prices: ours, and those of the person in the directory `config`, which go first.
    The second is what is wrong with theirs, which then do not count; "" where nothing is.
    """
    ours = _read(data_text("llm/prices.toml"))
    path = os.path.join(config, FILE)
    raw = read_plain_file(path, _LARGEST, follow=True)
    if raw is None:
        return Prices(ours), ""
    try:
        return Prices({**ours, **_read(raw.decode("utf-8-sig"))}), ""
    except ValueError as error:
        return Prices(ours), f"{visible(path)}: {clip(str(error), 200)}. It is passed over."


def told(dollars: float | None) -> str:
    """Return a cost as it is shown."""
    if dollars is None:
        return "price not known"
    if 0 < dollars < 0.01:
        return "under $0.01"
    return f"${dollars:.2f}"


def _read(text: str) -> dict[str, Price]:
    """Raises ValueError where it is no table of prices."""
    models = tomllib.loads(text).get("models", {})
    if not isinstance(models, dict):
        raise ValueError("“models” is no table")
    return {name: _price(name, table) for name, table in models.items()}


def _price(name: str, table: object) -> Price:
    if not isinstance(table, dict):
        raise ValueError(f"“{name}” is no table")
    for key in table:
        if key not in (*_FIELDS, "up_to"):
            raise ValueError(f"“{name}” has a field “{key}” that means nothing")
    dollars = {key: _number(f"{name}.{key}", table.get(key)) for key in _FIELDS}
    return Price(**dollars, up_to=int(_number(f"{name}.up_to", table.get("up_to", 0))))


def _number(place: str, value: Any) -> float:
    # what is not a number is not equal to itself
    if type(value) not in (int, float) or not 0 <= value < _MILLION * 1000:
        raise ValueError(f"“{place}” is no price")
    return float(value)
