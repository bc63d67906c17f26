from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.memory.lines import (
    convert_line_ends,
    detect_line_end,
    has_one_line_end,
    insert_lines,
    split_lines,
    strip_line_end,
)

TEXTS = st.text(st.sampled_from("ab\r\n\x85\u2028\x0b\x0c"), max_size=12)


@given(TEXTS)
def test_lines_end_at_newlines_alone_and_give_the_text_again(text: str) -> None:
    lines = split_lines(text)
    assert "".join(lines) == text
    assert all(line.find("\n") in (-1, len(line) - 1) for line in lines)
    assert "" not in lines
    assert all(
        line.startswith(strip_line_end(line)) and not strip_line_end(line).endswith("\n")
        for line in lines
    )


@given(TEXTS)
def test_one_line_end_means_that_adding_lines_keeps_it_so(text: str) -> None:
    ends = {line[len(strip_line_end(line)) :] for line in split_lines(text)} - {""}
    alone = any("\r" in strip_line_end(line) for line in split_lines(text))
    assert has_one_line_end(text) == (len(ends) <= 1 and not alone)
    if has_one_line_end(text):
        for at in range(len(split_lines(text)) + 1):
            added = insert_lines(text, at, "x\r\ny\nz")
            assert has_one_line_end(added)
            assert detect_line_end(added) == detect_line_end(text)
            assert len(split_lines(added)) == len(split_lines(text)) + 3


@pytest.mark.parametrize(
    ("text", "end"), [("", "\n"), ("a", "\n"), ("a\r\nb\n", "\r\n"), ("\r\n", "\r\n"), ("\n", "\n")]
)
def test_the_line_end_is_that_of_the_first_line(text: str, end: str) -> None:
    assert detect_line_end(text) == end
    assert convert_line_ends("x\r\ny\n", end) == f"x{end}y{end}"
