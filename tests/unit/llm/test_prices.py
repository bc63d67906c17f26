"""What a question costs in money."""

from __future__ import annotations

from pathlib import Path

import pytest

from ricordo.llm.prices import FILE, format_cost, load_prices
from ricordo.llm.question import TokenUsage

USAGE = TokenUsage(
    input_tokens=10_000, cache_written=100_000, cache_read=1_000_000, output_tokens=50_000
)
MINE = """
[models.qwen3-coder]
input = 0
cache_write = 0
cache_read = 0
output = 0

[models.claude-sonnet-5-5]
input = 1
cache_write = 1
cache_read = 1
output = 1
"""


def test_each_kind_of_token_has_its_price(tmp_path: Path) -> None:
    prices, problem = load_prices(str(tmp_path))
    assert prices.cost("claude-sonnet-5-5", USAGE) == pytest.approx(0.02 + 0.25 + 0.1 + 0.5)
    assert problem == ""


def test_a_model_by_its_day_costs_what_the_model_costs(tmp_path: Path) -> None:
    prices, _ = load_prices(str(tmp_path))
    assert prices.cost("claude-haiku-4-5-20251001", USAGE) == prices.cost("claude-haiku-4-5", USAGE)


@pytest.mark.parametrize(
    "model", ["qwen3-coder", "", "claude-sonnet-55", "claude-sonnet-5-5-latest"]
)
def test_a_price_that_is_not_known_is_not_made_up(model: str, tmp_path: Path) -> None:
    prices, _ = load_prices(str(tmp_path))
    assert prices.cost(model, USAGE) is None
    assert format_cost(None) == "price unknown"


def test_a_price_is_known_only_as_far_as_it_holds(tmp_path: Path) -> None:
    prices, _ = load_prices(str(tmp_path))
    assert prices.cost("claude-haiku-5-5", TokenUsage(input_tokens=100_000)) == pytest.approx(0.01)
    assert prices.cost("claude-haiku-5-5", TokenUsage(input_tokens=100_001)) is None


def test_prices_of_the_user_add_to_the_shipped_ones_and_override_them(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(MINE)
    prices, problem = load_prices(str(tmp_path))
    assert (prices.cost("qwen3-coder", USAGE), problem) == (0.0, "")
    assert prices.cost("claude-sonnet-5-5", TokenUsage(output_tokens=1_000_000)) == 1.0
    assert prices.cost("claude-opus-5-5", TokenUsage(output_tokens=1_000_000)) == 20.0


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("models = 1", "models"),
        ("[models]\nx = 1", "“x” is not a table"),
        (MINE.replace("cache_read = 1", "cache_raed = 1"), "cache_raed"),
        (MINE.replace("output = 1", 'output = "1"'), "claude-sonnet-5-5.output"),
        (MINE.replace("output = 1", "output = -1"), "claude-sonnet-5-5.output"),
        (MINE.replace("output = 1", "output = nan"), "claude-sonnet-5-5.output"),
        (MINE.replace("output = 1", "output = true"), "claude-sonnet-5-5.output"),
        ("[models", FILE),
    ],
)
def test_what_is_wrong_with_them_is_told_and_ours_stay(text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(text)
    prices, problem = load_prices(str(tmp_path))
    assert why in problem
    assert prices.cost("claude-sonnet-5-5", TokenUsage(output_tokens=1_000_000)) == 10.0


def test_no_cent_is_hidden() -> None:
    assert [format_cost(it) for it in (0.0, 0.004, 0.125, 12.0)] == [
        "$0.00",
        "under $0.01",
        "$0.12",
        "$12.00",
    ]
