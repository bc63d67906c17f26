from __future__ import annotations

import re

import pytest

from ricordo.lexicon import build_alternation


@pytest.mark.parametrize(
    ("part", "text", "is_found"),
    [
        ("next step", "the next\n  step", True),
        ("next step", "nextstep", False),
        ("할 ?일", "할일", True),
        ("할 ?일", "할 일", True),
        ("no ?one", "noone", True),
        ("(?<=to )do", "to do", True),
    ],
)
def test_a_blank_matches_any_white_space_and_an_optional_one_none(
    part: str, text: str, is_found: bool
) -> None:
    assert bool(re.search(build_alternation([part]), text)) is is_found
