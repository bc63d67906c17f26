"""Weigh the measures of two statements: how likely it is that they contradict each other.

The weights are data (`lint/rules/contradiction.toml`), fitted by `python -m
tests.benchmarks.conflicts --fit` to labelled pairs as a logistic regression.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from ricordo.lexicon import read_words

_FILE = "contradiction"


class Thresholds(NamedTuple):
    """The scores from which on a pair is shown, as log odds."""

    reported: float
    offered: float
    related: float
    """For a model, of any two statements of a memory that share words."""


@cache
def load_thresholds() -> Thresholds:
    """Return the scores from which on pairs are reported and offered."""
    return Thresholds(**read_words(_FILE)["thresholds"])


def compute_score(measures: Mapping[str, float]) -> float:
    """Return how likely it is that two statements with these measures contradict each other, as log
    odds among pairs of which half do.
    """
    weights = read_words(_FILE)["weights"]
    return float(
        weights["base"] + sum(value * weights.get(name, 0.0) for name, value in measures.items())
    )
