"""The cost of a question in US dollars, by a price table that the user can extend."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import tomli

from ricordo.llm.question import TokenUsage
from ricordo.resources import read_data_text
from ricordo.storage.foreign_file import read_plain_file
from ricordo.text import clip, make_visible

FILE = "prices.toml"
_LARGEST = 256 * 1024
_FIELDS = ("input", "cache_write", "cache_read", "output")
_MILLION = 1_000_000
_DATED = re.compile(r"-\d{8}\Z")
"""The date at the end of a model's name: `-20251001`."""


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a model, in US dollars per million tokens."""

    input: float
    cache_write: float
    cache_read: float
    output: float
    up_to: int = 0
    """Input tokens above which another, unknown price applies; 0 for one price."""

    def cost(self, usage: TokenUsage) -> float | None:
        """Return the cost of `usage` in dollars; None where it is not known."""
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
    """The known prices."""

    by_model: Mapping[str, Price]

    def cost(self, model: str, usage: TokenUsage) -> float | None:
        """Return the cost of `usage` of `model` in dollars; None where it is not known."""
        price = self.by_model.get(model) or self.by_model.get(_DATED.sub("", model))
        return price.cost(usage) if price is not None else None


def load_prices(config: str) -> tuple[Prices, str]:
    """Return the prices and a warning. The user's table in the directory `config` overrides the
    built-in one; where it is invalid it is ignored and the warning says why, else it is "".
    """
    builtin = _parse_table(read_data_text("llm/prices.toml"))
    path = os.path.join(config, FILE)
    raw = read_plain_file(path, _LARGEST, follow=True)
    if raw is None:
        return Prices(builtin), ""
    try:
        return Prices({**builtin, **_parse_table(raw.decode("utf-8-sig"))}), ""
    except ValueError as error:
        return Prices(
            builtin
        ), f"{make_visible(path)}: {clip(str(error), 200)}. The file is ignored."


def format_cost(dollars: float | None) -> str:
    """Return a cost in words; None is an unknown price."""
    if dollars is None:
        return "price unknown"
    if 0 < dollars < 0.01:
        return "under $0.01"
    return f"${dollars:.2f}"


def _parse_table(text: str) -> dict[str, Price]:
    """Return the prices in a TOML text. Raises ValueError where it is no price table."""
    models = tomli.loads(text).get("models", {})
    if not isinstance(models, dict):
        raise ValueError("“models” is not a table")
    return {name: _parse_price(name, table) for name, table in models.items()}


def _parse_price(name: str, table: object) -> Price:
    if not isinstance(table, dict):
        raise ValueError(f"“{name}” is not a table")
    for key in table:
        if key not in (*_FIELDS, "up_to"):
            raise ValueError(f"“{name}” has an unknown field “{key}”")
    dollars = {key: _parse_number(f"{name}.{key}", table.get(key)) for key in _FIELDS}
    return Price(**dollars, up_to=int(_parse_number(f"{name}.up_to", table.get("up_to", 0))))


def _parse_number(place: str, value: Any) -> float:
    # a chained comparison is false for NaN
    if type(value) not in (int, float) or not 0 <= value < _MILLION * 1000:
        raise ValueError(f"“{place}” is not a price")
    return float(value)
