from __future__ import annotations

import pytest

from tests.benchmarks.curate import SESSIONS, score_sample, score_sessions


def test_on_the_sample_memory_nearly_all_proposals_are_right_and_most_are_made() -> None:
    score, told = score_sample()
    assert score.precision >= 0.9, told
    assert score.recall >= 0.7, told


@pytest.mark.skipif(not SESSIONS.is_dir(), reason="no sessions beside the repository")
def test_on_real_sessions_the_rules_find_what_is_labelled() -> None:
    score, told = score_sessions()
    assert score.precision >= 0.8, told
    assert score.recall >= 0.6, told
