"""Handoffs of real sessions and of the sample memory's hold what they promise."""

from __future__ import annotations

import pytest

from tests.benchmarks.handoff import TRANSCRIPTS, rows
from tests.benchmarks.planted import SAMPLE


def test_on_the_sample_memory_nothing_is_amiss() -> None:
    found = list(rows([SAMPLE / "home"]))
    assert [it for row in found for it in row.amiss] == []
    assert all(row.done and row.done.handoff.statements for row in found)


@pytest.mark.skipif(not TRANSCRIPTS.is_dir(), reason="no sessions beside the repository")
def test_on_real_sessions_nothing_is_amiss() -> None:
    found = list(rows([TRANSCRIPTS], budget=900))
    assert [it for row in found for it in row.amiss] == []
