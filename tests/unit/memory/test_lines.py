from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.memory.lines import (
    bare,
    has_one_line_end,
    line_end,
    split_lines,
    with_line_end,
    with_lines_after,
)

TEXTS = st.text(st.sampled_from("ab\r\n\x85\u2028\x0b\x0c"), max_size=12)


@given(TEXTS)
def test_lines_end_at_newlines_alone_and_give_the_text_again(text: str) -> None:
    lines = split_lines(text)
    assert "".join(lines) == text
    assert all(line.find("\n") in (-1, len(line) - 1) for line in lines)
    assert "" not in lines
    assert all(line.startswith(bare(line)) and not bare(line).endswith("\n") for line in lines)


@given(TEXTS)
def test_one_line_end_means_that_adding_lines_keeps_it_so(text: str) -> None:
    ends = {line[len(bare(line)) :] for line in split_lines(text)} - {""}
    alone = any("\r" in bare(line) for line in split_lines(text))
    assert has_one_line_end(text) == (len(ends) <= 1 and not alone)
    if has_one_line_end(text):
        for at in range(len(split_lines(text)) + 1):
            added = with_lines_after(text, at, "x\r\ny\nz")
            assert has_one_line_end(added)
            assert line_end(added) == line_end(text)
            assert len(split_lines(added)) == len(split_lines(text)) + 3


@pytest.mark.parametrize(
    ("text", "end"), [("", "\n"), ("a", "\n"), ("a\r\nb\n", "\r\n"), ("\r\n", "\r\n"), ("\n", "\n")]
)
def test_the_line_end_is_that_of_the_first_line(text: str, end: str) -> None:
    assert line_end(text) == end
    assert with_line_end("x\r\ny\n", end) == f"x{end}y{end}"
