from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ricordo.agents.claude.location import LIMITS
from ricordo.memory.index import compute_load, count_units
from ricordo.memory.layout import Limits

HEADS = ["", "---\nname: x\n---\n", "---\nname: a: b\n---\n", "---\n---\n", "---\nname: x\n"]
LINES = st.one_of(
    st.sampled_from(
        [
            "- [A](a.md) — hook", "", "   ", "<!-- closed -->", "<!-- opened", "closes -->",
            "  <!-- a --> rest", "text <!-- inline -->", "    <!-- code -->", "```", "~~~",
            "````", "```py", "```a``` not a fence", "x -->", "<!-- a --> <!-- b -->", "\t",
            "日本語 👩‍💻", "\r", "---",
        ]
    ),
    st.text(st.sampled_from("ab 👩é\u2028\x85\x0c"), max_size=12),
)  # fmt: skip
INDEXES = st.builds(
    lambda head, lines, end: head + "\n".join(lines) + end,
    st.sampled_from(HEADS), st.lists(LINES, max_size=14), st.sampled_from(["", "\n", "\n\n "]),
)  # fmt: skip
SMALL = st.builds(Limits, st.integers(1, 8), st.integers(1, 60))


def expected(text: str, limits: Limits) -> tuple[int, int, str, int | None]:
    """Follow the published description character by character: lines, units, text, cut."""
    marked = [(char, number) for number, char in _numbered(text)]
    marked = marked[_head_end(text) :]
    marked = _uncommented(marked)
    plain = "".join(char for char, _ in marked)
    first = len(plain) - len(plain.lstrip())
    marked = marked[first : len(plain.rstrip())] if plain.strip() else []
    plain = "".join(char for char, _ in marked)
    count = plain.count("\n") + 1 if plain else 0
    size = len(plain.encode("utf-16-le")) // 2
    at = _end_of_line(plain, limits.lines)
    while len(plain[:at].encode("utf-16-le")) // 2 > limits.units:
        newline = plain.rfind("\n", 0, at)
        if newline < 0:
            cut = plain.encode("utf-16-le")[: limits.units * 2].decode("utf-16-le", "ignore")
            return count, size, cut, marked[0][1]
        at = newline
    if at == len(plain):
        return count, size, plain, None
    return (
        count,
        size,
        plain[:at],
        marked[at][1] + 1 if _contiguous(marked, at) else marked[at + 1][1],
    )


def _numbered(text: str) -> list[tuple[int, str]]:
    number, found = 1, []
    for char in text:
        found.append((number, char))
        number += char == "\n"
    return found


def _head_end(text: str) -> int:
    if text.startswith("---\n---\n"):
        return 8
    head = re.match(r"---\nname: [^\n]*\n(?s:.*?)^---[ \t]*\r?(?:\n|\Z)", text, re.MULTILINE)
    return head.end() if head else 0


def _end_of_line(plain: str, lines: int) -> int:
    at = -1
    for _ in range(lines):
        at = plain.find("\n", at + 1)
        if at < 0:
            return len(plain)
    return at


def _contiguous(marked: list[tuple[str, int]], at: int) -> bool:
    return at + 1 >= len(marked) or marked[at + 1][1] == marked[at][1] + 1


def _uncommented(marked: list[tuple[str, int]]) -> list[tuple[str, int]]:
    rest, kept = marked, []
    fence = ""
    while rest:
        text = "".join(char for char, _ in rest)
        line = text.split("\n", 1)[0]
        mark = re.match(r" {0,3}(`{3,}|~{3,})(.*)\Z", line, re.DOTALL)
        comments = re.match(r" {0,3}<!--(?s:.*?)-->(?:[^\S\n]*<!--[^\n]*?-->)*", text)
        size = min(len(line) + 1, len(rest))
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
        elif mark and (mark[1][0] == "~" or "`" not in mark[2]):
            fence = mark[1]
        elif comments:
            rest = rest[comments.end() :]
            tail = text[comments.end() :].split("\n", 1)[0]
            size = min(len(tail) + 1, len(rest))
            if tail.strip():
                kept += rest[:size]
            rest = rest[size:]
            continue
        kept += rest[:size]
        rest = rest[size:]
    return kept


@given(INDEXES, SMALL)
def test_the_load_is_what_the_published_description_gives(text: str, limits: Limits) -> None:
    load = compute_load(text, limits)
    assert (load.lines, load.units, load.text, load.cut_at_line) == expected(text, limits)


@given(INDEXES)
def test_without_limits_an_agent_gets_all(text: str) -> None:
    load = compute_load(text, None)
    assert (load.cut_at_line, load.fill_ratio) == (None, 0.0)
    assert count_units(load.text) == load.units


@given(INDEXES, SMALL)
def test_what_an_agent_gets_never_exceeds_its_limits(text: str, limits: Limits) -> None:
    load = compute_load(text, limits)
    assert count_units(load.text) <= limits.units
    assert load.text.count("\n") < limits.lines
    assert (load.fill_ratio > 1) == (load.cut_at_line is not None)


@given(st.binary(max_size=300))
def test_any_bytes_that_are_text_can_be_loaded(raw: bytes) -> None:
    compute_load(raw.decode("utf-8", "replace"), Limits(3, 50))


@pytest.mark.parametrize(("lines", "cut"), [(199, None), (200, None), (201, 201)])
def test_two_hundred_lines_are_loaded(lines: int, cut: int | None) -> None:
    assert compute_load("x\n" * lines, LIMITS).cut_at_line == cut


@pytest.mark.parametrize(("length", "cut"), [(24_998, None), (24_999, 2)])
@pytest.mark.parametrize("char", ["x", "é", "👩"])
def test_units_are_those_of_utf16(char: str, length: int, cut: int | None) -> None:
    wide = count_units(char)
    first = char * (length // wide) + "x" * (length % wide)
    load = compute_load(f"{first}\ny", LIMITS)
    assert (load.units, load.cut_at_line) == (length + 2, cut)


def test_a_first_line_over_the_limit_is_cut_inside_and_never_inside_a_character() -> None:
    load = compute_load("x" + "👩" * 20_000, LIMITS)
    assert (count_units(load.text), load.cut_at_line) == (24_999, 1)


def test_the_cut_counts_lines_of_the_file_with_its_frontmatter_and_its_comments() -> None:
    text = "---\nname: x\n---\n\n<!--\na\nb\n-->\n" + "x\n" * 201
    assert compute_load(text, LIMITS).cut_at_line == 8 + 201


def test_a_comment_in_a_fence_an_unclosed_one_and_an_inline_one_stay() -> None:
    text = "```\n<!-- a -->\n```\nb <!-- c -->\n<!-- d"
    assert compute_load(text, LIMITS).text == text


def test_backticks_with_text_behind_them_open_no_fence() -> None:
    assert compute_load("```a``` b\n<!-- c -->\nd", LIMITS).text == "```a``` b\nd"


def test_comments_side_by_side_are_all_stripped() -> None:
    assert compute_load("<!-- a --> <!-- b -->\nc", LIMITS).text == "c"
